"""LDA's extensions (Murphy, 2012, sections 27.4 and 27.5.3)."""
