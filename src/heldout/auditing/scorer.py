"""The held-out log-likelihood as a scorer, for scikit-learn's searches and cross-validation.

To compare numbers of topics, all are scored by the same estimator with the same settings: exact values at few topics
beside estimates, which are low, at many would choose few. The default is `heldout.evaluators.reference`, whose bias is
corrected to third order, and which anneals every document until its weights vary as little at many topics as at few.
`SAMPLES`, the most sweeps that it may take for that, is set for the hardest: easy models stop far below.

Examples:
    The number of topics of a pipeline from texts, chosen by the likelihood of held-out documents:

    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> import heldout
    >>> texts = ["ape bear cat ape bear", "fig kiwi lime kiwi fig"] * 10
    >>> pipeline = make_pipeline(CountVectorizer(), LatentDirichletAllocation(doc_topic_prior=0.1, random_state=0))
    >>> topics = {"latentdirichletallocation__n_components": [1, 2]}
    >>> search = GridSearchCV(pipeline, topics, scoring=heldout.log_likelihood, cv=2).fit(texts)
    >>> search.best_params_
    {'latentdirichletallocation__n_components': 2}
    >>> audit = heldout.audit(search, texts)
    >>> audit.words
    6
"""

from dataclasses import replace
from typing import Any

import numpy as np

from heldout.auditing.blocks import COLUMNS, Work
from heldout.auditing.matching import opened
from heldout.auditing.options import LIKELIHOODS, MOST_SAMPLES, check_smoothing
from heldout.auditing.result import TRUTH
from heldout.auditing.runner import Runner
from heldout.auditing.survey import survey
from heldout.auditing.truth import SAMPLES as OF_ANOTHER
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, REFERENCE
from heldout.evaluators.components_marginal import annealed_marginal
from heldout.evaluators.logistic_normal import LARGEST, LogisticNormalTopics, logistic_normal_exact
from heldout.evaluators.logistic_normal import logistic_normal as annealed
from heldout.libraries import logistic_normal
from heldout.libraries.pipeline import unwrap
from heldout.models.epca import EPCA
from heldout.models.estimator import checked_counts
from heldout.seeds import generator

SAMPLES = 1_000  # sweeps over a document, at most, as a mean over a block
CHAINS = 100  # of annealing under a Gaussian or logistic-normal prior


def log_likelihood(
    model: Any,
    X: Any,
    y: None = None,  # noqa: ARG001
    *,
    vocabulary: Any = None,
    estimator: str = REFERENCE,
    samples: int | None = None,
    smoothing: float = 0.0,
    seed: int = 0,
) -> float:
    """Return the mean log-likelihood of held-out documents, nats per token: the higher, the better.

    It is sum_d log p(w_d | alpha, phi) / sum_d L_d, with the topic weights integrated out. `scoring=` of scikit-learn's
    `GridSearchCV` and `cross_val_score` takes it as it is, or with settings, as `functools.partial` gives it.

    Args:
        model: a fitted model; see `heldout.audit`; or one with a logistic-normal prior, which is scored by
            quadrature at 2 and 3 topics and else by annealing; see `heldout.libraries.logistic_normal.from_any`.
        X: held-out documents; see `heldout.audit`. Tokens of words that the model lacks are left out, so models with
            different vocabularies do not compare.
        y: ignored.
        vocabulary: the model's words, for a model that does not name them.
        estimator: one of `heldout.evaluators.ESTIMATORS` that estimates the likelihood.
        samples: per document, the most for "reference"; None for 1,000 sweeps, or 20 samples of another.
        smoothing: a constant added to every p(w | z), renormalised: without it PLSA and NMF give documents with words
            that their training documents lack probability 0, and the score -inf.
        seed: determines every draw, for every model alike.

    Raises:
        InputError: for bad input, or a setting that is none.

    Examples:
        >>> import heldout
        >>> phi = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]
        >>> documents = [["ape", "bear", "bear"], ["cat"]]
        >>> round(heldout.log_likelihood((phi, 0.5), documents, vocabulary=["ape", "bear", "cat"]), 1)
        -1.0
    """
    check_settings(estimator, samples, smoothing)
    inside = unwrap(model)
    if isinstance(inside.model, EPCA):
        return _of_components(inside.model, inside.counts(X), seed)
    correlated = logistic_normal.from_any(inside.model, vocabulary)
    if correlated is not None:
        return _of_logistic_normal(correlated, inside.counts(X), smoothing, seed)
    fitted, _, stream = opened(model, X, vocabulary, seed)
    topics = fitted.topics.smoothed(smoothing) if smoothing else fitted.topics
    read = survey(stream, topics, 0.0)
    work = Work(estimator, samples_of(estimator, samples), seed, "", parts=(TRUTH,))
    values, done = np.zeros((len(read.lengths), len(COLUMNS))), np.zeros(len(read.lengths), bool)
    Runner(topics, stream, work, read, values, done, None, None).run(1, apart=False)
    return float(values[:, COLUMNS.index(TRUTH)].sum() / read.lengths.sum())


def check_settings(estimator: str, samples: int | None, smoothing: float) -> None:
    """Check the settings that models are compared with.

    Raises:
        InputError: for one that is none.
    """
    known = ESTIMATORS.get(estimator)
    if known is None or known.behaviour == "other":
        raise InputError(f"{estimator}: no estimator of the likelihood; there are {', '.join(LIKELIHOODS)}")
    if samples is not None and not known.fewest <= samples <= MOST_SAMPLES:
        raise InputError(f"{estimator}: {samples} samples; draw {known.fewest} or more, {MOST_SAMPLES} at most")
    check_smoothing(smoothing)


def samples_of(estimator: str, samples: int | None) -> int:
    """Return the number of samples per document where `samples` may be None: the same for every model."""
    if estimator == REFERENCE:
        return samples or SAMPLES
    return 0 if ESTIMATORS[estimator].deterministic else samples or OF_ANOTHER


def _of_components(model: EPCA, X: Any, seed: int) -> float:
    """Return EPCA's mean log-likelihood under its Gaussian prior, nats per token."""
    if not model.penalty > 0.0:
        raise InputError("EPCA: without a penalty its documents' weights have no prior, and so no likelihood")
    if not hasattr(model, "weights_"):
        raise InputError("EPCA: not fitted; call fit() first")
    V = len(model.weights_)
    counts = checked_counts(X, "EPCA")
    _, _, stream = opened((np.full((1, V), 1.0 / V), 1.0), counts, None, seed)
    nats, tokens = 0.0, 0
    for batch in stream:
        rng = generator("epca-score", first=batch.first, seed=seed)
        components = model.components(batch.vocabulary)
        evaluation = annealed_marginal(components, batch, CHAINS, rng, penalty=model.penalty)
        nats += float(evaluation.log_likelihood.sum())
        tokens += int(evaluation.tokens.sum())
    return nats / tokens


def _of_logistic_normal(topics: LogisticNormalTopics, X: Any, smoothing: float, seed: int) -> float:
    """Return the mean log-likelihood under a logistic-normal prior, nats per token."""
    if smoothing:
        phi = (topics.phi + smoothing) / (1.0 + smoothing * topics.phi.shape[1])
        topics = replace(topics, phi=phi)
    _, _, stream = opened((topics.phi, 1.0), X, topics.vocabulary, seed)
    nats, tokens = 0.0, 0
    for batch in stream:
        if topics.n_topics <= LARGEST:
            evaluation = logistic_normal_exact(topics, batch)
        else:
            evaluation = annealed(topics, batch, CHAINS, generator("logistic-normal", first=batch.first, seed=seed))
        nats += float(evaluation.log_likelihood.sum())
        tokens += int(evaluation.tokens.sum())
    if not tokens:
        raise InputError(f"{stream.name}: no token is a word of the model; give documents of its words")
    return nats / tokens
