"""Exact EM of a mixture of Gaussians from many random starts: which of its likelihood's maxima it finds.

Points in the plane are drawn from a mixture of `components` Gaussians of unit covariance, whose means are drawn from
N(0, `spread`^2 I), with equal weights; as many again are held out. Each start takes `components` distinct points for
means. Recorded as arrays, (starts,), by start:

    training, held-out      log p(x) per point, nats, where EM ends
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.tokens.spec import Restarts
from heldout.models.gaussian_mixture import GaussianMixture
from heldout.seeds import generator
from heldout.typing import Floats

TRAINING, HELD_OUT = "training", "held-out"
FLOOR = 0.05  # least eigenvalue of a covariance: a component on one point has a likelihood of little more than others
TOLERANCE = 1e-7  # nats per point, the rise that ends EM


def drawn(components: int, points: int, spread: float, seed: int) -> tuple[Floats, Floats]:
    """Return training and held-out points, (points, 2) each."""
    random = generator("restarts", components=components, points=points, spread=spread, seed=seed)
    means = spread * random.standard_normal((components, 2))
    x = means[random.integers(components, size=2 * points)] + random.standard_normal((2 * points, 2))
    return x[:points], x[points:]


def experiment(job: Job, settings: Restarts) -> Results:
    """Draw points and run EM from every start; raises InputError as the model does."""
    training, held_out = drawn(settings.components, settings.points, settings.spread, job.seed)
    ends = []
    for start in range(settings.starts):
        random = generator("restarts-start", start=start, seed=job.seed)
        mixture = GaussianMixture(
            settings.components,
            posterior="exact",
            floor=FLOOR,
            iterations=settings.iterations,
            tolerance=TOLERANCE * settings.points,
            random_state=random,
        ).fit(training)
        ends.append([mixture.log_likelihood(x).mean() for x in (training, held_out)])
    recorder = job.recorder(model="gaussian-mixture", topics=settings.components)
    for name, values in zip((TRAINING, HELD_OUT), np.array(ends).T, strict=True):
        recorder.array(name, values)
    return recorder.results
