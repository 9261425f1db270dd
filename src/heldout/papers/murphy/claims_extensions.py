"""Murphy's claims (2012, sections 27.4 and 27.5.3) about LDA's extensions, judged by likelihoods."""

from collections.abc import Sequence
from functools import partial

from heldout.claims import Claim
from heldout.effects import effects, less
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import lda_hmm, slda
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.results_extensions import SEQUENCES, SLDA, function_shares, scored
from heldout.verdicts import MODELS, Effect, Margin

LABELS = Margin(
    0.01,
    "nats per label",
    "one percent of the odds against chance: as between models of words, what a reader would act on",
    "2026-11-25, before the first run of the study",
)
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
