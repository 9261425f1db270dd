"""Section 3's models on documents: the objective at every iteration, and the exact log-likelihood where there is one.

Mixture of Gaussians, K-means and ICA see the documents as points: the square roots of the relative frequencies of their
words (so that Euclidean distances are Hellinger's), centred, on their leading principal components, each scaled to
variance 1. The HMM sees the token streams, NMF the counts.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.measurements import Measurement
from heldout.models.gaussian_mixture import GaussianMixture, KMeans
from heldout.models.hmm import HMM
from heldout.models.ica import ICA
from heldout.models.nmf import NMF
from heldout.models.pca import PCA
from heldout.models.vem import Float, Posterior, Step
from heldout.scores import Score
from heldout.seeds import generator

OBJECTIVE = "objective"
LOG_LIKELIHOOD = "log-likelihood"
LATENT_NORM = "latent-norm"
SUPREMUM = "supremum"
POINT = "point-posterior"
EXACT = "exact-em"
UNIT_COLUMNS = "unit-columns"
FREE_COLUMNS = "free-columns"

SMALLEST_DEVIATION = 1e-6  # of the largest: a principal component with less is rounding

# one row before it becomes a Measurement: model, variant, K, quantity, iteration, value
Row = tuple[str, str, int, str, int, float]


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    components: int,
    coordinates: int,
    floor: float,
    noise: float,
    iterations: int,
    ica_iterations: int,
) -> tuple[list[Score], list[Measurement]]:
    """Run every model of the family on the training documents and report its course.

    Args:
        corpus: all documents.
        seed: determines the split and the starts; the two trainings of a model share their start.
        test_documents: how many documents are held out; they play no part.
        components: K of all models but PCA.
        coordinates: the principal components that PCA keeps and that the points have.
        floor: the least eigenvalue of a covariance of the mixture of Gaussians (the points' variance is 1).
        noise: ICA's noise variance (the points' variance is 1, and so is K-means' fixed sigma^2).
        iterations: the largest number of iterations of all models but ICA.
        ica_iterations: the same for ICA.

    Returns:
        No score; and rows with axis "iteration" (0 is the start, after its VE step) and the quantities
        "objective": equation 2.6 in nats, all constants included; for PCA equation 3.12, in squared units;
        "log-likelihood": exact, in nats, at the same parameters (discrete latents; all that variant "exact-em" has);
        "latent-norm": ICA's Frobenius norm of H (its rows: the first 50 iterations, then every tenth);
        "supremum": what ICA's objective rises to without unit columns, in nats, at iteration 0 only.

    Raises:
        InputError: on an empty document, or a setting that a model refuses.
    """
    training, _ = train_test_split(corpus, test_documents, seed)
    rows: list[Row] = []

    def start(model: str) -> np.random.Generator:
        return generator("point-posteriors", corpus=corpus.name, model=model, seed=seed)

    points = root_frequencies(training)
    pca = PCA(coordinates, iterations=iterations, random_state=start("pca")).fit(points)
    rows += [("pca", POINT, coordinates, OBJECTIVE, i, float(value)) for i, value in enumerate(pca.objective_)]
    deviations = pca.coordinates_.std(axis=0)
    if len(deviations) < coordinates or deviations.min() < SMALLEST_DEVIATION * deviations.max():
        raise InputError(f"corpus {corpus.name}: its documents span fewer than {coordinates} dimensions; take fewer")
    whitened = pca.coordinates_ / deviations

    for posterior, variant in _POSTERIORS:
        gaussians = GaussianMixture(
            components, floor=floor, posterior=posterior, iterations=iterations, random_state=start("gaussian-mixture")
        )
        rows += _course("gaussian-mixture", variant, gaussians, whitened)
        chain = HMM(components, posterior=posterior, iterations=iterations, random_state=start("hmm"))
        rows += _course("hmm", variant, chain, training)
    rows += _course(
        "k-means", POINT, KMeans(components, iterations=iterations, random_state=start("k-means")), whitened
    )

    for unit_columns, variant in ((True, UNIT_COLUMNS), (False, FREE_COLUMNS)):
        ica = ICA(
            components, noise=noise, unit_columns=unit_columns, iterations=ica_iterations, random_state=start("ica")
        )
        for i, step in enumerate(ica.steps(whitened)):
            if i > DENSE and i % EVERY:
                continue
            rows.append(("ica", variant, components, OBJECTIVE, i, step.objective))
            rows.append(("ica", variant, components, LATENT_NORM, i, float(np.linalg.norm(step.latent))))
        if not unit_columns:
            rows.append(("ica", variant, components, SUPREMUM, 0, ica.supremum(whitened)))

    nmf = NMF(components, iterations=iterations, random_state=start("nmf")).fit(training.counts())
    rows += [("nmf", POINT, components, OBJECTIVE, i, float(value)) for i, value in enumerate(nmf.objective_)]
    return [], [
        Measurement(corpus.name, model, variant, k, 0.0, "none", seed, quantity, "iteration", i, value)
        for model, variant, k, quantity, i, value in rows
    ]


DENSE, EVERY = 50, 10  # ICA's iterations that are reported: all of the first, then every so many
_POSTERIORS: tuple[tuple[Posterior, str], ...] = (("point", POINT), ("exact", EXACT))


def root_frequencies(documents: Corpus) -> Float:
    """Return sqrt(n(d, w) / n(d)), (D, V): points on the unit sphere.

    Raises:
        InputError: when a document is empty.
    """
    if not np.all(documents.lengths > 0):
        empty = documents.documents[int(np.argmin(documents.lengths))]
        raise InputError(f"corpus {documents.name}: document {empty} is empty and is no point; leave it out")
    return np.asarray(np.sqrt(documents.counts().toarray() / documents.lengths[:, None]))


def _course(model: str, variant: str, estimator: GaussianMixture | HMM, data: Any) -> Iterator[Row]:
    """Yield the rows of a model with discrete latent variables; under exact EM the objective is the likelihood."""
    steps: Iterator[Step[Any, Any]] = estimator.steps(data)
    for i, step in enumerate(steps):
        if variant == POINT:
            yield model, variant, estimator.n_components, OBJECTIVE, i, step.objective
        exact = float(estimator.log_likelihood(data, step.parameters).sum())
        yield model, variant, estimator.n_components, LOG_LIKELIHOOD, i, exact
