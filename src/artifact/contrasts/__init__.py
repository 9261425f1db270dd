"""Contrasts of the papers: two sides of a comparison, the effect of one less the other, and its interval."""
