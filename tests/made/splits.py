"""Inputs with every row once more, of other seeds: one split decides nothing."""

from dataclasses import replace

import pandas as pd

from heldout.inputs import Inputs


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
