"""A folder of plain text files, one document each."""

import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path

from heldout.corpora.archives import content_digest
from heldout.corpora.corpus import Corpus
from heldout.corpora.counts import read_bytes, read_lines
from heldout.corpora.preprocess import ANY_SCRIPT, Rule, corpus_of, read_stop_list, tokeniser
from heldout.errors import InputError, InputWarning


def text_files(folder: Path) -> list[Path]:
    """Return the .txt files of a folder in the order of their names; warn of all others but hidden ones.

    Raises:
        InputError: for a missing folder, or when a name is not printable.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    files = sorted(folder.glob("*.txt"))
    for file in files:
        if not file.name.isprintable():
            raise InputError(f"{folder}: the file name {file.name!a} is not printable; rename the file")
    others = sorted(other.name for other in folder.iterdir() if other.suffix != ".txt" and other.name[0] != ".")
    if files and others:
        named = f"{', '.join(others[:3])}{', ...' if len(others) > 3 else ''}"
        warnings.warn(
            f"{folder}: {len(others)} beside its {len(files)} .txt files passed over: {named}",
            InputWarning,
            stacklevel=2,
        )
    return files


def as_text(file: Path, content: bytes) -> str:
    """Return the text of a file's bytes without a byte order mark, accents composed with their letters (NFC).

    Raises:
        InputError: names the line that is not UTF-8.
    """
    return unicodedata.normalize("NFC", "\n".join(read_lines(file, content)))


def read(
    folder: Path, name: str, stop_list: Path | None = None, stemmer: str = "none", minimum_count: int = 1
) -> Corpus:
    """Read every .txt file of a folder, in the order of their names; token order is kept.

    Words are runs of letters, marks and digits of any script, in lower case, at least three long (but for Chinese,
    Japanese and Korean), not in the stop list; of English texts these are Cranfield's. Scripts that put no space
    between words have to be segmented first. A text without a word is left out, and named in the provenance.

    Without a stop list, one word per line, no word is dropped for being common; words with fewer tokens than
    `minimum_count` in all texts are left out. Folders in the folder are not looked into.

    Raises:
        InputError: names the file that is not UTF-8 or cannot be read; or the folder when it is missing or has fewer
            than two texts with words.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.txt").write_text("The flow over a wing.")
        ...     _ = Path(folder, "b.txt").write_text("Heat; flow.")
        ...     corpus = read(Path(folder), "tiny")
        >>> corpus.vocabulary
        ('flow', 'heat', 'over', 'the', 'wing')
    """
    contents = {path.name: read_bytes(path) for path in text_files(folder)}
    rule = Rule(
        ANY_SCRIPT,
        minimum_length=3,
        stop_words=stop_list is not None,
        stemmer=stemmer,
        minimum_count=minimum_count,
        refuse_empty=False,
    )
    texts = [(file, as_text(folder / file, content)) for file, content in contents.items()]
    if len(texts) < 2:
        raise InputError(f"{folder}: {len(texts)} .txt file(s); at least two are needed, one to hold out")
    stop_words: frozenset[str] = frozenset()
    sources = [{"file": folder.resolve().name, "content_sha256": content_digest(contents)}]
    if stop_list is not None:
        stop_content = read_bytes(stop_list)
        stop_words = read_stop_list(stop_content, str(stop_list))
        sources.append({"file": stop_list.name, "content_sha256": content_digest({stop_list.name: stop_content})})
    return corpus_of(name, rule, texts, stop_words, sources)


def words_of_files(folder: Path, *, stem: bool) -> list[tuple[str, list[str]]]:
    """Return the names of a folder's .txt files, in order, and their words, stemmed (lancaster) or not.

    Raises:
        InputError: when the folder is missing or holds no .txt file, and as `as_text` does.
    """
    files = text_files(folder)
    if not files:
        raise InputError(f"{folder}: no .txt file in it")
    words_of = cut(stem=stem)
    return [(file.name, words_of(as_text(file, read_bytes(file)))) for file in files]


def cut(*, stem: bool) -> Callable[[str], list[str]]:
    """Return the function from a text to its words: runs of letters, marks and digits of any script, in lower case.

    A word's length is no reason to leave it out where the model's vocabulary says which words there are.

    Examples:
        >>> cut(stem=False)("COVID in the U.S. and new_york")
        ['covid', 'in', 'the', 'u', 's', 'and', 'new', 'york']
    """
    return tokeniser(Rule(ANY_SCRIPT, stop_words=False, stemmer="lancaster" if stem else "none"), frozenset())
