"""Every number that the paper's prose uses, as LaTeX macros; the prose itself holds none.

What is about the study and the claims is here, what is about a paper's results in that one's `macros`.
"""

import math

from heldout.inputs import Inputs
from heldout.models import EPCA, LDA
from heldout.typesetting import latex
from heldout.typesetting.claims_table import claims_of, latex_effect
from heldout.verdicts import CONFIDENCE, ESTIMATORS, MODELS, SIMILAR, VERDICTS

POSITIONS = ("One", "Two", "Three")
ORIGINAL_CORPORA = {"cranfield", "medline", "nips"}

# settings that the prose names: a study without one of them says "not set"
REQUIRED_SETTINGS = (
    *((LDA, "train", name) for name in ("alpha_sum", "beta", "sweeps", "chains")),
    (LDA, "fold_in", "sweeps"),
    *((EPCA, "train", name) for name in ("penalty", "iterations", "tolerance")),
    *((EPCA, "fold_in", name) for name in ("iterations", "tolerance", "ridge")),
)
NOTICE = r" \textbf{Synthetic data, drawn from a known model.}"
# verdicts as the commands of main.tex that hold a sentence's alternatives
STATES = {verdict: verdict.replace(" ", "") for verdict in VERDICTS}

Macros = dict[str, str]


def render(inputs: Inputs) -> str:
    r"""Return one `\newcommand` per line."""
    return "".join(latex.macro(name, value) + "\n" for name, value in macros(inputs).items())


def macros(inputs: Inputs) -> Macros:
    """Return all macros by name; the same names for every study, as far as its corpora go."""
    result = {**_study(inputs), **_settings(inputs), **_claims(inputs)}
    known = [named for paper in inputs.papers for named in paper.exhibits.items()]  # even those that the study lacks
    for number, (position, corpus) in enumerate(zip(POSITIONS, inputs.settings.corpora, strict=False)):
        result[f"Corpus{position}Name"] = latex.corpus_name(corpus)
        result[f"Corpus{position}Notice"] = NOTICE if inputs.synthetic(corpus) else ""
        for name, exhibit in known:
            if exhibit.corpus == number:
                prefix = f"Corpus{position}{latex.camel(exhibit.function.rpartition('.')[2])}"
                result |= {prefix: name, f"{prefix}Original": exhibit.original.replace(" ", "~")}
    for paper in inputs.papers:
        result |= paper.part("macros")(inputs)
    return result


def _claims(inputs: Inputs) -> Macros:
    """Return each claim's verdict, and its effects with their intervals."""
    result = {}
    for claim in claims_of(inputs):
        judgement, name = inputs.judged(claim.name), f"Claim{latex.camel(claim.name)}"
        result[f"{name}State"] = STATES[judgement.verdict]
        effects = [latex_effect(*found) for found in judgement.with_verdicts()]
        result[f"{name}Effect"] = "; ".join(effects) or latex.DASH
    return result


def _study(inputs: Inputs) -> Macros:
    settings = inputs.settings
    shown = settings.corpora[: len(POSITIONS)]
    topics = settings.topics or (None,)
    synthetic = inputs.synthetic()
    original = not synthetic and set(shown) <= ORIGINAL_CORPORA
    name, commit = (latex.escape(text) for text in (settings.name, inputs.commit[:12]))
    return {
        "StudyName": name,
        "StudyOption": "" if name == "paper" else rf" -{{}}-configfile workflow/studies/{name}.yaml",
        "SyntheticNotice": NOTICE if synthetic else "",
        "IfSynthetic": "#1" if synthetic else "",
        "IfOriginal": "#1" if original else "",
        "IfOther": "" if original or synthetic else "#1",
        "Commit": rf"\texttt{{{commit}}}" if commit else "none (not under version control)",
        "CommitDate": latex.escape(inputs.date) or "no date",
        "Versions": latex.listed([f"{latex.escape(n)}~{latex.escape(v)}" for n, v in inputs.versions.items()])
        or "not recorded",
        "Version": latex.escape(inputs.versions.get("heldout", "")) or "not recorded",
        "AndThoseAfter": " and those after it" if len(shown) > 1 else "",  # of figures, one per corpus
        "Confidence": latex.percent(CONFIDENCE, 0),
        "MarginModels": f"{MODELS.value:g}",
        "MarginEstimators": f"{ESTIMATORS.value:g}",
        "MarginSimilar": f"{SIMILAR.value:g}",
        "SizesApartMost": _sizes_apart(inputs),
        "TopicsLargest": latex.integer(topics[-1]),
        "TopicsCount": latex.integer(len(settings.topics)),
        "SmoothingCount": latex.integer(len(settings.smoothing)),
        "SeedsInWords": count(len(settings.seeds), "seed"),
        "BandsInWords": bands(len(settings.seeds)),
        "AlternativesCorpus": latex.corpus_name(settings.alternative_grid.corpus) or "no corpus",
        "AlternativesTopics": latex.listed([latex.integer(k) for k in settings.alternative_grid.topics])
        or "no number of",
        "AlternativesSeeds": count(len(settings.alternative_grid.seeds), "seed"),
        "ForEachCorpus": "".join(rf"#1{{{p}}}" for p, _ in zip(POSITIONS, shown, strict=False)),
    }


def _sizes_apart(inputs: Inputs) -> str:
    """Return by how much the corpora's vocabularies and mean lengths differ from the published ones at most."""
    rows = [inputs.corpus(corpus) for corpus in inputs.settings.corpora]
    sizes = ("vocabulary", "mean_length")
    apart = [abs(latex.relative_difference(row[name], row[f"published_{name}"])) for row in rows for name in sizes]
    return latex.percent(max((value for value in apart if math.isfinite(value)), default=None))


def _settings(inputs: Inputs) -> Macros:
    result = {latex.camel(*key): "not set" for key in REQUIRED_SETTINGS}
    for model, part, name, value in inputs.settings.all_settings():
        result[latex.camel(model, part, name)] = latex.setting(value)
    return result


def count(number: int, singular: str) -> str:
    """Return "one seed", "2 seeds"."""
    return f"one {singular}" if number == 1 else f"{latex.integer(number)} {singular}s"


def bands(seeds: int) -> str:
    """Return what a figure's caption says of its bands over seeds."""
    if seeds <= 1:
        return "There is one seed, hence no band."
    return f"Lines are means over {latex.integer(seeds)} seeds, bands reach from the lowest to the highest seed."
