"""Motion styles: posture intervals, closeness to the clip, elbow elevation (S3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from elbowroom.character.body import Body
from elbowroom.character.limits import JointLimit
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array

# Coordinates of a joint by name, and those that are mirrored between the sides of the body.
_SWINGS = {"swing_x": 0, "swing_y": 1, "twist": 2}
_HINGES = {"flexion": 0, "off_axis": 1, "twist": 2}
_MIRRORED = ("swing_y", "off_axis", "twist")

_SIDES = ("left", "right")

# Intervals, radians, by part and coordinate.
Intervals = Mapping[str, Mapping[str, tuple[float, float]]]


@dataclass(frozen=True, eq=False)
class Style:
    """Motion style for any rig: parts are named by their roles.

    intervals: sampling intervals of a part's coordinates, radians, e.g. {'upper_arm': {'swing_x': (0.9, 1.7)}}. Balls
    and wrists have `swing_x`, `swing_y` and `twist`, elbows and knees `flexion` and `twist` (`character.limits`). A
    part with its side, 'left_upper_arm', stands alone; without one it is both sides, with coordinates of the left,
    mirrored for the right. flexion: elbows and knees are sampled from this share of their range at first; wrist: hands
    and feet within this share of theirs; all of it later. close: repairs offset the recorded motion before anything
    else is searched, and search results are pulled back to it. orbit: initial elbow angle of a reach about the line
    from shoulder to hand, radians, 0 being straight below; None is chosen for ease.
    """

    intervals: Intervals = field(default_factory=dict)
    flexion: float = 0.9
    wrist: float = 0.3
    close: bool = True
    orbit: float | None = None

    def __post_init__(self) -> None:
        if not (0.0 <= self.flexion <= 1.0 and 0.0 < self.wrist <= 1.0):
            raise BadValue("flexion and wrist of a style are shares between 0 and 1, that of the wrist above 0.")
        if self.orbit is not None and not math.isfinite(self.orbit):
            raise BadValue(f"the orbit of a style must be a finite angle in radians, not {self.orbit}.")
        kept = {}
        for part, coordinates in self.intervals.items():
            if part not in PARTS:
                raise UnknownName("part of a body in a style", part, PARTS)
            for coordinate, (low, high) in coordinates.items():
                if coordinate not in {*_SWINGS, *_HINGES}:
                    raise UnknownName(
                        f"joint coordinate of {part} in a style", coordinate, dict.fromkeys((*_SWINGS, *_HINGES))
                    )
                if not -math.inf < low <= high < math.inf:
                    raise BadValue(
                        f"the interval of {part}'s {coordinate} goes from a lower to a higher angle in radians."
                    )
            kept[part] = MappingProxyType(dict(coordinates))
        object.__setattr__(self, "intervals", MappingProxyType(kept))

    def within(self, body: Body, joints: Sequence[int], limits: Sequence[JointLimit]) -> Array | None:
        """Intervals (n, 3, 2) of this style for joints, infinite where it has none; None for none at all.

        limits: those of the joints; an interval outside them raises.
        """
        any_set = False
        out = np.tile([-np.inf, np.inf], (len(joints), 3, 1))
        places = {j: k for k, j in enumerate(joints)}
        for role, coordinate, low, high in self._each():
            k = places.get(body.roles.get(role, -1))
            if k is None:
                continue
            known = _HINGES if limits[k].kind == "hinge" else _SWINGS
            if coordinate not in known:
                raise UnknownName(f"joint coordinate of {role}", coordinate, known)
            least, most = span_of(limits[k])[known[coordinate]]
            if low > most or high < least:
                raise BadValue(
                    f"the {coordinate} of {role} is within {least:.2f} to {most:.2f} rad, not {low:g} to {high:g}."
                )
            out[k, known[coordinate]] = np.clip((low, high), least, most)
            any_set = True
        return out if any_set else None

    def _each(self) -> Iterator[tuple[str, str, float, float]]:
        """Entries (role, coordinate, low, high), for both sides if none is given."""
        for part, coordinates in self.intervals.items():
            roles = [part] if part not in _PAIRED else [f"{side}_{part}" for side in _SIDES]
            for role in roles:
                flipped = role != part and role.startswith("right_")
                for coordinate, (low, high) in coordinates.items():
                    yield (
                        (role, coordinate, -high, -low)
                        if flipped and coordinate in _MIRRORED
                        else (role, coordinate, low, high)
                    )


_PAIRED = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot")
# Parts that a style may name: those of limbs, paired ones with or without a side.
PARTS = (*_PAIRED, "spine1", "spine2", "chest", "neck", "head", *(f"{side}_{p}" for p in _PAIRED for side in _SIDES))


def span_of(limit: JointLimit) -> Array:
    """Bounds (3, 2) of a joint's coordinates, radians."""
    _, low, high, polygon = limit.bounds
    low, high = low.copy(), high.copy()
    if len(polygon):
        low[:2], high[:2] = polygon.min(axis=0), polygon.max(axis=0)
    return np.stack([low, high], axis=1)


def _degrees(**coordinates: tuple[float, float]) -> dict[str, tuple[float, float]]:
    return {coordinate: (math.radians(low), math.radians(high)) for coordinate, (low, high) in coordinates.items()}


# As close to the recorded motion as possible.
CLOSE = Style()
# Bent elbows and easy wrists first.
NATURAL = Style(close=False)

STYLES: Mapping[str, Style] = MappingProxyType(
    {
        "close": CLOSE,
        "natural": NATURAL,
        # Shapiro, Kallmann and Faloutsos 2007, figure 2: the shoulder's swing sampled between 50 and 100 degrees
        "low-arms": Style({"upper_arm": _degrees(swing_x=(50, 100))}, orbit=math.radians(0.0)),
        "high-arms": Style({"upper_arm": _degrees(swing_x=(-50, 15))}, orbit=math.radians(100.0)),
        "bent-arms": Style({"forearm": _degrees(flexion=(70, 140))}),
    }
)

# A style, or its name.
StyleLike = Style | str | None


def style_of(choice: StyleLike, usual: Style) -> Style:
    """A style by its name, or as it is; the usual one for None."""
    if isinstance(choice, Style):
        return choice
    if choice is None:
        return usual
    if choice not in STYLES:
        raise UnknownName("style", choice, STYLES)
    return STYLES[choice]
