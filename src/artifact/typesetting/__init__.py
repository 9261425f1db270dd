"""Printing of results and effects: style, LaTeX, and the generated parts of the paper and README."""
