"""Latent variable models for discrete data (Murphy, 2012, chapter 27), section by section."""
