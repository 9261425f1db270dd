"""Evaluators of the gallery's section ratings."""
