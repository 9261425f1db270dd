r"""Readings of the left-to-right particle estimate, as section 3.5 of Buntine (2009) may mean it.

Particles go through a document and record equation 7 at three moments (`heldout.evaluators.particle_filter`):

    BEFORE_RESAMPLING: z_1 .. z_{l-2} have not seen w_{l-1}. The source lists resampling, draw and record in this order,
        and after them equation 7 for the next token is this one;
    BEFORE_DRAW: left-to-right as Wallach (2008) writes it (`heldout.evaluators.left_to_right`);
    AFTER_DRAW: "the current values (k_0, .., k_l)", which have seen w_l.

A document's estimate is the product over tokens of the mean over particles, or the mean over particles of each one's
product, or of each one's log product. Without the resampling, the first two moments are one. And the tokens may come as
they are written, or, from a vector of counts, sorted by word: "bagged" documents (section 2.1) have lost their order,
which p does not depend on, but particles do.
"""

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import kernel_arrays, log_mean
from heldout.evaluators.particle_filter import AFTER_DRAW, BEFORE_DRAW, BEFORE_RESAMPLING, document_words, records
from heldout.evaluators.random_stream import starts
from heldout.topics import Topics
from heldout.typing import Floats

# the readings by name: the moment of the record, and the average over particles
RESAMPLED, NEXT, SEEN = "resampled", "recorded-for-the-next-token", "recorded-after-the-draw"
PRODUCTS, LOGS, UNRESAMPLED = "mean-of-products", "mean-of-logs", "not-resampled"
SORTED = "sorted-"  # beginning of readings with the tokens sorted by word
READINGS = (
    *(RESAMPLED, NEXT, SEEN, PRODUCTS, LOGS, UNRESAMPLED),
    *(SORTED + RESAMPLED, SORTED + NEXT, SORTED + UNRESAMPLED),
)


def readings(topics: Topics, documents: Corpus, particles: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return every document's estimate by each reading, (D,), nats; readings that resample share their draws."""
    arrays = kernel_arrays(topics, documents)
    estimates = {name: np.zeros(len(arrays.lengths)) for name in READINGS}
    for d, state in enumerate(starts(rng, len(arrays.lengths))):
        words, phi = document_words(arrays.tokens[arrays.offsets[d] : arrays.offsets[d + 1]], arrays.phi_by_word)
        for order, tokens in (("", words), (SORTED, np.sort(words))):
            swept = records(tokens, phi, arrays.alpha, particles, state)
            once = records(tokens, phi, arrays.alpha, particles, state, resampled=False)
            estimates[order + RESAMPLED][d] = np.log(swept[BEFORE_DRAW].mean(axis=0)).sum()
            estimates[order + NEXT][d] = np.log(swept[BEFORE_RESAMPLING].mean(axis=0)).sum()
            estimates[order + UNRESAMPLED][d] = np.log(once[BEFORE_DRAW].mean(axis=0)).sum()
            if not order:
                products = np.log(swept[BEFORE_DRAW]).sum(axis=1)
                estimates[SEEN][d] = np.log(swept[AFTER_DRAW].mean(axis=0)).sum()
                estimates[PRODUCTS][d] = log_mean(products[None, :])[0][0]
                estimates[LOGS][d] = products.mean()
    return estimates
