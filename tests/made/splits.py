"""Inputs with every row once more, of other seeds: one split decides nothing; and with groups of documents."""

from dataclasses import replace

import numpy as np
import pandas as pd

from artifact.contrasts.inputs import Inputs
from artifact.results.scores import GROUPS, NATS_COLUMNS, TOKENS_COLUMNS


def on_two_splits(given: Inputs) -> Inputs:
    """Return the inputs with every score and measurement once more, under another seed."""
    tables = {name: getattr(given, name) for name in ("scores", "measurements")}
    return replace(
        given,
        **{
            name: pd.concat([table, table.assign(seed=table["seed"] + 10)], ignore_index=True)
            for name, table in tables.items()
            if table is not None
        },
    )


def with_groups(given: Inputs) -> Inputs:
    """Return the inputs with groups of documents: as many tokens each, and nats that add up to the scores'."""
    scores = given.scores
    tokens = np.repeat(scores[["tokens"]].to_numpy(float) / GROUPS, GROUPS, axis=1)
    noise = np.random.default_rng(0).standard_normal(tokens.shape)
    nats = scores[["log_likelihood"]].to_numpy(float) / GROUPS + noise - noise.mean(axis=1, keepdims=True)
    groups = np.concatenate([tokens, nats], axis=1)
    return replace(given, scores=scores.join(pd.DataFrame(groups, scores.index, [*TOKENS_COLUMNS, *NATS_COLUMNS])))
