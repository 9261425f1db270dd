"""What Hofmann's experiment (1999, section 3.6, Figure 5) leaves open."""

import math
from collections.abc import Iterable

from heldout.effects import paired
from heldout.inputs import Inputs
from heldout.papers.hofmann.experiments.latent_semantic_analysis import LSA, RANK
from heldout.papers.hofmann.experiments.tempering import BETA, ITERATIONS, PRIOR_SUM, TRUTH_PRIOR_SUM
from heldout.papers.hofmann.results import (
    ANNEALED,
    COARSE_ANNEALED,
    COUNTS,
    EARLY,
    FINE_HEATED,
    FOLDED_IN,
    HEATED,
    NAMES,
    PREDICTIVE,
    PUBLISHED_RANK,
    READINGS,
    SEMANTIC,
    SPECIFIC,
    TEMPERING,
    UNIGRAMS,
    VALIDATED,
    Model,
    chosen_prior,
    documents,
    run_corpora,
    scores,
    selector,
)
from heldout.points import TRUTH, select
from heldout.typesetting import latex
from heldout.typesetting.interpretations import (
    Interpretation,
    Lines,
    experiment_settings,
    from_settings,
    median_and_range,
)

Scored = tuple[Model, str]  # a model and its evaluator
Change = tuple[str, Scored, Scored]  # a name, what is chosen, the other


def _shares(inputs: Inputs) -> str:
    shares = experiment_settings(inputs, TEMPERING).get("shares") or ("not set",) * 3
    training, validation, test = (latex.percent(s, 0) if isinstance(s, float) else str(s) for s in shares)
    return (
        f"of every document, tokens drawn at random: {training} train, {validation} stop and choose, {test} are scored;"
        " all documents take part, and a short one lacks validation tokens first. Tokens, not documents: the rank of"
        f" Medline's counts in the source, {latex.integer(PUBLISHED_RANK)}, is the number of its documents, and without"
        " some of them it would be lower"
    )


def _folded_in(inputs: Inputs) -> list[str]:
    """Return the rank of the training counts, and the changes in perplexity where all tokens are folded in on."""
    ranks = []
    for corpus in run_corpora(inputs):
        rows = select(inputs.measurements, corpus=corpus, model=LSA, quantity=RANK)
        values = [float(value) for value in rows["value"]]
        if values:
            ranks.append(
                f"{latex.corpus_name(corpus)}: rank {median_and_range(values, latex.integer)} of"
                f" {latex.integer(documents(inputs, corpus))} documents"
            )
    models = (EARLY, HEATED, READINGS[0], COUNTS)
    changes = _changes(*((f"{NAMES[model]}, folded in", (model, SPECIFIC), (model, FOLDED_IN)) for model in models))
    return [*ranks, *changes(inputs)]


def _left_out(inputs: Inputs) -> list[str]:
    """Return, by corpus, the share of test tokens that are left out."""
    lines = []
    for corpus in run_corpora(inputs):
        rows = select(inputs.scores, corpus=corpus, model=LSA).drop_duplicates("seed")
        shares = [float(o) / float(o + n) for o, n in zip(rows["tokens_left_out"], rows["tokens"], strict=True)]
        if shares:
            lines.append(f"{latex.corpus_name(corpus)}: {median_and_range(shares, latex.percent)} of test tokens")
    return lines


def _chosen(quantity: str, *models: Model) -> Lines:
    """Return a function of the inputs that gives what was chosen, by corpus and model."""

    def lines(inputs: Inputs) -> list[str]:
        result = []
        for corpus in run_corpora(inputs):
            for model, variant in models:
                which = {"corpus": corpus, "quantity": quantity, "axis": "topics", "model": model, "variant": variant}
                values = [float(value) for value in select(inputs.measurements, **which)["value"]]
                if values:
                    name = NAMES.get((model, variant.removesuffix(VALIDATED)), variant)
                    text = median_and_range(values, "{:.3g}".format)
                    result.append(f"{latex.corpus_name(corpus)}, {name}: {latex.escape(quantity)} {text}")
        return result

    return lines


def _changes(*changes: Change) -> Lines:
    """Return a function of the inputs that gives changes in perplexity at the same dimensions and seed, by corpus."""

    def lines(inputs: Inputs) -> list[str]:
        result = []
        for corpus in run_corpora(inputs):
            for name, chosen, other in changes:
                pairs = paired(scores(inputs), {"corpus": corpus, **selector(*chosen)}, selector(*other))
                values = [math.expm1(gain) for gain in pairs["gain"] if math.isfinite(gain)]
                if values:
                    change = median_and_range(values, latex.signed_percent)
                    result.append(f"{latex.corpus_name(corpus)}, {latex.escape(name)}: {change}")
        return result

    return lines


def _against(model: Model, others: Iterable[Model]) -> list[Change]:
    return [(NAMES[other], (model, SPECIFIC), (other, SPECIFIC)) for other in others]


def _other_prior(evaluator: str, name: str) -> list[Change]:
    return [(f"{NAMES[m]}, {name}", (m, evaluator), (chosen_prior(m), evaluator)) for m in (EARLY, HEATED)]


def _schedules(inputs: Inputs) -> list[str]:
    """Return the beta that was chosen, and the changes in perplexity by every other schedule that was run."""
    variants = select(inputs.scores, model=HEATED[0])["variant"]
    start = f"{HEATED[1]}-"
    others = sorted({str(v) for v in variants if str(v).startswith(start) and not str(v).endswith(VALIDATED)})
    changes = [
        (v.removeprefix(start).replace("-", " "), (HEATED, SPECIFIC), ((HEATED[0], v), SPECIFIC)) for v in others
    ]
    return [*_chosen(BETA, HEATED)(inputs), *_changes(*changes)(inputs)]


def _priors(inputs: Inputs) -> list[str]:
    """Return the changes in perplexity under the prior that validation tokens choose, and its sum."""
    models = [chosen_prior(model) for model in (EARLY, HEATED)]
    changes = [*_other_prior(TRUTH, "truth"), *_other_prior(PREDICTIVE, "predictive")]
    effects = (_changes(*changes), _chosen(PRIOR_SUM, *models), _chosen(TRUTH_PRIOR_SUM, *models))
    return [line for lines in effects for line in lines(inputs)]


INTERPRETATIONS = (
    Interpretation(
        "Hofmann, 4: what is held out",
        _shares,
        "two parts, of which one stops and scores; whole documents, folded in on all their tokens, as Welling et al."
        " have it: measured as ``folded in''",
        effect=_folded_in,
        measure=TEMPERING,
    ),
    Interpretation(
        "Hofmann, 4: words that only test tokens have",
        "their tokens are left out for every model alike",
        "a constant for every word, as for PLSA elsewhere in this paper",
        effect=_left_out,
        measure=TEMPERING,
    ),
    Interpretation(
        r"Hofmann, 3.6: inverse annealing, whose factor \(\eta\), ``non-negligibly'' and end are not printed",
        from_settings(
            TEMPERING,
            r"\(\eta\) is {eta}; on at a \(\tau\) while an iteration lowers validation perplexity by more than a share"
            r" of {tolerance}; each \(\tau\) starts from the best parameters so far; ends after {patience} values of"
            r" \(\tau\) in a row that do not lower it",
        ),
        "each from the last parameters; one iteration that does not help ends everything",
        effect=_schedules,
        measure=TEMPERING,
    ),
    Interpretation(
        "Hofmann, 3.6: what ends early stopping",
        from_settings(
            TEMPERING,
            "{early_patience} iterations in a row that do not lower validation perplexity: it has become worse. That it"
            " falls slowly ends nothing",
        ),
        "the first iteration that does not lower it, or does so negligibly; the lowest of many iterations",
        effect=_chosen(ITERATIONS, EARLY),
        measure=TEMPERING,
    ),
    Interpretation(
        "Hofmann, 3.6: the annealing that inverse annealing is faster than",
        from_settings(
            TEMPERING,
            r"\(\tau\) from {annealing_start} up to 1, divided by {annealing_eta}; at each until the free energy falls"
            " by less than {convergence} nats per token, after noise of a share of {annealing_noise} on the topics;"
            " up to {annealing_topics} dimensions. ``Carefully annealed'' may be finer than heated, so either also has"
            r" the other's \(\eta\) and tolerance: a coarse and a fine schedule of both",
        ),
        "coarser or finer steps, which the speed-up is in proportion to; no noise, so that topics that have become"
        " equal part late; an end at the best validation perplexity",
        effect=_chosen(ITERATIONS, ANNEALED, HEATED, COARSE_ANNEALED, FINE_HEATED),
        measure=TEMPERING,
    ),
    Interpretation(
        "Hofmann, 3.6: what is scored of a tempered model",
        r"\(\sum_z p(w \mid z)\, p(z \mid d)\), not tempered",
        "the tempered one, normalised anew",
        measure=TEMPERING,
    ),
    Interpretation(
        "Hofmann, 4: LSA as a distribution over words",
        "negative entries of the truncated decomposition of the counts are set to 0, rows normalised, and mixed with"
        " the unigram by a weight chosen on validation tokens",
        "shifted by the least entry; cosines less the least one, to a power chosen on validation tokens, alone or times"
        " the unigram (Coccaro and Jurafsky); decompositions of weighted counts",
        effect=_changes(*_against(READINGS[0], READINGS[1:])),
        measure=SEMANTIC,
    ),
    Interpretation(
        "Hofmann, 4: the unigram",
        from_settings(
            SEMANTIC, "a constant of {constants} added to every count, chosen on validation tokens", ranges=True
        ),
        "maximum likelihood; beside it a document's own counts with the unigram as their prior mean",
        effect=_changes(*_against(UNIGRAMS[0], (UNIGRAMS[1], COUNTS))),
        measure=SEMANTIC,
    ),
    Interpretation(
        "the prior of Hofmann's models, which have none, for the truth and the posterior predictive",
        from_settings(
            TEMPERING,
            "Dirichlet(1); beside it a symmetric one, its sum from {prior_sums}, under which the validation tokens"
            " score highest: each of the two chooses its own",
            ranges=True,
        ),
        "fitted to the training tokens, to which the topics are fitted too",
        effect=_priors,
        measure=TEMPERING,
    ),
    Interpretation(
        "how the posterior predictive is estimated",
        from_settings(
            TEMPERING,
            "{predictive_samples} states of a Gibbs chain on the training tokens, the test tokens assigned one by one"
            " from each; the truth by annealing, up to {samples} sweeps over a document on average",
        ),
        "left to right over training and test tokens",
        measure=TEMPERING,
    ),
)
