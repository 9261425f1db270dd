"""Welling et al.'s figures: theirs by number, and those of sections that have none, by subject."""
