"""Models: one algorithm per file; Topics come out.

A model's module offers `train(corpus, settings, *, topics, seed) -> list[Topics]`, one per Markov chain (a
deterministic model has one), `fold_in(topics, documents, settings, *, seed) -> theta (D, K)`, whose seed those ignore
that draw nothing, and the classes of their settings, `Training` and `FoldingIn`. To add a model, add its file, its
classes in `settings` and its line here. (The other models with point posteriors, from K-means to NMF, give no topics;
their common frame is `heldout.models.vem`.)
"""

PLSA, VEM, TEM = "plsa-hof", "plsa-vem", "plsa-tem"
EPCA, LDA = "epca", "lda"

MODELS = {
    PLSA: "heldout.models.plsa",
    VEM: "heldout.models.plsa_vem",
    TEM: "heldout.models.plsa_tem",
    EPCA: "heldout.models.epca",
    LDA: "heldout.models.lda",
}
