"""Tables of the models whose documents have priors of their own."""

from collections.abc import Callable, Iterator, Sequence

from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import covariates as of_covariates
from heldout.papers.murphy.experiments import tags as of_tags
from heldout.papers.murphy.manifest_priors import CORRELATION, COVARIATES, TAGS
from heldout.papers.murphy.results_priors import LABELS, rows
from heldout.papers.murphy.table_rows import Row
from heldout.typesetting import latex
from heldout.typesetting.over_seeds import scored


def _scores(row: Row) -> list[str]:
    gap = latex.DASH if row.gap is None else latex.signed(row.gap, 3)
    return [latex.integer(row.topics), scored(row.usual), scored(row.likelihood), gap]


def _body(shown: Sequence[Row], cells: Callable[[Row], list[str]]) -> Iterator[latex.TableRow]:
    """Yield the rows, a model's name once, and space between corpora."""
    before, corpus = "", ""
    for row in shown:
        if corpus and row.corpus != corpus:
            yield latex.ADDLINESPACE
            before = ""
        name, corpus = LABELS[row.model], row.corpus
        yield [name if name != before else "", *cells(row)]
        before = name


def correlation(inputs: Inputs) -> str:
    """Return the table of LDA and the correlated topic model by K."""
    head = r"model & $K$ & bound & likelihood & gap\\"
    return latex.tabular(inputs, "@{}lrrlr@{}", head, _body(rows(inputs, CORRELATION), _scores))


def covariates(inputs: Inputs) -> str:
    """Return the table of DMR, labelled and partially labelled LDA on each corpus."""

    def cells(row: Row) -> list[str]:
        has = latex.decimal(row.measured[of_covariates.TOPICS_OF_ONE], 1)
        exact = latex.percent(row.measured[of_covariates.EXACT_SHARE], 0)
        return [latex.corpus_name(row.corpus), *_scores(row), has, exact]

    head = r"model & data & $K$ & folded in & likelihood & gap & topics each & exact\\"
    return latex.tabular(inputs, "@{}llrrlrrr@{}", head, _body(rows(inputs, COVARIATES), cells))


def tags(inputs: Inputs) -> str:
    """Return the table of models of tags given words."""

    def cells(row: Row) -> list[str]:
        information = row.measured.get(of_tags.INFORMATION)
        says = latex.DASH if information is None else latex.decimal(abs(information), 4)
        return [*_scores(row)[:3], says]

    head = r"model & $K$ & bound & likelihood & one tag of another\\"
    return latex.tabular(inputs, "@{}lrrlr@{}", head, _body(rows(inputs, TAGS), cells))
