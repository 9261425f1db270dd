"""The number of topics by cross-validation of the likelihood, in pairs.

Every fold of the documents is scored by models that were fitted to the others, one per number of topics and seed and
all by the same estimator, so that a document has one log-likelihood per number of topics and seed. These are compared
as a ranking compares models, with an error over documents, seeds and folds (`heldout.auditing.choice.result`).
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import delayed

from heldout.auditing.blocks import LIKELIHOOD, Work
from heldout.auditing.choice.fits import Fit, Scored, Settings, digest, file_of, fitted_and_scored, load, save
from heldout.auditing.choice.report import Choice, failed
from heldout.auditing.choice.summary import summarise
from heldout.auditing.options import ScoreOptions, valid
from heldout.auditing.progress import Moved, reporting
from heldout.auditing.runner import spread
from heldout.auditing.scorer import check_unknown, samples_of
from heldout.auditing.store import keeping
from heldout.errors import InputError, InputWarning
from heldout.evaluators import FULL, REFERENCE
from heldout.libraries.pipeline import COMPONENTS, fitter
from heldout.seeds import generator
from heldout.typing import Ints

MOST_SEED = 2**31 - 1  # largest seed of a fit
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


def choose(
    model: Any,
    documents: Any,
    topics: Sequence[int],
    *,
    folds: Any = 5,
    restarts: int = 1,
    vocabulary: Any = None,
    estimator: str = REFERENCE,
    samples: int | None = None,
    smoothing: float = 0.0,
    unknown: float | None = None,
    coherence: bool = True,
    coherence_documents: Any = None,
    other_corpus: bool = False,
    n_jobs: int | None = 1,
    store: str | Path | None = None,
    random_state: Any = 0,
    progress: Moved | bool | None = None,
) -> Choice:
    """Choose the number of topics by the likelihood of held-out documents, in folds.

    A fit that fails is named in a warning and in the result's `failures`; the documents of a fold in which a number of
    topics has no fit are left out for all.

    Args:
        model: an unfitted scikit-learn estimator with `n_components`, a `Pipeline` that ends in one, or a function that
            takes a number of topics and training documents and returns anything that `heldout.audit` reads. Where they
            have a `random_state`, unset or with restarts, it is drawn anew for each fit.
        documents: D documents that can be counted and indexed: a matrix, a table, or a list of texts or of lists.
        topics: the numbers of topics, two or more.
        folds: how many parts the documents are divided into at random; each is scored by models of the others. Or a
            splitter of scikit-learn, whose test sets hold every document once.
        restarts: the fits of each number of topics in each fold, each with a seed of its own; from 2 on the error tells
            differences of numbers of topics from those of seeds.
        vocabulary: the models' words, where they do not name them.
        estimator: as of `heldout.log_likelihood`, and so are samples and smoothing.
        samples: per document.
        smoothing: a constant added to every p(w | z).
        unknown: the probability of a word that a model lacks, which compares models whose words differ.
        coherence: measures NPMI, which takes tomotopy.
        coherence_documents: in these documents; None for those that each model was fitted to.
        other_corpus: as of `heldout.audit`.
        n_jobs: the number of processes, which share the fits; -1 for all cores, 1 leaves it to
            `joblib.parallel_config`.
        store: a folder of finished fits, from which the same call goes on. Of a function it knows the code, and not
            that of other files; name another folder where that has changed.
        random_state: determines the folds and every draw.
        progress: as of `heldout.audit`; of documents those that are scored, of all models together.

    Returns:
        The numbers of topics in the order of the likelihood, with paired differences, and those not told apart. It
        depends neither on `n_jobs` nor on interruptions.

    Raises:
        InputError: for bad input, models of one fold whose words differ without `unknown`, or where all fits fail.
        KeyboardInterrupt: finished fits are in `store`, from which the same call goes on.

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
        **{"estimator": estimator, "samples": samples, "smoothing": smoothing, "vocabulary": vocabulary},
        **{"random_state": random_state, "other_corpus": other_corpus, "n_jobs": n_jobs, "store": store},
    )
    check_unknown(unknown)
    numbers, D, seed = _numbers(topics), _length(documents), options.random_state
    restarts = valid("restarts", restarts, int)
    if restarts < 1:
        raise InputError(f"{restarts} restarts; fit each number of topics once or more")
    fold_of = _folds(folds, D, seed)
    F = int(fold_of.max()) + 1
    work = Work(estimator, samples_of(estimator, options.samples), seed, f"{F} folds.", parts=(FULL, LIKELIHOOD))
    settings = Settings(
        fitter(model, several=restarts > 1), options, work, coherence, coherence_documents, topics_kept=restarts > 1
    )
    fits = [Fit(K, f, r) for f in range(F) for r in range(restarts) for K in numbers]
    seeds = {fit: int(generator("choose-fit", **fit._asdict(), seed=seed).integers(MOST_SEED)) for fit in fits}
    files = dict[Fit, Path | None]()
    if options.folder is not None:
        with keeping(options.folder):
            shared = [digest(name, value) for name, value in (("model", model), ("documents", documents))]
            same = [work.settings(), smoothing, vocabulary, coherence, coherence_documents, other_corpus, restarts > 1]
            shared.append(digest("settings", same))
        files = {
            fit: file_of(options.folder, shared, fit.topics, seeds[fit], np.flatnonzero(fold_of != fit.fold))
            for fit in fits
        }
    done = {fit: kept for fit, path in files.items() if path is not None and (kept := load(path)) is not None}
    failures, sizes = dict[Fit, str](), np.bincount(fold_of)

    def calls() -> Iterator[Any]:
        for fit in fits:
            if fit not in done:
                test, train = np.flatnonzero(fold_of == fit.fold), np.flatnonzero(fold_of != fit.fold)
                yield delayed(_fit)(fit, settings, seeds[fit], _rows(documents, train), _rows(documents, test))

    with reporting(None, progress) as (_, moved):

        def take(result: tuple[Fit, Scored | str]) -> None:
            fit, scored = result
            if isinstance(scored, str):
                failures[fit] = scored
            else:
                _same_words(fit, scored, done, unknown)
                done[fit] = scored
                if (path := files.get(fit)) is not None:
                    save(path, scored)
            if moved is not None:
                moved(int(sum(sizes[fit.fold] for fit in done)), (len(done) + len(failures)) / len(fits))

        spread(calls(), options.cores, take)
    named = tuple(f"{fit.named(restarts)}: {failures[fit]}" for fit in fits if fit in failures)
    if not done:
        raise InputError(f"all {len(fits)} fits failed: {named[0]}")
    if named:
        warnings.warn(failed(named), InputWarning, stacklevel=2)
    _warn([(fit, text) for fit in fits if fit in done for text in done[fit].facts["warnings"]], restarts)
    given = {"smoothing": smoothing, "folds": F, "restarts": restarts, "unknown": unknown, "coherence": "NPMI"}
    return summarise({fit: done[fit] for fit in fits if fit in done}, fold_of, work, given, named)


def _same_words(fit: Fit, scored: Scored, done: Mapping[Fit, Scored], unknown: float | None) -> None:
    """Check that a fit counts the tokens of its fold as another does.

    Raises:
        InputError: where it does not.
    """
    other = next((other for other in done if other.fold == fit.fold), fit)
    if other is not fit and not np.array_equal(scored.lengths(unknown), done[other].lengths(unknown)):
        raise InputError(
            f"models of {other.topics} and {fit.topics} topics have other words, and do not compare; give the"
            " probability of a word that a model lacks (unknown=1e-6)"
        )


def _fit(fit: Fit, settings: Settings, seed: int, train: Any, held_out: Any) -> tuple[Fit, Scored | str]:
    return fit, fitted_and_scored(settings, fit.topics, seed, train, held_out)


def _warn(said: list[tuple[Fit, str]], restarts: int) -> None:
    """Warn of the first warning of input that fits gave, and of how many more there are."""
    if said:
        fit, text = said[0]
        more = f" (and {len(said) - 1} more warnings of the kind)" if len(said) > 1 else ""
        warnings.warn(f"{fit.named(restarts)}: {text}{more}", InputWarning, stacklevel=3)


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


def _numbers(topics: Any) -> list[int]:
    """Return the numbers of topics; raises InputError for others than two or more different whole numbers from 1 on."""
    if isinstance(topics, str | bytes) or not isinstance(topics, Iterable):
        raise InputError(f"topics: {topics!r:.40}; give a list of two or more numbers, such as [5, 10, 20]")
    numbers = [valid("topics", K, int) for K in topics]
    if len(set(numbers)) < 2 or len(set(numbers)) < len(numbers) or min(numbers) < 1:
        raise InputError(f"numbers of topics {numbers}; give two or more different ones, each 1 or more")
    return numbers


def _folds(folds: Any, D: int, seed: int) -> Ints:
    """Return the fold of every document, (D,), from 0.

    Raises:
        InputError: for a number of folds that D documents do not have, or test sets that are no partition of them.
    """
    if isinstance(folds, str) or not hasattr(folds, "split"):
        F = valid("folds", folds, int)
        if not 2 <= F <= D:
            raise InputError(f"{F} folds of {D} documents; take 2 or more, and no more than documents")
        return generator("choose-folds", seed=seed).permutation(np.arange(D) % F)
    fold_of, times = np.full(D, -1), np.zeros(D, np.int64)
    try:
        for fold, (_, test) in enumerate(folds.split(np.zeros((D, 1)))):
            fold_of[test], times[test] = fold, times[test] + 1
    except Exception as error:  # of any class with this method
        said = f"folds: {type(folds).__name__} does not split {D} documents ({type(error).__name__}: {error!s:.100})"
        raise InputError(f"{said}; give a number, or a splitter without groups") from error
    if not (times == 1).all() or fold_of.max() < 1:
        said = f"folds: the test sets of {folds!r:.60} are no partition of the documents"
        raise InputError(f"{said}; take KFold(5, shuffle=True), or a number")
    return fold_of
