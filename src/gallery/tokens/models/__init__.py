"""Models of the gallery's section tokens."""
