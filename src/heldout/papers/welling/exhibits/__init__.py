"""Figures and tables."""
