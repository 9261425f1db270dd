"""Figures and tables of the whole gallery: the opening, the data sets and the misprints."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from artifact.contrasts.inputs import Inputs
from artifact.results.corpora import base_name
from artifact.results.data_sets import DATA_SETS, DataSet
from artifact.typesetting import latex, style
from gallery import opening as results_opening
from gallery.graphs.spec import LINKS, NODE_FEATURES
from gallery.member import ANSWERS, RESPONSES, TOKENS, TOKENS_OF_DOCUMENTS
from gallery.misprints import MISPRINTS
from gallery.tokens import science as results
from heldout.corpora.names import RELATIONS
from heldout.evaluators import FULL, MEAN_FIELD_BOUND

_OPTIMISTIC, _PESSIMISTIC = style.EVALUATOR_COLOURS[FULL], style.EVALUATOR_COLOURS[MEAN_FIELD_BOUND]
_KINDS = {
    "point": "at a point fitted to the data: too high",
    "bound": "by a lower bound: too low",
    results_opening.NEITHER: "otherwise: to either side",
}
_UNITS = {
    "nats per token": (TOKENS_OF_DOCUMENTS, TOKENS),
    "nats per response": (RESPONSES,),
    "nats per rating, label, link, tag, word, arc": (ANSWERS,),
}
_SMALL, _LARGE = 3.0, 5.5  # sizes of marks, with the fewest and the most components
_MARKS: dict[str, style.Props] = {
    "fewest components": {"marker": "o", "markersize": _SMALL},
    "most": {"marker": "o", "markersize": _LARGE},
    "likelihood estimated": {"marker": "o", "markersize": _LARGE, "markerfacecolor": style.WHITE},
    "one split": {"marker": "D", "markersize": _LARGE},
    "collapsed": {"marker": "x", "markersize": _LARGE},
}
_LINEAR = 0.03  # nats, up to which the axis of gaps is linear
_ROW, _FRAME, _TITLE = 0.118, 0.85, 3  # inches of a row and of a figure's frame; rows that a panel's frame takes
_MOST = 1.3  # nats, where that axis ends
_GAP_TICKS = (-1.0, -0.1, 0.0, 0.1, 1.0)
_NUMBER = 30.0  # points from a panel to the end of its numbers
LEAST_ERROR = 1e-4  # nats per token: a smaller one is rounded up to it


def opening(inputs: Inputs) -> Figure:
    """Draw the gaps of usual scores, a panel for each kind of score and a row for each model, by unit and size."""
    gaps = results_opening.all_gaps(inputs)
    panels = {title: _rows([gap for gap in gaps if gap.kind == kind]) for kind, title in _KINDS.items()}
    left, right, bottom = panels.values()
    lines = max(len(left) + len(bottom) + _TITLE, len(right))
    figure = Figure(figsize=(style.WIDTH, _FRAME + _ROW * lines))
    rows = figure.add_gridspec(2, 2, height_ratios=[max(1, len(left)), max(1, len(bottom))])
    places = (rows[0, 0], rows[:, 1], rows[1, 0])
    for place, (title, marks) in zip(places, panels.items(), strict=True):
        axis = figure.add_subplot(place)
        axis.set_title(title, loc="right", fontsize=8.0)
        _draw_gaps(axis, marks)
        if title != next(iter(panels)):
            axis.set_xlabel(f"score less likelihood, nats {style.SYMMETRIC}", loc="right", fontsize=7.0)
    dark: style.Props = {"linestyle": "none", "color": style.DARK}
    keys = [Line2D([], [], label=label, **{**dark, **props}) for label, props in _MARKS.items()]
    style.legend(figure, [], extra=keys, columnspacing=1.0, handletextpad=0.1, fontsize=7.0)
    return figure


def _rows(gaps: Sequence[results_opening.Gap]) -> list[tuple[str, list[results_opening.Gap]]]:
    """Return labels of rows with their marks: by unit, after a row without marks that names it, the largest first."""
    rows = list[tuple[str, list[results_opening.Gap]]]()
    for unit, panels in _UNITS.items():
        model_rows = dict[tuple[str, str], list[results_opening.Gap]]()
        for gap in gaps:
            if gap.panel in panels:
                model_rows.setdefault((gap.model, gap.corpus), []).append(gap)
        ordered = sorted(model_rows.items(), key=lambda row: -abs(row[1][-1].gap))
        rows += [(unit, [])] if ordered else []
        rows += [
            (f"{model}, {latex.corpus_title(corpus)}" if corpus else model, row) for (model, corpus), row in ordered
        ]
    return rows


def _draw_gaps(axis: Axes, rows: Sequence[tuple[str, list[results_opening.Gap]]]) -> None:
    """Draw rows of marks, each with the number of the last one."""
    for y, (_, gaps) in enumerate(rows):
        for gap in gaps:
            small = abs(gap.gap) < results_opening.SHOWN
            colour = style.DARK if small else _OPTIMISTIC if gap.gap > 0.0 else _PESSIMISTIC
            props: style.Props = {"color": colour, "markersize": _LARGE if gap.most else _SMALL}
            props |= {"markerfacecolor": style.WHITE} if gap.estimated else {}
            axis.plot(gap.gap, y, "x" if gap.collapsed else "D" if gap.alone else "o", **props)
            if gap.most:
                number = "0" if small else f"{gap.gap:+.3f}".replace("-", style.MINUS)
                props = {"color": colour, "fontsize": 6.5, "ha": "right", "va": "center", "annotation_clip": False}
                props |= {"xycoords": ("axes fraction", "data")}
                style.label(axis, "collapsed" if gap.collapsed else number, (1.0, y), (_NUMBER, 0.0), **props)
    axis.axvline(0.0, color=style.INK, linewidth=0.7)
    axis.set_xscale("symlog", linthresh=_LINEAR, linscale=0.2)
    style.ticks(axis.xaxis, _GAP_TICKS, [f"{tick:g}".replace("-", style.MINUS) for tick in _GAP_TICKS], fontsize=6.0)
    style.ticks(axis.yaxis, range(len(rows)), [label for label, _ in rows], fontsize=6.5)
    for label, (_, gaps) in zip(axis.get_yticklabels(), rows, strict=True):
        label.set_fontstyle("normal" if gaps else "italic")
    axis.tick_params(axis="y", length=0.0)
    axis.set_ylim(max(1, len(rows)) - 0.5, -0.5)
    axis.set_xlim(-_MOST, _MOST)


def opening_table(inputs: Inputs) -> str:
    """Return the table that the gallery opens with: a row per corpus, model and fewest or most components."""
    return latex.tabular(
        inputs,
        "@{}llrlrrrl@{}",
        r"model & data & $K$ & usual score & its value & likelihood & gap & sum, a probability?\\",
        _opening_rows(inputs),
    )


def datasets(inputs: Inputs) -> str:
    """Return the table of data sets: their observations, numbers to train and to test on, sizes and sources."""
    hidden: dict[str, float] = {}
    for experiment in map(inputs.settings.experiment, (LINKS, NODE_FEATURES)):
        hidden |= dict.fromkeys(experiment.get("corpora", ()), experiment.get("settings", {}).get("hidden", 0.0))
    order = list(DATA_SETS)
    study_rows = [(base_name(str(row["corpus"])), row) for row in inputs.corpora.to_dict("records")]
    study_rows.sort(key=lambda pair: order.index(pair[0]) if pair[0] in order else -1)
    rows, relations_before = list[latex.TableRow](), False
    for base, row in study_rows:
        data_set, relations = DATA_SETS.get(base, DataSet(base)), base in RELATIONS
        if relations and not relations_before and rows:
            rows.append(latex.ADDLINESPACE)
        relations_before = relations
        test = latex.integer(row["test_documents"])
        if relations:
            share = hidden.get(str(row["corpus"]), 0.0)
            test = latex.percent(share, 0) if share else latex.DASH
        sizes = (latex.integer(row[name]) for name in ("vocabulary", "tokens"))
        source = rf"\citet{{{data_set.source}}}" if data_set.source else latex.DASH
        source += rf"\textsuperscript{{{data_set.copy}}}" if data_set.copy else ""
        name, training = latex.corpus_name(str(row["corpus"])), latex.integer(row["train_documents"])
        rows.append([name, data_set.observation, training, test, *sizes, source])
    head = r"data & an observation & training & test & words, values & tokens, cells & source\\"
    return latex.tabular(inputs, "@{}llrrrrl@{}", head, rows)


def _opening_rows(inputs: Inputs) -> Iterator[latex.TableRow]:
    corpus_before = ""
    for (corpus, member), member_rows in groupby(results.opening_rows(inputs), lambda row: (row.corpus, row.member)):
        if corpus_before and corpus != corpus_before:
            yield latex.ADDLINESPACE
        corpus_before = corpus
        shown = [member.label, latex.corpus_name(corpus)]
        for row in _ends(list(member_rows)):
            yield shown + _cells(row)
            shown = ["", ""]


def _ends(rows: Sequence[results.Row]) -> Sequence[results.Row]:
    return rows if len(rows) < 2 else (rows[0], rows[-1])


def _cells(row: results.Row) -> list[str]:
    likelihood = gap = latex.DASH
    if row.likelihood is not None and row.gap is not None:
        error = rf" \ensuremath{{\pm}} {max(row.error, LEAST_ERROR):.4f}" if row.error else ""
        likelihood, gap = f"{latex.signed(row.likelihood, 3)}{error}", latex.signed(row.gap, 3)
    cells = [latex.integer(row.topics), row.member.usual.score, latex.signed(row.value, 3)]
    # one sum that is not 1 refutes, and one that is 1 proves nothing of longer documents
    total = latex.decimal(row.one_token, 3) + ", no" * row.refuted if row.one_token >= 0.0 else latex.DASH
    return [*cells, likelihood, gap, total]


def misprints(inputs: Inputs) -> str:
    """Return the table of misprints: the printed form, the corrected one, and how far each is from its identity."""
    rows = []
    for misprint in MISPRINTS:
        errors = [latex.DASH] * 2
        if misprint.errors is not None:
            printed, corrected = misprint.errors()
            errors = [latex.decimal(printed, 3), latex.power(0.0 if corrected < 1e-12 else corrected)]
        rows.append([misprint.place, misprint.printed, misprint.corrected, misprint.identity, *errors])
    return latex.longtable(
        inputs,
        r"@{}P{0.12\linewidth}P{0.18\linewidth}P{0.21\linewidth}P{0.2\linewidth}rr@{}",
        r"where & printed & corrected & holds of the corrected & printed off & corrected off\\",
        rows,
        caption="What is printed fails an identity that the corrected form satisfies: by how much either does, in the"
        " identity's units. A dash stands where a symbol or a name is wrong, which leaves nothing to compute.",
        label="tab:misprints",
    )
