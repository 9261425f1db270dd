"""Undirected models (Murphy, 2012, section 27.7)."""
