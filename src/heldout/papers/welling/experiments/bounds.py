"""Section 4.1 on real documents: what is optimistic and what is pessimistic, against the exact marginal.

The evaluators, of one model's topics on one split's test documents:

* `exact-marginal`: log p(w | alpha, phi), theta integrated out;
* `mean-field-bound`: B_1 of equation 4.29, a lower bound on it;
* `full-folding-in`, `half-folding-in`: as in the study's scores, half on the scored halves' tokens only;
* `full-folding-in-joint`: B_2 of equation 4.30, log p(w | h) + log Dir(h | 1) = log p(w | h) + log Gamma(K) at the
  folded-in h. Only for a flat prior and folding-in by EM, which then is the maximum over h that the equation asks for.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.evaluators.evaluation import Evaluation, FoldIn
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.mean_field_bound import mean_field_bound
from heldout.measurements import Measurement
from heldout.scores import Score, total
from heldout.topics import Topics

EXACT = "exact-marginal"
MEAN_FIELD = "mean-field-bound"
FULL = "full-folding-in"
HALF = "half-folding-in"
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
        seed: names the split and the fold-in.
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
    topics = chains[0]
    sampled = "chain" in topics.provenance
    chain = str(topics.provenance.get("chain", "none"))
    smoothing = 0.0 if sampled else smoothing
    if smoothing > 0.0:
        topics = topics.smoothed(smoothing)

    evaluations: dict[str, Evaluation] = {
        EXACT: exact_marginal(topics, test),
        MEAN_FIELD: mean_field_bound(topics, test),
        FULL: full_folding_in([topics], test, fold_in),
        HALF: half_folding_in([topics], observed, scored, fold_in),
    }
    if np.all(topics.alpha == 1.0) and not sampled:
        full = evaluations[FULL]
        joint = full.log_likelihood + np.where(full.tokens > 0, math.lgamma(topics.n_topics), 0.0)
        evaluations[JOINT] = Evaluation(joint, full.tokens, full.standard_error, full.tokens_left_out)

    scores, measurements = [], []
    for evaluator, evaluation in evaluations.items():
        has_tokens = evaluation.tokens > 0
        folded = sampled and evaluator in (FULL, HALF)  # by sampling: its error is not stated
        named: dict[str, Any] = {
            "corpus": corpus.name,
            "model": model,
            "variant": variant,
            "topics": topics.n_topics,
            "smoothing": smoothing,
            "chain": chain,
            "seed": seed,
            "standard_error": math.nan if folded else 0.0,
        }
        scores.append(
            total(
                evaluation.log_likelihood,
                evaluation.tokens,
                tokens_left_out=evaluation.tokens_left_out,
                evaluator=evaluator,
                samples=1 if folded else 0,
                **named,
            )
        )
        if evaluator == HALF:
            continue
        values = {evaluator: evaluation.log_likelihood}
        if evaluator == EXACT:
            values[TOKENS] = evaluation.tokens.astype(np.float64)
        measurements += [
            Measurement(quantity=quantity, axis="document", at=int(d), value=float(value[d]), **named)
            for quantity, value in values.items()
            for d in np.flatnonzero(has_tokens)
        ]
    return scores, measurements
