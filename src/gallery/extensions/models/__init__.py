"""Models of the gallery's section extensions."""
