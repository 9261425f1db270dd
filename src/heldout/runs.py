"""The steps of a study: train a model on a split, score it on the split's test documents, run an experiment."""

import importlib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.evaluators.evaluation import Evaluation, FoldIn
from heldout.evaluators.full_folding_in import full_folding_in
from heldout.evaluators.half_folding_in import half_folding_in
from heldout.job import Job
from heldout.measurements import Measurement
from heldout.models import MODELS
from heldout.recorder import Results
from heldout.scores import Score, score_of
from heldout.settings import parse
from heldout.topics import Components, Topics

Trained = Topics | Components


def model_module(model: str) -> ModuleType:
    """Return the module that implements a model.

    Raises:
        InputError: for an unknown model; names the known ones.
    """
    if model not in MODELS:
        raise InputError(f"there is no model {model}; there are {', '.join(MODELS)}")
    return importlib.import_module(MODELS[model])


def folding_in(model: str, settings: Mapping[str, Any], seed: int) -> FoldIn:
    """Return a model's folding in, with its settings and seed.

    Raises:
        InputError: for an unknown model, or settings that it does not take.
    """
    module = model_module(model)
    return partial(module.fold_in, settings=parse(module.FoldingIn, settings, f"{model}: folding in"), seed=seed)


def train(
    corpus: Corpus,
    model: str,
    *,
    topics: int,
    seed: int,
    test_documents: int,
    settings: dict[str, Any],
) -> list[Trained]:
    """Train a model on the training documents of a split.

    Args:
        corpus: all documents.
        model: a name in `heldout.models.MODELS`.
        topics: K.
        seed: determines the split and the random start.
        test_documents: how many documents are held out; 0 to train on all.
        settings: the model's training settings.

    Returns:
        One Topics (or Components) per chain.
    """
    if topics < 1:
        raise InputError(f"{topics} topics: there must be 1 or more")
    module = model_module(model)
    own = parse(module.Training, settings, f"{model}: training")
    training = train_test_split(corpus, test_documents, seed)[0] if test_documents else corpus
    trained: list[Trained] = module.train(training, own, topics=topics, seed=seed)
    return trained


def score(
    corpus: Corpus,
    chains: Sequence[Trained],
    model: str,
    variant: str,
    *,
    seed: int,
    test_documents: int,
    settings: dict[str, Any],
    smoothing: Sequence[float] = (),
) -> list[Score]:
    """Score trained topics on the test documents of a split by full and by half folding-in.

    Topics of a deterministic model are scored once per constant in `smoothing`; if `smoothing` is empty they are scored
    unchanged, and their scores carry the constant in their provenance. Markov chains are scored one by one and, as
    chain "all", with their predictive distributions averaged.

    Args:
        corpus: all documents.
        chains: the trained topics, one per chain.
        model: the name of their model in `heldout.models.MODELS`, for its fold-in.
        variant: the variant that the scores carry.
        seed: determines the split and the fold-in's draws.
        test_documents: how many documents are held out.
        settings: the model's fold-in settings.
        smoothing: constants to add to p(w | z).

    Returns:
        Two scores per constant or chain: full and half folding-in.

    Raises:
        InputError: for an unknown model, settings that its fold-in does not take, or a split with an empty side.
    """
    _, test = train_test_split(corpus, test_documents, seed)
    observed, scored = half_split(test, seed)
    fold_in = folding_in(model, settings, seed)
    sampled = all("chain" in topics.provenance for topics in chains)
    if sampled or isinstance(chains[0], Components):
        fold_in = _remembered(fold_in)
    rows = []
    for constant, chain, group in _groups(chains, smoothing, sampled=sampled):
        evaluations: dict[str, Evaluation] = {
            FULL: full_folding_in(group, test, fold_in),
            HALF: half_folding_in(group, observed, scored, fold_in),
        }
        rows += [
            score_of(
                evaluation,
                corpus=corpus.name,
                model=model,
                variant=variant,
                topics=group[0].n_topics,
                smoothing=constant,
                chain=chain,
                evaluator=evaluator,
                samples=len(group) if sampled else 0,
                seed=seed,
                standard_error=math.nan if sampled else None,
            )
            for evaluator, evaluation in evaluations.items()
        ]
    return rows


def sweep(
    corpus: Corpus,
    model: str,
    variant: str,
    *,
    setting: str,
    values: Sequence[float],
    topics: int,
    seed: int,
    test_documents: int,
    train_settings: dict[str, Any],
    fold_in_settings: dict[str, Any],
    smoothing: Sequence[float] = (),
) -> list[Score]:
    """Train and score a model once per value of one training setting; the topics are not saved.

    Scores at value b carry the variant "SETTING-b" (b with two decimals). A sweep over "smoothing", the constant that
    every M step adds, carries `variant` instead: the scores have a column for the constant.
    """
    split = {"seed": seed, "test_documents": test_documents}
    rows = []
    for value in values:
        trained = train(corpus, model, topics=topics, settings={**train_settings, setting: value}, **split)
        name = variant if setting == "smoothing" else f"{setting}-{value:.2f}"
        rows += score(corpus, trained, model, name, settings=fold_in_settings, smoothing=smoothing, **split)
    return rows


def run_experiment(
    module: str,
    kind: type,
    corpus: Corpus | None,
    chains: Sequence[Trained],
    model: str,
    *,
    topics: int = 0,
    seed: int,
    test_documents: int,
    settings: Mapping[str, Any],
    fold_in_settings: dict[str, Any],
) -> Results:
    """Run one experiment, `experiment(job, settings) -> Results`; its rows carry its name as their variant.

    Args:
        module: the experiment's module, such as "heldout.papers.welling.experiments.bounds".
        kind: the class of its settings.
        corpus: all documents; None where the experiment draws its own.
        chains: trained topics, as in `Job`.
        model: their model, or the one to train.
        topics: K of the models to train.
        seed: determines the split and every draw.
        test_documents: how many documents are held out.
        settings: the experiment's settings by name.
        fold_in_settings: the model's fold-in settings.

    Raises:
        InputError: as `heldout.settings.parse` and the experiment do.
    """
    experiment = importlib.import_module(module).experiment
    name = module.rpartition(".")[2].replace("_", "-")
    given: dict[str, Any] = {"model": model, "topics": topics, "seed": seed, "test_documents": test_documents}
    if corpus is not None:
        given["corpus"] = corpus
    if chains and model in MODELS:
        given["fold_in"] = folding_in(model, fold_in_settings, seed)
    results: Results = experiment(Job(variant=name, chains=chains, **given), parse(kind, settings, name))
    return results


def run_old_experiment(
    module: str,
    corpus: Corpus | None,
    chains: Sequence[Trained],
    model: str,
    *,
    topics: int = 0,
    seed: int,
    test_documents: int,
    settings: dict[str, Any],
    fold_in_settings: dict[str, Any],
) -> tuple[list[Score], list[Measurement]]:
    """Run one experiment; its scores carry the experiment's name as their variant.

    The module defines `experiment(corpus, *, seed, test_documents, **settings)` or, if it reads trained topics,
    `experiment(corpus, *, chains, model, variant, fold_in, seed, test_documents, **settings)`. `corpus`,
    `test_documents` and `fold_in` are passed only to a function that names them. An experiment that trains its own
    models also gets `topics`, the job's K, and either `model`, if it trains several kinds, or `truth`, the topics that
    its corpus was drawn from.

    Args:
        module: the experiment's module, such as "heldout.papers.welling.experiments.bounds".
        corpus: all documents; None where the experiment draws its own.
        chains: trained topics, one per chain; empty if the experiment trains its own models; one model and its corpus's
            true topics for an experiment that names `trained` and `truth`.
        model: the model of `chains`, or the one to train; "none" if there is none, or if `chains` holds the corpus's
            true topics.
        topics: K of the models to train; 0 if the experiment chooses K itself.
        seed: determines the split and the random draws.
        test_documents: how many documents are held out.
        settings: the experiment's settings.
        fold_in_settings: the model's fold-in settings.

    Raises:
        InputError: for an unknown model, or as `check_settings` does.
    """
    experiment = importlib.import_module(module).experiment
    name = module.rpartition(".")[2].replace("_", "-")
    given: dict[str, Any] = {"corpus": corpus, "seed": seed, "test_documents": test_documents}
    if not chains and topics:
        given |= {"topics": topics} if model == "none" else {"topics": topics, "model": model}
    elif len(chains) == 2 and "trained" in inspect.signature(experiment).parameters:
        given |= {"trained": chains[0], "truth": chains[1]}
    elif chains and model == "none":
        given |= {"topics": topics, "truth": chains[0]}
    elif chains:
        folding = folding_in(model, fold_in_settings, seed)
        given |= {"chains": chains, "model": model, "variant": name, "fold_in": folding}
    check_settings(experiment, settings, name, tuple(given))
    for unused in {"corpus", "test_documents", "fold_in"} - set(inspect.signature(experiment).parameters):
        given.pop(unused, None)
    scores, measurements = experiment(**given, **settings)
    return scores, measurements


def check_settings(function: Callable[..., Any], settings: dict[str, Any], what: str, given: Sequence[str]) -> None:
    """Raise InputError for a setting that is unknown to a function, missing, or of the wrong type.

    Args:
        function: a function with annotated arguments.
        settings: its settings by name.
        what: names the step in the message, such as "plsa: training".
        given: the function's arguments that are not settings.
    """
    known = {name: p for name, p in inspect.signature(function).parameters.items() if name not in given}
    for name, value in settings.items():
        if name not in known:
            raise InputError(f"{what}: there is no setting {name}; there are {', '.join(known)}")
        annotation = known[name].annotation
        listed, mapped = annotation in (Sequence[int], Sequence[float]), annotation == Mapping[str, int]
        kinds = (int,) if annotation in (int, Sequence[int], Mapping[str, int]) else (int, float)
        form: type = list if listed else dict if mapped else object
        many = isinstance(value, list | dict)
        values = (list(value.values()) if isinstance(value, dict) else value) if many else [value]
        wrong = many != (listed or mapped) or not isinstance(value, form)
        if wrong or any(isinstance(v, bool) or not isinstance(v, kinds) for v in values):
            kind = f"{'list of ' if listed else 'mapping to ' if mapped else ''}{kinds[-1].__name__}"
            raise InputError(f"{what}: {name} is {value!r}; it must be a {kind}")
    missing = [name for name, p in known.items() if name not in settings and p.default is p.empty]
    if missing:
        raise InputError(f"{what}: settings must give {', '.join(missing)}")


def _groups(
    chains: Sequence[Trained], smoothing: Sequence[float], *, sampled: bool
) -> Iterator[tuple[float, str, list[Trained]]]:
    """Yield (constant, chain, topics) per evaluation; smoothed topics are dense, so only one set exists at a time."""
    if smoothing:
        for constant in smoothing:
            for topics in chains:
                yield constant, "none", [topics.smoothed(constant)]
    elif sampled:
        for topics in chains:
            yield 0.0, str(topics.provenance["chain"]), [topics]
        yield 0.0, "all", list(chains)
    else:
        for topics in chains:
            yield float(topics.provenance["smoothing"]), "none", [topics]


def _remembered(fold_in: FoldIn) -> FoldIn:
    """Return a caching `fold_in`: chains are scored alone and averaged, components under every constant."""
    known: dict[tuple[int, int], tuple[Trained, Corpus, NDArray[np.float64]]] = {}

    def folded(topics: Trained, documents: Corpus) -> NDArray[np.float64]:
        key = (id(topics.weights if isinstance(topics, Components) else topics), id(documents))
        if key not in known:  # the stored references keep the objects alive, so that no other object gets their ids
            known[key] = (topics, documents, fold_in(topics, documents))
        return known[key][2]

    return folded
