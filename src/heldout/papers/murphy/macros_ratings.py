"""The numbers of the gallery's text on ratings."""

from heldout.evaluators import FULL
from heldout.inputs import Inputs
from heldout.papers.murphy import results_ratings as results
from heldout.papers.murphy.experiments import rating_curves as curves
from heldout.papers.murphy.experiments import ratings as of
from heldout.papers.murphy.gaps import gaps
from heldout.points import select
from heldout.typesetting import latex, over_seeds
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN


def of_ratings(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    point, em = ([row for row in results.foldings(inputs) if row.model == model] for model in (of.PMF_POINT, of.PMF_EM))
    result: Macros = {}
    for name, rows in (("Point", point), ("Em", em)):
        for end, index in (("Fewest", 0), ("Most", -1)):
            own = select(inputs.scores, variant=results.RATINGS, model=rows[index].model) if rows else inputs.scores
            at = select(own, topics=rows[index].topics) if rows else own.iloc[:0]
            result[f"RatingOptimism{name}{end}"] = over_seeds.signed(gaps(at, FULL), 3)
    result["RatingFewest"] = latex.integer(point[0].topics) if point else NOT_RUN
    result["RatingMost"] = latex.integer(point[-1].topics) if point else NOT_RUN
    dropped = results.measured(inputs, results.RATINGS, of.DROPPED, of.CD)
    most = dropped[dropped["topics"] == dropped["topics"].max()]
    result["RatingDropped"] = over_seeds.signed(most["value"].tolist(), 4)
    svd = results.curve(inputs, curves.SVD, curves.PASS)
    best = min(svd, key=lambda at: svd[at], default=0)
    result["RatingBestPass"] = latex.integer(best) if best else NOT_RUN
    result["RatingPasses"] = latex.integer(max(svd)) if svd else NOT_RUN
    result["RatingFactors"] = _factors(inputs)
    return result


def _factors(inputs: Inputs) -> str:
    rows = results.measured(inputs, results.CURVES, of.RMSE, curves.SVD, curves.PASS)
    return latex.integer(rows["topics"].iloc[0]) if len(rows) else NOT_RUN
