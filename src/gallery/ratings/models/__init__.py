"""Models of the gallery's section ratings."""
