r"""The likelihood of categorical PCA with inputs (Murphy 2012, equations 27.73 and 27.74).

    p(y_i | u_i) = ∫ p(y_i | z) N(z | V u_i, I) dz:

with z = V u_i + e it is that of categorical PCA whose bias is b + W V u_i, a bias of its own for each case. Exact with
one and two components, by the trapezoid rule on a grid of each case's own, and annealed beyond.
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gallery.tokens.evaluators.categorical_pca_annealed import categorical_pca_annealed
from gallery.tokens.evaluators.categorical_pca_marginal import SPACINGS, case_marginal
from gallery.tokens.models.categorical_pca import CategoricalPCA
from heldout.errors import InputError
from heldout.evaluators.trapezoid import grid
from heldout.typing import Floats

REACH, SPACING = 8.0, 0.25  # extent and spacing of the grid for pairs of tokens, in standard deviations of the prior


def categorical_pca_inputs_marginal(model: CategoricalPCA, X: sp.sparray | NDArray[Any], inputs: Floats) -> Floats:
    """Return log p(y_i | u_i), (N,) nats, of (N, C) counts X given (N, D) inputs, for one or two components.

    Raises:
        InputError: for more components, bad counts or inputs, or a case that does not settle.
    """
    if model.n_components not in SPACINGS:
        raise InputError(f"categorical PCA with inputs: {model.n_components} components; the rule takes 1 or 2")
    x, sums = model.counts_and_sums(X)
    value = np.zeros(len(sums))
    for i, own in _own_models(model, inputs, len(sums)):
        log_p = case_marginal(own, x[[i]], sums[[i]])
        if log_p is None:
            raise InputError(f"categorical PCA with inputs: data case {i} has not settled; anneal it")
        value[i] = log_p
    return value


def categorical_pca_inputs_annealed(
    model: CategoricalPCA,
    X: sp.sparray | NDArray[Any],
    inputs: Floats,
    samples: int,
    rng: np.random.Generator,
    *,
    temperatures: int,
) -> tuple[Floats, Floats]:
    """Return log p(y_i | u_i) and its standard error, (N,) nats, for any number of components.

    Arguments and errors are as of `categorical_pca_annealed`; `inputs` are (N, D).
    """
    x = sp.csr_array(model._check(X))
    value, error = np.zeros(x.shape[0]), np.zeros(x.shape[0])
    streams = rng.spawn(x.shape[0])
    for i, own in _own_models(model, inputs, x.shape[0]):
        (value[i],), (error[i],) = categorical_pca_annealed(own, x[[i]], samples, streams[i], temperatures=temperatures)
    return value, error


def pairs_of_tokens(model: CategoricalPCA, inputs: Floats) -> Iterator[Floats]:
    """Yield p(y_i1 = v, y_i2 = w | u_i), (C, C), for each of (N, D) inputs; for one or two components and one block.

    By the trapezoid rule with a spacing at which a Gaussian's integral is exact to rounding.
    """
    K = model.n_components
    z = grid(np.full(K, -REACH), np.full(K, REACH), SPACING)
    density = np.exp(-0.5 * (z**2).sum(axis=1))
    density /= density.sum()
    for _, own in _own_models(model, inputs, len(inputs)):
        p = own._softmax(z @ own.weights_.T + own.bias_)
        yield (p * density[:, None]).T @ p


def _own_models(model: CategoricalPCA, inputs: Floats, cases: int) -> Iterator[tuple[int, CategoricalPCA]]:
    """Yield each case's place and the model with its bias."""
    model._check_inputs(inputs, cases)
    for i, shift in enumerate(inputs @ model.input_weights_.T @ model.weights_.T):
        own = copy.copy(model)
        own.bias_ = model.bias_ + shift
        yield i, own
