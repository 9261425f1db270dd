"""Figures, tables and numbers of undirected models."""

from matplotlib.figure import Figure

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from artifact.typesetting import latex, over_seeds, style
from artifact.typesetting.macros import Macros
from artifact.typesetting.over_seeds import scored
from gallery.gaps import gaps
from gallery.tokens.science import corpora
from gallery.undirected import science as results
from gallery.undirected.experiments import boltzmann as boltzmann_run
from gallery.undirected.experiments import replicated_softmax, undirected_units
from gallery.undirected.spec import BOLTZMANN, SOFTMAX
from heldout import models
from heldout.models import LDA

HIDDEN = 50  # hidden units of the published machines
_SOFTMAX = style.COLOURS["annealed"]


def boltzmann(inputs: Inputs) -> Figure:
    """Draw the likelihood of held-out records against updates, beside the reconstruction error that is watched."""
    figure, (axes,) = style.grid(1, len(results.WATCHED), 2.3, titles=list(results.WATCHED.values()))
    units = ("nats per response\n(more is better)", "squares per response\n(less looks better)")
    for axis, quantity, unit in zip(axes, results.WATCHED, units, strict=True):
        for model in results.MACHINES:
            trace = results.trace(inputs, quantity, model)
            points = {update: value for update, value in trace.items() if update > 0}
            field = model == boltzmann_run.FIELD
            name, colour = ("mean field", style.FLATTERING) if field else ("CD, PCD", style.CHARGING)
            axis.plot(list(points), list(points.values()), color=colour)
            if points and model in (boltzmann_run.PERSISTENT, boltzmann_run.FIELD):
                style.label_ends(axis, [(name, max(points), points[max(points)], colour)])
        axis.set_xscale("log")
        axis.set_xlabel("updates")
        axis.set_ylabel(unit)
        style.plain_numbers(axis.xaxis)
    return figure


def figure_27_33(inputs: Inputs) -> Figure:
    """Draw precision against recall of the first 1, 2, 4, .. documents, means over queries and seeds."""
    figure, ((axis,),) = style.grid(1, 1, 1.7)
    figure.set_figwidth(0.5 * style.WIDTH)  # as it is printed, so that letters keep their size
    colours = {replicated_softmax.SOFTMAX: _SOFTMAX, models.LDA: style.COLOURS[models.LDA]}
    for model, name in results.RETRIEVERS.items():
        axis.plot(*results.retrieval(inputs, model), marker="o", color=colours[model], label=name)
    axis.set_xscale("log")
    axis.set_xlabel("recall")
    axis.set_ylabel("precision")
    style.plain_numbers(axis.xaxis)
    axis.legend()
    return figure


def boltzmann_table(inputs: Inputs) -> str:
    """Return the table of the machines and their comparisons: usual scores, likelihood, and the gap."""
    rows: list[latex.TableRow] = []
    for machine in results.machines(inputs):
        point = machine.likelihood
        pseudo, gap = latex.DASH, latex.DASH
        if machine.pseudo is not None:
            pseudo, gap = latex.signed(machine.pseudo, 4), latex.signed(machine.pseudo - point.value, 4)
        squares = latex.decimal(machine.reconstruction, 4) if machine.reconstruction is not None else latex.DASH
        rows.append([machine.name, latex.integer(machine.hidden), squares, pseudo, scored(point, 4), gap])
    head = r"trained by & $K$ & reconstruction error & pseudo-likelihood & likelihood & gap\\"
    return latex.tabular(inputs, "@{}lrrrrr@{}", head, rows)


def figure_27_32(inputs: Inputs) -> str:
    """Return the table of Figure 27.32: published perplexities and ours, by documents (27.29) and by tokens."""
    rows: list[latex.TableRow] = []
    for corpus in corpora(inputs, SOFTMAX):
        ours, chosen = results.perplexities(inputs, corpus), results.choices(inputs, corpus)
        if rows:
            rows.append(latex.ADDLINESPACE)
        published = results.PUBLISHED.get(corpus)
        asked = {(LDA, K) for K in published.lda} | {(replicated_softmax.SOFTMAX, HIDDEN)} if published else set()
        shown = latex.corpus_name(corpus)
        for model, K in [(replicated_softmax.UNIGRAM, 1), *sorted({*ours, *asked} - {(replicated_softmax.UNIGRAM, 1)})]:
            name = replicated_softmax.UNIGRAM if K == 1 else f"{results.RETRIEVERS[model]}, $K = {K}$"
            cells = [latex.DASH if published is None else _published(published, model, K)]
            if own := ours.get((model, K)):
                error = rf" \ensuremath{{\pm}} {max(own.error, 0.1):.1f}" if own.error else ""
                cells += [latex.perplexity(own.documents), f"{latex.perplexity(own.tokens)}{error}"]
            else:
                cells += [NOT_RUN, NOT_RUN]
            rows.append([shown, name, *cells, _trained(chosen.get((model, K)))])
            shown = ""
    head = (
        r"& & \multicolumn{3}{c}{perplexity per token} & passes or\\" + "\n"
        r"\cmidrule(lr){3-5}" + "\n"
        r"documents & model & published & by documents & by tokens & sweeps\\"
    )
    return latex.tabular(inputs, "@{}llrrrr@{}", head, rows)


def _trained(choice: results.Choice | None) -> str:
    """Return the least and the largest number of passes or sweeps, a star where a search ended before it turned."""
    if choice is None:
        return latex.DASH
    ends = sorted({choice.trained[0], choice.trained[-1]})
    return r"\,--\,".join(map(latex.integer, ends)) + "*" * choice.censored


def _published(row: results.Published, model: str, K: int) -> str:
    value = {models.LDA: row.lda.get(K), replicated_softmax.UNIGRAM: row.unigram}.get(model)
    if model == replicated_softmax.SOFTMAX and K == HIDDEN:
        value = row.softmax
    return latex.DASH if value is None else latex.perplexity(value)


NAMES = {
    undirected_units.INDEPENDENT: "independent",
    undirected_units.PRODUCTS: "mixture of two products",
    undirected_units.RBM_NAME: "binary hidden units",
    undirected_units.PCA: "Gaussian hidden units",
    undirected_units.MIXTURE: "binary hidden units",
    undirected_units.FACTORS: "Gaussian hidden units",
}


def units(inputs: Inputs) -> str:
    """Return the table of likelihoods of machines with other units, by data and K."""
    rows: list[latex.TableRow] = []
    likelihoods = results.unit_likelihoods(inputs)
    topics = sorted({K for models in likelihoods.values() for values in models.values() for K in values if K > 0})
    for (corpus, scale), by_model in likelihoods.items():
        shown = latex.corpus_name(corpus)
        if scale:
            shown += f", standard deviation {latex.decimal(scale / 100.0, 1)}"
        for model, name in NAMES.items():
            if model in by_model:
                values = by_model[model]
                cells = [latex.signed(values[K], 4) if K in values else latex.DASH for K in topics]
                rows.append([shown, name, *cells])
                shown = ""
        rows.append(latex.ADDLINESPACE)
    head = " & ".join(["data", "model", *(f"$K={K}$" for K in topics)]) + r"\\"
    return latex.tabular(inputs, f"@{{}}ll{'r' * len(topics)}@{{}}", head, rows[:-1])


SEEN = 3.0  # largest distance of an annealed value from the exact one, in stated errors


def undirected(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    found: Macros = {}
    for name, experiment in (("Boltzmann", BOLTZMANN), ("Softmax", SOFTMAX)):
        names = corpora(inputs, experiment)
        found[f"{name}Corpus"] = latex.corpus_name(names[0]) if names else NOT_RUN
    hidden = inputs.settings.experiment(BOLTZMANN).get("settings", {}).get("hidden", 0)
    found["BoltzmannHidden"] = latex.integer(hidden) if isinstance(hidden, int) and hidden else NOT_RUN
    for name, model in (("Persistent", boltzmann_run.PERSISTENT), ("Field", boltzmann_run.FIELD)):
        rows = results.trained(inputs, boltzmann_run.RECONSTRUCTION, model)
        rows = rows[rows["corpus"].isin(corpora(inputs, BOLTZMANN)[:1])]
        values = rows[rows["at"] == rows["at"].max()]["value"].tolist()
        found[f"BoltzmannSquares{name}"] = over_seeds.decimal(values, 4)
    scores = select(inputs.scores, variant=BOLTZMANN, corpus=corpora(inputs, BOLTZMANN)[:1])
    scores = select(scores, model=boltzmann_run.PERSISTENT)
    found["BoltzmannGap"] = over_seeds.signed(gaps(select(scores, topics=scores["topics"].min())), 4)
    for name, experiment in (("Boltzmann", BOLTZMANN), ("Softmax", SOFTMAX)):
        checks = results.checked(inputs, experiment)
        agreeing = sum(abs(one.value - one.exact) <= SEEN * one.error for one in checks)
        found[f"{name}Within"] = f"{latex.integer(agreeing)} of {latex.integer(len(checks))}" if checks else NOT_RUN
        distance = max((abs(one.value - one.exact) for one in checks), default=None)
        found[f"{name}Apart"] = latex.decimal(distance, 2) if distance is not None else NOT_RUN
    found["SoftmaxUnigram"] = over_seeds.perplexity(results.unigram_of_all(inputs, "newsgroups"))
    found["SoftmaxUnigramPublished"] = latex.perplexity(results.PUBLISHED["newsgroups"].unigram)
    news, quantity = results.PUBLISHED["newsgroups"], replicated_softmax.PER_DOCUMENT
    by_document = select(inputs.measurements, variant=SOFTMAX, corpus="newsgroups", quantity=quantity)
    hidden = max(select(by_document, model=replicated_softmax.SOFTMAX)["topics"], default=0)
    for name, model, value in (("", replicated_softmax.SOFTMAX, news.softmax), ("Lda", LDA, news.lda.get(hidden))):
        found[f"SoftmaxNews{name}"] = over_seeds.perplexity(
            select(by_document, model=model, topics=hidden)["value"].tolist()
        )
        precision = select(
            inputs.measurements, variant=SOFTMAX, quantity=replicated_softmax.AVERAGE_PRECISION, model=model
        )
        found[f"SoftmaxPrecision{name}"] = over_seeds.decimal(precision["value"].tolist(), 3)
        found[f"SoftmaxNews{name}Published"] = NOT_RUN if value is None else latex.perplexity(value)
    settings = inputs.settings.experiment(SOFTMAX).get("settings", {})
    for name, key, corpus in (("Words", "words", "newsgroups"), ("ReutersTraining", "training_documents", "reuters")):
        number = settings.get(key, {}).get(corpus)
        found[f"Softmax{name}"] = latex.integer(number) if number else NOT_RUN
    found["SoftmaxTraining"] = latex.integer(news.training)
    found["SoftmaxReuters"], found["SoftmaxReutersChapter"] = latex.corpus_name("reuters"), "RCV1"
    for name, corpus in (("Nips", "nips-volumes"), ("Reuters", "reuters")):
        found[f"SoftmaxWords{name}"] = latex.integer(results.PUBLISHED[corpus].words)
    published = results.PUBLISHED["nips-volumes"]
    found["SoftmaxNipsPublished"] = latex.perplexity(published.softmax)
    found["SoftmaxNipsLdaPublished"] = latex.perplexity(min(published.lda.values()))
    return found
