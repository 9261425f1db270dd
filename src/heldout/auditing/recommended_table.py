"""The paper's table of what `heldout recommend` names first; a manifest names this module, so no paper imports it."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from heldout.auditing.precision_table import Table, errors_in, read_table
from heldout.auditing.recommend import nats, recommend
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS
from heldout.evaluators.prior_names import parameter
from heldout.inputs import Inputs
from heldout.papers.likelihood.results import WANTED, Panel, precision_panels
from heldout.typesetting import latex

if TYPE_CHECKING:
    import pandas as pd


def render(inputs: Inputs) -> str:
    """Return the first estimator with its samples, time and error, by prior, number of topics and length.

    Errors are this study's measurements, times those that travel with the package.

    Raises:
        InputError: if precision was not measured.
    """
    panels = precision_panels(inputs)
    table = Table(errors_in(_records(inputs.measurements)), read_table().milliseconds)
    head = r"prior of $\theta$ & $K$ & tokens & estimator & samples & ms/document & error, \%\\"
    return latex.tabular(inputs, "@{}lrrlrrr@{}", head, (_row(panel, table) for panel in panels))


def _records(measurements: "pd.DataFrame | None") -> Iterator[dict[str, str]]:
    """Return the first seed's measurements of precision as `precision_table` reads them from a file."""
    from heldout.papers.likelihood.experiments.precision import NONE, VARIANT

    assert measurements is not None  # it has panels
    rows = measurements[(measurements["corpus"] == NONE) & measurements["variant"].str.contains(VARIANT, regex=False)]
    first = rows[rows["seed"] == rows["seed"].min()]
    yield from first.astype(str).to_dict("records")


def _row(panel: Panel, table: Table) -> list[str]:
    kind, _, value = panel.prior.rpartition("-")
    prior = f"$\\alpha_k = {value}" + ("$" if kind == "alpha" else "/K$")
    names = [prior, latex.integer(panel.topics), latex.integer(panel.tokens)]
    wanted = nats(WANTED, panel.tokens)
    try:
        alpha = parameter(panel.prior, panel.topics)
        best = recommend(panel.topics, panel.tokens, wanted, alpha=alpha, table=table)
    except InputError:  # a size that was not timed
        return [*names, "none was timed", *[latex.DASH] * 3]
    return [
        *names,
        ("" if best.reached else "nearest: ") + latex.escape(ESTIMATORS[best.estimator].label),
        latex.integer(best.samples) if best.samples else latex.DASH,
        f"{1000.0 * best.seconds:.2g}",
        latex.decimal(100.0 * math.expm1(best.standard_error / panel.tokens), 2),
    ]
