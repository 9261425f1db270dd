"""The number of topics by cross-validation of the likelihood, in pairs.

Every fold of the documents is scored by models that were fitted to the others, one per number of topics and all by the
same estimator, so that a document has one log-likelihood per number of topics. These are compared as a ranking compares
models (`heldout.auditing.rank.result`): the errors are over documents, of the models of these folds.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.auditing.blocks import BIAS, COLUMNS, ERROR, LIKELIHOOD, Work
from heldout.auditing.estimator import check_estimator
from heldout.auditing.options import ScoreOptions
from heldout.auditing.progress import Moved, reporting
from heldout.auditing.rank.report import Ranking
from heldout.auditing.rank.result import RankedModel, in_order
from heldout.auditing.runner import Task, run
from heldout.auditing.scorer import check_unknown, samples_of, unknown_tokens
from heldout.auditing.store import Values
from heldout.auditing.survey import subject_of
from heldout.errors import InputError, InputWarning
from heldout.evaluators import REFERENCE
from heldout.evaluators.priors import prior_of
from heldout.libraries import Reported
from heldout.libraries.pipeline import COMPONENTS, fitter
from heldout.seeds import generator
from heldout.typing import Ints

# settings of a vectorizer that decide which words there are
WORD_SETTINGS = {
    "min_df",
    "max_df",
    "max_features",
    "ngram_range",
    "stop_words",
    "token_pattern",
    "tokenizer",
    "vocabulary",
}


class Choice(Ranking):
    """A ranking of numbers of topics; it has the attributes of `heldout.auditing.rank.result.RankingResult`."""

    @property
    def n_topics(self) -> int:
        """The number of topics under which held-out documents are likeliest."""
        return self.best.topics

    @property
    def not_told_apart(self) -> tuple[int, ...]:
        """The numbers of topics that are tied with the best on these documents, it included, ascending."""
        return tuple(sorted(model.topics for model in self.ties))

    @property
    def one_standard_error(self) -> int:
        """The fewest topics that are behind the best by at most one standard error of the paired difference."""
        close = (m.topics for m, gap in zip(self.models, self.behind, strict=True) if -gap.nats_per_token <= gap.error)
        return min((self.best.topics, *close))


def choose(
    model: Any,
    documents: Any,
    topics: Sequence[int],
    *,
    folds: int = 5,
    vocabulary: Any = None,
    estimator: str = REFERENCE,
    samples: int | None = None,
    smoothing: float = 0.0,
    unknown: float | None = None,
    random_state: Any = 0,
    progress: Moved | bool | None = None,
) -> Choice:
    """Choose the number of topics by the likelihood of held-out documents, in folds.

    Args:
        model: an unfitted scikit-learn estimator with `n_components`, a `Pipeline` that ends in one, or a function that
            takes a number of topics and training documents and returns anything that `heldout.audit` reads.
        documents: D documents that can be counted and indexed: a matrix, a table, or a list of texts or of lists.
        topics: the numbers of topics, two or more.
        folds: how many parts the documents are divided into at random; each is scored by models of the others.
        vocabulary: the models' words, where they do not name them.
        estimator: as of `heldout.log_likelihood`, and so are samples and smoothing.
        samples: per document.
        smoothing: a constant added to every p(w | z).
        unknown: the probability of a word that a model lacks, which compares models whose words differ.
        random_state: determines the folds and every draw.
        progress: as of `heldout.audit`; of documents those that are scored, of all models together.

    Returns:
        The numbers of topics in the order of the likelihood, with paired differences, and those not told apart.

    Raises:
        InputError: for bad input, or models of one fold whose words differ without `unknown`.

    Examples:
        >>> import numpy as np
        >>> from sklearn.decomposition import LatentDirichletAllocation
        >>> import heldout
        >>> X = np.array([[4, 4, 0, 0], [0, 0, 4, 4]] * 10)
        >>> choice = heldout.choose(LatentDirichletAllocation(doc_topic_prior=0.1, random_state=0), X, [1, 2], folds=2)
        >>> choice.n_topics, choice.not_told_apart
        (2, (2,))
    """
    options = ScoreOptions(
        estimator=estimator, samples=samples, smoothing=smoothing, random_state=random_state, vocabulary=vocabulary
    )
    check_unknown(unknown)
    numbers, D, seed = [int(K) for K in topics], _length(documents), options.random_state
    if len(set(numbers)) < 2 or len(set(numbers)) < len(numbers) or min(numbers) < 1:
        raise InputError(f"numbers of topics {numbers}; give two or more different ones")
    if not 2 <= folds <= D:
        raise InputError(f"{folds} folds of {D} documents; take 2 or more, and no more than documents")
    fit = fitter(model)
    nats, errors, biases = (np.zeros((len(numbers), D)) for _ in range(3))
    lengths, left_out = np.zeros(D, np.int64), 0
    work = Work(estimator, samples_of(estimator, options.samples), seed, f"{folds} folds.", parts=(LIKELIHOOD,))
    part_of = generator("choose-folds", seed=seed).permutation(np.arange(D) % folds)
    library = ""
    with reporting(None, progress) as (_, moved):
        for fold in range(folds):
            test, train = np.flatnonzero(part_of == fold), np.flatnonzero(part_of != fold)
            held_out = _rows(documents, test)
            for row, K in enumerate(numbers):
                fitted = fit(K, _rows(documents, train))
                subject = subject_of(fitted, held_out, vocabulary, options, name=f"{K} topics", refuse=False)
                check_estimator(estimator, subject.topics)
                kept = Values(len(test), len(COLUMNS))
                run([Task(subject, work, kept)])
                column = dict(zip(COLUMNS, kept.values.T, strict=True))
                tokens, absent = subject.read.lengths, unknown_tokens(fitted, held_out, subject.read)
                nats[row, test] = column[LIKELIHOOD]
                if unknown is not None:
                    tokens = tokens + absent
                    nats[row, test] += absent * np.log(unknown)
                if row and not np.array_equal(tokens, lengths[test]):
                    raise InputError(
                        f"models of {numbers[0]} and {K} topics have other words, and do not compare; give the"
                        " probability of a word that a model lacks (unknown=1e-6)"
                    )
                lengths[test] = tokens
                errors[row, test], biases[row, test] = np.nan_to_num(column[ERROR]), np.nan_to_num(column[BIAS])
                left_out += 0 if row or unknown is not None else int(absent.sum())
                library, prior = subject.fitted.library, prior_of(subject.topics)
                if moved is not None:
                    scored = int((part_of < fold).sum()) * len(numbers)
                    moved(scored + len(test) * (row + 1), (fold + (row + 1) / len(numbers)) / folds)
    nothing = Reported("", note="the library was not asked")
    ranked = [
        RankedModel(f"{K} topics", library, K, nats[row], errors[row], biases[row], nothing, prior=prior)
        for row, K in enumerate(numbers)
    ]
    settings = work.settings() | {"smoothing": options.smoothing, "folds": folds, "unknown": unknown}
    return Choice(in_order(ranked), "the held-out folds", lengths, left_out, work, "", settings)


def one_standard_error(cv_results: Mapping[str, Any]) -> int:
    """Return the place of the fewest topics within one standard error of the best, for `GridSearchCV(refit=...)`.

    The error is that of the folds' paired differences from the best. Warns where the grid changes which words there
    are: scores over different vocabularies do not compare, unless `heldout.log_likelihood` is given `unknown`.

    Examples:
        >>> folds = {"split0_test_score": [-8.0, -7.5, -7.49], "split1_test_score": [-8.1, -7.4, -7.41]}
        >>> one_standard_error(folds | {"params": [{"n_components": K} for K in (5, 10, 20)]})
        1
    """
    params = list(cv_results["params"])
    last = [{name.rpartition("__")[2]: value for name, value in each.items()} for each in params]
    changed = sorted(name for name in WORD_SETTINGS if len({repr(each.get(name)) for each in last}) > 1)
    if changed:
        warnings.warn(
            f"the grid changes the words ({', '.join(changed)}): scores over different vocabularies do not compare;"
            " score with functools.partial(heldout.log_likelihood, unknown=1e-6)",
            InputWarning,
            stacklevel=2,
        )
    splits = [name for name in cv_results if name.startswith("split") and name.endswith("_test_score")]
    scores = np.array([cv_results[name] for name in splits])
    best = int(np.nanargmax(scores.mean(axis=0)))
    gaps = scores[:, [best]] - scores  # (folds, candidates)
    close = gaps.mean(axis=0) <= gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    sizes = [each.get(COMPONENTS, 0) for each in last]
    return min((sizes[place], place) for place in range(len(params)) if close[place] or place == best)[1]


def _length(documents: Any) -> int:
    shape = getattr(documents, "shape", None)
    if shape is None and (isinstance(documents, str) or not hasattr(documents, "__len__")):
        raise InputError(f"documents of the kind {type(documents).__name__}; give a matrix, a table or a list")
    return int(shape[0]) if shape else len(documents)


def _rows(documents: Any, places: Ints) -> Any:
    """Return the documents at these places, in the same container."""
    if hasattr(documents, "iloc"):
        return documents.iloc[places]
    if hasattr(documents, "tocsr"):
        return documents.tocsr()[places]
    return documents[places] if isinstance(documents, np.ndarray) else [documents[d] for d in places.tolist()]
