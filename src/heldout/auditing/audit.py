"""The audit: every evaluator over the same documents, in blocks, on several cores, and again from where it stopped.

Per document of L tokens, with the model's phi and alpha as they are:

* `mean-field-bound`, max_q E_q[log p(w, z, theta)] + S(q) <= log p(w) (`heldout.evaluators.mean_field_bound`);
* `full-folding-in`, max_theta sum_w n(w) log sum_k theta_k phi[k, w], by EM from the uniform point to within
  `FOLD_IN["tolerance"]` nats per token of the maximum: what folding in is for topics, whoever fitted them
  (Hofmann, 1999; Welling et al., 2008, section 5, "full");
* `half-folding-in`, the same maximum of one half of the tokens, scored on the other ("half");
* `truth`, log p(w | alpha, phi) with theta integrated out (equation 4.36): exact where that costs at most `limit`,
  otherwise by the estimator that was asked for or is recommended, with its standard error.

Results do not depend on batches, cores or interruptions. Documents are evaluated in blocks of `BLOCK` from the first,
and the random numbers of a document are named by its place (block and place in it) and the seed; so is the order of a
bag's tokens (`heldout.corpora.stream`) and the division into halves.

A block is evaluated over its own words and one more that stands for all others, phi[k, other] = 1 - sum_w phi[k, w]:
no evaluator looks at words that do not occur, and what a block costs no longer depends on V.
"""

import hashlib
import importlib.metadata
import math
import multiprocessing
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.recommend import HELD, Table
from heldout.auditing.result import Audit, Different, Line
from heldout.auditing.store import KEY, Store
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.corpora.stream import DocumentStream, open_documents
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import (
    CHEAPER,
    LARGEST_LAYER,
    UPDATES_PER_SECOND,
    cost,
    exact_marginal,
)
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.simplex_quadrature import FEWEST_TOPICS, LEAST_COST, quadrature_cost
from heldout.libraries import Fitted, Reported
from heldout.models.plsa import fold_in_counts
from heldout.seeds import generator
from heldout.topics import Topics

Float = NDArray[np.float64]

BOUND, FULL, HALF, TRUTH = "mean-field-bound", "full-folding-in", "half-folding-in", "truth"
EXACT, SEQUENTIAL = "exact-marginal", "left-to-right-sequential"
LABELS = {BOUND: "mean-field bound", FULL: "full folding-in", HALF: "half folding-in"}
BEHAVIOURS = {"low": "biased low", "high": "biased high", "biased": "biased either way"}
COLUMNS = (BOUND, FULL, HALF, TRUTH, "error", "half-tokens")  # of a document, as the store keeps them

FOLD_IN: dict[str, Any] = {"iterations": 1_000, "tolerance": 1e-4}  # of the maximum, nats per token
MEAN_FIELD: dict[str, Any] = {"iterations": 10_000, "tolerance": 1e-9}  # of an iteration, nats per token
LIMIT = 1e11  # updates; some two minutes of one core
SAMPLES = 20  # of an estimator that was named without a number
BLOCK = 16  # documents
PATIENCE = 5.0  # seconds
MOST_DIFFERENT, MOST_WORDS = 10, 10
PILOT = 4  # documents
LEAST_SEEN, MOST_EXCESS, FEWEST_TOKENS = 0.6, 1.0, 1000  # of what is expected; nats per token; to judge by
PILOT_TOKENS, PILOT_SAMPLES = 200, 100  # of each, at most
OWN_NUMBERS = ("tomotopy", "MALLET")  # number words by frequency, by first appearance: no corpus has the same numbers
HARDER = 2.0  # times the error of drawn documents is what `HELD` came to on real ones: "auto" asks for so much less
FURTHER = 100.0  # times the most samples that were measured, at most
FEWEST = 10  # samples that "auto" draws: of two or three a standard error cannot be told
QUADRATIC = ("left-to-right", SEQUENTIAL)  # they resample L (L - 1) / 2 tokens of a document, the others visit L


@dataclass(frozen=True)
class Plan:
    """What an audit is going to do, known before it begins.

    Attributes:
        documents, empty: how many will be scored, and how many have no token in the vocabulary.
        tokens, left_out: in the vocabulary and outside it.
        topics: K.
        estimator: what computes the truth.
        samples: per document; 0 for a deterministic one.
        reason: why this estimator and this many samples, one sentence.
        seconds: of one core, by line: measured on a few of the documents and extrapolated. The library's own number is
            not in it.
        cores: processes.
        kept: documents that an earlier run has done.
        longest: tokens of the longest document.
        longest_seconds: of one core, for that document alone.
    """

    documents: int
    empty: int
    tokens: int
    left_out: int
    topics: int
    estimator: str
    samples: int
    reason: str
    seconds: dict[str, float]
    cores: int
    kept: int
    longest: int
    longest_seconds: float


class Work(NamedTuple):
    """What is done with a block."""

    estimator: str
    samples: int
    seed: int


class Block(NamedTuple):
    """Consecutive documents over the model's vocabulary, the first of them document `first` of the stream."""

    first: int
    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]


def audit(
    model: Any,
    documents: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    estimator: str = "auto",
    samples: int | None = None,
    standard_error: float | None = None,
    limit: float = LIMIT,
    seed: int = 0,
    cores: int = 1,
    store: Path | None = None,
    announce: Callable[[Plan], None] | None = None,
    progress: Callable[[int, float], None] | None = None,
    reported: bool = True,
    so_far: bool = False,
    apart: bool = False,
    other_corpus: bool = False,
    table: Table | None = None,
) -> Audit:
    """Audit a topic model on documents: what its library reports of them, and their likelihood.

    Args:
        model: a `Fitted`, a fitted object of a library or a pair (phi, alpha) (`heldout.libraries.read.fitted`), or the
            path of a saved one (`heldout.libraries.read.read_model`; forms that unpickle are refused here).
        documents: a `DocumentStream`, or what `heldout.corpora.stream.open_documents` opens: a path, a scipy sparse matrix
            of counts (D, V), a Corpus, a list of documents, each a list of words.
        vocabulary: the model's words, for a model that does not name them.
        estimator: of the truth: "auto", or one of `heldout.evaluators.ESTIMATORS` that estimates the likelihood.
        samples: of the estimator, per document; None for what is recommended ("auto") or `SAMPLES`.
        standard_error: the standard error of a document's log-likelihood that is wanted, nats; with "auto" alone.
        limit: updates that the exact likelihood of all documents may cost ("auto" and "exact-marginal").
        seed: names the order of a bag's tokens, the halves and the estimator's draws.
        cores: processes. More than one are started afresh (spawn), so that a script of one's own that asks for them
            needs the usual `if __name__ == "__main__":`.
        store: a folder for what is done: an interrupted audit loses nothing, and the same call goes on from there.
        announce: is told the plan, with its cost, before anything runs.
        progress: is told after every block how many documents are done and which share of the estimated work.
        reported: whether the library's own number is asked for.
        so_far: nothing is run; the audit is of the documents in `store`.
        other_corpus: whether documents may be unlike those of the model's own corpus (`unlike`).
        apart: whether an audit of more than `PATIENCE` seconds runs in a process of its own on one core, too. In this
            process Ctrl-C is heard between blocks alone, and a block may take minutes.
        table: what is known of the estimators' errors, for "auto"; None for the reference results
            (`heldout.auditing.recommend.read_table`).

    Returns:
        The audit; the same call gives the same, whatever `cores`, and whether it was interrupted or not.

    Raises:
        InputError: on bad input; names file, line or document.
        KeyboardInterrupt: passed on, after what is done has been written to `store`.
    """
    _check(estimator, samples, standard_error, limit, cores, so_far=so_far, store=store)
    fitted, name = as_fitted(model, vocabulary)
    stream = documents if isinstance(documents, DocumentStream) else open_documents(documents)
    stream = replace(stream, seed=seed)
    if fitted.words_known:
        if fitted.library in OWN_NUMBERS and stream.words is None and not stream.texts:
            raise InputError(
                f"{stream.name}: these documents number their words and do not name them, and {fitted.library} gives"
                " words numbers of its own; name the documents' words, one per line (--documents-vocabulary; in"
                " Python documents that are lists of words)"
            )
        stream = stream.over(fitted.topics.vocabulary)
    else:
        stream = stream.placed(len(fitted.topics.vocabulary))
        if stream.vocabulary is not None:
            fitted = replace(fitted, topics=replace(fitted.topics, vocabulary=stream.vocabulary))
    topics = fitted.topics
    read = survey(stream, topics, limit)
    if len(read.lengths) == 0:
        raise InputError(f"{stream.name}: no document in it")
    if not read.lengths.any() and not read.left_out.any():
        raise InputError(f"{stream.name}: {len(read.lengths)} documents, all empty; give documents that have words")
    if not read.lengths.any():
        raise InputError(
            f"{stream.name}: none of the {int(read.left_out.sum())} tokens is a word of the model; take the documents'"
            " own model, its preprocessing, or its vocabulary"
        )
    difference = "" if other_corpus else unlike(topics, read.words)
    if difference:
        raise InputError(
            f"{stream.name}: not documents like the model's own: {difference}; give the model's own vocabulary or"
            " documents of its corpus, or say --other-corpus (other_corpus=True) where they are meant to be of another"
        )
    chosen, drawn, reason = choose(topics, read, estimator, samples, standard_error, limit, table)
    work = Work(chosen, drawn, seed)
    key: dict[str, Any] = {"model": model_digest(fitted), "documents": stream.digest, "settings": settings_of(work)}
    kept = None if store is None else Store(store, key, len(COLUMNS))
    D = len(read.lengths)
    values, done = (np.zeros((D, len(COLUMNS))), np.zeros(D, bool)) if kept is None else kept.load(D)
    runner = Runner(topics, stream, work, read, values, done, kept, progress)
    if not so_far:
        if announce is not None or apart:
            plan = plan_of(topics, work, read, done, cores, reason)
            apart = apart and sum(plan.seconds.values()) > PATIENCE
            if announce is not None:
                announce(plan)
        if not done.all():
            runner.run(cores, apart=apart)
    found = Reported("", math.nan, "", math.nan, math.nan, "", "", note="the library was not asked")
    if so_far and not done.all():
        found = replace(found, note="the audit is not complete, and the library was not asked")
    elif reported:
        from heldout.libraries.reported import reported as ask

        found = ask(fitted, stream)
    settings: dict[str, Any] = {
        **key["settings"],
        "limit": limit,
        "standard_error": standard_error,
        **{f"{what}_digest": key[what] for what in ("model", "documents")},
    }
    return summarise(fitted, name, stream, work, read, values, done, reason, found, settings)


def _check(
    estimator: str,
    samples: int | None,
    error: float | None,
    limit: float,
    cores: int,
    *,
    so_far: bool,
    store: Path | None,
) -> None:
    """Refuse settings that make no sense."""
    if estimator != "auto" and estimator not in ESTIMATORS:
        raise InputError(f"there is no estimator {estimator}; there are auto, {', '.join(ESTIMATORS)}")
    if estimator != "auto" and ESTIMATORS[estimator].behaviour == "other":
        raise InputError(f"{estimator}: estimates another quantity than the documents' likelihood; choose another")
    if samples is not None and samples < 1:
        raise InputError(f"{samples} samples; draw 1 or more")
    if samples is not None and estimator != "auto" and ESTIMATORS[estimator].deterministic:
        raise InputError(f"{estimator}: draws no samples; leave their number out")
    if samples is not None and estimator == "auto":
        raise InputError(f"{samples} samples of an estimator that is not named; name it, or leave the number out")
    if error is not None and not 0.0 < error < math.inf:
        raise InputError(f"a standard error of {error} nats; it must be above 0")
    if error is not None and estimator != "auto":
        raise InputError(f"a standard error is reached by choosing the estimator; leave {estimator} out, or the error")
    if cores < 1:
        raise InputError(f"{cores} cores; take 1 or more")
    if not limit >= 0.0:
        raise InputError(f"a limit of {limit} updates; it must be 0 or more")
    if so_far and (store is None or not (store / KEY).exists()):
        raise InputError(f"{store or 'store'}: nothing is kept of this audit yet; run it first, with a store")


def as_fitted(model: Any, vocabulary: Sequence[str] | None) -> tuple[Fitted, str]:
    """Return the model as topics that can be scored, and its name; see `audit`."""
    from heldout.libraries import read

    if not isinstance(model, str | Path | Fitted):
        return read.fitted(model, vocabulary), type(model).__name__
    found = model if isinstance(model, Fitted) else read.read_model(Path(model))
    name = type(found.native).__name__ if found.native is not None else found.library
    if vocabulary is not None:
        if found.words_known and tuple(vocabulary) != found.topics.vocabulary:
            raise InputError("the model names its words, and the vocabulary has others; leave the vocabulary out")
        if len(vocabulary) != len(found.topics.vocabulary):
            raise InputError(f"{len(vocabulary)} words, but the model has {len(found.topics.vocabulary)}; give its own")
        found = replace(found, topics=replace(found.topics, vocabulary=tuple(vocabulary)), words_known=True)
    return found, name if isinstance(model, Fitted) else Path(model).name


class Survey(NamedTuple):
    """What a first reading of the documents tells.

    Attributes:
        lengths: (D,) tokens in the vocabulary.
        left_out: (D,) tokens outside it.
        price: updates that the exact likelihood of all documents takes; inf beyond the limit, or where a document
            needs more memory than `LARGEST_LAYER` count vectors.
        pilot: the first documents with tokens, shortened.
        words: (V,) how often each word of the model occurs.
    """

    lengths: NDArray[np.int64]
    left_out: NDArray[np.int64]
    price: float
    pilot: Block
    words: NDArray[np.int64]


def survey(stream: DocumentStream, topics: Topics, limit: float) -> Survey:
    """Read the documents once."""
    K, V = topics.phi.shape
    lengths, left_out, price, words = [], [], 0.0, np.zeros(V, np.int64)
    pilot: list[NDArray[np.int32]] = []
    for batch in stream:
        lengths.append(batch.lengths)
        left_out.append(batch.left_out)
        words += np.bincount(batch.tokens, minlength=V)
        for d in np.flatnonzero(batch.lengths) if price < math.inf or len(pilot) < PILOT else ():
            tokens = batch.document(int(d))
            if len(pilot) < PILOT:
                pilot.append(tokens[:PILOT_TOKENS].copy())
            price += _price(tokens, K) if price < math.inf else 0.0
            price = price if price <= limit else math.inf
    nothing = np.zeros(0, np.int64)
    offsets = np.cumsum([0, *map(len, pilot)]).astype(np.int64)
    block = Block(0, np.concatenate([np.zeros(0, np.int32), *pilot]), offsets)
    return Survey(np.concatenate([nothing, *lengths]), np.concatenate([nothing, *left_out]), price, block, words)


def unlike(topics: Topics, words: NDArray[np.int64]) -> str:
    """Say how documents differ from the model's own corpus, where they differ so much that they are of another.

    Under the model a token is w with p(w) = sum_k alpha_k phi[k, w] / A. Of N tokens, the words that occur then have
    the probability sum_w p(w) (1 - (1 - p(w))^N) in all, and a token costs the entropy of p. Documents of a corpus are
    burstier than N draws, but other documents lack the model's frequent words altogether, or have its rare ones often:
    so do words that are matched by place in the wrong order.

    Args:
        topics: phi and alpha.
        words: (V,) how often each word occurs.

    Returns:
        The difference in words; empty where there is none of that size, or too few tokens to tell.
    """
    N = int(words.sum())
    if N < FEWEST_TOKENS:
        return ""
    p = topics.alpha @ topics.phi / topics.alpha.sum()
    some = p > 0.0
    seen, expected = (
        float(p[words > 0].sum()),
        float(-(p[some] * np.expm1(N * np.log1p(-np.minimum(p[some], 0.5)))).sum()),
    )
    if seen < LEAST_SEEN * expected:
        return f"the words that occur have {seen:.0%} of its probability, where {expected:.0%} is to be expected"
    both = some & (words > 0)
    excess = float(-(words[both] / N * np.log(p[both])).sum() + (p[some] * np.log(p[some])).sum())
    if excess > MOST_EXCESS:
        return f"their tokens are {math.exp(excess):.0f} times rarer under it than is to be expected"
    return ""


def _price(tokens: NDArray[np.int32], K: int) -> float:
    """Return the updates that one document's exact likelihood takes, by the cheaper way; inf where it is too large."""
    L = len(tokens)
    if math.comb(L + K - 1, K - 1) > LARGEST_LAYER:
        return math.inf
    polynomial = cost([L], K)
    if K < FEWEST_TOPICS or polynomial < LEAST_COST:
        return float(polynomial)
    return float(min(polynomial, quadrature_cost(tokens, K) / CHEAPER))


def choose(
    topics: Topics,
    read: Survey,
    estimator: str,
    samples: int | None,
    standard_error: float | None,
    limit: float,
    table: Table | None,
) -> tuple[str, int, str]:
    """Return the truth's estimator, its samples per document, and why.

    Raises:
        InputError: where the exact likelihood was asked for and costs more than `limit`, or nothing can be recommended.
    """
    exact = read.price <= limit
    if estimator == EXACT and not exact:
        raise InputError(
            f"{EXACT}: the exact likelihood of these documents at {topics.n_topics} topics takes more than {limit:.1e}"
            " updates or too much memory; take another estimator, or fewer or shorter documents"
        )
    if exact and estimator in ("auto", EXACT):
        return EXACT, 0, f"The exact likelihood takes {read.price:.1e} updates, and {limit:.1e} are allowed."
    if estimator != "auto":
        if ESTIMATORS[estimator].deterministic:
            return estimator, 0, "It was asked for by name."
        few = "It was asked for by name; its standard error leaves out the bias that it has with few samples."
        return estimator, samples or SAMPLES, few
    from heldout.auditing import recommend

    if standard_error is None:
        standard_error = recommend.nats(recommend.PERPLEXITY_ERROR, float(read.lengths[read.lengths > 0].mean()))
    found = recommend.choose(
        topics.n_topics, read.lengths.tolist(), standard_error / HARDER, alpha=float(topics.alpha.mean()), table=table
    )
    for option in (found, *found.alternatives):
        if option.estimator in HELD:
            samples, error = max(option.samples, FEWEST), option.standard_error
            if not option.reached:  # beyond what was measured, by the root law
                samples = math.ceil(option.samples * min((error / found.wanted) ** 2, FURTHER))
                error *= math.sqrt(option.samples / samples)
            reason = (
                f"An error of {error:.2g} nats a document is expected of documents drawn from a model;"
                f" {standard_error:.2g} is wanted, and real documents take about {HARDER:g} times as much or more"
            )
            reason += "; extrapolated" if option.extrapolated or not option.reached else ""
            return option.estimator, samples, reason + "."
    raise InputError(f"none of {', '.join(HELD)} was measured here; name an estimator, and its samples")


def settings_of(work: Work) -> dict[str, Any]:
    """Return what the values depend on beside model and documents, JSON-compatible."""
    return {
        "seed": work.seed,
        "estimator": work.estimator,
        "samples": work.samples,
        "fold_in": FOLD_IN,
        "mean_field": MEAN_FIELD,
        "halves": "a document's tokens divided at random",
        "order": "of texts their own, of bags of words random",
        "block": BLOCK,
        "heldout": importlib.metadata.version("heldout"),
    }


def model_digest(fitted: Fitted) -> str:
    """Return the SHA-256 of phi, alpha and the words, hexadecimal."""
    topics = fitted.topics
    digest = hashlib.sha256(f"{topics.phi.shape}".encode())
    for array in (topics.phi, topics.alpha):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).data)
    digest.update("\0".join(topics.vocabulary).encode(errors="surrogatepass"))
    return digest.hexdigest()


# evaluation


def local(phi_by_word: Float, alpha: Float, block: Block) -> tuple[Topics, Corpus]:
    """Return the block's documents and the topics over the block's own words (see the module)."""
    words, tokens = np.unique(block.tokens, return_inverse=True)
    phi = np.array(phi_by_word[words].T, dtype=np.float64, order="C")
    if len(words) < len(phi_by_word):
        phi = np.column_stack([phi, np.maximum(1.0 - phi.sum(axis=1), 0.0)])
    vocabulary = tuple(map(str, range(phi.shape[1])))
    names = tuple(str(block.first + d) for d in range(len(block.offsets) - 1))
    documents = Corpus("audit", vocabulary, tokens.astype(np.int32), block.offsets, names)
    return Topics(np.ascontiguousarray(phi), alpha, vocabulary), documents


def _fold_in(topics: Topics, documents: Corpus) -> Float:
    return fold_in_counts(topics, documents.counts(), **FOLD_IN)


def _bound(topics: Topics, documents: Corpus, _: Work, __: int) -> Evaluation:
    return mean_field_bound(topics, documents, **MEAN_FIELD)


def _full(topics: Topics, documents: Corpus, _: Work, __: int) -> Evaluation:
    return full_folding_in([topics], documents, _fold_in)


def _half(topics: Topics, documents: Corpus, work: Work, _: int) -> Evaluation:
    return half_folding_in([topics], *half_split(documents, work.seed), _fold_in)


def _truth(topics: Topics, documents: Corpus, work: Work, first: int) -> Evaluation:
    if work.estimator == EXACT:  # its price has been looked at
        return exact_marginal(topics, documents, limit=2**62)
    rng = generator("audit", block=first // BLOCK, seed=work.seed)
    return estimate(work.estimator, topics, documents, work.samples, rng)


PARTS: dict[str, Callable[[Topics, Corpus, Work, int], Evaluation]] = {
    BOUND: _bound,
    FULL: _full,
    HALF: _half,
    TRUTH: _truth,
}


def evaluate(phi_by_word: Float, alpha: Float, block: Block, work: Work) -> Float:
    """Return the values of a block's documents, (D, len(COLUMNS)), nats."""
    topics, documents = local(phi_by_word, alpha, block)
    found = {name: part(topics, documents, work, block.first) for name, part in PARTS.items()}
    values = [found[name].log_likelihood for name in PARTS]
    return np.column_stack([*values, found[TRUTH].standard_error, found[HALF].tokens.astype(np.float64)])


def blocks(stream: DocumentStream) -> Iterator[Block]:
    """Yield the documents in blocks of `BLOCK` from the first, whatever the stream's batches."""
    first, pending = 0, list[NDArray[np.int32]]()

    def block() -> Block:
        offsets = np.cumsum([0, *map(len, pending)]).astype(np.int64)
        return Block(first, np.concatenate([np.zeros(0, np.int32), *pending]).astype(np.int32), offsets)

    for batch in stream:
        for d in range(batch.n_documents):
            pending.append(batch.document(d))
            if len(pending) == BLOCK:
                yield block()
                first, pending = first + BLOCK, []
    if pending:
        yield block()


_model: tuple[Float, Float] | None = None  # of a worker


def _start(phi: str, alpha: Float) -> None:
    """Prepare a worker; Ctrl-C, which reaches every process of a terminal, is the parent's to handle."""
    import signal

    global _model
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _model = np.load(phi, mmap_mode="r"), alpha


def _evaluate_in_worker(block: Block, work: Work) -> Float:
    if _model is None:
        raise RuntimeError("the worker was not started")
    return evaluate(*_model, block, work)


@dataclass
class Runner:
    """Evaluates the documents that are not done and enters their values."""

    topics: Topics
    stream: DocumentStream
    work: Work
    read: Survey
    values: Float
    done: NDArray[np.bool_]
    store: Store | None
    progress: Callable[[int, float], None] | None

    def __post_init__(self) -> None:
        tokens = self.read.lengths.astype(np.float64)
        # with a resampling estimator the other parts cost about as much as some hundred draws for a token
        work = tokens * (200.0 + self.work.samples * tokens / 2.0) if self.work.estimator in QUADRATIC else tokens
        self._weights = work / work.sum()
        self._documents, self._share = int(self.done.sum()), float(self._weights[self.done].sum())

    def run(self, cores: int, *, apart: bool) -> None:
        """Evaluate; what is done is in the store whatever ends it."""
        try:
            if cores == 1 and not apart:
                for block in self._left():
                    self._enter(block, evaluate(self.topics.phi_by_word, self.topics.alpha, block, self.work))
            else:
                self._run_in_processes(cores)
        finally:
            if self.store is not None:
                self.store.write()

    def _left(self) -> Iterator[Block]:
        """Yield the blocks that are not done."""
        seen = 0
        for block in blocks(self.stream):
            end = block.first + len(block.offsets) - 1
            if not np.array_equal(np.diff(block.offsets), self.read.lengths[block.first : end]):
                raise InputError(f"{self.stream.name}: changed while it was read; run the audit again")
            seen = end
            if not self.done[block.first : end].all():
                yield block
        if seen != len(self.done):
            raise InputError(f"{self.stream.name}: changed while it was read; run the audit again")

    def _enter(self, block: Block, found: Float) -> None:
        at = np.arange(block.first, block.first + len(found))
        self.values[at], self.done[at] = found, True
        if self.store is not None:
            self.store.add(at, found)
        self._documents += len(found)
        self._share += float(self._weights[at].sum())
        if self.progress is not None:
            self.progress(self._documents, min(1.0, self._share))

    def _run_in_processes(self, cores: int) -> None:
        context = multiprocessing.get_context("spawn")
        others = set(multiprocessing.active_children())
        with tempfile.TemporaryDirectory(prefix="heldout-audit-") as folder:
            phi = Path(folder) / "phi.npy"
            np.save(phi, self.topics.phi_by_word)  # mapped by every worker, held once
            pool = ProcessPoolExecutor(cores, context, _start, (str(phi), self.topics.alpha))
            running: dict[Future[Float], Block] = {}

            def enter(futures: set[Future[Float]]) -> None:
                for future in futures:
                    block = running.pop(future)
                    self._enter(block, future.result())

            try:
                for block in self._left():
                    running[pool.submit(_evaluate_in_worker, block, self.work)] = block
                    if len(running) >= 4 * cores:
                        enter(wait(running, return_when=FIRST_COMPLETED).done)
                while running:
                    enter(wait(running, return_when=FIRST_COMPLETED).done)
            except BrokenProcessPool as error:
                raise InputError(
                    "a process of the audit ended too early, perhaps for want of memory; run it again with fewer"
                    " cores (a script that asks for several needs `if __name__ == '__main__':`)"
                ) from error
            except BaseException:
                for child in set(multiprocessing.active_children()) - others:
                    child.terminate()  # a block may take minutes, and nobody waits for it
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def plan_of(topics: Topics, work: Work, read: Survey, done: NDArray[np.bool_], cores: int, reason: str) -> Plan:
    """Return the plan, with seconds measured on the pilot documents."""
    lengths = read.lengths.astype(np.float64)
    left = lengths[~done]
    pilot = np.diff(read.pilot.offsets).astype(np.float64)
    fewer = work._replace(samples=min(work.samples, PILOT_SAMPLES))
    here, documents = local(topics.phi_by_word, topics.alpha, read.pilot)
    seconds, longest_seconds = {}, 0.0
    longest = float(lengths.max())
    for name, part in PARTS.items():
        if name == TRUTH and work.estimator == EXACT:
            seconds[name] = read.price / UPDATES_PER_SECOND * float(left.sum() / max(lengths.sum(), 1.0))
            continue
        for _ in range(2):  # the first run also loads what is compiled
            begin = time.process_time()
            part(here, documents, fewer, 0)
            spent = time.process_time() - begin
        power = 2.0 if name == TRUTH and work.estimator in QUADRATIC else 1.0
        scale = work.samples / fewer.samples if name == TRUTH and fewer.samples else 1.0
        each = spent * scale / float((pilot**power).sum())  # token, or square of a document's tokens
        seconds[name] = each * float((left**power).sum())
        longest_seconds += each * longest**power
    return Plan(
        documents=int((read.lengths > 0).sum()),
        empty=int((read.lengths == 0).sum()),
        tokens=int(read.lengths.sum()),
        left_out=int(read.left_out.sum()),
        topics=topics.n_topics,
        estimator=work.estimator,
        samples=work.samples,
        reason=reason,
        seconds=seconds,
        cores=cores,
        kept=int(done.sum()),
        longest=int(longest),
        longest_seconds=longest_seconds,
    )


# the result


def truth_label(estimator: str) -> str:
    """Return the truth's label: exact, by which estimator, and how that is biased where it is."""
    known = ESTIMATORS[estimator]
    if known.behaviour in BEHAVIOURS:
        return f"{known.label} ({BEHAVIOURS[known.behaviour]})"
    return f"likelihood, {known.label}"


def total_error(errors: Float) -> float:
    """Return the standard error of a sum of independent estimates of log-likelihoods, nats.

    The logarithm of an unbiased estimate with standard error e of it is low by about e^2 / 2 (delta method). That is
    nothing beside e for one document, but over documents e^2 adds up and e^2 / 2 does not average out:

        (sum_d e_d^2 + (sum_d e_d^2 / 2)^2)^(1/2).
    """
    variance = float((errors**2).sum())
    return math.hypot(math.sqrt(variance), variance / 2.0)


def summarise(
    fitted: Fitted,
    name: str,
    stream: DocumentStream,
    work: Work,
    read: Survey,
    values: Float,
    done: NDArray[np.bool_],
    reason: str,
    reported: Reported,
    settings: dict[str, Any],
) -> Audit:
    """Return the audit of the documents that are done."""
    topics, provenance = fitted.topics, fitted.topics.provenance
    lengths, left_out = read.lengths[done], read.left_out[done]
    column = {name: values[done, c] for c, name in enumerate(COLUMNS)}
    nats = {name: column[name] for name in PARTS}
    zeros = np.zeros(len(lengths))
    errors = {name: column["error"] if name == TRUTH else zeros for name in PARTS}
    some = lengths > 0
    lines = []
    for evaluator in (TRUTH, BOUND, FULL, HALF):
        tokens = column["half-tokens"].astype(np.int64) if evaluator == HALF else lengths
        lines.append(
            Line(
                evaluator=evaluator,
                label=truth_label(work.estimator) if evaluator == TRUTH else LABELS[evaluator],
                estimator=work.estimator if evaluator == TRUTH else evaluator,
                log_likelihood=float(nats[evaluator][some].sum()),
                standard_error=total_error(errors[evaluator][some]),
                tokens=int(tokens[some].sum()),
                samples=work.samples if evaluator == TRUTH else 0,
            )
        )
    versions = {package: importlib.metadata.version(package) for package in ("heldout", "numba", "numpy", "scipy")}
    versions["python"] = platform.python_version()
    return Audit(
        model=name,
        library=fitted.library,
        version=str(provenance.get("version", "")),
        topics=topics.n_topics,
        words=len(topics.vocabulary),
        alpha=topics.alpha,
        corpus=stream.name,
        documents=int(some.sum()),
        empty=int((~some).sum()),
        tokens=int(lengths.sum()),
        left_out=int(left_out.sum()),
        lines=tuple(lines),
        reported=reported,
        truth_exact=work.estimator == EXACT,
        reason=reason,
        lengths=lengths,
        nats=nats,
        errors=errors,
        most_different=_most_different(stream, read, values, done),
        settings={
            **settings,
            "impossible": int(np.isneginf(nats[TRUTH]).sum()),
            "versions": versions,
        },
        complete=bool(done.all()),
    )


def _most_different(
    stream: DocumentStream, read: Survey, values: Float, done: NDArray[np.bool_]
) -> tuple[Different, ...]:
    """Return the documents on which full folding-in and the truth differ most, per token; equal ones in their order."""
    at = np.flatnonzero(done & (read.lengths > 0))
    with np.errstate(invalid="ignore"):  # a document of probability 0 differs in nothing
        gap = np.abs(values[at, COLUMNS.index(FULL)] - values[at, COLUMNS.index(TRUTH)]) / read.lengths[at]
    at, gap = at[np.isfinite(gap)], gap[np.isfinite(gap)]
    chosen = at[np.argsort(-gap, kind="stable")[:MOST_DIFFERENT]]
    found: dict[int, Different] = {}
    for batch in stream if len(chosen) else ():
        for d in chosen[(chosen >= batch.first) & (chosen < batch.first + batch.n_documents)].tolist():
            words, counts = np.unique(batch.document(d - batch.first), return_counts=True)
            scored = dict.fromkeys(PARTS, float(read.lengths[d])) | {
                HALF: float(values[d, COLUMNS.index("half-tokens")])
            }
            found[d] = Different(
                name=batch.documents[d - batch.first],
                tokens=int(read.lengths[d]),
                left_out=int(read.left_out[d]),
                nats_per_token={
                    name: float(values[d, COLUMNS.index(name)]) / scored[name] if scored[name] else math.nan
                    for name in PARTS
                },
                words=tuple(
                    batch.vocabulary[words[i]] for i in np.argsort(-counts, kind="stable")[:MOST_WORDS].tolist()
                ),
            )
        if len(found) == len(chosen):
            break
    return tuple(found[d] for d in chosen.tolist())


def to_json(audit: Audit) -> dict[str, Any]:
    """Return an audit as JSON-compatible values; what is not finite is null.

    Keys: "model", "library", "version", "topics", "words", "alpha" (a list of K), "corpus", "documents", "empty",
    "tokens", "left_out", "complete", "truth_exact", "reason", "settings"; "lines", a list of objects with the
    attributes of `Line` and "nats_per_token", "error_per_token", "perplexity"; "reported", an object with the
    attributes of `Reported`, its "terms" a list; "most_different", a list of objects with the attributes of
    `Different`; and "per_document", an object with "lengths" and, by evaluator, "nats" and "errors", lists of the
    documents in their order. Log-likelihoods and errors are in nats.
    """
    plain: dict[str, Any] = {
        name: getattr(audit, name)
        for name in (
            *("model", "library", "version", "topics", "words", "corpus", "documents", "empty", "tokens", "left_out"),
            *("complete", "truth_exact", "reason", "settings"),
        )
    }
    plain["alpha"] = audit.alpha.tolist()
    derived = ("nats_per_token", "error_per_token", "perplexity")
    plain["lines"] = [vars(line) | {name: getattr(line, name) for name in derived} for line in audit.lines]
    plain["reported"] = vars(audit.reported) | {"terms": [vars(term) for term in audit.reported.terms]}
    plain["most_different"] = [vars(document) | {"words": list(document.words)} for document in audit.most_different]
    plain["per_document"] = {
        "lengths": audit.lengths.tolist(),
        "nats": {name: found.tolist() for name, found in audit.nats.items()},
        "errors": {name: found.tolist() for name, found in audit.errors.items()},
    }
    finite: dict[str, Any] = _finite(plain)
    return finite


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value
