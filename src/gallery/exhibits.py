"""Figures and tables of the whole gallery: the opening, the data sets and the misprints."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from matplotlib.figure import Figure
from matplotlib.ticker import SymmetricalLogLocator

from artifact.contrasts.inputs import Inputs
from artifact.results.corpora import base_name
from artifact.results.data_sets import DATA_SETS, DataSet
from artifact.typesetting import latex, style
from gallery import opening as results_opening
from gallery.graphs.spec import LINKS, NODE_FEATURES
from gallery.misprints import MISPRINTS
from gallery.tokens import science as results
from heldout.corpora.names import RELATIONS
from heldout.evaluators import FULL, MEAN_FIELD_BOUND

_OPTIMISTIC, _PESSIMISTIC = style.EVALUATOR_COLOURS[FULL], style.EVALUATOR_COLOURS[MEAN_FIELD_BOUND]
_SHOWN = 5e-4  # nats that the table's decimals tell from 0
_LINEAR = 0.01  # nats, up to which the axis of gaps is linear
_ROW, _FRAME = 0.15, 0.65  # inches of a model in a panel, and of the rest of the panel
_MOST = 1.5  # nats, where that axis ends
_GAP_TICKS = (-1.0, 0.0, 1.0)
LEAST_ERROR = 1e-4  # nats per token: a smaller one is rounded up to it


def opening(inputs: Inputs) -> Figure:
    """Draw the gaps of usual scores, a panel for each kind of data and a row for each model.

    A small mark has the fewest components, a large one the most; a hollow one is held to an estimate.
    """
    by_panel = {panel: list(gaps) for panel, gaps in groupby(results_opening.all_gaps(inputs), lambda gap: gap.panel)}
    sizes = [len({(gap.model, gap.corpus) for gap in gaps}) for gaps in by_panel.values()] or [1]
    columns = min(2, len(sizes))
    heights = [_FRAME + _ROW * max(sizes[first : first + columns]) for first in range(0, len(sizes), columns)]
    figure, grid = style.grid(len(heights), columns, sum(heights), height_ratios=heights)
    axes = grid.ravel()
    for axis in axes[len(sizes) :]:
        axis.set_axis_off()
    for axis, (panel, gaps) in zip(axes, by_panel.items(), strict=False):
        names = list(dict.fromkeys((gap.model, gap.corpus) for gap in gaps))
        for gap in gaps:
            colour = style.DARK if abs(gap.gap) < _SHOWN else _OPTIMISTIC if gap.gap > 0.0 else _PESSIMISTIC
            props = {"color": colour, "markersize": 6.0 if gap.most else 3.5}
            props |= {"markerfacecolor": style.WHITE} if gap.estimated else {}
            axis.plot(gap.gap, names.index((gap.model, gap.corpus)), "o", **props)
        axis.axvline(0.0, color=style.INK, linewidth=0.7)
        axis.set_xscale("symlog", linthresh=_LINEAR)
        style.ticks(axis.xaxis, _GAP_TICKS, [style.signed_label(tick) for tick in _GAP_TICKS])
        axis.xaxis.set_minor_locator(SymmetricalLogLocator(linthresh=_LINEAR, base=10.0, subs=range(1, 10)))
        axis.set_title(panel, loc="right")  # wider than the panel, which ends at the figure's edge
        labels = [f"{model}, {latex.corpus_title(corpus)}" if corpus else model for model, corpus in names]
        style.ticks(axis.yaxis, range(len(names)), labels, fontsize=7.0)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_xlim(-_MOST, _MOST)
    for axis in axes[: len(sizes)][-columns:]:
        axis.set_xlabel(f"score less likelihood, nats\n{style.SYMMETRIC}", loc="right")
    return figure


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
