r"""Packages' numbers for held-out documents, their models' likelihood, and the parts of the difference.

One package fits its model to the training documents of a split, by its defaults but for the number of topics, the seed
and, where that is said, how long it trains; its own number for the test documents stands beside the evaluators of this
project, on the topics that it fitted and the prior of theta that it used (Dirichlet(1) where it has none; the embedded
topic model's is logistic normal, under which there is no mean-field bound):

* `reported`, the package's number as nats of these documents;
* `mean-field-bound`, `full-folding-in` (the maximum over theta), `half-folding-in`;
* the likelihood, log p(w | alpha, phi): `exact-marginal` where it costs no more than `limit`, `reference` elsewhere.

Most packages take the vocabulary that they are given. Here it has the words of the test documents, too, as where all
documents are counted before they are split; the number is asked for with the tokens of words unseen in training, and
without them. tomotopy, BigARTM, bitermplus and the embedded topic model have the training documents' words alone.

The reported number, log R, in nats, differs from log p of the tokens seen in training by parts that add up to it:

* `bound`: the mean-field bound at fixed topics, or that of an encoder, less log p;
* `folding-in`: the maximum over theta, less log p;
* `random-topics`: topics are random, and a token has sum_k exp(E log theta_k + E log phi_k) in the place of
  sum_k exp(E log theta_k) E phi_k (`heldout.libraries.parts`); with it all by which the package's own optimum differs;
* `sample`: one sample in the place of a sum or a maximum: of theta after folding in, or of the tokens' topics;
* `optimum`: the package stops elsewhere than at the maximum, or at the best bound;
* `topics`: minus the divergence of q(topics) from their prior, the same however many documents are scored;
* `unseen`: the share of the tokens of words unseen in training.
"""

import inspect
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

from artifact.papers.likelihood.driven import drive
from artifact.papers.likelihood.settings import Packages
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from artifact.study.study import DRIVEN, PEERS, installed
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.folding_in import full_folding_in, maximum, predictive
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import reference
from heldout.libraries import Fitted
from heldout.libraries.parts import SINGLE, check_parts, dirichlet_divergence
from heldout.libraries.read import fitted
from heldout.libraries.reported import reported
from heldout.topics import LogisticNormalTopics, Topics, perplexity
from heldout.typing import Floats, Ints

REPORTED = "reported"
# measurements other than the scores, and a note
VALUE, GROWING, VERSION = "reported-value", "reported-growing", "version"
# quantities of sets of test documents, on the axis "documents": WORDS-REPORTED, WORDS-LIKELIHOOD, .., nats per token
KNOWN, ALL = "known", "all"  # words seen in training; all words
LIKELIHOOD, SPREAD, BOUNDED, MENDED, TOKENS = "likelihood", "likelihood-spread", "mean-field", "mended", "tokens"
PART = "part-"
DEFAULT = "-default-rounds"  # ending of the variant of a model that was trained for the package's own default rounds
TOPICS_COST, UNSEEN = "topics", "unseen"  # parts that several kinds have


@dataclass(frozen=True)
class Kind:
    """The making of a package's number.

    Attributes:
        near: the evaluator that it comes nearest to; empty for the likelihood itself.
        cause: the part that leads from the likelihood to that evaluator.
        rest: the part that leads on to the number.
        unseen: whether words unseen in training stay in its vocabulary.
        per_token: whether a driver's number is a loss per token, and not a perplexity.
        neural: whether an encoder, a network, gives q(theta).
    """

    near: str
    cause: str
    rest: str
    unseen: bool = True
    per_token: bool = False
    neural: bool = False


VARIATIONAL = Kind(MEAN_FIELD_BOUND, "bound", "random-topics")
KINDS: Mapping[str, Kind] = {
    "scikit-learn": VARIATIONAL,
    "gensim": VARIATIONAL,
    "spark": replace(VARIATIONAL, per_token=True),
    "tomotopy": Kind("", "", "sample", unseen=False),
    "topicmodels-gibbs": Kind(FULL, "folding-in", "sample"),
    "topicmodels-vem": Kind(MEAN_FIELD_BOUND, "bound", "optimum"),
    "bigartm": Kind(FULL, "folding-in", "optimum", unseen=False),
    "bitermplus": Kind(FULL, "folding-in", "optimum", unseen=False),
    "etm": Kind("", "", "bound", unseen=False, per_token=True, neural=True),
}


@dataclass(frozen=True, eq=False)
class Fit:
    """A package's model and its numbers for sets of test documents.

    Attributes:
        topics: phi and the prior of theta.
        nats: its number for each set, as a log-likelihood.
        version: the package's version.
        value: its number for the set `whole`, as it gives it.
        growing: the part of this number that grows with the number of topics, nats.
        cost: minus the divergence of q(topics) from their prior, nats; 0 where topics are not random.
        thetas: (D, K) by set, where the number is of words at a theta that was fitted to them.
        mended: scikit-learn's number with issue 20032 mended as proposed, by set.
        documents: (D, 2) by set, where every document has a number, nats, with a standard error.
    """

    topics: Topics | LogisticNormalTopics
    nats: Mapping[str, float]
    version: str
    value: float
    growing: float = 0.0
    cost: float = 0.0
    thetas: Mapping[str, Floats] = field(default_factory=dict)
    mended: Mapping[str, float] = field(default_factory=dict)
    documents: Mapping[str, Floats] = field(default_factory=dict)


def experiment(job: Job, settings: Packages) -> Results:
    """Fit one package's model and score the test documents by its own number and by this project's evaluators.

    The job's model is the package, one of `KINDS`.

    Returns:
        Scores of the tokens seen in training, with the package as their model. Measurements on the axis "topics": the
        number as the package gives it, and its part that grows with the number of topics, nats per token. On the axis
        "documents", nats per token of so many test documents, without and with words unseen in training: the
        number, the likelihood with its error, and with the standard error of a mean over documents; of all of them the
        mean-field bound, the parts of the number and scikit-learn's as mended, and the tokens. A note, on the axis
        "topics": the package's version.

    Raises:
        InputError: for an unknown package, one that is not installed, or as the split and the evaluators do.
    """
    check_installed(job.model)
    training, test = documents(job, settings.training_documents)
    recorder = job.recorder(documents=test.documents)
    rounds = {str(package): number for package, number in settings.rounds.items()}[job.model]
    _measure(job, settings, training, test, rounds, recorder)
    default = {str(package): number for package, number in settings.own_rounds.items()}.get(job.model, rounds)
    if (job.topics, job.seed) == (settings.own_rounds_topics, 0) and default != rounds:
        _measure(job, settings, training, test, default, recorder.at(variant=job.variant + DEFAULT))
    return recorder.results


def check_installed(package: str) -> None:
    """Raise InputError for an unknown package, or one that is not installed."""
    if package not in KINDS:
        raise InputError(f"packages: there is no package {package}; there are {', '.join(KINDS)}")
    if package not in installed():
        remedy = "pip install 'heldout[peers]'" if package in PEERS else "make packages"
        raise InputError(f"packages: {package} is not installed; {remedy}")


def documents(job: Job, most: int) -> tuple[Corpus, Corpus]:
    """Return `most` training documents or all, drawn at random, and the test documents, in the corpus's order.

    Both have the vocabulary of all of them. Documents without tokens, or test documents without a word seen in
    training, are left out.
    """
    training, test = job.split()
    order = job.generator("packages-training").permutation(training.n_documents)
    training = training.subset(np.sort(order[training.lengths[order] > 0][:most]))
    known = test.over(with_own_words(training).vocabulary)[0]
    test = test.subset(np.flatnonzero(known.lengths))
    words = tuple(training.vocabulary[int(v)] for v in np.union1d(training.tokens, test.tokens))
    return training.over(words)[0], test.over(words)[0]


def with_own_words(corpus: Corpus) -> Corpus:
    """Return the documents over the words that occur in them, in the vocabulary's order."""
    used, tokens = np.unique(corpus.tokens, return_inverse=True)
    words = tuple(corpus.vocabulary[int(v)] for v in used)
    return replace(corpus, vocabulary=words, tokens=tokens.astype(np.int32))


def _measure(job: Job, settings: Packages, training: Corpus, test: Corpus, rounds: int, recorder: Recorder) -> None:
    """Fit a package's model for a number of rounds and record its numbers and their parts."""
    kind = KINDS[job.model]
    trained = with_own_words(training)
    unseen = kind.unseen and bool(settings.scored)
    scored = {KNOWN: test.over(trained.vocabulary)[0], **({ALL: test} if unseen else {})}
    order = job.generator("packages-scored").permutation(test.n_documents)
    sizes = [n for n in settings.scored if n < test.n_documents] + [test.n_documents]
    drawn = {n: np.sort(order[:n]) for n in sizes}
    sets = {(words, n): over_words.subset(drawn[n]) for words, over_words in scored.items() for n in sizes}
    tests = {f"{words}-{n}": one for (words, n), one in sets.items()}
    whole = f"{KNOWN}-{test.n_documents}"
    start = int(job.generator("peers-fit", model=job.model, topics=job.topics).integers(2**31))
    fit_package = fit_driven if job.model in DRIVEN else fit_here
    fit = fit_package(
        job.model, training if unseen else trained, tests, whole, topics=job.topics, rounds=rounds, seed=start
    )

    truths: dict[str, Evaluation] = {}
    bounds: dict[str, Evaluation] = {}
    known = scored[KNOWN]
    score = recorder.at(tokens_left_out=test.n_tokens - known.n_tokens).score
    for words, over_words in scored.items():
        if isinstance(fit.topics, Topics):
            bounds[words] = mean_field_bound(fit.topics, over_words)
        exact = exact_within(fit.topics, over_words, settings.limit)
        name, samples = (EXACT, 0) if exact is not None else (REFERENCE, settings.samples)
        rng = job.generator("peers-truth", model=job.model, topics=job.topics)
        truths[words] = exact or reference(fit.topics, over_words, settings.samples, rng)
        if words == KNOWN:
            score(name, truths[words], samples=samples)
    if bounds:
        score(MEAN_FIELD_BOUND, bounds[KNOWN])
    full = full_folding_in([fit.topics], known, maximum)
    full_row = score(FULL, full)
    observed, second = half_split(test, job.seed)
    shown, held = (half.over(trained.vocabulary)[0] for half in (observed, second))
    half = predictive([fit.topics], shown, held, maximum)
    recorder.at(tokens_left_out=second.n_tokens - held.n_tokens).score(HALF, half)
    nats, tokens = fit.nats[whole], known.n_tokens
    if fit.documents:
        values, errors = fit.documents[whole].T
        score(REPORTED, Evaluation(values, known.lengths, errors))
    else:
        row = replace(full_row, evaluator=REPORTED, log_likelihood=nats, perplexity=perplexity(nats, tokens))
        recorder.results.scores.append(replace(row, groups=None, standard_error=math.nan))
    recorder.measure(VALUE, fit.value)
    recorder.measure(GROWING, fit.growing / tokens)
    recorder.note(VERSION, fit.version)

    neighbour = {MEAN_FIELD_BOUND: bounds.get(KNOWN), FULL: full, "": truths[KNOWN]}[kind.near]
    assert neighbour is not None  # numbers near a mean-field bound are of models that have one
    for (words, n), one in sets.items():
        name, truth, places = f"{words}-{n}", truths[words], drawn[n]
        record = partial(recorder.measure, axis="documents", position=n)
        record(f"{words}-{REPORTED}", fit.nats[name] / one.n_tokens)
        total = float(truth.log_likelihood[places].sum()) / one.n_tokens
        record(f"{words}-{LIKELIHOOD}", total, error=truth.total_error(places) / one.n_tokens)
        record(f"{words}-{SPREAD}", spread(truth, places))
        if name in fit.mended:
            record(f"{words}-{MENDED}", fit.mended[name] / one.n_tokens)
        if n == test.n_documents:
            record(f"{words}-{TOKENS}", one.n_tokens)
            if words in bounds:
                record(f"{words}-{BOUNDED}", float(bounds[words].log_likelihood.sum()) / one.n_tokens)
            added = unseen_part(fit, tests, words, n)
            likelihood, nearest = (float(each.log_likelihood.sum()) for each in (truths[KNOWN], neighbour))
            for part, part_nats in parts(kind, fit.nats[name], likelihood, nearest, fit.cost, added).items():
                record(f"{words}-{PART}{part}", part_nats / one.n_tokens)


def parts(kind: Kind, number: float, likelihood: float, nearest: float, cost: float, unseen: float) -> dict[str, float]:
    """Return the parts of a package's number less the likelihood, all in nats; the parts add up to it.

    Args:
        kind: the making of the number.
        number: the package's number, of all tokens.
        likelihood: likelihood of the tokens of words seen in training.
        nearest: the same tokens' value by the evaluator `kind.near`.
        cost: the part of the topics.
        unseen: the part of the words unseen in training.
    """
    nats_by_part = {kind.cause: nearest - likelihood} if kind.near else {}
    nats_by_part |= {kind.rest: number - nearest - cost - unseen}
    return nats_by_part | {name: nats for name, nats in ((TOPICS_COST, cost), (UNSEEN, unseen)) if nats}


def unseen_part(fit: Fit, tests: Mapping[str, Corpus], words: str, n: int) -> float:
    """Return the share of the tokens of words unseen in training in the number of the first n documents, nats."""
    if words == KNOWN:
        return 0.0
    name, known = f"{words}-{n}", f"{KNOWN}-{n}"
    if name not in fit.thetas:
        return fit.nats[name] - fit.nats[known]
    return at_theta(fit, tests, name) - at_theta(fit, tests, name, tests[known])


def at_theta(fit: Fit, tests: Mapping[str, Corpus], name: str, scored: Corpus | None = None) -> float:
    """Return sum_w n(w) log sum_k theta_k phi[k, w], nats, of a set of documents at the package's own theta."""
    documents = tests[name] if scored is None else scored
    return float(full_folding_in([fit.topics], documents, lambda *_: fit.thetas[name]).log_likelihood.sum())


def spread(values: Evaluation, documents: Ints) -> float:
    """Return the standard error of the mean per token over some documents, taken for a sample of many."""
    nats, tokens, n = values.log_likelihood[documents], values.tokens[documents], len(documents)
    residuals = nats - nats.sum() / tokens.sum() * tokens
    return math.sqrt(float((residuals**2).sum()) * n / max(1, n - 1)) / float(tokens.sum())


def fit_driven(
    package: str, training: Corpus, tests: Mapping[str, Corpus], whole: str, *, topics: int, rounds: int, seed: int
) -> Fit:
    """Fit a package by its driver; raises InputError where its number is not made as its `Kind` says."""
    over_training = {name: test.over(training.vocabulary)[0] for name, test in tests.items()}
    driven = drive(package, training, over_training, topics=topics, rounds=rounds, seed=seed)
    phi = driven.weights / driven.weights.sum(axis=1, keepdims=True)
    model: Topics | LogisticNormalTopics
    if len(driven.prior) == 2:
        mean, covariance = driven.prior
        model = LogisticNormalTopics.of(phi, mean, covariance, training.vocabulary)
    else:
        model = fitted((phi, *driven.prior), training.vocabulary).dirichlet
    logs = driven.values if KINDS[package].per_token else {name: math.log(x) for name, x in driven.values.items()}
    nats = {name: -logs[name] * test.n_tokens for name, test in tests.items()}
    cost = 0.0 if driven.eta is None else -dirichlet_divergence(driven.weights, np.array(driven.eta))
    fit = Fit(model, nats, driven.version, driven.values[whole], cost, cost, driven.thetas, documents=driven.documents)
    for name in driven.thetas:
        check_parts(package, nats[name], [at_theta(fit, tests, name)], SINGLE)
    for name, values in driven.documents.items():
        check_parts(package, nats[name], values[:, 0].tolist(), SINGLE)
    return fit


def fit_here(
    package: str, training: Corpus, tests: Mapping[str, Corpus], whole: str, *, topics: int, rounds: int, seed: int
) -> Fit:
    """Fit a package of the lock."""
    peer = fit_peer(package, training, topics, seed, rounds)
    numbers = {name: reported(peer, [test]) for name, test in tests.items()}
    terms = numbers[whole].terms
    return Fit(
        peer.dirichlet,
        {name: numbers[name].nats_per_token * test.n_tokens for name, test in tests.items()},
        version(package),
        numbers[whole].value,
        sum(term.nats for term in terms if term.grows),
        sum(term.nats for term in terms if not term.of_documents),
        mended={name: mended(peer.native, test.over(training.vocabulary)[0]) for name, test in tests.items()}
        if package == "scikit-learn"
        else {},
    )


def mended(model: Any, corpus: Corpus) -> float:
    """Return scikit-learn's bound, nats, with the one line changed that is proposed for its issue 20032.

    Pull request 33363 divides the topics' part by the sum of `components_`, about the training tokens, and not by the
    tokens that are scored.

    Raises:
        InputError: where this release has another line.
    """
    function = type(model)._perplexity_precomp_distr
    source, line = textwrap.dedent(inspect.getsource(function)), "perword_bound = bound / word_cnt"
    if source.count(line) != 1:
        raise InputError(f"scikit-learn: perplexity no longer has the line {line!r}, which is to be mended")
    topics = -dirichlet_divergence(model.components_, np.array(model.topic_word_prior_))
    changed = f"perword_bound = (bound - {topics!r}) / word_cnt + {topics!r} / self.components_.sum()"
    names: dict[str, Any] = {}
    exec(source.replace(line, changed), dict(function.__globals__), names)
    counts = corpus.counts()
    return -math.log(names[function.__name__](model, counts)) * float(counts.sum())


def fit_peer(package: str, training: Corpus, topics: int, seed: int, rounds: int) -> Fitted:
    """Return a library's LDA fitted to documents, by a number of passes or sweeps."""
    fits = {"scikit-learn": fit_scikit_learn, "gensim": fit_gensim, "tomotopy": fit_tomotopy}
    native = fits[package](training, topics, seed, rounds)
    return fitted(native, None if package == "tomotopy" else training.vocabulary)


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


def fit_tomotopy(training: Corpus, topics: int, seed: int, sweeps: int, **priors: float) -> Any:
    """Return `LDAModel` (collapsed Gibbs sampling, the prior of theta optimised) fitted to documents.

    The parameters at the start, "alpha" and "eta", are its own but for those in `priors`.
    """
    import tomotopy

    model = tomotopy.LDAModel(k=topics, seed=seed, **priors)
    for d in range(training.n_documents):
        if training.lengths[d]:
            model.add_doc([training.vocabulary[v] for v in training.document(d)])
    model.train(sweeps, workers=1)
    return model
