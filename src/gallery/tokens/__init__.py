"""Models of tokens and records (Murphy, 2012, sections 27.2 and 27.3)."""
