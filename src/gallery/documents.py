"""The manifest of the gallery: Murphy (2012), "Machine Learning", chapter 27, section by section.

A section is a folder with its models and evaluators, `spec` (settings and manifest), `experiments`, `science` (results
and contrasts) and `exhibits`. `artifact.papers` finds the documents of the packages beside it in their files
`documents.py`.
"""

from dataclasses import replace
from types import ModuleType
from typing import Any

from artifact.study.manifest import Exhibit, Paper
from gallery.extensions import spec as extensions
from gallery.graphs import spec as graphs
from gallery.priors import spec as priors
from gallery.ratings import spec as ratings
from gallery.tokens import spec as tokens
from gallery.undirected import spec as undirected

SECTIONS = (tokens, undirected, ratings, priors, graphs, extensions)
# experiments of the opening table, and of the opening figure, in its order
OPENING = ("gallery", "records")
WITH_GAPS = (
    *(*OPENING, "correlation", "covariates", "dynamics", "lda-hmm", "slda", "disclda", "tags", "rtm", "ratings"),
    *("boltzmann", "partitions"),
)


def _placed(section: ModuleType, listed: dict[str, Any]) -> dict[str, Any]:
    """Return the experiments or exhibits of a section with the name of its package."""
    package = section.__name__.rpartition(".")[0]
    return {name: replace(one, package=package) for name, one in listed.items()}


_EXPERIMENTS = {name: one for section in SECTIONS for name, one in _placed(section, section.EXPERIMENTS).items()}
MURPHY = Paper(
    module=__package__,
    source="Murphy (2012)",
    experiments=_EXPERIMENTS,
    optional=tuple(_EXPERIMENTS),
    exhibits={
        "table-datasets": Exhibit("the gallery's data sets", "exhibits.datasets"),
        "figure-gallery": Exhibit("gaps between usual scores and likelihoods", "exhibits.opening", WITH_GAPS),
        "figure-graphical-models": Exhibit(
            "graphical models of the chapter's figures and of the gallery", "plates.graphical_models"
        ),
        "table-gallery": Exhibit("usual scores and likelihoods of the models", "exhibits.opening_table", OPENING),
        **{name: one for section in SECTIONS for name, one in _placed(section, section.EXHIBITS).items()},
        "table-misprints": Exhibit("misprints of the chapter", "exhibits.misprints"),
    },
)
DOCUMENTS = {"gallery": (MURPHY,)}
