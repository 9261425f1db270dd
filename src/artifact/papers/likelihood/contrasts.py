"""Contrasts of this paper: the distance of folding in from the likelihood, by prior, and the cost of choices.

The likelihood is log p(document | alpha, phi) of the same test documents, exact or by the reference, in nats per token.
PLSA has none of its own prior: `FLAT_PRIOR` is Dirichlet(1).
"""

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from artifact.contrasts.contrast import ANY, ESTIMATORS, MORE_SAMPLES, Contrast, Margin, Side
from artifact.contrasts.estimates import difference, per_token
from artifact.contrasts.inputs import Inputs
from artifact.contrasts.sides import at_best, at_most, with_groups
from artifact.papers.likelihood import prior_share, regret, results, validation
from artifact.papers.likelihood.experiments import precision
from artifact.papers.likelihood.experiments.epca_marginal import ANNEALED_MARGINAL
from artifact.papers.likelihood.experiments.is_a_probability import SAMPLED_FULL, TRUE_MODEL
from artifact.papers.likelihood.experiments.long_chains import LONG, SHORT
from artifact.papers.likelihood.experiments.optimism import PLUG_IN
from artifact.papers.likelihood.experiments.packages import KINDS, REPORTED
from artifact.papers.likelihood.experiments.prior_share import CONCENTRATION, MIXTURE, PER_SUM, RICHNESS
from artifact.papers.likelihood.experiments.same_halves import FITTED as FITTED_HALVES
from artifact.papers.likelihood.experiments.same_halves import KIND as SAME_HALVES
from artifact.papers.likelihood.results import COMPONENTS, FITTED, OPTIMISM, PACKAGES
from artifact.results.reading import TRUTH, select
from heldout.evaluators import COMPLETION, FULL, HALF, LAPLACE, NML, PARTICLES, REFERENCE, SEQUENTIAL
from heldout.models import LDA, PLSA

if TYPE_CHECKING:
    import pandas as pd

FULL_FOLDING_IN, HALF_FOLDING_IN, POSTERIOR_MEAN = "full folding-in", "half folding-in", "the posterior mean"
LIKELIHOOD, FLAT_PRIOR, FITTED_PRIOR = "the likelihood", "the flat prior", "a prior fitted to the training documents"
OWN_PRIOR = {PLSA: f"{LIKELIHOOD} under {FLAT_PRIOR}", LDA: f"{LIKELIHOOD} under the prior of its training"}
NAMES = {PLSA: "PLSA", LDA: "LDA"}
TODAYS_HELD_OUT = 0.4  # share of documents, of 20 newsgroups, by date
PACKAGES_HELD_OUT = 1.0 / 3.0  # share of documents, at most, in the experiment `packages`, which has corpora of its own
SHARES = Margin(0.05, "share left", "a twentieth of the gap", "2026-11-27, with the committed reference in view")
SPREAD, Z = 1.0, Margin(0.3, "r.m.s. z", "an error that is stated within a third", "2026-11-25, before any was run")
_CELL = ["corpus", "topics", "seed"]


def _points(inputs: Inputs, model: str, evaluator: str, variant: str) -> "pd.DataFrame":
    """Return a score of a model on every corpus, 20 newsgroups among them, by K and seed."""
    import pandas as pd

    tables = [
        results.points(inputs, corpus, model, *regret.measured_as(corpus, evaluator, variant))
        for corpus in (*inputs.settings.corpora, *prior_share.TODAY)
    ]
    return with_groups(pd.concat(tables, ignore_index=True), "topics")


def scored(name: str, model: str, evaluator: str, variant: str = OPTIMISM) -> Side:
    """Return a score of a model, nats per token, by K: of `TRUTH` the likelihood under the variant's prior."""
    return Side(name, partial(_points, model=model, evaluator=evaluator, variant=variant))


def gap(name: str, model: str, prior: str) -> Side:
    """Return the gap of full folding-in to the likelihood under the prior of a variant, nats per token, by K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        return difference(_points(inputs, model, FULL, OPTIMISM), _points(inputs, model, TRUTH, prior))

    return Side(name, rows)


def _dialled(inputs: Inputs, model: str) -> "pd.DataFrame":
    """Return gaps by the sum of alpha, on every corpus, with "sum"."""
    dial = prior_share.gaps(inputs, CONCENTRATION, [*inputs.settings.corpora, *prior_share.TODAY])
    dial = select(dial, model=model)
    sums = [f"sum of alpha {place / PER_SUM:g}" for place in dial["at"]]
    return dial.assign(sum=sums, flat=dial["at"] == PER_SUM * dial["topics"])


def by_sum(model: str) -> Side:
    """Return the gap under symmetric priors by K and the sum of alpha."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        dial = _dialled(inputs, model)
        return with_groups(dial.assign(value=dial["gap"]), "topics", "sum")

    return Side(f"the gap of {NAMES[model]}'s full folding-in under a symmetric prior", rows)


def under_best_sum(inputs: Inputs) -> "pd.DataFrame":
    """Return PLSA's gap under the symmetric prior with the sum that has the highest mean likelihood, by K."""
    dial = _dialled(inputs, PLSA)
    means = dial.groupby(["corpus", "topics", "at"])["value"].mean().groupby(["corpus", "topics"]).idxmax()
    best = [means[corpus, topics][2] for corpus, topics in zip(dial["corpus"], dial["topics"], strict=True)]
    dial = dial[dial["at"] == best]
    return with_groups(dial.assign(value=dial["gap"]), "topics")


def under_test_prior(inputs: Inputs, components: int) -> "pd.DataFrame":
    """Return PLSA's gap under a mixture of so many Dirichlets fitted to other test documents, by K."""
    rich = prior_share.gaps(inputs, RICHNESS, [*inputs.settings.corpora, *prior_share.TODAY])
    rich = select(rich, prior=MIXTURE, at=components)
    return with_groups(rich.assign(value=rich["gap"]), "topics")


def flat_gap(inputs: Inputs) -> "pd.DataFrame":
    """Return PLSA's gap under the flat prior on the documents of the experiment `prior-share`, by K."""
    dial = _dialled(inputs, PLSA)
    dial = dial[dial["flat"]]
    return with_groups(dial.assign(value=dial["gap"]), "topics")


def chosen_by(name: str, chooser: str) -> Side:
    """Return the likelihood at the number of topics that a score chose on other documents (`regret`).

    By model and the prior that judges, and by the half of the documents that judges.
    """

    def rows(inputs: Inputs) -> "pd.DataFrame":
        import pandas as pd

        corpora = (*inputs.settings.corpora, *prior_share.TODAY)
        tables = [
            regret.at_choice(inputs, corpora, model, chooser, judge).assign(model=NAMES[model], judge=judge)
            for model in NAMES
            for judge in regret.JUDGES
        ]
        return pd.concat(tables, ignore_index=True)

    return Side(name, rows)


def packages_choice(name: str, chooser: str) -> Side:
    """Return packages' own likelihood at the number of topics that a score chose, by package."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        import pandas as pd

        corpora = tuple(sorted(set(select(inputs.scores, variant=PACKAGES)["corpus"])))
        tables = [
            regret.at_choice(inputs, corpora, package, chooser, regret.PACKAGES_PRIOR).assign(model=package)
            for package, kind in KINDS.items()
            if not kind.neural
        ]
        return pd.concat(tables, ignore_index=True)

    return Side(name, rows)


def _packages(inputs: Inputs, evaluator: str) -> "pd.DataFrame":
    """Return packages' numbers, or the likelihoods of their models, by package and K, nats per token."""
    import pandas as pd

    corpora = sorted(set(select(inputs.scores, variant=PACKAGES)["corpus"]))
    tables = [
        results.points(inputs, corpus, package, evaluator, PACKAGES).assign(model=package)
        for corpus in corpora
        for package in KINDS
    ]
    return with_groups(pd.concat(tables, ignore_index=True), "topics", "model") if tables else pd.DataFrame()


def _libraries(inputs: Inputs, evaluator: str) -> "pd.DataFrame":
    """Return libraries' numbers, or the likelihoods of their models, by library and K, nats per token."""
    import pandas as pd

    tables = [
        results.points(inputs, corpus, library, evaluator, results.PEERS).assign(model=library)
        for corpus in inputs.settings.corpora
        for library in results.LIBRARIES
    ]
    return with_groups(pd.concat(tables, ignore_index=True), "topics", "model")


def _completed(inputs: Inputs, evaluator: str, prior: str) -> "pd.DataFrame":
    """Return a score of second halves by model and K (`experiments.same_halves`)."""
    variant = SAME_HALVES if evaluator == HALF else f"{SAME_HALVES}-{prior}"
    rows = per_token(select(inputs.scores, evaluator=evaluator, variant=variant))
    return with_groups(rows.assign(model=rows["model"].map(NAMES)), "topics", "model")


def completed(name: str, evaluator: str, prior: str) -> Side:
    """Return a score of second halves by model and K, under one of the priors of `experiments.same_halves`."""
    return Side(name, partial(_completed, evaluator=evaluator, prior=prior))


def chains(variant: str) -> Side:
    """Return LDA's likelihood after the shorter or the longer chains, by K."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        return with_groups(per_token(select(inputs.scores, evaluator=REFERENCE, variant=variant)), "topics")

    return Side(f"LDA's likelihood after {'longer' if variant == LONG else 'the usual'} chains", rows)


def validated(other: str) -> Side:
    """Return the reference less another estimate of it, by model, prior and K, with its error over documents."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        table = validation.by_document(inputs, other)
        return table.assign(model=table["model"].map(NAMES))

    return Side(f"the reference less {validation.NAMES[other]}", rows)


def drawn_excess(score: str, column: str = "over") -> Side:
    """Return the excess of a score over log p of documents drawn from a model, nats, by K: no error, one set.

    The column "given" has the excess over log p given the weights that drew them.
    """

    def rows(inputs: Inputs) -> "pd.DataFrame":
        found = select(results.excesses(inputs), model=TRUE_MODEL, score=score)
        return found.assign(value=found[column], error=0.0, freedom=math.inf, replicates=found["documents"])

    return Side(f"{score.replace('-', ' ')} less log p{' given the drawn weights' * (column == 'given')}", rows)


def epca_excess(inputs: Inputs) -> "pd.DataFrame":
    """Return the least excess over documents of EPCA's full folding-in over its annealed likelihood, nats, by K."""
    table = select(inputs.measurements, variant=COMPONENTS, axis="document").assign(error=0.0)
    full, truth = (select(table, quantity=name) for name in (FULL, ANNEALED_MARGINAL))
    gaps = difference(full, truth, [*_CELL, "at"])
    least: pd.DataFrame = gaps.groupby(["corpus", "topics"])["value"].agg(value="min", replicates="size").reset_index()
    return least.assign(error=0.0, freedom=math.inf)


def calibrated(inputs: Inputs) -> "pd.DataFrame":
    """Return r.m.s. errors of the reference in stated errors, over every cell with an exact value, by corpus."""
    cells = results.calibration(inputs)
    squares = (cells["z"] ** 2).groupby(cells["corpus"])
    spread = squares.mean() ** 0.5
    table = spread.rename("value").reset_index()
    deviation = (squares.std(ddof=1) / squares.size() ** 0.5 / (2.0 * spread)).to_numpy()  # by the delta method
    return table.assign(error=deviation, freedom=squares.size().to_numpy() - 1.0, replicates=squares.size().to_numpy())


def particles_over_sequential(inputs: Inputs) -> "pd.DataFrame":
    """Return logarithms of LR's r.m.s. error over the one of LRS, of every kind of document, by number of samples.

    The replicates are kinds: models of few and many topics, priors and lengths, as the study has them.
    """
    table = select(inputs.measurements, corpus=precision.NONE, axis="samples")
    keys = ["topics", "variant", "at", "value"]
    one, other = (select(table, quantity=precision.ERROR + name)[keys] for name in (PARTICLES, SEQUENTIAL))
    both = one.merge(other, on=keys[:3], suffixes=("", "_other")).sort_values("at", kind="stable")
    both = both[both["at"] > 1]  # of one sample the two are alike
    return both.assign(
        corpus=precision.NONE,
        samples=both["at"].map("{:,.0f} samples".format),
        seed=both["topics"].astype(str) + " " + both["variant"],
        value=(both["value"] / both["value_other"]).map(math.log),
        error=0.0,
    )


def _repairs(name: str, evaluator: str, method: str) -> tuple[Contrast, ...]:
    return tuple(
        Contrast(
            name=f"{name}-{NAMES[model].lower()}",
            question="gap",
            says=f"{method} repairs folding-in.",
            one=scored(f"{NAMES[model]}, {name}", model, evaluator),
            other=scored(OWN_PRIOR[model], model, TRUTH),
        )
        for model in NAMES
    )


def _gaps() -> tuple[Contrast, ...]:
    return tuple(
        Contrast(
            name=f"{name}-{NAMES[model].lower()}",
            question="gap",
            says=says.format(NAMES[model]),
            one=scored(f"{NAMES[model]}, {score}", model, evaluator),
            other=scored(OWN_PRIOR[model], model, TRUTH),
        )
        for name, says, score, evaluator in (
            ("gap", "Full folding-in of {} is above the likelihood of the same documents.", FULL_FOLDING_IN, FULL),
            ("plug-in", "So is {}'s posterior mean in the place of the fitted point.", POSTERIOR_MEAN, PLUG_IN),
        )
        for model in NAMES
    )


CHOOSERS = {
    "full": FULL_FOLDING_IN,
    "half": HALF_FOLDING_IN,
    "bound": "mean-field bound",
    "number": regret.NUMBER,
    "flat": regret.MODELS_PRIOR,
}
_ITSELF = chosen_by(f"{LIKELIHOOD} at its own choice", regret.ITSELF)
_AT_CHOICE = {end: chosen_by(f"that at the choice of {name}", name) for end, name in CHOOSERS.items()}
_BY_JUDGE: dict[str, Any] = {
    "question": "choice",
    "by": ("model", "judge"),
    "over": ("half",),
    "held_out": TODAYS_HELD_OUT,
}
_SHARE: dict[str, Any] = {"estimand": "share", "margin": SHARES, "held_out": TODAYS_HELD_OUT}


def completion_choice(name: str, chooser: str) -> Side:
    """Return the average of second halves at the number of topics that a score chose, by model."""

    def rows(inputs: Inputs) -> "pd.DataFrame":
        import pandas as pd

        corpora = tuple(inputs.settings.corpora)
        tables = [
            regret.at_choice(inputs, corpora, model, chooser, regret.COMPLETION_JUDGES).assign(model=NAMES[model])
            for model in NAMES
        ]
        return pd.concat(tables, ignore_index=True)

    return Side(name, rows)


CONTRASTS = (
    *_gaps(),
    Contrast(
        name="gap-plsa-fitted",
        question="gap",
        says="A prior that is fitted to the training documents does not close the gap.",
        one=scored(f"PLSA, {FULL_FOLDING_IN}", PLSA, FULL),
        other=scored(f"{LIKELIHOOD} under {FITTED_PRIOR}", PLSA, TRUTH, FITTED),
        held_out=TODAYS_HELD_OUT,
    ),
    *(
        Contrast(
            name=f"gap-{NAMES[model].lower()}-by-sum",
            question="gap",
            says=f"The gap of {NAMES[model]} depends on the sum of the prior's parameters.",
            one=by_sum(model),
            by=("topics", "sum"),
            held_out=TODAYS_HELD_OUT,
        )
        for model in NAMES
    ),
    Contrast(
        name="plug-in-beside-full-lda",
        question="gap",
        says="For LDA the posterior mean is further above the likelihood than full folding-in.",
        one=scored(f"LDA, {POSTERIOR_MEAN}", LDA, PLUG_IN),
        other=scored(f"LDA, {FULL_FOLDING_IN}", LDA, FULL),
    ),
    Contrast(
        name="epca-gap",
        question="gap",
        says="EPCA's full folding-in is above its marginal likelihood under the Gaussian prior of its penalty.",
        one=Side("the least excess of a document's full folding-in", epca_excess),
        margin=ANY,
        unit="nats per document",
    ),
    *(
        Contrast(
            name=f"{name}-{score}",
            question="gap",
            says="Of documents drawn from a model the score says more than any probability can.",
            one=drawn_excess(score, column),
            null=-math.log(results.CHANCE),
            margin=ANY,
            unit="nats",
        )
        for name, column, scores in (
            ("drawn", "over", (FULL, SAMPLED_FULL, PLUG_IN, LAPLACE)),
            ("drawn-given-weights", "given", (FULL,)),
        )
        for score in scores
    ),
    *_repairs("laplace", LAPLACE, "Laplace's method in the softmax basis"),
    *_repairs("nml", NML, "The NML penalty"),
    *(
        Contrast(
            name=f"completion-beside-{end}",
            question="gap",
            says=says,
            one=completed("log p of the second half given the first, weights averaged", COMPLETION, FITTED_HALVES),
            other=completed(name, evaluator, FITTED_HALVES),
            by=("model", "topics"),
        )
        for end, name, evaluator, says in (
            ("half", HALF_FOLDING_IN, HALF, "Half folding-in gives the second half less than its probability."),
            ("mean", POSTERIOR_MEAN, PLUG_IN, "The posterior mean given the first half serves as well as the average."),
        )
    ),
    Contrast(
        name="package-number",
        question="gap",
        says="The number that a package reports is not the likelihood of its model.",
        one=Side("the package's number", partial(_packages, evaluator=REPORTED)),
        other=Side(f"{LIKELIHOOD} of the same model", partial(_packages, evaluator=TRUTH)),
        by=("model", "topics"),
        held_out=PACKAGES_HELD_OUT,
    ),
    Contrast(
        name="library-number",
        question="gap",
        says="The number that a library returns for held-out documents is below its model's likelihood.",
        one=Side("the library's number", partial(_libraries, evaluator=REPORTED)),
        other=Side(f"{LIKELIHOOD} of the same model", partial(_libraries, evaluator=TRUTH)),
        by=("model", "topics"),
    ),
    Contrast(
        name="share-fitted",
        question="prior",
        says="A prior fitted to the training documents leaves most of the gap under the flat one.",
        one=gap(f"PLSA's gap under {FITTED_PRIOR}", PLSA, FITTED),
        other=gap(f"that under {FLAT_PRIOR}", PLSA, OPTIMISM),
        **_SHARE,
    ),
    Contrast(
        name="share-mixture",
        question="prior",
        says="So does a mixture of four of them.",
        one=gap(
            "PLSA's gap under a mixture of four Dirichlets fitted to the training documents", PLSA, results.MIXTURE
        ),
        other=gap(f"that under {FLAT_PRIOR}", PLSA, OPTIMISM),
        **_SHARE,
    ),
    Contrast(
        name="share-best-sum",
        question="prior",
        says="A symmetric prior with its best sum leaves less than fitted priors.",
        one=Side("PLSA's gap under the symmetric prior with its best sum, after the fact", under_best_sum),
        other=Side(f"that under {FLAT_PRIOR}", flat_gap),
        **_SHARE,
    ),
    *(
        Contrast(
            name=f"share-test-{components}",
            question="prior",
            says=f"Nor does a prior close the gap that has seen other test documents ({words}).",
            one=Side(
                f"PLSA's gap under {words} fitted to other test documents",
                partial(under_test_prior, components=components),
            ),
            other=Side(f"that under {FLAT_PRIOR}", flat_gap),
            **_SHARE,
        )
        for components, words in ((1, "a Dirichlet"), (4, "four Dirichlets"))
    ),
    *(
        Contrast(
            name=f"choice-{end}",
            says=f"The choice of K by the score costs likelihood: {name}.",
            one=_ITSELF,
            other=_AT_CHOICE[end],
            **_BY_JUDGE,
        )
        for end, name in CHOOSERS.items()
    ),
    *(
        Contrast(
            name=f"choice-{end}-beside-flat",
            says=f"{LIKELIHOOD[0].upper()}{LIKELIHOOD[1:]} under the model's prior chooses K worse than {name}.",
            one=_AT_CHOICE[end],
            other=_AT_CHOICE["flat"],
            **_BY_JUDGE,
        )
        for end, name in (("full", FULL_FOLDING_IN), ("half", HALF_FOLDING_IN))
    ),
    Contrast(
        name="choice-completion",
        question="choice",
        says="The choice of K by half folding-in costs probability of the second half.",
        one=completion_choice("the average at its own choice", regret.ITSELF),
        other=completion_choice(f"that at the choice of {HALF_FOLDING_IN}", regret.HALF_OF_COMPLETION),
        by=("model",),
        over=("half",),
    ),
    Contrast(
        name="choice-package",
        question="choice",
        says="The choice of K by a package's own number costs its model's likelihood.",
        one=packages_choice(f"{LIKELIHOOD} at its own choice", regret.ITSELF),
        other=packages_choice("that at the choice of the package's number", regret.PACKAGES_NUMBER),
        by=("model",),
        over=("half",),
        held_out=PACKAGES_HELD_OUT,
    ),
    Contrast(
        name="lda-plsa",
        question="models",
        says="LDA is better than PLSA with many topics, and worse with few.",
        one=scored("LDA's likelihood, fitted prior", LDA, TRUTH, FITTED),
        other=scored("PLSA's likelihood, fitted prior", PLSA, TRUTH, FITTED),
        held_out=TODAYS_HELD_OUT,
    ),
    Contrast(
        name="lda-plsa-best",
        question="models",
        says="Each at its best number of topics, LDA is better than PLSA.",
        one=at_best(scored("LDA's likelihood, fitted prior", LDA, TRUTH, FITTED)),
        other=at_best(scored("PLSA's likelihood, fitted prior", PLSA, TRUTH, FITTED)),
        by=(),
        held_out=TODAYS_HELD_OUT,
    ),
    *(
        Contrast(
            name=f"plsa-overfits-{end}",
            question="models",
            says=f"By the likelihood under {prior} PLSA overfits.",
            one=at_best(side := scored(f"PLSA's likelihood under {prior}", PLSA, TRUTH, variant)),
            other=at_most(side),
            by=(),
            held_out=TODAYS_HELD_OUT,
        )
        for end, prior, variant in (("flat", FLAT_PRIOR, OPTIMISM), ("fitted", FITTED_PRIOR, FITTED))
    ),
    Contrast(
        name="longer-chains",
        question="models",
        says="Chains ten times as long do not change LDA's likelihood.",
        one=chains(LONG),
        other=chains(SHORT),
    ),
    Contrast(
        name="lr-lrs-few",
        question="estimators",
        says="With few samples particles (LR) are nearer to the likelihood than the sequential sampler (LRS).",
        one=Side("r.m.s. error of LR over that of LRS, mean over kinds of documents", particles_over_sequential),
        estimand="factor",
        by=("samples",),
        margin=MORE_SAMPLES,
    ),
    *(
        Contrast(
            name=f"reference-{other}",
            question="reference",
            says=f"The reference agrees with {validation.NAMES[other]}.",
            one=validated(other),
            by=("model", "prior", "topics"),
            margin=ESTIMATORS,
        )
        for other in validation.NAMES
    ),
    Contrast(
        name="reference-exact",
        question="reference",
        says="Where exact values are known, the reference errs as much as it states.",
        one=Side("the reference's r.m.s. error in stated errors, up to four topics", calibrated),
        by=(),
        margin=Z,
        null=SPREAD,
    ),
)
