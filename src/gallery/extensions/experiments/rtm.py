"""The relational topic model (27.80): links of held-out documents given their words, beside LDA with a regression.

Trained on the training documents' links and as many of their other pairs, drawn. Scored on pairs with a held-out
document, half of them linked; of "rtm", of "lda-regression", whose topics do not know the links, and of
"rtm-of-weights", whose links read pi in the place of q-bar, at each K, in nats of a pair, which is one "token":

    likelihood    log p(R | w_i, w_j), exact to `exact_topics`; beyond, and of the third, by states of Gibbs chains
    usual-score   log p(R | q-bar_i, q-bar_j) of one state: a draw from the exact posterior, and else the end of a chain

Measured, on the axis "topics":

    at-mean             log p(R) at the mean weights E[pi | w], nats per pair
    area                under the curve, of the probabilities of links
    estimated, exact    the estimate by states, and the exact value, where there are both, nats per pair
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.extensions.evaluators.rtm_link import rtm_link, rtm_link_sampled
from gallery.extensions.experiments.slda import ESTIMATED, single_responses
from gallery.extensions.models.rtm import RTM
from gallery.extensions.spec import Relational
from gallery.graphs.evaluators.link_prediction import area_under_curve
from gallery.member import ANSWERS, LIKELIHOOD, STATE, USUAL, Family
from gallery.tokens.members.data import documents
from heldout.corpora.corpus import Corpus
from heldout.corpora.responses import links_of
from heldout.evaluators import EXACT
from heldout.typing import Ints

MODEL, REGRESSION, WEIGHTED = "rtm", "lda-regression", "rtm-of-weights"
MEAN, AREA = "at-mean", "area"
FAMILIES = (Family("links given words", (MODEL, REGRESSION, WEIGHTED), STATE, ANSWERS, {MODEL: "RTM: links"}),)


def balanced(links: Ints, ends: Ints, others: Ints, number: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Return at most `number` of the (M, 2) links and as many pairs without a link, and whether each is linked.

    Pairs without a link are drawn with an end of `ends` and another one of `others`.
    """
    linked = {(int(i), int(j)) for i, j in links}
    kept = links[np.sort(random.permutation(len(links))[:number])]
    free: list[tuple[int, int]] = []
    while len(free) < len(kept):
        i, j = sorted((int(random.choice(ends)), int(random.choice(others))))
        if i != j and (i, j) not in linked:
            linked.add((i, j))
            free.append((i, j))
    return np.concatenate([kept, np.array(free, dtype=np.int64).reshape(-1, 2)]), np.repeat([1, 0], len(kept))


def pairs_of(job: Job, training: Corpus, whole: Corpus, settings: Relational) -> tuple[Ints, Ints, Ints, Ints]:
    """Return training pairs by places among training documents, test pairs by places among all, and their links."""
    random = job.generator("rtm-pairs")
    links, place = links_of(job.corpus), {name: d for d, name in enumerate(training.documents)}
    trained = np.array([name in place for name in whole.documents])
    among_training = trained[links].all(axis=1)
    ours, everywhere = np.flatnonzero(trained), np.arange(whole.n_documents)
    training_pairs = balanced(links[among_training], ours, ours, len(links), random)
    test_pairs = balanced(links[~among_training], np.flatnonzero(~trained), everywhere, settings.pairs, random)
    to_training = np.cumsum(trained) - 1
    return to_training[training_pairs[0]], training_pairs[1], *test_pairs


def experiment(job: Job, settings: Relational) -> Results:
    """Fit the models and score links; raises InputError for a corpus without links."""
    training, _, _ = documents(job)
    whole, _ = job.corpus.over(training.vocabulary)
    training = whole.subset(np.flatnonzero(np.isin(whole.documents, training.documents)))
    pairs, links, test_pairs, test_links = pairs_of(job, training, whole, settings)
    names = tuple(f"{whole.documents[i]}+{whole.documents[j]}" for i, j in test_pairs)
    recorder = job.recorder(chain="0", documents=names)
    for K in settings.topics:
        for model in (MODEL, REGRESSION, WEIGHTED):
            fitted = RTM.of(
                settings,
                K,
                feedback=model != REGRESSION,
                reads="weights" if model == WEIGHTED else "topics",
                random_state=job.generator("rtm", topics=K, model=model),
            )
            topics = fitted.fit(training, pairs, links).topics(training.vocabulary)
            random = job.generator("rtm-state", topics=K, model=model)
            given = (topics, fitted.weights_, fitted.bias_, whole, test_pairs, test_links, random)
            row, samples = recorder.at(model=model, topics=K), settings.chains * settings.states
            likelihood, found = rtm_link_sampled(
                *given, chains=settings.chains, states=settings.states, reads=fitted.reads
            )
            if model != WEIGHTED and settings.exact_topics >= K:
                row.per_token(ESTIMATED, likelihood)
                found, samples = rtm_link(*given), 0
                likelihood = single_responses(found.exact)
                row.per_token(EXACT, likelihood)
            row.score(LIKELIHOOD, likelihood, samples=samples)
            row.score(USUAL, single_responses(found.state), samples=1)
            row.measure(MEAN, found.mean.mean())
            linked = np.where(test_links == 1, np.exp(found.exact), -np.expm1(found.exact))
            row.measure(AREA, area_under_curve(test_links == 1, linked))
    return recorder.results
