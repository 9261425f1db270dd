"""The gallery's models, a file each: training, usual score, likelihood, label; to add one, add its file and its line.

The opening table, the claims' names and the tests go through `MEMBERS`.
"""

from typing import Any

from heldout.papers.murphy.members.categorical_pca import DegenerateEM, ExactEM, VariationalEM
from heldout.papers.murphy.members.gap import NMF, ConditionalGaP, GaP
from heldout.papers.murphy.members.lda import BatchVB, CollapsedGibbs, Gibbs, OnlineVB
from heldout.papers.murphy.members.member import Member
from heldout.papers.murphy.members.mixtures import MixtureOfCategoricals, MixtureOfMultinomials, MixtureOfPoissons
from heldout.papers.murphy.members.plsi import PLSI
from heldout.papers.murphy.members.user_rating_profile import UserRatingProfile

MEMBERS: tuple[type[Member[Any, Any]], ...] = (  # in the order of the opening table
    *(MixtureOfMultinomials, MixtureOfPoissons, MixtureOfCategoricals),
    *(PLSI, CollapsedGibbs, Gibbs, BatchVB, OnlineVB),
    *(UserRatingProfile, GaP, ConditionalGaP, NMF, VariationalEM, ExactEM, DegenerateEM),
)
