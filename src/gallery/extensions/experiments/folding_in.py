r"""Folding in beyond topic models: its excess over the likelihood beside theorem 1 (`heldout.evaluators.excess`).

The theorem's proof reads p(w | theta) / p(w) = E[p(z | theta) / p(z) | w], which holds wherever theta reaches the data
by way of discrete z alone. So for any theta log p(w | theta) - log p(w) <= max_z log max_theta p(z | theta) / p(z).

Mixture of multinomials (27.4). One z for a document, p(z = k) = pi_k. A mixed component, p(w | theta) = sum_k theta_k
p(w | k), is at most the best one, p(w) at least pi_k of it: max_k p(w | k), pi_k > 0, has the bound max_k -log pi_k.

User rating profile (27.14). Response r has a z_r, and a table b^(r) of its own, which the proof does not read: the
bound is `largest_excess` of the number of responses. Gaps have no z.

LDA-HMM (27.61 to 27.64). Every token has a z, also where its state hides it (27.62), so n is the document's length.
By way of the states the excess has the bound log E[exp B(n_0) | w], n_0 tokens in state 0, which is no more: B does
not fall with n, for at the z and theta of B(n)

    max_theta p(z | theta) / p(z) = sum_k p(z, k | theta) / sum_k p(z, k) <= max_k p(z, k | theta) / p(z, k).

Gaussian vectors. Categorical PCA (27.7) and matrix factorisation (27.93) have no such z, and no function of n and K
bounds their excess. With h ~ N(0, s^2), two words of eta = (h, 0) and a token of each, p(w | h) is 1/4 at the most, and
p(w) falls as 1 / (s sqrt(2 pi)). A bound has to know the weights: at the mode m, with Boehning's A and n_r tokens of
block r, it is

    log det(I + sum_r n_r W_r' A W_r) / 2 + m'm / 2,

for log p(w | h) lies above its expansion at m with that curvature, and has the slope m there. In matrix factorisation,
A' A / sigma^2 for the sum, it is an equality (`heldout.evaluators.rating_marginal`). Their excess is in "gallery",
"records" and "ratings"; here are the others. Scores: full-folding-in, likelihood. Measured on the axis "topics", nats
per document or record:

    bound, largest-bound    mean and largest value
    violations              number whose excess is above it by more than `SEEN` standard errors of its likelihood

Of drawn documents, which the demo has, the presence of words stands in for records.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.extensions.evaluators.lda_hmm_marginal import lda_hmm_folded_in, lda_hmm_marginal
from gallery.extensions.experiments import lda_hmm
from gallery.extensions.models.lda_hmm import LDAHMM
from gallery.extensions.spec import FoldingIn
from gallery.member import DOCUMENTS, LIKELIHOOD, RECORDS
from gallery.tokens.members.data import deterministic, documents, folded_in_given_length, kind_of
from gallery.tokens.members.mixtures import MixtureOfMultinomials
from gallery.tokens.members.user_rating_profile import UserRatingProfile
from gallery.tokens.models.user_rating_profile import UserRatingProfile as Profile
from gallery.undirected.experiments.boltzmann import binary
from heldout.corpora.corpus import Corpus
from heldout.corpora.records import from_responses
from heldout.evaluators import FULL
from heldout.evaluators.evaluation import Evaluation
from heldout.evaluators.excess import largest_excess
from heldout.models.multinomial_mixture import MultinomialMixture
from heldout.typing import Floats

BOUND, LARGEST, VIOLATIONS = "bound", "largest-bound", "violations"
SEEN = 5.0  # standard errors of a likelihood that an excess has to be above its bound
ROUNDING = 1e-9  # nats


class Folded(NamedTuple):
    """Test documents under a model of K components: folded in, their likelihood, and bounds on the excess, (D,)."""

    model: str
    topics: int
    names: tuple[str, ...]
    left_out: int
    full: Evaluation
    likelihood: Evaluation
    bound: Floats
    samples: int = 0


def mixture_folded_in(fitted: MultinomialMixture, test: Corpus) -> tuple[Evaluation, float]:
    """Return max_k log p(w | k) of every document, nats, and the bound on its excess; see the module."""
    weights, joint = fitted.parameters_.weights, fitted.log_joint(fitted.check(test.counts()), fitted.parameters_)
    known = weights > 0.0
    return deterministic((joint[:, known] - np.log(weights[known])).max(axis=1), test), -np.log(weights[known].min())


def profile_folded_in(fitted: Profile, test: Corpus, iterations: int) -> Evaluation:
    """Return max_pi log p(y | pi) of every record, nats, after EM iterations from equal weights."""
    R, K, M = fitted.tables_.shape
    b = fitted.tables_.transpose(1, 0, 2).reshape(K, R * M) / R  # rows that sum to 1, as of words
    return deterministic(folded_in_given_length(test, b, iterations) + test.lengths * np.log(R), test)


def experiment(job: Job, settings: FoldingIn) -> Results:
    """Fold the test documents into every model of their kind; raises InputError as the models and evaluators do."""
    recorder, kind = job.recorder(), kind_of(job.corpus)
    models = [_mixtures, _sequences] if kind == DOCUMENTS else []
    for model in models + [_profiles] * (kind == RECORDS or job.corpus.synthetic):
        for one in model(job, settings):
            row = recorder.at(model=one.model, topics=one.topics, documents=one.names, tokens_left_out=one.left_out)
            row.score(FULL, one.full)
            row.score(LIKELIHOOD, one.likelihood, samples=one.samples)
            excess = one.full.log_likelihood - one.likelihood.log_likelihood
            row.measure(BOUND, one.bound.mean())
            row.measure(LARGEST, one.bound.max())
            row.measure(VIOLATIONS, (excess > one.bound + SEEN * one.likelihood.standard_error + ROUNDING).sum())
    return recorder.results


def _mixtures(job: Job, settings: FoldingIn) -> Iterator[Folded]:
    """Yield mixtures of multinomials, fitted as in "gallery"."""
    split, member = documents(job), MixtureOfMultinomials.of(vars(settings))
    for K in settings.topics:
        fitted = member.train(split.training, K, job.generator("gallery", model=member.name, topics=K))
        full, bound = mixture_folded_in(fitted, split.test)
        likelihood, bounds = member.likelihood(fitted, split.test), np.full(split.test.n_documents, bound)
        yield Folded(member.name, K, split.test.documents, split.left_out, full, likelihood, bounds)


def _profiles(job: Job, settings: FoldingIn) -> Iterator[Folded]:
    """Yield user rating profiles, fitted as in "records"."""
    training, test = job.split() if kind_of(job.corpus) == RECORDS else map(_presence, job.split())
    member = UserRatingProfile.of(vars(settings))
    for K in settings.topics:
        fitted = member.train(training, K, job.generator("gallery", model=member.name, topics=K))
        exact, random = member.likelihood(fitted, test), job.generator("folding-in", model=member.name, topics=K)
        likelihood = member.estimated(fitted, test, random) if exact is None else exact
        full = profile_folded_in(fitted, test, settings.fold_in_iterations)
        bound, samples = largest_excess(test.lengths, fitted.alpha_), 0 if exact else settings.chains
        yield Folded(member.name, K, test.documents, 0, full, likelihood, bound, samples)


def _presence(part: Corpus) -> Corpus:
    """Return the presence of words in drawn documents as records."""
    responses = binary(part).astype(np.int64)
    words = tuple(map(str, range(responses.shape[1])))
    return from_responses(part.name, responses, words, ("absent", "present"), part.documents)


def _sequences(job: Job, settings: FoldingIn) -> Iterator[Folded]:
    """Yield LDA-HMMs, fitted as in "lda-hmm", as far as their likelihood is exact."""
    training = lda_hmm.training_documents(job, settings.documents)
    test, left_out = documents(job).test.over(training.vocabulary)
    for K in (K for K in settings.topics if settings.exact_topics >= K):
        random = job.generator("lda-hmm", model=lda_hmm.MODEL, topics=K)
        fitted = LDAHMM.of(settings, K, n_states=settings.states, random_state=random).fit(training).parameters_
        full, likelihood = lda_hmm_folded_in(fitted, test, settings.fold_in_iterations), lda_hmm_marginal(fitted, test)
        bound = largest_excess(test.lengths, fitted.alpha)
        yield Folded(lda_hmm.MODEL, K, test.documents, left_out, full, likelihood, bound)
