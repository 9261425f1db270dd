"""Welling, Chemudugunta and Sutter (2008), "Deterministic latent variable models and their pitfalls"."""

from artifact.papers.welling.settings import Bounds, DiscreteLatents, NormaliserLimits, Normalisers, PointPosteriors
from artifact.study.manifest import Exhibit, Experiment, Paper
from artifact.study.settings import Nothing
from artifact.study.study import ALTERNATIVES, BEYOND_VOCABULARY, SECOND
from heldout.models import EPCA, LDA, PLSA, TEM, VEM


def by_corpus(first: int, title: str, function: str, parts: tuple[str, ...], *, suffix: str = "") -> dict[str, Exhibit]:
    """Return three figures of one kind, each of one corpus, that have the source's numbers from `first` on.

    The suffix tells the names of figures with the same counterpart apart.
    """
    return {
        f"figure-{first + i}{suffix}": Exhibit(
            title,
            function,
            parts,
            i,
            f"Figure {first + i}",
        )
        for i in range(3)
    }


WELLING = Paper(
    module=__name__,
    source="Welling et al. (2008)",
    experiments={
        "point-posteriors": Experiment(PointPosteriors),
        "discrete-latents": Experiment(DiscreteLatents),
        "bounds": Experiment(Bounds, models=(PLSA, VEM, LDA), topics="list"),
        "normalisers": Experiment(Normalisers, models=(PLSA, VEM, LDA), topics="list"),
        "normaliser-limits": Experiment(NormaliserLimits),
        "convergence": Experiment(Nothing, models=(LDA,), topics="list"),
    },
    exhibits={
        "table-1": Exhibit("the corpora", "tables.corpora", original="Table 1"),
        **by_corpus(
            1,
            "three versions of PLSA",
            "figures.figures_1_to_3_versions.versions",
            (PLSA, VEM, TEM),
        ),
        **by_corpus(
            4,
            "PLSA under every constant, added after training",
            "figures.figures_4_to_6_smoothing.added_after_training",
            (PLSA,),
        ),
        **by_corpus(
            4,
            "PLSA under every constant, added at every M step",
            "figures.figures_4_to_6_smoothing.added_at_every_m_step",
            (SECOND,),
            suffix="b",
        ),
        "figure-smoothing": Exhibit(
            "overfitting by full and by half folding-in", "figures.figures_4_to_6_smoothing.overfitting", (PLSA,)
        ),
        **by_corpus(
            7,
            "LDA beside the best curves of PLSA and EPCA",
            "figures.figures_7_to_9_comparison.comparison",
            (PLSA, EPCA, LDA),
        ),
        "figure-beyond": Exhibit(
            "PLSA beyond the size of the vocabulary",
            "figures.figures_4_to_6_smoothing.beyond_the_vocabulary",
            (BEYOND_VOCABULARY,),
        ),
        "figure-bounds": Exhibit(
            "optimism and pessimism of single documents",
            "figures.bounds.documents",
            ("bounds", "discrete-latents"),
        ),
        "figure-normaliser": Exhibit(
            "the normaliser that folding in ignores",
            "figures.normaliser.log_normaliser",
            ("normalisers",),
        ),
        "figure-normalised": Exhibit(
            "what the normalised model says of many topics",
            "figures.normaliser.normalised_perplexity",
            (PLSA, "normaliser-limits"),
        ),
        "figure-convergence": Exhibit(
            "convergence of the Gibbs sampler", "figures.convergence.traces_and_r_hats", ("convergence",)
        ),
        "table-alternatives": Exhibit(
            "what other settings change", "tables.alternatives", (ALTERNATIVES, SECOND, PLSA, LDA)
        ),
        "table-models": Exhibit("the family of models", "tables.models"),
    },
)
