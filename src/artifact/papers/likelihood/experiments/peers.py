"""The experiment `packages` on the packages of the lock, at few numbers of topics, as every run makes it."""

from artifact.papers.likelihood.experiments.packages import experiment

__all__ = ["experiment"]
