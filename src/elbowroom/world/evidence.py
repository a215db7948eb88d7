"""Evidence for the file: everything that was allowed, excused, ignored or left out, with its bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from elbowroom.world.contacts import Caps
from elbowroom.world.exact import ExactWorld
from elbowroom.world.intervals import Interval
from elbowroom.world.left_out import LeftOut, left_out
from elbowroom.world.pairs import Pair


@dataclass(frozen=True)
class Excused:
    """Part of a hand and its held object, which do not count as a collision during the hold."""

    pair: Pair
    during: Interval


@dataclass(frozen=True, eq=False)
class Evidence:
    """Geometry and pairs that were not checked, or not in full.

    `ignored` are neighbours in one body that never count; `excused` are hands and what they hold; `caps` are the
    deepest overlaps that could have been allowed, `floor` the height of the ground, metres. `scene` says whether there
    is anything to meet but the floor and oneself; `left_out` is what was dropped from meshes, and what has no inside.
    """

    ignored: tuple[Pair, ...] = ()
    excused: tuple[Excused, ...] = ()
    caps: Caps = field(default_factory=Caps)
    floor: float | None = None
    scene: bool = True
    left_out: LeftOut = field(default_factory=lambda: LeftOut((), (), ()))

    def facts(self) -> Mapping[str, Any]:
        """Plain data for JSON and files."""
        return {
            "floor_m": self.floor,
            "caps_m": self.caps.facts(),
            "ignored": [list(p) for p in self.ignored],
            "excused": [{"pair": list(e.pair), "during": _ends(e.during)} for e in self.excused],
            **self.left_out.facts(),
        }


def evidence_of(exact: ExactWorld) -> Evidence:
    """Exclusions of a proof in a world."""
    world = exact.world
    excused = [Excused(exact.pairs[k], during) for k, spans in sorted(exact.off.items()) for during in spans]
    return Evidence(
        exact.ignored,
        tuple(dict.fromkeys(excused)),
        world.caps,
        world.floor,
        bool(world.triangles) or len(world.characters) > 1,
        left_out(world),
    )


def _ends(during: Interval) -> list[float | None]:
    """An interval for JSON, which has no infinity."""
    return [t if math.isfinite(t) else None for t in during]
