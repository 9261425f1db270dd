"""The likelihood of new users' ratings under a matrix factorisation."""

import math
from typing import Any

import numpy as np

from heldout.corpora.relations.ratings import Ratings
from heldout.errors import InputError
from heldout.evaluators.rating_marginal import rating_marginal
from heldout.libraries.checks import numbers
from heldout.libraries.surprise import item_factors
from heldout.models.pmf import Factors


def rating_log_likelihood(model: Any, ratings: Any, *, variance: Any = None, noise: float | None = None) -> float:
    """Return the mean log density of new users' ratings under a matrix factorisation, nats per rating, in closed form.

    A user's vector w ~ N(0, diag(variance)) is integrated out (`heldout.evaluators.rating_marginal`), so that every
    user is scored as new, by the items' factors alone: r = mu + g + A w + e, e ~ N(0, noise). The error of predictions
    after folding in (RMSE) is no density: it says neither how sure they are nor how well the vector is known.

    Args:
        model: a fitted `SVD` of scikit-surprise; or (loadings (M, P), offsets (M,), mean), items numbered from 0, with
            a column of ones in the loadings where users have offsets.
        ratings: (user, item, rating), each with the names that the model was fitted with: a list as Surprise's test
            set, a table of three columns, or an array. Further columns, and ratings of unknown items, are left out.
        variance: of each coordinate of w, one number or (P,); in a biased `SVD` the user's offset is the last one.
        noise: the variance of a rating given w. No factorisation of Surprise has either: choose both by this score on
            ratings of validation users, or from residuals and vectors of training (`model.pu`, `model.bu`).

    Raises:
        InputError: for bad input, or without variance or noise.

    Examples:
        >>> import heldout
        >>> items = [[1.0], [-1.0]], [0.0, 0.0], 3.0
        >>> ratings = [("ann", 0, 4), ("ann", 1, 2)]  # of covariance [[2, -1], [-1, 2]]
        >>> round(heldout.rating_log_likelihood(items, ratings, variance=1.0, noise=1.0), 4)
        -1.3603
    """
    loadings, offsets, mean, places = item_factors(model)
    if variance is None or noise is None:
        raise InputError("a factorisation has no prior of a new user's vector and no noise: give variance= and noise=")
    P, spread = loadings.shape[1], numbers(variance, "variance", "prior")
    positive = all(0.0 < number < math.inf for number in (*spread.ravel(), noise))
    if spread.shape not in ((1,), (P,)) or not positive:
        raise InputError(f"variance {variance!s:.60}, noise {noise}: give positive numbers, of variance one or {P}")
    rows = list(ratings.itertuples(index=False) if hasattr(ratings, "itertuples") else ratings)
    try:
        triples = [(user, places[item], float(value)) for user, item, value, *_ in rows if item in places]
    except (TypeError, ValueError) as error:
        raise InputError(f"ratings: give each as (user, item, rating) ({error!s:.100})") from error
    if not triples:
        raise InputError(f"ratings: none of {len(rows)} is of an item of the model; give items by their names in it")
    users, item, values = zip(*triples, strict=True)
    value: Any = np.array(values)  # no whole numbers are needed here
    if not np.isfinite(value).all():
        raise InputError("ratings: an infinite or undefined (NaN) rating; leave it out")
    row = {user: place for place, user in enumerate(dict.fromkeys(users))}
    names, user = (tuple(map(str, row)), tuple(map(str, places))), np.array([row[user] for user in users])
    given = Ratings(*names, user, np.array(item), value, (value.min(), value.max()))
    evaluation = rating_marginal(given, Factors(mean, offsets, loadings, np.resize(spread, P), noise))
    return float(evaluation.log_likelihood.sum()) / len(triples)
