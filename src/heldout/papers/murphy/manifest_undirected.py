"""What section 27.7 adds to the manifest: undirected models."""

from heldout.manifest import Exhibit, Experiment
from heldout.papers.murphy import settings_undirected as settings

BOLTZMANN, SOFTMAX, UNITS = "boltzmann", "replicated-softmax", "undirected-units"

EXPERIMENTS = {
    BOLTZMANN: Experiment(settings.Boltzmann),
    SOFTMAX: Experiment(settings.ReplicatedSoftmax),
    UNITS: Experiment(settings.UndirectedUnits),
}

EXHIBITS = {
    "figure-boltzmann": Exhibit(
        "likelihood and usual scores of Boltzmann machines against updates",
        "figures_undirected.boltzmann",
        (BOLTZMANN,),
        claims=("pcd-better-than-cd", "cd-faster-early", "mean-field-fails"),
    ),
    "table-boltzmann": Exhibit("Boltzmann machines by their scores", "tables_undirected.boltzmann", (BOLTZMANN,)),
    "table-27-32": Exhibit(
        "perplexity of replicated softmax, LDA and unigram",
        "tables_undirected.figure_27_32",
        (SOFTMAX,),
        original="Figure 27.32",
        claims=("lda-better-than-unigram", "softmax-better-than-lda"),
    ),
    "figure-27-33": Exhibit(
        "retrieval by replicated softmax and by LDA",
        "figures_undirected.figure_27_33",
        (SOFTMAX,),
        original="Figure 27.33",
        claims=("softmax-retrieves-better",),
    ),
    "table-undirected-units": Exhibit(
        "other units than binary ones",
        "tables_undirected.units",
        (UNITS,),
        original="Table 27.2",
        claims=("binary-better-than-gaussian", "gaussian-units-are-factor-analysis", "gaussian-rbm-is-mixture"),
    ),
}
