"""The gallery's models, a file each: training, usual score, likelihood, label; to add one, add its file and its line.

The opening table, the contrasts and the tests go through `MEMBERS`.
"""

from typing import Any

from gallery.member import Member
from gallery.tokens.members.categorical_pca import BouchardEM, DegenerateEM, ExactEM, JaakkolaJordanEM, VariationalEM
from gallery.tokens.members.gap import NMF, ConditionalGaP, GaP
from gallery.tokens.members.lda import BatchVB, CollapsedGibbs, Gibbs, OnlineVB, PointVEM
from gallery.tokens.members.mixtures import MixtureOfCategoricals, MixtureOfMultinomials, MixtureOfPoissons
from gallery.tokens.members.plsi import PLSI
from gallery.tokens.members.user_rating_profile import UserRatingProfile

MEMBERS: tuple[type[Member[Any, Any]], ...] = (  # in the order of the opening table
    *(MixtureOfMultinomials, MixtureOfPoissons, MixtureOfCategoricals),
    *(PLSI, CollapsedGibbs, Gibbs, PointVEM, BatchVB, OnlineVB),
    *(UserRatingProfile, GaP, ConditionalGaP, NMF),
    *(VariationalEM, BouchardEM, JaakkolaJordanEM, ExactEM, DegenerateEM),
)
