"""The experiments on models whose documents have priors of their own in tiny form: their settings and data."""

from pathlib import Path
from typing import Any

import yaml

from heldout.corpora.corpus import Corpus
from heldout.corpora.synthetic import Law, Shape, draw

DEMO = Path(__file__).parents[2] / "workflow" / "studies" / "demo-gallery.yaml"
NAME = "cranfield-like"
EXPERIMENTS = ("covariates", "correlation", "topic-graph", "tags", "ratings", "rating-curves")
MEASURES = yaml.safe_load(DEMO.read_text())["measures"]
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {name: (NAME, MEASURES[name]["settings"]) for name in EXPERIMENTS}
TEST_DOCUMENTS = {NAME: 12}


def corpora() -> dict[str, Corpus]:
    """Return the data that no other experiment has, by name: drawn documents, labelled by their numbers."""
    shape = Shape(train_documents=60, test_documents=12, vocabulary=60, mean_length=25.0)
    return {NAME: draw(NAME, shape, law=Law(topics=5))[0]}
