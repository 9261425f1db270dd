"""Figure 27.6 by halves: LDA folded in on one half of each document and scored on the other, as PLSI in `perplexity`.

The documents, the halves and LDA's chains are those of `perplexity` where the settings are the same. The evaluators of
the variant "completion", both of the scored halves:

    half folding-in         weights at the observed half's: those of the last sample of its topics, the topics fixed
    document completion     weights integrated out given the observed half, estimated from `samples` states
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from heldout import models
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split
from heldout.evaluators import COMPLETION, HALF
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.evaluators.posterior_predictive import posterior_predictive
from heldout.measurements import Measurement
from heldout.models import lda as collapsed
from heldout.papers.murphy.members.data import documents
from heldout.scores import Score, score_of
from heldout.seeds import generator


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    alpha: float,
    gamma: float,
    sweeps: int,
    fold_in_sweeps: int,
    samples: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train LDA at every K and score one half of each test document given the other.

    Args:
        corpus: all documents.
        seed: determines the split, the halves, the chains and the samples.
        test_documents: how many documents are held out.
        topics: K.
        alpha: the Dirichlet parameter of the weights.
        gamma: the Dirichlet parameter of the topics.
        sweeps: of collapsed Gibbs sampling.
        fold_in_sweeps: of folding in.
        samples: states of document completion.

    Raises:
        InputError: as the sampler and the evaluators do.
    """
    training, test, left_out = documents(corpus, test_documents, seed)
    observed, scored = half_split(test, seed)
    fold_in = partial(collapsed.fold_in, seed=seed, sweeps=fold_in_sweeps)
    scores = []
    for K in topics:
        random = generator("perplexity", corpus=corpus.name, model=models.LDA, topics=K, seed=seed)
        lda = collapsed.LDA(K, alpha=alpha, beta=gamma, sweeps=sweeps, random_state=random).fit(training)
        trained = lda.topics(training.vocabulary)
        states = generator("completion", corpus=corpus.name, topics=K, seed=seed)
        named: dict[str, Any] = {"corpus": corpus.name, "model": models.LDA, "variant": "completion", "topics": K}
        named |= {"smoothing": gamma, "chain": "0", "seed": seed, "tokens_left_out": left_out}
        half = half_folding_in([trained], observed, scored, fold_in)
        integrated = posterior_predictive(trained, observed, scored, samples, states)
        scores.append(score_of(half, evaluator=HALF, **named))
        scores.append(score_of(integrated, evaluator=COMPLETION, samples=samples, **named))
    return scores, []
