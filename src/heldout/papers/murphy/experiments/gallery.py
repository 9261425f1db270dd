"""The rows of the gallery's opening table on a corpus: every token model's usual score, and its likelihood.

A row is a model of sections 27.2 and 27.3, trained on the training documents of a split and scored on the test
documents twice: by the score that is usually reported of it, and by its likelihood.

    multinomial-mixture     the bound of its best component, max_k log p(w, k)
    poisson-mixture         the same
    plsi                    folded in; its likelihood is the mixture over training documents
    lda, lda-gibbs          folded in: prod_l sum_k theta_k b_k[w_l] at the weights that maximise it
    lda-vb, lda-online-vb   the variational bound, with the posterior means of the topics
    gap, conditional-gap    folded in: the Poisson likelihood at the weights z that maximise it
    nmf                     the same; it has no prior, and so no likelihood
    categorical-pca         the variational bound, for one and two components
    categorical-pca-point   folded in at the point that degenerate EM takes, log p(w | z)

All in nats of the documents as sequences of tokens: a model of counts, p(n), is divided by the number of orders,
L! / prod_v n_v!. What it says of the length remains: the Poisson models, GaP and NMF generate it, the others are given
it. Words without training tokens are left out of the test documents, for every model.

Likelihoods are exact, but for more components than the exact kernel is asked for: then LDA's is left-to-right
sequential, GaP's follows from it, since its rates are equal (below), and the conditional GaP has none.

Measured besides, on the axis "topics":

    gap-less-mpca           max_d |log p_GaP(n) - log NB(L) - log p_LDA(n | L)| with b and alpha shared, nats
    poisson-less-parts      max_d |log p_Poisson(n) - log(mixture of Poi(L) Mu(n | L))|, nats
    nmf-under-gap           the likelihood of NMF's b under GaP's prior, nats per token
    training-likelihood     of categorical PCA and categorical-pca-point, nats per token of the training documents
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.categorical_pca_marginal import SPACINGS, categorical_pca_marginal
from heldout.evaluators.count_polynomial import gap_marginal
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.exact_marginal import exact_marginal
from heldout.evaluators.left_to_right_sequential import left_to_right_sequential
from heldout.evaluators.training_mixture import training_mixture
from heldout.measurements import Measurement
from heldout.models.categorical_pca import POINT, CategoricalPCA
from heldout.models.gap import GaP, fold_in
from heldout.models.lda import LDA
from heldout.models.lda_gibbs import LDAGibbs
from heldout.models.lda_online_vb import OnlineLDAVB
from heldout.models.lda_vb import LDAVB, document_bounds, e_step
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.models.nmf import NMF
from heldout.models.plsa import PLSA
from heldout.models.poisson_mixture import PoissonMixture
from heldout.scores import Score, score_of
from heldout.seeds import generator
from heldout.topics import Topics

USUAL, LIKELIHOOD = "usual-score", "likelihood"
MIXTURE, POISSON, GAP, CONDITIONAL, FACTORS = "multinomial-mixture", "poisson-mixture", "gap", "conditional-gap", "nmf"
PLSI, COLLAPSED, GIBBS, BATCH, ONLINE = "plsi", "lda", "lda-gibbs", "lda-vb", "lda-online-vb"
COMPONENTS, DEGENERATE = "categorical-pca", "categorical-pca-point"
MODELS = (
    *(MIXTURE, POISSON, PLSI, COLLAPSED, GIBBS, BATCH, ONLINE),
    *(GAP, CONDITIONAL, FACTORS, COMPONENTS, DEGENERATE),
)
GAP_LESS_MPCA, POISSON_LESS_PARTS = "gap-less-mpca", "poisson-less-parts"
NMF_UNDER_GAP, TRAINING = "nmf-under-gap", "training-likelihood"
SAMPLED = (COLLAPSED, GIBBS, GAP, CONDITIONAL)  # the models that are Markov chains

TRAINING_CASES = 500  # of those that categorical PCA was fitted to, the first: quadrature of all would take minutes

Float = NDArray[np.float64]


class Scored(NamedTuple):
    """A model's two scores, and what else was measured, by quantity."""

    usual: Float
    likelihood: Evaluation | None
    measured: Mapping[str, float] = {}


def experiment(
    corpus: Corpus,
    *,
    seed: int,
    test_documents: int,
    topics: Sequence[int],
    exact_topics: int,
    samples: int,
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
        topics: K; categorical PCA takes those its quadrature can, and 1.
        exact_topics: the most components of the exact kernel.
        samples: sweeps of left-to-right sequential beyond.
        smoothing: added to the word probabilities of the mixtures, PLSI and NMF.
        alpha: the Dirichlet parameter of LDA's weights and the shape of GaP's.
        gamma: the Dirichlet parameter of the topics of LDA and GaP.
        rho: the spike of the conditional GaP.
        penalty: of categorical PCA's weights.
        iterations: of EM and variational Bayes, at most; online, passes.
        sweeps: of Gibbs sampling.
        fold_in_iterations: of folding in.

    Returns:
        Scores of the evaluators "usual-score" and "likelihood"; the measurements above.

    Raises:
        InputError: as the models and evaluators do, or for a setting out of range.
    """
    if exact_topics < 1 or samples < 1 or fold_in_iterations < 1:
        raise InputError("gallery: exact_topics, samples and fold_in_iterations must be at least 1")
    training, test = train_test_split(corpus, test_documents, seed)
    words = tuple(corpus.vocabulary[w] for w in np.unique(training.tokens))
    training, _ = training.over(words)
    test, left_out = test.over(words)
    counts, held_out = training.counts(), test.counts()
    dense = held_out.toarray()
    orders: Float = gammaln(test.lengths + 1.0) - gammaln(dense + 1.0).sum(axis=1)

    def deterministic(values: Float) -> Evaluation:
        return Evaluation.deterministic(values, test.lengths)

    def of_lda(fitted: Topics) -> Evaluation:
        if fitted.n_topics <= exact_topics:
            return exact_marginal(fitted, test)
        random = generator("gallery-left-to-right", corpus=corpus.name, topics=fitted.n_topics, seed=seed)
        return left_to_right_sequential(fitted, test, samples, random)

    def folded_in(b: Float) -> Float:
        """Return sum_v log Poi(n_v | (z b)_v), (D,) nats of sequences, at the z of greatest likelihood."""
        rates = _folded_in_weights(held_out, b, fold_in_iterations) @ b
        terms = np.where(dense > 0.0, dense * np.log(np.where(dense > 0.0, rates, 1.0)), 0.0)
        folded: Float = (terms - rates).sum(axis=1) - gammaln(test.lengths + 1.0)
        return folded

    def given_length(b: Float) -> Float:
        """Return the same given the length: at that z, which sums to L, the Poisson's share of it goes."""
        lengths = test.lengths.astype(float)
        of_length = np.where(lengths > 0.0, lengths * np.log(np.maximum(lengths, 1.0)), 0.0) - lengths
        folded: Float = folded_in(b) - (of_length - gammaln(lengths + 1.0))
        return folded

    def scored(model: str, K: int) -> Scored:
        random = generator("gallery", corpus=corpus.name, model=model, topics=K, seed=seed)
        limits: dict[str, Any] = {"iterations": iterations, "random_state": random}
        priors: dict[str, Any] = {"alpha": alpha, "gamma": gamma}
        if model == MIXTURE:
            multinomials = MultinomialMixture(K, posterior="exact", **limits).fit(counts)
            phi = multinomials.parameters_.smoothed(smoothing)
            exact = multinomials.log_likelihood(held_out, phi)
            return Scored(multinomials.point_bound(held_out, phi), deterministic(exact))
        if model == POISSON:
            poissons = PoissonMixture(K, posterior="exact", **limits).fit(counts)
            rates = poissons.parameters_.smoothed(smoothing)
            exact = poissons.log_likelihood(held_out, rates)
            apart = np.abs(exact - by_parts(held_out, rates.weights, rates.rates)).max()
            usual = poissons.point_bound(held_out, rates) - orders
            return Scored(usual, deterministic(exact - orders), {POISSON_LESS_PARTS: float(apart)})
        if model in (GAP, CONDITIONAL):
            spike = rho if model == CONDITIONAL else 0.0
            gap = GaP(K, rho=spike, sweeps=sweeps, random_state=random, **priors).fit(counts)
            return of_gap(gap, gap.components_)
        if model == FACTORS:
            W = NMF(K, **limits).fit(counts).parameters_.T
            b = (W + smoothing) / (1.0 + smoothing * W.shape[1])
            gap = GaP(K, sweeps=1, random_state=random, **priors).fit(counts)  # for its prior
            under_gap = of_gap(gap, b).likelihood
            assert under_gap is not None
            per_token = float(under_gap.log_likelihood.sum() / test.n_tokens)
            return Scored(folded_in(b), None, {NMF_UNDER_GAP: per_token})
        if model in (COMPONENTS, DEGENERATE):
            posterior = POINT if model == DEGENERATE else "gaussian"
            pca = CategoricalPCA(K, posterior=posterior, penalty=penalty, **limits).fit(counts)
            return of_components(pca, counts, held_out, iterations, deterministic)
        if model == PLSI:
            plsa = PLSA(K, **limits).fit(counts)
            fitted = plsa.topics(words).smoothed(smoothing)
            return Scored(given_length(fitted.phi), training_mixture(fitted, plsa.document_topics_, test))
        if model == COLLAPSED:
            collapsed = LDA(K, alpha=alpha, beta=gamma, sweeps=sweeps, random_state=random).fit(training)
            fitted = collapsed.topics(words)
        elif model == GIBBS:
            fitted = LDAGibbs(K, sweeps=sweeps, random_state=random, **priors).fit(counts).topics(words)
        elif model == BATCH:
            fitted = LDAVB(K, **priors, **limits).fit(counts).topics(words)
        else:
            fitted = OnlineLDAVB(K, passes=iterations, random_state=random, **priors).fit(counts).topics(words)
        if model in (COLLAPSED, GIBBS):
            return Scored(given_length(fitted.phi), of_lda(fitted))
        pseudo, _ = e_step(held_out, np.log(fitted.phi), fitted.alpha, iterations=fold_in_iterations, tolerance=1e-6)
        return Scored(document_bounds(held_out, np.log(fitted.phi), fitted.alpha, pseudo), of_lda(fitted))

    def of_gap(gap: GaP, b: Float) -> Scored:
        """Return GaP's scores with the rates b; NB(L) and LDA where the exact kernel is not asked for."""
        fitted, spikes = Topics(b, gap.alpha_, words), bool(gap.rho_.any())
        exact, measured = None, {}
        if len(b) <= exact_topics:
            values = gap_marginal(dense, np.ascontiguousarray(b.T), gap.alpha_, gap.beta_, gap.rho_) - orders
            exact = deterministic(values)
        if not spikes:
            of_lengths = negative_binomial(test.lengths, float(gap.alpha_.sum()), float(gap.beta_[0]))
            sequence = of_lda(fitted)
            if exact is None:
                exact = Evaluation(of_lengths + sequence.log_likelihood, test.lengths, sequence.standard_error)
            else:
                measured[GAP_LESS_MPCA] = float(
                    np.abs(exact.log_likelihood - of_lengths - sequence.log_likelihood).max()
                )
        return Scored(folded_in(b), exact, measured)

    scores, measurements = [], []
    for model in MODELS:
        numbers = topics
        if model in (COMPONENTS, DEGENERATE):
            numbers = sorted({1, *(K for K in topics if K in SPACINGS)})
        for K in numbers:
            result = scored(model, K)
            named: dict[str, Any] = {"corpus": corpus.name, "model": model, "variant": "gallery", "topics": K}
            named |= {"smoothing": smoothing if model in (MIXTURE, POISSON, PLSI, FACTORS) else 0.0, "seed": seed}
            named |= {"chain": "0" if model in SAMPLED else "none"}
            evaluations = {USUAL: deterministic(result.usual), LIKELIHOOD: result.likelihood}
            for evaluator, evaluation in evaluations.items():
                if evaluation is not None:
                    drawn = samples if evaluation.standard_error.any() else 0
                    scores.append(
                        score_of(evaluation, evaluator=evaluator, samples=drawn, tokens_left_out=left_out, **named)
                    )
            measurements += [
                Measurement(quantity=quantity, axis="topics", at=K, value=value, **named)
                for quantity, value in result.measured.items()
            ]
    return scores, measurements


def of_components(
    pca: CategoricalPCA, training: sp.csr_array, held_out: sp.csr_array, iterations: int, exact: Any
) -> Scored:
    """Return the scores of fitted categorical PCA on held-out counts, and its likelihood of some training counts.

    Args:
        pca: fitted, with a Gaussian or a point posterior.
        training: (N, C) counts that it was fitted to.
        held_out: (D, C) counts.
        iterations: updates of the posterior of held-out counts.
        exact: makes an evaluation of (D,) values.
    """
    posterior = pca.set_params(ve_iterations=iterations).infer(held_out)
    usual = posterior.bound
    if pca.posterior == POINT:
        usual = usual + 0.5 * (posterior.mean**2).sum(axis=1)
    some = training[:TRAINING_CASES]
    own = float(categorical_pca_marginal(pca, some).sum() / some.sum())
    return Scored(usual, exact(categorical_pca_marginal(pca, held_out)), {TRAINING: own})


def negative_binomial(lengths: NDArray[np.int64], shape: float, rate: float) -> Float:
    """Return log NB(L), (D,) nats, of the sum of GaP's weights, Ga(shape, rate), through the Poisson."""
    L = lengths.astype(float)
    of_lengths: Float = (
        gammaln(shape + L) - gammaln(shape) - gammaln(L + 1.0) + shape * math.log(rate) - (shape + L) * math.log1p(rate)
    )
    return of_lengths


def by_parts(counts: sp.csr_array, weights: Float, rates: Float) -> Float:
    """Return log sum_k pi_k Poi(L | Lambda_k) Mu(n | L, lambda_k / Lambda_k), (D,) nats: 27.5 as 27.4 with a length."""
    totals, dense = rates.sum(axis=1), counts.toarray()
    lengths = dense.sum(axis=1)[:, None]
    of_lengths = lengths * np.log(totals) - totals - gammaln(lengths + 1.0)
    orders = gammaln(lengths + 1.0) - gammaln(dense + 1.0).sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        joint = np.log(weights) + of_lengths + orders + counts @ np.log(rates / totals[:, None]).T
    return np.asarray(logsumexp(joint, axis=1))


def _folded_in_weights(counts: sp.csr_array, b: Float, iterations: int) -> Float:
    none = np.zeros(len(b))
    return fold_in(counts, b, none, none, iterations=iterations)
