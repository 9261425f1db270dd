"""Is it a probability? An audit's numbers, and its library's own, held to documents that are drawn from the model.

A few documents of the audited lengths are drawn with their topics from phi and alpha and scored as the audited ones
are. `heldout.evaluators.is_probability` bounds the chance that a probability had of exceeding their truth by as much.
The truth is exact where that takes at most `LIMIT` updates. Elsewhere 1 / p(w) is estimated without bias from the
topics that drew the document (`heldout.evaluators.chib_upper`), which leaves the bound as it stands; half folding-in,
the score of a second half given the first, is held to that less an unbiased log p(first half).

What is not above the truth is not refuted, which does not make it a probability: a lower bound passes.
"""

import numpy as np
from numpy.typing import NDArray

from heldout.auditing.blocks import PARTS, Block, Work, local
from heldout.auditing.result import REPORTED, TRUTH, ProbabilityTest
from heldout.corpora.split import half_split
from heldout.evaluators import EXACT, HALF, REFERENCE
from heldout.evaluators.bidirectional import simulate
from heldout.evaluators.chib import chib
from heldout.evaluators.chib_upper import chib_upper
from heldout.evaluators.estimate import estimate
from heldout.evaluators.exact_marginal import exact_within
from heldout.evaluators.is_probability import Excess, excess
from heldout.libraries import THESE, Fitted
from heldout.libraries.reported import reported
from heldout.seeds import generator

DOCUMENTS, TOKENS = 32, 5_000  # are drawn, at most
SAMPLES = 5  # of the truth that is not exact: with few the test is weaker, not wrong
LIMIT = 1e9  # updates of the exact truth; about a second


def lengths_of(lengths: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the lengths of the documents to draw: of at most `DOCUMENTS` audited ones, `TOKENS` together.

    Args:
        lengths: (D,) tokens of the audited documents; at least one has some.
        rng: chooses the documents.
    """
    chosen = rng.permutation(lengths[lengths > 0])[:DOCUMENTS]
    chosen[0] = min(int(chosen[0]), TOKENS)
    return chosen[np.cumsum(chosen) <= TOKENS]


def hold(fitted: Fitted, own: Fitted, work: Work, lengths: NDArray[np.int64], ask: bool) -> ProbabilityTest:
    """Draw documents from the model, and hold every number of theirs to their truth.

    Args:
        fitted: the model as it is audited.
        own: the model as its library has it, for the library's number.
        work: the truth's estimator and its settings.
        lengths: (D,) tokens of the audited documents.
        ask: whether to ask the library for its number.
    """
    rng = generator("audit-probability", seed=work.seed)
    simulated, z = simulate(fitted.topics, lengths_of(lengths, rng), rng)
    block = Block(0, simulated.tokens, simulated.offsets)
    topics, documents = local(fitted.topics.phi_by_word, fitted.topics.alpha, block)
    observed, _ = half_split(documents, work.seed)
    exact = exact_within(topics, documents, LIMIT)
    upper = (exact or chib_upper(topics, documents, SAMPLES, rng, assignments=z)).log_likelihood
    first = (exact_within(topics, observed, LIMIT) or chib(topics, observed, SAMPLES, rng)).log_likelihood
    excesses = {}
    for name in work.parts:
        if name == TRUTH and work.estimator == EXACT:
            excesses[name] = Excess(0.0)  # by its definition
            continue
        if name == TRUTH and work.estimator != REFERENCE:  # without the correction of its logarithm
            found = estimate(work.estimator, topics, documents, work.samples, rng)
        else:
            found = PARTS[name](topics, documents, work, 0)
        truth = upper - first if name == HALF else upper
        excesses[name] = excess(found.log_likelihood, truth, np.nan_to_num(found.standard_error))
    if ask:
        number = reported(own, [simulated])
        if number.about == THESE and np.isfinite(number.nats_per_token):
            excesses[REPORTED] = excess(number.nats_per_token * documents.n_tokens, upper.sum())
    return ProbabilityTest(documents.n_documents, documents.n_tokens, exact is not None, excesses)
