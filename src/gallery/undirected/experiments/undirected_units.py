"""Section 27.7.1: other units than binary ones, every likelihood exact.

Of records the machine `rbm` has binary hidden units and `undirected-pca` Gaussian ones (27.7.1.4), at every K of
`hidden`; visible units are categorical (27.105), a gap being a value of its own, or binary where all responses are.
Both maximise the penalised likelihood by exact gradients (`gallery.undirected.models.maximum_likelihood`), from the
machine with fewer units. They have "likelihood" scores on held-out records, per response, as have `independent`
responses and `product-mixture`, the mixture of two products by EM, which a machine with one binary unit is.

Of documents the data are `coordinates` of latent semantic analysis (Deerwester et al. 1990), standardised by the
training documents and multiplied by a scale: the fixed variance of 27.108 lies as far below theirs. Visible units are
Gaussian. Measured on held-out documents, nats per standardised coordinate, on the axis "scale", in hundredths:

    likelihood      of `gaussian-rbm` (binary hidden units: a mixture of Gaussians), `factor-analysis` (Gaussian ones),
                    `product-mixture` and `independent` Gaussians, all of that variance
    identity        of `factor-analysis`, the largest difference, in nats, of the undirected machine's log density from
                    that of the directed model with the same parameters; of `gaussian-rbm` from the mixture's
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import LIKELIHOOD, PSEUDO_LIKELIHOOD, RECORDS, Family
from gallery.tokens.members.data import documents, kind_of
from gallery.undirected.models.maximum_likelihood import fit, fit_mixture
from gallery.undirected.spec import UndirectedUnits
from heldout.corpora.records import responses_of
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.log_partition import factor_analysis, gaussian_mixture, log_likelihood, log_partition
from heldout.models.harmonium_units import BINARY, CATEGORICAL, GAUSSIAN, units
from heldout.models.rbm import RBM
from heldout.typing import Floats, Ints

RBM_NAME, PCA, INDEPENDENT, PRODUCTS = "rbm", "undirected-pca", "independent", "product-mixture"
MIXTURE, FACTORS, IDENTITY, SCALE = "gaussian-rbm", "factor-analysis", "identity", "scale"
FAMILIES = (Family("Boltzmann machines", (RBM_NAME, PCA, MIXTURE, FACTORS, PRODUCTS), PSEUDO_LIKELIHOOD),)


def experiment(job: Job, settings: UndirectedUnits) -> Results:
    """Train and score the machines for a corpus's kind of data; raises InputError as they do."""
    return _records(job, settings) if kind_of(job.corpus) == RECORDS else _coordinates(job, settings)


def _machines(
    job: Job, settings: UndirectedUnits, data: Floats, binary: str, gaussian: str, **kinds: Any
) -> Iterator[tuple[str, RBM]]:
    """Yield the names of the mixture and of both machines and, at every K, the fitted models, each inside the next."""
    random = partial(job.generator, "undirected-units")
    mixture = fit_mixture(RBM(1, **kinds), data, random(hidden=0))
    yield PRODUCTS, mixture
    for name, hidden, contained in ((binary, BINARY, mixture), (gaussian, GAUSSIAN, None)):
        for K in sorted(settings.hidden):
            model = RBM(K, hidden=hidden, penalty=settings.penalty / len(data), **kinds)
            contained = fit(model, data, random(hidden=K), contained)
            yield name, contained


def _records(job: Job, settings: UndirectedUnits) -> Results:
    training, test = job.split()
    values, responses = int(job.corpus.provenance["values"]), responses_of(job.corpus)
    gaps = bool((responses < 0).any())
    visible, blocks = BINARY, ()
    if gaps or values != 2:
        visible, blocks = CATEGORICAL, (values + gaps,) * responses.shape[1]
    train, held_out = (_columns(responses_of(part), values + gaps, visible) for part in (training, test))
    recorder = job.recorder(documents=test.documents)
    layer = units(visible, blocks)
    bias, tokens = layer.bias(train), np.full(len(held_out), responses.shape[1])
    independent: Floats = held_out @ bias - layer.log_normaliser(bias[None])[0]
    recorder.at(model=INDEPENDENT, topics=1).score(LIKELIHOOD, Evaluation.deterministic(independent, tokens))
    kinds: dict[str, Any] = {"visible": visible, "blocks": blocks}
    for name, model in _machines(job, settings, train, RBM_NAME, PCA, **kinds):
        scored = log_likelihood(model, held_out, log_partition(model))
        recorder.at(model=name, topics=model.n_components).score(LIKELIHOOD, scored)
    return recorder.results


def _columns(responses: Ints, values: int, kind: str) -> Floats:
    """Return (N, R) responses in the form of visible units; a gap, -1, becomes the last value."""
    if kind == BINARY:
        return responses.astype(float)
    columns: Floats = np.eye(values)[np.where(responses < 0, values - 1, responses)]
    return columns.reshape(len(responses), -1)


def _coordinates(job: Job, settings: UndirectedUnits) -> Results:
    training, test, _ = documents(job)
    train, held_out = standardised(training.counts().toarray(), test.counts().toarray(), settings.coordinates)
    recorder = job.recorder()
    for scale in settings.scales:
        data, tested = scale * train, scale * held_out
        place = round(100 * scale)
        independent = multivariate_normal(data.mean(axis=0), np.eye(settings.coordinates)).logpdf(tested)
        density = independent.mean() / settings.coordinates + math.log(scale)
        recorder.at(model=INDEPENDENT, topics=1).measure(LIKELIHOOD, density, axis=SCALE, position=place)
        for name, model in _machines(job, settings, data, MIXTURE, FACTORS, visible=GAUSSIAN):
            values = log_likelihood(model, tested, log_partition(model)).log_likelihood
            row = recorder.at(model=name, topics=model.n_components)
            density = values.mean() / settings.coordinates + math.log(scale)
            row.measure(LIKELIHOOD, density, axis=SCALE, position=place)
            if name != PRODUCTS:
                row.measure(IDENTITY, np.abs(values - directed(model, tested)).max(), axis=SCALE, position=place)
    return recorder.results


def directed(model: RBM, v: Floats) -> Floats:
    """Return log p(v), (N,) nats, under the directed model that equals a machine with Gaussian visible units."""
    if model.hidden == GAUSSIAN:
        mean, loadings = factor_analysis(model)
        return np.asarray(multivariate_normal(mean, np.eye(len(mean)) + loadings @ loadings.T).logpdf(v))
    log_weights, means = gaussian_mixture(model)
    squares = ((v[:, None, :] - means) ** 2).sum(axis=2)
    values = logsumexp(log_weights - 0.5 * squares, axis=1) - 0.5 * v.shape[1] * math.log(2.0 * math.pi)
    return np.asarray(values)


def standardised(train: Floats, test: Floats, n: int) -> tuple[Floats, Floats]:
    """Return n coordinates of latent semantic analysis of both (N, V) counts, mean 0 and variance 1 in training."""
    _, _, right = np.linalg.svd(np.log1p(train), full_matrices=False)
    own, other = (np.log1p(counts) @ right[:n].T for counts in (train, test))
    mean, deviation = own.mean(axis=0), own.std(axis=0)
    return (own - mean) / deviation, (other - mean) / deviation
