"""Topics as plain arrays: from memory, from an .npz file, or from comma-separated values."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.counts import read_bytes, read_lines, read_vocabulary
from heldout.errors import InputError
from heldout.evaluators.logistic_normal import LogisticNormalTopics
from heldout.libraries import Fitted
from heldout.libraries.checks import (
    BINARY_TOLERANCE,
    TEXT_TOLERANCE,
    assemble,
    distributions,
    numbers,
    prior,
    vocabulary_of,
)
from heldout.limits import check_npy, check_size, open_zip

MEMBERS = ("phi", "alpha", "mu", "sigma", "vocabulary")


def from_arrays(
    phi: Any,
    alpha: Any,
    vocabulary: Sequence[str] | None = None,
    *,
    where: str = "arrays",
    form: str = "object",
    tolerance: float = BINARY_TOLERANCE,
    own_words: Iterable[object] | None = None,
) -> Fitted:
    """Make a `Fitted` of phi and alpha.

    Args:
        phi: (K, V) p(w | z), rows summing to 1.
        alpha: (K,) parameters of the Dirichlet prior of theta, or one number for K equal ones.
        vocabulary: the V words, in the columns' order; None where they are in `own_words`, or not known.
        where: the file, for messages.
        form: for the provenance.
        tolerance: the most by which a row's sum may miss 1.
        own_words: the V words, where a file names them.

    Raises:
        InputError: from any of the checks.

    Examples:
        >>> model = from_arrays([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], 0.1, ["ape", "bear", "cat"])
        >>> model.topics.alpha
        array([0.1, 0.1])
    """
    return assemble(
        library="arrays",
        version=np.__version__,
        form=form,
        where=where,
        weights=phi,
        what="phi",
        tolerance=tolerance,
        alpha=alpha,
        own_words=own_words,
        vocabulary=vocabulary,
        phi="as given",
    )


def read_npz(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read phi, alpha or mu and sigma, and, where it is there, vocabulary from an .npz file (`Topics.save` writes one).

    Raises:
        InputError: when the file is missing, truncated, damaged, or does not hold them.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "model.npz")
        ...     np.savez(file, phi=[[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]], alpha=[0.1, 0.2])
        ...     read_npz(file).topics.n_topics
        2
    """
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with open_zip(path, ".npz") as archive:
            for name in MEMBERS:
                if f"{name}.npy" not in archive.namelist():
                    continue
                size = archive.getinfo(f"{name}.npy").file_size
                with archive.open(f"{name}.npy") as member:
                    check_npy(member, size, f"{path}: {name}")
                with archive.open(f"{name}.npy") as member:
                    arrays[name] = np.lib.format.read_array(member, allow_pickle=False)
    except InputError:
        raise
    except Exception as error:  # zipfile, zlib and numpy each raise their own kinds
        raise InputError(f"{path}: truncated or damaged ({error!s:.200}); save the model again") from error
    normal = arrays.keys() & {"mu", "sigma"}
    if normal and "alpha" in arrays:
        raise InputError(f"{path}: alpha and {min(normal)} in it, which are of two priors; save those of one")
    missing = [name for name in (("phi", "mu", "sigma") if normal else ("phi", "alpha")) if name not in arrays]
    if missing:
        raise InputError(
            f"{path}: no {' and no '.join(missing)} in it; numpy.savez(file, phi=..., alpha=...), or mu=... and"
            " sigma=... of a logistic-normal prior"
        )
    own = arrays.get("vocabulary")
    if own is not None and (own.ndim != 1 or own.dtype.kind != "U"):
        raise InputError(f"{path}: vocabulary is {own.dtype} of shape {own.shape}; save a list of V words (dtype=str)")
    own_words = None if own is None else own.tolist()
    if normal:
        given = arrays["phi"], arrays["mu"], arrays["sigma"]
        return from_normal(*given, own_words, vocabulary, str(path), "npz", tolerance=BINARY_TOLERANCE)
    return from_arrays(arrays["phi"], arrays["alpha"], vocabulary, where=str(path), form="npz", own_words=own_words)


def from_normal(
    phi: Any,
    mean: Any,
    covariance: Any,
    own_words: Sequence[str] | None,
    vocabulary: Sequence[str] | None,
    where: str,
    form: str = "object",
    library: str = "arrays",
    native: Any = None,
    *,
    tolerance: float = TEXT_TOLERANCE,
) -> Fitted:
    """Make a `Fitted` of phi and a logistic-normal prior.

    Args:
        phi: as in `from_arrays`.
        mean: mu, see `heldout.evaluators.logistic_normal.LogisticNormalTopics.of`.
        covariance: Sigma, see there.
        own_words: as in `from_arrays`.
        vocabulary: as in `from_arrays`.
        where: as in `from_arrays`.
        form: as in `from_arrays`.
        library: see `Fitted`.
        native: see `Fitted`.
        tolerance: as in `from_arrays`.

    Raises:
        InputError: from any of the checks.
    """
    topics = distributions(numbers(phi, "phi", where), where, tolerance)
    words, known = vocabulary_of(own_words, vocabulary, topics.shape[1], where)
    mu, sigma = numbers(mean, "mu", where), numbers(covariance, "Sigma", where)
    provenance = {"library": library, "version": np.__version__, "format": form}
    return Fitted(LogisticNormalTopics.of(topics, mu, sigma, words, provenance), library, native, known)


def parse_number(text: str) -> float | None:
    """Return a decimal number, or None where the text is none ("nan" and "inf" are numbers, refused later)."""
    try:
        return float(text) if "_" not in text else None
    except ValueError:
        return None


def read_rows(path: Path, delimiter: str | None) -> tuple[list[str] | None, list[NDArray[np.float64]]]:
    """Read rows of decimal numbers of equal length, and the header where the first row has no number in it.

    Args:
        path: the file, UTF-8.
        delimiter: a comma for .csv (fields may be quoted), None for white space.

    Raises:
        InputError: names file and line: not UTF-8, not a number, or a row of another length.
    """
    lines = read_lines(path, read_bytes(path))
    header: list[str] | None = None
    rows: list[NDArray[np.float64]] = []
    width = entries = 0
    for number, line in enumerate(lines, start=1):
        where = f"{path}: line {number}"
        try:
            columns = next(csv.reader([line], strict=True), []) if delimiter else line.split()
        except csv.Error as error:
            raise InputError(f"{where}: not comma-separated values ({error!s:.200})") from error
        if not columns:
            raise InputError(f"{where}: empty; every line is one topic")
        width = width or len(columns)
        if len(columns) != width:
            raise InputError(f"{where}: {len(columns)} columns, but line 1 has {width}; truncated?")
        if delimiter and number == 1 and all(parse_number(column) is None for column in columns):
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
    """Return where the Dirichlet parameters of topics in `path` (phi.csv) are: phi.alpha.csv, or else alpha.csv.

    Raises:
        InputError: when there is neither.
    """
    own = path.with_name(f"{path.stem}.alpha.csv")
    for candidate in (own, path.with_name("alpha.csv")):
        if candidate != path and candidate.exists():
            return candidate
    raise InputError(
        f"{path}: no {own.name} or alpha.csv beside it; write the Dirichlet parameters there, one or one per topic"
    )


def read_csv(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    r"""Read topics from comma-separated values: a line per topic, under a line of the words where there is one.

    The Dirichlet parameters are in `alpha_file`: one number, or one per topic, on one line or one per line.

    Raises:
        InputError: names file and line.

    Examples:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "phi.csv").write_text("ape,bear,cat\n0.5,0.5,0\n0,0.25,0.75\n")
        ...     _ = Path(folder, "alpha.csv").write_text("0.1")
        ...     read_csv(Path(folder, "phi.csv")).topics.vocabulary
        ('ape', 'bear', 'cat')
    """
    header, rows = read_rows(path, ",")
    beside = alpha_file(path)
    _, parameters = read_rows(beside, ",")
    alpha = prior(np.concatenate(parameters), len(rows), str(beside))
    return from_arrays(
        *(np.array(rows), alpha, vocabulary),
        where=str(path),
        form="csv",
        tolerance=TEXT_TOLERANCE,
        own_words=header,
    )


def read_words(path: Path) -> tuple[str, ...]:
    """Read a vocabulary, one word per line, in the model's order.

    Raises:
        InputError: names the line with an empty, unprintable or repeated word; or the file when it is empty.
    """
    return read_vocabulary(path, read_bytes(path))
