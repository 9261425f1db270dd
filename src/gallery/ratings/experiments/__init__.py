"""Experiments of the gallery's section ratings."""
