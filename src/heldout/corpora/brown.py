"""The Brown corpus: texts of about 2,000 words, each with its part of speech; NLTK's form, word/tag word/tag."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import PurePosixPath

from heldout.corpora.corpus import Corpus, provenance
from heldout.errors import InputError

RARE = "*"  # token in place of every word of fewer documents than
FEWEST = 5
FEWEST_PAIRS = 4  # fewest pairs of a noun, and of an adjective, that are kept
ADJECTIVE, NOUN = "jj", "nn"  # beginnings of tags


def read_tokens(name: str, members: Mapping[str, bytes]) -> Corpus:
    """Return the words with punctuation, in lower case; a word in fewer than 5 documents becomes an asterisk.

    This is the rule of Griffiths et al. (2004). Tags are not read.

    Raises:
        InputError: names the text with a token that has no tag.
    """
    documents, occurrences = [], dict[str, int]()
    for member, content in members.items():
        words = [word for word, _ in _tagged(member, content.decode("latin-1"))]
        documents.append((PurePosixPath(member).name, words))
        for word in set(words):
            occurrences[word] = occurrences.get(word, 0) + 1
    kept = [
        (document, [word if occurrences[word] >= FEWEST else RARE for word in words]) for document, words in documents
    ]
    rule = f"words with punctuation, in lower case; {RARE} for words in fewer than {FEWEST} documents"
    return Corpus.from_documents(name, kept, provenance(rule, {"least": FEWEST}))


def read_pairs(name: str, members: Mapping[str, bytes], least: int = FEWEST_PAIRS) -> Corpus:
    """Return the nouns as documents, whose words are the adjectives directly before them, in the order of the texts.

    A pair is two neighbours in one sentence, a line of the archive: a word whose tag begins with "jj" (jj, jjr, jjs and
    jjt: plain, comparative, semantically and morphologically superlative), then one whose tag begins with "nn" (nn and
    nns: common nouns, singular and plural; nn$ and nns$: possessive). The same tags count in titles, headlines and
    cited words (-tl, -hl, -nc) and with a contracted verb (nn+bez); foreign words (fw-jj) and proper nouns (np) do not.
    Words are in lower case and not stemmed. Of "a large old house" only "old house" is a pair.

    A pair is kept where its noun and its adjective are in `least` pairs each, counted once, before any is left out.
    These are the dyadic data of Hofmann (1999, Figure 5b), n(noun, adjective); his came from LOB, Brown's British twin,
    by a rule that is not known. Of all thresholds, 4 brings the rank of the counts nearest to his, 1674.

    Raises:
        InputError: names the text with a token that has no tag.
    """
    pairs = []
    for member, content in members.items():
        for sentence in content.decode("latin-1").split("\n"):
            for (adjective, first), (noun, second) in pairwise(_tagged(member, sentence)):
                if first.startswith(ADJECTIVE) and second.startswith(NOUN):
                    pairs.append((noun, adjective))
    nouns, adjectives = Counter(noun for noun, _ in pairs), Counter(adjective for _, adjective in pairs)
    documents = dict[str, list[str]]()
    for noun, adjective in pairs:
        if nouns[noun] >= least and adjectives[adjective] >= least:
            documents.setdefault(noun, []).append(adjective)
    rule = f"adjectives ({ADJECTIVE}*) directly before a noun ({NOUN}*), in lower case; both in at least {least} pairs"
    return Corpus.from_documents(name, sorted(documents.items()), provenance(rule, {"least": least}))


def _tagged(member: str, text: str) -> list[tuple[str, str]]:
    """Return the words of a text in lower case, each with its tag in lower case."""
    words = []
    for token in text.split():
        word, slash, tag = token.rpartition("/")
        if not (word and slash and tag):
            raise InputError(f"{member}: expected words with their tags, word/tag, found {token[:40]!r}")
        words.append((word.lower(), tag.lower()))
    return words
