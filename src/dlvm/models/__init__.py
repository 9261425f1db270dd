"""Models: one algorithm per file; Topics come out.

A model's module offers `train(corpus, *, topics, seed, **settings) -> list[Topics]`, one per Markov chain
(a deterministic model has one), and `fold_in(topics, documents, *, seed, **settings) -> theta (D, K)`.
To add a model, add its file and its line here.
"""

MODELS = {
    "plsa-hof": "dlvm.models.plsa",
    "lda": "dlvm.models.lda",
}
