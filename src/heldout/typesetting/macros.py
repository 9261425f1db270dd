"""Every number that the paper's prose uses, as LaTeX macros; the prose itself holds none."""

import math
import statistics
from collections.abc import Sequence

from heldout.corpora.realistic import SOURCES, TEST_DOCUMENTS, TRAINING_DOCUMENTS
from heldout.evaluators import FOLDING_IN, FULL
from heldout.inputs import Inputs
from heldout.models import EPCA, LDA, PLSA, TEM
from heldout.papers.hofmann.exhibits import hofmann
from heldout.papers.likelihood.claims import WITHIN
from heldout.papers.likelihood.exhibits import peers
from heldout.papers.welling.exhibits.curves import (
    Curve,
    Steps,
    best,
    curves,
    ends_above_its_lowest,
    in_words,
    spread,
    steps,
    study_curves,
)
from heldout.study import SECOND_READING
from heldout.typesetting import latex
from heldout.typesetting.exhibits import exhibits
from heldout.typesetting.interpretations import fold_in_end, train_end

POSITIONS = ("One", "Two", "Three")
SIDES = {evaluator: "Full" if evaluator == FULL else "Half" for evaluator in FOLDING_IN}
NOT_RUN = "not run"
PANELS = {"plsa_versions": "versions", "comparison_curves": "comparison"}  # what the figures of one corpus are called
ORIGINAL_CORPORA = {"cranfield", "medline", "nips"}

# settings that the prose names: a study without one of them says "not set"
REQUIRED_SETTINGS = (
    (LDA, "train", "alpha_sum"),
    (LDA, "train", "beta"),
    (LDA, "train", "sweeps"),
    (LDA, "train", "chains"),
    (LDA, "fold_in", "sweeps"),
    (EPCA, "train", "penalty"),
    (EPCA, "train", "iterations"),
    (EPCA, "train", "tolerance"),
    (EPCA, "fold_in", "iterations"),
    (EPCA, "fold_in", "tolerance"),
    (EPCA, "fold_in", "ridge"),
)

Macros = dict[str, str]


def render(inputs: Inputs) -> str:
    r"""Return one `\newcommand` per line."""
    return "".join(latex.macro(name, value) + "\n" for name, value in macros(inputs).items())


def macros(inputs: Inputs) -> Macros:
    """Return all macros by name; the same names for every study, as far as its corpora go."""
    result = {**_study(inputs), **_settings(inputs)}
    totals: dict[str, Steps] = {}
    for position, corpus in zip(POSITIONS, inputs.settings.corpora, strict=False):
        result |= {f"Corpus{position}{name}": value for name, value in _corpus(inputs, corpus, totals).items()}
        for name, exhibit in exhibits(inputs.papers, inputs.study).items():
            if exhibit.corpus == POSITIONS.index(position):
                kind = PANELS.get(exhibit.module.rpartition(".")[2], exhibit.function)
                result[f"Corpus{position}{latex.camel(kind)}"] = name
                result[f"Corpus{position}{latex.camel(kind)}Original"] = exhibit.original.replace(" ", "~")
    none = Steps(0, 0, 0)
    result["AllFullVerdict"] = _falls(totals.get("full", none))
    result["AllFullSecondVerdict"] = _falls(totals.get("full second", none))
    result["AllHalfVerdict"] = _rises(totals.get("half", none))
    result["AllHalfSmallestVerdict"] = _rises(totals.get("half smallest", none))
    for side in SIDES.values():
        below = totals.get(f"lda {side}", none)
        result[f"AllLda{side}Verdict"] = in_words("lies lower", below.falls, below.total, "points")
    result |= _beyond(inputs) | _claims(inputs) | _convergence(inputs) | _realistic(inputs)
    return result | hofmann.macros(inputs) | peers.macros(inputs)


VERBS = {"holds": "holds", "fails": "fails", "mixed": "holds in part", "not run": "was not tested"}


def _claims(inputs: Inputs) -> Macros:
    """Return each claim's verdict as a verb, the share of comparisons that agree, and the effect's size."""
    result = {}
    for claim in inputs.verdicts:
        finding = claim.finding
        name = f"Claim{latex.camel(claim.name)}"
        result[f"{name}Verdict"] = VERBS[finding.verdict]
        result[f"{name}Share"] = f"{latex.integer(finding.agreeing)} of {latex.integer(finding.comparisons)}"
        result[f"{name}Effect"] = latex.escape(finding.effect) or NOT_RUN
    return result


def _convergence(inputs: Inputs) -> Macros:
    """Return where the Gibbs sampler's chains agree, and how much they still drift, over corpora, topics and seeds."""
    rows = [] if inputs.measurements is None else inputs.measurements.to_dict("records")
    found = [row for row in rows if row["quantity"] == "r-hat"]
    drifts = [abs(float(row["value"])) for row in rows if row["quantity"] == "drift" and math.isfinite(row["value"])]
    result = dict.fromkeys(("RhatMedian", "RhatLargest", "RhatLargestCorpus", "RhatLargestTopics"), NOT_RUN)
    result |= dict.fromkeys(("DriftMedian", "DriftLargest"), NOT_RUN)
    if found:
        worst = max(found, key=lambda row: float(row["value"]))
        result["RhatMedian"] = latex.decimal(statistics.median(float(row["value"]) for row in found), 2)
        result["RhatLargest"] = latex.decimal(worst["value"], 2)
        result["RhatLargestCorpus"] = latex.corpus_name(str(worst["corpus"]))
        result["RhatLargestTopics"] = latex.integer(worst["topics"])
    if drifts:
        result["DriftMedian"] = latex.decimal(statistics.median(drifts))
        result["DriftLargest"] = latex.decimal(max(drifts))
    return result


def _realistic(inputs: Inputs) -> Macros:
    """Return the sizes of the corpora that are drawn from trained models, beside the original's, and of `optimism`."""
    realistic = inputs.study.get("realistic", {})
    selection = inputs.study.get("measures", {}).get("model-selection", {}).get("settings", {})
    optimism = inputs.study.get("measures", {}).get("optimism", {}).get("settings", {})
    names, sizes = exhibits(inputs.papers, inputs.study), selection.get("training_documents", ())
    figures = {"Ten": "figure-realistic-10", "Forty": "figure-realistic-40", "Selection": "figure-realistic-selection"}
    return {f"IfRealistic{name}": "#1" if figure in names else "" for name, figure in figures.items()} | {
        "RealisticSourceName": latex.corpus_name(str(realistic.get("source", ""))) or NOT_RUN,
        "RealisticDocuments": latex.integer(realistic.get("documents", 0)),
        "RealisticMeanLength": latex.integer(realistic.get("mean_length", 0)),
        "RealisticSmallVocabulary": latex.integer(SOURCES["s10s"].vocabulary),
        "RealisticTestDocuments": latex.integer(realistic.get("test_documents", 0)),
        "RealisticTraining": latex.listed([latex.integer(size) for size in sizes]) or NOT_RUN,
        "RealisticChains": latex.integer(selection.get("chains", 0)),
        "RealisticPublishedTraining": latex.listed([latex.integer(size) for size in TRAINING_DOCUMENTS]),
        "RealisticPublishedTestDocuments": latex.integer(TEST_DOCUMENTS),
        "RepairWithin": f"{WITHIN:g}",
        "OptimismConstant": latex.power(optimism["smoothing"]) if "smoothing" in optimism else NOT_RUN,
        "OptimismLimit": latex.power(optimism["limit"]) if "limit" in optimism else NOT_RUN,
    }


def _study(inputs: Inputs) -> Macros:
    settings = inputs.settings
    shown = settings.corpora[: len(POSITIONS)]
    topics, constants = settings.topics, settings.smoothing
    synthetic = inputs.synthetic()
    original = not synthetic and set(shown) <= ORIGINAL_CORPORA
    notice = r" \textbf{Synthetic data, drawn from a known model.}" if synthetic else ""
    option = (
        "" if settings.name == "paper" else rf" -{{}}-configfile workflow/studies/{latex.escape(settings.name)}.yaml"
    )
    return {
        "StudyName": latex.escape(settings.name),
        "StudyOption": option,
        "SyntheticNotice": notice,
        "IfSynthetic": "#1" if synthetic else "",
        "IfOriginal": "#1" if original else "",
        "IfOther": "" if original or synthetic else "#1",
        "IfSecond": "#1" if settings.second_reading_seeds else "",
        "Commit": rf"\texttt{{{latex.escape(inputs.commit[:12])}}}"
        if inputs.commit
        else "none (not under version control)",
        "CommitDate": latex.escape(inputs.date) or "no date",
        "Versions": latex.listed([f"{latex.escape(n)}~{latex.escape(v)}" for n, v in inputs.versions.items()])
        or "not recorded",
        "Version": latex.escape(inputs.versions.get("heldout", "")) or "not recorded",
        "CorporaCount": latex.integer(len(shown)),
        "CorporaNames": latex.listed([latex.corpus_name(corpus) for corpus in shown]),
        "TopicsSmallest": latex.integer(topics[0]),
        "TopicsLargest": latex.integer(topics[-1]),
        "TopicsCount": latex.integer(len(topics)),
        "SmoothingSmallest": latex.power(constants[0]),
        "SmoothingLargest": latex.power(constants[-1]),
        "SmoothingCount": latex.integer(len(constants)),
        "SeedsCount": latex.integer(len(settings.seeds)),
        "SecondSeedsCount": latex.integer(len(settings.second_reading_seeds)),
        "SeedsInWords": _count(len(settings.seeds), "seed"),
        "SecondSeedsInWords": _count(len(settings.second_reading_seeds), "seed"),
        "BandsInWords": _bands(len(settings.seeds)),
        "SecondBandsInWords": _bands(len(settings.second_reading_seeds)),
        "BeyondBandsInWords": _bands(len(settings.beyond_seeds)),
        "TemperedSeedsInWords": _count(len(settings.seeds_of(TEM)), "seed"),
        "TemperedConstants": latex.integer(len(settings.study["models"].get(TEM, {}).get("smoothing", ()))),
        "TemperedBetas": _betas(settings.swept_variants(TEM)),
        "EpcaTopicsLargest": latex.integer(settings.topics_of(EPCA)[-1]),
        "AlternativesCorpus": latex.corpus_name(settings.alternatives_corpus) or "no corpus",
        "AlternativesTopics": latex.listed([latex.integer(k) for k in settings.alternative_topics]) or "no number of",
        "AlternativesSeeds": _count(len(settings.alternative_seeds), "seed"),
        "PlsaTrainEnd": train_end(settings),
        "PlsaFoldInEnd": fold_in_end(settings),
        "ForEachCorpus": "".join(rf"#1{{{p}}}" for p, _ in zip(POSITIONS, shown, strict=False)),
    }


def _betas(variants: Sequence[str]) -> str:
    betas = [variant.rpartition("-")[2] for variant in variants]
    return f"{len(betas)} values from {betas[0]} to {betas[-1]}" if betas else NOT_RUN


def _settings(inputs: Inputs) -> Macros:
    result = {latex.camel(*key): "not set" for key in REQUIRED_SETTINGS}
    for model, part, name, value in inputs.settings.all_settings():
        result[latex.camel(model, part, name)] = latex.setting(value)
    return result


def _corpus(inputs: Inputs, corpus: str, totals: dict[str, Steps]) -> Macros:
    row = inputs.corpus(corpus)
    result = {
        "Name": latex.corpus_name(corpus),
        "Notice": r" \textbf{Synthetic data, drawn from a known model.}" if inputs.synthetic(corpus) else "",
        "Train": latex.integer(row["train_documents"]),
        "Test": latex.integer(row["test_documents"]),
        "Vocabulary": latex.integer(row["vocabulary"]),
        "MeanLength": latex.decimal(row["mean_length"]),
        "PublishedVocabulary": latex.integer(row["published_vocabulary"]),
        "PublishedMeanLength": latex.decimal(row["published_mean_length"]),
        "VocabularyDifference": latex.signed_percent(latex.difference(row["vocabulary"], row["published_vocabulary"])),
        "MeanLengthDifference": latex.signed_percent(
            latex.difference(row["mean_length"], row["published_mean_length"])
        ),
    }
    found = {evaluator: study_curves(inputs, corpus, PLSA, evaluator) for evaluator in FOLDING_IN}
    second = {evaluator: study_curves(inputs, corpus, PLSA, evaluator, SECOND_READING) for evaluator in FOLDING_IN}
    lda = {evaluator: study_curves(inputs, corpus, LDA, evaluator) for evaluator in FOLDING_IN}
    full, half = (found[evaluator] for evaluator in FOLDING_IN)
    counted = {
        "full": steps(full),
        "full second": steps(second[FULL]),
        "half": steps(half),
        "half smallest": steps(half[:1]),
    }
    result["FullVerdict"] = _falls(counted["full"])
    result["FullSecondVerdict"] = _falls(counted["full second"])
    result["HalfVerdict"] = _rises(counted["half"])
    result["HalfSmallestVerdict"] = _rises(counted["half smallest"])
    for evaluator, side in SIDES.items():
        turned = sum(ends_above_its_lowest(curve) for curve in found[evaluator])
        result[f"{side}Turns"] = _of(turned, len(found[evaluator]))
        result |= _one_curve(f"{side}Smallest", found[evaluator][0] if found[evaluator] else None)
        result |= _one_curve(f"{side}Best", best(found[evaluator]))
        result |= _one_curve(f"{side}Lda", best(lda[evaluator]))
        below = _below(best(lda[evaluator]), best(found[evaluator]))
        counted[f"lda {side}"] = below
        result[f"Lda{side}Verdict"] = in_words("lies lower", below.falls, below.total, "points")
    result |= _gap(full, best(half))
    for name, count in counted.items():
        totals[name] = totals.get(name, Steps(0, 0, 0)) + count
    return result


def _one_curve(prefix: str, curve: Curve | None) -> Macros:
    """Return where a curve starts, ends and is lowest; "not run" where there is none."""
    if curve is None:
        parts = ("Constant", "First", "Last", "Lowest", "LowestTopics", "Factor", "Spread")
        return {f"{prefix}{part}": NOT_RUN for part in parts}
    lowest = curve.lowest()
    last = curve.means[-1]
    factor = last / lowest.perplexity
    return {
        f"{prefix}Constant": latex.power(curve.smoothing),
        f"{prefix}First": latex.perplexity(curve.means[0]),
        f"{prefix}Last": latex.perplexity(last),
        f"{prefix}Lowest": latex.perplexity(lowest.perplexity),
        f"{prefix}LowestTopics": latex.integer(lowest.topics),
        f"{prefix}Factor": latex.decimal(factor, 2) if math.isfinite(factor) else r"\ensuremath{\infty}",
        f"{prefix}Spread": latex.percent(spread(curve)) if math.isfinite(spread(curve)) else NOT_RUN,
    }


def _gap(full: Sequence[Curve], half: Curve | None) -> Macros:
    """Return half over full folding-in at both ends of the grid, under the constant that suits half folding-in best."""
    same = None if half is None else next((curve for curve in full if curve.smoothing == half.smoothing), None)
    if half is None or same is None:
        return {"GapFirst": NOT_RUN, "GapLast": NOT_RUN, "GapConstant": NOT_RUN}
    return {
        "GapFirst": latex.decimal(half.means[0] / same.means[0], 2),
        "GapLast": latex.decimal(half.means[-1] / same.means[-1], 2),
        "GapConstant": latex.power(half.smoothing),
    }


def _below(one: Curve | None, other: Curve | None) -> Steps:
    """Count the numbers of topics at which one mean curve lies below ("falls") and above ("rises") another."""
    if one is None or other is None:
        return Steps(0, 0, 0)
    shared = sorted(set(one.topics) & set(other.topics))
    differences = [one.mean(k) - other.mean(k) for k in shared]
    return Steps(sum(d < 0.0 for d in differences), sum(d > 0.0 for d in differences), len(shared))


def _beyond(inputs: Inputs) -> Macros:
    """Return what happens between the last number of topics within the vocabulary and the largest beyond it."""
    settings = inputs.settings
    corpus = settings.beyond_corpus
    names = (
        "Vocabulary",
        "From",
        "To",
        "FullFrom",
        "FullTo",
        "HalfFrom",
        "HalfTo",
        "Constant",
        "FullFalls",
        "HalfRises",
    )
    result = {f"Beyond{name}": NOT_RUN for name in names} | {"BeyondCorpus": latex.corpus_name(corpus), "IfBeyond": ""}
    if not corpus:
        return result
    vocabulary = int(inputs.corpus(corpus)["vocabulary"])
    grid = sorted({*settings.topics, *settings.beyond_topics})
    within, beyond = [k for k in grid if k <= vocabulary], [k for k in grid if k > vocabulary]
    if not within or not beyond:
        return result
    ends = (within[-1], beyond[-1])
    full, half = (
        [
            curve
            for curve in curves(
                inputs.scores,
                corpus=corpus,
                model=PLSA,
                variant=settings.variant(PLSA),
                evaluator=evaluator,
                topics=ends,
                seeds=settings.beyond_seeds,
            )
            if curve.topics == ends
        ]
        for evaluator in FOLDING_IN
    )
    chosen = best(half)
    same = next((curve for curve in full if chosen is not None and curve.smoothing == chosen.smoothing), None)
    if chosen is None or same is None:
        return result
    return result | {
        "IfBeyond": "#1",
        "BeyondVocabulary": latex.integer(vocabulary),
        "BeyondFrom": latex.integer(ends[0]),
        "BeyondTo": latex.integer(ends[1]),
        "BeyondConstant": latex.power(chosen.smoothing),
        "BeyondFullFrom": latex.perplexity(same.means[0]),
        "BeyondFullTo": latex.perplexity(same.means[1]),
        "BeyondHalfFrom": latex.perplexity(chosen.means[0]),
        "BeyondHalfTo": latex.perplexity(chosen.means[1]),
        "BeyondFullFalls": _of(sum(curve.means[1] < curve.means[0] for curve in full), len(full)),
        "BeyondHalfRises": _of(sum(curve.means[1] > curve.means[0] for curve in half), len(half)),
    }


def _falls(count: Steps) -> str:
    return in_words("falls", count.falls, count.total)


def _rises(count: Steps) -> str:
    return in_words("rises", count.rises, count.total)


def _of(count: int, total: int) -> str:
    if count == total:
        return f"all {latex.integer(total)}"
    return f"{latex.integer(count) if count else 'none'} of {latex.integer(total)}"


def _count(number: int, singular: str) -> str:
    return f"one {singular}" if number == 1 else f"{latex.integer(number)} {singular}s"


def _bands(seeds: int) -> str:
    if seeds <= 1:
        return "There is one seed, hence no band."
    return f"Lines are means over {latex.integer(seeds)} seeds, bands reach from the lowest to the highest seed."
