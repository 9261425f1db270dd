"""Welling et al.'s figures by number, and figures on their sections without one by subject."""
