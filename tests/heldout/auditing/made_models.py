"""Small models and documents, and slow twins of what an audit computes, from the definitions."""

import itertools
import json
import math

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln

from heldout.auditing.audit.report import Audit
from heldout.seeds import generator
from heldout.topics import Topics
from heldout.typing import Floats

K, V = 3, 8


def drawn(documents: int, seed: int = 0, length: int = 5) -> sp.csr_array:
    """Return counts of short documents over V words; every seventh is empty."""
    rng = generator("test-audit", documents=documents, seed=seed)
    counts = rng.multinomial(length, rng.dirichlet(np.full(V, 0.5), size=documents))
    counts[::7] = 0
    return sp.csr_array(counts)


def topics_of(K: int = K, V: int = V, alpha: float = 0.4) -> Topics:
    phi = generator("test-audit-phi", topics=K).dirichlet(np.full(V, 0.5), size=K)
    return Topics(phi, np.full(K, alpha), tuple(f"w{w}" for w in range(V)))


def plain(audit: Audit) -> str:
    return json.dumps(audit.to_json(), sort_keys=True, allow_nan=False)


def likelihood(phi: Floats, alpha: Floats, tokens: list[int]) -> float:
    """log p(w | alpha, phi), a sum over all assignments of topics."""
    total = 0.0
    for z in itertools.product(range(len(alpha)), repeat=len(tokens)):
        counts = np.bincount(z, minlength=len(alpha))
        prior = gammaln(alpha.sum()) - gammaln(alpha.sum() + len(z)) + (gammaln(alpha + counts) - gammaln(alpha)).sum()
        total += math.exp(prior) * math.prod(phi[k, w] for k, w in zip(z, tokens, strict=True))
    return math.log(total)


def folded_in(phi: Floats, tokens: list[int]) -> Floats:
    """The weights that make the tokens most likely."""
    theta = np.full(len(phi), 1.0 / len(phi))
    for _ in range(500):
        shares = theta[:, None] * phi[:, tokens]
        theta = (shares / shares.sum(axis=0)).sum(axis=1) / max(len(tokens), 1) if tokens else theta
    return theta
