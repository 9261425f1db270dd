"""The rows of the gallery's opening table on a corpus: every token model's usual score, and its likelihood.

A row is a model of sections 27.2 and 27.3, trained on the training documents of a split and scored on the test
documents twice: by the score that is usually reported of it, and by its likelihood, exact here.

    multinomial-mixture   the bound of its best component, max_k log p(w, k)
    poisson-mixture       the same
    gap, conditional-gap  folded in: the Poisson likelihood at the weights z that maximise it
    nmf                   the same; it has no prior, and so no likelihood
    lda-gibbs             folded in: prod_l sum_k theta_k b_k[w_l] at the weights that maximise it
    lda-vb, lda-online-vb the variational bound, with the posterior means of the topics
    categorical-pca       the variational bound, for one and two components

All in nats of the documents as sequences of tokens: a model of counts, p(n), is divided by the number of orders,
L! / prod_v n_v!. What it says of the length remains: the Poisson models, GaP and NMF generate it, the others are given
it. Words without training tokens are left out of the test documents, for every model.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.categorical_pca_marginal import SPACINGS, categorical_pca_marginal
from heldout.evaluators.count_polynomial import gap_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.measurements import Measurement
from heldout.models.categorical_pca import CategoricalPCA
from heldout.models.gap import GaP, fold_in
from heldout.models.lda_gibbs import LDAGibbs
from heldout.models.lda_online_vb import OnlineLDAVB
from heldout.models.lda_vb import LDAVB, document_bounds, e_step
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.nmf import NMF
from heldout.models.poisson_mixture import PoissonMixture
from heldout.scores import Score, score_of
from heldout.seeds import generator

USUAL, LIKELIHOOD = "usual-score", "likelihood"
MIXTURE, POISSON, GAP, CONDITIONAL, FACTORS = "multinomial-mixture", "poisson-mixture", "gap", "conditional-gap", "nmf"
GIBBS, BATCH, ONLINE, COMPONENTS = "lda-gibbs", "lda-vb", "lda-online-vb", "categorical-pca"
MODELS = (MIXTURE, POISSON, GAP, CONDITIONAL, FACTORS, GIBBS, BATCH, ONLINE, COMPONENTS)

Float = NDArray[np.float64]


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    models: Sequence[str] = MODELS,
    smoothing: float,
    alpha: float,
    gamma: float,
    rho: float,
    penalty: float,
    iterations: int,
    sweeps: int,
    fold_in_iterations: int,
) -> tuple[list[Score], list[Measurement]]:
    """Train every model with every number of components and score it twice.

    Args:
        corpus: all documents.
        seed: determines the split, the starts and the chains.
        test_documents: how many documents are held out.
        topics: K; categorical PCA takes those its quadrature can.
        models: names, of `MODELS`.
        smoothing: added to the word probabilities of the mixtures and NMF.
        alpha: the Dirichlet parameter of LDA's weights and the shape of GaP's.
        gamma: the Dirichlet parameter of the topics of LDA and GaP.
        rho: the spike of the conditional GaP.
        penalty: of categorical PCA's weights.
        iterations: of EM and variational Bayes, at most; online, passes.
        sweeps: of Gibbs sampling.
        fold_in_iterations: of folding in.

    Returns:
        Scores of the evaluators "usual-score" and "likelihood" (not for NMF), which for all of these has no Monte Carlo
        error; no measurements.

    Raises:
        InputError: for an unknown model, or as the models and evaluators do.
    """
    if unknown := [model for model in models if model not in MODELS]:
        raise InputError(f"gallery: there is no model {unknown[0]}; there are {', '.join(MODELS)}")
    training, test = train_test_split(corpus, test_documents, seed)
    words = tuple(corpus.vocabulary[w] for w in np.unique(training.tokens))
    training, _ = training.over(words)
    test, left_out = test.over(words)
    counts, held_out = training.counts(), test.counts()
    dense = held_out.toarray()
    orders: Float = gammaln(test.lengths + 1.0) - gammaln(dense + 1.0).sum(axis=1)

    def both(model: str, K: int) -> tuple[Float, Float | None]:
        """Return a model's usual score and likelihood, (D,) nats each."""
        random = generator("gallery", corpus=corpus.name, model=model, topics=K, seed=seed)
        limits: dict[str, Any] = {"iterations": iterations, "random_state": random}
        if model == MIXTURE:
            multinomials = MultinomialMixture(K, posterior="exact", **limits).fit(counts)
            phi = multinomials.parameters_.smoothed(smoothing)
            return multinomials.point_bound(held_out, phi), multinomials.log_likelihood(held_out, phi)
        if model == POISSON:
            poissons = PoissonMixture(K, posterior="exact", **limits).fit(counts)
            rates = poissons.parameters_.smoothed(smoothing)
            return poissons.point_bound(held_out, rates) - orders, poissons.log_likelihood(held_out, rates) - orders
        if model in (GAP, CONDITIONAL):
            spike = rho if model == CONDITIONAL else 0.0
            gap = GaP(K, alpha=alpha, gamma=gamma, rho=spike, sweeps=sweeps, random_state=random).fit(counts)
            b = gap.components_
            exact = gap_marginal(dense, np.ascontiguousarray(b.T), gap.alpha_, gap.beta_, gap.rho_)
            return folded_in(b), exact - orders
        if model == FACTORS:
            W = NMF(K, **limits).fit(counts).parameters_.T
            return folded_in((W + smoothing) / (1.0 + smoothing * W.shape[1])), None
        if model == COMPONENTS:
            pca = CategoricalPCA(K, penalty=penalty, **limits).fit(counts)
            return pca.set_params(ve_iterations=iterations).infer(held_out).bound, categorical_pca_marginal(
                pca, held_out
            )
        if model == GIBBS:
            lda: Any = LDAGibbs(K, alpha=alpha, gamma=gamma, sweeps=sweeps, random_state=random)
        elif model == BATCH:
            lda = LDAVB(K, alpha=alpha, gamma=gamma, **limits)
        else:
            lda = OnlineLDAVB(K, alpha=alpha, gamma=gamma, passes=iterations, random_state=random)
        fitted = lda.fit(counts).topics(words)
        likelihood = exact_marginal(fitted, test).log_likelihood
        if model == GIBBS:  # at the z of greatest likelihood, which sum to L, the Poisson's share of the length goes
            lengths = test.lengths.astype(float)
            of_length = np.where(lengths > 0.0, lengths * np.log(np.maximum(lengths, 1.0)), 0.0) - lengths
            return folded_in(fitted.phi) - (of_length - gammaln(lengths + 1.0)), likelihood
        pseudo, _ = e_step(held_out, np.log(fitted.phi), fitted.alpha, iterations=fold_in_iterations, tolerance=1e-6)
        return document_bounds(held_out, np.log(fitted.phi), fitted.alpha, pseudo), likelihood

    def folded_in(b: Float) -> Float:
        """Return sum_v log Poi(n_v | (z b)_v), (D,) nats less the orders, at the z of greatest likelihood."""
        none = np.zeros(len(b))
        rates = fold_in(held_out, b, none, none, iterations=fold_in_iterations) @ b
        terms = np.where(dense > 0.0, dense * np.log(np.where(dense > 0.0, rates, 1.0)), 0.0)
        folded: Float = (terms - rates).sum(axis=1) - gammaln(test.lengths + 1.0)
        return folded

    scores = []
    for model in models:
        for K in topics:
            if model == COMPONENTS and K not in SPACINGS:
                continue
            for evaluator, values in zip((USUAL, LIKELIHOOD), both(model, K), strict=True):
                if values is not None:
                    scores.append(
                        score_of(
                            Evaluation.deterministic(values, test.lengths, left_out),
                            corpus=corpus.name,
                            model=model,
                            variant="gallery",
                            topics=K,
                            smoothing=smoothing if model in (MIXTURE, POISSON, FACTORS) else 0.0,
                            chain="0" if model in (GAP, CONDITIONAL, GIBBS) else "none",
                            evaluator=evaluator,
                            seed=seed,
                        )
                    )
    return scores, []
