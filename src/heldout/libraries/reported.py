r"""The number that a library itself prints for a model, taken from its own function, and its parts.

Variational libraries (scikit-learn, gensim; Hoffman, Blei and Bach, 2010). The topics are random, q(beta_k) =
Dir(lambda_k) under the prior Dir(eta), and so are theta_d, q(theta_d) = Dir(gamma_d), and every token's topic. With
the best q of the latter, E_q[log p] - E_q[log q] of the documents w is

    bound(w) = sum_d { sum_v n(d, v) log sum_k exp(E[log theta_dk] + E[log beta_kv]) - KL(Dir(gamma_d) || Dir(alpha)) }
               - sum_k KL(Dir(lambda_k) || Dir(eta)).

The first sum, the documents' part, has a term per document. It is a lower bound of log p(w | alpha, E[beta]), and
below the mean-field bound at E[beta], as exp(E[log beta_kv]) < E[beta_kv]: far smaller for words that topic k hardly
has. The second, the topics' part, has a term per topic and word, and is what the topics cost in a bound of the training
documents. Both libraries take it whole and divide by the tokens of the documents given. On held-out documents it grows
with K at fixed V (scikit-learn's issues 6777 and 20032, gensim's 701), and falls as more documents are scored at once.
gensim's `total_docs` multiplies the documents' part and the tokens, so that it shrinks the topics' part alone.

Samplers (tomotopy, MALLET). A state z of the Gibbs sampler gives a joint probability,

    log p(w, z) = log p(z | alpha) + log p(w | z, beta)
    log p(z | alpha)   = sum_d { log G(A) - log G(A + L_d) + sum_k [log G(alpha_k + n_dk) - log G(alpha_k)] },
    log p(w | z, beta) = sum_k { log G(V beta) - log G(V beta + n_k) + sum_v [log G(beta + n_kv) - log G(beta)] },

with A = sum_k alpha_k and G the gamma function. MALLET divides that of the training documents by their tokens
(`LL/token`), tomotopy has the same as `ll_per_word` and `perplexity`. For other documents tomotopy's `infer` runs a
chain for each and returns, at its last state, log p(z_d | alpha) plus what log p(w | z, beta) changes by when the
document's tokens are added to the training counts. No chain of any length makes either a likelihood: as
log p(w, z) = log p(w) + log p(z | w), its mean over the posterior is log p(w) less the entropy of z given w, so that it
is too low by that entropy. More topics leave more of it. `CTModel.infer` has, in the place of log p(z_d | alpha), with
theta = softmax(x) at the weights that it leaves, s = smoothing_alpha and the prior's density N,

    log N(x - x_K | mu, Sigma) + log G(L + K s + 1) + sum_k [(n_k + s) log theta_k - log G(n_k + s + 1)],

a density and a multinomial probability of the topics' counts, whatever their order: no probability of words.

LDA-C's `lda inf` writes the mean-field bound of every document with the topics fixed (`heldout.evaluators
.mean_field_bound`): a bound of the likelihood, with nothing of the topics in it.

A part is named only if the formulas above give the library's own total: on the first `CHECKED` documents both are
compared, and a difference is an error. Another release of a library may compute something else under the same name.
"""

import copy
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import AnyTopics
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.libraries import THESE, TRAINING, Fitted, Reported, Term
from heldout.libraries.mallet import State
from heldout.topics import Topics

GENSIM_STATE = 0  # seeds the random start of gamma in gensim's inference
TOMOTOPY_ITERATIONS = 100  # `infer`'s own default
CHECKED = 32  # documents on which a library's total is compared with the sum of its parts
DOUBLE, SINGLE = 1e-6, 1e-3  # largest relative difference of the two, by the library's precision

_BOUND = (
    "a variational lower bound in which the topics are random too: what they cost in training is charged in full to"
    " these documents, whose tokens it is divided by"
)
_DOCUMENTS = "the documents, given the topics' posterior"
_TOPICS = "the topics' divergence from their prior"

Float = NDArray[np.float64]


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return the number that the model's own library reports.

    Args:
        fitted: the model; the library's own object in `native`, where its function is called.
        documents: batches of documents, iterated more than once; words outside the model's vocabulary are left out.

    Returns:
        The number; NaN with a note where the library reports none, or where its own object is not there.

    Examples:
        >>> from heldout.libraries.read import fitted
        >>> reported(fitted(([[0.5, 0.5]], 1.0)), []).note
        'arrays come from no library: nothing is reported'
    """
    if fitted.library == "LDA-C":
        return _lda_c(fitted.dirichlet, documents)
    if fitted.library == "arrays":
        return _nothing("arrays", "arrays come from no library: nothing is reported")
    if fitted.native is None:
        return _nothing(fitted.library, f"the model holds topics alone, without what {fitted.library} reports from")
    try:
        return _own(fitted, documents)
    except InputError:
        raise
    except Exception as error:  # a damaged or unfinished object lacks what its library asks for
        return _nothing(
            fitted.library, f"{fitted.library} could not compute it ({type(error).__name__}: {error!s:.200})"
        )


def _own(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    if fitted.library == "scikit-learn":
        if "NMF" in type(fitted.native).__name__:
            return _nmf(fitted.native)
        return _scikit_learn(fitted.native, fitted.dirichlet, documents)
    if fitted.library == "gensim":
        return _gensim(fitted.native, fitted.dirichlet, documents)
    if fitted.library == "tomotopy":
        return _tomotopy(fitted.native, fitted.topics, documents)
    if fitted.library == "MALLET":
        return _mallet(fitted.native)
    return _nothing(fitted.library, f"what {fitted.library} reports is not known here")


def dirichlet_divergence(posterior: Float, prior: Float) -> float:
    """Return sum_k KL(Dir(posterior_k) || Dir(prior_k)) in nats.

    KL = log G(sum_v l_v) - log G(sum_v p_v) + sum_v [log G(p_v) - log G(l_v) + (l_v - p_v)(psi(l_v) - psi(sum_u l_u))]

    Args:
        posterior: (K, V) parameters l.
        prior: parameters p, of a shape that broadcasts to (K, V).

    Examples:
        >>> round(dirichlet_divergence(np.array([[2.0, 1.0]]), np.ones(2)), 6)  # log 2 - 1 / 2
        0.193147
    """
    total = 0.0
    for k in range(len(posterior)):  # a topic at a time: K V numbers several times over would not be small
        row = posterior[k].astype(np.float64)
        p = np.broadcast_to(np.asarray(prior, dtype=np.float64), posterior.shape)[k]
        mean_log = digamma(row) - digamma(row.sum())
        total += float(gammaln(row.sum()) - gammaln(p.sum()) + np.sum(gammaln(p) - gammaln(row) + (row - p) * mean_log))
    return total


def bound_of_documents(counts: sp.csr_array, alpha: Float, gammas: Float, mean_logs: Float) -> float:
    """Return the documents' part of the bound (see the module), nats.

    Args:
        counts: (D, V) n(d, v).
        alpha: (K,) the prior's parameters.
        gammas: (D, K) parameters of q(theta_d).
        mean_logs: (K, V) E[log beta_kv].
    """
    total = -dirichlet_divergence(gammas, alpha)
    for d, gamma in enumerate(gammas):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        logs = (digamma(gamma) - digamma(gamma.sum()))[:, None] + mean_logs[:, counts.indices[row]]
        total += float(logsumexp(logs, axis=0) @ counts.data[row])
    return total


def mean_log(parameters: Float) -> Float:
    """Return E[log beta_kv] under Dirichlet distributions of these parameters, both (K, V)."""
    logs: Float = digamma(parameters) - digamma(parameters.sum(axis=1, keepdims=True))
    return logs


def check_parts(function: str, total: float, parts: Sequence[float], tolerance: float) -> None:
    """Check that a library's total is the sum of its parts, all in nats.

    Raises:
        InputError: where it is not: this release computes something else than the module describes.
    """
    if not abs(total - math.fsum(parts)) <= tolerance * max(abs(total), *map(abs, parts)):
        raise InputError(
            f"{function}: {total:,.6g} nats, where its known parts add up to {math.fsum(parts):,.6g}: this release"
            " computes something else; leave the library's number out (--no-library, in Python reported=False)"
        )


def log_assignments(counts: Float, alpha: Float) -> float:
    """Return sum_d log p(z_d | alpha), nats, of documents' topic counts (D, K) under Dir(alpha), (K,)."""
    A = alpha.sum()
    documents = gammaln(A) - gammaln(A + counts.sum(axis=1))
    return float(documents.sum() + np.sum(gammaln(alpha + counts) - gammaln(alpha)))


def _batches(topics: AnyTopics, documents: Iterable[Corpus]) -> Iterator[Corpus]:
    for batch in documents:
        yield batch.over(topics.vocabulary)[0]


def _perplexity(nats_per_token: float) -> float:
    return math.exp(-nats_per_token) if nats_per_token > -700.0 else math.inf


def _nothing(library: str, note: str) -> Reported:
    return Reported(library, about=THESE, computes="nothing", note=note)


def _no_tokens(function: str) -> Reported:
    return _nothing(function, "there is no token in the model's vocabulary to divide by")


def _scikit_learn(native: Any, topics: Topics, documents: Iterable[Corpus]) -> Reported:
    function = "LatentDirichletAllocation.perplexity"
    counts = [batch.counts() for batch in _batches(topics, documents)]
    X = sp.vstack(counts, format="csr") if counts else sp.csr_array((0, len(topics.vocabulary)))
    tokens = float(X.sum())
    if tokens == 0.0:
        return _no_tokens(function)
    model = copy.copy(native)  # its check of X forgets the names of the words that the model was fitted on
    model.n_jobs = 1
    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        value = float(model.perplexity(X))
        nats = -math.log(value) * tokens if math.isfinite(value) else float(model.score(X))
        few = X[:CHECKED]
        of_few = float(model.perplexity(few)) if few.nnz else math.inf
        gammas = model._unnormalized_transform(few)
    topics_part = -dirichlet_divergence(native.components_, np.array(native.topic_word_prior_))
    if math.isfinite(of_few):
        prior = np.full(topics.n_topics, float(native.doc_topic_prior_))
        documents_part = bound_of_documents(few, prior, gammas, mean_log(native.components_))
        total = -math.log(of_few) * float(few.sum())
        check_parts(function, total, (documents_part, topics_part), DOUBLE)
    return Reported(
        function,
        value,
        "perplexity per token",
        _perplexity(nats / tokens),
        nats / tokens,
        THESE,
        _BOUND,
        (Term(_DOCUMENTS, nats - topics_part), Term(_TOPICS, topics_part, grows=True, of_documents=False)),
    )


def _nmf(native: Any) -> Reported:
    return Reported(
        "NMF.reconstruction_err_",
        float(native.reconstruction_err_),
        f"square root of twice the {native.beta_loss} divergence",
        math.nan,
        math.nan,
        TRAINING,
        "how far the training matrix is from its factorisation; no likelihood of any document follows from it",
    )


class _Chunk:
    """The documents as gensim takes them, read in batches each time they are gone through."""

    def __init__(self, topics: Topics, documents: Iterable[Corpus]) -> None:
        self.topics, self.documents = topics, documents
        self.length, self.tokens = 0, 0
        for batch in _batches(topics, documents):
            self.length += batch.n_documents
            self.tokens += batch.n_tokens

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[list[tuple[int, float]]]:
        for batch in _batches(self.topics, self.documents):
            counts = batch.counts()
            for d in range(batch.n_documents):
                row = slice(counts.indptr[d], counts.indptr[d + 1])
                yield list(zip(counts.indices[row].tolist(), counts.data[row].tolist(), strict=True))


def _gensim(native: Any, topics: Topics, documents: Iterable[Corpus]) -> Reported:
    function = "LdaModel.log_perplexity"
    chunk = _Chunk(topics, documents)
    if chunk.tokens == 0:
        return _no_tokens(function)
    model = copy.copy(native)  # the random start of gamma is the model's own stream: left as it is
    model.random_state = np.random.RandomState(GENSIM_STATE)
    with np.errstate(over="ignore"):
        value = float(model.log_perplexity(chunk))
        printed = float(np.exp2(-value))
    topics_part = float(model.bound([]))  # of no documents: the topics' part, in the library's own arithmetic
    _check_gensim(function, model, chunk)
    return Reported(
        function,
        value,
        "nats per token",
        _perplexity(value),
        value,
        THESE,
        f"{_BOUND}; its log raises 2, not e, to the bound in nats and so prints {printed:,.1f}; gamma starts at random,"
        f" here from RandomState({GENSIM_STATE})",
        (
            Term(_DOCUMENTS, value * chunk.tokens - topics_part),
            Term(_TOPICS, topics_part, grows=True, of_documents=False),
        ),
    )


def _check_gensim(function: str, model: Any, chunk: _Chunk) -> None:
    """Check the parts of gensim's number on the first documents, with gamma from the same random start."""
    few = list(islice(chunk, CHECKED))
    rows = np.repeat(np.arange(len(few)), list(map(len, few)))
    words, times = np.array([pair for bag in few for pair in bag], dtype=np.float64).reshape(-1, 2).T
    counts = sp.csr_array((times, (rows, words.astype(np.int64))), shape=(len(few), model.num_terms))
    if not counts.nnz:
        return
    model.random_state = np.random.RandomState(GENSIM_STATE)
    total = float(model.log_perplexity(few)) * float(times.sum())
    model.random_state = np.random.RandomState(GENSIM_STATE)
    gammas = np.concatenate([model.inference([bag])[0] for bag in few]).astype(np.float64)
    parameters = np.asarray(model.state.get_lambda(), dtype=np.float64)
    documents_part = bound_of_documents(counts, np.asarray(model.alpha, np.float64), gammas, mean_log(parameters))
    topics_part = -dirichlet_divergence(parameters, np.asarray(model.eta))
    check_parts(function, total, (documents_part, topics_part), DOUBLE if model.dtype == np.float64 else SINGLE)


def _tomotopy(native: Any, topics: AnyTopics, documents: Iterable[Corpus]) -> Reported:
    function = f"{type(native).__name__}.infer"
    weighted = int(native.tw) != 0  # weighted tokens have no counts to take the parts from
    nats, assignments, tokens = 0.0, 0.0, 0
    for batch in _batches(topics, documents):
        words = [[topics.vocabulary[v] for v in batch.document(int(d))] for d in np.flatnonzero(batch.lengths)]
        made = [native.make_doc(document) for document in words]
        if not made:
            continue
        _, log_joints = native.infer(made, iterations=TOMOTOPY_ITERATIONS, workers=1)
        nats += math.fsum(log_joints)
        if tokens == 0 and not weighted:
            few = made[:CHECKED]
            parts = _tomotopys_topics(native, topics, few), _tomotopys_words(native, topics, few)
            check_parts(function, math.fsum(log_joints[:CHECKED]), parts, SINGLE)
        assignments += _tomotopys_topics(native, topics, made)
        tokens += batch.n_tokens
    if tokens == 0:
        return _no_tokens(function)
    dirichlet = isinstance(topics, Topics)
    computes = (
        f"log p(words, topics) at the last of {TOMOTOPY_ITERATIONS} sweeps over the tokens' topics, below the"
        " likelihood by the entropy that these topics have given the words"
        if dirichlet
        else f"log p(words | topics) at the last of {TOMOTOPY_ITERATIONS} sweeps over the tokens' topics, with the"
        " multinomial probability of the topics' counts and the prior's density at the weights that `infer` leaves: a"
        " density, and no probability of the words"
    )
    return Reported(
        function,
        nats / tokens,
        "nats per token, from the log-likelihoods returned",
        _perplexity(nats / tokens),
        nats / tokens,
        THESE,
        f"{computes}; the model's `perplexity`, {native.perplexity:,.1f}, is that of the training documents",
        ()
        if weighted
        else (
            Term("the tokens' topics, under the prior", assignments, grows=dirichlet),
            Term("the words, given the tokens' topics", nats - assignments),
        ),
    )


def _tomotopys_topics(native: Any, topics: AnyTopics, documents: Sequence[Any]) -> float:
    """Return the part of the tokens' topics, and of the weights where the prior is logistic normal; nats."""
    counts = np.array([np.bincount(one.topics, minlength=topics.n_topics) for one in documents], dtype=np.float64)
    if isinstance(topics, Topics):
        return log_assignments(counts, topics.alpha)
    log_theta = np.array([one.beta for one in documents], dtype=np.float64)
    deviations = log_theta - log_theta[:, -1:] - native.prior_mean
    covariance = np.asarray(native.prior_cov, dtype=np.float64)
    distances = np.sum(deviations * np.linalg.solve(covariance, deviations.T).T, axis=1)
    density = -0.5 * (distances + np.linalg.slogdet(2.0 * np.pi * covariance)[1])
    counts += np.asarray(native._alpha)
    multinomial = gammaln(counts.sum(axis=1) + 1.0) + np.sum(counts * log_theta - gammaln(counts + 1.0), axis=1)
    return float(density.sum() + multinomial.sum())


def _tomotopys_words(native: Any, topics: AnyTopics, documents: Sequence[Any]) -> float:
    """Return by what log p(w, training words | z, beta) changes, document by document, when it is added; nats."""
    V, eta = len(topics.vocabulary), float(np.mean(native.eta))
    of_topics = np.asarray(native.get_count_by_topics(), dtype=np.float64) + V * eta
    total = 0.0
    for document in documents:
        assigned = np.asarray(document.topics)
        pairs, added = np.unique(np.column_stack([assigned, document.words]), axis=0, return_counts=True)
        before = topics.phi[pairs[:, 0], pairs[:, 1]] * of_topics[pairs[:, 0]]  # the training count, and eta
        total += float(np.sum(gammaln(before + added) - gammaln(before)))
        total -= float(np.sum(gammaln(of_topics + np.bincount(assigned, minlength=len(of_topics)))))
        total += float(np.sum(gammaln(of_topics)))
    return total


def _lda_c(topics: Topics, documents: Iterable[Corpus]) -> Reported:
    function = "lda inf"
    nats, tokens = 0.0, 0
    for batch in _batches(topics, documents):
        evaluation = mean_field_bound(topics, batch)
        nats += float(evaluation.log_likelihood.sum())
        tokens += int(evaluation.tokens.sum())
    if tokens == 0:
        return _no_tokens(function)
    return Reported(
        function,
        nats,
        "nats, the sum of the file's lines",
        _perplexity(nats / tokens),
        nats / tokens,
        THESE,
        "the mean-field lower bound of every document with the topics fixed, here iterated until it no longer rises",
    )


def _mallet(state: State) -> Reported:
    A = state.alpha.sum()
    lengths, documents = state.lengths.T
    topics, counts, sharing = state.document_topics.T
    assignments = float(documents @ (gammaln(A) - gammaln(A + lengths)))
    assignments += float(sharing @ (gammaln(state.alpha[topics] + counts) - gammaln(state.alpha[topics])))
    K, V = state.topic_word.shape
    words = K * gammaln(V * state.beta) - gammaln(V * state.beta + state.topic_word.sum(axis=1)).sum()
    words = float(words + np.sum(gammaln(state.beta + state.topic_word) - gammaln(state.beta)))
    return Reported(
        "LL/token",
        (assignments + words) / state.n_tokens,
        "nats per token",
        math.nan,
        math.nan,
        TRAINING,
        "log p(words, tokens' topics) of the training documents at the sampler's state; for other documents"
        " `mallet evaluate-topics` runs left-to-right without resampling",
        (
            Term("the tokens' topics, under the prior", assignments, grows=True),
            Term("the words, given the tokens' topics", words),
        ),
    )
