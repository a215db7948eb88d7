"""What may touch what: feet on the floor, a hand on what it holds, a person on a seat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from elbowroom.errors import BadValue

Kind = Literal["support", "grip", "touch", "seat"]


@dataclass(frozen=True)
class Contact:
    """A pair that may touch during an interval of seconds, to a depth in metres.

    Names are those of collision pairs: 'ann.left_foot', 'ann' for any part of her, a thing, a static mesh, 'floor'.
    """

    who: str
    on: str
    during: tuple[float, float]
    kind: Kind = "touch"
    depth: float = 0.01
    why: str = "told"

    def __post_init__(self) -> None:
        if not self.during[0] <= self.during[1]:
            raise BadValue(f"a contact of {self.who} and {self.on} ends before it begins.")
        if not self.depth >= 0.0:
            raise BadValue(f"the depth of a contact of {self.who} and {self.on} is zero or more, not {self.depth}.")

    def covers(self, a: str, b: str) -> bool:
        """Whether it speaks of this pair, in either order."""
        return any(fits(self.who, x) and fits(self.on, y) for x, y in ((a, b), (b, a)))


def fits(pattern: str, name: str) -> bool:
    """Whether a name in a contact means a part: 'ann' means 'ann.left_foot', too."""
    return name == pattern or name.startswith(pattern + ".")
