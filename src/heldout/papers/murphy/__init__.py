"""Murphy (2012), "Machine Learning", chapter 27: latent variable models for discrete data."""

from heldout.manifest import Exhibit, Paper

_FIGURES, _TABLES = "heldout.papers.murphy.figures", "heldout.papers.murphy.tables"
_OPENING = ("gallery", "records", "annealed")
_ALL = (*_OPENING, "perplexity", "completion", "polysemy", "samplers", "bank-and-river", "online", "evidence")

MURPHY = Paper(
    module=__name__,
    source="Murphy (2012)",
    experiments=dict.fromkeys(_ALL),
    optional=_ALL,
    scorecard=(
        "degenerate-em-overfits",
        "nmf-overfits",
        "lda-outperforms-simpler",
        "collapsed-is-better",
        "online-is-faster",
        "evidence-finds-topics",
    ),
    exhibits={
        "table-gallery": Exhibit("table", "usual scores and likelihoods of the models", _TABLES, "opening", _OPENING),
        "figure-27-6": Exhibit(
            "figure",
            "perplexity of unigram, mixture, pLSI and LDA",
            _FIGURES,
            "figure_27_6",
            ("perplexity", "completion"),
            original="Figure 27.6",
            claims=(
                "lda-outperforms-simpler",
                *(f"plsi-worse-by-{score}{end}" for score in ("full", "half", "mixture") for end in ("", "-tempered")),
            ),
        ),
        "table-27-6": Exhibit("table", "Figure 27.6 in numbers", _TABLES, "figure_27_6", ("perplexity", "completion")),
        "table-polysemy": Exhibit(
            "table", "three topics of one word", _TABLES, "polysemy", ("polysemy",), original="Figure 27.4"
        ),
        "table-senses": Exhibit(
            "table",
            "three documents with that word",
            _TABLES,
            "documents",
            ("polysemy",),
            original="Figure 27.5",
        ),
        "figure-samplers": Exhibit(
            "figure",
            "collapsed and uncollapsed Gibbs sampling against sweeps",
            _FIGURES,
            "samplers",
            ("samplers",),
            claims=("collapsed-is-better",),
        ),
        "figure-27-8": Exhibit(
            "figure",
            "collapsed Gibbs sampling on drawn documents",
            _FIGURES,
            "figure_27_8",
            ("bank-and-river",),
            original="Figure 27.8",
        ),
        "table-27-8": Exhibit(
            "table", "the topics of Figure 27.8, exactly", _TABLES, "figure_27_8", ("bank-and-river",)
        ),
        "figure-27-9": Exhibit(
            "figure",
            "online against batch variational Bayes",
            _FIGURES,
            "figure_27_9",
            ("online",),
            original="Figure 27.9",
            claims=("online-is-faster", "online-is-similar"),
        ),
        "figure-evidence": Exhibit(
            "figure",
            "the number of topics by the evidence, the bound and held-out documents",
            _FIGURES,
            "evidence",
            ("evidence",),
            claims=("evidence-finds-topics", "bound-finds-topics", "held-out-finds-topics"),
        ),
        "table-misprints": Exhibit("table", "misprints of the chapter", _TABLES, "misprints"),
    },
)
