"""Printing of results and verdicts: style, LaTeX, and the generated parts of the paper and README."""
