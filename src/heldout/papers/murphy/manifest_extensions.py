"""The manifest's part on LDA's extensions (sections 27.4 and 27.5.3)."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_extensions as settings

EXPERIMENTS = {
    "dynamics": Experiment(settings.Dynamics),
    "slda": Experiment(settings.Supervised),
    "rtm": Experiment(settings.Relational),
    "disclda": Experiment(settings.Discriminative),
    "lda-hmm": Experiment(settings.Sequences),
    "lda-hmm-words": Experiment(settings.Roles),
}
EXHIBITS = {
    "table-dynamics": Exhibit(
        "the dynamic topic model beside static ones",
        "tables_extensions.dynamic",
        ("dynamics",),
        claims=("moving-topics-predict", "plugging-in-costs"),
    ),
    "figure-27-12": Exhibit(
        "a topic that moves", "figures_extensions.figure_27_12", ("dynamics",), original="Figure 27.12"
    ),
    "table-slda": Exhibit(
        "supervised LDA beside LDA with a regression",
        "tables_extensions.supervised",
        ("slda",),
        claims=("slda-beats-regression", "slda-one-state"),
    ),
    "table-rtm": Exhibit(
        "the relational topic model beside LDA with a regression",
        "tables_extensions.relational",
        ("rtm",),
        claims=("rtm-beats-regression", "links-read-topics", "rtm-one-state"),
    ),
    "table-disclda": Exhibit(
        "DiscLDA beside an LDA for each class",
        "tables_extensions.discriminative",
        ("disclda",),
        claims=("common-topics-tell-classes", "folding-in-tells-classes"),
    ),
    "table-lda-hmm": Exhibit(
        "LDA-HMM beside LDA and a hidden Markov model",
        "tables_extensions.sequences",
        ("lda-hmm",),
        claims=("lda-hmm-beats-lda", "lda-hmm-beats-hmm", "lda-topics-are-polluted"),
    ),
    "table-27-1": Exhibit(
        "topics and states of LDA and LDA-HMM",
        "tables_extensions.table_27_1",
        ("lda-hmm-words",),
        original="Table 27.1",
    ),
    "figure-27-14": Exhibit(
        "words in two roles", "figures_extensions.figure_27_14", ("lda-hmm-words",), original="Figure 27.14"
    ),
    "table-27-1-of-others": Exhibit(
        "topics and states of another corpus", "tables_extensions.table_27_1_of_others", ("lda-hmm-words",)
    ),
    "figure-27-14-of-others": Exhibit(
        "words in two roles of another corpus", "figures_extensions.figure_27_14_of_others", ("lda-hmm-words",)
    ),
}
