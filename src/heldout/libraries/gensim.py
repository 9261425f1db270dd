"""gensim's `LdaModel`.

gensim keeps variational parameters lambda (K, V) = eta + expected counts of q(phi_k) = Dirichlet(lambda_k) (Hoffman,
Blei and Bach 2010, section 2), in float32 unless asked otherwise; phi is the mean, lambda[k, w] / sum_v lambda[k, v],
divided in float64. `alpha` (K,) is the prior of theta.

`LdaModel.save` writes pickles: the model, and beside it `.state` (lambda), `.id2word` (the words) and arrays as `.npy`.
All of them are needed; gensim itself goes on without the first two and fails later.
"""

import copy
import glob
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import digamma

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.libraries import Fitted, Form, Library, Reported
from heldout.libraries.checks import assemble, installed, is_pickle, numbers
from heldout.libraries.parts import (
    BOUND,
    CHECKED,
    DOUBLE,
    SINGLE,
    bound_of_documents,
    dirichlet_divergence,
    no_tokens,
    over_words,
    reported_value,
    terms_of_bound,
    unlike_parts,
)
from heldout.limits import memory_for, one_line
from heldout.typing import Floats

LARGEST_DISTANCE = 0.1  # largest total variation between two forms of a topic
SIDE_FILES = (".state", ".id2word")
RANDOM_STATE = 0  # seed of the random start of gamma in gensim's inference


def from_object(model: Any, vocabulary: Sequence[str] | None, where: str | None, form: str) -> Fitted:
    """Return the `Fitted` of a trained `LdaModel` (or `LdaMulticore`); see `heldout.libraries.Library`.

    Its `id2word` names the words; a number that it does not name stays "(type number)". An author-topic model has no
    prior of a document, and is refused.
    """
    import gensim
    from gensim.models import AuthorTopicModel
    from gensim.utils import FakeDict

    kind = type(model).__name__
    where = where or kind
    if isinstance(model, AuthorTopicModel):
        raise InputError(f"{where}: an {kind} mixes topics by author, not by document; give an LdaModel")
    state = getattr(model, "state", None)
    if state is None:
        raise InputError(f"{where}: the {kind} has no state; train it, or save it whole")
    expected = numbers(getattr(state, "sstats", None), "state.sstats", where)
    eta = numbers(getattr(state, "eta", None), "state.eta", where)
    try:
        weights = expected + eta
    except ValueError as error:
        raise InputError(f"{where}: state.eta and state.sstats do not fit ({error!s:.200})") from error
    if weights.shape != expected.shape or expected.ndim != 2:
        raise InputError(f"{where}: state.sstats must be topics by words, but its shape is {expected.shape}")
    check_in_step(model, weights, where)
    id2word = getattr(model, "id2word", None)
    own: list[object] | None = None
    unnamed = 0
    if id2word is not None and not isinstance(id2word, FakeDict):
        try:
            keys = set(id2word.keys())
            places = range(weights.shape[1])
            own = [id2word[place] if place in keys else f"(type {place})" for place in places]
            unnamed, named = sum(place not in keys for place in places), 1 + max(keys, default=-1)
        except Exception as error:  # a dictionary of the user's own class
            raise InputError(f"{where}: id2word names no words ({type(error).__name__}: {error!s:.200})") from error
        if named < len(places):
            raise InputError(
                f"{where}: id2word names {len(keys)} words, the topics have {len(places)}: filtered after training,"
                " which numbers words anew; set model.id2word to the dictionary of training"
            )
    return assemble(
        library="gensim",
        version=gensim.__version__,
        form=form,
        where=where,
        weights=weights,
        what="lambda (state.eta + state.sstats)",
        prior_of_theta=(getattr(model, "alpha", None),),
        own_words=own,
        vocabulary=vocabulary,
        native=model,
        model=kind,
        phi="the mean of q(phi), state.eta + state.sstats divided by its row sums in float64",
        dtype=str(np.asarray(state.sstats).dtype),
        unnamed_words=unnamed,
    )


def check_in_step(model: Any, parameters: Floats, where: str) -> None:
    """Check that expElogbeta, with which the model infers, belongs to the topics of its state.

    These are `parameters`, (K, V) lambda; `where` is the file or class, for the message.

    Raises:
        InputError: where they are not: `HdpModel.suggested_lda_model` leaves a random state.
    """
    used = np.asarray(getattr(model, "expElogbeta", None))
    if used.shape != parameters.shape or used.dtype.kind != "f":
        return
    positive = np.maximum(parameters, np.finfo(np.float64).tiny)
    state_topics = np.exp(digamma(positive) - digamma(positive.sum(axis=1, keepdims=True)))
    shares = [topics / np.maximum(topics.sum(axis=1, keepdims=True), 1e-300) for topics in (used, state_topics)]
    if np.abs(shares[0] - shares[1]).sum(axis=1).max() / 2.0 > LARGEST_DISTANCE:
        raise InputError(
            f"{where}: its state holds other topics than it infers with, as what HdpModel.suggested_lda_model() gives;"
            " of an HdpModel take alpha, phi = hdp.hdp_to_lda(), and give (phi, alpha)"
        )


def read(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a model that `LdaModel.save` wrote. This unpickles: only for files that the user trusts.

    Raises:
        InputError: names a file that is missing, truncated, damaged or of something else; or gensim is not installed.
    """
    with installed(path, "gensim"):
        import gensim  # noqa: F401
        from gensim.models import LdaModel
        from gensim.models.ldamodel import LdaState
        from gensim.utils import unpickle
    for suffix in SIDE_FILES:
        if not path.with_name(path.name + suffix).exists():
            raise InputError(f"{path}: {path.name}{suffix} is not beside it; copy all the files that save() wrote")
    size = sum(part.stat().st_size for part in path.parent.glob(f"{glob.escape(path.name)}*"))
    with one_line(path, "truncated, damaged or not gensim's"), memory_for(size):
        try:
            # before the model: of a state or words that cannot be read LdaModel.load only logs
            state, id2word = LdaState.load(f"{path}.state"), unpickle(f"{path}.id2word")
            model = LdaModel.load(str(path))
        except FileNotFoundError as error:
            missing = Path(str(error.filename)).name
            raise InputError(f"{path}: {missing} is not beside it; copy all the files that save() wrote") from error
    if not isinstance(model, LdaModel) or not isinstance(state, LdaState) or id2word is None:
        raise InputError(f"{path}: holds a {type(model).__name__}, a {type(state).__name__} and no LdaModel's words")
    return from_object(model, vocabulary, str(path), "gensim")


def recognises(model: object) -> bool:
    """Return whether `model` is gensim's `LdaModel`, without importing gensim."""
    module = sys.modules.get("gensim.models")
    return module is not None and isinstance(model, module.LdaModel)


class _Chunk:
    """The documents as gensim takes them, read in batches on every pass."""

    def __init__(self, fitted: Fitted, documents: Iterable[Corpus]) -> None:
        self.fitted, self.documents = fitted, documents
        self.length, self.tokens = 0, 0
        for batch in over_words(fitted, documents):
            self.length += batch.n_documents
            self.tokens += batch.n_tokens

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[list[tuple[int, float]]]:
        for batch in over_words(self.fitted, self.documents):
            counts = batch.counts()
            for d in range(batch.n_documents):
                row = slice(counts.indptr[d], counts.indptr[d + 1])
                yield list(zip(counts.indices[row].tolist(), counts.data[row].tolist(), strict=True))


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return gensim's bound per token of documents."""
    function = "LdaModel.log_perplexity"
    chunk = _Chunk(fitted, documents)
    if chunk.tokens == 0:
        return no_tokens(function)
    model = copy.copy(fitted.native)  # the random start of gamma is the model's own stream: left as it is
    model.random_state = np.random.RandomState(RANDOM_STATE)
    with np.errstate(over="ignore"):  # its log raises 2 to the bound, too
        value = float(model.log_perplexity(chunk))
        printed, perplexity = float(np.exp2(-value)), float(np.exp(-value))
        note = _unlike_parts(function, model, chunk)
    topics_part = float(model.bound([]))  # without documents: the topics' part, in the library's own arithmetic
    computes = (
        f"{BOUND}; its log raises 2, not e, to the bound in nats and so prints {printed:,.1f}, where the bound's"
        f" perplexity is {perplexity:,.1f}; gamma starts at random, here from RandomState({RANDOM_STATE})"
    )
    terms = terms_of_bound(value * chunk.tokens - topics_part, topics_part)
    number = reported_value(function, value, "nats per token", value, computes, terms, note)
    return replace(number, perplexity=printed, base=2.0)


def _unlike_parts(function: str, model: Any, chunk: _Chunk) -> str:
    """Return `unlike_parts` of gensim's number on the first documents, with gamma from the same random start."""
    few = list(islice(chunk, CHECKED))
    rows = np.repeat(np.arange(len(few)), list(map(len, few)))
    words, times = np.array([pair for bag in few for pair in bag], dtype=np.float64).reshape(-1, 2).T
    counts = sp.csr_array((times, (rows, words.astype(np.int64))), shape=(len(few), model.num_terms))
    if not counts.nnz:
        return ""
    model.random_state = np.random.RandomState(RANDOM_STATE)
    total = float(model.log_perplexity(few)) * float(times.sum())
    model.random_state = np.random.RandomState(RANDOM_STATE)
    gammas = np.concatenate([model.inference([bag])[0] for bag in few]).astype(np.float64)
    parameters = np.asarray(model.state.get_lambda(), dtype=np.float64)
    documents_part = bound_of_documents(counts, np.asarray(model.alpha, np.float64), gammas, parameters)
    topics_part = -dirichlet_divergence(parameters, np.asarray(model.eta))
    precision = DOUBLE if model.dtype == np.float64 else SINGLE
    return unlike_parts(function, total, (documents_part, topics_part), precision)


FORM = Form(
    "gensim",
    read,
    begins=lambda path, first: is_pickle(first) and path.with_name(f"{path.name}.state").exists(),
    instead="save phi=model.get_topics() and alpha=model.alpha with numpy.savez (skops is for scikit-learn)",
)
LIBRARY = Library(
    "gensim", reported, forms=(FORM,), models="a gensim LdaModel", recognises=recognises, from_object=from_object
)
