"""Models of ratings (Murphy, 2012, sections 27.6.2 and 27.7.3.2)."""
