"""Corpora by name: the files that each is read from, and the models that corpora are drawn from; no reading."""

from dataclasses import dataclass

from heldout.errors import InputError

STOP_LIST = "english.stop"
SYNTHETIC = "-like"  # end of the name of a corpus drawn from a known LDA in another corpus's shape

ARCHIVES = {
    "cranfield": "cran.tar.gz",
    "cranfield-unstemmed": "cran.tar.gz",
    "medline": "med.tar.gz",
    "medline-unstemmed": "med.tar.gz",
    "nips": "nips12raw_str602.tgz",
    "nips-volumes": "nips12raw_str602.tgz",
    "nips-running": "nips12raw_str602.tgz",
    "reuters": "reuters21578.tar.gz",
    "reuters-topics": "reuters21578.tar.gz",
    "ap": "ap.tgz",
    "votes": "house-votes-84.data",
    "news-words": "20news_w100.mat",
    "movielens": "u.data",
    "reviews": "review_polarity.tar.gz",
    "poliblog": "poliblog.documents.rda",
    "brown": "brown.zip",
    "cora": "cora.documents.rda",
    "newsgroups": "newsgroup.train.documents.rda",
    "monks": "sampson.RData",
    "citations": "cora.cites.rda",
    "umls": "irmdata.tar.gz",
    "kinship": "irmdata.tar.gz",
    "nations": "irmdata.tar.gz",
    "animals": "irmdata.tar.gz",
}
RELATIONS = ("monks", "citations", "umls", "kinship", "nations", "animals")  # graphs and tensors
# which are read as counts, records, tokens or relations, and not as texts by a rule with the stop list
COUNTED = (
    "ap",
    "votes",
    "news-words",
    "movielens",
    "poliblog",
    "brown",
    "nips-running",
    "cora",
    "newsgroups",
    *RELATIONS,
)
# files of data sets that come in several
MORE = {
    "movielens": ("u.item",),
    "poliblog": ("poliblog.ratings.rda", "poliblog.vocab.rda"),
    "cora": ("cora.cites.rda", "cora.vocab.rda"),
    "newsgroups": (
        *(f"newsgroup.{part}.rda" for part in ("train.labels", "test.documents", "test.labels", "label.map", "vocab")),
        STOP_LIST,
    ),
}


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
    return (ARCHIVES[name], *MORE.get(name, ())) if name in COUNTED else (ARCHIVES[name], STOP_LIST)
