"""Experiments: corpus and settings in, scores and measurements out."""
