"""Models of graphs and relations (Murphy, 2012, sections 27.5 and 27.6.1)."""
