"""Measurements: what is measured beside test-set scores; `Score` and `Measurement` rows come out.

A measurement's module offers `measure(corpus, *, seed, test_documents, **settings)`, or, where it reads trained topics,
`measure(corpus, *, chains, model, variant, fold_in, seed, test_documents, **settings)`, and returns scores and
measurements. One that draws its own documents gets None for a corpus; one that trains its own models may ask for
`topics`, the job's K, for `model`, where it knows several, and on a corpus drawn from known topics for these as
`truth`. To add one, add its file and its name here.
"""

import importlib
from collections.abc import Sequence
from functools import partial
from typing import Any

from dlvm.corpora.corpus import Corpus
from dlvm.errors import InputError
from dlvm.experiment import FOLDED_IN, Trained, check_settings, model_module
from dlvm.measurements import Measurement
from dlvm.scores import Score

MEASURES = (
    "point-posteriors",
    "discrete-latents",
    "bounds",
    "normalisers",
    "normaliser-limits",
    "convergence",
    "calibration",
    "convergence-to-exact",
    "optimism",
    "bidirectional",
    "epca-marginal",
    "model-selection",
    "latent-semantic-analysis",
    "tempering",
    "precision",
    "peers",
)


def measure(
    kind: str,
    corpus: Corpus | None,
    chains: Sequence[Trained],
    model: str,
    *,
    topics: int = 0,
    seed: int,
    test_documents: int,
    settings: dict[str, Any],
    fold_in_settings: dict[str, Any],
) -> tuple[list[Score], list[Measurement]]:
    """Run one measurement; its scores have its own name as their variant.

    Args:
        kind: the measurement's name, such as "bounds".
        corpus: all documents; None where the measurement draws its own.
        chains: the topics that it reads, one per chain; none where it trains its own models.
        model: the model that they are of, or that it trains; "none" where there are none, or where they are the
            corpus's true topics.
        topics: K of the models that it trains; 0 where it has its own.
        seed: names the split and the draws.
        test_documents: how many documents are held out.
        settings: the measurement's settings.
        fold_in_settings: the model's fold-in settings.

    Raises:
        InputError: for an unknown measurement, or settings that it does not take.
    """
    if kind not in MEASURES:
        raise InputError(f"there is no measurement {kind}; there are {', '.join(MEASURES)}")
    function = importlib.import_module(f"dlvm.measures.{kind.replace('-', '_')}").measure
    given: dict[str, Any] = {"seed": seed, "test_documents": test_documents}
    if not chains and topics:
        given |= {"topics": topics} if model == "none" else {"topics": topics, "model": model}
    elif chains and model == "none":
        given |= {"topics": topics, "truth": chains[0]}
    elif chains:
        fold_in = model_module(model).fold_in
        check_settings(fold_in, fold_in_settings, f"{model}: folding in", FOLDED_IN)
        folding = partial(fold_in, seed=seed, **fold_in_settings)
        given |= {"chains": chains, "model": model, "variant": kind, "fold_in": folding}
    check_settings(function, settings, kind, ("corpus", *given))
    found: tuple[list[Score], list[Measurement]] = function(corpus, **given, **settings)
    return found
