r"""The excess of folding in beside its bounds and the law, in the cells that were registered before they were scored.

`docs/law.md` has the law, its forms, the statements R1 to R8 and what counts as their success; its cells are
`docs/law-design.csv`, which `registered` makes again. A cell is a corpus, a length of its test documents, K, a source
of topics and a symmetric prior. Cells of topics that are drawn have no corpus. Corpora that were looked at before the
registration come under the flat prior and PLSA's topics alone, and are never counted with the others.

Of a cell the excess of every document is max_theta log p(w | theta), by EM, less log p(w): exact where that costs no
more than `limit`, the reference elsewhere (`heldout.evaluators.excess`, `heldout.evaluators.expected_excess`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from artifact.papers.likelihood.experiments.packages import fit_tomotopy
from artifact.papers.likelihood.settings import Law
from artifact.papers.likelihood.trained import trained
from artifact.results.recorder import Recorder, Results
from artifact.study.job import NO_CORPUS, Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.evaluation import in_vocabulary
from heldout.evaluators.excess import disjoint_excess, largest_excess
from heldout.evaluators.expected_excess import expected_excess, overlap_excess, topic_association, topic_information
from heldout.evaluators.folding_in import full_folding_in
from heldout.evaluators.normaliser import log_multinomial_nml_by_document
from heldout.evaluators.priors import exact_within
from heldout.evaluators.reference import reference
from heldout.libraries.read import fitted
from heldout.models import LDA, PLSA
from heldout.models.plsa import fold_in_counts
from heldout.topics import Topics
from heldout.typing import Floats

KIND, PER_ALPHA = "law", 1000  # axis, and place on it of an alpha of 1
TOMOTOPY, DRAWN = "tomotopy", "drawn"
# quantities: means over a cell's documents, nats, and what the topics say of themselves
EXCESS, WEIGHTS_BOUND, BOUND, COMPLEXITY = "excess", "weights-bound", "bound", "complexity"
LAW, BY_ASSOCIATION, BY_INFORMATION = "law", "law-by-association", "law-by-information"
ASSOCIATION, INFORMATION = "association", "information"
DOCUMENTS, TOKENS, VIOLATIONS, DROPPED = "documents", "tokens", "beyond-weights-bound", "dropped"
ERRORS, ROUNDING = 5.0, 1e-4  # standard errors, and nats of EM's end, by which a bound may seem to be passed

SOURCES = (PLSA, LDA, TOMOTOPY)  # sources of topics; the place is also the cell's seed
CORPORA = ("brown", "poliblog", "reviews", "cora")
CUTS = (10, 30, 100, 300, 1000)  # tokens of the documents of the first corpus
TOPICS = (2, 5, 20, 50, 100, 200, 500, 1000, 2000)
ALPHAS = ((0.1, 3.0), (0.3, 10.0))  # one beside the flat prior, by corpus and K
DRAWN_TOPICS, DRAWN_LENGTHS, DRAWN_ALPHAS = (3, 10, 50, 300), (10, 50, 200, 1000), (0.1, 1.0, 10.0)
DIALS = ((0.02, 0.0), (0.2, 0.0), (1.0, 0.0), (0.05, 0.5))  # gamma of the topics, and their share of common words
WORDS_PER_TOPIC, FLOOR = 40, 1e-12
LOOKED_AT = 50  # documents of corpora that were looked at before


@dataclass(frozen=True)
class Cell:
    """A cell: documents of a corpus or drawn ones, of one length where it is not 0, and topics under a prior."""

    corpus: str
    tokens: int
    topics: int
    source: str
    alpha: float
    documents: int
    seed: int
    gamma: float = 0.0
    omega: float = 0.0

    @property
    def variant(self) -> str:
        """The variant of the cell's rows: "law", "law-30", or "law-30-0.2-0" with the dial of drawn topics."""
        parts = [KIND, *([str(self.tokens)] if self.tokens else [])]
        return "-".join([*parts, *([f"{self.gamma:g}", f"{self.omega:g}"] if self.source == DRAWN else [])])


def _documents(K: int) -> int:
    """Return the number of documents of a cell with K topics."""
    return 100 if K <= 100 else 50 if K <= 200 else 25


def registered() -> Iterator[Cell]:
    """Yield the registered cells in their order: source and prior by a Latin square over corpora and K."""
    for i, (corpus, tokens) in enumerate([*((name, 0) for name in CORPORA), *((CORPORA[0], n) for n in CUTS)]):
        for j, K in enumerate(TOPICS):
            seed = (i + j) % len(SOURCES)
            for alpha in (1.0, ALPHAS[i % 2][(i // 2 + j) % 2]):
                yield Cell(corpus, tokens, K, SOURCES[seed], alpha, _documents(K), seed)
    for i, K in enumerate(DRAWN_TOPICS):
        for j, n in enumerate(DRAWN_LENGTHS):
            for d, (gamma, omega) in enumerate(DIALS):
                alpha = DRAWN_ALPHAS[(i + j + d) % len(DRAWN_ALPHAS)]
                yield Cell(NO_CORPUS.name, n, K, DRAWN, alpha, _documents(K), (i + j) % 3, gamma, omega)


def cells(corpus: str, K: int) -> list[Cell]:
    """Return the registered cells of a corpus and K; of any other corpus PLSA's under the flat prior."""
    if corpus not in (*CORPORA, NO_CORPUS.name):
        return [Cell(corpus, 0, K, PLSA, 1.0, min(_documents(K), LOOKED_AT), 0)]
    return [cell for cell in registered() if (cell.corpus, cell.topics) == (corpus, K)]


def experiment(job: Job, settings: Law) -> Results:
    """Measure the excess of the cells of one corpus, or of drawn topics, at one number of topics.

    Returns:
        No scores. Measurements with a cell's source as model, `Cell.variant` and the cell's seed, on the axis "law" at
        a thousand times alpha: the mean excess with its standard error, documents' spread and the reference's error
        together; the means of its bound at the maximum's weights, of its largest value, of log C(min(K, V), n), of the
        law, and of the law at V^2 n and at I n tokens, all in nats; V^2 and I; the number of documents, their mean
        tokens, and of documents beyond the first bound by five of their standard errors. Of a cell that is left out
        only "dropped": 1 for too few documents, 2 for too much work. Arrays, a row per document: tokens, excess,
        standard error, and the first bound.
    """
    results = job.recorder()
    topics_of: dict[str, Topics] = {}
    for cell in cells(job.corpus.name, job.topics):
        row = results.at(model=cell.source, variant=cell.variant, seed=cell.seed)
        rng = job.generator(KIND, variant=cell.variant, topics=cell.topics, model=cell.source, alpha=cell.alpha)
        if cell.source == DRAWN:
            topics = drawn(cell, rng)
            documents, _ = simulate(topics, np.full(cell.documents, cell.tokens, dtype=np.int64), rng)
        else:
            training, test = train_test_split(job.corpus, job.test_documents, cell.seed)
            if cell.source not in topics_of:
                topics_of[cell.source] = source_topics(cell.source, training, settings, cell.topics, cell.seed)
            topics = replace(topics_of[cell.source], alpha=np.full(cell.topics, cell.alpha))
            documents, _ = in_vocabulary(beginnings(test, cell, job), topics)
        dropped = 1 if documents.n_documents < cell.documents else 0
        if not dropped and documents.n_tokens * cell.topics * settings.samples > settings.work:
            dropped = 2
        if dropped:
            row.measure(DROPPED, dropped, axis=KIND, position=round(PER_ALPHA * cell.alpha))
        else:
            measure(row, topics, documents, settings, rng, round(PER_ALPHA * cell.alpha))
    return results.results


def drawn(cell: Cell, rng: np.random.Generator) -> Topics:
    """Return topics from Dir(gamma), mixed with a share omega of one distribution that is common to all."""
    K, V = cell.topics, WORDS_PER_TOPIC * cell.topics
    own, common = rng.dirichlet(np.full(V, cell.gamma), size=K), rng.dirichlet(np.ones(V))
    phi = (1.0 - cell.omega) * own + cell.omega * common + FLOOR
    return Topics(phi / phi.sum(axis=1, keepdims=True), np.full(K, cell.alpha), tuple(f"w{v}" for v in range(V)))


def source_topics(source: str, training: Corpus, settings: Law, K: int, seed: int) -> Topics:
    """Return the topics that a source trains on documents."""
    if source == TOMOTOPY:
        priors = {"alpha": settings.alpha_sum / K, "eta": settings.beta}
        model = fit_tomotopy(training, K, seed, settings.sweeps, **priors)
        topics = fitted(model).topics
        assert isinstance(topics, Topics)
        return topics
    em, chain = trained(training, settings, K, seed)
    return em.topics(training.vocabulary).smoothed(settings.smoothing) if source == PLSA else chain


def beginnings(test: Corpus, cell: Cell, job: Job) -> Corpus:
    """Return a cell's test documents, the first of a random order, or the beginnings of documents as long as that."""
    order = job.generator(f"{KIND}-documents", cell=cell.seed).permutation(test.n_documents)
    chosen = np.sort(order[test.lengths[order] >= max(cell.tokens, 1)][: cell.documents])
    cut = [test.document(int(d))[: cell.tokens or None] for d in chosen]
    return test.with_streams(cut, tuple(test.documents[d] for d in chosen))


def measure(
    row: Recorder, topics: Topics, documents: Corpus, settings: Law, rng: np.random.Generator, place: int
) -> None:
    """Measure a cell's excess, its bounds and forms, at a place on the axis "law"."""
    n, K, D = documents.lengths, topics.n_topics, documents.n_documents
    theta: Floats = fold_in_counts(
        topics, documents.counts(), iterations=settings.most_iterations, tolerance=settings.tolerance, extrapolated=True
    )
    full = full_folding_in([topics], documents, lambda *_: theta).log_likelihood
    truth = exact_within(topics, documents, settings.limit) or reference(
        topics, documents, settings.samples, rng, chains=settings.annealing_chains, variance=settings.variance
    )
    excess = full - truth.log_likelihood
    bound = disjoint_excess(n[:, None] * theta, topics.alpha)
    violations = excess > bound + ERRORS * truth.standard_error + ROUNDING
    error = math.hypot(float(excess.std(ddof=1)) / math.sqrt(D), truth.total_error() / D)
    row.measure(EXCESS, excess.mean(), error=error, axis=KIND, position=place)
    information = topic_information(topics)
    values = {
        WEIGHTS_BOUND: bound.mean(),
        BOUND: largest_excess(n, topics.alpha).mean(),
        COMPLEXITY: log_multinomial_nml_by_document(min(K, len(topics.vocabulary)), n).mean(),
        LAW: expected_excess(n, topics.alpha).mean(),
        BY_ASSOCIATION: overlap_excess(topics, n).mean(),
        BY_INFORMATION: overlap_excess(topics, n, share=information).mean(),
        ASSOCIATION: topic_association(topics),
        INFORMATION: information,
        DOCUMENTS: D,
        TOKENS: n.mean(),
        VIOLATIONS: violations.sum(),
    }
    for name, value in values.items():
        row.measure(name, value, axis=KIND, position=place)
    documents_of = np.column_stack([n, excess, truth.standard_error, bound])
    row.array(f"{row.model}-{row.variant}-{place}", documents_of)
