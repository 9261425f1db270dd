"""Section 4.1 on real documents: which evaluators are optimistic and which pessimistic, against the exact marginal.

The evaluators, of one model's topics on one split's test documents:

* `exact-marginal`: log p(w | alpha, phi), theta integrated out;
* `mean-field-bound`: B_1 of equation 4.29, a lower bound on it;
* `full-folding-in`, `half-folding-in`: as in the study's scores, half on the scored halves' tokens only;
* `full-folding-in-joint`: B_2 of equation 4.30, log p(w | h) + log Dir(h | 1) = log p(w | h) + log Gamma(K) at the
  folded-in h. Only for a flat prior and folding-in by EM, which then is the maximum over h that the equation asks for.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.evaluators import EXACT, FOLDING_IN, FULL, HALF, MEAN_FIELD_BOUND
from heldout.evaluators.evaluation import Evaluation, FoldIn, first_chain
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.measurements import Measurement, by_document
from heldout.scores import Score, score_of
from heldout.topics import Topics

JOINT = "full-folding-in-joint"
TOKENS = "tokens"


def experiment(
    corpus: Corpus,
    *,
    chains: Sequence[Topics],
    model: str,
    variant: str,
    seed: int,
    test_documents: int,
    fold_in: FoldIn,
    smoothing: float = 0.0,
) -> tuple[list[Score], list[Measurement]]:
    """Score one model's topics on the test documents of a split with every evaluator above.

    Args:
        corpus: all documents.
        chains: the topics of the model; of a sampled model the first chain alone is measured.
        model: its name.
        variant: the name that the rows get.
        seed: determines the split and the fold-in.
        test_documents: how many documents are held out.
        fold_in: the model's folding in.
        smoothing: the constant to add to p(w | z) of a model that was not sampled (a sampled one has its own prior).

    Returns:
        One Score per evaluator (exact and bound: no samples, no Monte Carlo error given the topics), and per test
        document with tokens a Measurement of every evaluator's value in nats (`half-folding-in` aside) and of the
        number of `tokens` scored, on the axis "document": its index in the test part.

    Raises:
        InputError: as the split, the fold-in and `exact_marginal` do.
    """
    _, test = train_test_split(corpus, test_documents, seed)
    observed, scored = half_split(test, seed)
    topics, smoothing, chain, sampled = first_chain(chains, smoothing)

    evaluations: dict[str, Evaluation] = {
        EXACT: exact_marginal(topics, test),
        MEAN_FIELD_BOUND: mean_field_bound(topics, test),
        FULL: full_folding_in([topics], test, fold_in),
        HALF: half_folding_in([topics], observed, scored, fold_in),
    }
    if np.all(topics.alpha == 1.0) and not sampled:
        full = evaluations[FULL]
        joint = full.log_likelihood + np.where(full.tokens > 0, math.lgamma(topics.n_topics), 0.0)
        evaluations[JOINT] = replace(full, log_likelihood=joint)

    named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": variant, "topics": topics.n_topics}
    named |= {"smoothing": smoothing, "chain": chain, "seed": seed}
    tokens = Evaluation.deterministic(evaluations[EXACT].tokens.astype(np.float64), evaluations[EXACT].tokens)
    scores: list[Score] = []
    measurements = by_document(tokens, quantity=TOKENS, **named)
    for evaluator, evaluation in evaluations.items():
        folded = sampled and evaluator in FOLDING_IN  # by sampling: its error is not stated
        error = math.nan if folded else None
        scores.append(score_of(evaluation, evaluator=evaluator, samples=int(folded), standard_error=error, **named))
        if evaluator != HALF:
            measurements += by_document(evaluation, standard_error=error, quantity=evaluator, **named)
    return scores, measurements
