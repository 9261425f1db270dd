"""Experiments of the gallery's section priors."""
