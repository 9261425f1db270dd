"""Section 27.4.4: tags given inputs, on the topics of Reuters' stories given their words, by likelihood of the tags.

Documents are the stories with two topics or more, their topics the tags y_i, each once, in no order, and the inputs x_i
a constant and 1 for each of the `words` that the story has. Likelihoods are of the tags as a sequence with replacement:
of the set they differ by log L_i! under every model. Recorded as "likelihood" on held-out documents of

    tags-alone          multinomial regression of every tag on the inputs, recorded at K of all tags
    mr-lda              multinomial regression LDA by EM (27.68 to 27.70), whose folding in is its likelihood
    mr-lda-two-steps    the same by LDA of the tags and a regression of its weights
    dmr                 Dirichlet multinomial regression (27.71, 27.72), exact or the reference
    categorical-pca-inputs  categorical PCA with inputs by variational EM (27.73, 27.74), exact with one and two
                        components and annealed beyond; its "usual-score" is the bound
    categorical-pca-inputs-quadrature   the same by EM with an exact E step, with one component
    softmax-network     a network with the same bottleneck

The precision of the prior of all weights is, for each model, the one of `penalties` whose fit to a part of the training
documents has the highest likelihood on the others; that fit is the model. Measured of every model on the axis "topics"

    penalty             that precision

and of "mr-lda", "dmr" and, with one and two components, of "categorical-pca-inputs"

    information         what one tag of a held-out document says of another, given the inputs: the mean over documents
                        of the exact mutual information under the model, nats
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.member import ANSWERS, BOUND, LIKELIHOOD, USUAL, Family
from gallery.priors.evaluators.between_tokens import mutual_information, pairs_under_dirichlet, pairs_under_weights
from gallery.priors.evaluators.categorical_pca_inputs import (
    categorical_pca_inputs_annealed,
    categorical_pca_inputs_marginal,
    pairs_of_tokens,
)
from gallery.priors.experiments.covariates import REGRESSION, keep_frequent_words, with_constant
from gallery.priors.models.categorical_pca_inputs import CategoricalPCAInputsByQuadrature
from gallery.priors.models.dmr import DMR
from gallery.priors.models.mr_lda import MRLDA, MultinomialRegression, SoftmaxNetwork
from gallery.priors.spec import Tags
from gallery.tokens.evaluators.categorical_pca_marginal import SPACINGS
from gallery.tokens.members.data import deterministic
from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.corpora.corpus import Corpus, offsets_of
from heldout.corpora.labels import LABELS, frequent_labels, indicators
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.evaluators.own_priors import own_priors
from heldout.topics import OwnPriors
from heldout.typing import Floats

SINGLY, EXPERTS, TWO_STEPS = "tags-alone", "mr-lda", "mr-lda-two-steps"
INPUTS, QUADRATURE, NETWORK = "categorical-pca-inputs", "categorical-pca-inputs-quadrature", "softmax-network"
INFORMATION, PENALTY = "information", "penalty"
BY_QUADRATURE = 1  # largest number of components for which exact EM takes seconds
FEWEST = 2  # least number of tags of a document: one tag has no other to inform
FAMILIES = (
    Family("tags given inputs", (SINGLY, EXPERTS, TWO_STEPS, NETWORK), None),
    Family("categorical PCA with inputs", (INPUTS, QUADRATURE), BOUND, ANSWERS, {INPUTS: "catPCA with inputs: tags"}),
)


def tags_of(corpus: Corpus, tags: tuple[str, ...]) -> Corpus:
    """Return the documents as bags of their tags, in the tags' order."""
    rows, places = np.nonzero(indicators(corpus, tags))
    lengths = np.bincount(rows, minlength=corpus.n_documents)
    names = {LABELS: corpus.provenance.get(LABELS, {}), "synthetic": corpus.synthetic}
    return Corpus(corpus.name, tags, places.astype(np.int32), offsets_of(lengths), corpus.documents, names)


def split(job: Job, settings: Tags) -> tuple[Corpus, Corpus, Floats, Floats]:
    """Return training and test tags, and the inputs of both.

    Raises:
        InputError: where too few documents have two tags.
    """
    tags, corpus = frequent_labels(job.corpus, settings.least), job.corpus
    several = np.flatnonzero(indicators(corpus, tags).sum(axis=1) >= FEWEST)
    if len(several) <= settings.test_documents:
        raise InputError(f"tags: {len(several)} documents have {FEWEST} tags or more; hold out fewer")
    training, test = train_test_split(corpus.subset(several), settings.test_documents, job.seed)
    tags = frequent_labels(training, settings.least)
    training, test = (
        half.subset(np.flatnonzero(indicators(half, tags).sum(axis=1) >= FEWEST)) for half in (training, test)
    )
    training_words, test_words, _ = keep_frequent_words(training, test, settings.words)
    x, x_test = (with_constant((half.counts() > 0.0).toarray().astype(float)) for half in (training_words, test_words))
    return tags_of(training, tags), tags_of(test, tags), x, x_test


class Fitted(NamedTuple):
    """A fitted model: the likelihood of test documents, the joint probabilities of two tags of each, and the bound."""

    likelihood: Callable[[Corpus, Floats, np.random.Generator], Evaluation]
    pairs: Callable[[Floats], Iterable[Floats]] | None = None
    bound: Callable[[Corpus, Floats], Evaluation] | None = None


Fit = Callable[[float, np.random.Generator], Fitted]  # function of a precision of the prior


def experiment(job: Job, settings: Tags) -> Results:
    """Fit the models and score them; raises InputError as they and the evaluators do."""
    training, test, x, x_test = split(job, settings)
    order = job.generator("tags-validation").permutation(training.n_documents)
    validating = max(1, round(settings.validation * training.n_documents))
    parts = [np.sort(order[validating:]), np.sort(order[:validating])]
    (fitting, x_fitting), (validation, x_validation) = [(training.subset(part), x[part]) for part in parts]
    counts, tags, recorder = fitting.counts(), training.vocabulary, job.recorder(documents=test.documents)

    def product(model: MRLDA | MultinomialRegression | SoftmaxNetwork) -> Fitted:
        def likelihood(cases: Corpus, inputs: Floats, _: np.random.Generator) -> Evaluation:
            return deterministic(model.log_likelihood(cases.counts(), inputs), cases)

        def pairs(inputs: Floats) -> Iterable[Floats]:
            return (pairs_under_weights(model.components_, theta) for theta in model.weights(inputs))  # type: ignore[union-attr]

        return Fitted(likelihood, pairs if isinstance(model, MRLDA) else None)

    def multinomial(penalty: float, _: np.random.Generator) -> Fitted:
        model = MultinomialRegression(penalty=penalty, iterations=settings.iterations)
        return product(model.fit(counts, x_fitting))

    def experts(K: int, two_steps: bool) -> Fit:
        model = partial(MRLDA, K, alpha=settings.alpha, gamma=settings.gamma, sweeps=settings.sweeps)
        model = partial(model, iterations=settings.iterations, two_steps=two_steps)
        return lambda penalty, random: product(model(penalty=penalty, random_state=random).fit(counts, x_fitting))

    def regression(K: int) -> Fit:
        def fit(penalty: float, random: np.random.Generator) -> Fitted:
            dmr = DMR(
                K,
                alpha=settings.alpha,
                gamma=settings.gamma,
                sweeps=settings.sweeps,
                sigma=penalty**-0.5,
                optimise_every=settings.optimise_every,
                random_state=random,
            )
            b = dmr.fit(counts, x_fitting).components_

            def likelihood(cases: Corpus, inputs: Floats, rng: np.random.Generator) -> Evaluation:
                return own_priors(OwnPriors(b, dmr.priors(inputs), tags), cases, settings.samples, rng).evaluation

            return Fitted(likelihood, lambda inputs: (pairs_under_dirichlet(b, alpha) for alpha in dmr.priors(inputs)))

        return fit

    def components(K: int, kind: type[CategoricalPCA]) -> Fit:
        def fit(penalty: float, random: np.random.Generator) -> Fitted:
            model = partial(kind, K, penalty=penalty, input_penalty=penalty, iterations=settings.iterations)
            pca = model(random_state=random).fit(counts, inputs=x_fitting)

            def likelihood(cases: Corpus, inputs: Floats, rng: np.random.Generator) -> Evaluation:
                if K in SPACINGS:
                    return deterministic(categorical_pca_inputs_marginal(pca, cases.counts(), inputs), cases)
                value, error = categorical_pca_inputs_annealed(
                    pca, cases.counts(), inputs, settings.chains, rng, temperatures=settings.temperatures
                )
                return corrected(Evaluation(value, cases.lengths, error))

            def bound(cases: Corpus, inputs: Floats) -> Evaluation:
                settled = pca.set_params(ve_iterations=settings.iterations)
                return deterministic(settled.infer(cases.counts(), inputs=inputs).bound, cases)

            pairs = (lambda inputs: pairs_of_tokens(pca, inputs)) if K in SPACINGS else None
            return Fitted(likelihood, pairs, bound if kind is CategoricalPCA else None)

        return fit

    def network(K: int) -> Fit:
        model = partial(SoftmaxNetwork, K, iterations=settings.iterations)
        return lambda penalty, random: product(
            model(penalty=penalty, output_penalty=penalty, random_state=random).fit(counts, x_fitting)
        )

    def models() -> Iterator[tuple[str, int, Fit]]:
        yield SINGLY, len(tags), multinomial
        for K in settings.topics:
            yield EXPERTS, K, experts(K, two_steps=False)
            yield TWO_STEPS, K, experts(K, two_steps=True)
            yield REGRESSION, K, regression(K)
        for K in settings.component_topics:
            yield NETWORK, K, network(K)
            yield INPUTS, K, components(K, CategoricalPCA)
            if K <= BY_QUADRATURE:
                yield QUADRATURE, K, components(K, CategoricalPCAInputsByQuadrature)

    for model, K, fit in models():
        random, row = partial(job.generator, model=model, topics=K), recorder.at(model=model, topics=K)
        fits = [fit(penalty, random("tags", penalty=penalty)) for penalty in settings.penalties]
        sums = [one.likelihood(validation, x_validation, random("tags-validate")).log_likelihood.sum() for one in fits]
        best = int(np.argmax(sums))
        row.measure(PENALTY, settings.penalties[best])
        fitted = fits[best]
        if fitted.bound is not None:
            row.score(USUAL, fitted.bound(test, x_test))
        likelihood = fitted.likelihood(test, x_test, random("tags-score"))
        row.score(LIKELIHOOD, likelihood, samples=settings.samples if likelihood.standard_error.any() else 0)
        if fitted.pairs is not None:
            row.measure(INFORMATION, np.mean([mutual_information(joint) for joint in fitted.pairs(x_test)]))
    return recorder.results
