"""The numbers of graphs and relations that the gallery's text uses."""

from heldout.inputs import Inputs
from heldout.papers.murphy import results_graphs as results
from heldout.papers.murphy.experiments import concepts, memberships, node_features, partitions
from heldout.papers.murphy.experiments.block_graphs import STRUCTURES
from heldout.papers.murphy.manifest_graphs import CONCEPTS, MEMBERSHIPS, PARTITIONS
from heldout.typesetting import latex, over_seeds
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN

SEEN = 3.0  # stated errors within which annealing has to lie of an exact value
ROUNDING = 1e-9  # nats, of values without an error


def _signed(value: float | None, digits: int = 1) -> str:
    return NOT_RUN if value is None else latex.signed(value, digits)


def of_graphs(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    rows = results.block_rows(inputs)
    known = [row for row in rows if row.exact is not None]
    last = known[-1] if known else None
    agree = results.rows(inputs, PARTITIONS, partitions.AGREE)
    agree = agree[agree["topics"] == agree["topics"].max()]
    _, _, names = results.monks(inputs)
    result = {
        "MonksTopics": latex.integer(last.K) if last else NOT_RUN,
        "MonksLikelihood": _signed(last.exact if last else None, 2),
        "MonksJointGap": _signed(last.joint - last.exact if last and last.joint and last.exact else None),
        "MonksProfileGap": _signed(last.profile - last.exact if last and last.profile and last.exact else None),
        "MonksBoundGap": _signed(last.bound - last.exact if last and last.bound and last.exact else None),
        "MonksAgree": f"{latex.integer(agree['value'].iloc[0])} of {len(names)}" if len(agree) else NOT_RUN,
    }
    both = [row for row in known if row.annealed is not None and row.error is not None]
    within = [abs((r.annealed or 0.0) - (r.exact or 0.0)) <= SEEN * (r.error or 0.0) + ROUNDING for r in both]
    result["BlocksWithin"] = f"{sum(within)} of {len(within)}" if within else NOT_RUN
    found = [results.structure(inputs, name) for name in STRUCTURES]
    right = [number == len(one.groups) for one in found for number in one.agree]
    result["StructuresFound"] = f"{sum(right)} of {len(right)}" if right else NOT_RUN
    levels = results.rhos(inputs)
    for name, rho in (("", levels[:1]), ("Robust", levels[1:2])):
        annealed, plugged = (
            results.rows(inputs, MEMBERSHIPS, quantity, smoothing=rho[0] if rho else None).set_index("seed")["value"]
            for quantity in (memberships.ANNEALED_EVIDENCE, memberships.PLUGGED)
        )
        result[f"Mixed{name}Likelihood"] = over_seeds.signed(annealed.tolist(), 1)
        result[f"Mixed{name}Gap"] = over_seeds.signed((plugged - annealed).dropna().tolist(), 1)
    result["MixedRho"] = latex.decimal(levels[-1], 1) if levels else NOT_RUN
    for corpus in results.PUBLISHED:
        eta = results.chosen_eta(inputs, corpus)
        result[f"{corpus.capitalize()}Eta"] = NOT_RUN if eta is None else latex.decimal(eta, 1)
    result["NodeFeaturesGap"] = over_seeds.signed(results.feature_gaps(inputs, node_features.MODEL["concatenation"]), 1)
    eta = results.chosen_eta(inputs, "nations")
    for name, quantity in (("Exact", concepts.FEATURES_EXACT), ("Annealed", concepts.FEATURES_ANNEALED)):
        table = results.rows(inputs, CONCEPTS, quantity)
        own = table[table["smoothing"] == eta]["value"].to_numpy(float)
        result[f"Features{name}"] = _signed(own.mean() if len(own) else None)
        if quantity == concepts.FEATURES_ANNEALED and len(own) > 1:
            result[f"Features{name}"] += rf" \ensuremath{{\pm}} {latex.decimal(own.std(ddof=1) / len(own) ** 0.5, 1)}"
    return result
