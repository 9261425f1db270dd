"""Murphy's claims (2012, sections 27.4 and 27.5.3) about LDA's extensions, judged by likelihoods."""

from collections.abc import Sequence
from functools import partial

from heldout.claims import Claim
from heldout.effects import ON, effects, less, per_token
from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.murphy.comparison import compared
from heldout.papers.murphy.experiments import disclda, dynamics, lda_hmm, rtm, slda
from heldout.papers.murphy.members.member import LIKELIHOOD, USUAL
from heldout.papers.murphy.results_extensions import DISCLDA, DYNAMICS, RTM, SEQUENCES, SLDA, function_shares
from heldout.points import select
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

CLASS_PARTS = {"block form": disclda.BLOCKS, "EM": disclda.LEARNT, "LDA for each class": disclda.APART}


def above_hmm(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure the likelihood of documents under LDA-HMM less that under the hidden Markov model, at every K."""
    scores = per_token(select(inputs.scores, variant=SEQUENCES, evaluator=LIKELIHOOD))
    own, other = (select(scores, model=model) for model in (lda_hmm.MODEL, lda_hmm.HMM))
    other = own[list(ON)].merge(other.drop(columns="topics"), on=["corpus", "seed"])
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
        partial(
            compared,
            experiment=DYNAMICS,
            pairs=(("", dynamics.PLUGGED[dynamics.MODEL], dynamics.PLUGGED[dynamics.STATIC]),),
        ),
    ),
    Claim(
        "plugging-in-costs",
        "section 27.4.2",
        "A paper of the next volume has more likelihood when the topics that it may meet are integrated over",
        "variational lower bound on the likelihood of the next time's documents, each for itself, under the dynamic"
        " topic model, less their likelihood at its expected topics, and less that of LDA",
        partial(
            compared,
            experiment=DYNAMICS,
            pairs=(
                ("at their mean", (dynamics.MODEL, USUAL), dynamics.PLUGGED[dynamics.MODEL]),
                ("LDA", (dynamics.MODEL, USUAL), LDA),
            ),
        ),
    ),
    Claim(
        "slda-beats-regression",
        "section 27.4.4.1",
        "Topics that are fitted with the labels predict labels better than LDA's with a logistic regression",
        "exact likelihood of held-out documents' labels given their words, supervised LDA's less LDA's with a"
        " regression, mean over K",
        partial(compared, experiment=SLDA, pairs=(("", slda.MODEL, slda.REGRESSION),), margin=LABELS),
    ),
    Claim(
        "slda-one-state",
        "section 27.4.4.1",
        "A label's probability given the topics of one state is below its likelihood",
        "supervised LDA: exact likelihood of held-out documents' labels less their probability at q-bar of one sample,"
        " mean over K",
        partial(compared, experiment=SLDA, pairs=(("", slda.MODEL, (slda.MODEL, USUAL)),), margin=LABELS),
    ),
    Claim(
        "rtm-beats-regression",
        "section 27.5.3",
        "The relational topic model does better at predicting missing links than LDA with a logistic regression",
        "exact likelihood of held-out documents' links given words, half of the pairs linked, the relational topic"
        " model's less LDA's with a regression, mean over K",
        partial(compared, experiment=RTM, pairs=(("", rtm.MODEL, rtm.REGRESSION),), margin=LINKS),
    ),
    Claim(
        "links-read-topics",
        "section 27.5.3",
        "Links have to depend on the topics that were chosen, q-bar, and not on pi, or prediction is worse",
        "likelihood of held-out documents' links given words, half of the pairs linked, the relational topic model's"
        " less that of one whose links read pi, mean over K",
        partial(compared, experiment=RTM, pairs=(("", rtm.MODEL, rtm.OF_WEIGHTS),), margin=LINKS),
    ),
    Claim(
        "rtm-one-state",
        "section 27.5.3",
        "A link's probability given the topics of one state is below its likelihood",
        "relational topic model: exact likelihood of held-out documents' links less their probability at q-bar of one"
        " sample, mean over K",
        partial(compared, experiment=RTM, pairs=(("", rtm.MODEL, (rtm.MODEL, USUAL)),), margin=LINKS),
    ),
    Claim(
        "common-topics-tell-classes",
        "section 27.4.4.2",
        "Classes with common topics are told apart better than by an LDA for each class (our question)",
        "exact posterior probability of held-out documents' classes, DiscLDA's less that of an LDA for each class with"
        " as many topics a document",
        partial(
            compared,
            experiment=DISCLDA,
            pairs=[(part, model, disclda.APART) for part, model in CLASS_PARTS.items() if model != disclda.APART],
            margin=LABELS,
        ),
    ),
    Claim(
        "folding-in-tells-classes",
        "section 27.4.4.2",
        "Documents folded in under each class have less of their class's probability than their likelihoods give",
        "posterior probability of held-out documents' classes, by the likelihood less by folding in",
        partial(
            compared,
            experiment=DISCLDA,
            pairs=[(part, model, (model, USUAL)) for part, model in CLASS_PARTS.items()],
            margin=LABELS,
        ),
    ),
    Claim(
        "lda-hmm-beats-lda",
        "section 27.4.3",
        "LDA, whose words are exchangeable, misses what a hidden Markov model adds",
        "likelihood of held-out documents in their order, LDA-HMM's less LDA's, mean over K",
        partial(compared, experiment=SEQUENCES, pairs=(("", lda_hmm.MODEL, lda_hmm.LDA),)),
    ),
    Claim(
        "lda-hmm-beats-hmm",
        "section 27.4.3",
        "A hidden Markov model, which cannot capture the gist of a document, misses what topics add",
        "likelihood of held-out documents in their order, LDA-HMM's less that of a hidden Markov model with as many"
        " states, mean over K",
        above_hmm,
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
