"""Evaluators of the gallery's section priors."""
