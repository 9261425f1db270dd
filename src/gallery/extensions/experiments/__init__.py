"""Experiments of the gallery's section extensions."""
