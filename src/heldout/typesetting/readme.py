"""The README's generated parts: what every exhibit should show and cost, and the workflow as a drawing."""

import re
from collections.abc import Callable, Sequence

from heldout.errors import InputError
from heldout.evaluators import FOLDING_IN, FULL, HALF
from heldout.inputs import Inputs
from heldout.manifest import Exhibit
from heldout.models import PLSA
from heldout.papers.welling.results import best_curve, curves, in_words, steps, swept_lowest
from heldout.study import SECOND_READING
from heldout.typesetting import claims_table, latex
from heldout.typesetting.exhibits import exhibits as exhibits_of
from heldout.typesetting.exhibits import path
from heldout.typesetting.provenance import cost


def update(text: str, inputs: Inputs, rulegraph: str) -> str:
    """Return the README with its generated parts made anew.

    Args:
        text: the README; a part stands between `<!-- NAME: ... -->` and `<!-- /NAME -->`.
        inputs: the reference results.
        rulegraph: what `snakemake --rulegraph mermaid-js` prints.

    Raises:
        InputError: when the README lacks a part's marks.
    """
    parts: dict[str, Callable[[], str]] = {
        "corpora": lambda: corpora(inputs),
        "claims": lambda: claims_table.markdown(inputs),
        "exhibits": lambda: exhibits(inputs),
        "dag": lambda: drawing(rulegraph),
    }
    for name, part in parts.items():
        pattern = rf"(<!-- {name}:[^>]*-->\n).*?(<!-- /{name} -->)"
        marks = re.findall(pattern, text, flags=re.DOTALL)
        if len(marks) != 1:
            raise InputError(f"README: {len(marks)} parts between <!-- {name}: --> and <!-- /{name} -->; expected one")
        made = "".join((marks[0][0], part(), marks[0][1]))
        text = re.sub(pattern, made.replace("\\", r"\\"), text, flags=re.DOTALL)
    return text


def corpora(inputs: Inputs) -> str:
    """Return Table 1 in Markdown: ours beside the paper's."""
    lines = [
        "| corpus | documents (train + test) | vocabulary | the paper's | tokens per document | the paper's |",
        "|---|---|---|---|---|---|",
    ]
    for name in inputs.settings.described:
        row = inputs.corpus(name)
        cells = [name, f"{row['train_documents']} + {row['test_documents']}"]
        for ours, theirs, shown in (
            ("vocabulary", "published_vocabulary", "{:.0f}"),
            ("mean_length", "published_mean_length", "{:.2f}"),
        ):
            gap = latex.difference(row[ours], row[theirs])
            cells += [shown.format(row[ours]), f"{shown.rstrip('}').replace('.2f', '.1f')}}}".format(row[theirs])]
            cells[-1] += f" ({100 * gap:+.1f} %)"
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def exhibits(inputs: Inputs) -> str:
    """Return a row per exhibit: target, command, minutes (wall clock, one job at a time), expected result."""
    lines = ["| exhibit | target | command | minutes | expected result |", "|---|---|---|---|---|"]
    for name, exhibit in exhibits_of(inputs.papers, inputs.study).items():
        if exhibit.kind == "macros":
            continue
        corpus = "" if exhibit.corpus is None else f", {inputs.settings.corpora[exhibit.corpus]}"
        original = f" ({exhibit.original})" if exhibit.original else ""
        minutes = cost(name, exhibit, inputs).minutes
        cells = [
            f"{exhibit.title}{corpus}{original}",
            f"`{path(name, exhibit, inputs.settings.name)}`",
            f"`snakemake --cores 2 {path(name, exhibit, inputs.settings.name)}`",
            f"{minutes:.1f}" if minutes == minutes else "-",
            _expected(name, exhibit, inputs),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _expected(name: str, exhibit: Exhibit, inputs: Inputs) -> str:
    settings = inputs.settings
    if exhibit.corpus is not None and "smoothing" in exhibit.module:
        second = exhibit.function == "second_reading"
        variant = SECOND_READING if second else settings.variant(PLSA)
        return _smoothing(inputs, settings.corpora[exhibit.corpus], variant, settings.topics)
    if exhibit.corpus is not None:
        models = [part for part in exhibit.parts if part in settings.models]
        return _comparison(inputs, settings.corpora[exhibit.corpus], models)
    if name == "figure-beyond":
        topics = (*settings.topics, *settings.beyond_topics)
        return _smoothing(inputs, settings.beyond_corpus, settings.variant(PLSA), topics, settings.beyond_seeds)
    if exhibit.claims:
        checked = ((claim, inputs.finding(claim)) for claim in exhibit.claims)
        return "; ".join(f"{one} {found.verdict} ({found.agreeing} of {found.comparisons})" for one, found in checked)
    return "see above" if name in ("table-1", "table-claims") else "in the paper"


def _smoothing(inputs: Inputs, corpus: str, variant: str, topics: tuple[int, ...], seeds: tuple[int, ...] = ()) -> str:
    found = {
        evaluator: curves(
            inputs.scores, corpus=corpus, model=PLSA, variant=variant, evaluator=evaluator, topics=topics, seeds=seeds
        )
        for evaluator in FOLDING_IN
    }
    full, smallest = steps(found[FULL]), found[HALF][0]
    first, last = smallest.topics[0], smallest.topics[-1]
    return (
        f"full {in_words('falls', full.falls, full.total)};"
        f" half at {smallest.smoothing:g}: {smallest.mean(first):,.0f} at {first} topics,"
        f" {smallest.mean(last):,.0f} at {last}"
    )


def _comparison(inputs: Inputs, corpus: str, models: Sequence[str]) -> str:
    said = []
    for evaluator in FOLDING_IN:
        lowest = []
        for model in models:
            swept = swept_lowest(inputs, corpus, model, evaluator, inputs.settings.swept_variants(model))
            found = best_curve(inputs, corpus, model, evaluator)
            if swept:
                value, topics = min((value, topics) for (topics, _), (value, _) in swept.items())
                lowest.append(f"{model} {value:,.0f} at {topics} topics")
            elif found is not None:
                point = found[1].lowest()
                lowest.append(f"{model} {point.perplexity:,.0f} at {point.topics} topics")
        said.append(f"lowest {evaluator.split('-')[0]}: {', '.join(lowest)}")
    return "; ".join(said)


def drawing(rulegraph: str) -> str:
    """Return the workflow as a mermaid block: rules by name, edges in order; `all` only behind what ends there."""
    rules = dict(re.findall(r"^\s*(id\d+)\[(.+)\]$", rulegraph, flags=re.MULTILINE))
    if not rules:
        raise InputError("rule graph: no rules in it; give what `snakemake --rulegraph mermaid-js` prints")
    edges = re.findall(r"^\s*(id\d+) --> (id\d+)$", rulegraph, flags=re.MULTILINE)
    feeds = {before for before, after in edges if rules[after] != "all"}
    shown = [(before, after) for before, after in edges if rules[after] != "all" or before not in feeds]
    lines = sorted(f"    {rules[before]} --> {rules[after]}" for before, after in shown)
    return "\n".join(["```mermaid", "flowchart TB", *lines, "```"]) + "\n"
