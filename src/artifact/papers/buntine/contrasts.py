"""The contrasts of this source."""

from artifact.contrasts.contrast import Contrast

CONTRASTS: tuple[Contrast, ...] = ()
