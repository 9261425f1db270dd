"""Experiments of the gallery's section tokens."""
