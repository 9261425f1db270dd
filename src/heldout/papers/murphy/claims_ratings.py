"""Murphy's claims about models of ratings (2012, sections 27.6.2 and 27.7.3.2), by likelihoods and by errors."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from heldout.claims import Claim, Measure
from heldout.effects import effects, less
from heldout.inputs import Inputs
from heldout.papers.murphy.experiments import rating_curves as curves
from heldout.papers.murphy.experiments import ratings as of
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.papers.murphy.results_ratings import CURVES, PROFILE, RATINGS, likelihoods, measured
from heldout.verdicts import MODELS, Effect, Margin

if TYPE_CHECKING:
    import pandas as pd

RATING = "nats per rating"
ERRORS = Margin(
    0.005,
    "stars",
    "half a percent of the error: a twentieth of the ten percent that Netflix asked for",
    "2026-11-25, with one split's first errors in view",
)
Pair = tuple[str, str, str]  # the part, and the models of which one's is taken less the other's


def by_likelihood(
    inputs: Inputs, _: Sequence[str], *, pairs: Sequence[Pair], evaluator: str = of.RATING_LIKELIHOOD
) -> list[Effect]:
    """Measure the likelihood of test users' ratings under one model less that under another, mean over K."""
    found = []
    for part, own, other in pairs:
        gains = less(likelihoods(inputs, own, evaluator), likelihoods(inputs, other, evaluator))
        found += effects(gains, margin=MODELS, held_out=inputs.held_out, part=part, unit=RATING)
    return found


def by_error(inputs: Inputs, _: Sequence[str], *, pairs: Sequence[Pair]) -> list[Effect]:
    """Measure how much less the error of test users' predicted ratings is with one model than with another."""
    found = []
    for part, own, other in pairs:
        one, two = (measured(inputs, RATINGS, of.RMSE, model) for model in (own, other))
        found += effects(less(two, one), margin=ERRORS, held_out=inputs.held_out, part=part)
    return found


def on_curves(
    inputs: Inputs, _: Sequence[str], *, pairs: Sequence[Pair], axis: str, last: bool = False
) -> list[Effect]:
    """Measure how much less the error of held-out ratings is with one model than with another, mean over K.

    On passes the last of both alone counts.
    """
    found = []
    for part, own, other in pairs:
        one, two = (_points(inputs, model, axis, last=last) for model in (own, other))
        found += effects(less(two, one), margin=ERRORS, held_out=_share(inputs), part=part)
    return found


def _points(inputs: Inputs, model: str, axis: str, *, last: bool) -> "pd.DataFrame":
    rows = measured(inputs, CURVES, of.RMSE, model, axis)
    if last and len(rows):
        rows = rows.loc[rows.groupby(["corpus", "topics", "seed"])["at"].idxmax()]
    return rows.drop(columns="at")


def overfits(inputs: Inputs, _: Sequence[str]) -> list[Effect]:
    """Measure how far the error without a prior, after the last pass, lies above its least."""
    rows = measured(inputs, CURVES, of.RMSE, curves.SVD, curves.PASS)
    if not len(rows):
        return []
    groups = rows.groupby(["corpus", "topics", "seed"])["at"]
    values = rows.groupby(["corpus", "topics", "seed"])["value"].min().reset_index().assign(error=0.0)
    last = rows.loc[groups.idxmax()].drop(columns="at")
    return effects(less(last, values), margin=ERRORS, held_out=_share(inputs))


def _share(inputs: Inputs) -> float:
    """Return the share of ratings that a seed holds out."""
    return float(inputs.settings.experiment(CURVES).get("settings", {}).get("share", 0.0))


def _likelihood(*pairs: Pair, evaluator: str = of.RATING_LIKELIHOOD) -> Measure:
    return partial(by_likelihood, pairs=pairs, evaluator=evaluator)


RATINGS_CLAIMS = (
    Claim(
        "degenerate-pmf-overfits",
        "section 27.2.2, of 27.6.2",
        "A point estimate of users' vectors overfits; EM, which integrates them out, does not",
        "exact log density of new users' ratings under PMF by exact EM over users, less that by points, mean over K",
        _likelihood(("", of.PMF_EM, of.PMF_POINT), evaluator=LIKELIHOOD),
    ),
    Claim(
        "continuous-beats-discrete",
        "section 27.6.2",
        "Unconstrained factors do much better than discrete or simplex latent variables",
        "likelihood of new users' ratings under PMF by exact EM less the other's, mean over K",
        _likelihood(("than co-clustering", of.PMF_EM, of.COCLUSTERING), ("than the profile", of.PMF_EM, PROFILE)),
    ),
    Claim(
        "continuous-predicts-better",
        "section 27.6.2",
        "Unconstrained factors do much better than discrete or simplex latent variables, by the error",
        "error of new users' predicted ratings, co-clustering's less that of PMF by exact EM, mean over K",
        partial(by_error, pairs=[("than co-clustering", of.PMF_EM, of.COCLUSTERING)]),
    ),
    Claim(
        "offsets-give-likelihood",
        "section 27.6.2, 27.93",
        "Offsets of users and films give much better results, by the likelihood",
        "likelihood of new users' ratings under PMF by exact EM, with offsets less without, mean over K",
        _likelihood(("", of.PMF_EM, of.PLAIN)),
    ),
    Claim(
        "offsets-reduce-error",
        "section 27.6.2, Figure 27.29 (b)",
        "Offsets of users and films give much better results",
        "error of held-out ratings of known users, without offsets less with, mean over K",
        partial(
            on_curves,
            pairs=[("points", curves.POINT, curves.POINT_PLAIN), ("exact EM", curves.EM, curves.EM_PLAIN)],
            axis=curves.PARAMETERS,
        ),
    ),
    Claim(
        "unregularised-overfits",
        "section 27.6.2, Figure 27.29 (a)",
        "Just maximising the likelihood results in overfitting",
        "error of held-out ratings of known users without a prior, after the last pass less at its least",
        overfits,
    ),
    Claim(
        "priors-reduce-overfitting",
        "section 27.6.2, Figure 27.29 (a)",
        "Priors reduce the effect of overfitting, and learned ones give even better results",
        "error of held-out ratings of known users after the last pass, without a prior less with",
        partial(
            on_curves,
            pairs=[
                ("PMF1", curves.PMF1, curves.SVD),
                ("PMF2", curves.PMF2, curves.SVD),
                ("learned, points", curves.ADAPTIVE, curves.SVD),
                ("learned, exact EM", curves.EM_LEARNED, curves.SVD),
            ],
            axis=curves.PASS,
            last=True,
        ),
    ),
    Claim(
        "learned-prior-of-users",
        "section 27.6.2",
        "A learned diagonal prior gives even better results, by the likelihood",
        "likelihood of new users' ratings under PMF by exact EM, with a learned prior less with a fixed one, mean over"
        " K",
        _likelihood(("", of.LEARNED, of.PMF_EM)),
    ),
    Claim(
        "square-root-is-more-gaussian",
        "section 27.6.2",
        "The square root of 6 - R makes the data a better match to the Gaussian",
        "log density of new users' ratings under PMF by exact EM, of roots with their Jacobian less of ratings, mean"
        " over K",
        _likelihood(("", of.ROOT, of.PMF_EM), evaluator=LIKELIHOOD),
    ),
    Claim(
        "square-root-of-ratings",
        "section 27.6.2",
        "The square root of 6 - R makes the data a better match to the Gaussian, of ratings as bins",
        "likelihood of new users' ratings under PMF by exact EM, of roots less of ratings, mean over K",
        _likelihood(("", of.ROOT, of.PMF_EM)),
    ),
    Claim(
        "rbm-outperforms-pmf",
        "section 27.7.3.2",
        "An RBM with binary hidden and categorical visible units slightly outperforms SVD, by the likelihood",
        "likelihood of new users' ratings under the RBM less that under PMF, mean over K",
        _likelihood(("points", of.CD, of.PMF_POINT), ("exact EM", of.CD, of.PMF_EM)),
    ),
    Claim(
        "rbm-predicts-better",
        "section 27.7.3.2",
        "An RBM with binary hidden and categorical visible units slightly outperforms SVD",
        "error of new users' predicted ratings, PMF's less the RBM's, mean over K",
        partial(by_error, pairs=[("points", of.CD, of.PMF_POINT), ("exact EM", of.CD, of.PMF_EM)]),
    ),
    Claim(
        "combined-has-more-likelihood",
        "section 27.7.3.2",
        "Combining RBM and SVD improves on either, by the likelihood",
        "likelihood of new users' ratings under the mean of RBM and PMF by points, less either's, mean over K",
        _likelihood(("than the RBM", of.COMBINED, of.CD), ("than PMF", of.COMBINED, of.PMF_POINT)),
    ),
    Claim(
        "combined-predicts-better",
        "section 27.7.3.2",
        "Combining RBM and SVD improves on either",
        "error of new users' predicted ratings, either's less that of the mean of their predictions, mean over K",
        partial(by_error, pairs=[("than the RBM", of.COMBINED, of.CD), ("than PMF", of.COMBINED, of.PMF_POINT)]),
    ),
    Claim(
        "persistent-chains-of-ratings",
        "section 27.7.2.4",
        "Persistent chains give a better model than contrastive divergence, of ratings",
        "likelihood of new users' ratings under RBMs by PCD less by CD, mean over K",
        _likelihood(("", of.PCD, of.CD)),
    ),
)
