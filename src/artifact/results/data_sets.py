"""The data sets as they are printed: their titles, the gallery's observations, and where they come from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DataSet:
    """A data set in print, without its sizes.

    Attributes:
        title: name in figures, tables and text.
        observation: unit of the data, and further data of it.
        source: a key of paper/references.bib; empty where there is none.
        copy: the mark of the copy that is used, which the table's caption explains.
    """

    title: str
    observation: str = "document"
    source: str = ""
    copy: str = ""


DATA_SETS = {  # in the order of the gallery's table
    "cranfield": DataSet("Cranfield", "abstract", "cleverdon1967"),
    "cranfield-unstemmed": DataSet("Cranfield, unstemmed"),
    "medline": DataSet("Medline"),
    "medline-unstemmed": DataSet("Medline, unstemmed"),
    "nips": DataSet("NIPS"),
    "ap": DataSet("AP", "news story", "blei2003"),
    "reuters": DataSet("Reuters-21578", "news story", "lewis1997"),
    "reuters-topics": DataSet("Reuters-21578-topics", "news story, labels", "lewis1997"),
    "newsgroups": DataSet("20 newsgroups", "posting, group", "lang1995", copy="a"),
    "nips-volumes": DataSet("NIPS-volumes", "paper, volume", "roweis2002"),
    "reviews": DataSet("Reviews", "film review, side", "pang2004"),
    "poliblog": DataSet("Political blogs", "blog posting, side", "rpackagelda"),
    "cora": DataSet("Cora", "abstract, citations", "mccallum2000", copy="a"),
    "brown": DataSet("Brown", "text in order", "francis1979"),
    "brown-pairs": DataSet("Brown pairs"),
    "nips-running": DataSet("NIPS, running text", "paper, running text", "roweis2002"),
    "votes": DataSet("House votes", "member's votes", "dua2017"),
    "news-words": DataSet("Newsgroups", "words of a posting", "roweis2009"),
    "movielens": DataSet("MovieLens 100k", "user's ratings", "harper2015"),
    "monks": DataSet("Monks", "monk, likes", "sampson1968"),
    "kinship": DataSet("Kinship", "person, kin terms", "denham1973", copy="b"),
    "citations": DataSet("Cora", "paper, citations", "mccallum2000", copy="a"),
    "umls": DataSet("UMLS", "concept, predicates", "mccray2003", copy="b"),
    "nations": DataSet("Nations", "country, interactions", "rummel1999", copy="b"),
    "animals": DataSet("Animals"),
}
