"""Models: one algorithm per file; Topics come out.

A model's module offers `train(corpus, *, topics, seed, **settings) -> list[Topics]`, one per Markov chain
(a deterministic model has one), and `fold_in(topics, documents, *, seed, **settings) -> theta (D, K)`.
To add a model, add its file and its line here. (The other members of the family of point posteriors, from K-means to
NMF, give no topics; they share the frame `dlvm.models.vem`.)
"""

MODELS = {
    "plsa-hof": "dlvm.models.plsa",
    "plsa-vem": "dlvm.models.plsa_vem",
    "plsa-tem": "dlvm.models.plsa_tem",
    "epca": "dlvm.models.epca",
    "lda": "dlvm.models.lda",
}
