"""Models: one algorithm per file; Topics come out.

A model's module offers `train(corpus, *, topics, seed, **settings) -> list[Topics]`, one per Markov chain
(a deterministic model has one), and `fold_in(topics, documents, *, seed, **settings) -> theta (D, K)`.
To add a model, add its file and its line here. (The other models with point posteriors, from K-means to NMF, give no
topics; their common frame is `heldout.models.vem`.)
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
