"""scikit-learn's parameter conventions, without the second that importing scikit-learn costs every job."""

import inspect
from typing import Any, Self


class Estimator:
    """An estimator whose constructor's arguments are its parameters, stored under their own names."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the constructor's arguments by name."""
        names = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in names if name != "self"}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name and return self.

        Raises:
            ValueError: for a name that the constructor does not have.
        """
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name}; it has {', '.join(known)}")
            setattr(self, name, value)
        return self
