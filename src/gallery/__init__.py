"""Murphy (2012), "Machine Learning", chapter 27: latent variable models for discrete data."""

from artifact.study.manifest import Exhibit, Experiment, Paper
from gallery.extensions import spec as manifest_extensions
from gallery.graphs import spec as manifest_graphs
from gallery.priors import spec as manifest_priors
from gallery.ratings import spec as manifest_ratings
from gallery.tokens import spec as settings
from gallery.undirected import spec as manifest_undirected

_OPENING = ("gallery", "records")
_WITH_GAPS = (
    *(*_OPENING, "correlation", "covariates", "tags", "dynamics", "lda-hmm", "slda", "disclda", "rtm", "ratings"),
    *("boltzmann", "partitions"),
)
_EXPERIMENTS = {
    "gallery": Experiment(settings.Gallery),
    "records": Experiment(settings.Records),
    "perplexity": Experiment(settings.Perplexity),
    "completion": Experiment(settings.Completion),
    "polysemy": Experiment(settings.Polysemy),
    "samplers": Experiment(settings.Samplers),
    "bank-and-river": Experiment(settings.BankAndRiver, corpora="none"),
    "online": Experiment(settings.Online),
    "evidence": Experiment(settings.Evidence, corpora="none"),
    **manifest_undirected.EXPERIMENTS,
    **manifest_ratings.EXPERIMENTS,
    **manifest_priors.EXPERIMENTS,
    **manifest_graphs.EXPERIMENTS,
    **manifest_extensions.EXPERIMENTS,
}

MURPHY = Paper(
    module=__name__,
    source="Murphy (2012)",
    experiments=_EXPERIMENTS,
    optional=tuple(_EXPERIMENTS),
    exhibits={
        "table-datasets": Exhibit("the gallery's data sets", "tables.datasets"),
        "figure-gallery": Exhibit("gaps between usual scores and likelihoods", "figures.opening", _WITH_GAPS),
        "table-gallery": Exhibit("usual scores and likelihoods of the models", "tables.opening", _OPENING),
        "figure-27-6": Exhibit(
            "perplexity of unigram, mixture, pLSI and LDA",
            "figures.figure_27_6",
            ("perplexity", "completion"),
            original="Figure 27.6",
            claims=(
                "lda-outperforms-simpler",
                *(f"plsi-worse-by-{score}{end}" for score in ("full", "half", "mixture") for end in ("", "-tempered")),
            ),
        ),
        "table-27-6": Exhibit("Figure 27.6 in numbers", "tables.figure_27_6", ("perplexity", "completion")),
        "table-polysemy": Exhibit("three topics of one word", "tables.polysemy", ("polysemy",), original="Figure 27.4"),
        "table-senses": Exhibit(
            "three documents with that word", "tables.documents", ("polysemy",), original="Figure 27.5"
        ),
        "figure-samplers": Exhibit(
            "collapsed and uncollapsed Gibbs sampling against sweeps",
            "figures.samplers",
            ("samplers",),
            claims=("collapsed-is-better",),
        ),
        "figure-27-8": Exhibit(
            "collapsed Gibbs sampling on drawn documents",
            "figures.figure_27_8",
            ("bank-and-river",),
            original="Figure 27.8",
        ),
        "table-27-8": Exhibit("the topics of Figure 27.8, exactly", "tables.figure_27_8", ("bank-and-river",)),
        "figure-27-9": Exhibit(
            "online against batch variational Bayes",
            "figures.figure_27_9",
            ("online",),
            original="Figure 27.9",
            claims=("online-is-faster", "online-is-similar"),
        ),
        "figure-evidence": Exhibit(
            "the number of topics by the evidence, the bound and held-out documents",
            "figures.evidence",
            ("evidence",),
            claims=("evidence-finds-topics", "bound-finds-topics", "held-out-finds-topics"),
        ),
        **manifest_undirected.EXHIBITS,
        **manifest_ratings.EXHIBITS,
        **manifest_priors.EXHIBITS,
        **manifest_graphs.EXHIBITS,
        **manifest_extensions.EXHIBITS,
        "table-misprints": Exhibit("misprints of the chapter", "tables.misprints"),
    },
)
