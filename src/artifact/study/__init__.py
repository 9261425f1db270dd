"""Studies: their settings, the runs that they ask for, and the steps and jobs that make these."""
