"""Models of the gallery's section priors."""
