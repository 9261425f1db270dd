"""Studies: what one may say, the runs that it asks for, and the steps and jobs that make them."""
