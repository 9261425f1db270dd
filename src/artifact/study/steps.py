"""The steps of a study: train a model on a split, score it on the split's test documents, run an experiment."""

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from artifact.results.recorder import Recorder, Results
from artifact.results.scores import Score
from artifact.study.job import Job
from artifact.study.settings import parse
from heldout.corpora.corpus import Corpus
from heldout.corpora.split import half_split, train_test_split
from heldout.errors import InputError
from heldout.evaluators import FULL, HALF
from heldout.evaluators.folding_in import FoldIn, full_folding_in, predictive
from heldout.models import MODELS
from heldout.topics import Components, Topics
from heldout.typing import Floats

Trained = Topics | Components


def model_module(model: str) -> ModuleType:
    """Return the module that implements a model; raises InputError for an unknown model; names the known ones."""
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
    corpus: Corpus, model: str, *, topics: int, seed: int, test_documents: int, settings: dict[str, Any]
) -> list[Trained]:
    """Train a model on a split's training documents, or on all if none is held out; return the result of its chains.

    Raises:
        InputError: for an unknown model, or settings that it does not take.
    """
    if topics < 1:
        raise InputError(f"{topics} topics: there must be 1 or more")
    module = model_module(model)
    training_settings = parse(module.Training, settings, f"{model}: training")
    training = train_test_split(corpus, test_documents, seed)[0] if test_documents else corpus
    trained: list[Trained] = module.train(training, training_settings, topics=topics, seed=seed)
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

    Topics of a deterministic model are scored once per constant in `smoothing`, added to p(w | z); without any they are
    scored unchanged, and their scores carry the constant in their provenance. Markov chains are scored one by one and,
    as chain "all", with their predictive distributions averaged.

    Raises:
        InputError: for an unknown model, settings that its fold-in does not take, or a split with an empty side.
    """
    _, test = train_test_split(corpus, test_documents, seed)
    observed, scored = half_split(test, seed)
    fold_in = folding_in(model, settings, seed)
    sampled = all("chain" in topics.provenance for topics in chains)
    if sampled or isinstance(chains[0], Components):
        fold_in = _remembered(fold_in)
    recorder = Recorder(corpus=corpus.name, model=model, variant=variant, seed=seed, documents=test.documents)
    error = math.nan if sampled else None
    for constant, chain, group in _groups(chains, smoothing, sampled=sampled):
        row, samples = (
            recorder.at(topics=group[0].n_topics, smoothing=constant, chain=chain),
            len(group) * sampled,
        )
        full = full_folding_in(group, test, fold_in)
        row.score(FULL, full, samples=samples, standard_error=error)
        half = predictive(group, observed, scored, fold_in)
        row.score(HALF, half, samples=samples, standard_error=error)
    return recorder.results.scores


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

    `kind` is the class of its settings; without a corpus it draws its own documents. The other arguments are the job's
    (`artifact.study.job.Job`).
    """
    experiment = importlib.import_module(module).experiment
    name = module.rpartition(".")[2].replace("_", "-")
    arguments: dict[str, Any] = {"model": model, "topics": topics, "seed": seed, "test_documents": test_documents}
    if corpus is not None:
        arguments["corpus"] = corpus
    if chains and model in MODELS:
        arguments["fold_in"] = folding_in(model, fold_in_settings, seed)
    results: Results = experiment(Job(variant=name, chains=chains, **arguments), parse(kind, settings, name))
    return results


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
    """Return a caching `fold_in`: chains are scored one by one and averaged, components under every constant."""
    known: dict[tuple[int, int], tuple[Trained, Corpus, Floats]] = {}

    def folded(topics: Trained, documents: Corpus) -> Floats:
        key = (id(topics.weights if isinstance(topics, Components) else topics), id(documents))
        if key not in known:  # the stored references keep the objects alive, so that no other object gets their ids
            known[key] = (topics, documents, fold_in(topics, documents))
        return known[key][2]

    return folded
