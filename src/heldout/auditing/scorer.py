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

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from heldout.auditing.blocks import COLUMNS, LIKELIHOOD, Work, batches
from heldout.auditing.estimator import SAMPLES as OTHER_SAMPLES
from heldout.auditing.estimator import check_estimator
from heldout.auditing.matching import opened
from heldout.auditing.options import ScoreOptions
from heldout.auditing.runner import Task, run
from heldout.auditing.store import Values
from heldout.auditing.survey import Survey, subject_of
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError, InputWarning
from heldout.evaluators import ESTIMATORS, EXACT, REFERENCE
from heldout.evaluators.components_marginal import annealed_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.priors import prior_of
from heldout.evaluators.product_of_experts import ProductOfExperts
from heldout.evaluators.rbm_marginal import rbm_marginal
from heldout.evaluators.reference import reference
from heldout.libraries.checks import numbers
from heldout.libraries.pipeline import as_texts, unwrap
from heldout.libraries.scikit_learn import machine
from heldout.models.epca import EPCA
from heldout.models.estimator import checked_counts
from heldout.models.rbm import RBM
from heldout.seeds import generator
from heldout.typing import Ints

SAMPLES = 1_000  # sweeps over a document, at most, as a mean over a block
CHAINS = 100  # annealing chains under a Gaussian prior
TELLING = 0.05  # nats a row, error of an annealed log Z from which a warning says it


def log_likelihood(
    model: Any,
    X: Any,
    y: None = None,  # noqa: ARG001
    *,
    vocabulary: Any = None,
    estimator: str = REFERENCE,
    samples: int | None = None,
    smoothing: float = 0.0,
    unknown: float | None = None,
    random_state: Any = 0,
    other_corpus: bool = False,
    labels: Any = None,
    metadata: Any = None,
) -> float:
    """Return the mean log-likelihood of held-out documents, nats per token: the higher, the better.

    It is sum_d log p(w_d | alpha, phi) / sum_d L_d, with the topic weights integrated out. `scoring=` of scikit-learn's
    `GridSearchCV` and `cross_val_score` takes it as it is, or with settings, as `functools.partial` gives it.

    Args:
        model: a fitted model; see `heldout.audit`; or EPCA; or (W, b, mu, Sigma), a product of experts
            (`heldout.evaluators.product_of_experts`); or a `BernoulliRBM` of scikit-learn or binary `RBM`, whose
            likelihood is exact where a layer has at most 20 units (24 by "exact-marginal"), and elsewhere annealed: a
            warning says its error above 0.05 nats a row (`heldout.evaluators.rbm_marginal`).
        X: held-out documents; see `heldout.audit`; of a machine binary rows, whose values are its tokens. Tokens of
            words that the model lacks are left out, so models with different vocabularies do not compare, unless
            `unknown` is given.
        y: ignored.
        vocabulary: the model's words, for a model that does not name them.
        estimator: one of `heldout.evaluators.ESTIMATORS` that estimates the likelihood.
        samples: per document, the most for "reference" (of a machine the temperatures); None for 1,000 sweeps, or 20
            samples of another.
        smoothing: a constant added to every p(w | z), renormalised: without it PLSA and NMF give documents with words
            that their training documents lack probability 0, and the score -inf.
        unknown: the probability of every token that is no word of the model, or that its vectorizer leaves out of a
            text; such tokens then count.
        random_state: determines every draw, for every model alike.
        other_corpus: accept documents that are unlike the corpus that the model was fitted to; see `heldout.audit`.
            EPCA, products of experts and machines, which have no topics, accept any.
        labels: the documents' labels, for a model with priors by them; see `heldout.audit`.
        metadata: the documents' metadata, likewise.

    Raises:
        InputError: for bad input, a setting that is none, or documents that are unlike the model's own.

    Examples:
        >>> import heldout
        >>> phi = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]
        >>> documents = [["ape", "bear", "bear"], ["cat"]]
        >>> round(heldout.log_likelihood((phi, 0.5), documents, vocabulary=["ape", "bear", "cat"]), 1)
        -1.0
    """
    settings: dict[str, Any] = {"estimator": estimator, "samples": samples, "smoothing": smoothing}
    given: dict[str, Any] = {"other_corpus": other_corpus, "labels": labels, "metadata": metadata}
    options = ScoreOptions(random_state=random_state, **settings, **given)
    seed, samples = options.random_state, options.samples
    check_unknown(unknown)
    unwrapped = unwrap(model)
    if isinstance(unwrapped.model, EPCA):
        return _epca_score(unwrapped.model, unwrapped.counts(X), seed)
    if isinstance(unwrapped.model, tuple) and len(unwrapped.model) == 4:
        return _experts_score(unwrapped.model, unwrapped.counts(X), vocabulary, estimator, samples, seed)
    if (boltzmann := machine(unwrapped.model)) is not None:
        return _machine_score(boltzmann, unwrapped.counts(X), estimator, samples, seed)
    subject = subject_of(model, X, vocabulary, options)
    check_estimator(estimator, subject.topics)
    work = Work(estimator, samples_of(estimator, samples), seed, "", parts=(LIKELIHOOD,))
    kept = Values(len(subject.read.lengths), len(COLUMNS))
    run([Task(subject, work, kept)])
    nats, tokens = kept.values[:, COLUMNS.index(LIKELIHOOD)].sum(), subject.read.lengths.sum()
    if unknown is not None:
        absent = unknown_tokens(model, X, subject.read).sum()
        nats, tokens = nats + absent * math.log(unknown), tokens + absent
    return float(nats / tokens)


def check_unknown(unknown: float | None) -> None:
    """Check the probability of a word that a model lacks.

    Raises:
        InputError: for one that is none.
    """
    if unknown is not None and not 0.0 < unknown < 1.0:
        raise InputError(f"unknown: {unknown}, the probability of a word that the model lacks; give one such as 1e-6")


def unknown_tokens(model: Any, X: Any, read: Survey) -> Ints:
    """Return how many tokens of each document are no word of the model, (D,).

    Of texts those that the vectorizer's analyzer finds, and its vocabulary lacks.
    """
    unwrapped, texts = unwrap(model), as_texts(X)
    if texts is None or not unwrapped.reads_texts:
        return read.left_out
    analyze = next(step for _, step in unwrapped.before.steps if hasattr(step, "build_analyzer")).build_analyzer()
    return np.array([len(analyze(text)) for text in texts]) - read.lengths


def samples_of(estimator: str, samples: int | None) -> int:
    """Return the number of samples per document where `samples` may be None: the same for every model."""
    if estimator == REFERENCE:
        return samples or SAMPLES
    return 0 if ESTIMATORS[estimator].deterministic else samples or OTHER_SAMPLES


def _epca_score(model: EPCA, X: Any, seed: int) -> float:
    """Return EPCA's mean log-likelihood under its Gaussian prior, nats per token."""
    if not model.penalty > 0.0:
        raise InputError("EPCA: without a penalty its documents' weights have no prior, and so no likelihood")
    if not hasattr(model, "weights_"):
        raise InputError("EPCA: not fitted; call fit() first")
    V = len(model.weights_)
    counts = checked_counts(X, "EPCA")
    _, _, documents, _ = opened((np.full((1, V), 1.0 / V), 1.0), counts, None, seed)

    def evaluate(first: int, batch: Corpus) -> Evaluation:
        rng = generator("epca-score", first=first, seed=seed)
        return annealed_marginal(model.components(batch.vocabulary), batch, CHAINS, rng, penalty=model.penalty)

    return _mean(documents, evaluate)


def _experts_score(given: Any, X: Any, vocabulary: Any, estimator: str, samples: int | None, seed: int) -> float:
    """Return the mean log-likelihood under a product of experts, nats per token."""
    names = ("W", "b", "mu", "Sigma")
    W, b, mu, Sigma = (numbers(values, name, "product of experts") for name, values in zip(names, given, strict=True))
    V = b.size
    fitted, _, documents, _ = opened((np.full((1, V), 1.0 / V), 1.0), X, vocabulary, seed)
    experts = ProductOfExperts.of(W, b, mu, Sigma, fitted.topics.vocabulary)
    check_estimator(estimator, experts)

    def evaluate(first: int, batch: Corpus) -> Evaluation:
        if estimator == EXACT:
            return prior_of(experts).exact(experts, batch)
        rng = generator("product-of-experts", first=first, seed=seed)
        return reference(experts, batch, samples_of(estimator, samples), rng)

    return _mean(documents, evaluate)


def _machine_score(model: RBM, X: Any, estimator: str, samples: int | None, seed: int) -> float:
    """Return the mean log-likelihood under a restricted Boltzmann machine, nats per binary value."""
    if estimator not in (EXACT, REFERENCE):
        raise InputError(f"{estimator}: is of topics; take {EXACT} or {REFERENCE} for a Boltzmann machine")
    temperatures, random = samples_of(estimator, samples), generator("rbm-score", seed=seed)
    evaluation = rbm_marginal(model, X, temperatures, random, exact=estimator == EXACT)
    tokens = int(evaluation.tokens.sum())
    if (error := evaluation.total_error() / tokens) * len(model.weights_) > TELLING:
        warnings.warn(
            f"Boltzmann machine: the score has a standard error of {error:.2g} nats per value, {TELLING} a row or more,"
            " from annealing log Z; give more temperatures (samples)",
            InputWarning,
            stacklevel=3,
        )
    return float(evaluation.log_likelihood.sum()) / tokens


def _mean(documents: Corpus, evaluate: Callable[[int, Corpus], Evaluation]) -> float:
    """Return the mean log-likelihood of documents, which are evaluated in batches, nats per token.

    Raises:
        InputError: without a token.
    """
    if not documents.n_tokens:
        raise InputError(f"{documents.name}: no token is a word of the model; give documents of its words")
    nats, tokens = 0.0, 0
    for first, batch in batches(documents):
        evaluation = evaluate(first, batch)
        nats += float(evaluation.log_likelihood.sum())
        tokens += int(evaluation.tokens.sum())
    return nats / tokens
