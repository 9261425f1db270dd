"""Topics as plain arrays, and the checks that every reader of a library's model ends with.

A library keeps topics as weights: counts plus a prior, the parameters of a Dirichlet, the rows of a factor. Divided by
its sum a row of weights lambda_k is a distribution over words,

    phi[k, w] = lambda[k, w] / sum_v lambda[k, v],

which for the parameters of a Dirichlet is its mean. Files that hold probabilities already hold rounded ones: a row
whose sum misses 1 by no more than `BINARY_TOLERANCE` (arrays; float32 is enough) or `TEXT_TOLERANCE` (decimal text) is
divided by its sum; one that misses by more was something else than p(w | z), and is refused.

Nothing is allocated for a header's sake: an array's shape has to fit the bytes that are there, and what a zip or gzip
file may expand to is bounded (`check_expansion`).
"""

import csv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.counts import read_bytes, read_lines, read_vocabulary
from heldout.errors import InputError
from heldout.libraries import Fitted
from heldout.topics import Topics

BINARY_TOLERANCE = 1e-4
TEXT_TOLERANCE = 1e-3
# K V float64 of 2 GB: more is a damaged file or no model to audit on one machine
MAXIMUM_ENTRIES = 2**28
# deflate reaches 1032 : 1 on zeros; states and dense topics stay far below 200 : 1, small sparse topics need not
EXPANSION, ALLOWANCE = 200, 512 << 20
ARRAY_MEMBERS = ("phi", "alpha", "vocabulary")


def check_size(topics: int, words: int, where: str) -> None:
    """Refuse a phi of K `topics` and V `words` that has no entry or more than `MAXIMUM_ENTRIES`, before it is made.

    Raises:
        InputError: names `where`.
    """
    if topics < 1 or words < 1 or topics * words > MAXIMUM_ENTRIES:
        raise InputError(
            f"{where}: {topics} topics over {words} words; there must be at least one of each and at most"
            f" {MAXIMUM_ENTRIES} probabilities: the file is damaged, or is not a topic model"
        )


def check_expansion(packed: int, expanded: int, where: str) -> None:
    """Refuse a compressed file of `packed` bytes that says or shows that it expands to `expanded` bytes.

    Raises:
        InputError: beyond `EXPANSION` times the bytes and `ALLOWANCE` (512 MB).
    """
    if expanded > EXPANSION * packed + ALLOWANCE:
        raise InputError(f"{where}: {packed} bytes expand to {expanded} or more, which no topic model does; damaged?")


@contextmanager
def memory_for(size: int) -> Iterator[None]:
    """Let this process take 2 GB and 50 times `size` bytes more than it has, and no more, until the context ends.

    A damaged number in a pickle makes the unpickler ask for as much memory as it says, 16 GB and more; under the limit
    that is a MemoryError. Where there is no such limit (not Linux) nothing is done.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + (2 << 30) + 50 * size
    limits = [limit for limit in before if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(most, *limits) if limits else most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def numbers(values: Any, what: str, where: str) -> NDArray[np.float64]:
    """Return `values` as a float64 array; `what` and `where` go into the message.

    Raises:
        InputError: when they are not real numbers.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"numbers expected, found {array.dtype}")
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{where}: {what} is not an array of numbers ({error!s:.200})") from error


def distributions(
    rows: NDArray[np.float64], where: str, tolerance: float | None, what: str = "phi"
) -> NDArray[np.float64]:
    """Return phi, (K, V) float64, every row of `rows` divided by its sum.

    Args:
        rows: (K, V) probabilities or weights.
        where: the file or class, for the message.
        tolerance: the most by which a row's sum may miss 1; None for weights, whose sums may be anything positive.
        what: what the library calls them, for the message.

    Raises:
        InputError: names the row with a negative or undefined entry, with no weight at all, or whose sum is not 1.
    """
    if rows.ndim != 2:
        raise InputError(f"{where}: {what} must be a matrix of topics by words, but its shape is {rows.shape}")
    check_size(rows.shape[0], rows.shape[1], where)
    good = np.all((rows >= 0.0) & np.isfinite(rows), axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(
            f"{where}: row {row} of {what} has a negative, infinite or undefined (NaN) entry; a topic has none: refit"
        )
    with np.errstate(over="ignore"):
        sums = rows.sum(axis=1)
    row = int(np.argmin(sums))
    if sums[row] <= 0.0:
        raise InputError(
            f"{where}: row {row} of {what} is all zeros, a topic without words; leave it out or fit fewer topics"
        )
    row = int(np.argmax(sums))
    if not np.isfinite(sums[row]):
        raise InputError(f"{where}: row {row} of {what} has an infinite sum; scale it")
    if tolerance is not None:
        row = int(np.argmax(np.abs(sums - 1.0)))
        if abs(sums[row] - 1.0) > tolerance:
            raise InputError(
                f"{where}: row {row} of {what} sums to {sums[row]:.6g}, not to 1; rows are topics: divide by the sum"
            )
    return np.ascontiguousarray(rows / sums[:, None])


def prior(alpha: Any, topics: int, where: str) -> NDArray[np.float64]:
    """Return the Dirichlet parameters of theta, (K,) float64; one number stands for K equal ones.

    Raises:
        InputError: when there are neither one nor K, or one is not positive and finite.
    """
    values = np.atleast_1d(numbers(alpha, "alpha", where))
    if values.ndim != 1 or len(values) not in (1, topics):
        raise InputError(
            f"{where}: alpha has shape {values.shape}, but there are {topics} topics; give one number, or one per topic"
        )
    good = (values > 0.0) & np.isfinite(values)
    if not good.all():
        raise InputError(
            f"{where}: alpha of topic {int(np.argmin(good))} is {values[np.argmin(good)]:g};"
            " a Dirichlet parameter is positive and finite"
        )
    return np.full(topics, values[0]) if len(values) == 1 else values


def vocabulary_of(
    own: Iterable[object] | None, given: Sequence[str] | None, words: int, where: str
) -> tuple[tuple[str, ...], bool]:
    """Return the model's V `words` and whether anyone named them.

    Args:
        own: the words that the model itself names, or None.
        given: the words that the user gives, or None; where the model names its own they have to be the same.
        words: V.
        where: for the message.

    Raises:
        InputError: when there are not V words, when one is no text or is there twice, or when the two differ.
    """
    named = None
    for source, names in (("the vocabulary", given), ("the model's own vocabulary", own)):
        if names is None:
            continue
        listed = tuple(names)
        if len(listed) != words:
            raise InputError(
                f"{where}: {source} has {len(listed)} words, but the topics have {words};"
                " give the words that the model was fitted on, in its order"
            )
        seen: set[object] = set()
        for place, word in enumerate(listed):
            if not isinstance(word, str):
                raise InputError(f"{where}: {source}: word {place} is {word!r:.40}, not text")
            if word in seen:
                raise InputError(f"{where}: {source}: {word!r:.40} is there a second time (place {place})")
            seen.add(word)
        texts = tuple(str(word) for word in listed)
        if named is not None and texts != named:
            place = next(i for i, pair in enumerate(zip(named, texts, strict=True)) if pair[0] != pair[1])
            raise InputError(
                f"{where}: the model says that word {place} is {texts[place]!r:.40}, the vocabulary given says"
                f" {named[place]!r:.40}; leave the vocabulary out, the model names its own words"
            )
        named = texts
    if named is None:
        return tuple(str(place) for place in range(words)), False
    return named, True


def assemble(
    *,
    library: str,
    version: str,
    form: str,
    where: str,
    weights: Any,
    what: str,
    tolerance: float | None,
    alpha: Any,
    own_words: Iterable[object] | None,
    vocabulary: Sequence[str] | None,
    native: Any = None,
    **provenance: Any,
) -> Fitted:
    """Check what a reader found and make a `Fitted` of it; the arguments are those of the checks above.

    Raises:
        InputError: from any of the checks.
    """
    phi = distributions(numbers(weights, what, where), where, tolerance, what)
    named, known = vocabulary_of(own_words, vocabulary, phi.shape[1], where)
    topics = Topics(
        phi=phi,
        alpha=prior(alpha, len(phi), where),
        vocabulary=named,
        provenance={"library": library, "version": version, "format": form, **provenance},
    )
    return Fitted(topics, library, native, known)


def from_arrays(
    phi: Any, alpha: Any, vocabulary: Sequence[str] | None = None, *, where: str = "arrays", form: str = "object"
) -> Fitted:
    """Make a `Fitted` of phi (K, V), rows summing to 1, and alpha, (K,) or one number.

    Raises:
        InputError: from any of the checks.
    """
    return assemble(
        library="arrays",
        version=np.__version__,
        form=form,
        where=where,
        weights=phi,
        what="phi",
        tolerance=BINARY_TOLERANCE,
        alpha=alpha,
        own_words=None,
        vocabulary=vocabulary,
        phi="as given",
    )


def check_npy(member: IO[bytes], size: int, where: str) -> None:
    """Refuse a .npy stream of `size` bytes whose header asks for another number of bytes, or for objects.

    Raises:
        InputError: names `where`.
    """
    try:
        version = np.lib.format.read_magic(member)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(member)
    except Exception as error:  # the header is a Python literal: numpy raises whatever its parts raise
        raise InputError(f"{where}: not an array ({error!s:.200}); save the model again") from error
    entries = 1
    for length in shape:
        entries *= int(length)
    if dtype.hasobject:
        raise InputError(f"{where}: an array of objects, which only unpickling reads; save text as dtype=str")
    if min(shape, default=0) < 0 or entries * dtype.itemsize != size - member.tell():
        raise InputError(
            f"{where}: the header announces {entries} entries of {dtype}, the file has {size - member.tell()} bytes of"
            " them; truncated or damaged: save the model again"
        )


def open_zip(path: Path, what: str) -> zipfile.ZipFile:
    """Open a zip file whose members together expand within bounds.

    Raises:
        InputError: when it cannot be read, is no zip file, or announces too much.
    """
    try:
        packed = path.stat().st_size
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except Exception as error:  # zipfile, struct and codecs each raise their own kinds
        raise InputError(f"{path}: truncated, or not a {what} file ({error!s:.200}); save the model again") from error
    check_expansion(packed, sum(member.file_size for member in archive.infolist()), str(path))
    return archive


def read_npz(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read phi, alpha and, where it is there, vocabulary from an .npz file (one that `Topics.save` wrote, too).

    Raises:
        InputError: when the file is missing, truncated, damaged, or does not hold them.
    """
    arrays: dict[str, NDArray[Any]] = {}
    try:
        with open_zip(path, ".npz") as archive:
            for name in ARRAY_MEMBERS:
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
    missing = [name for name in ARRAY_MEMBERS[:2] if name not in arrays]
    if missing:
        raise InputError(f"{path}: no {' and no '.join(missing)} in it; numpy.savez(file, phi=..., alpha=...) both")
    own = arrays.get("vocabulary")
    if own is not None and (own.ndim != 1 or own.dtype.kind != "U"):
        raise InputError(f"{path}: vocabulary is {own.dtype} of shape {own.shape}; save a list of V words (dtype=str)")
    return assemble(
        library="arrays",
        version=np.__version__,
        form="npz",
        where=str(path),
        weights=arrays["phi"],
        what="phi",
        tolerance=BINARY_TOLERANCE,
        alpha=arrays["alpha"],
        own_words=None if own is None else own.tolist(),
        vocabulary=vocabulary,
        phi="as given",
    )


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
    """Read topics from comma-separated values: a line per topic, under a line of the words where there is one.

    The Dirichlet parameters are in `alpha_file`: one number, or one per topic, on one line or one per line.

    Raises:
        InputError: names file and line.
    """
    header, rows = read_rows(path, ",")
    beside = alpha_file(path)
    _, parameters = read_rows(beside, ",")
    return assemble(
        library="arrays",
        version=np.__version__,
        form="csv",
        where=str(path),
        weights=np.array(rows),
        what="phi",
        tolerance=TEXT_TOLERANCE,
        alpha=prior(np.concatenate(parameters), len(rows), str(beside)),
        own_words=header,
        vocabulary=vocabulary,
        phi="as given",
    )


def read_words(path: Path) -> tuple[str, ...]:
    """Read a vocabulary, one word per line, in the model's order.

    Raises:
        InputError: names the line with an empty, unprintable or repeated word; or the file when it is empty.
    """
    return read_vocabulary(path, read_bytes(path))
