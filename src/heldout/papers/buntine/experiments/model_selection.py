r"""Model selection where the truth is known: Buntine (2009), section 4.2, and this project's evaluators beside his.

A corpus that was drawn from known topics has training documents, of which growing numbers are taken from its start, and
held-out documents, taken from its end. One job scores one model (K, a number of training documents, a seed) on the
held-out documents, by every estimator. The known topics are scored in the same way, by the job whose K is theirs and
whose model is of the fewest documents: only by chance can a trained model beat them.

All documents and some. What is quadratic in a document's length is run on some of the held-out documents, drawn for
each K (so that K's are independent of each other) and the same for all training sizes and seeds (so that these are
paired). With an estimator c that scored all D documents, one that scored n of them is taken to say of all

    sum_D c + T_D r,     r = sum_n (estimate - c) / T_n,     T the numbers of tokens,

and r has the standard error of a ratio: it covers which documents were drawn, and the Monte Carlo errors of both.

Reference. A particle filter (`heldout.evaluators.particle_filter`) is unbiased as a probability; half the squared
standard error is added to its logarithm. An estimator's bias is the mean of its logarithm less the reference's over the
same documents. The sequential sampler with many samples is held against the same reference.

Readings. On some documents, what section 3.5 may mean by a record is estimated with particles in several ways.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, FULL, HALF, PARTICLES, SEQUENTIAL
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.particle_filter import particle_filter
from heldout.measurements import Measurement
from heldout.models import LDA, lda
from heldout.papers.buntine.readings import readings
from heldout.scores import Score, score_of
from heldout.seeds import generator
from heldout.topics import Topics

REFERENCE = "weighted-left-to-right"
MODEL, TRUTH, BEST = LDA, "truth", "best"
LESS_REFERENCE, READING = "-less-reference", "reading-"


def trained_on(documents: int) -> str:
    """Return the variant of a model that was trained on so many documents."""
    return f"trained-on-{documents}"


def with_many(samples: int) -> str:
    """Return the name of the sequential sampler with so many samples instead of the study's."""
    return f"{SEQUENTIAL}-{samples}-samples"


def ratio(differences: NDArray[np.float64], tokens: NDArray[np.int64]) -> tuple[float, float]:
    """Return a sum of differences over documents per token, and its standard error; nats per token.

    Args:
        differences: (n,) nats per document; two or more.
        tokens: (n,) their lengths.
    """
    value = float(differences.sum() / tokens.sum())
    spread = (differences - value * tokens).std(ddof=1)
    return value, float(math.sqrt(len(tokens)) * spread / tokens.sum())


def experiment(
    corpus: Corpus,
    *,
    trained: Topics,
    truth: Topics,
    seed: int,
    test_documents: int,
    training_documents: Sequence[int],
    control: Mapping[str, int],
    samples: Mapping[str, int],
    some_documents: int,
    some_samples: Mapping[str, int],
    fold_in_sweeps: int,
    reference_particles: int,
    reference_runs: int,
    reading_particles: int,
    reading_documents: int,
    check_samples: int,
    check_documents: int,
) -> tuple[list[Score], list[Measurement]]:
    """Score one model of a drawn corpus, or it and the truth, by every evaluator.

    Args:
        corpus: documents drawn from `truth`.
        trained: the model, its number of training documents in its provenance.
        truth: the topics and prior that the corpus was drawn from.
        seed: determines the draws.
        test_documents: how many documents are held out, the corpus's last ones.
        training_documents: the numbers of training documents of all models.
        control: one estimator (`heldout.evaluators.ESTIMATORS`) and its samples per document: it scores all documents,
            and those of `some_samples` are referred to it.
        samples: further estimators that score all documents, and their samples. Full and half folding-in come on top.
        some_documents: how many documents those of `some_samples` and the reference score.
        some_samples: estimators that score some documents, and their samples; both left-to-right samplers are among
            them.
        fold_in_sweeps: Gibbs sweeps of the folding in.
        reference_particles: of the reference.
        reference_runs: independent runs of the reference, two or more.
        reading_particles: of every reading of section 3.5.
        reading_documents: how many of the some documents are estimated by every reading.
        check_samples: samples of the sequential sampler that the reference is held against.
        check_documents: and on how many of the some documents.

    Returns:
        Scores of all held-out documents: of model "lda" and variant "trained-on-I", one row per evaluator; of model and
        variant "truth" too, where this job scores it. Measurements in nats per token, on axis "documents" at the number
        of documents: quantity "NAME-less-reference" of every estimator of `some_samples`, of "reading-NAME" for every
        reading, and of "left-to-right-sequential-S-samples" with the S of `check_samples`.

    Raises:
        InputError: where training and held-out documents do not fit into the corpus without sharing any, an estimator
            is unknown or one of the left-to-right samplers missing, there is not one control, or fewer than two
            documents are to be compared.
    """
    most, size = max(training_documents, default=0), int(trained.provenance.get("documents", 0))
    if min(training_documents, default=0) < 1 or test_documents < 1 or most + test_documents > corpus.n_documents:
        raise InputError(
            f"model selection: {most} training and {test_documents} held-out documents do not fit into the"
            f" {corpus.n_documents} of {corpus.name}; take fewer of either, at least one of both"
        )
    unknown = ", ".join(name for name in {**control, **samples, **some_samples} if name not in ESTIMATORS)
    if unknown:
        raise InputError(f"model selection: there is no estimator {unknown}; there are {', '.join(ESTIMATORS)}")
    missing = ", ".join(name for name in (SEQUENTIAL, PARTICLES) if name not in some_samples)
    if missing or len(control) != 1:
        raise InputError(
            f"model selection: some_samples lacks {missing or 'none'}, control names {len(control)} estimators; give"
            " samples to the former, and one control"
        )
    least, greatest = min(reading_documents, check_documents), max(reading_documents, check_documents)
    if not 2 <= least <= greatest <= some_documents <= test_documents:
        raise InputError(
            f"model selection: {some_documents} documents for some estimators, {reading_documents} for readings,"
            f" {check_documents} for the check; take two or more of the some, and these of the {test_documents} held"
            " out"
        )

    held_out = corpus.subset(range(corpus.n_documents - test_documents, corpus.n_documents))
    observed, scored = half_split(held_out, seed)
    scores: list[Score] = []
    measurements: list[Measurement] = []

    def score(of: Topics, **names: Any) -> None:
        named = {**names, "corpus": corpus.name, "topics": of.n_topics, "smoothing": 0.0, "seed": seed}

        def random(purpose: str) -> np.random.Generator:
            return generator("model-selection", corpus=corpus.name, evaluator=purpose, seed=seed)

        def fold_in(model: Topics, documents: Corpus) -> Any:
            return lda.fold_in(model, documents, seed=seed, sweeps=fold_in_sweeps)

        def add(evaluator: str, count: int, evaluation: Evaluation, error: float | None = None) -> None:
            scores.append(score_of(evaluation, evaluator=evaluator, samples=count, standard_error=error, **named))

        add(FULL, 1, full_folding_in([of], held_out, fold_in), math.nan)
        add(HALF, 1, half_folding_in([of], observed, scored, fold_in), math.nan)
        everywhere = {
            name: estimate(name, of, held_out, count, random(name)) for name, count in {**control, **samples}.items()
        }
        for name, evaluation in everywhere.items():
            add(name, {**control, **samples}[name], evaluation)

        # some documents: a choice for each K, and the control on them
        chosen = generator("model-selection-documents", corpus=corpus.name, topics=of.n_topics)
        places = chosen.choice(test_documents, some_documents, replace=False)
        some = held_out.subset(places)
        whole = everywhere[next(iter(control))]
        known, tokens = whole.log_likelihood[places], whole.tokens[places]

        reference = particle_filter(of, some, reference_particles, reference_runs, random(REFERENCE))
        truthful = reference.log_likelihood + 0.5 * reference.standard_error**2
        estimates = {REFERENCE: (reference_particles * reference_runs, truthful)}
        for name, count in some_samples.items():
            estimates[name] = count, estimate(name, of, some, count, random(name)).log_likelihood
        for name, (count, values) in estimates.items():
            value, error = ratio(values - known, tokens)
            nats = whole.log_likelihood + value * whole.tokens
            add(name, count, Evaluation.deterministic(nats, whole.tokens), error * float(whole.tokens.sum()))

        against = {name: values for name, (_, values) in estimates.items() if name != REFERENCE}
        many = estimate(SEQUENTIAL, of, some.subset(range(check_documents)), check_samples, random("check"))
        against[with_many(check_samples)] = many.log_likelihood
        few = some.subset(range(reading_documents))
        for name, values in readings(of, few, reading_particles, random("readings")).items():
            against[READING + name] = values
        for name, values in against.items():
            n = len(values)
            value, error = ratio(values - truthful[:n], tokens[:n])
            measurements.append(
                Measurement(
                    quantity=name + LESS_REFERENCE, axis="documents", at=n, value=value, standard_error=error, **named
                )
            )

    score(trained, model=MODEL, variant=trained_on(size), chain=BEST)
    if trained.n_topics == truth.n_topics and size == min(training_documents):
        score(truth, model=TRUTH, variant=TRUTH, chain="none")
    return scores, measurements
