"""Exact log-likelihoods of small models and documents, for tests of any package.

exact_cases.json has families of latent variable models (of Welling et al. 2008, Buntine 2009 and Murphy 2012, chapter
27), the parameters of models, and their documents; exact_cases.csv has each document's log-likelihood to 12 significant
digits, by sums over all hidden states.
"""

import csv
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ExactCase:
    """A document of a small model, and its exact log-likelihood.

    Attributes:
        name: of the case, model/document.
        family: the name of the family.
        definition: of the family, in a sentence.
        parameters: arrays by name; shapes are the family's in exact_cases.json. A number is an array without axes.
        document: arrays by name; missing values are NaN. Words, values and classes are numbered from 0.
        log_likelihood: nats; -inf for a document of probability 0.
        digits: significant digits of it.
        probability_of: whether it is of the sequence of words, the vector of counts, a density, and given what.
        method: the exact sum or integral.
        source: papers with their equations.
    """

    name: str
    family: str
    definition: str
    parameters: dict[str, NDArray[Any]]
    document: dict[str, NDArray[Any]]
    log_likelihood: float
    digits: int
    probability_of: str
    method: str
    source: str


def exact_cases() -> list[ExactCase]:
    """Return small models with documents whose log-likelihoods are known exactly, of all families.

    Examples:
        >>> case = exact_cases()[10]
        >>> case.name, case.parameters["alpha"], case.document["words"], case.log_likelihood
        ('lda-flat/one-word', array([1., 1.]), array([0]), -0.798507696218)
    """
    folder = files(__package__)
    data = json.loads((folder / "exact_cases.json").read_text(encoding="utf-8"))
    table = csv.DictReader((folder / "exact_cases.csv").read_text(encoding="utf-8").splitlines())
    return [
        ExactCase(
            row["case"],
            row["family"],
            data["families"][row["family"]]["model"],
            _arrays(data["models"][row["model"]]["parameters"]),
            _arrays(data["models"][row["model"]]["documents"][row["document"]]),
            float(row["log_likelihood"]),
            int(row["digits"]),
            *(row[key] for key in ("probability_of", "method", "source")),
        )
        for row in table
    ]


def _arrays(values: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return lists as arrays, of integers unless a value is none or missing."""
    arrays = {name: np.array(value, dtype=None if value != [] else int) for name, value in values.items()}
    return {name: array if array.dtype.kind == "i" else array.astype(float) for name, array in arrays.items()}
