"""Rows of the opening table with more components than the exact kernels take, their likelihoods by annealing.

Of the members that can be annealed; trained and scored as in `gallery` and `records`, likelihoods corrected for the
bias of their logarithms. With `exact_topics` components, where the exact kernels serve, both are measured on the axis
"topics", nats per token:

    annealed    with its standard error
    exact
"""

from collections.abc import Sequence
from typing import Any

from heldout.corpora.corpus import Corpus
from heldout.evaluators.evaluation import corrected
from heldout.measurements import Measurement
from heldout.papers.murphy.members import MEMBERS
from heldout.papers.murphy.members.data import SPLITS, kind_of
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL, AnnealedMember
from heldout.papers.murphy.members.rows import named
from heldout.scores import Score, score_of
from heldout.seeds import generator

ANNEALED, EXACT = "annealed", "exact"


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    columns: int,
    alpha: float,
    gamma: float,
    rho: float,
    penalty: float,
    iterations: int,
    sweeps: int,
    fold_in_iterations: int,
    samples: int,
    temperatures: int,
    component_temperatures: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train the models and score them by annealing.

    Args:
        corpus: documents, or records (`heldout.corpora.records`).
        seed: determines the split, the starts and the chains.
        test_documents: how many are held out.
        topics: K of the rows.
        exact_topics: K of the comparison with exact values, 1 or 2.
        columns: the most pairs of variable and value of categorical PCA on records.
        alpha: the shape of GaP's weights, and the Dirichlet parameter of the user rating profile.
        gamma: the Dirichlet parameter of GaP's topics, and the pseudo-counts of the user rating profile.
        rho: the spike of the conditional GaP.
        penalty: of categorical PCA's weights.
        iterations: of EM, at most.
        sweeps: of Gibbs sampling.
        fold_in_iterations: of folding GaP in.
        samples: annealing chains.
        temperatures: their steps, of GaP and the user rating profile.
        component_temperatures: of categorical PCA, from a start that is nearer.

    Raises:
        InputError: as the models and evaluators do.
    """
    kind = kind_of(corpus)
    split = SPLITS[kind](corpus, test_documents, seed)
    settings = {"exact_topics": exact_topics, "columns": columns, "alpha": alpha, "gamma": gamma, "rho": rho}
    settings |= {"penalty": penalty, "iterations": iterations, "sweeps": sweeps}
    settings |= {"fold_in_iterations": fold_in_iterations, "samples": samples, "temperatures": temperatures}
    settings |= {"component_temperatures": component_temperatures}
    scores, measurements = [], []
    members = [member for member in MEMBERS if kind in member.data and issubclass(member, AnnealedMember)]
    for member in (member.of(settings) for member in members):
        for K in member.numbers((exact_topics, *topics), corpus):
            axes: dict[str, Any] = {"corpus": corpus.name, "model": member.name, "topics": K, "seed": seed}
            fitted = member.train(split.training, K, generator("gallery", **axes))
            annealed = corrected(member.annealed(fitted, split.test, generator("annealed", **axes)))
            row, N = named(member, "annealed", corpus.name, K, seed), split.test.n_tokens
            if exact_topics >= K:
                exact = member.likelihood(fitted, split.test, generator("annealed", **axes))
                assert exact is not None
                for quantity, evaluation in ((ANNEALED, annealed), (EXACT, exact)):
                    value, error = evaluation.log_likelihood.sum() / N, evaluation.total_error() / N
                    place: dict[str, Any] = {"axis": "topics", "at": K, "value": float(value), "standard_error": error}
                    measurements.append(Measurement(quantity=quantity, **place, **row))
                continue
            row["tokens_left_out"] = split.left_out
            scores.append(score_of(member.usual_score(fitted, split.test), evaluator=USUAL, **row))
            scores.append(score_of(annealed, evaluator=LIKELIHOOD, samples=samples, **row))
    return scores, measurements
