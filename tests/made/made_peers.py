"""Made-up scores of other libraries' models, for the tests of the exhibits."""

import math
from collections.abc import Callable, Collection, Iterable

import pandas as pd
from tables_of import measurements_table, scores_table

from artifact.contrasts.inputs import Inputs
from artifact.results.measurements import NOTES, Measurement, Note
from artifact.results.scores import Score

LIBRARIES = ("scikit-learn", "gensim", "tomotopy")
TOPICS = (5, 20, 160)
TOKENS, ERROR = 1000, 0.002  # of a score; nats per token
CORPORA = ("cranfield", "medline")
SETTINGS = {
    "rounds": {"scikit-learn": 10, "gensim": 11, "tomotopy": 1200},
    "own_rounds": {},
    "own_rounds_topics": 0,
    "training_documents": 1000,
    "scored": [],
    "samples": 480,
    "limit": 1e8,
}
VERSIONS = {"scikit-learn": "1.9.1", "gensim": "4.4.0", "tomotopy": "0.14.0"}

Change = Callable[[pd.DataFrame], pd.DataFrame]


def truth(library: str, topics: int) -> float:
    """Return nats per token: better with more topics, a little different by library."""
    return -7.0 + 0.05 * math.log(topics) + 0.1 * LIBRARIES.index(library)


def growing(library: str, topics: int) -> float:
    """Return the nats per token of the term that grows."""
    return -0.02 * topics * (1.0 if library != "tomotopy" else 0.01)


def reported(library: str, topics: int) -> float:
    """Return nats per token."""
    return truth(library, topics) - 0.3 + growing(library, topics)


def peers(corpora: Iterable[str], libraries: Collection[str] = LIBRARIES) -> tuple[list[Score], list[Measurement]]:
    """Return the scores and measurements of every corpus, library and number of topics."""
    scores: list[Score] = []
    rows: list[Measurement] = []
    for corpus in corpora:
        for library in libraries:
            for topics in TOPICS:
                values = {
                    "reported": (reported(library, topics), math.nan, 0),
                    "mean-field-bound": (truth(library, topics) - 0.05, 0.0, 0),
                    "full-folding-in": (truth(library, topics) + 0.2, 0.0, 0),
                    "half-folding-in": (truth(library, topics) + 0.1, 0.0, 0),
                    "exact-marginal" if topics == 5 else "reference": (
                        truth(library, topics),
                        0.0 if topics == 5 else ERROR,
                        0 if topics == 5 else 50,
                    ),
                }
                for evaluator, (value, error, samples) in values.items():
                    scores.append(
                        Score(
                            *(corpus, library, "peers", topics, 0.0, "none", evaluator, samples, 0, 4, TOKENS, 0, 3),
                            log_likelihood=value * TOKENS,
                            perplexity=math.exp(-value),
                            standard_error=error * TOKENS,
                        )
                    )
                own = (corpus, library, "peers", topics, 0.0, "none", 0)
                value = reported(library, topics)
                printed = math.exp(-value) if library == "scikit-learn" else value
                rows.append(Measurement(*own, "reported-value", "topics", topics, printed))
                rows.append(Measurement(*own, "reported-growing", "topics", topics, growing(library, topics)))
    return scores, rows


def versions(corpora: Iterable[str], libraries: Collection[str] = LIBRARIES) -> pd.DataFrame:
    """Return the notes of every corpus, library and number of topics."""
    grid = ((corpus, library, k) for corpus in corpora for library in libraries for k in TOPICS)
    rows = [
        Note(corpus, library, "peers", k, 0, "version", "topics", k, VERSIONS[library]) for corpus, library, k in grid
    ]
    return pd.DataFrame(rows, columns=list(NOTES.columns))


def peers_inputs(
    libraries: tuple[str, ...] = LIBRARIES, *, synthetic: bool = False, change: Change = lambda scores: scores
) -> Inputs:
    """Return the small study with the scores and measurements of libraries alone."""
    from small_study import corpora_table, small_study  # which may take its rows from here

    study = small_study()
    grid = {"corpora": list(CORPORA), "models": list(libraries), "topics": list(TOPICS), "seeds": [0]}
    study["measures"]["peers"] = {**grid, "settings": SETTINGS}
    scores, rows = peers(CORPORA, libraries)
    return Inputs(
        corpora=corpora_table(study, synthetic=synthetic),
        study=study,
        scores=change(scores_table(scores)),
        measurements=measurements_table(rows),
        notes=versions(CORPORA, libraries),
    )


def with_reported(value: Callable[[str, int], float]) -> Change:
    """Return a change of the reported nats per token."""

    def change(scores: pd.DataFrame) -> pd.DataFrame:
        nats = [value(m, k) * n for m, k, n in zip(scores["model"], scores["topics"], scores["tokens"], strict=True)]
        own = scores["evaluator"] == "reported"
        return scores.assign(log_likelihood=scores["log_likelihood"].mask(own, pd.Series(nats, index=scores.index)))

    return change
