"""The contrasts of the gallery."""

from artifact.contrasts.contrast import Contrast

CONTRASTS: tuple[Contrast, ...] = ()
