"""The reference's validation read back: its difference from other estimates, by cell and by document.

A cell is a corpus, a model, a prior, a number of topics and a seed, by the estimate that the reference is held to
(`experiments.validation`): itself with more work, a particle filter, or bounds of drawn documents. It counts as
validated ("checked" in the paper) where both stated errors are at most `LARGEST`, and no document's log weights of the
particle filter have a variance above 1 nat^2: of normal log weights the mean of R weights then errs by a factor whose
relative error is above sqrt((e - 1) / R), and its logarithm is a lower bound in expectation, no estimate. Other cells
decide nothing; they are counted.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood.experiments import validation as measured
from artifact.papers.likelihood.results import FITTED, OPTIMISM
from artifact.results.reading import LARGEST, select
from heldout.evaluators import EXACT
from heldout.models import LDA, PLSA

if TYPE_CHECKING:
    import pandas as pd

RUNS = 10  # number of the particle filter's runs where a study does not say
NAMES = {
    measured.LONGER: "the reference, longer",
    measured.FILTER: "particle filter",
    measured.LOWER: "lower bound",
    measured.UPPER: "upper bound",
}
_CELL = ["corpus", "model", "variant", "topics", "seed"]


def cells(inputs: Inputs, corpora: Sequence[str] | None = None) -> "pd.DataFrame":
    """Return every cell, by the estimate that the reference is held to there.

    Returns:
        "corpus", "model", "topics", "seed", "prior" and "other", the other estimate; "tokens" and "documents", their
        numbers; in nats per token "gain", the reference less the other, its "error", "stated", the reference's own
        error, and "own", the other's (NaN of bounds); and "validated".
    """
    table = select(inputs.measurements, axis="documents")
    table = table[table["variant"].str.startswith(f"{measured.KIND}-")]
    table = table[table["corpus"].isin(inputs.settings.corpora if corpora is None else list(corpora))]
    ends = (measured.DIFFERENCE, measured.TOKENS, measured.REFERENCE_ERROR, measured.OWN_ERROR)
    kinds = {end: table[table["quantity"].str.endswith(end)] for end in ends}
    named = {end: rows.assign(other=rows["quantity"].str.removesuffix(end)) for end, rows in kinds.items()}
    keys = [*_CELL, "other"]
    table = named[measured.DIFFERENCE][[*keys, "value", "standard_error", "at"]].rename(columns={"at": "documents"})
    for end, column in ((measured.TOKENS, "tokens"), (measured.REFERENCE_ERROR, "stated"), (measured.OWN_ERROR, "own")):
        table = table.merge(named[end][[*keys, "value"]].rename(columns={"value": column}), on=keys, how="left")
    tokens = table.pop("tokens")
    table = table.rename(columns={"value": "gain", "standard_error": "error"})
    for name in ("gain", "error", "stated", "own"):
        table[name] = table[name] / tokens
    validated = table[["stated", "own"]].fillna(0.0).max(axis=1) <= LARGEST
    table = table.merge(_bounds(inputs), on=keys, how="left")
    validated &= ~table.pop("bound").fillna(False).astype(bool)
    prior = table["variant"].str.removeprefix(f"{measured.KIND}-")
    return table.drop(columns="variant").assign(prior=prior, tokens=tokens, validated=validated)


def _bounds(inputs: Inputs) -> "pd.DataFrame":
    """Return the cells of the particle filter that are lower bounds of one document or more, with "bound"."""
    settings = inputs.settings.experiment(measured.KIND).get("settings", {})
    error = math.sqrt(math.expm1(1.0) / settings.get("runs", RUNS))
    largest = math.hypot(error, error**2 / 2.0)  # with its bias (`heldout.evaluators.evaluation.corrected`)
    table = select(inputs.measurements, axis="document", quantity=measured.FILTER + measured.OWN_ERROR)
    cells = table[table["value"] > largest][_CELL].drop_duplicates()
    return cells.assign(other=measured.FILTER, bound=True)


def by_document(inputs: Inputs, other: str) -> "pd.DataFrame":
    """Return the reference less another estimate, nats per token, by model, prior and K, with its error over documents.

    The documents of all splits are one sample. The value is the sum of their differences over that of their tokens.

    Returns:
        "corpus", "model", "prior", "topics", "value", "error", "freedom", and "replicates", the number of documents.
    """
    import pandas as pd

    keys = ["corpus", "model", "prior", "topics"]
    known = select(cells(inputs), other=other)
    table = select(inputs.measurements, axis="document", quantity=other + measured.DIFFERENCE)
    prior = table["variant"].str.removeprefix(f"{measured.KIND}-")
    differences = {key: own["value"].to_numpy(float) for key, own in table.assign(prior=prior).groupby(keys)}
    rows = []
    for key, own in known.groupby(keys, sort=False):
        tokens = own["tokens"].to_numpy(float)
        sums, gaps = own["gain"].to_numpy(float) * tokens, differences.get(key)
        if gaps is None:  # bounds, whose error is that over documents already
            variance, n = float(((own["error"].to_numpy(float) * tokens) ** 2).sum()), int(own["documents"].sum())
        else:
            variance, n = float(gaps.var(ddof=1)) * len(gaps), len(gaps)
        error = math.sqrt(variance) / float(tokens.sum())
        rows.append((*key, float(sums.sum() / tokens.sum()), error, n - 1.0, n))
    return pd.DataFrame(rows, columns=[*keys, "value", "error", "freedom", "replicates"])


def unvalidated(inputs: Inputs) -> Callable[[str, str, str, int], bool]:
    """Return a test of whether an estimate leaves the likelihood of a corpus, model, prior and K unvalidated.

    A number of topics is validated by the next larger one that the reference is held to, if every estimate that was run
    there is validated in every split; exact values need none.
    """
    table = cells(inputs)
    exact = exact_cells(inputs)
    known = table.groupby(["corpus", "model", "prior", "topics"])["validated"].all()

    def test(corpus: str, model: str, prior: str, topics: int) -> bool:
        if (corpus, model, prior, topics) in exact:
            return False
        larger = [k for c, m, p, k in known.index if (c, m, p) == (corpus, model, prior) and k >= topics]
        return not (larger and bool(known[corpus, model, prior, min(larger)]))

    return test


def exact_cells(inputs: Inputs) -> set[tuple[str, str, str, int]]:
    """Return the corpus, model, prior and K of exact likelihoods."""
    rows = select(inputs.scores, evaluator=EXACT)
    names = {(OPTIMISM, PLSA): measured.FLAT, (OPTIMISM, LDA): measured.OWN_PRIOR}
    names |= {(FITTED, model): measured.FITTED for model in (PLSA, LDA)}
    keys = zip(rows["corpus"], rows["model"], rows["variant"], rows["topics"], strict=True)
    return {(c, m, names[v, m], int(k)) for c, m, v, k in keys if (v, m) in names}
