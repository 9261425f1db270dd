"""The settings of the experiments on models whose documents have priors of their own (sections 27.4.1 and 27.4.4)."""

from dataclasses import dataclass

from heldout.settings import setting


@dataclass(frozen=True, kw_only=True)
class Covariates:
    """Settings of `covariates`."""

    documents: int = setting("to train on, the first of a random order", least=1)
    words: int = setting("of the vocabulary, those of most training documents", least=1)
    least: int = setting("training documents of a label; rarer ones are left out", least=1)
    topics: tuple[int, ...] = setting("K of DMR and of LDA", least=1)
    subtopics: int = setting("of a label in partially labelled LDA", least=1)
    common: int = setting("topics of all documents in partially labelled LDA", least=0)
    alpha: float = setting("Dirichlet parameter of a document's weights; of DMR at its start", above=0)
    gamma: float = setting("Dirichlet parameter of the topics", above=0)
    sigma: float = setting("standard deviation of DMR's weights", above=0)
    sigma_constant: float = setting("standard deviation of DMR's constant", above=0)
    sweeps: int = setting("of collapsed Gibbs sampling", least=1)
    optimise_every: int = setting("sweeps between two maximisations over DMR's weights", least=1)
    fold_in_iterations: int = setting("of folding in", least=1)
    samples: int = setting("sweeps of the reference, at most", least=240)
