r"""Section 4.4: the normalised model at many topics, between limits that are exact at any number of topics.

Full folding-in scores a document x of L tokens by f(x) = max_h p(x | h). The energy-based model that it stands for is
g(x) = f(x) / Z_L, and for K topics over V words (`heldout.evaluators.normaliser`)

    0 <= log Z_L <= log C(min(K, V), L),

C the multinomial's normalised-maximum-likelihood constant. So log g lies between log f - log C and log f.

At the far end stands the model of the toy example for documents of any length: one topic per word, K = V. For it all is
closed. With n_w the counts of a document,

    log f(x) = sum_w n_w log(n_w / L),       log Z_L = log C(V, L) exactly,
    log p(x) = log Gamma(V) - log Gamma(V + L) + sum_w log Gamma(1 + n_w)      (theta ~ Dir(1) integrated out).
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, xlogy

from artifact.papers.welling.settings import NormaliserLimits
from artifact.results.recorder import Results
from artifact.study.job import Job
from heldout.evaluators import EXACT, FULL
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.normaliser import log_multinomial_nml_by_document
from heldout.typing import Floats

KIND = "normaliser-limits"
MODEL = "word-topics"
LIMIT = "log-nml"
NORMALISED = "normalised-folding-in"


def experiment(job: Job, settings: NormaliserLimits) -> Results:
    """Return the scores of the model with a topic per word, and the normaliser's limit at other numbers of topics.

    Returns:
        Scores of the model "word-topics" (topics V) by the evaluators "full-folding-in", "normalised-folding-in"
        (g above) and "exact-marginal"; and per K the measurement "log-nml": the sum over the test documents of
        log C(min(K, V), L), nats, on the axis "tokens" at the number of tokens.
    """
    _, test = job.split()
    lengths, counts = test.lengths, test.counts()
    V = len(job.corpus.vocabulary)
    folded = _by_document(counts, xlogy(counts.data, counts.data)) - xlogy(lengths, lengths)
    marginal = gammaln(V) - gammaln(V + lengths) + _by_document(counts, gammaln(1.0 + counts.data))
    values = {FULL: folded, NORMALISED: folded - log_multinomial_nml_by_document(V, lengths), EXACT: marginal}
    recorder = job.recorder(model=MODEL, topics=V, documents=test.documents)
    for evaluator, value in values.items():
        recorder.score(evaluator, Evaluation.deterministic(value, lengths))
    for k in settings.topics:
        limit = log_multinomial_nml_by_document(min(k, V), lengths).sum()
        recorder.at(topics=k).measure(LIMIT, limit, axis="tokens", position=lengths.sum())
    return recorder.results


def _by_document(counts: sp.csr_array, values: Floats) -> Floats:
    """Return the (D,) sums of values that belong to the cells of (D, V) counts."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    return np.bincount(rows, weights=values, minlength=counts.shape[0]).astype(np.float64)
