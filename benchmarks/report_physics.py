"""Whether the physics of the report is right: frames of recorded clips should pass, damaged ones should fail.

    python benchmarks/report_physics.py [--only recorded damaged] [--every N]

Prints two tables as Markdown. Each damage is a formula of known size; of a damaged clip only frames count that pass as
recorded and to which the damage does what no ground could: a foot that stands slides, a body in flight falls at
another rate than gravity. Recorded clips need the folder with real files (ELBOWROOM_DATA).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import PurePath

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.report.bearing import bearing_height, bearing_of, gaps_of
from elbowroom.report.forces import forces_of
from elbowroom.report.people import Subject
from elbowroom.report.physics import Physics, physics_of
from elbowroom.world.world import World
from repair_clips import CLIPS, DATA, read
from report_damage_cases import UP, across, levelled, moved
from report_independent import sole_points

# Clips whose forces come from things that are not in the file, or that are stored at a wrong rate.
OUTSIDE = {
    "113_15": "sits on a chair that is not in the file",
    "14_31": "sits on a stool that is not in the file",
    "62_20": "leans on a box that is not in the file",
    "81_06": "pushes a heavy box that is not in the file",
    "143_11": "stored at 120 Hz, recorded at 60",
}
# More clips than those that are repaired, under `mocap`.
MORE = (
    *(f"cmu_bvh/{name}.bvh" for name in ("113_15", "131_05", "69_16", "77_02")),
    *("cmu_asf_amc/127/127_29.amc", "cmu_asf_amc/14/14_31.amc", "cmu_asf_amc/16/16_07.amc"),
)
WALKS = (
    "cmu_bvh/02_01.bvh",
    "cmu_bvh/07_01.bvh",
    "cmu_bvh/69_24.bvh",
    "cmu_bvh/132_45.bvh",
    "cmu_asf_amc/16/16_22.amc",
)
STANDS = ("cmu_bvh/77_02.bvh", "cmu_bvh/115_01.bvh", "cmu_bvh/26_10.bvh")
FLIGHTS = (
    *("cmu_asf_amc/16/16_07.amc", "cmu_asf_amc/02/02_03.amc", "cmu_asf_amc/09/09_06.amc", "cmu_asf_amc/16/16_55.amc"),
    *("cmu_asf_amc/16/16_35.amc", "cmu_asf_amc/16/16_37.amc", "cmu_asf_amc/16/16_39.amc", "cmu_asf_amc/14/14_07.amc"),
    *("cmu_asf_amc/16/16_41.amc", "cmu_asf_amc/127/127_04.amc", "cmu_bvh/38_03.bvh"),
)
# A body flies while both soles are higher than this over the lowest level of the clip, metres, apart from its first and
# last seconds: forces below 6 Hz take as long to fall to nothing.
_FLIES_M, _ENDS_S = 0.07, 0.05

Flags = NDArray[np.bool_]


def physics(clip: Clip) -> Physics:
    """Physics of a clip on a floor at height 0."""
    who = Subject("ann", clip)
    assert who.contacts is not None
    forces = forces_of(who, (), bearing_height(who.contacts))
    return physics_of(who, forces, bearing_of(who, 0.0), gaps_of(who, World()))


def pushed(clip: Clip, faster: float) -> Clip:
    """The whole body accelerates sideways by m/s², slowest in the middle of the clip."""
    t = clip.times - clip.times.mean()
    return moved(clip, np.outer(0.5 * faster * t**2, across(clip)))


def drifting(clip: Clip, speed: float) -> Clip:
    """The whole body slides sideways at m/s."""
    return moved(clip, np.outer(clip.times, speed * across(clip)))


def hovering(clip: Clip, height: float) -> Clip:
    """The whole body is too high by metres."""
    return moved(clip, height * UP)


def leaning(clip: Clip, degrees: float) -> Clip:
    """The body is tilted to its left as a whole, over the edge of the left foot."""
    soles = sole_points(clip)
    turn = rot.to_matrix(clip.rotations[:, 0]) @ clip.character.skeleton.T_rest[0, :3, :3].T
    front = (turn @ clip.character.front) * [1.0, 1.0, 0.0]
    left = np.cross(UP, front / np.linalg.norm(front, axis=-1, keepdims=True))
    corner = np.argmax(np.einsum("tpi,ti->tp", soles, left), axis=1)
    edge = soles[np.arange(len(clip)), corner]
    tilt = rot.about(np.cross(UP, left), np.full(len(clip), np.radians(degrees)))
    root = edge + rot.rotate(tilt, clip.root - edge)
    q = np.array(clip.rotations)
    q[:, 0] = rot.multiply(tilt, q[:, 0])
    return clip.with_(root=root, rotations=q)


def played(clip: Clip, rate: float) -> Clip:
    """The clip at another rate: bodies in flight fall at its square times gravity."""
    return replace(clip, fps=clip.fps * rate)


def everywhere(clip: Clip) -> Flags:
    """All frames (T,)."""
    return np.ones(len(clip), dtype=bool)


def flying(clip: Clip) -> Flags:
    """Frames (T,) of flights, away from their ends."""
    low = sole_points(clip)[..., 2].min(axis=1)
    up = low > np.percentile(low, 2.0) + _FLIES_M
    return np.asarray(scipy.ndimage.binary_erosion(up, np.ones(max(1, round(2.0 * _ENDS_S * clip.fps)))))


Damage = tuple[str, tuple[str, ...], Callable[[Clip, float], Clip], tuple[float, ...], Callable[[Clip], Flags], str]
DAMAGES: tuple[Damage, ...] = (
    ("accelerates sideways", (*WALKS, *STANDS), pushed, (1.0, 3.0, 5.0, 8.0), everywhere, "m/s²"),
    ("drifts sideways on its feet", (*WALKS, *STANDS), drifting, (0.2, 0.4, 0.6, 1.0), everywhere, "m/s"),
    ("hovers", (*WALKS, *STANDS), hovering, (0.03, 0.06, 0.09, 0.15), everywhere, "m"),
    ("leans over the left foot", STANDS, leaning, (10.0, 20.0, 30.0, 40.0), everywhere, "°"),
    ("flight at a quarter of gravity", FLIGHTS, played, (0.5,), flying, "times the speed"),
    ("flight at two and four times gravity", FLIGHTS, played, (1.41, 2.0), flying, "times the speed"),
)


def recorded(path: str) -> Clip:
    """A recorded clip on level ground, so that only the damage is wrong with its feet."""
    return levelled(without_lead(read(path)))


def damage_rows() -> Iterator[tuple[str, ...]]:
    """Damage, size, frames that count, share of these that fail, reasons."""
    for name, paths, make, sizes, where, unit in DAMAGES:
        clean = [(clip, physics(clip)) for clip in (recorded(p) for p in paths if (DATA / "mocap" / p).exists())]
        for size in sizes:
            fails, counted, why = 0, 0, Counter[str]()
            for clip, before in clean:
                hurt = make(clip, size)
                found = physics(hurt)
                passed = np.zeros(len(clip), dtype=bool)
                passed[before.frames[before.feasible]] = True
                if hurt.fps != clip.fps:
                    passed[:] = True
                rows = (passed & where(hurt))[found.frames]
                counted += int(rows.sum())
                fails += int((rows & ~found.feasible).sum())
                why.update(_short(w) for w, row in zip(found.why, rows, strict=True) if row and w)
            reasons = "; ".join(f"{text} {n}" for text, n in why.most_common(3))
            yield name, f"{size:g} {unit}", str(counted), f"{100 * fails / max(counted, 1):.1f} %", reasons


def _short(why: str) -> str:
    """A reason without its figures."""
    kinds = {"pull": "pull from the floor", "nothing": "nothing touches", "slide": "slides", "friction": "friction"}
    return next((text for key, text in kinds.items() if key in why), "tips over" if "tip" in why else "too hard a push")


def recorded_rows(every: int) -> Iterator[tuple[str, ...]]:
    """Clip, kind, frames, share that passes, reasons of the others; then sums."""
    passed, counted = [0, 0], [0, 0]
    for path, kind in [*CLIPS.items(), *((p, "more") for p in MORE)][::every]:
        if not (DATA / "mocap" / path).exists():
            continue
        found = physics(without_lead(read(path)))
        name = PurePath(path).stem
        row = name in OUTSIDE
        passed[row] += int(found.feasible.sum())
        counted[row] += len(found.why)
        why = "; ".join(f"{text} {n}" for text, n in Counter(_short(w) for w in found.why if w).most_common(3))
        yield name, kind, str(len(found.why)), f"{100 * found.share:.1f} %", OUTSIDE.get(name, why)
    for row, what in enumerate(("all with their own forces", "all others")):
        share = f"{100 * passed[row] / max(counted[row], 1):.1f} %"
        yield what, "", str(counted[row]), share, ""


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    """Print a table as Markdown, row by row."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=("recorded", "damaged"), default=["recorded", "damaged"])
    parser.add_argument("--every", type=int, default=1, help="of recorded clips")
    told = parser.parse_args()
    if "recorded" in told.only:
        table(("clip", "kind", "frames", "feasible", "others because"), recorded_rows(told.every))
    if "damaged" in told.only:
        table(("damage", "size", "frames", "fail", "because"), damage_rows())


if __name__ == "__main__":
    main()
