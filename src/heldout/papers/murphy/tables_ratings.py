"""Tables on ratings: all models on the same new users, and folding in against the likelihood of factorisations."""

from itertools import groupby

from heldout.inputs import Inputs
from heldout.papers.murphy import results_ratings as results
from heldout.papers.murphy.experiments import ratings as of
from heldout.typesetting import latex

LEAST_ERROR = 1e-4  # nats per rating: a smaller one is rounded up to it


def models(inputs: Inputs) -> str:
    """Return the models of ratings by K: usual score, log density, likelihood of the ratings, error of predictions."""
    rows: list[latex.TableRow] = []
    for model, of_model in groupby(results.table(inputs), lambda row: row.model):
        shown = [results.LABELS[model], results.USUAL_SCORES.get(model, latex.DASH)]
        for row in of_model:
            error = rf" \ensuremath{{\pm}} {max(row.error, LEAST_ERROR):.4f}" if row.error else ""
            numbers = [_signed(row.usual), _signed(row.density), f"{_signed(row.likelihood)}{error}"]
            rows.append([shown[0], latex.integer(row.topics), shown[1], *numbers, latex.decimal(row.rmse, 3)])
            shown = ["", ""]
    head = r"model & $K$ & usual score & its value & log density & likelihood & r.m.s. error\\"
    return latex.tabular(inputs, "@{}lrlrrrr@{}", head, rows)


def folding_in(inputs: Inputs) -> str:
    """Return what full and half folding-in say of matrix factorisation, and the likelihood, by K and training."""
    rows: list[latex.TableRow] = []
    for row in results.foldings(inputs):
        values = (row.full, row.likelihood, row.optimism, row.half, row.completion)
        trained = "points" if row.model == of.PMF_POINT else "exact EM"
        rows.append([latex.integer(row.topics), trained, *map(_signed, values)])
    head = r"$K$ & trained by & full & likelihood & gap & half & likelihood\\"
    return latex.tabular(inputs, "@{}rlrrrrr@{}", head, rows)


def _signed(value: float | None) -> str:
    return latex.DASH if value is None else latex.signed(value, 3)
