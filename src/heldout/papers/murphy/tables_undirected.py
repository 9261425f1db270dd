"""Tables of section 27.7: Boltzmann machines, Figure 27.32, and other units."""

from heldout import models
from heldout.inputs import Inputs
from heldout.papers.murphy import results_undirected as results
from heldout.papers.murphy.experiments import replicated_softmax, undirected_units
from heldout.papers.murphy.results import corpora
from heldout.typesetting import latex
from heldout.typesetting.over_seeds import scored


def boltzmann(inputs: Inputs) -> str:
    """Return the machines and what they are compared with: usual scores, likelihood, and the gap."""
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
    """Return Figure 27.32: the published perplexities and ours, by documents as 27.29 has it and by tokens."""
    rows: list[latex.TableRow] = []
    for corpus in corpora(inputs, "replicated-softmax"):
        ours = results.perplexities(inputs, corpus)
        if rows:
            rows.append(latex.ADDLINESPACE)
        published = results.PUBLISHED.get(corpus)
        names = {(replicated_softmax.UNIGRAM, 1): "unigram"}
        names |= {key: f"LDA, $K = {key[1]}$" for key in sorted(ours) if key[0] == models.LDA}
        names |= {
            key: f"replicated softmax, $K = {key[1]}$" for key in sorted(ours) if key[0] == replicated_softmax.SOFTMAX
        }
        shown = latex.corpus_name(corpus)
        for (model, K), name in names.items():
            if (model, K) not in ours:
                continue
            own = ours[model, K]
            error = rf" \ensuremath{{\pm}} {max(own.error, 0.1):.1f}" if own.error else ""
            cells = [latex.DASH if published is None else _published(published, model, K)]
            cells += [latex.perplexity(own.documents), f"{latex.perplexity(own.tokens)}{error}"]
            rows.append([shown, name, *cells])
            shown = ""
    head = r"documents & model & published & by documents & by tokens\\"
    return latex.tabular(inputs, "@{}llrrr@{}", head, rows)


def _published(row: results.Published, model: str, K: int) -> str:
    value = {models.LDA: row.lda.get(K), replicated_softmax.UNIGRAM: row.unigram}.get(model)
    if model == replicated_softmax.SOFTMAX and max(k for k in row.lda if k < max(row.lda)) == K:
        value = row.softmax
    return latex.DASH if value is None else latex.perplexity(value)


NAMES = {
    undirected_units.INDEPENDENT: "independent",
    undirected_units.RBM_NAME: "binary hidden units",
    undirected_units.PCA: "Gaussian hidden units",
    undirected_units.MIXTURE: "binary hidden units",
    undirected_units.FACTORS: "Gaussian hidden units",
}


def units(inputs: Inputs) -> str:
    """Return the likelihoods of machines with other units, by data and K."""
    rows: list[latex.TableRow] = []
    found = results.of_units(inputs)
    topics = sorted({K for of in found.values() for values in of.values() for K in values if K > 0})
    for (corpus, scale), of in found.items():
        shown = latex.corpus_name(corpus)
        if scale:
            shown += f", standard deviation {latex.decimal(scale / 100.0, 1)}"
        for model, name in NAMES.items():
            if model in of:
                cells = [latex.signed(of[model][K], 4) if K in of[model] else latex.DASH for K in topics]
                rows.append([shown, name, *cells])
                shown = ""
        rows.append(latex.ADDLINESPACE)
    head = " & ".join(["data", "model", *(f"$K={K}$" for K in topics)]) + r"\\"
    return latex.tabular(inputs, f"@{{}}ll{'r' * len(topics)}@{{}}", head, rows[:-1])
