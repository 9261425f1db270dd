"""Experiments of the gallery's section undirected."""
