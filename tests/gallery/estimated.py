"""The effects of the gallery's contrasts on some inputs, by corpus and part."""

from artifact.contrasts.effect import Effect
from artifact.contrasts.estimates import effects
from artifact.contrasts.inputs import Inputs
from gallery.contrasts import CONTRASTS


def estimated(name: str, given: Inputs) -> dict[tuple[str, str], Effect]:
    """Return the effects of a contrast."""
    (contrast,) = (contrast for contrast in CONTRASTS if contrast.name == name)
    return {(effect.corpus, effect.part): effect for effect in effects(contrast, given)}


def means(name: str, given: Inputs) -> dict[str, float]:
    """Return the estimates of a contrast on one corpus by part."""
    return {part: effect.estimate for (_, part), effect in estimated(name, given).items()}
