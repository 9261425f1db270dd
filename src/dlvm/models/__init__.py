"""Models: one algorithm per file; Topics come out."""
