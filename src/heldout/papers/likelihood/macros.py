"""The numbers of what is new here: the optimism of folding-in and its repairs, and what libraries report."""

import math
from collections.abc import Sequence

from heldout.evaluators import FULL, MEAN_FIELD_BOUND
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED
from heldout.papers.likelihood.experiments.is_a_probability import KIND
from heldout.papers.likelihood.experiments.peers import GROWING, REPORTED
from heldout.papers.likelihood.results import (
    CHANCE,
    COMPONENTS,
    LIBRARIES,
    OPTIMISM,
    PEERS,
    TRUTH,
    apart,
    component_perplexities,
    curve,
    held,
    libraries,
    measured,
    peers_corpora,
    sums_over_documents,
    truth_gaps,
    versions,
)
from heldout.papers.likelihood.tables import large, power_of_ten
from heldout.points import Point, select
from heldout.typesetting import latex
from heldout.typesetting.interpretations import asked
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN, WITHIN

# of the first corpus: perplexities and numbers of topics
MESSAGE = (
    *(f"Message{name}" for name in ("Corpus", "Topics", "Factor", "FewestFactor", "LdaFactor")),
    *("MessageFullPrefers", "MessageTruthPrefers", "LongestCorpus", "LongestFactor", "LongestTopics"),
)
Extreme = tuple[float, int, str]  # value, topics, corpus


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    settings = asked(inputs, OPTIMISM)
    return {
        "RepairWithin": f"{WITHIN:g}",
        "OptimismConstant": latex.power(settings["smoothing"]) if "smoothing" in settings else NOT_RUN,
        "OptimismLimit": latex.power(settings["limit"]) if "limit" in settings else NOT_RUN,
        **_message(inputs),
        **_components(inputs),
        **_probability(inputs),
        **_peers(inputs),
    }


def _message(inputs: Inputs) -> Macros:
    """Return how far folding-in is off on the first corpus that has a truth, and on that of the longest documents."""
    corpora = [corpus for corpus in inputs.settings.corpora if curve(inputs, corpus, PLSA, TRUTH)]
    result = dict.fromkeys(MESSAGE, NOT_RUN)
    result["IfLongest"] = ""
    if not corpora:
        return result
    corpus = corpora[0]
    longest = max(corpora, key=lambda name: float(inputs.corpus(name)["mean_length"]))
    truth, full = (curve(inputs, corpus, PLSA, name) for name in (TRUTH, FULL))
    fewest, most = min(truth), max(truth)
    result |= {
        "MessageCorpus": latex.corpus_name(corpus),
        "MessageTopics": latex.integer(most),
        "MessageFactor": latex.decimal(_over(inputs, corpus, PLSA, most), 1),
        "MessageFewestFactor": latex.decimal(_over(inputs, corpus, PLSA, fewest), 2),
        "MessageLdaFactor": latex.decimal(_over(inputs, corpus, LDA, most), 1),
        "MessageFullPrefers": _preferred(full),
        "MessageTruthPrefers": _preferred(truth),
        "LongestCorpus": latex.corpus_name(longest),
        "LongestFactor": latex.decimal(_over(inputs, longest, PLSA, max(curve(inputs, longest, PLSA, TRUTH))), 1),
        "LongestTopics": latex.integer(max(curve(inputs, longest, PLSA, TRUTH))),
        "IfLongest": "#1" if longest != corpus else "",
    }
    return result


def _over(inputs: Inputs, corpus: str, model: str, topics: int) -> float:
    """Return the true perplexity over that of full folding-in; NaN where one is missing."""
    truth, full = (curve(inputs, corpus, model, name).get(topics) for name in (TRUTH, FULL))
    return math.nan if truth is None or full is None else math.exp(full.value - truth.value)


def _preferred(points: dict[int, Point]) -> str:
    return latex.integer(max(points, key=lambda k: points[k].value)) if points else NOT_RUN


def _components(inputs: Inputs) -> Macros:
    """Return EPCA's perplexity folded in and by its marginal likelihood, at the most components."""
    names = ("ComponentsMost", "ComponentsFull", "ComponentsTruth")
    if not select(inputs.scores, variant=COMPONENTS)["corpus"].isin(inputs.settings.corpora).any():
        return dict.fromkeys(names, NOT_RUN)
    _, perplexities = component_perplexities(inputs)
    most = max(perplexities[ANNEALED])
    values = (latex.perplexity(perplexities[name][most]) for name in (FULL, ANNEALED))
    return dict(zip(names, (latex.integer(most), *values), strict=True))


def _probability(inputs: Inputs) -> Macros:
    settings, sums, gaps = asked(inputs, KIND), sums_over_documents(inputs), truth_gaps(inputs)
    ends = {"Least": min, "Most": max}
    return {
        "IfProbability": "#1" if held(inputs) else "",
        "ProbabilityChance": latex.power(CHANCE),
        "ProbabilityDocuments": latex.setting(settings.get("documents")),
        "ProbabilityTokens": latex.setting(settings.get("sum_tokens")),
        "ProbabilityGapMost": latex.decimal(max(map(abs, gaps))) if gaps else NOT_RUN,
        **{
            f"ProbabilitySum{name}": power_of_ten(end(one.log_sum for one in sums)) if sums else NOT_RUN
            for name, end in ends.items()
        },
    }


def _peers(inputs: Inputs) -> Macros:
    settings, shown = asked(inputs, PEERS), peers_corpora(inputs)
    named = [f"{latex.escape(library)}~{latex.escape(text)}" for library, text in versions(inputs).items() if text]
    result = {"IfPeers": "#1" if libraries(inputs) else "", "PeersVersions": latex.listed(named) or NOT_RUN}
    for name in ("max_iter", "passes", "sweeps", "samples"):
        result[f"Peers{latex.camel(name)}"] = latex.setting(settings.get(name))
    ratios: list[Extreme] = []
    for library in LIBRARIES:
        for part, values in _by_part(inputs, shown, library).items():
            size = _factor if part == "Ratio" else _nats
            ratios += values if part == "Ratio" else []
            for end, extreme in (("Least", min(values, default=None)), ("Most", max(values, default=None))):
                name = f"Peers{latex.camel(library)}{part}{end}"
                result[name] = NOT_RUN if extreme is None else size(extreme[0])
                result[f"{name}Topics"] = NOT_RUN if extreme is None else latex.integer(extreme[1])
                result[f"{name}Corpus"] = NOT_RUN if extreme is None else latex.corpus_name(extreme[2])
    result["PeersReportedOverTrueMost"] = _factor(max(ratios)[0]) if ratios else NOT_RUN
    for library in LIBRARIES:
        beside = [values for values in _beside(inputs, shown) if library in values and len(values) > 1]
        best = sum(values[library] == max(values.values()) for values in beside)
        text = f"{latex.integer(best)} of {latex.integer(len(beside))}"
        result[f"Peers{latex.camel(library)}Best"] = text if beside else NOT_RUN
    for evaluator in (REPORTED, TRUTH):
        factors = [factor for corpus in shown for factor in apart(inputs, corpus, evaluator).values()]
        result[f"Peers{evaluator.capitalize()}ApartMost"] = large(max(factors)) if factors else NOT_RUN
    return result


def _by_part(inputs: Inputs, corpora: Sequence[str], library: str) -> dict[str, list[Extreme]]:
    """Return log of reported over true perplexity, the growing term, and what the mean-field bound gains without it."""
    parts: dict[str, list[Extreme]] = {"Ratio": [], "Term": [], "Loose": []}
    for corpus in corpora:
        names = (REPORTED, TRUTH, MEAN_FIELD_BOUND)
        reported, truth, bound = (curve(inputs, corpus, library, name, PEERS) for name in names)
        growing = measured(inputs, corpus, library, GROWING)
        for k in reported:
            if k in truth:
                parts["Ratio"].append((truth[k].value - reported[k].value, k, corpus))
            if k in growing and k in bound:
                parts["Loose"].append((bound[k].value - (reported[k].value - growing[k]), k, corpus))
        parts["Term"] += [(-value, k, corpus) for k, value in growing.items()]
    return parts


def _beside(inputs: Inputs, corpora: Sequence[str]) -> list[dict[str, float]]:
    """Return the truth by library, nats per token, of every corpus and number of topics."""
    curves = [{library: curve(inputs, corpus, library, TRUTH, PEERS) for library in LIBRARIES} for corpus in corpora]
    return [
        {library: points[k].value for library, points in by_library.items() if k in points}
        for by_library in curves
        for k in sorted(set().union(*by_library.values()))
    ]


def _factor(nats: float) -> str:
    return large(math.exp(min(700.0, nats)))


def _nats(value: float) -> str:
    return latex.decimal(value, 2)
