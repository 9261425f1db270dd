"""The gallery's data sets: what an observation is, and where they come from (as data/corpora.csv has it)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataSet:
    """What the table of data sets says of one beside its sizes.

    Attributes:
        observation: what one is, and what is observed of it.
        source: a key of paper/references.bib; empty where there is none.
        copy: the mark of the copy that is used, which the table's caption explains.
        relations: whether cells are observed, of which some may be hidden, and no documents held out.
    """

    observation: str
    source: str
    copy: str = ""
    relations: bool = False


DATA_SETS = {
    "cranfield": DataSet("abstract", "cleverdon1967"),
    "ap": DataSet("news story", "blei2003"),
    "reuters": DataSet("news story", "lewis1997"),
    "reuters-topics": DataSet("news story, labels", "lewis1997"),
    "newsgroups": DataSet("posting, group", "lang1995", copy="a"),
    "nips-volumes": DataSet("paper, volume", "roweis2002"),
    "reviews": DataSet("film review, side", "pang2004"),
    "poliblog": DataSet("blog posting, side", "rpackagelda"),
    "cora": DataSet("abstract, citations", "mccallum2000", copy="a"),
    "brown": DataSet("text in order", "francis1979"),
    "nips-running": DataSet("paper, running text", "roweis2002"),
    "votes": DataSet("member's votes", "dua2017"),
    "news-words": DataSet("words of a posting", "roweis2009"),
    "movielens": DataSet("user's ratings", "harper2015"),
    "monks": DataSet("monk, likes", "sampson1968", relations=True),
    "kinship": DataSet("person, kin terms", "denham1973", copy="b", relations=True),
    "citations": DataSet("paper, citations", "mccallum2000", copy="a", relations=True),
    "umls": DataSet("concept, predicates", "mccray2003", copy="b", relations=True),
    "nations": DataSet("country, interactions", "rummel1999", copy="b", relations=True),
}
