"""Murphy's claims (2012, sections 27.4 and 27.5.3) about LDA's extensions, judged by likelihoods."""

from collections.abc import Sequence
from functools import partial

from heldout.claims import Claim
from heldout.effects import effects, less
from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.murphy.experiments import disclda, dynamics, lda_hmm, rtm, slda
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.results_extensions import DISCLDA, DYNAMICS, RTM, SEQUENCES, SLDA, function_shares, scored
from heldout.verdicts import MODELS, Effect, Margin

LABELS = Margin(
    0.01,
    "nats per label",
    "one percent of the odds against chance: as between models of words, what a reader would act on",
    "2026-11-25, before the first run of the study",
)
LINKS = Margin(0.01, "nats per pair", "as of a label", "2026-11-25, before the first run of the study")
SHARES = Margin(
    0.1, "share of words", "one word in ten of a topic that is shown", "2026-11-25, before the first run of the study"
)


def labels_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what supervised LDA has over LDA with a regression."""
    own, other = (scored(inputs, SLDA, model, LIKELIHOOD) for model in (slda.MODEL, slda.REGRESSION))
    return effects(less(own, other), margin=LABELS, held_out=inputs.held_out)


def state_lower(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the label's likelihood less its probability given one state."""
    exact, state = (scored(inputs, SLDA, slda.MODEL, evaluator) for evaluator in (LIKELIHOOD, USUAL))
    return effects(less(exact, state), margin=LABELS, held_out=inputs.held_out)


def links_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what the relational topic model has over LDA with a regression."""
    own, other = (scored(inputs, RTM, model, LIKELIHOOD) for model in (rtm.MODEL, rtm.REGRESSION))
    return effects(less(own, other), margin=LINKS, held_out=inputs.held_out)


def links_read_topics(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what the relational topic model has over one whose links read the weights."""
    own, other = (scored(inputs, RTM, model, LIKELIHOOD) for model in (rtm.MODEL, rtm.OF_WEIGHTS))
    return effects(less(own, other), margin=LINKS, held_out=inputs.held_out)


def link_state_lower(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the link's likelihood less its probability given one state."""
    exact, state = (scored(inputs, RTM, rtm.MODEL, evaluator) for evaluator in (LIKELIHOOD, USUAL))
    return effects(less(exact, state), margin=LINKS, held_out=inputs.held_out)


def classes_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what DiscLDA has over an LDA for each class, of a document's class."""
    found = []
    for model, part in ((disclda.BLOCKS, "block form"), (disclda.LEARNT, "EM")):
        own, other = (scored(inputs, DISCLDA, name, LIKELIHOOD) for name in (model, disclda.APART))
        found += effects(less(own, other), margin=LABELS, held_out=inputs.held_out, part=part)
    return found


def folded_lower(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what the exact likelihood has over folding in, of a document's class, by model."""
    found = []
    for model, part in ((disclda.BLOCKS, "block form"), (disclda.LEARNT, "EM"), (disclda.APART, "LDA for each class")):
        exact, folded = (scored(inputs, DISCLDA, model, evaluator) for evaluator in (LIKELIHOOD, USUAL))
        found += effects(less(exact, folded), margin=LABELS, held_out=inputs.held_out, part=part)
    return found


def moving_better(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure what moving topics have over static ones, both plugged in."""
    own, other = (scored(inputs, DYNAMICS, dynamics.PLUGGED[name], LIKELIHOOD) for name in dynamics.PLUGGED)
    return effects(less(own, other), margin=MODELS, held_out=inputs.held_out)


def plugging_costs(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the bound with the next time's topics integrated out less the likelihood at their mean."""
    bound = scored(inputs, DYNAMICS, dynamics.MODEL, USUAL)
    others = {"at their mean": dynamics.PLUGGED[dynamics.MODEL], "LDA": LDA}
    found = []
    for part, model in others.items():
        gains = less(bound, scored(inputs, DYNAMICS, model, LIKELIHOOD))
        found += effects(gains, margin=MODELS, held_out=inputs.held_out, part=part)
    return found


def sequences_better(inputs: Inputs, _: Sequence[str], *, model: str) -> list[Effect]:
    """Measure the likelihood of documents under LDA-HMM against another model's; the HMM's is of every K."""
    own, other = (scored(inputs, SEQUENCES, name, LIKELIHOOD) for name in (lda_hmm.MODEL, model))
    if model == lda_hmm.HMM:
        keys = own[["corpus", "topics", "seed"]]
        other = keys.merge(other.drop(columns="topics"), on=["corpus", "seed"])
    return effects(less(own, other), margin=MODELS, held_out=inputs.held_out)


def polluted(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the share of function words among topics' words, LDA's less LDA-HMM's."""
    own, other = (function_shares(inputs, model) for model in (lda_hmm.LDA, lda_hmm.MODEL))
    return effects(less(own, other), margin=SHARES, held_out=inputs.held_out)


EXTENSIONS = (
    Claim(
        "moving-topics-predict",
        "section 27.4.2",
        "Topics that move with time predict the next volume's papers better than topics that do not",
        "likelihood of the next time's documents, each for itself, at the expected topics: the dynamic topic model's"
        " less the same without motion",
        moving_better,
    ),
    Claim(
        "plugging-in-costs",
        "section 27.4.2",
        "A paper of the next volume has more likelihood when the topics that it may meet are integrated over",
        "variational lower bound on the likelihood of the next time's documents, each for itself, under the dynamic"
        " topic model, less their likelihood at its expected topics, and less that of LDA",
        plugging_costs,
    ),
    Claim(
        "slda-beats-regression",
        "section 27.4.4.1",
        "Topics that are fitted with the labels predict labels better than LDA's with a logistic regression",
        "exact likelihood of held-out documents' labels given their words, supervised LDA's less LDA's with a"
        " regression, mean over K",
        labels_better,
    ),
    Claim(
        "slda-one-state",
        "section 27.4.4.1",
        "A label's probability given the topics of one state is below its likelihood",
        "supervised LDA: exact likelihood of held-out documents' labels less their probability at q-bar of one sample,"
        " mean over K",
        state_lower,
    ),
    Claim(
        "rtm-beats-regression",
        "section 27.5.3",
        "The relational topic model does better at predicting missing links than LDA with a logistic regression",
        "exact likelihood of held-out documents' links given words, half of the pairs linked, the relational topic"
        " model's less LDA's with a regression, mean over K",
        links_better,
    ),
    Claim(
        "links-read-topics",
        "section 27.5.3",
        "Links have to depend on the topics that were chosen, q-bar, and not on pi, or prediction is worse",
        "likelihood of held-out documents' links given words, half of the pairs linked, the relational topic model's"
        " less that of one whose links read pi, mean over K",
        links_read_topics,
    ),
    Claim(
        "rtm-one-state",
        "section 27.5.3",
        "A link's probability given the topics of one state is below its likelihood",
        "relational topic model: exact likelihood of held-out documents' links less their probability at q-bar of one"
        " sample, mean over K",
        link_state_lower,
    ),
    Claim(
        "common-topics-tell-classes",
        "section 27.4.4.2",
        "Classes with common topics are told apart better than by an LDA for each class (our question)",
        "exact posterior probability of held-out documents' classes, DiscLDA's less that of an LDA for each class with"
        " as many topics a document",
        classes_better,
    ),
    Claim(
        "folding-in-tells-classes",
        "section 27.4.4.2",
        "Documents folded in under each class have less of their class's probability than their likelihoods give",
        "posterior probability of held-out documents' classes, by the likelihood less by folding in",
        folded_lower,
    ),
    Claim(
        "lda-hmm-beats-lda",
        "section 27.4.3",
        "LDA, whose words are exchangeable, misses what a hidden Markov model adds",
        "likelihood of held-out documents in their order, LDA-HMM's less LDA's, mean over K",
        partial(sequences_better, model=lda_hmm.LDA),
    ),
    Claim(
        "lda-hmm-beats-hmm",
        "section 27.4.3",
        "A hidden Markov model, which cannot capture the gist of a document, misses what topics add",
        "likelihood of held-out documents in their order, LDA-HMM's less that of a hidden Markov model with as many"
        " states, mean over K",
        partial(sequences_better, model=lda_hmm.HMM),
    ),
    Claim(
        "lda-topics-are-polluted",
        "section 27.4.3, Table 27.1",
        "Without the hidden Markov model function words pollute the topics",
        "share of words that most training documents have among the most probable ones of topics, LDA's less LDA-HMM's,"
        " mean over K",
        polluted,
    ),
)
