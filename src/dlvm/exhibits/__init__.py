"""Exhibits: one file per figure or table family; scores go in, a figure or LaTeX comes out."""
