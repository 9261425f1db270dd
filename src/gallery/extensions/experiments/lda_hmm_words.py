"""Table 27.1 and Figure 27.14: topics of LDA and LDA-HMM, states of the latter, and words in two roles.

Of "lda" and "lda-hmm" at K, noted on the axis "rank" from 1, the `shown` most probable words, fewer where they have 90
percent of the probability:

    topic-N, state-N   of the topics with most tokens, and of the states

Words in two roles have many certain tokens of either role: of the words of at least `LEAST_TOKENS` tokens they have the
largest lesser share of tokens that were in the topics' state in more than 90 percent, or less than 10 percent, of the
last half of the sweeps. Of the Nth, of "lda-hmm":

    content-N, function-N   the words around its most certain tokens, noted on the axis "token", and an array, the share
                            of sweeps in which each was in the topics' state
    content-at, function-at an array, the place of each word itself among these
"""

import numpy as np

from artifact.results.recorder import Recorder, Results
from artifact.study.job import Job
from gallery.extensions.experiments.lda_hmm import LDA, MODEL, fit, training_documents
from gallery.extensions.spec import Roles
from heldout.corpora.corpus import Corpus
from heldout.typing import Floats, Ints

TOPIC, STATE = "topic", "state"
CONTENT, FUNCTION, PLACE = "content", "function", "at"
MASS = 0.9  # probability at which a list ends
CERTAIN = 0.9  # share of sweeps that makes a token certain
LEAST_TOKENS = 10  # least number of tokens of a word


def experiment(job: Job, settings: Roles) -> Results:
    """Fit both models and choose words; raises InputError as the models do."""
    training = training_documents(job, settings.documents)
    K, recorder = settings.topics, job.recorder(topics=settings.topics, chain="0")
    for model, C in ((LDA, 0), (MODEL, settings.states)):
        random = job.generator("lda-hmm-words", model=model)
        fitted, row = fit(training, settings, K, C, random), recorder.at(model=model)
        topic_tokens = np.bincount(fitted.topics_[fitted.states_ == 0], minlength=K)
        _note_words(row, TOPIC, training, fitted.parameters_.topics, topic_tokens, settings)
        if model == MODEL:
            state_tokens = np.bincount(fitted.states_, minlength=C + 1)[1:]
            _note_words(row, STATE, training, fitted.parameters_.states, state_tokens, settings)
            _roles(row, training, fitted.content_, settings)
    return recorder.results


def _note_words(row: Recorder, kind: str, corpus: Corpus, rows: Floats, tokens: Ints, settings: Roles) -> None:
    """Note the most probable words of the rows, (M, V) probabilities, with most tokens, (M,)."""
    for n, m in enumerate(np.argsort(-tokens, kind="stable")[: settings.columns], start=1):
        order = np.argsort(-rows[m], kind="stable")[: settings.shown]
        preceding = np.cumsum(rows[m][order]) - rows[m][order]
        for rank, v in enumerate(order[preceding < MASS], start=1):
            row.note(f"{kind}-{n}", corpus.vocabulary[v], axis="rank", position=rank)


def _roles(row: Recorder, corpus: Corpus, content: Floats, settings: Roles) -> None:
    """Note and measure the words in two roles, given the (N,) shares of sweeps in the topics' state."""
    V, context = corpus.n_words, settings.context
    rows = np.repeat(np.arange(corpus.n_documents), corpus.lengths)
    tokens = np.bincount(corpus.tokens, minlength=V)
    sides = [np.bincount(corpus.tokens[mask], minlength=V) for mask in (content > CERTAIN, content < 1.0 - CERTAIN)]
    lesser = np.where(tokens >= LEAST_TOKENS, np.minimum(*sides) / np.maximum(tokens, 1), 0.0)
    places_of: dict[str, list[int]] = {CONTENT: [], FUNCTION: []}
    for n, word in enumerate(np.argsort(-lesser, kind="stable")[: settings.words], start=1):
        places = np.flatnonzero(corpus.tokens == word)
        for role, most in ((CONTENT, content[places].argmax()), (FUNCTION, content[places].argmin())):
            place = int(places[most])
            start, end = corpus.offsets[rows[place]], corpus.offsets[rows[place] + 1]
            shown = range(max(int(start), place - context), min(int(end), place + context + 1))
            row.array(f"{role}-{n}", content[shown.start : shown.stop])
            for position, i in enumerate(shown):
                row.note(f"{role}-{n}", corpus.vocabulary[corpus.tokens[i]], axis="token", position=position)
            places_of[role].append(place - shown.start)
    for role, role_places in places_of.items():
        row.array(f"{role}-{PLACE}", role_places)
