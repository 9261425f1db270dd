"""Topics as plain arrays, from memory, an .npz file or comma-separated values, and heldout's own models."""

import csv
import importlib.metadata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heldout.corpora.counts import INDEX, read_bytes, read_lines
from heldout.errors import InputError
from heldout.libraries import Fitted, Form, Library
from heldout.libraries.checks import BINARY_TOLERANCE, TEXT_TOLERANCE, assemble, prior, vocabulary_of
from heldout.libraries.parts import nothing
from heldout.limits import check_size, one_line, open_zip, read_npy
from heldout.models.estimator import Estimator
from heldout.topics import AnyTopics
from heldout.typing import Floats

MEMBERS = ("phi", "alpha", "mu", "sigma", "vocabulary")


def from_object(
    model: Any,
    vocabulary: Sequence[str] | None = None,
    where: str | None = None,
    form: str = "object",
    *,
    tolerance: float = BINARY_TOLERANCE,
    own_words: Iterable[object] | None = None,
) -> Fitted:
    """Return the `Fitted` of (phi, alpha), (phi, mu, Sigma), `Topics`, or a model of `heldout.models`.

    phi is (K, V), p(w | z), rows summing to 1; alpha, (K,), the parameters of the Dirichlet prior of theta, or one
    number for K equal ones; mu and Sigma as in `heldout.libraries.checks.assemble`, and so are `tolerance` and
    `own_words`; the rest as in `heldout.libraries.Library`. A table's columns that are named by texts name the words.
    heldout's own topics stay as they are.

    Raises:
        InputError: from any of the checks, for (W, b, mu, Sigma), and for an estimator that is not fitted or gives
            documents no Dirichlet prior.

    Examples:
        >>> model = from_object(([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], 0.1), ["ape", "bear", "cat"])
        >>> model.topics.alpha
        array([0.1, 0.1])
        >>> from_object(([[0.9, 0.1], [0.2, 0.8]], [0.0], [[1.0]]), ["ape", "bear"]).topics.mean
        array([0.])
    """
    if isinstance(model, AnyTopics):
        return _from_topics(model, vocabulary)
    if isinstance(model, Estimator):
        return _from_estimator(model, vocabulary)
    if len(model) == 4:
        raise InputError(
            "(W, b, mu, Sigma): a product of experts, of which an audit has no more than the likelihood:"
            " heldout.log_likelihood gives it"
        )
    phi, *prior_of_theta = model
    columns = list(getattr(phi, "columns", ()))
    if own_words is None and columns and all(isinstance(name, str) for name in columns):
        own_words = columns
    return assemble(
        library="arrays",
        version=np.__version__,
        form=form,
        where=where or ("(phi, alpha)" if len(model) == 2 else "(phi, mu, Sigma)"),
        weights=phi,
        what="phi",
        tolerance=tolerance,
        prior_of_theta=prior_of_theta,
        own_words=own_words,
        vocabulary=vocabulary,
        phi="as given",
    )


def recognises(model: object) -> bool:
    """Return whether `model` is a tuple of arrays, or one of heldout's own models."""
    if isinstance(model, tuple):
        return 2 <= len(model) <= 4
    return isinstance(model, AnyTopics | Estimator)


def _from_topics(topics: AnyTopics, vocabulary: Sequence[str] | None) -> Fitted:
    vocabulary_of(topics.vocabulary, vocabulary, topics.phi.shape[1], type(topics).__name__)
    default = {"library": "arrays", "version": np.__version__, "format": "object", "phi": "as given"}
    return Fitted(replace(topics, provenance={**default, **topics.provenance}), "arrays")


def _from_estimator(model: Estimator, vocabulary: Sequence[str] | None) -> Fitted:
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
    if kind == "NMF" or kind.startswith("PLSA"):
        provenance["prior"] = f"{kind} has none; Dirichlet(1), uniform, stands in"
    return replace(_from_topics(replace(topics(words), provenance=provenance), None), words_known=known)


def read_npz(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read phi, alpha or mu and sigma, and the vocabulary, if there is one, from an .npz file (as of `Topics.save`).

    Raises:
        InputError: when the file is missing, truncated, damaged, or does not hold them.
    """
    with one_line(path, remedy="save the model again"), open_zip(path, ".npz") as archive:
        there = [name for name in MEMBERS if f"{name}.npy" in archive.namelist()]
        arrays = {name: read_npy(archive, name) for name in there}
    normal = arrays.keys() & {"mu", "sigma"}
    if normal and "alpha" in arrays:
        raise InputError(f"{path}: alpha and {min(normal)} in it, which are of two priors; save those of one")
    names = ("phi", "mu", "sigma") if normal else ("phi", "alpha")
    missing = [name for name in names if name not in arrays]
    if missing:
        raise InputError(
            f"{path}: no {' and no '.join(missing)} in it; numpy.savez(file, phi=..., alpha=...), or mu=... and"
            " sigma=... of a logistic-normal prior"
        )
    own = arrays.get("vocabulary")
    if own is not None and (own.ndim != 1 or own.dtype.kind != "U"):
        raise InputError(f"{path}: vocabulary is {own.dtype} of shape {own.shape}; save a list of V words (dtype=str)")
    own_words = None if own is None else own.tolist()
    return from_object(tuple(arrays[name] for name in names), vocabulary, str(path), "npz", own_words=own_words)


def parse_number(text: str) -> float | None:
    """Return a decimal number, or None for other texts ("nan" and "inf" are numbers, refused later)."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def read_rows(path: Path, delimiter: str | None) -> tuple[list[str] | None, list[Floats]]:
    """Read rows of decimal numbers of equal length, and the header if most of the first row are no numbers.

    Some words, "nan" and "1990" among them, read like numbers. The delimiter of the file, UTF-8, is a comma for .csv
    (fields may be quoted), None for white space.

    Raises:
        InputError: names file and line: not UTF-8, not a number, or a row of another length.
    """
    lines = read_lines(path, read_bytes(path))
    header: list[str] | None = None
    rows: list[Floats] = []
    width = entries = 0
    for number, line in enumerate(lines, start=1):
        where = f"{path}: line {number}"
        if delimiter and number == 1 and 2 * line.count(";") + line.count("\t") > line.count(","):
            raise InputError(f"{where}: no commas between the columns; write them with commas (write.csv, sep=',')")
        try:
            columns = next(csv.reader([line], strict=True), []) if delimiter else line.split()
        except csv.Error as error:
            raise InputError(f"{where}: not comma-separated values ({error!s:.200})") from error
        if not columns:
            raise InputError(f"{where}: empty; every line is one topic")
        if delimiter and number == 1 and columns[0] in INDEX:
            raise InputError(
                f"{where}: column 1 is {columns[0]!r}, no word but row names or an index; write the table without them"
                " (row.names = FALSE, index=False)"
            )
        width = width or len(columns)
        if len(columns) != width:
            raise InputError(f"{where}: {len(columns)} columns, but line 1 has {width}; truncated?")
        if delimiter and number == 1 and sum(parse_number(column) is None for column in columns) > width / 2:
            header = columns
            continue
        values = [parse_number(column) for column in columns]
        if None in values:
            place = values.index(None)
            raise InputError(f"{where}: column {place + 1} is {columns[place]!r:.40}, not a number")
        entries += width
        check_size(1, entries, where)
        rows.append(np.array(values, dtype=np.float64))
    if not rows:
        raise InputError(f"{path}: no topic in it; every line is one topic, comma-separated probabilities of the words")
    return header, rows


def alpha_file(path: Path) -> Path:
    """Return the file of the Dirichlet parameters of topics in `path` (phi.csv): phi.alpha.csv, or else alpha.csv."""
    own = path.with_name(f"{path.stem}.alpha.csv")
    for candidate in (own, path.with_name("alpha.csv")):
        if candidate != path and candidate.exists():
            return candidate
    raise InputError(
        f"{path}: no {own.name} or alpha.csv beside it; write the Dirichlet parameters there, one or one per topic"
    )


def read_alpha(path: Path) -> Floats:
    """Return the numbers of a file of Dirichlet parameters, between commas, or spaces and lines as R's `write` has."""
    texts = [text for line in read_lines(path, read_bytes(path)) for text in line.split()]
    values = [parse_number(text) for text in texts]
    if values and None not in values:
        return np.array(values, dtype=np.float64)
    return np.concatenate(read_rows(path, ",")[1])


def read_csv(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read topics from comma-separated values: a line per topic, below a line of the words if there is one.

    The Dirichlet parameters are in `alpha_file`: one number, or one per topic, on one line or one per line. Under a
    logistic-normal prior mu is in phi.mean.csv and Sigma in phi.covariance.csv, both without names, as R's `stm` and
    `topicmodels::CTM` write them: of an stm with prevalence covariates K - 1 lines of D numbers, a mean of each
    document.

    Raises:
        InputError: names file and line.
    """
    header, rows = read_rows(path, ",")
    mean_file = path.with_suffix(".mean.csv")
    if mean_file.exists():
        mean = np.array(read_rows(mean_file, ",")[1])
        covariance = np.array(read_rows(path.with_suffix(".covariance.csv"), ",")[1])
        one = mean.size == len(covariance)  # of all documents
        model: tuple[Any, ...] = (np.array(rows), mean.ravel() if one else mean.T, covariance)
    else:
        alpha_path = alpha_file(path)
        model = (np.array(rows), prior(read_alpha(alpha_path), len(rows), str(alpha_path)))
    return from_object(model, vocabulary, str(path), "csv", tolerance=TEXT_TOLERANCE, own_words=header)


LIBRARY = Library(
    "arrays",
    lambda fitted, _documents: nothing(fitted.library, "arrays come from no library: nothing is reported"),
    forms=(Form("npz", read_npz, suffixes=(".npz",), member="phi.npy"), Form("csv", read_csv, suffixes=(".csv",))),
    models="a PLSA or LDA of heldout.models, Topics, (phi, alpha), or (phi, mu, Sigma)",
    recognises=recognises,
    from_object=from_object,
)
