"""The numbers of what is new here: the optimism of folding-in and its repairs, and what libraries report."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from heldout import evaluators
from heldout.evaluators import FULL, LAPLACE, MEAN_FIELD_BOUND
from heldout.inputs import Inputs
from heldout.models import LDA, PLSA
from heldout.papers.likelihood import results
from heldout.papers.likelihood.claims import STATED, VARIATIONAL
from heldout.papers.likelihood.experiments import is_a_probability as probability
from heldout.papers.likelihood.experiments.epca_marginal import ANNEALED
from heldout.papers.likelihood.experiments.peers import GROWING, REPORTED, VALUE
from heldout.papers.likelihood.results import COMPONENTS, FITTED, LIBRARIES, OPTIMISM, PEERS, curve, measured
from heldout.papers.likelihood.tables import large, power_of_ten
from heldout.points import TRUTH, Point, select
from heldout.typesetting import latex
from heldout.typesetting.interpretations import experiment_settings
from heldout.typesetting.macros import Macros
from heldout.verdicts import ESTIMATORS, MODELS, NOT_RUN

TOMOTOPY, GENSIM = "tomotopy", "gensim"
# of the first corpus: perplexities and numbers of topics
MESSAGE = (
    *(f"Message{name}" for name in ("Corpus", "Topics", "DocumentsPerTopic", "Factor", "LdaFactor")),
    *("MessageFactorFitted", "MessageFullPrefers", "MessageTruthPrefers", "MessageTruthPrefersFitted"),
    *("LongestCorpus", "LongestFactor", "LongestTopics"),
)


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    settings = experiment_settings(inputs, OPTIMISM)
    return {
        "RepairWithin": f"{MODELS.value:g}",
        "OptimismConstant": latex.power(settings["smoothing"]) if "smoothing" in settings else NOT_RUN,
        "OptimismLimit": latex.power(settings["limit"]) if "limit" in settings else NOT_RUN,
        **_repair(inputs),
        **_message(inputs),
        **_covers(inputs),
        **_components(inputs),
        **_probability(inputs),
        **_peers(inputs),
    }


def _repair(inputs: Inputs) -> Macros:
    """Return the corpora on which Laplace's method was not run at every number of topics that has a truth."""
    partly = [
        corpus
        for corpus in inputs.settings.corpora
        if any(curve(inputs, corpus, m, TRUTH).keys() - curve(inputs, corpus, m, LAPLACE).keys() for m in (PLSA, LDA))
    ]
    names = latex.listed([latex.corpus_name(corpus) for corpus in partly])
    return {"RepairPartly": names or "no corpus", "IfRepairPartly": "#1" if partly else ""}


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
    most = max(truth)
    result |= {
        "MessageCorpus": latex.corpus_name(corpus),
        "MessageTopics": latex.integer(most),
        "MessageDocumentsPerTopic": latex.decimal(int(inputs.corpus(corpus)["train_documents"]) / most, 1),
        "MessageFactor": latex.decimal(_over(inputs, corpus, PLSA, most), 1),
        "MessageLdaFactor": latex.decimal(_over(inputs, corpus, LDA, most), 1),
        "MessageFactorFitted": latex.decimal(_over(inputs, corpus, PLSA, most, FITTED), 1),
        "MessageFullPrefers": _preferred(full),
        "MessageTruthPrefers": _preferred(truth),
        "MessageTruthPrefersFitted": _preferred(curve(inputs, corpus, PLSA, TRUTH, FITTED)),
        "LongestCorpus": latex.corpus_name(longest),
        "LongestFactor": latex.decimal(_over(inputs, longest, PLSA, max(curve(inputs, longest, PLSA, TRUTH))), 1),
        "LongestTopics": latex.integer(max(curve(inputs, longest, PLSA, TRUTH))),
        "IfLongest": "#1" if longest != corpus else "",
    }
    return result


def _over(inputs: Inputs, corpus: str, model: str, topics: int, prior: str = OPTIMISM) -> float:
    """Return the true perplexity under a prior over that of full folding-in; NaN where one is missing."""
    truth, full = (
        curve(inputs, corpus, model, name, variant).get(topics) for name, variant in ((TRUTH, prior), (FULL, OPTIMISM))
    )
    return math.nan if truth is None or full is None else math.exp(full.value - truth.value)


def _covers(inputs: Inputs) -> Macros:
    """Return what the claim `truth-covers` asks of the stated errors, and their r.m.s. in those."""
    cells = results.calibration(inputs)
    spread = math.sqrt(sum(cell.z**2 for cell in cells) / len(cells)) if cells else math.nan
    return {
        "CoversErrors": f"{STATED:g}",
        "CoversNats": f"{ESTIMATORS.value:g}",
        "CoversSpread": latex.decimal(spread, 2) if cells else NOT_RUN,
    }


def _preferred(points: dict[int, Point]) -> str:
    return latex.integer(max(points, key=lambda k: points[k].value)) if points else NOT_RUN


def _components(inputs: Inputs) -> Macros:
    """Return EPCA's perplexity folded in and by its marginal likelihood, at the most components."""
    names = ("ComponentsMost", "ComponentsFull", "ComponentsTruth")
    if not select(inputs.scores, variant=COMPONENTS)["corpus"].isin(inputs.settings.corpora).any():
        return dict.fromkeys(names, NOT_RUN)
    _, perplexities = results.component_perplexities(inputs)
    most = max(perplexities[ANNEALED])
    values = (latex.perplexity(perplexities[name][most]) for name in (FULL, ANNEALED))
    return dict(zip(names, (latex.integer(most), *values), strict=True))


def _runs(settings: Mapping[str, Any]) -> int | None:
    """Return the runs of annealing on documents that are drawn to tell a probability; None if it was not run."""
    return max(int(settings["samples"]) // probability.FEWER[evaluators.ANNEALED], 1) if "samples" in settings else None


def _probability(inputs: Inputs) -> Macros:
    settings, sums, gaps = (
        experiment_settings(inputs, probability.KIND),
        results.sums_over_documents(inputs),
        results.truth_gaps(inputs),
    )
    excesses = results.excesses(inputs)
    laplace = [excess.over for excess in excesses.get((probability.TRUTH, LAPLACE), ())]
    ends = {"Least": min, "Most": max}
    return {
        "IfProbability": "#1" if excesses else "",
        "ProbabilityChance": latex.power(results.CHANCE),
        "ProbabilityDocuments": latex.setting(settings.get("documents")),
        "ProbabilityTokens": latex.setting(settings.get("sum_tokens")),
        "ProbabilityGapMost": latex.decimal(max(map(abs, gaps.values()))) if gaps else NOT_RUN,
        "ProbabilityRuns": latex.setting(_runs(settings)),
        "ProbabilityLaplaceMost": latex.integer(round(max(laplace))) if laplace else NOT_RUN,
        **{
            f"ProbabilitySum{name}": power_of_ten(end(sums["log_sum"])) if len(sums) else NOT_RUN
            for name, end in ends.items()
        },
    }


def _peers(inputs: Inputs) -> Macros:
    settings, shown = experiment_settings(inputs, PEERS), results.peers_corpora(inputs)
    named = [
        f"{latex.escape(library)}~{latex.escape(text)}" for library, text in results.versions(inputs).items() if text
    ]
    result = {"IfPeers": "#1" if results.libraries(inputs) else "", "PeersVersions": latex.listed(named) or NOT_RUN}
    for name in ("max_iter", "passes", "sweeps"):
        result[f"Peers{latex.camel(name)}"] = latex.setting(settings.get(name))
    ratios: list[float] = []
    loosest: list[str] = []
    for library in LIBRARIES:
        factors, loose = _by_part(inputs, shown, library)
        ratios += factors
        if loose and library in VARIATIONAL:  # what a sampler reports is no bound
            loosest.append(f"{latex.decimal(max(loose), 2)} nats per token for {library}")
    result |= {"PeersLoose": latex.listed(loosest) or NOT_RUN, "IfPeersLoose": "#1" if loosest else ""}
    for name, evaluator in (("True", TRUTH), ("Reported", REPORTED)):
        most = max(
            (
                factor
                for corpus in shown
                for factor in results.factors_between_libraries(inputs, corpus, evaluator).values()
            ),
            default=math.nan,
        )
        result[f"Peers{name}ApartMost"] = large(most) if math.isfinite(most) else NOT_RUN
    flatters = [below for corpus in shown for below in _logs_below(inputs, corpus)]
    result["PeersLogBelow"] = f"{latex.integer(sum(flatters))} of {latex.integer(len(flatters))}"
    result["IfPeersLogBelow"] = "#1" if any(flatters) else ""
    result["PeersReportedOverTrueMost"] = large(math.exp(min(700.0, max(ratios)))) if ratios else NOT_RUN
    beside = [values for values in _beside(inputs, shown) if TOMOTOPY in values and len(values) > 1]
    best = sum(values[TOMOTOPY] == max(values.values()) for values in beside)
    text = f"{latex.integer(best)} of {latex.integer(len(beside))}"
    result |= {"PeersTomotopyBest": text if beside else NOT_RUN, "IfPeersTomotopyBest": "#1" if best else ""}
    return result


def _logs_below(inputs: Inputs, corpus: str) -> list[bool]:
    """Return, by number of topics, whether the perplexity that gensim logs is below its model's own."""
    truth, values = curve(inputs, corpus, GENSIM, TRUTH, PEERS), measured(inputs, corpus, GENSIM, VALUE)
    return [2.0 ** -values[k] < truth[k].perplexity for k in sorted(values.keys() & truth.keys())]


def _by_part(inputs: Inputs, corpora: Sequence[str], library: str) -> tuple[list[float], list[float]]:
    """Return log of reported over true perplexity, and how far the report less its growing term is below mean field."""
    ratios, loose = [], []
    for corpus in corpora:
        names = (REPORTED, TRUTH, MEAN_FIELD_BOUND)
        reported, truth, bound = (curve(inputs, corpus, library, name, PEERS) for name in names)
        growing = measured(inputs, corpus, library, GROWING)
        ratios += [truth[k].value - reported[k].value for k in reported.keys() & truth.keys()]
        both = reported.keys() & growing.keys() & bound.keys()
        loose += [bound[k].value - (reported[k].value - growing[k]) for k in both]
    return ratios, loose


def _beside(inputs: Inputs, corpora: Sequence[str]) -> list[dict[str, float]]:
    """Return the truth by library, nats per token, of every corpus and number of topics."""
    curves = [{library: curve(inputs, corpus, library, TRUTH, PEERS) for library in LIBRARIES} for corpus in corpora]
    return [
        {library: points[k].value for library, points in by_library.items() if k in points}
        for by_library in curves
        for k in sorted(set().union(*by_library.values()))
    ]
