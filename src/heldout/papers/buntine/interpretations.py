"""Where Buntine (2009) leaves something open."""

from heldout.typesetting.interpretations import Interpretation

INTERPRETATIONS: tuple[Interpretation, ...] = ()
