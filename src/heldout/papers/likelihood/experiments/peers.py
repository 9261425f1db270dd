"""What other libraries report of their own models, beside what those models say of the same documents.

One library fits LDA to the training documents of a split; its own number for the test documents
(`heldout.libraries.reported`) stands beside the evaluators of this project, on the topics that it fitted and the prior
of theta that it used:

* `reported`: the library's number, as nats of these documents;
* `mean-field-bound`, `full-folding-in` (the maximum over theta), `half-folding-in`;
* the truth, log p(w | alpha, phi): `exact-marginal` where it costs no more than `limit`, `reference` with its error
  elsewhere.

Libraries run on one thread with their defaults, except for the number of topics, the seed, and how long they train: by
default gensim passes over the documents once, here a single update and too few by its own log, and tomotopy trains for
ten sweeps a call. The vocabulary is that of the training documents, since whoever fits a model has no other words. So
all libraries score the same tokens; the other test tokens are left out and counted.
"""

import math
import re
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_within
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.reference import reference
from heldout.libraries import Fitted
from heldout.libraries.read import fitted
from heldout.libraries.reported import reported
from heldout.measurements import Measurement
from heldout.papers.likelihood.experiments.optimism import maximum
from heldout.scores import Score, perplexity, score_of
from heldout.seeds import generator
from heldout.study import PEERS, installed

KIND = "peers"
REPORTED = "reported"
# measurements, beside the scores
VALUE, GROWING, TRAINING, VERSION = "reported-value", "reported-growing", "training-perplexity", "version"


def experiment(
    corpus: Corpus,
    *,
    model: str,
    topics: int,
    seed: int,
    test_documents: int,
    max_iter: int,
    passes: int,
    sweeps: int,
    samples: int,
    limit: float,
) -> tuple[list[Score], list[Measurement]]:
    """Fit one library's LDA and score the test documents by its own number and by this project's evaluators.

    Args:
        corpus: all documents.
        model: the library: "scikit-learn", "gensim" or "tomotopy".
        topics: K.
        seed: determines the split, the library's seed and the draws.
        test_documents: how many documents are held out.
        max_iter: scikit-learn's passes over the training documents.
        passes: gensim's.
        sweeps: tomotopy's.
        samples: the most sweeps of the reference over a document, on average.
        limit: the most updates that the exact marginal of all documents may cost.

    Returns:
        Scores with the library as their model. Measurements on the axis "topics": the number as the library gives it,
        its part that grows with the number of topics in nats per token, and tomotopy's perplexity of the training
        documents; on the axis "part" the parts of the library's version, as numbers.

    Raises:
        InputError: for an unknown library, one that is not installed, or as the split and the evaluators do.
    """
    check_installed(model)
    axes: dict[str, Any] = {"corpus": corpus.name, "model": model, "topics": topics, "seed": seed}
    training, test = train_test_split(corpus, test_documents, seed)
    training = with_own_words(training)
    start = int(generator("peers-fit", **axes).integers(2**31))
    rounds = {"scikit-learn": max_iter, "gensim": passes, "tomotopy": sweeps}
    peer = fit(model, training, topics, start, rounds[model])
    number = reported(peer, [test])

    evaluations: dict[str, Evaluation] = {
        MEAN_FIELD_BOUND: mean_field_bound(peer.dirichlet, test),
        FULL: full_folding_in([peer.dirichlet], test, maximum),
        HALF: half_folding_in([peer.dirichlet], *half_split(test, seed), maximum),
    }
    exact = exact_within(peer.dirichlet, test, limit)
    if exact is not None:
        evaluations[EXACT] = exact
    else:
        evaluations[REFERENCE] = reference(peer.dirichlet, test, samples, generator("peers-truth", **axes))
    named: dict[str, Any] = {**axes, "variant": KIND, "smoothing": 0.0, "chain": "none"}
    scores = {
        evaluator: score_of(evaluation, evaluator=evaluator, samples=samples if evaluator == REFERENCE else 0, **named)
        for evaluator, evaluation in evaluations.items()
    }
    whole = scores[MEAN_FIELD_BOUND]
    nats = number.nats_per_token * whole.tokens
    scores[REPORTED] = replace(
        whole,
        evaluator=REPORTED,
        log_likelihood=nats,
        perplexity=perplexity(nats, whole.tokens),
        standard_error=math.nan,
    )

    def row(quantity: str, axis: str, at: int, value: float) -> Measurement:
        return Measurement(**named, quantity=quantity, axis=axis, at=at, value=float(value))

    growing = sum(term.nats for term in number.terms if term.grows) / whole.tokens
    measurements = [row(VALUE, "topics", topics, number.value), row(GROWING, "topics", topics, growing)]
    if model == "tomotopy":
        measurements.append(row(TRAINING, "topics", topics, peer.native.perplexity))
    measurements += [row(VERSION, "part", at, part) for at, part in enumerate(version_parts(version(model)))]
    return list(scores.values()), measurements


def version_parts(text: str) -> list[int]:
    """Return the numbers of a version, [1, 9, 1] of "1.9.1" and [4, 4, 0] of "4.4.0.dev2"."""
    release = re.match(r"\d+(\.\d+)*", text)
    return [int(part) for part in release.group().split(".")] if release else []


def with_own_words(documents: Corpus) -> Corpus:
    """Return the documents over the words that occur in them, in the vocabulary's order."""
    used, tokens = np.unique(documents.tokens, return_inverse=True)
    words = tuple(documents.vocabulary[int(v)] for v in used)
    return replace(documents, vocabulary=words, tokens=tokens.astype(np.int32))


def check_installed(library: str) -> None:
    """Raise InputError for an unknown library, or one that is not installed."""
    if library not in PEERS:
        raise InputError(f"peers: there is no library {library}; there are {', '.join(PEERS)}")
    if library not in installed():
        raise InputError(f"peers: {library} is not installed; pip install 'heldout[peers]'")


def fit(library: str, training: Corpus, topics: int, seed: int, rounds: int) -> Fitted:
    """Return a library's LDA fitted to documents over their own words, by so many passes or sweeps."""
    fits = {"scikit-learn": fit_scikit_learn, "gensim": fit_gensim, "tomotopy": fit_tomotopy}
    native = fits[library](training, topics, seed, rounds)
    return fitted(native, None if library == "tomotopy" else training.vocabulary)


def fit_scikit_learn(training: Corpus, topics: int, seed: int, max_iter: int) -> Any:
    """Return `LatentDirichletAllocation` (batch variational Bayes) fitted to documents over their own words."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(n_components=topics, random_state=seed, max_iter=max_iter, n_jobs=1)
    return model.fit(training.counts())


def fit_gensim(training: Corpus, topics: int, seed: int, passes: int) -> Any:
    """Return `LdaModel` (online variational Bayes) fitted to documents over their own words."""
    from gensim.models import LdaModel

    counts = training.counts()
    rows = [slice(counts.indptr[d], counts.indptr[d + 1]) for d in range(training.n_documents)]
    bags = [list(zip(counts.indices[row].tolist(), counts.data[row].astype(int).tolist(), strict=True)) for row in rows]
    words = dict(enumerate(training.vocabulary))
    return LdaModel(bags, num_topics=topics, id2word=words, random_state=seed, passes=passes)


def fit_tomotopy(training: Corpus, topics: int, seed: int, sweeps: int) -> Any:
    """Return `LDAModel` (collapsed Gibbs sampling, the prior of theta optimised) fitted to documents."""
    import tomotopy

    model = tomotopy.LDAModel(k=topics, seed=seed)
    for d in range(training.n_documents):
        if training.lengths[d]:
            model.add_doc([training.vocabulary[v] for v in training.document(d)])
    model.train(sweeps, workers=1)
    return model
