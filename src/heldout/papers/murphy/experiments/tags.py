"""Section 27.4.4: tags given inputs, on the topics of Reuters' stories given their words, by likelihood of the tags.

Documents are the stories with two topics or more, their topics the tags y_i, each once, in no order, and the inputs x_i
a constant and 1 for each of the `words` that the story has. Likelihoods are of the tags as a sequence with replacement:
of the set they differ by log L_i! for every model alike. Recorded as "likelihood" on held-out documents of

    tags-alone          multinomial regression of every tag on the inputs, recorded at K of all tags
    mr-lda              multinomial regression LDA by EM (27.68 to 27.70), whose folding in is its likelihood
    mr-lda-two-steps    the same by LDA of the tags and a regression of its weights
    dmr                 Dirichlet multinomial regression (27.71, 27.72), exact or the reference
    categorical-pca-inputs  categorical PCA with inputs by variational EM (27.73, 27.74), exact with one and two
                        components and annealed beyond; its "usual-score" is the bound
    softmax-network     a network with the same bottleneck

and measured on the axis "topics" of "mr-lda", "dmr" and, with one and two components, of "categorical-pca-inputs"

    information         what one tag of a held-out document says of another, given the inputs: the mean over documents
                        of the exact mutual information under the model, nats
"""

from typing import Any

import numpy as np

from heldout.corpora.corpus import Corpus, offsets_of
from heldout.corpora.labels import LABELS, frequent_labels, indicators
from heldout.corpora.split import train_test_split
from heldout.errors import InputError
from heldout.evaluators.between_tokens import mutual_information, of_dirichlet, of_weights
from heldout.evaluators.categorical_pca_inputs import (
    categorical_pca_inputs_annealed,
    categorical_pca_inputs_marginal,
    pairs_of_tokens,
)
from heldout.evaluators.categorical_pca_marginal import SPACINGS
from heldout.evaluators.evaluation import Evaluation, corrected
from heldout.evaluators.own_priors import OwnPriors, own_priors
from heldout.job import Job
from heldout.models.categorical_pca import CategoricalPCA
from heldout.models.dmr import DMR
from heldout.models.mr_lda import MRLDA, MultinomialRegression, SoftmaxNetwork
from heldout.papers.murphy.experiments.covariates import REGRESSION, of_frequent_words, with_constant
from heldout.papers.murphy.members.data import deterministic
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.settings_priors import Tags
from heldout.recorder import Results
from heldout.seeds import generator
from heldout.typing import Floats

ALONE, EXPERTS, TWO_STEPS, INPUTS, NETWORK = (
    "tags-alone",
    "mr-lda",
    "mr-lda-two-steps",
    "categorical-pca-inputs",
    "softmax-network",
)
INFORMATION = "information"
FEWEST = 2  # tags of a document: one has no other to inform


def tags_of(corpus: Corpus, tags: tuple[str, ...]) -> Corpus:
    """Return the documents as bags of their tags, in the tags' order."""
    rows, places = np.nonzero(indicators(corpus, tags))
    lengths = np.bincount(rows, minlength=corpus.n_documents)
    names = {LABELS: corpus.provenance[LABELS]}
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
    of_training, of_test, _ = of_frequent_words(training, test, settings.words)
    x, x_test = (with_constant((half.counts() > 0.0).toarray().astype(float)) for half in (of_training, of_test))
    return tags_of(training, tags), tags_of(test, tags), x, x_test


def experiment(job: Job, settings: Tags) -> Results:
    """Fit the models and score them; raises InputError as they and the evaluators do."""
    training, test, x, x_test = split(job, settings)
    counts, held_out, tags = training.counts(), test.counts(), training.vocabulary
    recorder = job.recorder(documents=test.documents)

    def random(model: str, K: int, part: str) -> np.random.Generator:
        return generator("tags", corpus=job.corpus.name, model=model, topics=K, part=part, seed=job.seed)

    def add(model: str, K: int, evaluation: Evaluation, evaluator: str = LIKELIHOOD, samples: int = 0) -> None:
        samples = samples if evaluation.standard_error.any() else 0
        recorder.at(model=model, topics=K).score(evaluator, evaluation, samples=samples)

    def inform(model: str, K: int, joints: list[Floats]) -> None:
        values = np.array([mutual_information(joint) for joint in joints])
        recorder.at(model=model, topics=K).measure(INFORMATION, values.mean(), axis="topics", at=K)

    regressed = MultinomialRegression(penalty=settings.penalty, iterations=settings.iterations).fit(counts, x)
    add(ALONE, len(tags), deterministic(regressed.log_likelihood(held_out, x_test), test))
    given: dict[str, Any] = {"alpha": settings.alpha, "gamma": settings.gamma, "sweeps": settings.sweeps}
    for K in settings.topics:
        for name in (EXPERTS, TWO_STEPS):
            experts = MRLDA(
                K,
                **given,
                two_steps=name == TWO_STEPS,
                penalty=settings.penalty,
                iterations=settings.iterations,
                random_state=random(name, K, "fit"),
            ).fit(counts, x)
            add(name, K, deterministic(experts.log_likelihood(held_out, x_test), test))
            inform(name, K, [of_weights(experts.components_, theta) for theta in experts.weights(x_test)])
        dmr = DMR(
            K,
            **given,
            sigma=settings.penalty**-0.5,
            optimise_every=settings.optimise_every,
            random_state=random(REGRESSION, K, "fit"),
        ).fit(counts, x)
        alphas = dmr.priors(x_test)
        likelihood, _ = own_priors(
            OwnPriors(dmr.components_, alphas, tags), test, settings.samples, random(REGRESSION, K, "score")
        )
        add(REGRESSION, K, likelihood, samples=settings.samples)
        inform(REGRESSION, K, [of_dirichlet(dmr.components_, alpha) for alpha in alphas])
    for K in settings.component_topics:
        network = SoftmaxNetwork(
            K,
            penalty=settings.penalty,
            output_penalty=settings.penalty,
            iterations=settings.iterations,
            random_state=random(NETWORK, K, "fit"),
        ).fit(counts, x)
        add(NETWORK, K, deterministic(network.log_likelihood(held_out, x_test), test))
        pca = CategoricalPCA(
            K,
            penalty=settings.penalty,
            input_penalty=settings.penalty,
            iterations=settings.iterations,
            random_state=random(INPUTS, K, "fit"),
        ).fit(counts, inputs=x)
        bound = pca.set_params(ve_iterations=settings.iterations).infer(held_out, inputs=x_test).bound
        add(INPUTS, K, deterministic(bound, test), USUAL)
        if K in SPACINGS:
            add(INPUTS, K, deterministic(categorical_pca_inputs_marginal(pca, held_out, x_test), test))
            inform(INPUTS, K, list(pairs_of_tokens(pca, x_test)))
        else:
            chains = {"temperatures": settings.temperatures}
            value, error = categorical_pca_inputs_annealed(
                pca, held_out, x_test, settings.chains, random(INPUTS, K, "score"), **chains
            )
            add(INPUTS, K, corrected(Evaluation(value, test.lengths, error)), samples=settings.chains)
    return recorder.results
