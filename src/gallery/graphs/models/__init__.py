"""Models of the gallery's section graphs."""
