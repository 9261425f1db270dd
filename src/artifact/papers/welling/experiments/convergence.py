r"""Convergence of the Markov chains of one run: their traces, split R-hat, and drift.

Both diagnostics are of the chains' log p(w, z | alpha, beta), in nats, over the last half of each chain's sweeps.

Split R-hat: `heldout.models.convergence`.

Drift. The slope of the chains' mean trace over the last half, by least squares, times the sweeps that it spans,
over the standard deviation of a chain around its own line: by how many of its own fluctuations a chain still rises.
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from artifact.study.settings import Nothing
from heldout.errors import InputError
from heldout.models.convergence import split_r_hat
from heldout.typing import Floats

TRACE_POINTS = 31  # largest number of points of a chain


def drift(sweeps: Floats, traces: Floats) -> float:
    """Return the rise of the mean trace over all records, in standard deviations of a chain around its own line.

    Of (chains, records) values, by the sweeps at which they were made; NaN where nothing varies around the lines.
    """
    time = sweeps - sweeps.mean()
    slopes = traces @ time / (time @ time)
    residuals = traces - traces.mean(axis=1, keepdims=True) - slopes[:, None] * time
    freedom = traces.size - 2 * len(traces)
    deviation = float(np.sqrt((residuals**2).sum() / freedom))
    rise = float(slopes.mean() * (sweeps[-1] - sweeps[0]))
    return rise / deviation if deviation > 0.0 else float("nan")


def experiment(job: Job, _: Nothing) -> Results:
    """Return the thinned traces, split R-hat and drift of the chains of one run, from their topics' provenance.

    Returns:
        No score; and measurements: quantity "log-joint" (nats) on axis "sweep", at most 31 records per chain, evenly
        spaced with the first and the last; quantities "r-hat" and "drift" of chain "all" on axis "chains", at the
        number of chains.

    Raises:
        InputError: when there is no chain, a chain carries no trace or another one's sweeps, or the last half of the
            sweeps holds fewer than 4 records.
    """
    chains, place = job.chains, f"{job.model} on {job.corpus.name}"
    if not chains:
        raise InputError("convergence: there are no chains")
    try:
        recorded = [np.array(topics.provenance["log_likelihood_sweeps"]) for topics in chains]
        traces = np.array([topics.provenance["log_likelihood"] for topics in chains], dtype=float)
    except (KeyError, ValueError) as error:
        raise InputError(f"convergence: {place}: the chains carry no traces of one length") from error
    sweeps = recorded[0]
    if traces.ndim != 2 or any(not np.array_equal(sweeps, other) for other in recorded):
        raise InputError(f"convergence: {place}: the chains were not recorded at the same sweeps")

    recorder = job.recorder(topics=chains[0].n_topics, chain="all")
    late = sweeps >= sweeps[-1] / 2
    kept = np.unique(np.linspace(0, len(sweeps) - 1, min(TRACE_POINTS, len(sweeps))).round().astype(int))
    for topics, trace in zip(chains, traces, strict=True):
        row = recorder.at(chain=str(topics.provenance["chain"]))
        for i in kept:
            row.measure("log-joint", trace[i], axis="sweep", position=sweeps[i])
    recorder.measure("r-hat", split_r_hat(traces[:, late]), axis="chains", position=len(chains))
    recorder.measure("drift", drift(sweeps[late].astype(float), traces[:, late]), axis="chains", position=len(chains))
    return recorder.results
