"""Preprocessing of texts into documents of words: one rule, applied in one order."""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from heldout.corpora.corpus import Corpus, provenance
from heldout.errors import InputError

Text = tuple[str, str]  # document name, its text
Words = tuple[str, list[str]]  # document name, its words in order

ANY_SCRIPT = "letters, marks and digits of any script"  # pattern of a rule instead of a regular expression
LONGEST = 10_000  # letters of a word, the most: arrays of words are as wide as the longest
SYLLABLES = "\u2e80"  # first character of the scripts in which one character is a syllable or a word, long enough alone


@dataclass(frozen=True)
class Rule:
    """The rule by which texts become words: steps that are applied to the lower-cased text, in this order.

    Attributes:
        token: a regular expression of one character, or `ANY_SCRIPT`; a token is a maximal run of matches.
        minimum_length: shorter tokens are dropped, except in Chinese, Japanese and Korean.
        keep: tokens that are kept though they are shorter.
        stop_words: whether the words of the stop list are dropped.
        stemmer: "none", or "lancaster": the Paice/Husk stemmer, applied until nothing changes.
        minimum_count: words with fewer tokens in all texts are dropped.
        minimum_documents: words that occur in fewer texts are dropped.
        largest_vocabulary: number of words that are kept, the ones in the most texts (ties go to the word with more
            tokens, then to the first in the alphabet); 0 for all.
        first_documents: how many texts become documents, the first ones; 0 for all. The thresholds above count all
            texts.
        refuse_empty: whether a document without a word is an error; otherwise it stays, empty.
    """

    token: str
    minimum_length: int = 1
    keep: tuple[str, ...] = ()
    stop_words: bool = True
    stemmer: str = "none"
    minimum_count: int = 1
    minimum_documents: int = 1
    largest_vocabulary: int = 0
    first_documents: int = 0
    refuse_empty: bool = True

    def __post_init__(self) -> None:
        if self.stemmer not in ("none", "lancaster"):
            raise InputError(f"stemmer {self.stemmer}: unknown; use none or lancaster")

    def settings(self) -> dict[str, Any]:
        """Return the rule as JSON-compatible settings."""
        return {**asdict(self), "keep": list(self.keep)}

    def words(self) -> str:
        """Return the rule in a few words, for tables."""
        exceptions = f" and {' '.join(self.keep)}" if self.keep else ""
        parts = {
            f"runs of {self.token} in lower case": True,
            f"length >= {self.minimum_length}{exceptions}": self.minimum_length > 1,
            "not in the stop list": self.stop_words,
            f"{self.stemmer} stems": self.stemmer != "none",
            f"tokens >= {self.minimum_count}": self.minimum_count > 1,
            f"documents >= {self.minimum_documents}": self.minimum_documents > 1,
            f"the {self.largest_vocabulary} words of most documents": self.largest_vocabulary,
            f"first {self.first_documents} documents": self.first_documents,
        }
        return "; ".join(part for part, holds in parts.items() if holds)


def read_stop_list(content: bytes, where: str) -> frozenset[str]:
    """Read a stop list, one word per line, lower case; raises InputError when it is not UTF-8 or holds no word."""
    try:
        words = frozenset(content.decode("utf-8-sig").lower().split())
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 (byte {error.start}); convert it, one stop word per line") from error
    if not words:
        raise InputError(f"{where}: no stop word in it")
    return words


@lru_cache(maxsize=1)
def any_script() -> str:
    """Return a regular expression of a run of letters and digits with their marks: accents, vowel signs and joiners.

    Words of Python's regular expressions end at marks, and so within words of Hindi, Thai or Persian.
    """
    marks = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == "M"]
    return f"[^\\W_](?:[^\\W_]|[{''.join(marks)}\u200c\u200d])*"  # the last two join letters


@lru_cache(maxsize=1)
def lancaster() -> Callable[[str], str]:
    """Return the Paice/Husk stemmer (Paice, 1990, "Another stemmer") with NLTK's rules, until nothing changes."""
    from nltk.stem.lancaster import LancasterStemmer  # a second or two to import

    once = lru_cache(maxsize=None)(LancasterStemmer().stem)

    def stem(word: str) -> str:
        seen = {word}
        while (shorter := once(word)) and shorter not in seen:
            seen.add(shorter)
            word = shorter
        return word

    return stem


def tokeniser(rule: Rule, stop_words: frozenset[str]) -> Callable[[str], list[str]]:
    """Return the function from a text to its words in order, by a rule without its thresholds over all texts.

    Examples:
        >>> rule = Rule(token="[a-z]", minimum_length=3)
        >>> tokeniser(rule, frozenset({"the"}))("The flow over a wing")
        ['flow', 'over', 'wing']
    """
    pattern = re.compile(any_script() if rule.token == ANY_SCRIPT else f"(?:{rule.token})+")
    dropped = stop_words if rule.stop_words else frozenset()
    stem = lancaster() if rule.stemmer == "lancaster" else str
    # every distinct token is looked at once: None where it is dropped
    table: dict[str, str | None] = {}

    def words_of(text: str) -> list[str]:
        words = []
        for token in pattern.findall(text.lower()):
            if token not in table:
                if len(token) > LONGEST:
                    begun = f"{token[:20]!r}..."
                    raise InputError(
                        f"texts: a word of {len(token):,} letters, {begun}; divide it, or leave its text out"
                    )
                long_enough = len(token) >= rule.minimum_length or token in rule.keep or max(token) >= SYLLABLES
                table[token] = stem(token) if long_enough and token not in dropped else None
            if (word := table[token]) is not None:
                words.append(word)
        return words

    return words_of


def apply(rule: Rule, texts: Sequence[Text], stop_words: frozenset[str], corpus: str) -> list[Words]:
    """Turn texts, none of them blank, into the rule's documents of words, token order kept.

    Raises:
        InputError: names the document that has no word left, where the rule refuses it, or the corpus with fewer than
            two documents.
    """
    words_of = tokeniser(rule, stop_words)
    documents = [words_of(text) for _, text in texts]
    if rule.minimum_count > 1 or rule.minimum_documents > 1 or rule.largest_vocabulary:
        tokens = Counter(word for words in documents for word in words)
        occurrences = Counter(word for words in documents for word in set(words))
        ranked = sorted(tokens, key=lambda word: (-occurrences[word], -tokens[word], word))
        least = (rule.minimum_count, rule.minimum_documents)
        frequent = [word for word in ranked if tokens[word] >= least[0] and occurrences[word] >= least[1]]
        chosen = set(frequent[: rule.largest_vocabulary or None])
        documents = [[word for word in words if word in chosen] for words in documents]
    kept = [(name, words) for (name, _), words in zip(texts, documents, strict=True)][: rule.first_documents or None]
    for name, words in kept:
        if rule.refuse_empty and not words:
            raise InputError(
                f"corpus {corpus}: document {name}: no word is left of it under the rule ({rule.words()});"
                " remove the document or change the rule"
            )
    require_documents(corpus, sum(bool(words) for _, words in kept))
    return kept


def corpus_of(
    name: str,
    rule: Rule,
    texts: Sequence[Text],
    stop_words: frozenset[str],
    sources: Sequence[Mapping[str, str]],
    left_out: Sequence[str] = (),
    **more: Any,
) -> Corpus:
    """Return the corpus that a rule makes of texts; its provenance names the documents without a word, left out.

    The provenance has `sources`, the names of records that were `left_out` before, and `more`; the other arguments and
    errors are as in `apply`.
    """
    documents = apply(rule, texts, stop_words, name)
    empty = [document for document, words in documents if not words]
    source = provenance(rule.words(), rule.settings(), sources=sources, left_out=[*left_out, *empty], **more)
    return Corpus.from_documents(name, [document for document in documents if document[1]], source)


def require_documents(corpus: str, documents: int) -> None:
    """Refuse a corpus that cannot be divided into training and test documents.

    Raises:
        InputError: when it has fewer than two documents.
    """
    if documents < 2:
        raise InputError(f"corpus {corpus}: {documents} document(s); at least two are needed, one to hold out")
