"""Training of PLSA and LDA for the experiments that train both themselves."""

from artifact.papers.likelihood.settings import Reference, SameHalves, Trained, Validation
from heldout.corpora.corpus import Corpus
from heldout.models import lda, plsa
from heldout.models.settings import LDATraining
from heldout.topics import Topics


def trained(
    training: Corpus, settings: Trained | Reference | SameHalves | Validation, K: int, seed: int
) -> tuple[plsa.PLSA, Topics]:
    """Return PLSA's fit, whose topics are not smoothed, and the topics of one chain of LDA.

    Experiments with the same training documents, settings, K and seed get the same fits.
    """
    em = plsa.PLSA(K, iterations=settings.iterations, tolerance=0.0)
    em.set_params(random_state=plsa.random_start(training, K, seed)).fit(training.counts())
    one_chain = LDATraining(alpha_sum=settings.alpha_sum, beta=settings.beta, sweeps=settings.sweeps, chains=1)
    return em, lda.train(training, one_chain, topics=K, seed=seed)[0]
