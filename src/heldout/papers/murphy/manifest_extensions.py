"""The manifest's part on LDA's extensions (sections 27.4 and 27.5.3)."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_extensions as settings

EXPERIMENTS = {
    "slda": Experiment(settings.Supervised),
    "lda-hmm": Experiment(settings.Sequences),
    "lda-hmm-words": Experiment(settings.Roles),
}
EXHIBITS = {
    "table-slda": Exhibit(
        "supervised LDA beside LDA with a regression",
        "tables_extensions.supervised",
        ("slda",),
        claims=("slda-beats-regression", "slda-one-state"),
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
}
