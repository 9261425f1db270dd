"""Measurements: what is measured beside test-set scores; `Score` and `Measurement` rows come out.

A measurement's module offers `measure(corpus, *, seed, test_documents, **settings)`, or, where it reads trained topics,
`measure(corpus, *, chains, model, variant, fold_in, seed, test_documents, **settings)`, and returns scores and
measurements. To add one, add its file and its name here.
"""

MEASURES = ("point-posteriors", "discrete-latents", "bounds", "normalisers", "normaliser-limits", "convergence")
