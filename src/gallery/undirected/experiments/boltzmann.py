"""Section 27.7.2: binary restricted Boltzmann machines by four negative phases, judged by exact likelihoods.

Machines with `hidden` binary hidden units, from one start and in one order of minibatches, are trained with the
negative phase

    rbm-cd              contrastive divergence with one sweep (algorithm 27.3)
    rbm-cd-k            with `steps` sweeps
    rbm-pcd             persistent contrastive divergence (algorithm 27.4)
    rbm-mean-field      the mean-field product of 27.7.2.3

and scored on held-out records after 1, 2, 4, .. updates and at the end: measured on the axis "update", nats per
response (squares for the last),

    likelihood          exact
    pseudo-likelihood   the sum over responses of log p(v_r | all others); scikit-learn draws one and takes it R times
    reconstruction      |v - E[v | E[h | v]]|^2

At the end the first two are scores, too, with the evaluators "likelihood" and "usual-score", beside the likelihood of

    rbm-pcd             with `more_hidden` units: annealed (evaluator "likelihood", with its error)
    independent         independent responses, which is a machine without hidden units
    categorical-mixture `hidden` + 1 components: about as many parameters

and of the trained machines log Z is measured, on the axis "topics", as "log-z" (exact) and "log-z-annealed".
"""

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.member import ANSWERS, LIKELIHOOD, PSEUDO_LIKELIHOOD, RECORDS, USUAL, Family
from gallery.tokens.members.data import kind_of
from gallery.tokens.members.mixtures import MixtureOfCategoricals
from gallery.tokens.models.categorical_mixture import CategoricalMixture
from gallery.undirected.spec import Boltzmann
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import responses_of
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.log_partition import log_likelihood, log_partition
from heldout.evaluators.log_partition_annealed import log_partition_annealed
from heldout.models.harmonium_units import Binary
from heldout.models.rbm import CD, MEAN_FIELD, PCD, RBM, pseudo_likelihood
from heldout.typing import Floats

UPDATE, EPOCH = "update", "updates-of-an-epoch"
PSEUDO, RECONSTRUCTION, LOG_Z, LOG_Z_ANNEALED = "pseudo-likelihood", "reconstruction", "log-z", "log-z-annealed"
ONE, MORE, PERSISTENT, FIELD = "rbm-cd", "rbm-cd-k", "rbm-pcd", "rbm-mean-field"
INDEPENDENT, MIXTURE = "independent", MixtureOfCategoricals.name
DRAWN = 20  # words of drawn documents, which stand in for records
FAMILIES = (
    Family(
        "Boltzmann machines",
        (ONE, MORE, PERSISTENT, FIELD, INDEPENDENT),
        PSEUDO_LIKELIHOOD,
        ANSWERS,
        {PERSISTENT: "RBM: words present"},
    ),
)


def experiment(job: Job, settings: Boltzmann) -> Results:
    """Train the machines and the mixture and score them.

    Raises:
        InputError: for a corpus of other than binary records without gaps, or as the models do.
    """
    training, test = job.split()
    train, held_out = (binary(corpus) for corpus in (training, test))
    K = settings.hidden
    recorder = job.recorder(topics=K, documents=test.documents)
    base = Binary().bias(train)

    def machine(negative: str, hidden: int, steps: int) -> RBM:
        return RBM(
            hidden,
            negative=negative,
            steps=steps,
            chains=settings.chains,
            batch=settings.batch,
            epochs=settings.epochs,
            learning_rate=settings.learning_rate,
            random_state=job.generator("boltzmann", hidden=hidden),
        )

    def annealed(model: RBM) -> tuple[float, float]:
        random = job.generator("boltzmann-annealed", model=model.negative, hidden=model.n_components)
        return log_partition_annealed(model, settings.annealed_chains, settings.temperatures, random, base=base)

    updates = settings.epochs * -(-len(train) // settings.batch)
    for name, negative, steps in (
        (ONE, CD, 1),
        (MORE, CD, settings.steps),
        (PERSISTENT, PCD, 1),
        (FIELD, MEAN_FIELD, settings.rounds),
    ):
        row = recorder.at(model=name)

        def record(done: int, model: RBM, row: Recorder = row) -> None:
            if done & (done - 1) and done != updates:
                return
            scored = log_likelihood(model, held_out, log_partition(model))
            for quantity, values in (
                (LIKELIHOOD, scored.log_likelihood),
                (PSEUDO, pseudo_likelihood(model, held_out)),
                (RECONSTRUCTION, model.reconstruction_error(held_out)),
            ):
                row.measure(quantity, values.sum() / scored.tokens.sum(), axis=UPDATE, position=done)

        model = machine(negative, K, steps).fit(train, record=record)
        row.measure(EPOCH, updates / settings.epochs, axis=UPDATE, position=updates)
        log_z, estimate = log_partition(model), annealed(model)
        row.measure(LOG_Z, log_z)
        row.measure(LOG_Z_ANNEALED, estimate[0], error=estimate[1])
        exact = log_likelihood(model, held_out, log_z)
        row.score(LIKELIHOOD, exact)
        row.score(USUAL, Evaluation.deterministic(pseudo_likelihood(model, held_out), exact.tokens))
    larger = machine(PCD, settings.more_hidden, 1).fit(train)
    row = recorder.at(model=PERSISTENT, topics=settings.more_hidden)
    scored = log_likelihood(larger, held_out, *annealed(larger))
    row.score(LIKELIHOOD, scored, samples=settings.annealed_chains)
    row.score(USUAL, Evaluation.deterministic(pseudo_likelihood(larger, held_out), scored.tokens))
    independent = Evaluation.deterministic(_independent(base, held_out), scored.tokens)
    recorder.at(model=INDEPENDENT, topics=1).score(LIKELIHOOD, independent)
    random = job.generator("boltzmann-mixture", components=K + 1)
    directed = CategoricalMixture(
        K + 1, values=2, posterior="exact", iterations=settings.iterations, random_state=random
    ).fit(train.astype(np.int64))
    directed.parameters_ = directed.parameters_.smoothed(settings.smoothing)
    values = directed.log_likelihood(held_out.astype(np.int64))
    recorder.at(model=MIXTURE, topics=K + 1, smoothing=settings.smoothing).score(
        LIKELIHOOD, Evaluation.deterministic(values, scored.tokens)
    )
    return recorder.results


def binary(corpus: Corpus) -> Floats:
    """Return binary records, (N, R); of drawn documents, the presence of the first `DRAWN` words.

    Raises:
        InputError: for another corpus.
    """
    if corpus.synthetic and kind_of(corpus) != RECORDS:
        return np.asarray(corpus.counts().toarray()[:, :DRAWN] > 0.0, dtype=float)
    responses = responses_of(corpus).astype(float)
    if corpus.provenance["values"] != 2 or responses.min() < 0.0:
        raise InputError(f"boltzmann: corpus {corpus.name} has gaps or more than two values; take binary records")
    return responses


def _independent(bias: Floats, v: Floats) -> Floats:
    """Return log p(v), (N,) nats, of independent binary responses."""
    values: Floats = v @ bias - Binary().log_normaliser(bias[None])[0]
    return values
