"""Results of Welling et al.'s experiments: points over numbers of topics, documents' exact values, training courses.

All are computed from the tables of scores and measurements. Perplexities are per token, log-likelihoods in nats.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from artifact.contrasts.estimates import difference, per_token
from artifact.contrasts.inputs import Inputs
from artifact.papers.welling.experiments.bounds import TOKENS
from artifact.papers.welling.experiments.discrete_latents import BOUND, HIDDEN_MARKOV, MIXTURE
from artifact.papers.welling.experiments.normaliser_limits import LIMIT
from artifact.papers.welling.experiments.normaliser_limits import MODEL as WORD_TOPICS
from artifact.papers.welling.experiments.normalisers import QUANTITY as LOG_NORMALISER
from artifact.papers.welling.experiments.point_posteriors import LATENT_NORM, LOG_LIKELIHOOD, OBJECTIVE
from artifact.results.reading import REPORTED_CHAINS, select
from artifact.study.study import SECOND_READING
from heldout.errors import InputError
from heldout.evaluators import EXACT, FULL, HALF, MEAN_FIELD_BOUND
from heldout.models import LDA, PLSA
from heldout.topics import perplexity as perplexity_of

if TYPE_CHECKING:
    import pandas as pd

BY_DOCUMENT = ("bounds", "point-posterior", "discrete-latents")  # variants with exact values of documents
# readings of LDA's prior other than the main one: variants of the study
SPARSE, FITTED = "sparse-prior", "fitted-prior"
UNPENALISED = "unpenalised"  # EPCA as the original has it: a variant of the study
POINT_OF = ["corpus", "variant", "smoothing", "topics", "seed"]  # columns that name a point
CHAINS = ("none", "0")  # chains under which documents are measured, the first of several


def points(
    inputs: Inputs,
    corpora: Sequence[str],
    model: str,
    evaluator: str,
    variants: Sequence[str] = (),
    *,
    topics: Sequence[int] = (),
    seeds: Sequence[int] = (),
) -> "pd.DataFrame":
    """Return a model's scores per token on the study's grid and seeds: "value" and "error", nats, at every constant.

    Without variants the model's main one is taken, without topics or seeds the study's.
    """
    settings = inputs.settings
    selector: dict[str, object] = {
        **{"corpus": tuple(corpora), "model": model, "evaluator": evaluator, "chain": REPORTED_CHAINS},
        "variant": tuple(variants) or (settings.variant(model),),
        "topics": tuple(topics or settings.topics_of(model)),
        "seed": tuple(seeds or settings.seeds_of(model)),
    }
    rows = per_token(select(inputs.scores, **selector))
    for row in rows[rows.duplicated(POINT_OF)].head(1).to_dict("records"):
        named = ", ".join(str(row[key]) for key in ("corpus", "model", "variant", "evaluator"))
        place = f"{row['topics']} topics, constant {row['smoothing']}, seed {row['seed']}"
        raise InputError(f"scores: {named}, {place} is reported twice")
    return rows


def second_reading(inputs: Inputs, corpus: str, evaluator: str) -> "pd.DataFrame":
    """Return the `points` of PLSA with constants that are added at every M step."""
    return points(inputs, [corpus], PLSA, evaluator, [SECOND_READING], seeds=inputs.settings.second_reading_seeds)


def best(table: "pd.DataFrame") -> "pd.DataFrame":
    """Return each corpus's best curve: the points of the variant and constant of the lowest mean perplexity over seeds.

    Welling et al. (2008, section 5) define it so; in a tie it is the smallest constant's. The choice uses the scored
    test documents, so the best curve is optimistic.
    """
    curve = ["corpus", "variant", "smoothing"]
    means = table.groupby([*curve, "topics"])["perplexity"].mean()
    lowest = means.loc[list(means.groupby("corpus").idxmin())]
    return table.merge(lowest.reset_index()[curve], on=curve)


def best_points(
    inputs: Inputs, corpora: Sequence[str], model: str, evaluator: str, variant: str = ""
) -> "pd.DataFrame":
    """Return the points of a model's best curve on each corpus (see `best`).

    Without a named variant all compete, but for LDA: its variants are readings of the original, each judged by itself,
    and the main one is taken.
    """
    settings = inputs.settings
    further = () if variant or model == LDA else settings.further_variants(model)
    return best(points(inputs, corpora, model, evaluator, (variant or settings.variant(model), *further)))


def lda_variants(inputs: Inputs) -> tuple[str, ...]:
    """Return the study's variants of LDA that differ by the prior, the main one first."""
    further = inputs.settings.further_variants(LDA)
    return (inputs.settings.variant(LDA), *(variant for variant in (SPARSE, FITTED) if variant in further))


def means(curve: "pd.DataFrame") -> "pd.Series[float]":
    """Return the mean perplexity over seeds by number of topics, ascending."""
    return curve.groupby("topics")["perplexity"].mean()


def beyond_ends(inputs: Inputs) -> tuple[int, int] | None:
    """Return the largest number of topics within the vocabulary and the largest beyond it; None without either."""
    settings = inputs.settings
    if not settings.beyond.corpus:
        return None
    vocabulary = int(inputs.corpus(settings.beyond.corpus)["vocabulary"])
    grid = sorted({*settings.topics, *settings.beyond.topics})
    lower = [k for k in grid if k <= vocabulary]
    return (lower[-1], grid[-1]) if lower and grid[-1] > vocabulary else None


def beyond_points(inputs: Inputs, evaluator: str, topics: Sequence[int] = ()) -> "pd.DataFrame":
    """Return PLSA's `points` at these numbers of topics; at all, beyond the vocabulary too, if empty."""
    settings = inputs.settings
    grid = topics or (*settings.topics, *settings.beyond.topics)
    return points(inputs, [settings.beyond.corpus], PLSA, evaluator, topics=grid, seeds=settings.beyond.seeds)


def bands(inputs: Inputs, corpus: str) -> "pd.DataFrame":
    """Return PLSA's "folded", its perplexity by folding-in, and "limit", an upper limit on it after normalisation.

    By "topics" and "seed", under the constant of half folding-in's best curve.
    """
    constants = best(points(inputs, [corpus], PLSA, HALF))["smoothing"].unique()
    main: dict[str, object] = {"corpus": corpus, "model": PLSA, "variant": inputs.settings.variant(PLSA)}
    full = select(inputs.scores, **main, evaluator=FULL, chain=REPORTED_CHAINS, smoothing=tuple(constants))
    both = full.merge(select(inputs.measurements, quantity=LIMIT, corpus=corpus), on=["topics", "seed"])
    limits = [perplexity_of(float(nats), int(n)) for nats, n in zip(both["value"], both["at"], strict=True)]
    return both[["topics", "seed"]].assign(folded=both["perplexity"], limit=both["perplexity"] / limits)


def word_topics(inputs: Inputs, corpus: str) -> "pd.DataFrame":
    """Return the perplexity of the model with one topic per word by seed, a column per evaluator."""
    return select(inputs.scores, model=WORD_TOPICS, corpus=corpus).pivot_table("perplexity", "seed", "evaluator")


def bounds_corpus(inputs: Inputs) -> str:
    """Return the first of the study's corpora whose documents have exact values; raises InputError if there is none."""
    rows = select(inputs.measurements, quantity=EXACT, axis="document")
    corpora = set(rows.loc[rows["variant"].isin(BY_DOCUMENT), "corpus"])
    for corpus in inputs.settings.corpora:
        if corpus in corpora:
            return corpus
    raise InputError("bounds: there are no exact marginals of documents among the measurements; measure the bounds")


def differences(inputs: Inputs, corpus: str, estimates: Sequence[tuple[str, str]]) -> "pd.DataFrame":
    """Return (estimate - exact marginal) / tokens of every document and seed, nats per token.

    Returns:
        "model", "quantity", "topics", "seed", "at" (the document's index) and "gain", sorted.

    Raises:
        InputError: if a document is reported twice, lacks its exact value or length, or has a value that is not finite.
    """
    import pandas as pd

    keys = ["model", "topics", "seed", "at"]
    rows = select(inputs.measurements, corpus=corpus, axis="document")
    rows = rows[rows["variant"].isin(BY_DOCUMENT) & rows["chain"].isin(CHAINS)]
    asked = pd.DataFrame(estimates, columns=["model", "quantity"]).merge(rows, on=["model", "quantity"])
    exact, lengths = select(rows, quantity=EXACT), select(rows, quantity=TOKENS)

    def refuse(wrong: "pd.DataFrame", what: str) -> None:
        for model, topics, quantity in wrong[["model", "topics", "quantity"]].head(1).to_numpy():
            raise InputError(f"bounds: {corpus}, {model}, {topics} topics: {quantity} of {what}")

    every = pd.concat([exact, lengths, asked])
    again = every[every.duplicated([*keys, "quantity"])]
    refuse(again, "a document is reported twice; measure one variant and one constant")
    both = asked.merge(exact[[*keys, "value"]], how="left", on=keys, suffixes=("", "_exact"))
    tokens = lengths.drop_duplicates(["seed", "at"])[["seed", "at", "value"]]
    both = both.merge(tokens, how="left", on=["seed", "at"], suffixes=("", "_tokens"))
    lacking = both[both[["value_exact", "value_tokens"]].isna().any(axis=1)]
    refuse(lacking, f"{len(lacking)} documents, which lack their exact marginal or their number of tokens")
    gains = both.assign(gain=(both["value"] - both["value_exact"]) / both["value_tokens"])
    impossible = gains[~(gains["gain"].abs() < math.inf)]
    refuse(impossible, "a document that has probability 0; add a constant to p(w | z)")
    return gains[[*keys, "quantity", "gain"]].sort_values([*keys, "quantity"], ignore_index=True)


def learned_normalisers(inputs: Inputs) -> "pd.DataFrame":
    """Return log Z per document of learned PLSA models, for the first of the study's corpora with measurements.

    The rows of all seeds are sorted by topics, length and seed. Raises InputError if there are none.
    """
    every = select(inputs.measurements, quantity=LOG_NORMALISER, axis="length", model=PLSA)
    for corpus in inputs.settings.corpora:
        rows = select(every, corpus=corpus)
        if len(rows):
            return rows.sort_values(["topics", "at", "seed"], kind="stable")
    raise InputError("normaliser: there is no log Z of a learned model among the measurements; measure the normalisers")


def latent_shrinkage(inputs: Inputs) -> "pd.DataFrame":
    """Return how many times smaller ICA's H ends than it starts, as a logarithm, by the constraint on its columns."""
    rows = select(inputs.measurements, quantity=LATENT_NORM, axis="iteration", model="ica")
    ends = rows[rows["value"] > 0.0].sort_values("at").groupby(["corpus", "variant", "seed"])["value"]
    table = (ends.first() / ends.last()).map(math.log).rename("value").reset_index()
    return table.assign(columns=table["variant"].str.replace("-", " "), error=0.0)


def theorem_distances(inputs: Inputs) -> "pd.DataFrame":
    """Return the least distance to log p, over documents or iterations, on the side that a theorem names, in nats."""
    import pandas as pd

    rows = select(inputs.measurements, axis="document")
    rows = rows[rows["variant"].isin(BY_DOCUMENT) & rows["chain"].isin(CHAINS)]
    exact = select(rows, quantity=EXACT)
    exact = exact[exact["value"].abs() < math.inf]
    training = select(inputs.measurements, axis="iteration")
    likelihood, objective = (select(training, quantity=name) for name in (LOG_LIKELIHOOD, OBJECTIVE))
    pairs = {
        "full folding-in above": (select(rows, quantity=FULL, model=PLSA), exact),
        "mean-field bound below": (exact, select(rows, quantity=MEAN_FIELD_BOUND, model=(PLSA, LDA))),
        "points of discrete latents below": (exact, select(rows, quantity=BOUND, model=(MIXTURE, HIDDEN_MARKOV))),
        "their objective in training below": (likelihood, objective),
    }
    keys = ["corpus", "model", "variant", "topics", "seed", "at"]
    every = pd.concat(
        [
            difference(one.assign(error=0.0), other.assign(error=0.0), keys).assign(score=name)
            for name, (one, other) in pairs.items()
        ]
    )
    least = every.groupby(["corpus", "score"], sort=False)["value"].agg(value="min", replicates="size").reset_index()
    return least.assign(error=0.0, freedom=math.inf)
