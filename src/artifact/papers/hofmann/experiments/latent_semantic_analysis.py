"""LSA at growing ranks, and unigrams, as models of the words of each document: Hofmann (1999), section 3.6, Figure 5.

Tokens, not documents, are held out (`heldout.corpora.split.token_split`): a model is fitted to the training tokens of
all documents, its settings are chosen on the validation tokens, and the test tokens of the same documents are scored by
p(w | d), the evaluator "document-specific-unigram". Test tokens whose word has no training token in any document are
left out, the same for every model.

Welling et al. (2008) take it that Hofmann folds in fully. So LSA's main reading and a document's own counts are scored
once more as "document-specific-unigram-folded-in": the document is represented by all of its tokens, the scored ones
included, projected on the singular vectors of the training counts. The validation tokens still choose, though they are
then among those that the reading has seen.

Chosen on the validation tokens: LSA's weight of the unigram and, for cosines, the exponent among those given
(`heldout.models.lsa`); the unigrams' constants among those given (`heldout.models.unigram`).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from artifact.papers.hofmann.settings import LatentSemanticAnalysis
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import TokenSplit, token_split
from heldout.evaluators.evaluation import Evaluation
from heldout.models import lsa
from heldout.models.unigram import smoothed_documents, unigram
from heldout.topics import perplexity
from heldout.typing import Floats, Ints

EVALUATOR = "document-specific-unigram"
FOLDED_IN = f"{EVALUATOR}-folded-in"
LSA, UNIGRAM, SPLIT = "lsa", "unigram", "token-split"
CLIPPED, SHIFTED, COSINE, GEOMETRIC = "clipped", "shifted", "cosine", "cosine-geometric"
LIKELIEST, SMOOTHED, BY_DOCUMENT = "maximum-likelihood", "smoothed", "document-smoothed"
VALIDATION = "validation-perplexity"
WEIGHT, EXPONENT, CONSTANT, RANK, TOKENS, LEFT_OUT = (
    "mixing-weight",
    "exponent",
    "constant",
    "rank",
    "tokens",
    "tokens-left-out",
)


class Part(NamedTuple):
    """The cells of a part of the tokens.

    Attributes:
        rows, words, counts: (n,) document, word and tokens of each cell.
        lengths: (D,) tokens per document.
    """

    rows: Ints
    words: NDArray[np.int32]
    counts: Floats
    lengths: Ints

    @classmethod
    def of(cls, documents: Corpus) -> "Part":
        """Return the cells of documents."""
        counts = documents.counts()
        rows = np.repeat(np.arange(counts.shape[0], dtype=np.int64), np.diff(counts.indptr))
        return cls(rows, counts.indices.astype(np.int32), counts.data, documents.lengths)

    def log_likelihood(self, probabilities: Floats) -> Floats:
        """Return sum_w n(d, w) log p, (D,), nats, of the cells' probabilities (n,); -inf where one is 0."""
        with np.errstate(divide="ignore"):
            terms = self.counts * np.log(probabilities)
        by_document: Floats = np.bincount(self.rows, weights=terms, minlength=len(self.lengths)).astype(np.float64)
        return by_document

    def perplexity(self, probabilities: Floats) -> float:
        """Return the perplexity of the cells' probabilities, (n,)."""
        return perplexity(float(self.log_likelihood(probabilities).sum()), int(self.lengths.sum()))


class Reading(NamedTuple):
    """A model's probabilities of the validation and test cells, and its chosen settings."""

    validation: Floats
    test: Floats
    chosen: dict[str, float]


def experiment(job: Job, settings: LatentSemanticAnalysis) -> Results:
    """Score LSA's readings at every rank, and the unigrams.

    All documents are used.

    Returns:
        Scores of the evaluator "document-specific-unigram": of model "lsa" with the variants "clipped", "shifted",
        "cosine", "cosine-geometric", where topics is the rank; of model "unigram" with "maximum-likelihood", "smoothed"
        and "document-smoothed", where it is 0; of "clipped" and "document-smoothed" also by
        "document-specific-unigram-folded-in". Measurements of the former on the axis "topics": "validation-perplexity",
        and the choices ("mixing-weight" of the unigram, "exponent", "constant"). Of the model "token-split" with
        the variants "training", "validation" and "test", on the axis "documents" at the number of documents with tokens
        in the part: its "tokens" and its "tokens-left-out"; of "lsa" and the variant "full", on the axis "documents",
        the "rank" of the training counts.
    """
    split = token_split(job.corpus, settings.shares, job.seed)
    validation, test = Part.of(split.validation), Part.of(split.test)
    recorder = job.recorder(documents=split.test.documents)
    left_out = (0, split.validation_left_out, split.test_left_out)
    for variant, part, out in zip(("training", "validation", "test"), split[:3], left_out, strict=True):
        row, documents = recorder.at(model=SPLIT, variant=variant), (part.lengths > 0).sum()
        row.measure(TOKENS, part.n_tokens, axis="documents", position=documents)
        row.measure(LEFT_OUT, out, axis="documents", position=documents)

    training, whole = split.training.counts(), together(split).counts()
    flat = unigram(training)

    def best(readings: list[Reading]) -> Reading:
        return min(readings, key=lambda reading: validation.perplexity(reading.validation))

    def unigram_reading(p: Floats, chosen: dict[str, float]) -> Reading:
        return Reading(p[validation.words], p[test.words], chosen)

    def by_document(counts: sp.csr_array, mass: float) -> Reading:
        on_validation, on_test = (smoothed_documents(counts, mass, p.rows, p.words) for p in (validation, test))
        return Reading(on_validation, on_test, {CONSTANT: mass})

    def mixed(p: Floats, **chosen: float) -> Reading:
        unmixed = lsa.mixed(p, flat, validation.rows, validation.words, 0.0)
        weight = lsa.mixing_weight(unmixed, flat[validation.words], validation.counts)
        on_validation, on_test = (lsa.mixed(p, flat, part.rows, part.words, weight) for part in (validation, test))
        return Reading(on_validation, on_test, {WEIGHT: weight, **chosen})

    def readings() -> Iterator[tuple[str, str, int, str, Reading]]:
        yield UNIGRAM, LIKELIEST, 0, EVALUATOR, unigram_reading(flat, {})
        by_constant = [unigram_reading(unigram(training, c), {CONSTANT: c}) for c in settings.constants]
        yield UNIGRAM, SMOOTHED, 0, EVALUATOR, best(by_constant)
        for evaluator, counts in ((EVALUATOR, training), (FOLDED_IN, whole)):
            yield UNIGRAM, BY_DOCUMENT, 0, evaluator, best([by_document(counts, mass) for mass in settings.masses])
        decomposition = lsa.decompose(training)
        rank = decomposition.rank
        recorder.at(model=LSA, variant="full").measure(RANK, rank, axis="documents", position=job.corpus.n_documents)
        kept = [k for k in settings.ranks if k < rank] + [rank]
        for one in lsa.reconstructions(decomposition, kept):
            yield LSA, CLIPPED, one.rank, EVALUATOR, mixed(one.clipped())
            yield LSA, SHIFTED, one.rank, EVALUATOR, mixed(one.shifted())
            cosines = one.log_cosines()
            for variant, times in ((COSINE, None), (GEOMETRIC, flat)):
                powers = [mixed(lsa.raised(cosines, gamma, times), **{EXPONENT: gamma}) for gamma in settings.exponents]
                yield LSA, variant, one.rank, EVALUATOR, best(powers)
        for one in lsa.reconstructions(lsa.folded_in(decomposition, whole), kept):
            yield LSA, CLIPPED, one.rank, FOLDED_IN, mixed(one.clipped())

    for model, variant, rank, evaluator, reading in readings():
        row = recorder.at(model=model, variant=variant, topics=rank)
        evaluation = Evaluation.deterministic(test.log_likelihood(reading.test), test.lengths, split.test_left_out)
        row.score(evaluator, evaluation)
        if evaluator == EVALUATOR:
            row.measure(VALIDATION, validation.perplexity(reading.validation))
            for quantity, value in reading.chosen.items():
                row.measure(quantity, value)
    return recorder.results


def together(split: TokenSplit) -> Corpus:
    """Return the documents with the tokens of all three parts, over the words of the training part."""
    streams = [np.concatenate([part.document(d) for part in split[:3]]) for d in range(split.test.n_documents)]
    return split.training.with_streams(streams, split.training.documents)
