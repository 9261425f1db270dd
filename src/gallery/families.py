"""The gallery's models that are no rows of the opening table, by family: what they model is none of its kinds of data.

A member is trained and scored on documents or records by themselves. The models here take labels, links, times,
covariates, graphs or ratings besides, each in an experiment of its own, or are undirected. A new one is a line here,
and a tiny case of its family in `tests/gallery/tiny_families.py`, which the members' common test holds to the
same properties.
"""

from typing import NamedTuple

from gallery.extensions.experiments import disclda, dynamics, lda_hmm, rtm, slda
from gallery.graphs.experiments import memberships, node_features, partitions
from gallery.graphs.experiments.block_graphs import IRM_NAME
from gallery.member import BOUND, FOLDED, Usual
from gallery.priors.experiments import correlation, covariates, tags
from gallery.ratings.experiments import rating_curves, ratings
from gallery.undirected.experiments import boltzmann, replicated_softmax, undirected_units

STATE, PSEUDO = Usual("at one state", "neither"), Usual("pseudo-likelihood", "neither")
PARTITION, CLUSTER = Usual("best partition", "bound"), Usual("best cluster", "bound")
PLUGGED = Usual("plugged in", "point")


class Family(NamedTuple):
    """Models that one likelihood is of.

    Attributes:
        name: the family's.
        models: as in `artifact.results.scores.Score`, with what they are compared with.
        usual: what is usually reported of them; None where it is the likelihood.
    """

    name: str
    models: tuple[str, ...]
    usual: Usual | None


FAMILIES = (
    Family("correlated topics", (correlation.JOINTLY, correlation.PRIOR, correlation.TOMOTOPY), BOUND),
    Family(
        "topics under covariates",
        (covariates.REGRESSION, covariates.CONSTANT, covariates.LABELLED, covariates.PARTIALLY),
        FOLDED,
    ),
    Family("tags given inputs", (tags.ALONE, tags.EXPERTS, tags.TWO_STEPS, tags.NETWORK), None),
    Family("categorical PCA with inputs", (tags.INPUTS, tags.QUADRATURE), BOUND),
    Family(
        "moving topics",
        (dynamics.MODEL, dynamics.STATIC, *dynamics.PLUGGED.values(), dynamics.TOMOTOPY),
        BOUND,
    ),
    Family("topics and states", (lda_hmm.MODEL, lda_hmm.HMM), FOLDED),
    Family("labels given words", (slda.MODEL, slda.REGRESSION, slda.FREQUENCY), STATE),
    Family("links given words", (rtm.MODEL, rtm.REGRESSION, rtm.OF_WEIGHTS), STATE),
    Family("classes of documents", (disclda.BAYES, disclda.APART, disclda.BLOCKS, disclda.LEARNT), FOLDED),
    Family("blocks", (partitions.SBM, IRM_NAME), PARTITION),
    Family("blocks with features", tuple(node_features.MODEL.values()), PLUGGED),
    Family("mixed memberships", (memberships.MODEL,), None),
    Family(
        "factors of ratings",
        (
            *(ratings.OFFSETS, ratings.PMF_POINT, ratings.PMF_EM, *ratings.VARIANTS),
            *(*rating_curves.DECAYS, rating_curves.ADAPTIVE, rating_curves.POINT_PLAIN),
        ),
        FOLDED,
    ),
    Family("co-clusters", (ratings.COCLUSTERING,), CLUSTER),
    Family("machines of ratings", (ratings.CD, ratings.PCD, ratings.COMBINED), PSEUDO),
    Family(
        "Boltzmann machines",
        (
            *(boltzmann.ONE, boltzmann.MORE, boltzmann.PERSISTENT, boltzmann.FIELD, boltzmann.INDEPENDENT),
            *(undirected_units.RBM_NAME, undirected_units.PCA, undirected_units.MIXTURE, undirected_units.FACTORS),
        ),
        PSEUDO,
    ),
    Family("replicated softmax", (replicated_softmax.SOFTMAX, replicated_softmax.UNIGRAM), None),
)
FAMILY_OF = {model: family for family in FAMILIES for model in family.models}
