"""A corpus that whoever runs the tutorials has: the docstrings of NumPy, SciPy and scikit-learn."""

import inspect
import pkgutil
import warnings
from importlib import import_module

LIBRARIES = ("numpy", "scipy", "sklearn")
FEWEST = 200  # characters


def docstrings() -> list[str]:
    """Return what the docstrings of public functions and classes say before their first section, every text once."""
    texts: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # modules that are deprecated say so when they are imported
        for library in LIBRARIES:
            package = import_module(library)
            below = [part.name for part in pkgutil.iter_modules(package.__path__) if not part.name.startswith("_")]
            for name in ["", *(f".{part}" for part in below if part not in ("tests", "conftest", "testing"))]:
                try:
                    module = import_module(f"{library}{name}")
                except ImportError:  # of an extra that is not installed
                    continue
                for attribute in sorted(vars(module)):
                    thing = getattr(module, attribute)
                    text = inspect.getdoc(thing) if callable(thing) and not attribute.startswith("_") else None
                    text = (text or "").partition("\n---")[0]
                    if len(text) >= FEWEST and getattr(thing, "__module__", "").startswith(library):
                        texts.setdefault(text, f"{library}{name}.{attribute}")
    return sorted(texts, key=lambda text: texts[text])
