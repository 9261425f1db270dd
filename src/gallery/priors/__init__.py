"""Models whose documents have priors of their own (Murphy, 2012, section 27.4)."""
