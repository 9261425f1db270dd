"""The score of fitted models, which stands above them: `heldout`, at the top, gives its `log_likelihood`."""

from collections.abc import Callable
from typing import Any

log_likelihood: Callable[[Any, Any], float]  # of a fitted model and documents (D, V): the mean, nats per token
