"""Evaluators of the gallery's section graphs."""
