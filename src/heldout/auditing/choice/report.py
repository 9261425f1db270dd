"""A choice of the number of topics that prints itself, draws its figure and writes its page."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from heldout.auditing.choice.result import Candidate, ChoiceResult
from heldout.auditing.formats import amount, clean, error, interval, nats, perplexity, sentence, signed
from heldout.auditing.pages import WIDTH, page, settings_text
from heldout.auditing.rank import wording
from heldout.auditing.rank.report import Ranking
from heldout.auditing.rank.result import Difference
from heldout.auditing.sheet import Sheet, frame
from heldout.auditing.tables import Column, Table
from heldout.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SHOWN = 3  # failures that are named; of more the number is said


class Choice(ChoiceResult, Ranking):
    """A ranking of numbers of topics; it has the attributes of `heldout.auditing.choice.result.ChoiceResult`."""

    def _verdict(self, sheet: Sheet) -> Iterator[RenderableType]:
        yield from super()._verdict(sheet)
        if self.restarts > 1:
            yield sheet.text(_seeds(self))
        if self.failures:
            yield sheet.text(failed(self.failures))

    def table(self) -> Table:
        """Return the numbers of topics in one table, the fewest first."""
        heads = ("topics", "perplexity", "interval", "behind", "±", "", "NPMI", "exclusivity", "library", "folding in")
        more = (*heads, "seeds ±", "again") if self.restarts > 1 else heads
        pairs = sorted(zip(self.models, self.behind, strict=True), key=lambda pair: pair[0].topics)
        again = (
            " Seeds ±: a fit's standard deviation over seeds, nats per token. Again: topics nearer to one of another"
            " seed than to any other of their own fit."
        )
        return Table(
            "Perplexity per token of held-out documents, and nats per token behind the best",
            tuple(Column(head, number=head != "") for head in more),
            [self._row(model, gap)[: len(more)] for model, gap in pairs],
            "Interval: 95 %, for other documents, seeds and folds of this corpus. Behind the best: ± is the standard"
            " error of the paired difference on the same documents. A tie is not told apart from the best, at 5 % over"
            f" all pairs.{again * (self.restarts > 1)}",
            tuple(place for place, (model, _) in enumerate(pairs) if model is self.best),
            most=50,
        )

    def _row(self, model: Candidate, gap: Difference) -> tuple[str, ...]:
        best = model is self.best
        state = "best" if best else f"{model.impossible:,} impossible" if model.impossible else "tie" * (not gap.apart)
        return (
            f"{model.topics:,}",
            wording.shown(self, model),
            interval(*self.interval(model)),
            "" if best else signed(gap.nats_per_token),
            "" if best else error(gap.error),
            state,
            *(nats(value, 2) if math.isfinite(value) else "" for value in (model.coherence, model.exclusivity)),
            "" if math.isnan(model.reported.perplexity) else perplexity(model.reported.perplexity),
            perplexity(math.exp(min(-model.folding_in, 700.0))),
            error(model.seed_spread),
            "" if math.isnan(model.again) else f"{model.again:.0%}",
        )

    def __repr__(self) -> str:
        """Return one line."""
        return f"<Choice of {amount(self.n_topics, 'topic')}: {wording.headline(self)}>"

    def to_frame(self) -> "pd.DataFrame":
        """Return a pandas table with a row per number of topics, the fewest first; see `records` (needs pandas)."""
        return frame(self.records(), "topics")

    def plot(self, figure: "Figure | None" = None) -> "Figure":  # type: ignore[override]  # of several axes
        """Draw the figure over the number of topics (needs matplotlib).

        The likelihood has intervals of the differences from the best, at 5 % over all pairs; full circles are not told
        apart from it. Beside it, as far as they are known: coherence, exclusivity, the library's own number, folding
        in with its bound, and the share of topics that come again over seeds.

        Args:
            figure: drawn into, 8.6 by 4.3 inches or more; None makes one with pyplot.

        Raises:
            InputError: without matplotlib.
        """
        try:
            import matplotlib.pyplot as plt

            from heldout.auditing.choice.figures import SIZE, draw
        except ImportError as error:
            raise InputError("a figure takes matplotlib: pip install matplotlib") from error
        return draw(self, figure or plt.figure(figsize=SIZE, layout="constrained"))

    def to_html(self) -> str:
        """Return the page of `heldout choose --html`, one file with its figures (needs matplotlib)."""
        from heldout.auditing.choice.figures import for_page  # late: matplotlib may be missing

        sheet, size = Sheet(WIDTH, is_page=True), f"{amount(self.documents, 'document')} in {self.corpus}"
        failures = [sheet.text("\n".join(map(sentence, self.failures)))] if len(self.failures) > SHOWN else []
        details = (*self._details(sheet), *failures, sheet.note(settings_text(self.settings)))
        return page(f"Choice of the number of topics: {size}", self._verdict(sheet), for_page(self), details)


def failed(failures: tuple[str, ...]) -> str:
    """Return a sentence on the fits that failed."""
    more = f"; and {len(failures) - SHOWN} more" if len(failures) > SHOWN else ""
    return f"{amount(len(failures), 'fit')} failed: {clean('; '.join(failures[:SHOWN]))}{more}."


def _seeds(choice: ChoiceResult) -> str:
    """Return a sentence on the seeds of the best number of topics."""
    best = choice.best
    again = "" if math.isnan(best.again) else f", and {best.again:.0%} of its topics come again"
    spread = f"a fit of {amount(best.topics, 'topic')} differs by ± {error(best.seed_spread)} nats per token"
    return f"Over {choice.restarts} seeds in each fold {spread}{again}."
