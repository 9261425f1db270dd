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
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.folding_in import full_folding_in, predictive
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import reference
from heldout.job import Job
from heldout.libraries import Fitted
from heldout.libraries.read import fitted
from heldout.libraries.reported import reported
from heldout.papers.likelihood.experiments.optimism import maximum
from heldout.papers.likelihood.settings import Peers
from heldout.recorder import Results
from heldout.scores import perplexity
from heldout.seeds import Axes, generator
from heldout.study import PEERS, installed

KIND = "peers"
REPORTED = "reported"
# measurements, beside the scores; and a note
VALUE, GROWING, TRAINING, VERSION = "reported-value", "reported-growing", "training-perplexity", "version"


def experiment(job: Job, settings: Peers) -> Results:
    """Fit one library's LDA and score the test documents by its own number and by this project's evaluators.

    The job's model is the library: "scikit-learn", "gensim" or "tomotopy".

    Returns:
        Scores with the library as their model. Measurements on the axis "topics": the number as the library gives it,
        its part that grows with the number of topics in nats per token, and tomotopy's perplexity of the training
        documents. A note, on the axis "topics" too: the library's version.

    Raises:
        InputError: for an unknown library, one that is not installed, or as the split and the evaluators do.
    """
    library, topics, samples = job.model, job.topics, settings.samples
    check_installed(library)
    axes: Axes = {"corpus": job.corpus.name, "model": library, "topics": topics, "seed": job.seed}
    training, test = job.split()
    training = with_own_words(training)
    start = int(generator("peers-fit", **axes).integers(2**31))
    rounds = {"scikit-learn": settings.max_iter, "gensim": settings.passes, "tomotopy": settings.sweeps}
    peer = fit(library, training, topics, start, rounds[library])
    number = reported(peer, [test])

    recorder = job.recorder(documents=test.documents)
    whole = recorder.score(MEAN_FIELD_BOUND, mean_field_bound(peer.dirichlet, test))
    recorder.score(FULL, full_folding_in([peer.dirichlet], test, maximum))
    recorder.score(HALF, predictive([peer.dirichlet], *half_split(test, job.seed), maximum))
    exact = exact_within(peer.dirichlet, test, settings.limit)
    if exact is not None:
        recorder.score(EXACT, exact)
    else:
        rng = generator("peers-truth", **axes)
        recorder.score(REFERENCE, reference(peer.dirichlet, test, samples, rng), samples=samples)
    nats = number.nats_per_token * whole.tokens
    own: dict[str, Any] = {
        "log_likelihood": nats,
        "perplexity": perplexity(nats, whole.tokens),
        "standard_error": math.nan,
        "groups": None,  # a library gives one number of all documents
    }
    recorder.results.scores.append(replace(whole, evaluator=REPORTED, **own))
    growing = sum(term.nats for term in number.terms if term.grows) / whole.tokens
    recorder.measure(VALUE, number.value, axis="topics", at=topics)
    recorder.measure(GROWING, growing, axis="topics", at=topics)
    if library == "tomotopy":
        recorder.measure(TRAINING, peer.native.perplexity, axis="topics", at=topics)
    recorder.note(VERSION, version(library), axis="topics", at=topics)
    return recorder.results


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
