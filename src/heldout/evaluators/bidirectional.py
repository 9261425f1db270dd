"""Bidirectional Monte Carlo: a lower and an upper bound on simulated documents (Grosse, Ghahramani and Adams, 2015).

A document that is drawn with its topic assignments, (z, w) ~ p(z, w | alpha, phi), comes with an exact draw z from its
posterior p(z | w): both orders of drawing have the same joint probability. Annealed importance sampling runs forward
from the prior, without using z, and backward from z to the prior. In the notation of `annealed_importance`

    E[w forward] = p(w),    E[1 / w backward] = 1 / p(w),

the latter over z and path, so that by Jensen's inequality

    E log mean_s w_s  <=  log p(w)  <=  E -log mean_s 1 / w_s,

for any number of topics. The bounds hold on average over simulated documents: those of a single document may cross.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, kernel_arrays, log_mean
from heldout.topics import AnyTopics, Topics
from heldout.typing import Floats, Ints


def simulate(topics: Topics, lengths: Ints, rng: np.random.Generator) -> tuple[Corpus, Ints]:
    """Draw documents of given lengths, theta ~ Dir(alpha), z ~ theta, w ~ phi_z; return them and z, (N,)."""
    return simulate_given(topics, rng.dirichlet(topics.alpha, size=len(lengths)), lengths, rng)


def simulate_given(topics: AnyTopics, theta: Floats, lengths: Ints, rng: np.random.Generator) -> tuple[Corpus, Ints]:
    """Draw documents of (D,) lengths from mixtures theta, (D, K), and return them as `simulate` does."""
    z = np.concatenate(
        [np.zeros(0, np.int64), *(rng.choice(len(p), size=n, p=p) for p, n in zip(theta, lengths, strict=True))]
    )
    tokens = np.empty(len(z), np.int32)
    for k in range(topics.n_topics):
        here = np.flatnonzero(z == k)
        tokens[here] = rng.choice(len(topics.vocabulary), size=len(here), p=topics.phi[k])
    corpus = Corpus(
        name="simulated",
        vocabulary=topics.vocabulary,
        tokens=tokens,
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)]),
        documents=tuple(f"d{d}" for d in range(len(lengths))),
        provenance={"synthetic": True},
    )
    return corpus, z


def check_assignments(topics: Topics, documents: Corpus, assignments: Ints) -> None:
    """Raise InputError for assignments that do not fit the documents, or a token that cannot come from its topic."""
    if documents.vocabulary != topics.vocabulary or assignments.shape != documents.tokens.shape:
        raise InputError(
            f"bidirectional: {documents.n_tokens} tokens and {len(assignments)} assignments; give documents that were"
            " simulated from these topics, and their assignments"
        )
    if not np.all((assignments >= 0) & (assignments < topics.n_topics)) or not np.all(
        topics.phi[assignments, documents.tokens] > 0.0
    ):
        raise InputError("bidirectional: a token cannot come from its topic; simulate the documents from these topics")


def bidirectional(
    topics: Topics,
    documents: Corpus,
    samples: int,
    rng: np.random.Generator,
    *,
    assignments: Ints,
    temperatures: int = 1000,
) -> tuple[Evaluation, Evaluation]:
    """Return a stochastic lower and a stochastic upper bound on log p(w | alpha, phi) of simulated documents.

    Arguments are as in `heldout.evaluators`: documents that `simulate` drew from these topics with their (N,)
    `assignments`. A sample is a chain in each direction, in `temperatures` steps between prior and posterior.
    The lower bound's standard error is `annealed_importance`'s. The upper one's is NaN: its chains all start from the
    same draw, so their spread is no measure of the error; the spread over documents is.

    Raises:
        InputError: when the assignments do not fit the documents, or a token cannot come from its topic.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> documents, assignments = simulate(topics, np.full(100, 8), rng)
        >>> bounds = bidirectional(topics, documents, 1, rng, assignments=assignments, temperatures=100)
        >>> [round(float(bound.log_likelihood.mean()), 2) for bound in bounds]
        [-7.4, -7.28]
    """
    from heldout.evaluators.annealed_importance import annealed_importance, log_weights  # late: four kernels to compile

    check_assignments(topics, documents, assignments)
    lower = annealed_importance(topics, documents, samples, rng, temperatures=temperatures)
    weights = log_weights(
        kernel_arrays(topics, documents), rng, chains=samples, temperatures=temperatures, assignments=assignments
    )
    inverse, _ = log_mean(-weights)
    error = np.where(documents.lengths > 0, np.nan, 0.0)
    return lower, Evaluation(-inverse, documents.lengths, error)
