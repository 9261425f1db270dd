"""Tables of results: scores, measurements, notes, corpora and timings, written and read."""
