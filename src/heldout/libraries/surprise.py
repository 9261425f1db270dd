"""scikit-surprise's `SVD`, and item factors as arrays.

Surprise predicts r_ui = mu + b_u + b_i + q_i' p_u, unbiased q_i' p_u alone. A user's vector is w = (p_u, b_u), an
item's loading (q_i, 1). No prior of w follows from the model: its penalties `reg_pu` and `reg_bu` count once for each
rating, and so stand for another prior of each user, and the noise is no part of it.
"""

from typing import Any

import numpy as np

from heldout.errors import InputError
from heldout.libraries.checks import numbers
from heldout.typing import Floats


def item_factors(model: Any) -> tuple[Floats, Floats, float, dict[Any, int]]:
    """Return loadings (M, P), offsets (M,), the mean, and the items' places by their names.

    They are of a fitted `SVD` of Surprise, by its attributes, or of (loadings, offsets, mean).

    Raises:
        InputError: for another object, one that is not fitted, or factors that do not fit together.
    """
    if isinstance(model, tuple) and len(model) == 3:
        where, (loadings, offsets, mean) = "item factors", model
        places: dict[Any, int] = {j: j for j in range(len(loadings))}
    elif any(kind.__name__ == "SVD" for kind in type(model).__mro__):
        where, trainset, loadings = "SVD", getattr(model, "trainset", None), getattr(model, "qi", None)
        if trainset is None or loadings is None:
            raise InputError("SVD: not fitted; call fit() first")
        offsets, mean = model.bi, trainset.global_mean if model.biased else 0.0
        loadings = np.hstack([loadings, np.ones((len(loadings), 1))]) if model.biased else loadings
        places = {trainset.to_raw_iid(j): j for j in range(len(loadings))}
    else:
        kind = f"{type(model).__module__}.{type(model).__qualname__}"
        raise InputError(f"model: a {kind}; give a fitted SVD of Surprise, or (loadings, offsets, mean) of items")
    A, g, mu = (numbers(values, "factors", where) for values in (loadings, offsets, mean))
    if A.ndim != 2 or g.shape != A.shape[:1] or mu.size != 1 or not all(np.isfinite(part).all() for part in (A, g, mu)):
        raise InputError(
            f"{where}: loadings of shape {A.shape}, offsets {g.shape}, mean {mu}; give finite (M, P), (M,), one number"
        )
    return A, g, mu.item(), places
