"""From results and verdicts to print: style, LaTeX, and the parts of the paper and README that are generated."""
