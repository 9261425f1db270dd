"""Symmetric Dirichlet priors by name, as in the measurements of the estimators' precision.

"alpha-0.1" has the parameter 0.1 for every topic, "alpha-sum-1" has parameters that sum to 1.
"""


def parameter(prior: str, topics: int) -> float:
    """Return the Dirichlet parameter of every one of K topics.

    Args:
        prior: its name, such as "alpha-0.1".
        topics: K.

    Examples:
        >>> parameter("alpha-0.1", 50), parameter("alpha-sum-1", 50)
        (0.1, 0.02)
    """
    name, _, value = prior.rpartition("-")
    return float(value) / topics if name == "alpha-sum" else float(value)
