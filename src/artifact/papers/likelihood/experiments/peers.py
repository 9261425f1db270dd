"""The experiment `packages` on the packages of the lock, at few numbers of topics: what every run makes."""

from artifact.papers.likelihood.experiments.packages import experiment

__all__ = ["experiment"]
