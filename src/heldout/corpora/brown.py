"""The Brown corpus: texts of about 2,000 words, each with its part of speech; NLTK's form, word/tag word/tag."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from heldout.corpora.corpus import Corpus, provenance
from heldout.errors import InputError

RARE = "*"  # token in place of every word of fewer documents than
FEWEST = 5


def read_tokens(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the words with punctuation, in lower case; a word in fewer than 5 documents becomes an asterisk.

    This is the rule of Griffiths et al. (2004). Tags are not read.

    Raises:
        InputError: names the text with a token that has no tag.
    """
    documents, occurrences = [], dict[str, int]()
    for member, content in members.items():
        words = []
        for token in content.decode("latin-1").split():
            word, slash, tag = token.rpartition("/")
            if not (word and slash and tag):
                raise InputError(f"{member}: expected words with their tags, word/tag, found {token[:40]!r}")
            words.append(word.lower())
        documents.append((PurePosixPath(member).name, words))
        for word in set(words):
            occurrences[word] = occurrences.get(word, 0) + 1
    kept = [
        (document, [word if occurrences[word] >= FEWEST else RARE for word in words]) for document, words in documents
    ]
    rule = f"words with punctuation, in lower case; {RARE} for words in fewer than {FEWEST} documents"
    return Corpus.from_documents(name, kept, provenance(rule, {"least": FEWEST}))
