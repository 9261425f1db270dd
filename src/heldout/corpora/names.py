"""Corpora by name: the files that each is read from, and the models that corpora are drawn from; no reading."""

from dataclasses import dataclass

from heldout.errors import InputError

STOP_LIST = "english.stop"
SYNTHETIC = "-like"  # end of the name of a corpus drawn from a known LDA in another corpus's shape

# downloaded files by corpus, the archive first; with the stop list as their second, texts, of which a rule makes words
ARCHIVES = {
    "cranfield": ("cran.tar.gz", STOP_LIST),
    "cranfield-unstemmed": ("cran.tar.gz", STOP_LIST),
    "medline": ("med.tar.gz", STOP_LIST),
    "medline-unstemmed": ("med.tar.gz", STOP_LIST),
    "nips": ("nips12raw_str602.tgz", STOP_LIST),
    "nips-volumes": ("nips12raw_str602.tgz", STOP_LIST),
    "nips-running": ("nips12raw_str602.tgz",),
    "reuters": ("reuters21578.tar.gz", STOP_LIST),
    "reuters-topics": ("reuters21578.tar.gz", STOP_LIST),
    "ap": ("ap.tgz",),
    "votes": ("house-votes-84.data",),
    "news-words": ("20news_w100.mat",),
    "movielens": ("u.data", "u.item"),
    "reviews": ("review_polarity.tar.gz", STOP_LIST),
    "poliblog": ("poliblog.documents.rda", "poliblog.ratings.rda", "poliblog.vocab.rda"),
    "brown": ("brown.zip",),
    "brown-pairs": ("brown.zip",),
    "cora": ("cora.documents.rda", "cora.cites.rda", "cora.vocab.rda"),
    "newsgroups": (
        *("newsgroup.train.documents.rda", "newsgroup.train.labels.rda", "newsgroup.test.documents.rda"),
        *("newsgroup.test.labels.rda", "newsgroup.label.map.rda", "newsgroup.vocab.rda", STOP_LIST),
    ),
    "monks": ("sampson.RData",),
    "citations": ("cora.cites.rda",),
    "umls": ("irmdata.tar.gz",),
    "kinship": ("irmdata.tar.gz",),
    "nations": ("irmdata.tar.gz",),
    "animals": ("irmdata.tar.gz",),
}
RELATIONS = ("monks", "citations", "umls", "kinship", "nations", "animals")  # graphs and tensors


@dataclass(frozen=True)
class Source:
    """The model that a corpus is drawn from.

    Attributes:
        topics: K.
        vocabulary: V, how many of the most probable words are kept; 0 for all.
    """

    topics: int
    vocabulary: int = 0


SOURCES = {"s10": Source(10), "s10s": Source(10, 5_000), "s40": Source(40)}


def raw_files(name: str) -> tuple[str, ...]:
    """Return the names of the downloaded files that a corpus is read from; none for a synthetic corpus.

    Raises:
        InputError: when the corpus is unknown; lists the known names.
    """
    if name.endswith(SYNTHETIC) and name.removesuffix(SYNTHETIC) in ARCHIVES:
        return ()
    if name not in ARCHIVES:
        raise InputError(f"corpus {name}: unknown; the known corpora are {', '.join(ARCHIVES)}")
    return ARCHIVES[name]
