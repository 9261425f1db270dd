"""Measurements: what is measured beside test-set scores; `Measurement` rows come out."""
