"""Evaluators of the gallery's section extensions."""
