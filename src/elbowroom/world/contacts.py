"""Allowed contacts: feet on the floor, a hand on the object that it holds, a person on a seat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal

from elbowroom.errors import BadValue, UnknownName

ContactKind = Literal["support", "grip", "touch", "seat", "tissue"]
# Reason of a contact that the user declared.
DECLARED = "declared"


@dataclass(frozen=True)
class Caps:
    """Caps on the depth, metres, of allowed overlaps; deeper ones are collisions.

    `feet` of a recorded clip in the floor; other parts of a `body` in the floor; a recorded clip's `own` parts in each
    other; feet and own parts of a `generated` motion; its belly and chest in its thighs, soft `tissue`; any other
    `contact`, such as a hand on the object that it grasps.
    """

    feet: float = 0.05
    body: float = 0.01
    own: float = 0.1
    generated: float = 0.01
    tissue: float = 0.03
    contact: float = 0.005

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 <= value <= 1.0:
                raise BadValue(f"the allowance '{field.name}' must be from 0 to 1 m, not {value}.")

    def with_changes(self, changes: Mapping[str, float]) -> Caps:
        """Copy with some caps changed, by name, metres."""
        names = [field.name for field in fields(self)]
        for name in changes:
            if name not in names:
                raise UnknownName("allowance", name, names)
        return replace(self, **changes)

    def facts(self) -> dict[str, float]:
        """Plain data for JSON and files."""
        return asdict(self)


@dataclass(frozen=True)
class Contact:
    """A pair that may touch during an interval of seconds, to a depth in metres.

    Names are those of collision pairs: 'ann.left_foot', 'ann' for any part of her, an object, a static mesh, 'floor'.
    `shift` of `who`, in metres along the axes of the world, proves a contact of two meshes if it is already
    known: see `certificate_shifts`.
    """

    who: str
    on: str
    during: tuple[float, float]
    kind: ContactKind = "touch"
    depth: float = 0.005
    why: str = DECLARED
    shift: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if not self.during[0] <= self.during[1]:
            raise BadValue(f"a contact of {self.who} and {self.on} ends before it begins.")
        if not self.depth >= 0.0:
            raise BadValue(f"the depth of a contact of {self.who} and {self.on} must be 0 or more, not {self.depth}.")

    def covers(self, a: str, b: str) -> bool:
        """Return whether it speaks of this pair, in either order."""
        return any(fits(self.who, x) and fits(self.on, y) for x, y in ((a, b), (b, a)))


def fits(pattern: str, name: str) -> bool:
    """Return whether a name in a contact means a part: 'ann' means 'ann.left_foot', too."""
    return name == pattern or name.startswith(pattern + ".")
