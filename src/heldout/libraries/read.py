"""A topic model of any library, from a file or as the object itself."""

import gzip
import importlib.metadata
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from heldout.errors import InputError
from heldout.libraries import Fitted, arrays, gensim, lda_c, logistic_normal, mallet, scikit_learn, tomotopy
from heldout.libraries.checks import in_order, vocabulary_of
from heldout.libraries.pipeline import unwrap
from heldout.limits import memory_for, open_zip, require_file
from heldout.models.estimator import Estimator
from heldout.topics import Topics

FORMS: dict[str, str] = {
    "skops": "scikit-learn, skops.io.dump",
    "pickle": "scikit-learn, joblib.dump or pickle.dump; read with --trust-pickle only",
    "gensim": "gensim, LdaModel.save; read with --trust-pickle only",
    "tomotopy": "tomotopy, LDAModel.save or CTModel.save",
    "mallet": "MALLET, --output-state, gzipped or not",
    "lda-c": "LDA-C, final.beta beside final.other",
    "npz": "arrays phi, alpha (or mu and sigma) and vocabulary, numpy.savez; or heldout's own topics",
    "csv": "a line per topic, with alpha.csv beside it, or .mean.csv and .covariance.csv",
}
"""The forms of a model's file, and which library's function writes each."""

SUFFIXES = {
    ".skops": "skops",
    ".joblib": "pickle",
    ".pkl": "pickle",
    ".pickle": "pickle",
    ".npz": "npz",
    ".csv": "csv",
    ".beta": "lda-c",
    ".other": "lda-c",
}
PICKLES = ("pickle", "gensim")


def first_bytes(path: Path) -> bytes:
    """Return the first 64 bytes of a file, unpacked where it is gzipped.

    Raises:
        InputError: when it cannot be read.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            first = file.read(64)
            if first[:2] == b"\x1f\x8b":
                file.seek(0)
                try:
                    return gzip.GzipFile(fileobj=file).read(64)
                except (OSError, EOFError, zlib.error):
                    return first
            return first
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def guess(path: Path) -> str:
    """Return the form of a model's file, from its first bytes where they tell, else from its name.

    Raises:
        InputError: when neither tells; lists the forms.
    """
    if path.is_dir():
        if (path / "final.beta").exists():
            return "lda-c"
        raise InputError(f"{path}: a folder without final.beta; give the model's file")
    first = first_bytes(path)
    suffix = path.suffix.lower()
    if not first:
        raise InputError(f"{path}: empty; save the model again")
    if first.startswith(mallet.MAGIC):
        return "mallet"
    if tomotopy.header(first):
        return "tomotopy"
    if first[:2] == b"\x80\x02" or (first[:1] == b"\x80" and first[1:2] in b"\x03\x04\x05"):
        return "gensim" if path.with_name(f"{path.name}.state").exists() else "pickle"
    if first[:4] == b"PK\x03\x04" and suffix not in SUFFIXES:
        with open_zip(path, "zip") as archive:
            return "skops" if "schema.json" in archive.namelist() else "npz"
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    raise InputError(
        f"{path}: neither its name nor its first bytes tell what it is; give --model-format: {', '.join(FORMS)}"
    )


def read_pickle(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read what `joblib.dump` or `pickle.dump` wrote. This unpickles: only for files that the user trusts.

    Raises:
        InputError: when the file is missing, truncated or damaged, holds no topic model, or joblib is not installed.
    """
    try:
        import joblib
    except ImportError as error:
        raise InputError(f"{path}: {scikit_learn.INSTALL} ({error!s:.200})") from error
    try:
        with memory_for(path.stat().st_size):
            model = joblib.load(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read, or damaged ({error!s:.200}); save it again") from error
    except Exception as error:  # a pickle raises whatever it makes raise
        raise InputError(
            f"{path}: truncated or damaged ({type(error).__name__}: {error!s:.200}); save it again"
        ) from error
    return convert(model, vocabulary, where=str(path), form="pickle")


def read_csv(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read topics from comma-separated values, under a logistic-normal prior where mu and Sigma are beside them.

    Raises:
        InputError: names file and line.
    """
    correlated = logistic_normal.from_any(path, vocabulary)
    return arrays.read_csv(path, vocabulary) if correlated is None else correlated


READERS: dict[str, Callable[[Path, Sequence[str] | None], Fitted]] = {
    "skops": scikit_learn.read_skops,
    "pickle": read_pickle,
    "gensim": gensim.read,
    "tomotopy": tomotopy.read,
    "mallet": mallet.read,
    "lda-c": lda_c.read,
    "npz": arrays.read_npz,
    "csv": read_csv,
}


def read_model(
    path: Path, *, form: str | None = None, vocabulary: Path | None = None, trust_pickle: bool = False
) -> Fitted:
    """Read a model that another library saved.

    Args:
        path: the file (for LDA-C either file, or their folder).
        form: one of `FORMS`; guessed from the first bytes and the name when None.
        vocabulary: a file of the V words, one per line, in the model's order, for a model that names none.
        trust_pickle: unpickle, where the form is one that only unpickling reads: that runs whatever the file says.

    Raises:
        InputError: one line with what is wrong, where, and what to do; a pickle is refused before a byte of it is
            unpickled.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "model.npz")
        ...     np.savez(file, phi=[[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], alpha=[0.1, 0.2])
        ...     read_model(file).topics.alpha
        array([0.1, 0.2])
    """
    if form is not None and form not in FORMS:
        raise InputError(f"{form}: no such form of a model; one of {', '.join(FORMS)}")
    if not path.exists():
        raise InputError(f"{path}: no such file")
    require_file(path)
    chosen = guess(path) if form is None else form
    if chosen in PICKLES and not trust_pickle:
        remedy = (
            "save a scikit-learn model with skops.io.dump"
            if chosen == "pickle"
            else "save phi=model.get_topics() and alpha=model.alpha with numpy.savez (skops is for scikit-learn)"
        )
        raise InputError(
            f"{path}: a pickle, which runs any code that it names when it is read; give --trust-pickle if it is yours,"
            f" or {remedy}"
        )
    words = None if vocabulary is None else arrays.read_words(vocabulary)
    return READERS[chosen](path, words)


def convert(model: object, vocabulary: Sequence[str] | None, *, where: str | None, form: str) -> Fitted:
    """Make a `Fitted` of an object; `where` and `form` are for messages and the provenance.

    Raises:
        InputError: when it is none of the models that can be read, or its parameters are no topics.
    """
    if isinstance(model, Topics):
        return from_topics(model, vocabulary)
    if isinstance(model, Estimator):
        return from_estimator(model, vocabulary)
    if scikit_learn.recognises(model):
        return scikit_learn.from_object(model, vocabulary, where=where, form=form)
    if gensim.recognises(model):
        return gensim.from_object(model, vocabulary, where=where, form=form)
    correlated = logistic_normal.from_any(model, vocabulary)
    if correlated is not None:
        return correlated
    if tomotopy.recognises(model):
        return tomotopy.from_object(model, vocabulary, where=where, form=form)
    if isinstance(model, tuple) and len(model) == 2:
        return arrays.from_arrays(model[0], model[1], vocabulary, where=where or "(phi, alpha)", form=form)
    if isinstance(model, tuple) and len(model) == 4:
        raise InputError(
            "(W, b, mu, Sigma): a product of experts, of which an audit has no more than the likelihood:"
            " heldout.log_likelihood gives it"
        )
    raise InputError(
        f"{where or 'model'}: a {type(model).__module__}.{type(model).__qualname__}; give a fitted scikit-learn"
        " LatentDirichletAllocation or NMF, a gensim LdaModel, a tomotopy LDAModel or CTModel, a Pipeline that ends in"
        " one, a PLSA or LDA of heldout.models, Topics, (phi, alpha), or (phi, mu, Sigma)"
    )


def from_topics(topics: Topics, vocabulary: Sequence[str] | None) -> Fitted:
    """Make a `Fitted` of heldout's own topics, unchanged; a vocabulary given has to be theirs.

    Raises:
        InputError: when the vocabulary is another.
    """
    vocabulary_of(topics.vocabulary, vocabulary, topics.phi.shape[1], "Topics")
    default = {"library": "arrays", "version": np.__version__, "format": "object", "phi": "as given"}
    return Fitted(replace(topics, provenance={**default, **topics.provenance}), "arrays")


def from_estimator(model: Estimator, vocabulary: Sequence[str] | None) -> Fitted:
    """Make a `Fitted` of a model of `heldout.models`.

    Raises:
        InputError: when it is not fitted, or documents have no Dirichlet prior under it.
    """
    kind = type(model).__name__
    topics = getattr(model, "topics", None)
    if topics is None:
        raise InputError(f"{kind}: documents have no Dirichlet prior under it; give a PLSA, an LDA or an NMF")
    components = getattr(model, "components_", None)  # (K, V)
    weights = getattr(model, "parameters_", None) if components is None else components.T
    if weights is None:
        raise InputError(f"{kind}: not fitted; call fit() first")
    words, known = vocabulary_of(None, vocabulary, len(weights), kind)
    provenance = {"library": "heldout", "version": importlib.metadata.version("heldout"), "model": kind}
    return replace(from_topics(topics(words, provenance), None), words_known=known)


def fitted(model: object, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Make a `Fitted` of a fitted model as it is in Python.

    Args:
        model: a scikit-learn `LatentDirichletAllocation`, `NMF` or `MiniBatchNMF`, a gensim `LdaModel`, a tomotopy
            `LDAModel` or `CTModel`, a model of `heldout.models`, a `Pipeline` or a search that ends in one of them,
            `Topics` or `LogisticNormalTopics`, a pair (phi, alpha) with phi (K, V) and alpha (K,) or one number, or a
            triple (phi, mu, Sigma) (`heldout.libraries.logistic_normal.from_any`).
        vocabulary: the V words, where it names none; see `heldout.libraries.checks.in_order`.

    Raises:
        InputError: when it is none of these, is not fitted, or its parameters are no topics.

    Examples:
        >>> model = fitted(([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], [0.1, 0.2]), ["ape", "bear", "cat"])
        >>> model.library, model.topics.n_topics
        ('arrays', 2)
    """
    inside = unwrap(model)
    words = inside.words
    if words is not None and vocabulary is not None and in_order(vocabulary) != words:
        raise InputError(
            "the pipeline's vectorizer names the model's words, and the vocabulary has others; leave it out"
        )
    return convert(inside.model, vocabulary if words is None else words, where=None, form="object")
