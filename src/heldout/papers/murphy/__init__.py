"""Murphy (2012), "Machine Learning", chapter 27: latent variable models for discrete data."""

from heldout.manifest import Paper

MURPHY = Paper(name="murphy", source="Murphy (2012)", experiments=("gallery",), optional=("gallery",))
