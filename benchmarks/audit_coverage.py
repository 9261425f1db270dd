"""Do the errors that an audit states cover, on real documents?

Run as `python benchmarks/audit_coverage.py --raw FOLDER --output FILE.csv`, FOLDER holding the downloaded archives; it
prints Markdown, and goes on where the file ends. `--report` prints the Markdown of a file alone. All of it takes hours:
the truths are most of that.

A library fits a model to training documents. The audit's estimate of the log-likelihood of held-out documents, with its
error, is held to the exact value where that costs at most `--limit` updates, and elsewhere to the reference with
`--work` times the sweeps; annealed importance sampling from the prior, which shares nothing with it but the model, has
as many sweeps and says whether to believe that one. With d the difference of estimate and truth and e the root of the
sum of their squared errors, biases included, a 95 % interval covers where |d| <= 1.96 e: for each document, and for the
sum over documents.

The estimates:

* `default`: the audit's own choice where the exact value is too expensive;
* `least`: the same with as few sweeps as it takes, as the audit of a large corpus has;
* the estimators in `NAMED`, corrected as the audit corrects them.

Rules (the sweeps, `heldout.evaluators.reference`'s constants, the correction) are chosen on the other corpora than
`--held-out`, whose coverage is reported apart.
"""

# ruff: noqa: E402  (thread counts must be set before the packages are imported)

import os

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # read by the packages when they are imported

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from speed import commit

from artifact.papers.likelihood.experiments.packages import check_installed, fit_peer, with_own_words
from artifact.study.study import PEERS
from heldout.auditing.audit.audit import audit
from heldout.auditing.blocks import LIKELIHOOD
from heldout.corpora.corpus import Corpus
from heldout.corpora.prepare import prepare
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators import ANNEALED, CHIB, ESTIMATORS, EXACT, MEAN_FIELD_FIRST, REFERENCE, SEQUENTIAL
from heldout.evaluators.annealed_importance import annealed_importance
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.evaluators.priors import DIRICHLET, exact_within, prior_of
from heldout.evaluators.reference import CHAINS, reference, sweeps
from heldout.files import write_rows
from heldout.libraries import Fitted
from heldout.libraries.read import fitted as read_model
from heldout.seeds import generator
from heldout.typing import Floats

TABLE = Path(__file__).parents[1] / "data" / "corpora.csv"
ROUNDS = {"scikit-learn": 20, "gensim": 10, "tomotopy": 500}
CTM, CTM_SWEEPS = "tomotopy-ctm", 300  # its prior is logistic normal
NAMED = {SEQUENTIAL: 20, ANNEALED: 10, CHIB: 100, MEAN_FIELD_FIRST: 100}  # and samples
DEFAULT, LEAST, CHECK = "default", "least", "check"
TEMPERATURES = 100  # of annealed importance sampling
NORMAL = 1.96  # 95 %
LARGEST_OF_NORMAL = 1e300  # updates: whatever has an exact value
TINY = 1e-9  # nats^2: all sweeps are spent


class Row(NamedTuple):
    """An estimate beside the truth, in one cell.

    Attributes:
        corpus, library, topics: of the model.
        truth: "exact-marginal" or "reference".
        estimate: the name of the estimate.
        documents, tokens: how many, those of the documents that are not empty.
        covered: the share of documents whose interval covers.
        z_of_documents: the root mean square of d / e.
        error: the root mean square of d, nats per document.
        difference: d of the sum, nats.
        stated, of_truth: the estimate's and the truth's stated error of the sum, nats.
    """

    corpus: str
    library: str
    topics: int
    truth: str
    estimate: str
    documents: int
    tokens: int
    covered: float
    z_of_documents: float
    error: float
    difference: float
    stated: float
    of_truth: float

    @property
    def z(self) -> float:
        """The difference of the sum in errors; 0 if there is neither."""
        error = math.hypot(self.stated, self.of_truth)
        return self.difference / error if error else 0.0 if self.difference == 0.0 else math.inf


def row_of(
    cell: tuple[str, str, int],
    truth: str,
    name: str,
    found: Evaluation,
    of: Evaluation,
    stated: float = math.nan,
) -> Row:
    """Return the row of an estimate and its truth, both with their errors and biases; `stated` is an audit's."""
    scored = (of.tokens > 0) & np.isfinite(of.log_likelihood)
    d = (found.log_likelihood - of.log_likelihood)[scored]
    e = np.sqrt(sum(_squared(evaluation)[scored] for evaluation in (found, of)))
    z = np.divide(d, e, out=np.where(np.abs(d) < 1e-6, 0.0, np.inf), where=e > 0.0)
    return Row(
        *cell,
        truth,
        name,
        int(scored.sum()),
        int(of.tokens[scored].sum()),
        float((np.abs(z) <= NORMAL).mean()),
        float(np.sqrt((z**2).mean())),
        float(np.sqrt((d**2).mean())),
        float(d.sum()),
        found.total_error(np.flatnonzero(scored)) if math.isnan(stated) else stated,
        of.total_error(np.flatnonzero(scored)),
    )


def _squared(found: Evaluation) -> Floats:
    return np.nan_to_num(found.standard_error) ** 2 + (0.0 if found.bias is None else found.bias**2)


def rows_of(
    corpus: Corpus, library: str, topics: int, *, seed: int, training: int, documents: int, work: float, limit: float
) -> Iterator[Row]:
    """Yield the rows of one corpus, library and K.

    Args:
        corpus: all documents.
        library: one of `artifact.study.study.PEERS`, or `CTM`.
        topics: K.
        seed: determines the split, the library's seed and the draws.
        training: the most documents to train on.
        documents: how many are held out.
        work: the sweeps of the truth over those of the default estimate.
        limit: the most updates of the exact values.
    """
    check_installed("tomotopy" if library == CTM else library)
    rest, test = train_test_split(corpus, documents, seed)
    chosen = generator("coverage-training", corpus=corpus.name, seed=seed).permutation(rest.n_documents)[:training]
    own = with_own_words(rest.subset(np.sort(chosen)))
    axes = {"corpus": corpus.name, "library": library, "topics": topics, "seed": seed}
    start = int(generator("coverage-fit", **axes).integers(2**31))
    fitted = (
        _correlated(own, topics, start) if library == CTM else fit_peer(library, own, topics, start, ROUNDS[library])
    )
    model: Any = fitted.topics
    dirichlet = prior_of(model) is DIRICHLET
    cell = (corpus.name, library, topics)

    def estimated(**options: object) -> tuple[int, Evaluation, float]:
        result = audit(fitted, test, limit=0.0, reported=False, other_corpus=True, random_state=seed, **options)
        independent = np.sqrt(np.maximum(result.errors[LIKELIHOOD] ** 2 - result.bias**2, 0.0))
        found = Evaluation(result.nats[LIKELIHOOD], result.lengths, independent, bias=result.bias)
        return result.line(LIKELIHOOD).samples, found, result.line(LIKELIHOOD).standard_error

    samples, default, stated = estimated()
    exact = exact_within(model, test, limit if dirichlet else LARGEST_OF_NORMAL)
    if exact is not None:
        name, truth = EXACT, exact
    else:
        taken = sweeps(model, test, samples, generator("coverage-sweeps", **axes))
        most = math.ceil(work * float(np.average(taken, weights=default.tokens)))
        rng = generator("coverage-truth", **axes)
        name, truth = REFERENCE, reference(model, test, most, rng, chains=4 * CHAINS, variance=TINY)
    if exact is None and dirichlet:
        rng = generator("coverage-check", **axes)
        check = annealed_importance(model, test, max(2, most // TEMPERATURES), rng, temperatures=TEMPERATURES)
        yield row_of(cell, name, CHECK, corrected(check, consistent=True), truth)
    yield row_of(cell, name, DEFAULT, default, truth, stated)
    fewest = ESTIMATORS[REFERENCE].fewest
    _, least, stated = estimated(estimator=REFERENCE, samples=fewest)
    yield row_of(cell, name, LEAST, least, truth, stated)
    for estimator, number in NAMED.items() if dirichlet else ():
        _, found, stated = estimated(estimator=estimator, samples=number)
        yield row_of(cell, name, estimator, found, truth, stated)


def _correlated(training: Corpus, topics: int, seed: int) -> Fitted:
    """Return a correlated topic model fitted to documents over their own words."""
    import tomotopy

    model = tomotopy.CTModel(k=topics, seed=seed)
    for d in range(training.n_documents):
        if training.lengths[d]:
            model.add_doc([training.vocabulary[v] for v in training.document(d)])
    model.train(CTM_SWEEPS, workers=1)
    return read_model(model)


def read_rows(path: Path) -> list[Row]:
    """Return the rows that a file has; none if there is no file."""
    if not path.exists():
        return []
    kinds = Row.__annotations__
    with path.open(encoding="utf-8", newline="") as file:
        return [Row(**{name: kinds[name](value) for name, value in row.items()}) for row in csv.DictReader(file)]


def markdown(rows: Sequence[Row], held_out: str, measured: str) -> str:
    """Return the tables: coverage by estimate, on corpora that rules were chosen on and on the one held out."""
    lines = [
        "# Do the errors that an audit states cover?",
        "",
        f"Written by `python benchmarks/audit_coverage.py`; rows were measured {measured}, and the estimators may have"
        " changed since. Nominal 95 % intervals on held-out documents of real corpora under models that libraries"
        " fitted.",
        "",
        "* `corpora`: those that the tool's rules were chosen on, or the one that was held out; `cells`: how many"
        " triples of a corpus, a library and K a row has.",
        "* `truth`: exact values, or the reference with many times the sweeps; `estimate`: the audit's own (`default`),"
        " the reference with the fewest sweeps (`least`), a named estimator, or annealed importance sampling with the"
        " truth's sweeps (`check`).",
        "* `low`: cells whose total is below the truth; `documents` and `totals`: the shares that intervals cover.",
        "* z: the difference of a cell's total in its stated errors; `error per token`: the r.m.s. of these differences"
        " per token, nats.",
        "",
        "| corpora | truth | estimate | cells | low | documents | totals | r.m.s. z | largest z | error per token |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    names = dict.fromkeys(row.estimate for row in rows)
    for corpora, is_held_out in (("chosen on", False), (f"held out: {held_out}", True)):
        for truth in (EXACT, REFERENCE):
            for name in names:
                cells = [
                    row
                    for row in rows
                    if (row.corpus == held_out, row.truth, row.estimate) == (is_held_out, truth, name)
                ]
                if cells:
                    lines.append(f"| {corpora} | {truth} | {name} | {_cells(cells)} |")
    lines += [
        "",
        "By number of topics, the default estimate:",
        "",
        "| topics | cells | documents | totals | largest z |",
    ]
    lines.append("|---:|---:|---:|---:|---:|")
    for topics in sorted({row.topics for row in rows}):
        cells = [row for row in rows if row.topics == topics and row.estimate == DEFAULT]
        if cells:
            documents, totals, largest = _shares(cells)
            lines.append(f"| {topics} | {len(cells)} | {documents:.1%} | {totals:.1%} | {largest:.1f} |")
    return "\n".join(lines) + "\n"


def _shares(cells: Sequence[Row]) -> tuple[float, float, float]:
    """Return the shares of documents and of totals that are covered, and the largest z of a total."""
    covered = sum(row.covered * row.documents for row in cells) / sum(row.documents for row in cells)
    z = [abs(row.z) for row in cells]
    return covered, sum(value <= NORMAL for value in z) / len(z), max(z)


def _cells(cells: Sequence[Row]) -> str:
    documents, totals, largest = _shares(cells)
    z = math.sqrt(sum(row.z**2 for row in cells) / len(cells))
    per_token = math.sqrt(sum((row.difference / row.tokens) ** 2 for row in cells) / len(cells))
    low = sum(row.difference < 0.0 for row in cells)
    return f"{len(cells)} | {low} | {documents:.1%} | {totals:.1%} | {z:.2f} | {largest:.1f} | {per_token:.1e}"


def main() -> int:
    """Measure the cells that the file lacks, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--raw", type=Path, help="the folder of the downloaded archives")
    add("--output", type=Path, required=True, help="a CSV, a row per cell and estimate")
    add("--corpora", nargs="+", default=["cranfield", "nips", "reuters"])
    add("--held-out", default="reuters", help="the corpus on which no rule was chosen (default: reuters)")
    add("--libraries", nargs="+", default=[*PEERS, CTM])
    add("--topics", nargs="+", type=int, default=[2, 3, 5, 10, 20, 50, 100, 200])
    add("--training", type=int, default=2000, help="documents to train on, at most (default: 2000)")
    add("--documents", type=int, default=100, help="held-out documents, of NIPS a fifth (default: 100)")
    add("--work", type=float, default=50.0, help="the truth's sweeps over the default's (default: 50)")
    add("--limit", type=float, default=5e10, help="updates of the exact values of a cell (default: 5e10)")
    add("--seed", type=int, default=0)
    add("--report", action="store_true", help="measure nothing")
    add("--measured", default=f"at commit {commit()}", help="say when rows were measured (default: at this commit)")
    options = parser.parse_args()
    try:
        rows = read_rows(options.output)
        done = {(row.corpus, row.library, row.topics) for row in rows}
        if not options.report and options.raw is None:
            raise InputError("give --raw, the folder of the downloaded archives, or --report")
        for name in () if options.report else options.corpora:
            corpus = prepare(name, options.raw, TABLE)
            for library in options.libraries:
                for topics in options.topics:
                    if (name, library, topics) in done:
                        continue
                    rows += rows_of(
                        corpus,
                        library,
                        topics,
                        seed=options.seed,
                        training=options.training,
                        documents=max(2, options.documents // (5 if name == "nips" else 1)),
                        work=options.work,
                        limit=options.limit,
                    )
                    write_rows(options.output, Row._fields, rows)
        print(markdown(rows, options.held_out, options.measured), end="")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
