"""The numbers of Hofmann's experiment that the text uses."""

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.papers.hofmann.results import AXIS, PUBLISHED_PAIRS_RANK, PUBLISHED_RANK, SPEED_UP, TEMPERING
from artifact.typesetting import latex
from artifact.typesetting.macros import Macros, experiment_settings
from heldout.corpora.brown import FEWEST_PAIRS


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    settings = experiment_settings(inputs, TEMPERING)
    result = {
        "InTemperingEarlyPatience": latex.setting(settings.get("early_patience")),
        "HofmannSectionName": "section~3.6",
        "HofmannFigureName": "Figure~5",
        "HofmannAxisFactor": f"{AXIS[-1] / AXIS[0]:.2g}",
        "HofmannPublishedRank": latex.integer(PUBLISHED_RANK),
        "HofmannPublishedPairsRank": latex.integer(PUBLISHED_PAIRS_RANK),
        "HofmannPairsLeast": latex.integer(FEWEST_PAIRS),
        "HofmannSpeedUpLow": f"{SPEED_UP[0]:g}",
        "HofmannSpeedUpHigh": f"{SPEED_UP[1]:g}",
    }
    shares = tuple(settings.get("shares", ())) or (None, None, None)
    for part, share in zip(("Train", "Validation", "Test"), shares, strict=True):
        result[f"Hofmann{part}Share"] = NOT_RUN if share is None else latex.percent(share, 0)
    return result
