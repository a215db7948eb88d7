"""Self-penetration: how deep limbs of a body are in the rest of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.report.clearance import ClearanceMeasure, plain
from elbowroom.report.parts import Measure, Moment, light_of, listed, scaled_limits
from elbowroom.report.people import Subject
from elbowroom.world.pairs import Pair, hand_of

# Depth of a limb in the rest of the body, metres: good up to, worth a look up to. Collision shapes are convex and stand
# off the skin, most of all at the hips: in 108 recordings of real people the deepest overlap is 47 mm in the median, 9
# in 10 stay under 75, and what is deeper than the second is plainly visible, such as a hand in a thigh.
DEPTH = (0.060, 0.100)
_LISTED = 3
# Roles of which one at least makes a body with limbs.
_LIMBS = ("_forearm", "_hand", "_thigh", "_shin")


@dataclass(frozen=True, eq=False, kw_only=True)
class Own(Measure):
    """Depth (N,) in metres of the deepest overlap of limbs with the rest of a body at times (N,), and the pairs.

    `size` is that of the body against an adult's, by which thresholds grow.
    """

    times: Array
    depth: Array
    pairs: tuple[Pair | None, ...]
    size: float = 1.0

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "depth_m": round(float(np.max(self.depth, initial=0.0)), 5),
            "overlapping_share": round(float(np.mean(self.depth > DEPTH[0] * self.size)), 4),
            "overlaps": [
                {"pair": list(pair), "depth_m": round(depth, 5), "at_s": round(t, 4)}
                for pair, depth, t in self.deepest()
            ],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "depth_m": listed(self.depth, 5),
            "pairs": [None if p is None else list(p) for p in self.pairs],
        }

    def deepest(self) -> list[tuple[Pair, float, float]]:
        """Deepest overlaps of different pairs, with depth and time; pieces with a common everyday name count as one."""
        best: dict[frozenset[str], tuple[Pair, float, float]] = {}
        for t, depth, pair in zip(self.times, self.depth, self.pairs, strict=True):
            if pair is not None:
                key = frozenset((plain(pair.a), plain(pair.b)))
                if key not in best or depth > best[key][1]:
                    arm = [bool(hand_of(name.partition(".")[2])) or name.endswith("arm") for name in pair]
                    best[key] = (Pair(pair.b, pair.a) if arm[1] and not arm[0] else pair, float(depth), float(t))
        return sorted(best.values(), key=lambda row: -row[1])[:_LISTED]


def own_of(subject: Subject, clearance: ClearanceMeasure) -> Own:
    """Judge the overlaps of a character with itself that were found with its clearances."""
    depth, pairs = clearance.overlaps[subject.name]
    made = Own(light="good", says="", times=clearance.times, depth=depth, pairs=pairs, size=subject.size)
    rows = made.deepest()
    if not any(role.endswith(_LIMBS) for role in subject.character.roles):
        return replace(made, light="none", says="No limbs were found in the rig.")
    if not rows:
        return replace(made, says="No limb is in the rest of the body.", headline="none")
    pair, most, _ = rows[0]
    light = light_of(most, *(limit * subject.size for limit in DEPTH))
    much = f"{plain(pair.a)} is {1000 * most:.0f} mm in {plain(pair.b)}"
    says = {
        "good": f"Limbs touch the body no deeper than those of recorded people: {much}.",
        "look": f"Limbs are deep in the body, as in some recordings: {much}.",
        "bad": f"Limbs pass through the body: {much}.",
    }[light]
    return replace(
        made,
        light=light,
        says=says,
        headline=f"{1000 * most:.0f} mm at most",
        moments=tuple(_moment(subject, *row) for row in rows),
        figures=scaled_limits(DEPTH, subject.size, "mm"),
    )


def _moment(subject: Subject, pair: Pair, depth: float, t: float) -> Moment:
    text = f"{plain(pair.a)} is {1000 * depth:.0f} mm in {plain(pair.b)}"
    return Moment(t, text, subject.name, depth / (DEPTH[0] * subject.size), pair.a, 0.9 * subject.size)
