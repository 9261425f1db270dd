"""Section 3's models on documents: the objective at every iteration, and the exact log-likelihood where there is one.

Mixture of Gaussians, K-means and ICA see the documents as points: the square roots of the relative frequencies of their
words (so that Euclidean distances are Hellinger's), centred, on their leading principal components, each scaled to
variance 1. The HMM sees the token streams, NMF the counts.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from artifact.papers.welling.settings import PointPosteriors
from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.models.gaussian_mixture import GaussianMixture, KMeans
from heldout.models.hmm import HMM
from heldout.models.ica import ICA
from heldout.models.nmf import NMF
from heldout.models.pca import PCA
from heldout.models.vem import Posterior, Step
from heldout.typing import Floats

OBJECTIVE = "objective"
LOG_LIKELIHOOD = "log-likelihood"
LATENT_NORM = "latent-norm"
SUPREMUM = "supremum"
POINT = "point-posterior"
EXACT = "exact-em"
UNIT_COLUMNS = "unit-columns"
FREE_COLUMNS = "free-columns"

SMALLEST_DEVIATION = 1e-6  # share of the largest deviation below which a principal component is rounding


def experiment(job: Job, settings: PointPosteriors) -> Results:
    """Run every model of the family on the training documents and report its course.

    The two trainings of a model share their start; the test documents play no part. K-means' fixed sigma^2 is the
    points' variance.

    Returns:
        No score; and rows with axis "iteration" (0 is the start, after its VE step) and the quantities
        "objective": equation 2.6 in nats, all constants included; for PCA equation 3.12, in squared units;
        "log-likelihood": exact, in nats, at the same parameters (discrete latents; all that variant "exact-em" has);
        "latent-norm": ICA's Frobenius norm of H (its rows: the first 50 iterations, then every tenth);
        "supremum": limit of ICA's objective without unit columns, in nats, at iteration 0 only.

    Raises:
        InputError: on an empty document, or a setting that a model refuses.
    """
    training, _ = job.split()
    components, coordinates, iterations = settings.components, settings.coordinates, settings.iterations
    recorder = job.recorder(topics=components)

    def start(model: str) -> np.random.Generator:
        return job.generator("point-posteriors", model=model)

    def course(recorder: Recorder, quantity: str, values: Iterable[float]) -> None:
        for i, value in enumerate(values):
            recorder.measure(quantity, value, axis="iteration", position=i)

    points = root_frequencies(training)
    pca = PCA(coordinates, iterations=iterations, random_state=start("pca")).fit(points)
    course(recorder.at(model="pca", variant=POINT, topics=coordinates), OBJECTIVE, pca.objective_)
    deviations = pca.coordinates_.std(axis=0)
    if len(deviations) < coordinates or deviations.min() < SMALLEST_DEVIATION * deviations.max():
        raise InputError(
            f"corpus {job.corpus.name}: its documents span fewer than {coordinates} dimensions; take fewer"
        )
    whitened = pca.coordinates_ / deviations

    for posterior, variant in _POSTERIORS:
        gaussians = GaussianMixture(
            components,
            posterior=posterior,
            floor=settings.floor,
            iterations=iterations,
            random_state=start("gaussian-mixture"),
        )
        _course(recorder.at(model="gaussian-mixture", variant=variant), gaussians, whitened)
        chain = HMM(components, posterior=posterior, iterations=iterations, random_state=start("hmm"))
        _course(recorder.at(model="hmm", variant=variant), chain, training)
    k_means = KMeans(components, iterations=iterations, random_state=start("k-means"))
    _course(recorder.at(model="k-means", variant=POINT), k_means, whitened)

    for unit_columns, variant in ((True, UNIT_COLUMNS), (False, FREE_COLUMNS)):
        row = recorder.at(model="ica", variant=variant)
        ica = ICA(
            components,
            noise=settings.noise,
            unit_columns=unit_columns,
            iterations=settings.ica_iterations,
            random_state=start("ica"),
        )
        for i, step in enumerate(ica.steps(whitened)):
            if i > DENSE and i % EVERY:
                continue
            row.measure(OBJECTIVE, step.objective, axis="iteration", position=i)
            row.measure(LATENT_NORM, np.linalg.norm(step.latent), axis="iteration", position=i)
        if not unit_columns:
            row.measure(SUPREMUM, ica.supremum(whitened), axis="iteration", position=0)

    nmf = NMF(components, iterations=iterations, random_state=start("nmf")).fit(training.counts())
    course(recorder.at(model="nmf", variant=POINT), OBJECTIVE, nmf.objective_)
    return recorder.results


DENSE, EVERY = 50, 10  # number of ICA's first iterations that are all reported, and step of the later ones
_POSTERIORS: tuple[tuple[Posterior, str], ...] = (("point", POINT), ("exact", EXACT))


def root_frequencies(documents: Corpus) -> Floats:
    """Return sqrt(n(d, w) / n(d)), (D, V): points on the unit sphere; raises InputError when a document is empty."""
    if not np.all(documents.lengths > 0):
        empty = documents.documents[int(np.argmin(documents.lengths))]
        raise InputError(f"corpus {documents.name}: document {empty} is empty and is no point; leave it out")
    return np.asarray(np.sqrt(documents.counts().toarray() / documents.lengths[:, None]))


def _course(recorder: Recorder, estimator: GaussianMixture | HMM, data: Any) -> None:
    """Record the course of a model with discrete latent variables; under exact EM the objective is the likelihood."""
    steps: Iterator[Step[Any, Any]] = estimator.steps(data)
    for i, step in enumerate(steps):
        if recorder.variant == POINT:
            recorder.measure(OBJECTIVE, step.objective, axis="iteration", position=i)
        exact = estimator.log_likelihood(data, step.parameters).sum()
        recorder.measure(LOG_LIKELIHOOD, exact, axis="iteration", position=i)
