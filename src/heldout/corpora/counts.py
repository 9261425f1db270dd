"""Lines, integers and vocabularies of text files."""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from heldout.errors import InputError
from heldout.limits import ALLOWANCE, EXPANSION, check_expansion, require_file

INTEGER = re.compile(r"[+-]?[0-9]{1,15}", re.ASCII)
LONGEST_LINE = 2**26  # bytes
INDEX = ("", "Unnamed: 0")  # heads of a column of row names, as R and pandas write it
RULE = "counts as imported; the tokens of a document are in vocabulary order"

Lines = Iterator[tuple[int, str]]
"""Numbers from 1, and lines."""


def integer(text: str, what: str, where: str, low: int, high: int | None = None) -> int:
    """Return the integer `text` when it lies in [low, high]; `what` and `where` go into the message.

    Raises:
        InputError: when it is no integer or out of range.
    """
    if not INTEGER.fullmatch(text):
        raise InputError(f"{where}: {what} must be an integer, found {text[:40]!r}")
    value = int(text)
    if value < low or (high is not None and value > high):
        span = f"{low} or more" if high is None else f"between {low} and {high}"
        raise InputError(f"{where}: {what} must be {span}, found {value}")
    return value


def unmarked(content: bytes) -> bytes:
    """Return a text's bytes without a byte order mark, which spreadsheets and editors put before UTF-8."""
    return content.removeprefix(codecs.BOM_UTF8)


def text_of(path: Path, content: bytes) -> str:
    """Return a UTF-8 text without a byte order mark; an InputError names the file and line that is not UTF-8."""
    try:
        return unmarked(content).decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: not UTF-8; convert the file") from error


def read_lines(path: Path, content: bytes) -> list[str]:
    """Return the lines of a UTF-8 text without their ends (LF or CRLF); a last empty line does not count.

    Raises:
        InputError: names the file and line that is not UTF-8.
    """
    lines = [line.removesuffix("\r") for line in text_of(path, content).split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def stream_lines(
    path: Path,
    *,
    longest: int = LONGEST_LINE,
    times: int = EXPANSION,
    more: int = ALLOWANCE,
    encode: str = "convert the file",
    again: str = "copy the file again",
) -> Lines:
    """Yield the lines of a UTF-8 text, plain or gzipped (by its first bytes), with their numbers from 1.

    No more than a line is held; ends (LF or CRLF) and a byte order mark are taken off, as in `read_lines`. A gzipped
    file may expand `times` times and by `more` bytes (`heldout.limits.check_expansion`). What to do about a file that
    is not UTF-8, and about a damaged one, goes into the messages.

    Raises:
        InputError: names the line that is not UTF-8 or too long, or the file that cannot be read.
    """
    number = expanded = 0
    require_file(path)
    try:
        with path.open("rb") as raw:
            size = path.stat().st_size
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.open(raw) if packed else raw as file:
                while line := file.readline(longest + 1):
                    number += 1
                    expanded += len(line)
                    if packed:
                        check_expansion(size, expanded, str(path), times=times, more=more)
                    if len(line) > longest:
                        raise InputError(f"{path}: line {number}: longer than {longest} bytes; damaged?")
                    line = unmarked(line) if number == 1 else line
                    yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: line {number}: not UTF-8; {encode}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path}: truncated or damaged after line {number} ({error!s:.200}); {again}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes; an InputError names the file that cannot be read."""
    require_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def read_vocabulary(path: Path, content: bytes) -> tuple[str, ...]:
    """Read a vocabulary, one word per line.

    Raises:
        InputError: names the line with an empty, unprintable or repeated word; or the file when it is empty.
    """
    vocabulary: dict[str, None] = {}
    for number, line in enumerate(read_lines(path, content), start=1):
        word = line.strip()
        if not word or not word.isprintable():
            raise InputError(f"{path}: line {number}: expected a printable word, found {line[:40]!r}")
        if word in vocabulary:
            raise InputError(f"{path}: line {number}: the word {word} is there a second time")
        vocabulary[word] = None
    if not vocabulary:
        raise InputError(f"{path}: no word in it; it must hold one word per line")
    return tuple(vocabulary)
