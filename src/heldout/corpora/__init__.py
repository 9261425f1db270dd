"""Corpora: one file per source format; a Corpus comes out."""
