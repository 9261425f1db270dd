"""Named arrays: memberships, blocks, cells of graphs, tokens of documents, all of a study in one .npz file.

They are float64 and whole, where measurements are one number at a place. An array's name in the file is its place, the
fields joined by "/". Like scores, arrays hold no timings, and the same arrays give the same bytes.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from heldout.errors import InputError
from heldout.files import reading_arrays, replacing

if TYPE_CHECKING:
    from heldout.typing import Floats

_KIND, _REMEDY = "file of arrays", "make it again"


@dataclass(frozen=True, order=True)
class Place:
    """The place of an array; all attributes but its name are a measurement's (`artifact.results.measurements`)."""

    corpus: str
    model: str
    variant: str
    topics: int
    smoothing: float
    chain: str
    seed: int
    name: str

    def __str__(self) -> str:
        return "/".join(map(str, astuple(self)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the place of a name in a file; raises ValueError for another name.

        Examples:
            >>> Place.parse("monks/mmsb/memberships/3/0.0/all/0/membership").topics
            3
        """
        corpus, model, variant, topics, smoothing, chain, seed, name = text.split("/")
        return cls(corpus, model, variant, int(topics), float(smoothing), chain, int(seed), name)


def no_array(place: Place) -> "Floats":
    """Refuse to load an array: there is none.

    Raises:
        InputError: always.
    """
    raise InputError(f"there is no array {place}; run its experiment")


@dataclass(frozen=True)
class Arrays:
    """Arrays by place; a file's are read one by one, when they are asked for.

    Attributes:
        places: all of them, sorted.
        load: an array by its place.

    Examples:
        >>> import numpy as np
        >>> place = Place("monks", "mmsb", "memberships", 3, 0.0, "all", 0, "membership")
        >>> Arrays.recorded({place: np.eye(2)}).first(variant="memberships", name="membership")
        array([[1., 0.],
               [0., 1.]])
    """

    places: tuple[Place, ...] = ()
    load: "Callable[[Place], Floats]" = no_array

    @classmethod
    def recorded(cls, arrays: "Mapping[Place, Floats]") -> Self:
        """Return the arrays of a recorder's results."""
        return cls(tuple(sorted(arrays)), arrays.__getitem__)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the arrays of a file; raises InputError when it is missing, truncated, or holds others."""
        with reading_arrays(path, _KIND, _REMEDY) as file:
            return cls(tuple(sorted(map(Place.parse, file))), partial(_load, path))

    def __getitem__(self, place: Place) -> "Floats":
        return self.load(place)

    def select(self, **values: object) -> list[Place]:
        """Return the places with the given attributes."""
        return [place for place in self.places if all(getattr(place, name) == own for name, own in values.items())]

    def first(self, **values: object) -> "Floats":
        """Return the array of the lowest seed at the places with the given attributes; empty, (0,), without any."""
        import numpy as np

        places = self.select(**values)
        return self.load(min(places, key=lambda place: place.seed)) if places else np.zeros(0)


def _load(path: Path, place: Place) -> "Floats":
    with reading_arrays(path, _KIND, _REMEDY) as file:
        values: Floats = file[str(place)]
        return values


def write_arrays(path: Path, arrays: "Mapping[Place, Floats]") -> None:
    """Write arrays as one file, sorted by place."""
    import numpy as np

    with replacing(path) as temporary, temporary.open("wb") as file:
        named: dict[str, Any] = {str(place): arrays[place] for place in sorted(arrays)}
        np.savez_compressed(file, **named)


def collect_arrays(paths: Iterable[Path], destination: Path) -> None:
    """Merge files of arrays into one.

    Raises:
        InputError: when a file is missing or truncated, or two arrays have the same place.
    """
    merged: dict[Place, Floats] = {}
    for path in paths:
        arrays = Arrays.read(path)
        for place in arrays.places:
            if place in merged:
                raise InputError(f"{path}: reports {place} a second time")
            merged[place] = arrays[place]
    write_arrays(destination, merged)
