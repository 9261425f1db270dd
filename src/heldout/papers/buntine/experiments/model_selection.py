"""Model selection where the truth is known: Buntine (2009), section 4.2, and the evaluators of this project beside his.

A corpus that was drawn from known topics has training documents, of which growing numbers are taken from its start, and
held-out documents, taken from its end. For one K, an LDA is trained on every number of documents, and every evaluator
scores the same held-out documents under it. The known topics are scored in the same way, by the job whose K is theirs:
only by chance can a trained model beat them.

Of several Markov chains, the one whose last sample has the highest log p(w, z | alpha, beta) on the training documents
is scored at that sample: a single chain often stays at a mode that merges two topics and splits another. An evaluator's
random numbers are named by corpus, evaluator and seed, so that models are compared on the same halves of documents; the
check with many samples has a stream of its own, so that its errors are independent of the others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.errors import InputError
from heldout.evaluators import ESTIMATORS, FOLDING_IN, FULL, HALF, SEQUENTIAL
from heldout.evaluators.estimate import estimate
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.measurements import Measurement
from heldout.models import LDA, lda
from heldout.scores import Score, score_of
from heldout.seeds import generator
from heldout.topics import Topics

REFERENCE = SEQUENTIAL
MODEL, TRUTH, BEST = LDA, "truth", "best"


def trained_on(documents: int) -> str:
    """Return the variant of a model that was trained on so many documents."""
    return f"trained-on-{documents}"


def with_more(samples: int) -> str:
    """Return the quantity of the reference estimator's values with so many samples instead of the study's."""
    return f"{REFERENCE}-{samples}-samples"


def experiment(
    corpus: Corpus,
    *,
    topics: int,
    truth: Topics,
    seed: int,
    test_documents: int,
    training_documents: Sequence[int],
    samples: Mapping[str, int],
    alpha_sum: float,
    beta: float,
    sweeps: int,
    chains: int,
    optimise_every: int,
    fold_in_sweeps: int,
    check_samples: int,
    check_documents: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train one number of topics on growing numbers of documents and score the held-out ones by every evaluator.

    Args:
        corpus: documents drawn from `truth`.
        topics: K of the models that are trained.
        truth: the topics and prior that the corpus was drawn from.
        seed: determines the chains and the draws.
        test_documents: how many documents are held out, the corpus's last ones.
        training_documents: how many documents to train on, each number from the corpus's first document.
        samples: estimators by name (`heldout.evaluators.ESTIMATORS`) and their samples per document; the sequential
            left-to-right sampler is among them. Full and half folding-in come on top.
        alpha_sum: the sum of the symmetric prior's K parameters.
        beta: the Dirichlet parameter of phi.
        sweeps: Gibbs sweeps of each chain.
        chains: how many chains to choose the best from.
        optimise_every: sweeps between two re-estimations of alpha and beta, which start from the ones given; 0 leaves
            them fixed.
        fold_in_sweeps: Gibbs sweeps of the folding in.
        check_samples: samples with which the sequential sampler scores `check_documents` under the truth once more.
        check_documents: how many of the held-out documents, from the first.

    Returns:
        Scores: of model "lda", one variant "trained-on-I" per number of documents, one row per evaluator; where K is
        the truth's, of model and variant "truth" too. Measurements on axis "document" (its index among the held-out
        ones), in nats: quantity "left-to-right-sequential" of each of these models; and quantity
        "left-to-right-sequential-S-samples" of the truth with the S of `check_samples`.

    Raises:
        InputError: where training and held-out documents do not fit into the corpus without sharing any, an estimator
            is unknown or the reference is missing, or as training and estimators do.
    """
    most = max(training_documents, default=0)
    if min(training_documents, default=0) < 1 or test_documents < 1 or most + test_documents > corpus.n_documents:
        raise InputError(
            f"model selection: {most} training and {test_documents} held-out documents do not fit into the"
            f" {corpus.n_documents} of {corpus.name}; take fewer of either, at least one of both"
        )
    if REFERENCE not in samples:
        raise InputError(f"model selection: {REFERENCE} is not among the estimators; give it samples")
    unknown = ", ".join(name for name in samples if name not in ESTIMATORS)
    if unknown:
        raise InputError(f"model selection: there is no estimator {unknown}; there are {', '.join(ESTIMATORS)}")

    held_out = corpus.subset(range(corpus.n_documents - test_documents, corpus.n_documents))
    observed, scored = half_split(held_out, seed)

    def fold_in(model: Topics, documents: Corpus) -> Any:
        return lda.fold_in(model, documents, seed=seed, sweeps=fold_in_sweeps)

    def by_estimator(name: str, model: Topics, documents: Corpus, count: int, **axes: Any) -> Evaluation:
        rng = generator("model-selection", corpus=corpus.name, evaluator=name, seed=seed, **axes)
        return estimate(name, model, documents, count, rng)

    runs: dict[str, tuple[int, Callable[[Topics], Evaluation]]] = {
        FULL: (1, lambda model: full_folding_in([model], held_out, fold_in)),
        HALF: (1, lambda model: half_folding_in([model], observed, scored, fold_in)),
    }
    for name, count in samples.items():
        runs[name] = (count, lambda model, name=name, count=count: by_estimator(name, model, held_out, count))  # type: ignore[misc]

    scores: list[Score] = []
    measurements: list[Measurement] = []

    def document_rows(quantity: str, evaluation: Evaluation, **named: Any) -> None:
        measurements.extend(
            Measurement(
                quantity=quantity, axis="document", at=d, value=float(value), standard_error=float(error), **named
            )
            for d, (value, error) in enumerate(zip(evaluation.log_likelihood, evaluation.standard_error, strict=True))
        )

    def score(of: Topics, **names: Any) -> None:
        named = {**names, "corpus": corpus.name, "topics": of.n_topics, "smoothing": 0.0, "seed": seed}
        for evaluator, (count, run) in runs.items():
            evaluation = run(of)
            error = math.nan if evaluator in FOLDING_IN else None
            scores.append(score_of(evaluation, evaluator=evaluator, samples=count, standard_error=error, **named))
            if evaluator == REFERENCE:
                document_rows(REFERENCE, evaluation, **named)

    for size in training_documents:
        training = corpus.subset(range(size))
        trained = lda.train(
            training,
            topics=topics,
            seed=seed,
            alpha_sum=alpha_sum,
            beta=beta,
            sweeps=sweeps,
            chains=chains,
            optimise_every=optimise_every,
        )
        best = max(trained, key=lambda chain: chain.provenance["log_likelihood"][-1])
        score(best, model=MODEL, variant=trained_on(size), chain=BEST)
    if topics == truth.n_topics:
        names: dict[str, Any] = {"model": TRUTH, "variant": TRUTH, "chain": "none"}
        score(truth, **names)
        first = held_out.subset(range(min(check_documents, test_documents)))
        more = by_estimator(REFERENCE, truth, first, check_samples, samples=check_samples)
        names |= {"corpus": corpus.name, "topics": topics, "smoothing": 0.0, "seed": seed}
        document_rows(with_more(check_samples), more, **names)
    return scores, measurements
