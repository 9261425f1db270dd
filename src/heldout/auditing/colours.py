"""The colours of pages and their figures, and of the same numbers wherever else they are drawn."""

from heldout.evaluators import FULL, HALF, MEAN_FIELD_BOUND

INK, SOFT, LINES, PAGE = "#000000", "#5C5C5C", "#DEDEDE", "#FFFFFF"
REPORTED_COLOUR = "#CC3311"  # a library's own number; Tol's red
SCORE_COLOURS = {FULL: "#A3123A", HALF: "#8A6A00", MEAN_FIELD_BOUND: "#46A453"}
