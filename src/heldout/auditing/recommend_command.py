"""`heldout recommend`: prints a table of estimators, the recommended one first, or JSON."""

import json
import math
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.table import Table

from heldout.auditing.cost import duration
from heldout.auditing.options import RecommendCommand
from heldout.auditing.precision_table import read_table
from heldout.auditing.recommend import PERPLEXITY_ERROR, Option, Recommendation, as_dict, nats, recommend, robust
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, REFERENCE


def run_recommend(command: RecommendCommand, out: TextIO) -> None:
    """Print the recommended estimator and its alternatives.

    Args:
        command: the options typed.
        out: for the table or the JSON.

    Raises:
        InputError: as `heldout.auditing.recommend.recommend` and the readers do.
    """
    lengths = [command.length] * command.documents if command.length is not None else lengths_of(command.corpus)
    if not lengths:
        raise InputError(
            f"{command.corpus}: has no token" if command.corpus else "recommend: --documents must be 1 or more"
        )
    mean = sum(lengths) / len(lengths)
    wanted = command.standard_error
    if wanted is None:
        percent = PERPLEXITY_ERROR if command.perplexity_error is None else command.perplexity_error
        if not 0.0 < percent < math.inf:
            raise InputError(f"recommend: an error of {percent} percent; give --perplexity-error a positive number")
        wanted = nats(percent, mean)
    recommendation = recommend(
        command.topics,
        lengths,
        wanted,
        per=command.per,
        cores=command.cores,
        prior=command.prior,
        alpha=command.alpha,
        consistent=command.consistent,
        table=read_table(command.calibration, command.timings) if command.prior == "dirichlet" else None,
    )
    if command.json:
        print(json.dumps(as_dict(recommendation), indent=2), file=out)
    else:
        show(recommendation, command, mean, len(lengths), out)


def lengths_of(corpus: Path | None) -> list[int]:
    """Return the number of tokens of every document that is not empty."""
    from heldout.corpora.stream import open_documents

    return [int(n) for batch in open_documents(corpus) for n in batch.lengths if n > 0]


def show(best: Recommendation, command: RecommendCommand, mean: float, documents: int, out: TextIO) -> None:
    """Print a recommendation and its alternatives as a table.

    Args:
        best: the recommendation.
        command: the options typed.
        mean: the documents' mean length, tokens.
        documents: the number of documents.
        out: for the table.
    """
    console = Console(file=out)
    of = "of each document" if command.per == "document" else "of the documents' mean"
    number = f"{documents:,} documents of {mean:,.0f} tokens" if documents > 1 else f"a document of {mean:,.0f} tokens"
    under = "" if command.prior == "dirichlet" else f" under a {command.prior} prior"
    console.print(
        f"{number} at {command.topics:,} topics{under}; wanted is an error of at most {best.wanted:.3g} nats {of}"
        f" ({100.0 * math.expm1(best.wanted / mean):.2g} % of the perplexity per token)."
    )
    if not best.reached:
        console.print(
            "[bold]No estimator is known to reach it[/bold] on real documents. The nearest comes first; `heldout audit`"
            " measures the error of its own estimate."
        )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("estimator", no_wrap=True)
    for title in ("samples", "error", "bias", "error/stated", "time"):
        table.add_column(title, justify="right", no_wrap=True)
    section = ""
    for option in best.options:
        before, section = section, _section(option)
        if section != before:
            table.add_row(section, style="italic")
        table.add_row(
            "annealing" if under and option.estimator == REFERENCE else ESTIMATORS[option.estimator].label,
            f"{option.samples:,}" if option.samples else "",
            _two_digits(option.standard_error),
            _two_digits(option.bias, "+"),
            "" if math.isnan(option.stated_ratio) else f"{option.stated_ratio:.1f}",
            duration(option.seconds) + ("*" if option.extrapolated else " "),
            style="bold" if option is best else None if option.reached else "dim",
        )
    console.print(table)
    at = ", at the length where the error is largest" if command.corpus and command.per == "document" else ""
    cores = f"{command.cores} core{'s' if command.cores > 1 else ''}"
    console.print(
        f"Error and bias in nats {of}{at}, as measured on documents drawn from models; time for all documents on"
        f" {cores}. error/stated: beside the standard error that an estimator states."
    )
    if any(option.extrapolated for option in best.options):
        console.print("* beyond what was measured: extrapolated.")


def _section(option: Option) -> str:
    if not option.reached:
        return "not enough, or too biased:"
    return "" if robust(option.estimator) else "on documents like the drawn:"


def _two_digits(value: float, sign: str = "") -> str:
    if value == 0.0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:{sign},.{min(digits, 6)}f}"
