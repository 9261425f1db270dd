"""Models of the gallery's section undirected."""
