"""Section 27.4.2: the dynamic topic model beside static ones, by the likelihood of the next time's documents.

Seed s leaves out the last s times: models are trained on all earlier times than the last that is left, and each of
its documents, their first `tokens`, is scored for itself. All start from LDA's topics. Recorded as "usual-score", a
variational bound, and "likelihood" of

    dtm            topics N(m, s^2) as the filter predicts them; the bound's q(beta) is of the document, and annealing
                   integrates
    dtm-plugged    the same topics plugged in at softmax(m), which is how they are used; the reference
    static         as `dtm` with sigma^2 = 0, topics that do not move, and "static-plugged"
    lda            collapsed Gibbs sampling; the reference
    dtm-tomotopy   tomotopy's `DTModel`, where it is installed, at its last topics and the logistic normal prior of the
                   next time; it states no bound, and has no usual score

Measured:

    effective-size   of the annealing weights of `dtm` and `static`: the least of the documents
    sigma2           of `dtm`

and as an array

    probability      (T, 3), of the words of Figure 27.12 at every time; noted are the words, and every time's words

Figure 27.12 shows, of the topics with half of their even share of tokens or more, the one whose words' distribution
moves farthest from the first time to the last, and the words whose probability there changes most between two times.
"""

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from artifact.study.study import installed
from gallery.extensions.spec import Dynamics
from gallery.member import BOUND, LIKELIHOOD, TOKENS, USUAL, Family
from gallery.priors.experiments.correlation import PACKAGE
from gallery.priors.experiments.covariates import keep_frequent_words
from heldout.corpora.corpus import Corpus
from heldout.corpora.responses import times_of
from heldout.errors import InputError
from heldout.evaluators.dtm_annealed import dtm_annealed, variational
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.evaluators.reference import reference
from heldout.models import LDA as LDA_NAME
from heldout.models.dtm import DTM, softmax
from heldout.models.lda import LDA
from heldout.seeds import entropy
from heldout.topics import AnyTopics, LogisticNormalTopics
from heldout.typing import Floats, Ints

MODEL, STATIC, TOMOTOPY = "dtm", "static", "dtm-tomotopy"
PLUGGED = {MODEL: "dtm-plugged", STATIC: "static-plugged"}
SIZE, SIGMA2, PROBABILITY, WORD, TOP = "effective-size", "sigma2", "probability", "word", "words"
WORDS = 3  # number of words of Figure 27.12
FAMILIES = (
    Family(
        "moving topics",
        (MODEL, STATIC, *PLUGGED.values(), TOMOTOPY),
        BOUND,
        TOKENS,
        {PLUGGED[MODEL]: "DTM, plugged in"},
    ),
)


def divided(job: Job, settings: Dynamics) -> tuple[Corpus, Ints, Corpus, int]:
    """Return training documents, their times, test documents of the next time, and the number of test tokens left out.

    Raises:
        InputError: where fewer than two times are left to train on.
    """
    times = times_of(job.corpus)
    last = int(times.max()) - job.seed
    if last < 2:
        raise InputError(
            f"dynamics: seed {job.seed} leaves {last} times to train on; take seeds that leave two or more"
        )
    order = job.generator("dynamics-documents").permutation(job.corpus.n_documents)

    def sample(time: int, number: int) -> Ints:
        return np.asarray(order[times[order] == time][:number])

    training_places = np.sort(np.concatenate([sample(time, settings.documents) for time in range(last)]))
    test_places = np.sort(sample(last, settings.test_documents))
    training, test = (job.corpus.subset(places) for places in (training_places, test_places))
    training, test, _ = keep_frequent_words(training, test, settings.words)
    first = test.with_streams([test.document(d)[: settings.tokens] for d in range(test.n_documents)], test.documents)
    return training, times[training_places], first, int(test.lengths.sum() - first.lengths.sum())


def experiment(job: Job, settings: Dynamics) -> Results:
    """Train the models and score them; raises InputError as they and the evaluators do."""
    training, times, test, left_out = divided(job, settings)
    counts, words, K = training.counts(), training.vocabulary, settings.topics
    recorder = job.recorder(topics=K, chain="0", documents=test.documents, tokens_left_out=left_out)

    def random(model: str, part: str) -> np.random.Generator:
        return job.generator("dynamics", model=model, topics=K, part=part)

    def score_points(name: str, topics: AnyTopics, bound: Evaluation | None) -> None:
        row, score = recorder.at(model=name), reference(topics, test, settings.samples, random(name, "score"))
        if bound is not None:
            row.score(USUAL, bound)
        row.score(LIKELIHOOD, score, samples=settings.samples)

    lda = LDA.of(settings, K, beta=settings.gamma, random_state=random("lda", "fit"))
    topics = lda.fit(training).topics(words)
    score_points(LDA_NAME, topics, mean_field_bound(topics, test))
    for name, sigma2 in ((MODEL, settings.sigma2), (STATIC, 0.0)):
        fitted = DTM.of(settings, K, sigma2=sigma2).fit(counts, times=times, components=topics.phi)
        state, point = fitted.next_state(words), fitted.next_state(words).at_mean()
        value, size = dtm_annealed(
            state, test, settings.chains, random(name, "score"), temperatures=settings.temperatures
        )
        row = recorder.at(model=name)
        row.score(USUAL, variational(state, test))
        row.score(LIKELIHOOD, value, samples=settings.chains)
        row.measure(SIZE, size.min())
        score_points(PLUGGED[name], point, mean_field_bound(point, test))
        if name == MODEL:
            row.measure(SIGMA2, fitted.sigma2_)
            _show(row, softmax(fitted.mean_), fitted.document_topics_.T @ training.lengths, words, settings.shown)
    if PACKAGE in installed():
        score_points(TOMOTOPY, tomotopy_topics(training, times, settings, job.seed), None)
    return recorder.results


def _show(row: Recorder, b: Floats, tokens: Floats, words: tuple[str, ...], shown: int) -> None:
    """Record Figure 27.12 of (T, K, V) topics with (K,) tokens."""
    distance = np.abs(b[-1] - b[0]).sum(axis=1)
    moving = b[:, np.where(tokens >= tokens.mean() / 2.0, distance, -1.0).argmax()]
    for time, probabilities in enumerate(moving):
        most = np.argsort(-probabilities, kind="stable")[:shown]
        row.note(TOP, " ".join(words[v] for v in most), axis="times", position=time)
    changing = np.argsort(-np.ptp(moving, axis=0), kind="stable")[:WORDS]
    for n, v in enumerate(changing):
        row.note(WORD, words[v], axis="words", position=n)
    row.array(PROBABILITY, moving[:, changing])


def tomotopy_topics(training: Corpus, times: Ints, settings: Dynamics, seed: int) -> LogisticNormalTopics:
    """Return the topics of tomotopy's DTModel at the last time, and the prior of the next time's weights.

    theta = softmax(eta), eta ~ N(alpha_t, eta_var I), alpha_t ~ N(alpha_t-1, alpha_var I).
    """
    from heldout.libraries.tomotopy import train_dynamic

    seed = entropy("dynamics-tomotopy", corpus=training.name, topics=settings.topics, seed=seed) % 2**31
    documents = [[training.vocabulary[w] for w in training.document(d)] for d in range(training.n_documents)]
    return train_dynamic(documents, times, training.vocabulary, settings.topics, sweeps=settings.sweeps, seed=seed)
