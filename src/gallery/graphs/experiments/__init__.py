"""Experiments of the gallery's section graphs."""
