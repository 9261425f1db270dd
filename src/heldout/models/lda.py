r"""LDA by collapsed Gibbs sampling (Griffiths and Steyvers 2004; Welling et al. 2008, section 5).

Model. phi_k ~ Dirichlet(beta) over V words, theta_d ~ Dirichlet(alpha) over K topics; a token of document d
draws its topic z from theta_d and its word w from phi_z. With phi and theta integrated out, the full
conditional of one token's topic, all counts taken without that token, is (Griffiths and Steyvers, equation 5)

    p(z_i = k | z_-i, w) ∝ (N_kd + alpha_k) (N_wk + beta) / (N_k + V beta).

The last sample gives (Welling et al., equations 5.38 and 5.39; alpha may differ between topics)

    phi[k, w]   = (N_wk + beta) / (N_k + V beta),
    theta[d, k] = (N_kd + alpha_k) / (N_d + sum_k alpha_k).

A test document is folded in by sampling its assignments with phi fixed, p(z_i = k) ∝ (N_kd + alpha_k) phi[k, w],
so test documents do not influence one another.

Start. All tokens begin unassigned; a first pass draws each from the conditional given those already assigned.
Convergence is monitored by log p(w, z | alpha, beta), summed in float64.

The sweeps themselves are in `heldout.models.lda_chains_kernel`, with many topics in `heldout.models.lda_sparse_kernel`,
those of folding in in `heldout.models.lda_kernel`.

Hyperparameters. They are fixed, or re-estimated during the chain from the current assignments (stochastic EM). Given
them, log p(w, z | alpha, beta) is a sum of two Dirichlet-multinomial log-likelihoods, one of the topics' counts in
documents (a function of alpha alone) and one of the words' counts in topics (of beta alone). With A = sum_k alpha_k,
Minka (2000, "Estimating a Dirichlet distribution", the fixed point of the Dirichlet-multinomial) bounds the first,

    sum_d [ lnG(A) - lnG(A + N_d) + sum_k lnG(N_kd + alpha_k) - lnG(alpha_k) ],      lnG = log Gamma,

from below by tangents of its two parts: lnG(x) - lnG(x + n) >= const - x [psi(a + n) - psi(a)] around x = a, and
lnG(x + n) - lnG(x) >= const + a [psi(a + n) - psi(a)] log x. The bound's maximum is

    alpha_k <- alpha_k sum_d [psi(N_kd + alpha_k) - psi(alpha_k)] / sum_d [psi(N_d + A) - psi(A)],

which cannot lower the log-likelihood; for one symmetric beta over V words and K topics, in the same way,

    beta <- beta sum_{k,w} [psi(N_wk + beta) - psi(beta)] / (V sum_k [psi(N_k + V beta) - psi(V beta)]).

The differences are finite sums, psi(a + n) - psi(a) = sum_{j < n} 1 / (a + j), so that only the number of counts above
each j matters. The bound is a sum over k of functions that are concave in alpha_k. So clipping a parameter to the
kernels' range does not lower the log-likelihood either; the alpha_k of an empty topic falls to the lower end of that
range.
"""

from collections.abc import Sequence
from typing import Any, Self

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.estimator import TopicEstimator, checked_counts, estimator, provenance
from heldout.models.lda_chains_kernel import Chains
from heldout.models.lda_kernel import Float32, Index, gibbs_sweeps, log_joint, padded_width
from heldout.models.lda_sparse_kernel import SparseChain
from heldout.models.settings import LDAFoldingIn as FoldingIn
from heldout.models.settings import LDATraining as Training
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats, Ints

LARGEST_COUNT = 2**24  # float32 holds every integer up to here
BURN_IN = 4  # hyperparameters are re-estimated after the first 1 / BURN_IN of the sweeps
FIXED_POINT_ITERATIONS = 20  # iterations of each re-estimation
DENSE = 16  # cells of document and topic per token up to which they are counted in place: faster than by sorting
RECORD, RECORDS = 10, 8  # sweeps between records in `train`; fewer if a run would have under 8 records
TOGETHER = 100  # topics of all chains that take turns: more counts do not stay in the near caches
MANY = 256  # topics; above this number, sweeps go over the topics that a word has
Sampler = Chains | SparseChain
SMALLEST_PARAMETER, LARGEST_PARAMETER = 1e-12, 1e12  # Dirichlet parameters that float32 weights can carry


@nb.njit("void(int64[::1], int64[::1], float64[:, ::1])", cache=True)
def _count_above(counts, columns, exceedances):  # type: ignore[no-untyped-def]
    """Add to exceedances[j, k] the number of counts in column k that exceed j."""
    for i in range(counts.shape[0]):
        for j in range(counts[i]):
            exceedances[j, columns[i]] += 1.0


@nb.njit("float64[::1](float64[::1], float64[:, ::1])", cache=True)
def _rises(parameters, exceedances):  # type: ignore[no-untyped-def]
    """Return sum_j exceedances[j, k] / (parameters[k] + j) for every k; exceedances[:, k] never rises with j."""
    rises = np.zeros(parameters.shape[0])
    for k in range(parameters.shape[0]):
        for j in range(exceedances.shape[0]):
            if exceedances[j, k] == 0.0:
                break
            rises[k] += exceedances[j, k] / (parameters[k] + j)
    return rises


def counts_above(counts: Ints, columns: Ints, n_columns: int) -> Floats:
    """Return the number of counts in each column that exceed j, for j = 0 .. J - 1, (J, n_columns); J is the largest.

    The (M,) counts are all positive; `columns`, (M,), has the column of each.
    """
    exceedances = np.zeros((int(counts.max()), n_columns))
    _count_above(np.ascontiguousarray(counts), np.ascontiguousarray(columns), exceedances)
    return exceedances


def minka_step(parameters: Floats, exceedances: Floats, totals_above: Floats, size: int = 1) -> Floats:
    """Return one fixed-point iteration of Dirichlet-multinomial maximum likelihood (Minka 2000); see the module.

    Each of the (K,) parameters is shared by `size` categories. `exceedances`, (J, K), are the numbers of draws with
    more than j counts in category k, summed over the categories that share k; `totals_above`, (T,), are the numbers of
    draws with more than t counts in all.
    """
    if len(parameters) > 1:
        rises = _rises(parameters, exceedances)
    else:  # one long column without gaps: in vector operations
        rises = (exceedances / (parameters + np.arange(len(exceedances))[:, None])).sum(axis=0)
    total = size * parameters.sum() + np.arange(len(totals_above))
    updated: Floats = parameters * rises / (size * (totals_above / total).sum())
    return updated.clip(SMALLEST_PARAMETER, LARGEST_PARAMETER)


def optimised(
    offsets: Ints, assignments: Index, rows: Float32, totals: Ints, alpha: Floats, beta: float
) -> tuple[Floats, float]:
    """Return alpha, (K,), and beta after `FIXED_POINT_ITERATIONS` from the given ones, for a chain's current counts.

    Documents begin at the (D + 1,) offsets of (N,) assignments; rows, (V, width), are N_wk, totals, (K,), N_k.
    """
    n_topics, n_words = len(totals), len(rows)

    def one_column(counts: NDArray[Any]) -> Floats:
        counts = counts[counts > 0].astype(np.int64)
        return counts_above(counts, np.zeros(len(counts), dtype=np.int64), 1)

    places = np.repeat(np.arange(len(offsets) - 1) * n_topics, np.diff(offsets)) + assignments
    if (len(offsets) - 1) * n_topics <= DENSE * len(assignments):
        counts = np.bincount(places)
        cells = np.flatnonzero(counts)
        in_document = counts[cells]
    else:
        cells, in_document = np.unique(places, return_counts=True)
    exceedances, lengths_above = (
        counts_above(in_document, cells % n_topics, n_topics),
        one_column(np.diff(offsets))[:, 0],
    )
    words_above, totals_above = one_column(rows), one_column(totals)[:, 0]
    shared = np.array([beta])
    for _ in range(FIXED_POINT_ITERATIONS):
        alpha = minka_step(alpha, exceedances, lengths_above)
        shared = minka_step(shared, words_above, totals_above, size=n_words)
    return alpha, float(shared[0])


@estimator
class LDA(TopicEstimator):
    """LDA by collapsed Gibbs sampling: one fit is one Markov chain.

    Args:
        n_components: K, the number of topics.
        alpha: the Dirichlet parameter of theta, one number or (K,); None is 50 / K (Griffiths and Steyvers).
        beta: the Dirichlet parameter of phi.
        sweeps: Gibbs sweeps after the first pass that assigns every token; also the number in `transform`.
        evaluate_every: sweeps between two records of the log-likelihood.
        optimise_every: sweeps between two re-estimations of alpha (asymmetric) and beta (symmetric) by Minka's fixed
            point, after the first quarter of the sweeps; 0 keeps them fixed.
        random_state: the chain's generator, or its seed; use a different one for each chain.

    Attributes (after `fit`):
        components_: (K, V) p(w | z) of the last sample, equation 5.38.
        document_topics_: (D, K) p(z | d) of the last sample, equation 5.39.
        assignments_: (N,) int32, the topics of all tokens in the last sample.
        log_likelihood_: log p(w, z | alpha, beta) in nats after the sweeps in `sweeps_`.
        alpha_, beta_: (K,) and float, the Dirichlet parameters of the last sweep.
        sweeps_: 0 (the first pass), every `evaluate_every`-th sweep, and the last.

    Examples:
        >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]])  # documents by words
        >>> model = LDA(2, alpha=0.5, beta=0.1, sweeps=50, random_state=0).fit(counts)
        >>> model.components_.round(2)
        array([[0.49, 0.49, 0.01, 0.01],
               [0.01, 0.01, 0.49, 0.49]])
        >>> model.transform(counts[:1]).round(2)
        array([[0.92, 0.08]])
        >>> topics = model.topics(("heat", "flow", "wing", "lift"))  # as the evaluators take them
    """

    alpha: float | Floats | None = None
    beta: float = 0.1
    sweeps: int = 500
    evaluate_every: int = 10
    optimise_every: int = 0

    def fit(
        self,
        X: Corpus | sp.sparray | NDArray[Any],
        y: None = None,  # noqa: ARG002
        *,
        assignments: Index | None = None,
    ) -> Self:
        """Run the chain on X, a corpus or its (D, V) counts (sparse or dense).

        The first M tokens start with the topics `assignments`, (M,), the first pass draws the others; None starts with
        none.

        Raises:
            InputError: on a count that is not a whole number of tokens, a corpus without tokens, one word or
                document with 2^24 tokens or more, or a bad setting.
        """
        fit_chains([self], X, assignments)
        return self

    def _keep(
        self, chain: tuple[Index, Float32, Ints], offsets: Ints, prior: tuple[Floats, float], trace: tuple[Ints, Floats]
    ) -> None:
        """Set a chain's attributes: its parameters, assignments, shares, and the trace of its log-likelihood."""
        (self.alpha_, beta), (self.sweeps_, self.log_likelihood_) = prior, trace
        self.beta_ = beta
        self.assignments_, rows, totals = chain
        counts = rows[:, : self.n_components].T.astype(float)
        self.components_ = np.ascontiguousarray((counts + beta) / (totals[:, None] + len(rows) * beta))
        self.components_ /= self.components_.sum(axis=1, keepdims=True)
        in_document = np.zeros((len(offsets) - 1, self.n_components))
        np.add.at(in_document, (np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), self.assignments_), 1.0)
        self.document_topics_ = _theta(in_document, self.alpha_)

    def transform(self, X: Corpus | sp.sparray | NDArray[Any]) -> Floats:
        """Return p(z | d), (D, K), of the documents X over the training vocabulary, by `fold_in` with seed 0."""
        if isinstance(X, Corpus):
            documents = X
        else:
            tokens, offsets, n_words = _streams(X)
            words, names = (tuple(str(i) for i in range(n)) for n in (n_words, len(offsets) - 1))
            documents = Corpus("documents", words, tokens, offsets, names)
        return fold_in(self.topics(documents.vocabulary), documents, FoldingIn(sweeps=self.sweeps), seed=0)

    def topics(self, vocabulary: tuple[str, ...], provenance: dict[str, Any] | None = None) -> Topics:
        """Return the last sample's topics (equation 5.38) with the prior of the last sweep."""
        return Topics(self.components_, self.alpha_, vocabulary, dict(provenance or {}))

    def _alpha(self) -> Floats:
        """Return the (K,) Dirichlet parameters of theta."""
        alpha = np.asarray(50.0 / self.n_components if self.alpha is None else self.alpha, dtype=float)
        if alpha.shape not in ((), (self.n_components,)):
            raise InputError(f"LDA: alpha has the shape {alpha.shape}; give one number or {self.n_components}")
        alpha = np.full(self.n_components, alpha) if alpha.ndim == 0 else alpha.copy()
        _check_parameters("alpha", alpha)
        return alpha


def fit_chains(chains: Sequence[LDA], X: Corpus | sp.sparray | NDArray[Any], assignments: Index | None = None) -> None:
    """Fit LDAs that differ in their `random_state` only, each as `fit` does alone; together they take less time.

    Arguments and errors are as of `LDA.fit`.
    """
    tokens, offsets, n_words = _streams(X)
    first = chains[0]
    if len(tokens) == 0:
        raise InputError("LDA: the documents hold no tokens")
    if max(int(np.bincount(tokens).max()), int(np.diff(offsets).max())) >= LARGEST_COUNT:
        raise InputError(f"LDA: a word or a document has {LARGEST_COUNT} tokens or more; divide the corpus")
    if first.n_components < 1 or first.sweeps < 0 or first.evaluate_every < 1 or first.optimise_every < 0:
        raise InputError(
            f"LDA: {first.n_components} topics, {first.sweeps} sweeps, a record every {first.evaluate_every},"
            f" hyperparameters every {first.optimise_every}; these must be at least 1, 0, 1 and 0"
        )
    first._alpha()
    _check_parameters("beta", np.array([first.beta], dtype=float))
    for group in np.array_split(np.arange(len(chains)), -(-len(chains) // in_turn(first.n_components))):
        sampler = sampler_of(tokens, offsets, n_words, first.n_components, len(group))
        if assignments is not None:
            sampler.start(assignments)
        _run([chains[c] for c in group], sampler, offsets)


def in_turn(n_topics: int) -> int:
    """Return the number of chains that sweep fastest in turn."""
    return max(1, TOGETHER // n_topics)


def sampler_of(tokens: Index, offsets: Ints, n_words: int, n_topics: int, chains: int = 1) -> Sampler:
    """Return the fastest sampler for K topics and C chains; above `MANY` topics it has one chain."""
    if n_topics <= MANY:
        return Chains(tokens, offsets, n_words, n_topics, chains)
    return SparseChain(tokens, offsets, n_words, n_topics)


def _run(models: Sequence[LDA], sampler: Sampler, offsets: Ints) -> None:
    """Run the chains of one sampler and set their models' attributes."""
    first = models[0]
    alphas, betas = [first._alpha() for _ in models], [first.beta for _ in models]
    randoms = [np.random.default_rng(model.random_state) for model in models]
    uniforms = np.empty((len(models), offsets[-1]), dtype=np.float32)
    sweeps: list[int] = []
    traces: list[list[float]] = [[] for _ in models]
    burn_in = first.sweeps // BURN_IN
    for sweep in range(first.sweeps + 1):
        # before a sweep, so that the last sample is drawn under the reported parameters
        if first.optimise_every and sweep > burn_in and (sweep - burn_in) % first.optimise_every == 0:
            for c, (alpha, beta) in enumerate(zip(alphas, betas, strict=True)):
                alphas[c], betas[c] = optimised(offsets, *sampler.chain(c), alpha, beta)
        for random, row in zip(randoms, uniforms, strict=True):
            random.random(dtype=np.float32, out=row)
        sampler.sweep(alphas, betas, uniforms)
        if sweep % first.evaluate_every == 0 or sweep == first.sweeps:
            sweeps.append(sweep)
            for c, (alpha, beta) in enumerate(zip(alphas, betas, strict=True)):
                assignments, rows, totals = sampler.chain(c)
                traces[c].append(log_joint(offsets, assignments, rows, totals, alpha, beta))
    for c, model in enumerate(models):
        model._keep(sampler.chain(c), offsets, (alphas[c], betas[c]), (np.array(sweeps), np.array(traces[c])))


def rows_of(topics: Topics) -> tuple[Float32, NDArray[np.bool_]]:
    """Return phi in the sampler's form: phi' divided by each word's largest entry, (V, width), float32.

    Also returns, (V,), whether any topic gives the word; for other words no topic can be drawn.
    """
    highest = topics.phi.max(axis=0)
    rows = np.zeros((len(highest), padded_width(topics.n_topics)), dtype=np.float32)
    rows[:, : topics.n_topics] = (topics.phi / np.where(highest > 0.0, highest, 1.0)).T
    rows[rows < np.finfo(np.float32).tiny] = 0.0
    return rows, highest > 0.0


def fold_in(topics: Topics, documents: Corpus, settings: FoldingIn, *, seed: int) -> Floats:
    """Fold documents in by Gibbs sampling of their assignments with the topics fixed (Welling et al., section 5).

    A document's random numbers depend on corpus, document, K, chain and seed only, so its weights do not depend on
    which other documents are folded in with it.

    Returns theta, (D, K), of the last sample by equation 5.39, of topics of any origin and documents over their
    vocabulary; rows sum to 1. A token whose word has probability 0 under every topic has no effect: it is not sampled,
    and neither N_kd nor N_d counts it. A document without other tokens gets the prior's mean.

    Raises:
        InputError: for different vocabularies, negative `sweeps`, or a Dirichlet parameter outside the kernel's range.
    """
    if documents.vocabulary != topics.vocabulary:
        raise InputError(f"corpus {documents.name}: its vocabulary is not the topics'; map its words to theirs first")
    if settings.sweeps < 0:
        raise InputError(f"fold-in: {settings.sweeps} sweeps; there must be 0 or more")
    _check_parameters("alpha", topics.alpha)
    n_topics, width = topics.n_topics, padded_width(topics.n_topics)
    rows, given = rows_of(topics)
    alpha = np.zeros(width, dtype=np.float32)
    alpha[:n_topics] = topics.alpha
    chain = str(topics.provenance.get("chain", "none"))
    in_document = np.zeros((documents.n_documents, n_topics))
    for d, name in enumerate(documents.documents):
        tokens = documents.document(d)
        tokens = np.ascontiguousarray(tokens[given[tokens]], dtype=np.int32)
        if len(tokens) == 0:
            continue
        random = generator("lda-fold-in", corpus=documents.name, document=name, topics=n_topics, chain=chain, seed=seed)
        uniforms = random.random((settings.sweeps + 1, len(tokens)), dtype=np.float32)
        assignments = np.full(len(tokens), -1, dtype=np.int32)
        offsets = np.array([0, len(tokens)], dtype=np.int64)
        gibbs_sweeps(tokens, offsets, assignments, rows, alpha, uniforms, n_topics)
        in_document[d] = np.bincount(assignments, minlength=n_topics)
    return _theta(in_document, topics.alpha)


def train(corpus: Corpus, settings: Training, *, topics: int, seed: int) -> list[Topics]:
    """Train LDA on a corpus by independent chains; (corpus, topics, seed, chain) determines a chain's random numbers.

    With `optimise_every` the topics carry the last sweep's alpha, their provenance its beta. Errors are as of
    `LDA.fit`.
    """
    fitted = [
        LDA(
            topics,
            alpha=settings.alpha_sum / topics,
            beta=settings.beta,
            sweeps=settings.sweeps,
            evaluate_every=max(1, min(RECORD, settings.sweeps // RECORDS)),
            optimise_every=settings.optimise_every,
            random_state=generator("lda-chain", corpus=corpus.name, topics=topics, seed=seed, chain=chain),
        )
        for chain in range(settings.chains)
    ]
    fit_chains(fitted, corpus)
    trained = []
    for chain, model in enumerate(fitted):
        details = provenance(models.LDA, corpus, seed, chain=chain, sweeps=settings.sweeps, beta=model.beta_)
        details["log_likelihood"] = model.log_likelihood_.tolist()
        details["log_likelihood_sweeps"] = model.sweeps_.tolist()
        if settings.optimise_every:
            details["optimise_every"] = settings.optimise_every
        trained.append(model.topics(corpus.vocabulary, details))
    return trained


def _theta(in_document: Floats, alpha: Floats) -> Floats:
    """Return theta, (D, K), by equation 5.39 from N_kd, (D, K)."""
    theta: Floats = (in_document + alpha) / (in_document.sum(axis=1, keepdims=True) + alpha.sum())
    theta /= theta.sum(axis=1, keepdims=True)
    return theta


def _check_parameters(name: str, parameters: Floats) -> None:
    if not np.all((parameters >= SMALLEST_PARAMETER) & (parameters <= LARGEST_PARAMETER)):
        raise InputError(f"LDA: {name} must lie between {SMALLEST_PARAMETER} and {LARGEST_PARAMETER}")


def _streams(X: Corpus | sp.sparray | NDArray[Any]) -> tuple[Index, Ints, int]:
    """Return tokens (N,), offsets (D + 1,) and V; counts become tokens in the order of their words."""
    if isinstance(X, Corpus):
        return np.array(X.tokens, dtype=np.int32), np.array(X.offsets, dtype=np.int64), X.n_words
    counts = checked_counts(X, "LDA", empty=True, whole=True)
    repeats = counts.data.astype(np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(repeats)])[counts.indptr]
    return np.repeat(counts.indices, repeats).astype(np.int32), offsets, counts.shape[1]
