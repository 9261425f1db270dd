"""Half folding-in beside the probability of the second half given the first, for exhibits."""

from collections.abc import Iterator

from artifact.contrasts.estimates import per_token
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments.optimism import PLUG_IN
from artifact.papers.likelihood.experiments.same_halves import FITTED, FLAT, KIND
from artifact.results.reading import printable, select
from artifact.typesetting import latex, style
from heldout.errors import InputError
from heldout.evaluators import COMPLETION, HALF
from heldout.models import LDA, PLSA
from heldout.topics import perplexity

COLUMNS = ((HALF, KIND), *((name, f"{KIND}-{prior}") for prior in (FLAT, FITTED) for name in (PLUG_IN, COMPLETION)))


def table(inputs: Inputs) -> str:
    """Return perplexities of second halves by corpus, model and K, means over splits; the lowest of a column is bold.

    Raises:
        InputError: if the halves were not scored.
    """
    head = r"""
 & & & half & \multicolumn{2}{c}{flat prior} & \multicolumn{2}{c@{}}{fitted prior}\\
\cmidrule(lr){5-6}\cmidrule(l){7-8}
corpus & model & $K$ & folding-in & mean & average & mean & average\\"""
    return latex.tabular(inputs, "@{}llrrrrrr@{}", head, _rows(inputs))


def _rows(inputs: Inputs) -> Iterator[list[str]]:
    scores = inputs.scores[inputs.scores["variant"].str.startswith(KIND)]
    if scores.empty:
        raise InputError("table-same-halves: no halves were scored; score them")
    rows, keys = per_token(scores), ["corpus", "model", "topics", "evaluator", "variant"]
    values, shown = rows.groupby(keys)["value"].mean(), printable(rows, keys)
    for corpus in dict.fromkeys(scores["corpus"]):
        for model in (PLSA, LDA):
            grid = sorted({int(k) for k in select(scores, corpus=corpus, model=model)["topics"]})
            places = [[(corpus, model, k, *column) for k in grid] for column in COLUMNS]
            columns = [[values[key] for key in column] for column in places]
            for place, k in enumerate(grid):
                names = [latex.corpus_name(str(corpus)), style.MODEL_NAMES[model], latex.integer(k)]
                yield [
                    *names,
                    *(
                        _cell(column, place) if shown[key[place]] else latex.NOT_SHOWN
                        for column, key in zip(columns, places, strict=True)
                    ),
                ]


def _cell(column: list[float], place: int) -> str:
    text = latex.perplexity(perplexity(column[place], 1))
    return rf"\textbf{{{text}}}" if len(column) > 1 and column[place] == max(column) else text
