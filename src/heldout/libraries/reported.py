"""The number that a model's own library prints for it."""

from collections.abc import Iterable

from heldout.corpora.corpus import Corpus
from heldout.errors import InputError
from heldout.libraries import Fitted, Reported
from heldout.libraries.parts import nothing
from heldout.libraries.read import library_of


def reported(fitted: Fitted, documents: Iterable[Corpus]) -> Reported:
    """Return the number that the model's own library reports.

    Args:
        fitted: the model; the library's own object in `native`, where its function is called.
        documents: batches of documents, iterated more than once; words outside the model's vocabulary are left out.

    Returns:
        The number; NaN with a note where the library reports none, or where its own object is not there.

    Examples:
        >>> from heldout.libraries.read import fitted
        >>> reported(fitted(([[0.5, 0.5]], 1.0)), []).note
        'arrays come from no library: nothing is reported'
    """
    try:
        return library_of(fitted).reported(fitted, documents)
    except InputError:
        raise
    except Exception as error:  # a damaged or unfinished object lacks what its library asks for
        note = f"{fitted.library} could not compute it ({type(error).__name__}: {error!s:.200})"
        if fitted.native is None:
            note = f"the model holds topics alone, without what {fitted.library} reports from"
        return nothing(fitted.library, note)
