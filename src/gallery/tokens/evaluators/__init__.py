"""Evaluators of the gallery's section tokens."""
