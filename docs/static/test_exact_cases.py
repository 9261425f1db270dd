"""Hold a package to the exact log-likelihoods of small latent variable models: `pytest test_exact_cases.py`.

Put exact_cases.csv and exact_cases.json beside this file, and fill in `log_likelihood`, a line to each family that the
package has. Families, parameters and documents are described in exact_cases.json. Everything is in nats.
"""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parent
TOLERANCE = 1e-9  # relative, and absolute near 0; raise it for a sampler or a bound's gap


def log_likelihood(family: str, parameters: dict[str, Any], document: dict[str, Any]) -> float:
    """Return a document's log-likelihood by the package, nats; values are arrays, NaN where they are missing."""
    if family == "multinomial-mixture":  # an example: replace it
        of_components = parameters["phi"][:, document["words"]].prod(axis=1)
        return math.log(parameters["pi"] @ of_components)
    raise NotImplementedError(family)  # what the package lacks is skipped


def arrays(values: dict[str, Any]) -> dict[str, Any]:
    """Return lists as arrays, of integers unless a value is none or missing."""
    made = {name: np.array(value, dtype=None if value != [] else int) for name, value in values.items()}
    return {name: array if array.dtype.kind == "i" else array.astype(float) for name, array in made.items()}


def cases() -> list[dict[str, str]]:
    """Return the rows of exact_cases.csv."""
    with (FOLDER / "exact_cases.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["case"])
def test_log_likelihood(case: dict[str, str]) -> None:
    """Compare the package's value with the exact one."""
    model = json.loads((FOLDER / "exact_cases.json").read_text(encoding="utf-8"))["models"][case["model"]]
    parameters, document = arrays(model["parameters"]), arrays(model["documents"][case["document"]])
    try:
        value = log_likelihood(case["family"], parameters, document)
    except NotImplementedError:
        pytest.skip(f"no {case['family']}")
    assert value == pytest.approx(float(case["log_likelihood"]), rel=TOLERANCE, abs=TOLERANCE)
