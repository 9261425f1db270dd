"""The part of the interpretations about Hofmann's experiment (1999, section 3.6, Figure 5)."""

import math
from collections.abc import Callable, Iterable
from string import Formatter

from heldout.errors import InputError
from heldout.inputs import Inputs
from heldout.papers.hofmann.exhibits.hofmann import (
    ANNEALED,
    COUNTS,
    EARLY,
    HEATED,
    KIND,
    NAMES,
    PREDICTIVE,
    READINGS,
    SEMANTIC,
    SPECIFIC,
    TRUTH,
    UNIGRAMS,
    VALIDATED,
    Model,
    cells,
    measured_corpora,
)
from heldout.papers.hofmann.experiments.latent_semantic_analysis import LSA
from heldout.papers.hofmann.experiments.tempering import BETA, ITERATIONS, PRIOR_SUM, TRUTH_PRIOR_SUM
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, asked, median_and_range


def _corpora(inputs: Inputs) -> list[str]:
    try:
        return measured_corpora(inputs)
    except InputError:  # the table then says "not measured"
        return []


def _number(value: float) -> str:
    return f"{value:.3g}"


def _shares(inputs: Inputs) -> str:
    shares = asked(inputs, KIND).get("shares") or ("not set",) * 3
    training, validation, test = (latex.percent(s, 0) if isinstance(s, float) else str(s) for s in shares)
    return (
        f"of every document, tokens drawn at random: {training} train, {validation} stop and choose, {test} are scored;"
        " all documents take part, and a short one lacks validation tokens first"
    )


def _left_out(inputs: Inputs) -> list[str]:
    """Return, by corpus, the share of test tokens that are left out."""
    lines = []
    for corpus in _corpora(inputs):
        table = inputs.scores
        rows = table[(table["corpus"] == corpus) & (table["model"] == LSA)].drop_duplicates("seed")
        shares = [float(o) / float(o + n) for o, n in zip(rows["tokens_left_out"], rows["tokens"], strict=True)]
        if shares:
            lines.append(f"{latex.corpus_name(corpus)}: {median_and_range(shares, latex.percent)} of test tokens")
    return lines


def _measured(quantity: str, *models: Model) -> Callable[[Inputs], list[str]]:
    """Return a function of the inputs that gives what was chosen, by corpus and model."""

    def lines(inputs: Inputs) -> list[str]:
        table = inputs.measurements
        found: list[str] = []
        if table is None:
            return found
        for corpus in _corpora(inputs):
            for model, variant in models:
                rows = table[
                    (table["corpus"] == corpus) & (table["quantity"] == quantity) & (table["axis"] == "topics")
                ]
                rows = rows[(rows["model"] == model) & (rows["variant"] == variant)]
                if len(rows):
                    name = NAMES.get((model, variant.removesuffix(VALIDATED)), variant)
                    values = median_and_range([float(value) for value in rows["value"]], _number)
                    found.append(f"{latex.corpus_name(corpus)}, {name}: {latex.escape(quantity)} {values}")
        return found

    return lines


def _changes(*pairs: tuple[str, tuple[Model, str], tuple[Model, str]]) -> Callable[[Inputs], list[str]]:
    """Return a function of the inputs that gives changes in perplexity at the same dimensions and seed, by corpus.

    Args:
        pairs: (name, the model chosen and its evaluator, the other and its).
    """

    def lines(inputs: Inputs) -> list[str]:
        found = []
        for corpus in _corpora(inputs):
            for name, chosen, other in pairs:
                before, after = cells(inputs, corpus, *chosen), cells(inputs, corpus, *other)
                both = sorted(before.keys() & after.keys())
                values = [after[at].perplexity / before[at].perplexity - 1.0 for at in both]
                values = [value for value in values if math.isfinite(value)]
                if values:
                    change = median_and_range(values, latex.signed_percent)
                    found.append(f"{latex.corpus_name(corpus)}, {latex.escape(name)}: {change}")
        return found

    return lines


def _settings(kind: str, text: str) -> Callable[[Inputs], str]:
    """Return a function of the inputs that puts a measurement's settings into a sentence, by name."""

    def fill(inputs: Inputs) -> str:
        found = asked(inputs, kind)
        names = [name for _, name, _, _ in Formatter().parse(text) if name]
        return text.format_map({name: _value(found.get(name)) for name in names})

    return fill


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"{latex.setting(min(value))} to {latex.setting(max(value))}"
    return latex.setting(value)


def _against(model: Model, others: Iterable[Model]) -> list[tuple[str, tuple[Model, str], tuple[Model, str]]]:
    return [(NAMES[other], (model, SPECIFIC), (other, SPECIFIC)) for other in others]


def _chosen_prior(evaluator: str, name: str) -> list[tuple[str, tuple[Model, str], tuple[Model, str]]]:
    models = (EARLY, HEATED)
    return [(f"{NAMES[m]}, {name}", (m, evaluator), ((m[0], m[1] + VALIDATED), evaluator)) for m in models]


def _other_schedules(inputs: Inputs) -> list[str]:
    """Return the changes in perplexity by every other schedule of inverse annealing that was run."""
    of_model = inputs.scores.loc[inputs.scores["model"] == HEATED[0], "variant"]
    start = f"{HEATED[1]}-"
    others = sorted({str(v) for v in of_model if str(v).startswith(start) and not str(v).endswith(VALIDATED)})
    pairs = [(v.removeprefix(start).replace("-", " "), (HEATED, SPECIFIC), ((HEATED[0], v), SPECIFIC)) for v in others]
    return _changes(*pairs)(inputs)


INTERPRETATIONS = (
    Interpretation(
        "Hofmann, 4: what is held out",
        _shares,
        "whole documents; two parts, of which one stops and scores",
        measure=KIND,
    ),
    Interpretation(
        "Hofmann, 4: words that only test tokens have",
        lambda _: "their tokens are left out for every model alike",
        "a constant for every word, as for PLSA elsewhere in this paper",
        effect=_left_out,
        measure=KIND,
    ),
    Interpretation(
        r"Hofmann, 3.6: inverse annealing, of which \(\eta\), ``non-negligibly'' and the end are not printed",
        _settings(
            KIND,
            r"\(\eta\) is {eta}; on at a \(\beta\) while an iteration lowers validation perplexity by more than a share"
            r" of {tolerance}; each \(\beta\) starts from the best parameters so far; ends after {patience} values of"
            r" \(\beta\) in a row that lower it by less",
        ),
        "each from the last parameters; one iteration that does not help ends everything",
        effect=lambda inputs: [*_measured(BETA, HEATED)(inputs), *_other_schedules(inputs)],
        measure=KIND,
    ),
    Interpretation(
        "Hofmann, 3.6: what ends early stopping",
        _settings(KIND, "the first iteration that lowers validation perplexity by no more than a share of {tolerance}"),
        "some patience; the lowest of many iterations",
        effect=_measured(ITERATIONS, EARLY),
        measure=KIND,
    ),
    Interpretation(
        "Hofmann, 3.6: the annealing that inverse annealing is faster than",
        _settings(
            KIND,
            r"\(\beta\) from {annealing_start} up to 1, divided by {annealing_eta}; at each until the free energy falls"
            " by less than {convergence} nats per token, after noise of a share of {annealing_noise} on the topics;"
            " up to {annealing_topics} dimensions",
        ),
        "coarser or finer steps, which the speed-up is in proportion to; no noise, so that topics that have become"
        " equal part late; an end at the best validation perplexity",
        effect=_measured(ITERATIONS, ANNEALED, HEATED),
        measure=KIND,
    ),
    Interpretation(
        "Hofmann, 3.6: what is scored of a tempered model",
        lambda _: r"\(\sum_z p(w \mid z)\, p(z \mid d)\), not tempered",
        "the tempered one, normalised anew",
        measure=KIND,
    ),
    Interpretation(
        "Hofmann, 4: LSA as a distribution over words",
        lambda _: (
            "negative entries of the truncated decomposition of the counts are set to 0, rows normalised, and mixed"
            " with the unigram by a weight chosen on validation tokens"
        ),
        "shifted by the least entry; cosines less the least one, to a power chosen on validation tokens, alone or times"
        " the unigram (Coccaro and Jurafsky); decompositions of weighted counts",
        effect=_changes(*_against(READINGS[0], READINGS[1:])),
        measure=SEMANTIC,
    ),
    Interpretation(
        "Hofmann, 4: the unigram",
        _settings(SEMANTIC, "a constant of {constants} added to every count, chosen on validation tokens"),
        "maximum likelihood; beside it a document's own counts with the unigram as their prior mean",
        effect=_changes(*_against(UNIGRAMS[0], (UNIGRAMS[1], COUNTS))),
        measure=SEMANTIC,
    ),
    Interpretation(
        "the prior of Hofmann's models, which have none, for the truth and the posterior predictive",
        _settings(
            KIND,
            "Dirichlet(1); beside it a symmetric one, its sum from {prior_sums}, under which the validation tokens"
            " score highest: each of the two chooses its own",
        ),
        "fitted to the training tokens, to which the topics are fitted too",
        effect=lambda inputs: [
            *_changes(*_chosen_prior(TRUTH, "truth"), *_chosen_prior(PREDICTIVE, "predictive"))(inputs),
            *_measured(PRIOR_SUM, *((m[0], m[1] + VALIDATED) for m in (EARLY, HEATED)))(inputs),
            *_measured(TRUTH_PRIOR_SUM, *((m[0], m[1] + VALIDATED) for m in (EARLY, HEATED)))(inputs),
        ],
        measure=KIND,
    ),
    Interpretation(
        "how the posterior predictive is estimated",
        _settings(
            KIND,
            "{predictive_samples} states of a Gibbs chain on the training tokens, the test tokens assigned one by one"
            " from each; the truth by LRS, {samples} sweeps (sparse priors: somewhat low)",
        ),
        "left to right over training and test tokens",
        measure=KIND,
    ),
)
