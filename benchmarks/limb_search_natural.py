"""What paths of `limb_search` look like: where hand and elbow go, how far the wrist bends, how long the way is."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.search.birrt import SearchPath
from elbowroom.search.shortcut import smooth
from elbowroom.spaces.limb import LimbSearchSpace, plan_limb

# The person faces -Y, her right is -X. The hand is behind where it is more than the first behind the shoulder, and
# before the body where it is before the shoulder and no more than the second outside of it, metres.
BEHIND, ASIDE = 0.10, 0.20


def figures(space: LimbSearchSpace, path: SearchPath) -> dict[str, float]:
    """Shares of the hand's way, metres that it goes out, mean bend of the wrist, its length over the straight line."""
    rows = space.dense(path, 0.005)
    marks = space.marks(rows)
    elbow, hand = marks[:, 0], marks[:, -2]
    shoulder = space.check.around.base[0] @ np.append(space.check.limb.offset[0], 1.0)
    step = np.linalg.norm(np.diff(hand, axis=0), axis=1)
    way = float(step.sum())

    def over(value: Array) -> float:
        return float((0.5 * (value[1:] + value[:-1]) * step).sum() / way)

    wrist = np.degrees(np.linalg.norm(space.coordinates(rows)[:, 2, :2], axis=1))
    before = (hand[:, 1] < shoulder[1]) & (hand[:, 0] > shoulder[0] - ASIDE)
    return {
        "in front": over(before.astype(float)),
        "outwards": float(min(hand[0, 0], hand[-1, 0]) - hand[:, 0].min()),
        "behind": over((hand[:, 1] > shoulder[1] + BEHIND).astype(float)),
        "elbow low": over((elbow[:, 2] < shoulder[2]).astype(float)),
        "wrist": over(wrist),
        "length": way / max(float(np.linalg.norm(hand[-1] - hand[0])), 0.05),
    }


def looks_like(space: LimbSearchSpace, pairs: list[tuple[Array, Array]]) -> dict[str, Any]:
    """Figures of first and of smoothed paths: means of shares and bends, median and p90 of lengths."""
    report: dict[str, Any] = {}
    found: dict[str, list[dict[str, float]]] = {"first": [], "smooth": []}
    for seed, (a, b) in enumerate(pairs):
        path = plan_limb(space, space.state(a), space.state(b), seed)
        if path.found:
            found["first"].append(figures(space, path))
            found["smooth"].append(figures(space, smooth(space, path, seed)))
    for name, told in found.items():
        mean = {k: float(np.mean([f[k] for f in told])) for k in told[0]}
        length = np.array([f["length"] for f in told])
        report[name] = {
            "hand before the body, share of its way": round(mean["in front"], 3),
            "hand farther out at the side than at both ends, cm": round(100 * mean["outwards"], 1),
            "hand behind the back, share": round(mean["behind"], 4),
            "elbow below the shoulder, share": round(mean["elbow low"], 3),
            "wrist bent, degrees": round(mean["wrist"], 1),
            "way over straight line, median": round(float(np.median(length)), 2),
            "way over straight line, p90": round(float(np.percentile(length, 90)), 2),
        }
    return report
