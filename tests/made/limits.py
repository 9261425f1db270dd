"""The one limit of time in the tests: a busy machine is no failure."""

HOUR = 3600  # seconds that a command may take, and a run of Snakemake: what takes longer hangs
