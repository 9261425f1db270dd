"""The NIPS papers of volumes 0 to 12, one raw text per paper."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from heldout.corpora.brown import RARE
from heldout.corpora.corpus import Corpus, provenance

LARGEST = 5000  # number of words that are kept
BROKEN = re.compile(r"-[ \t]*\r?\n[ \t]*")  # hyphen of a word broken at the end of a line
TOKEN = re.compile(r"[a-z]+|[.,;:?!()]")


def read_texts(members: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return (volume/paper, text) of every paper, nipstxt/nipsVV/NNNN.txt, in the order of volumes and pages.

    The texts come from optical character recognition and are read as Latin-1, which accepts every byte.
    """
    papers = []
    for name in sorted(members):
        path = PurePosixPath(name)
        papers.append((f"{path.parent.name}/{path.stem}", members[name].decode("latin-1")))
    return papers


def read_tokens(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the words with their punctuation, in order and in lower case; words broken at a line's end are joined.

    A word that is not among the 5,000 of most papers (ties go to the one with more tokens, then to the first in the
    alphabet) becomes an asterisk; numbers and other signs are left out.
    """
    papers = [(paper, TOKEN.findall(BROKEN.sub("", text).lower())) for paper, text in read_texts(members)]
    tokens = Counter(word for _, words in papers for word in words)
    occurrences = Counter(word for _, words in papers for word in set(words))
    ranked = sorted(tokens, key=lambda word: (-occurrences[word], -tokens[word], word))
    frequent = set(ranked[:LARGEST])
    kept = [(paper, [word if word in frequent else RARE for word in words]) for paper, words in papers]
    rule = f"words with punctuation, in lower case; {RARE} for words beyond the {LARGEST:,} of most papers"
    return Corpus.from_documents(name, kept, provenance(rule, {"largest": LARGEST}))
