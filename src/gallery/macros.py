"""The numbers of the gallery that its text uses."""

from typing import TYPE_CHECKING

import numpy as np

from artifact.contrasts.effect import NOT_RUN
from artifact.contrasts.inputs import Inputs
from artifact.results.reading import select
from artifact.typesetting import latex, over_seeds
from artifact.typesetting.macros import Macros, experiment_settings
from gallery.extensions.exhibits import extension_macros
from gallery.extensions.experiments import lda_hmm
from gallery.extensions.science import DYNAMICS, SEQUENCES, folded_rows
from gallery.gaps import gaps, largest_distance
from gallery.graphs.exhibits import graph_macros
from gallery.graphs.science import CELLS
from gallery.graphs.spec import NODE_FEATURES
from gallery.member import LIKELIHOOD
from gallery.misprints import MISPRINTS
from gallery.opening import all_gaps
from gallery.priors.exhibits import prior_macros
from gallery.ratings.exhibits import rating_macros
from gallery.ratings.science import ERRORS
from gallery.tokens import science as results
from gallery.tokens.experiments.bank_and_river import ANNEALED_EVIDENCE, MEANS
from gallery.tokens.experiments.bank_and_river import EVIDENCE as EXACT
from gallery.tokens.experiments.evidence import HDP
from gallery.tokens.members.categorical_pca import BouchardEM, DegenerateEM, JaakkolaJordanEM, VariationalEM
from gallery.tokens.members.gap import ConditionalGaP, GaP
from gallery.tokens.members.lda import BatchVB, CollapsedGibbs, PointVEM
from gallery.tokens.members.mixtures import MixtureOfCategoricals, MixtureOfMultinomials, MixtureOfPoissons
from gallery.tokens.members.plsi import PLSI
from gallery.tokens.members.user_rating_profile import UserRatingProfile
from gallery.undirected.exhibits import undirected
from gallery.undirected.spec import SOFTMAX, UNITS
from heldout.evaluators import FULL, HALF

if TYPE_CHECKING:
    import pandas as pd

ONLINE = "online"
SEEN = 3.0  # stated errors within which annealing has to lie of an exact value

# members whose gap the text prints, by experiment
GAPS = {
    results.GALLERY: (
        *(MixtureOfMultinomials, MixtureOfPoissons, PLSI, CollapsedGibbs, PointVEM, BatchVB),
        *(GaP, ConditionalGaP),
    ),
    results.RECORDS: (
        *(MixtureOfCategoricals, UserRatingProfile),
        *(VariationalEM, BouchardEM, JaakkolaJordanEM, DegenerateEM),
    ),
}
# settings that the text prints, by experiment
SETTINGS = {
    results.BANK: ("sweeps",),
    results.RESTARTS: ("starts", "components"),
    results.EVIDENCE: ("true_topics",),
    ONLINE: ("documents",),
    DYNAMICS: ("chains", "tokens"),
    SOFTMAX: ("documents", "epochs", "sweeps", "doublings"),
    UNITS: ("penalty",),
    NODE_FEATURES: ("samples",),
}
AT_MOST: dict[str, results.Curve] = {
    "PlsiFull": results.Curve(PLSI.name, (FULL,)),
    "PlsiHalf": results.Curve(PLSI.name, (HALF,)),
    "PlsiMixture": results.Curve(PLSI.name, (LIKELIHOOD,)),
    "LdaHalf": results.LDA_HALF,
    "LdaCompletion": results.LDA_COMPLETION,
    "Lda": results.LDA,
}


SAME_MAXIMUM = 1e-3  # nats per point within which two ends of EM count as one maximum
ROUNDING = 1e-9  # nats per token, of exact values and of weights that do not vary


def macros(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    rows = results.opening_rows(inputs)
    sizes = [abs(mark.gap) for mark in all_gaps(inputs)]
    scores = [row for row in rows if row.member.usual.kind != "exact"]
    errors = [row.error for row in rows if row.error]
    corpus = next(iter(results.corpora(inputs, results.PERPLEXITY)), "")
    most = max(results.curve(inputs, corpus, results.LDA), default=0)
    beta = inputs.settings.experiment(results.PERPLEXITY).get("settings", {}).get("beta")
    result = {
        **{
            latex.camel("in", experiment, name): latex.setting(experiment_settings(inputs, experiment).get(name))
            for experiment, names in SETTINGS.items()
            for name in names
        },
        "MarginStars": f"{ERRORS.value:g}",
        "MarginCells": f"{CELLS.value:g}",
        "GalleryLargestGap": latex.decimal(max(sizes), 2) if sizes else NOT_RUN,
        "GalleryScores": latex.integer(len(scores)),
        "GalleryRefuted": latex.integer(sum(row.refuted for row in scores)),
        "AnnealedError": latex.decimal(max(errors), 4) if errors else NOT_RUN,
        "GalleryMisprints": latex.integer(len(MISPRINTS)),
        "FigureTopics": latex.integer(most) if most else NOT_RUN,
        "FigureBeta": latex.setting(beta) if beta else NOT_RUN,
    }
    for experiment, members in GAPS.items():
        corpora, name = results.corpora(inputs, experiment), experiment.capitalize()
        result[f"{name}Corpus"] = latex.corpus_name(corpora[0]) if corpora else NOT_RUN
        at_most = {row.member: row for row in rows if row.corpus in corpora[:1] and row.gap is not None}
        for member in members:
            row = at_most.get(member)
            result[f"{name}Gap{latex.camel(member.name)}"] = (
                NOT_RUN if row is None else over_seeds.signed(gaps(_scores(inputs, experiment, row)), 3)
            )
    both = results.annealed_and_exact(inputs)
    agreeing = sum(abs(one.value - one.exact) <= SEEN * one.error + ROUNDING for one in both)
    result["AnnealedWithin"] = f"{latex.integer(agreeing)} of {latex.integer(len(both))}" if both else NOT_RUN
    result["AnnealedApart"] = latex.decimal(max(abs(one.value - one.exact) for one in both), 4) if both else NOT_RUN
    off = largest_distance(inputs, SEQUENCES, lda_hmm.EXACT, lda_hmm.ESTIMATED)
    result["SequencesApart"] = NOT_RUN if off is None else latex.decimal(off, 4)
    rows_folded = folded_rows(inputs)
    violations, folded = sum(row.violations for row in rows_folded), sum(row.documents for row in rows_folded)
    result["FoldedViolations"] = f"{latex.integer(violations)} of {latex.integer(folded)}" if folded else NOT_RUN
    true, end = results.bank(inputs, "true"), results.bank(inputs, "end")
    result["BankAgree"] = latex.percent(float((true == end).mean()), 0) if true.size else NOT_RUN
    for name, *compared in (("BankApart", "sampled", "exact"), ("BankExactApart", "exact", "true")):
        ours, others = (results.bank(inputs, f"{quantity}-{MEANS}") for quantity in compared)
        result[name] = latex.decimal(float(np.abs(ours - others).max()), 3) if ours.size else NOT_RUN
    for name, quantity, K in (("ExactOne", EXACT, 1), ("ExactTwo", EXACT, 2), ("AnnealedTwo", ANNEALED_EVIDENCE, 2)):
        rows_here = select(inputs.measurements, quantity=quantity, topics=K)
        value, error = ([*rows_here[column], None][0] for column in ("value", "standard_error"))
        shown = NOT_RUN if value is None else latex.signed(value, 2)
        spread = rf" \ensuremath{{\pm}} {latex.decimal(error, 2)}" if error is not None and error > ROUNDING else ""
        result[f"Bank{name}"] = shown + spread
    result["EvidenceHdp"] = over_seeds.span(select(inputs.measurements, quantity=HDP)["value"].tolist())
    ends = results.ends_of_em(inputs)
    reached = [float((training > -SAME_MAXIMUM).mean()) for training, _ in ends]
    result["RestartsReached"] = latex.percent(float(np.mean(reached)), 0) if ends else NOT_RUN
    result["RestartsWorst"] = latex.decimal(-min(training.min() for training, _ in ends), 2) if ends else NOT_RUN
    result["RestartsMedian"] = (
        latex.decimal(float(-np.mean([np.median(training) for training, _ in ends])), 3) if ends else NOT_RUN
    )
    for name, scores_of_curve in AT_MOST.items():
        points = select(results.curve_points(inputs, scores_of_curve), corpus=corpus)
        rows_shown = points[points["topics"] == (most if (points["topics"] == most).any() else 1)]
        result[f"Figure{name}"] = over_seeds.perplexity(rows_shown["value"].tolist())
    result |= extension_macros(inputs)
    return result | undirected(inputs) | prior_macros(inputs) | graph_macros(inputs) | rating_macros(inputs)


def _scores(inputs: Inputs, experiment: str, row: results.Row) -> "pd.DataFrame":
    return select(inputs.scores, variant=experiment, corpus=row.corpus, model=row.member.name, topics=row.topics)
