"""The numbers of the new results: the optimism of folding-in and its repairs."""

from dataclasses import replace

from artifact.contrasts.contrast import MODELS
from artifact.contrasts.effect import NOT_RUN, chosen, shown
from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import law, long_chains, packages, results, same_halves, tables, validation
from artifact.papers.likelihood.experiments import is_a_probability as probability
from artifact.papers.likelihood.experiments.epca_marginal import ANNEALED_MARGINAL
from artifact.papers.likelihood.experiments.long_chains import LONG, SHORT
from artifact.papers.likelihood.experiments.packages import DEFAULT, REPORTED
from artifact.papers.likelihood.experiments.prior_share import RICHNESS, TRAINING
from artifact.papers.likelihood.experiments.validation import FILTER, KIND, LONGER
from artifact.papers.likelihood.packages import SHOWN
from artifact.papers.likelihood.prior_share import TODAY, gaps
from artifact.papers.likelihood.results import COMPONENTS, OPTIMISM, curve
from artifact.papers.likelihood.tables import power_of_ten
from artifact.results.reading import LARGEST, TRUTH, select
from artifact.typesetting import latex
from artifact.typesetting.macros import Macros, experiment_settings
from heldout.errors import InputError
from heldout.evaluators import FULL, LAPLACE
from heldout.models import PLSA

# perplexities and numbers of topics on the first corpus
MESSAGE = (
    *(f"Message{name}" for name in ("Corpus", "Topics", "DocumentsPerTopic", "Factor", "LdaFactor", "FactorBest")),
    *("MessageFactorFitted", "MessageTruthPrefers", "MessageFactorPlain", "MessageFactorBestPlain"),
)


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    settings = experiment_settings(inputs, OPTIMISM)
    return {
        "InOptimismSamples": latex.setting(settings.get("samples")),
        "RepairWithin": f"{MODELS.value:g}",
        "OptimismConstant": latex.power(settings["smoothing"]) if "smoothing" in settings else NOT_RUN,
        "OptimismLimit": latex.power(settings["limit"]) if "limit" in settings else NOT_RUN,
        "ValidationLargest": f"{LARGEST:g}",
        "ValidationLonger": f"{experiment_settings(inputs, KIND).get('longer', NOT_RUN)}",
        "ValidationDocuments": f"{experiment_settings(inputs, KIND).get('documents', NOT_RUN)}",
        **_validated(inputs),
        **_message(inputs),
        **_not_shown(inputs),
        **_components(inputs),
        **_probability(inputs),
        **_packages(inputs),
        **_own_rounds(inputs),
        **_today(inputs),
        **_chains(inputs),
        **law.macros(inputs),
    }


def _validated(inputs: Inputs) -> Macros:
    """Return how many cells held the reference to a longer run and to the filter, and how many are not validated."""
    cells, counts = validation.cells(inputs), dict[str, int]()
    for name, other in (("Longer", LONGER), ("Filter", FILTER)):
        own = select(cells, other=other)
        counts |= {f"Validation{name}Cells": len(own), f"Validation{name}Left": int((~own["validated"]).sum())}
    return {name: latex.integer(count) if len(cells) else NOT_RUN for name, count in counts.items()}


def _not_shown(inputs: Inputs) -> Macros:
    """Return the number of values that exhibits leave out for their stated errors (`reading.printable`)."""
    named = {
        "Repair": tables.repair,
        "Halves": same_halves.table,
    }
    counts = {}
    for name, table in named.items():
        try:
            counts[f"{name}TableNotShown"] = latex.integer(table(inputs).count(latex.NOT_SHOWN))
        except InputError:  # not measured
            counts[f"{name}TableNotShown"] = NOT_RUN
    return counts


def _chains(inputs: Inputs) -> Macros:
    """Return LDA's split R-hat after the shorter and the longer chains: medians over corpora and numbers of topics."""
    r_hats = long_chains.r_hats(inputs)
    names = {"RhatShort": SHORT, "RhatLong": LONG}
    return {
        n: latex.decimal(float(r_hats[column].median()), 2) if column in r_hats else NOT_RUN
        for n, column in names.items()
    }


def _packages(inputs: Inputs) -> Macros:
    """Return the numbers of topics of packages' models: the exhibits' K, the fewest, the most, and their count."""
    topics = sorted(set(results.package_numbers(inputs)["topics"]))
    numbers = {"Fewest": topics[0], "Most": topics[-1], "Grid": len(topics)} if topics else {}
    shown = {f"Packages{name}": latex.integer(n) for name, n in numbers.items()}
    choices = packages.choices(inputs)
    for name, k in zip(("ChooseFewest", "ChooseMost"), (topics[:1], topics[-1:]), strict=True):
        always = [
            latex.escape(packages.printed_name(package)) for package, chosen in choices.items() if chosen == set(k)
        ]
        shown[f"Packages{name}"] = latex.listed(always) or NOT_RUN
    return {
        **dict.fromkeys(("PackagesFewest", "PackagesMost", "PackagesGrid"), NOT_RUN),
        **shown,
        "PackagesShown": f"{SHOWN}",
    }


def _own_rounds(inputs: Inputs) -> Macros:
    """Return the distance of Spark's bound from its likelihood after its own rounds: the ends over corpora, nats."""
    shortfalls = []
    for corpus in sorted(set(select(inputs.scores, variant=results.PACKAGES)["corpus"])):
        likelihood, number = (
            results.points(inputs, corpus, "spark", score, results.PACKAGES + DEFAULT, groups=False)["value"]
            for score in (TRUTH, REPORTED)
        )
        shortfalls += list(likelihood.to_numpy() - number.to_numpy())
    ends = map(latex.decimal, (min(shortfalls), max(shortfalls))) if shortfalls else [NOT_RUN]
    return {"PackagesSparkOwn": " to ".join(ends)}


def _today(inputs: Inputs) -> Macros:
    """Return the corpus of today's size, its number of training documents, and the most topics of it."""
    rich = select(gaps(inputs, RICHNESS, TODAY), prior=TRAINING)
    documents, topics = (latex.integer(int(rich[name].max())) if len(rich) else NOT_RUN for name in ("at", "topics"))
    return {"TodayCorpus": latex.corpus_name(TODAY[0]), "TodayDocuments": documents, "TodayTopics": topics}


def _message(inputs: Inputs) -> Macros:
    """Return folding-in's optimism on the first corpus with a truth, and on the corpus of the longest documents."""
    corpora = [corpus for corpus in inputs.settings.corpora if len(curve(inputs, corpus, PLSA, TRUTH))]
    result = dict.fromkeys(MESSAGE, NOT_RUN)
    if not corpora:
        return result
    corpus = corpora[0]
    likelihood = curve(inputs, corpus, PLSA, TRUTH)["value"]
    preferred = int(likelihood.index[int(likelihood.argmax())])
    most = int(likelihood.index[-1])
    factors = {
        "MessageFactor": _optimism_factor(inputs, corpus, "gap-plsa", most),
        "MessageFactorBest": _optimism_factor(inputs, corpus, "gap-plsa", preferred),
    }
    result |= {
        "MessageCorpus": latex.corpus_name(corpus),
        "MessageTopics": latex.integer(most),
        "MessageDocumentsPerTopic": latex.decimal(int(inputs.corpus(corpus)["train_documents"]) / most, 1),
        "MessageLdaFactor": _optimism_factor(inputs, corpus, "gap-lda", most),
        "MessageFactorFitted": _optimism_factor(inputs, corpus, "gap-plsa-fitted", most),
        "MessageTruthPrefers": latex.integer(preferred),
        **{f"{name}Plain": factor.partition(" [")[0] for name, factor in factors.items()},
        **factors,
    }
    return result


def _optimism_factor(inputs: Inputs, corpus: str, contrast: str, topics: int) -> str:
    """Return the likelihood's perplexity over full folding-in's, with its interval where there are splits."""
    for effect in chosen(inputs.effects, contrast, f"{corpus}: K = {topics:,}"):
        estimate, low, high = shown(replace(effect, factor=True))
        return f"{estimate} [{low}, {high}]" if effect.replicates > 1 else estimate
    return NOT_RUN


def _components(inputs: Inputs) -> Macros:
    """Return EPCA's perplexity folded in and by its marginal likelihood, at the most components."""
    names = ("ComponentsMost", "ComponentsFull", "ComponentsTruth")
    if not select(inputs.scores, variant=COMPONENTS)["corpus"].isin(inputs.settings.corpora).any():
        return dict.fromkeys(names, NOT_RUN)
    _, perplexities = results.component_perplexities(inputs)
    last = perplexities.iloc[-1]
    return dict(
        zip(names, (latex.integer(last.name), *map(latex.perplexity, last[[FULL, ANNEALED_MARGINAL]])), strict=True)
    )


def _probability(inputs: Inputs) -> Macros:
    settings, sums = experiment_settings(inputs, probability.KIND), results.sums_over_documents(inputs)
    excesses, gaps = results.excesses(inputs), results.truth_gaps(inputs)
    laplace = select(excesses, model=probability.TRUE_MODEL, score=LAPLACE)["over"]
    return {
        "ProbabilityChance": latex.power(results.CHANCE),
        "ProbabilityDocuments": latex.setting(settings.get("documents")),
        "ProbabilityTokens": latex.setting(settings.get("sum_tokens")),
        "ProbabilityGapMost": latex.decimal(gaps.abs().max()) if len(gaps) else NOT_RUN,
        "ProbabilityLaplaceMost": latex.integer(round(laplace.max())) if len(laplace) else NOT_RUN,
        "ProbabilitySumLeast": power_of_ten(sums["log_sum"].min()) if len(sums) else NOT_RUN,
        "ProbabilitySumMost": power_of_ten(sums["log_sum"].max()) if len(sums) else NOT_RUN,
    }
