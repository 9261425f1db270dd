"""What libraries report of their own models beside the likelihood of the same documents, by number of topics."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from heldout.inputs import Inputs
from heldout.points import Point, mean_points
from heldout.typesetting import latex, style

if TYPE_CHECKING:
    import pandas as pd

KIND = "peers"
REPORTED, TRUTH, MEAN_FIELD = "reported", "truth", "mean-field-bound"
TRUTHS = ("exact-marginal", "left-to-right-sequential")  # the first that was measured
VALUE, GROWING, TRAINING, VERSION = "reported-value", "reported-growing", "training-perplexity", "version"
LIBRARIES = ("scikit-learn", "gensim", "tomotopy")
FUNCTIONS = {"scikit-learn": "perplexity", "gensim": "log_perplexity", "tomotopy": "infer"}
# Tol's bright scheme: the models and evaluators of the other figures have other colours
COLOURS = {"scikit-learn": "#4477AA", "gensim": "#EE6677", "tomotopy": "#228833"}
MARKERS = {"scikit-learn": "o", "gensim": "s", "tomotopy": "^"}
TABLE_TOPICS = (5, 20, 160)
HEIGHT = 2.9  # inches
NOT_RUN = "not run"


def corpora(inputs: Inputs) -> list[str]:
    """Return the corpora that have scores of libraries, in the study's order."""
    scored = set(_scores(inputs)["corpus"])
    return [corpus for corpus in inputs.settings.described if corpus in scored]


def libraries(inputs: Inputs) -> list[str]:
    """Return the libraries that were run."""
    scored = set(_scores(inputs)["model"])
    return [library for library in LIBRARIES if library in scored]


def _scores(inputs: Inputs) -> "pd.DataFrame":
    table = inputs.scores
    return table[(table["variant"] == KIND) & table["model"].isin(LIBRARIES)]


def curve(inputs: Inputs, corpus: str, library: str, evaluator: str) -> dict[int, Point]:
    """Return one evaluator's points by number of topics, ascending, means over seeds.

    Args:
        inputs: the scores of `heldout.papers.likelihood.experiments.peers`.
        corpus: its name.
        library: its name.
        evaluator: its name, or "truth" for the first of `TRUTHS` at each number of topics.
    """
    table = _scores(inputs)
    table = table[(table["corpus"] == corpus) & (table["model"] == library)]
    return mean_points(table, TRUTHS if evaluator == TRUTH else (evaluator,))


def measured(inputs: Inputs, corpus: str, library: str, quantity: str) -> dict[int, float]:
    """Return a measurement on the axis "topics", means over seeds."""
    table = inputs.measurements
    if table is None:
        return {}
    table = table[(table["variant"] == KIND) & (table["corpus"] == corpus) & (table["model"] == library)]
    table = table[(table["quantity"] == quantity) & (table["axis"] == "topics")]
    return {int(str(topics)): float(rows["value"].mean()) for topics, rows in table.groupby("topics")}


def versions(inputs: Inputs) -> dict[str, str]:
    """Return the version of every library that was run, from the parts that were measured; "" where they differ."""
    found: dict[str, str] = {}
    table = inputs.measurements
    for library in libraries(inputs):
        if table is not None:
            rows = table[(table["variant"] == KIND) & (table["model"] == library) & (table["quantity"] == VERSION)]
            parts = {int(str(at)): set(of["value"]) for at, of in rows.groupby("at")}
            same = bool(parts) and all(len(values) == 1 for values in parts.values())
            found[library] = ".".join(f"{next(iter(parts[at])):.0f}" for at in sorted(parts)) if same else ""
    return found


def draw(inputs: Inputs) -> Figure:
    """Draw perplexity against the number of topics, a panel per corpus: reported dashed, true solid."""
    shown, run = corpora(inputs), libraries(inputs)
    figure = Figure(figsize=(style.WIDTH, HEIGHT))
    axes = list(figure.subplots(1, max(1, len(shown)), sharey=True, squeeze=False)[0])
    grid: set[int] = set()
    for axis, corpus in zip(axes, shown, strict=False):
        axis.set_title(latex.corpus_name(corpus), fontweight="bold")
        axis.set_xlabel("number of topics")
        if inputs.synthetic(corpus):
            style.mark_synthetic(axis)
        for library in run:
            look: dict[str, Any] = {"color": COLOURS[library], "marker": MARKERS[library]}
            for evaluator, line in ((REPORTED, (0, (4, 2))), (TRUTH, "-")):
                points = [p for p in curve(inputs, corpus, library, evaluator).values() if math.isfinite(p.perplexity)]
                grid.update(p.topics for p in points)
                x, y = [p.topics for p in points], [p.perplexity for p in points]
                axis.plot(x, y, linestyle=line, label=f"{library}, {evaluator}", **look)
        _label_ratio(inputs, axis, corpus)
    axes[0].set_ylabel("perplexity per token")
    if grid:
        style.finish(axes, style.sparse_ticks(grid))
        axes[0].yaxis.set_major_locator(LogLocator(base=10.0))
        axes[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    handles = [Line2D([], [], color=COLOURS[name], marker=MARKERS[name], label=name) for name in run]
    handles.append(Line2D([], [], color="#444444", linestyle=(0, (4, 2)), label="as reported"))
    handles.append(Line2D([], [], color="#444444", label="true, of the same model"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7.5, handlelength=2.6)
    return figure


def _label_ratio(inputs: Inputs, axis: Axes, corpus: str) -> None:
    """Write the largest ratio of reported to true perplexity between the two, nearer the truth, in that colour."""
    both = [
        (reported[k], truth[k], library)
        for library in libraries(inputs)
        for reported, truth in [[curve(inputs, corpus, library, name) for name in (REPORTED, TRUTH)]]
        for k in reported.keys() & truth.keys()
        if math.isfinite(reported[k].perplexity)
    ]
    if both:
        reported, truth, library = max(both, key=lambda found: found[1].value - found[0].value)
        axis.annotate(
            rf"$\times$ {math.exp(truth.value - reported.value):,.0f}",
            (reported.topics, math.exp(-0.3 * reported.value - 0.7 * truth.value)),
            xytext=(-3, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8.0,
            fontweight="bold",
            color=COLOURS[library],
            path_effects=[patheffects.withStroke(linewidth=2.0, foreground="white")],
        )


_HEAD = r"""\begin{tabular}{@{}lrllrrrrr@{}}
\toprule
 & & & & \multicolumn{1}{c}{as} & \multicolumn{2}{c}{perplexity} & & \multicolumn{1}{c@{}}{growing term,}\\
\cmidrule(lr){6-7}
corpus & $K$ & library & function & \multicolumn{1}{c}{printed} & reported & true & ratio
 & \multicolumn{1}{c@{}}{nats/token}\\
\midrule
"""
_FOOT = "\\bottomrule\n\\end{tabular}\n"


def render(inputs: Inputs) -> str:
    """Return the table: what is printed, reported and true perplexity with its error, their ratio, the growing term."""
    body = latex.synthetic_mark(inputs, 9)
    for number, corpus in enumerate(corpora(inputs)):
        body += "\\addlinespace\n" if number else ""
        for topics in table_topics(inputs, corpus):
            for library in libraries(inputs):
                reported = curve(inputs, corpus, library, REPORTED).get(topics)
                truth = curve(inputs, corpus, library, TRUTH).get(topics)
                if reported is None or truth is None:
                    continue
                error = truth.perplexity * truth.error
                growing = measured(inputs, corpus, library, GROWING).get(topics)
                cells = [
                    latex.corpus_name(corpus),
                    latex.integer(topics),
                    library,
                    rf"\texttt{{{latex.escape(FUNCTIONS[library])}}}",
                    printed(library, measured(inputs, corpus, library, VALUE).get(topics)),
                    _large(reported.perplexity),
                    latex.perplexity(truth.perplexity) + (rf"\,$\pm$\,{latex.decimal(error)}" if truth.error else ""),
                    _large(reported.perplexity / truth.perplexity),
                    latex.DASH if growing is None else rf"\ensuremath{{-{latex.decimal(abs(growing), 2)}}}",
                ]
                body += " & ".join(cells) + "\\\\\n"
    return _HEAD + body + _FOOT


def printed(library: str, value: float | None) -> str:
    """Return a library's number as it gives it: gensim returns a bound in nats and logs 2 to its negative."""
    if value is None or math.isnan(value):
        return latex.DASH
    if library == "scikit-learn":
        return _large(value)
    nats = rf"\ensuremath{{-{latex.decimal(abs(value), 2)}}}"
    return f"{nats} ({_large(2.0**-value)})" if library == "gensim" else nats


def _large(value: float) -> str:
    """Return a number that may be very large: a power of ten from a million on."""
    if not math.isfinite(value) or value < 1e6:
        return latex.perplexity(value) if value >= 10.0 else latex.decimal(value, 2)
    factor, exponent = f"{value:.1e}".split("e")
    return rf"\ensuremath{{{factor}\cdot10^{{{int(exponent)}}}}}"


def table_topics(inputs: Inputs, corpus: str) -> list[int]:
    """Return the table's numbers of topics that were measured, or the fewest and the most where none was."""
    found = sorted({k for library in libraries(inputs) for k in curve(inputs, corpus, library, TRUTH)})
    return [k for k in TABLE_TOPICS if k in found] or sorted({*found[:1], *found[-1:]})


def apart(inputs: Inputs, corpus: str, evaluator: str) -> dict[int, float]:
    """Return, by number of topics, the largest perplexity of any library over the smallest, where two or more ran."""
    curves = [curve(inputs, corpus, library, evaluator) for library in libraries(inputs)]
    every: Iterable[int] = set.intersection(*(set(points) for points in curves)) if len(curves) > 1 else ()
    result = {}
    for topics in sorted(every):
        values = [points[topics].value for points in curves]
        result[topics] = math.exp(min(700.0, max(values) - min(values)))
    return result


def macros(inputs: Inputs) -> dict[str, str]:
    """Return the numbers of the section; the same names for every study."""
    settings = inputs.study.get("measures", {}).get(KIND, {}).get("settings", {})
    run, shown = libraries(inputs), corpora(inputs)
    named = [f"{library}~{text}" for library, text in versions(inputs).items() if text]
    result = {
        "IfPeers": "#1" if run else "",
        "PeersVersions": latex.listed([latex.escape(text).replace(r"\textasciitilde{}", "~") for text in named])
        if named
        else NOT_RUN,
        "PeersMaxIter": latex.setting(settings.get("max_iter")),
        "PeersPasses": latex.setting(settings.get("passes")),
        "PeersSweeps": latex.setting(settings.get("sweeps")),
        "PeersSamples": latex.setting(settings.get("samples")),
        "PeersLeastSamples": latex.setting(settings.get("least_samples")),
    }
    farthest: list[float] = []
    for library in LIBRARIES:
        name = f"Peers{latex.camel(library)}"
        ratios, terms, loose = [], [], []
        for corpus in shown:
            reported, truth = (curve(inputs, corpus, library, evaluator) for evaluator in (REPORTED, TRUTH))
            for k in sorted(reported.keys() & truth.keys()):
                ratios.append((truth[k].value - reported[k].value, k, corpus))
            farthest += [gap for gap, *_ in ratios]
            growing, bound = measured(inputs, corpus, library, GROWING), curve(inputs, corpus, library, MEAN_FIELD)
            terms += [(-value, k, corpus) for k, value in growing.items()]
            for k in sorted(reported.keys() & growing.keys() & bound.keys()):
                loose.append((bound[k].value - (reported[k].value - growing[k]), k, corpus))
        for part, found in (("Ratio", ratios), ("Term", terms), ("Loose", loose)):
            for end, chosen in (("Least", min(found, default=None)), ("Most", max(found, default=None))):
                size = "" if chosen is None else _size(part, chosen[0])
                result[f"{name}{part}{end}"] = NOT_RUN if chosen is None else size
                result[f"{name}{part}{end}Topics"] = NOT_RUN if chosen is None else latex.integer(chosen[1])
                result[f"{name}{part}{end}Corpus"] = NOT_RUN if chosen is None else latex.corpus_name(chosen[2])
    result["PeersReportedOverTrueMost"] = _size("Ratio", max(farthest)) if farthest else NOT_RUN
    beside = [
        {library: points[k].value for library, points in curves.items() if k in points}
        for corpus in shown
        for curves in [{library: curve(inputs, corpus, library, TRUTH) for library in run}]
        for k in sorted(set().union(*curves.values()))
    ]
    for library in LIBRARIES:
        others = [values for values in beside if library in values and len(values) > 1]
        best = sum(values[library] == max(values.values()) for values in others)
        name = f"Peers{latex.camel(library)}Best"
        result[name] = f"{latex.integer(best)} of {latex.integer(len(others))}" if others else NOT_RUN
    for evaluator in (REPORTED, TRUTH):
        factors = [factor for corpus in shown for factor in apart(inputs, corpus, evaluator).values()]
        result[f"Peers{evaluator.capitalize()}ApartMost"] = _large(max(factors)) if factors else NOT_RUN
    return result


def _size(part: str, value: float) -> str:
    return _large(math.exp(min(700.0, value))) if part == "Ratio" else latex.decimal(value, 2)
