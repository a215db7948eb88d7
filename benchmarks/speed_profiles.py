"""Speeds of recorded two-handed carries with one take left out: duration and place of the peak, predicted and recorded.

Each carry's path is timed by the carries of all other takes: as in the paper (profile of the most similar path, its
mean speed by eq. 11), as in the package (the three most similar ones, mean speed growing with the cubic root of the
length), and by the bell alone. Errors are of the duration and of the time of the highest speed against the duration.
Then how many peaks could be predicted at all: by one place for all of them, and by the mean of the 1 to 5 nearest
carries of other takes in any one to three of length, rise, level way, heights and bend. The best of these is chosen
with the answers in hand; how well the best does where the peaks are shuffled says what that is worth. Last, carries
that contradict each other: peaks so far apart that one answer misses one of them, along paths that are hardly apart.

    python benchmarks/speed_profiles.py [--data folder]
"""

from __future__ import annotations

import argparse
import os
from itertools import combinations
from pathlib import Path

import numpy as np

from elbowroom.files.clip_library import marker_take
from elbowroom.geometry.rotations import Array
from elbowroom.motion import speed_profiles as sp
from elbowroom.motion.speed_profiles import SpeedProfile

DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
ACCAD = ("lift_box", "pick_up", "put_down")
# Share of the time within which a peak counts as predicted.
WITHIN = 0.1
CMU = ("115_01", "115_06", "26_10", "79_25")


def carried(files: list[Path]) -> list[tuple[str, SpeedProfile, Array, float]]:
    """Take, profile, path (T, 3) and frame rate of every carry."""
    out = []
    for file in files:
        take = marker_take(file)
        out += [(take.name, profile, path, take.fps) for profile, path in sp.carries_of(take)]
    return out


def peak(times: Array, along: Array) -> float:
    """Time of the highest speed as a share of the duration."""
    even = np.linspace(0.0, times[-1], 101)
    return float((np.argmax(np.diff(np.interp(even, times, along))) + 0.5) / 100.0)


def features(path: Array, length: float) -> list[float]:
    """Length, rise, level way, height at the start and the end, and length over the straight way, of a path (T, 3)."""
    way = path[-1] - path[0]
    level, straight = np.linalg.norm(way[:2]), np.linalg.norm(way)
    return [length, way[2], float(level), path[0, 2], path[-1, 2], length / float(straight)]


def best_within(given: Array, peaks: Array, takes: Array) -> int:
    """Peaks within 0.1 by the best choice of features (N, 6) and number of neighbours, each carry's take left out."""
    scaled = given / given.std(axis=0)
    best = 0
    for count in (1, 2, 3):
        for columns in combinations(range(given.shape[1]), count):
            apart = np.linalg.norm(scaled[:, None, columns] - scaled[None][..., columns], axis=2)
            apart[takes[:, None] == takes] = np.inf
            nearest = peaks[np.argsort(apart, axis=1, kind="stable")[:, :5]]
            means = np.cumsum(nearest, axis=1) / np.arange(1, 6)
            best = max(best, int((np.abs(means - peaks[:, None]) <= WITHIN).sum(axis=0).max()))
    return best


def levelled(path: Array) -> Array:
    """Path (T, 3) as 65 points from its start, its far end ahead on the level, bending to the left."""
    p = path - path[0]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])
    p = np.stack([np.interp(np.linspace(0.0, along[-1], 65), along, column) for column in p.T], axis=1)
    x, y = p[-1, :2] / np.linalg.norm(p[-1, :2])
    p[:, :2] = p[:, :2] @ np.array([[x, -y], [y, x]])
    return p * [1.0, np.sign(p[:, 1].sum()) or 1.0, 1.0]


def contradictions(rows: list[tuple[str, SpeedProfile, Array, float]], peaks: Array) -> None:
    """Print pairs of carries whose peaks no one place is within 0.1 of, those with the nearest paths first."""
    paths = [levelled(path) for _, _, path, _ in rows]
    pairs = [(i, j) for i, j in combinations(range(len(rows)), 2) if abs(peaks[i] - peaks[j]) > 2 * WITHIN]
    apart = {pair: float(np.linalg.norm(paths[pair[0]] - paths[pair[1]], axis=1).mean()) for pair in pairs}
    for i, j in sorted(apart, key=lambda pair: apart[pair])[:4]:
        first, second = (f"{rows[k][1].name} (peak {peaks[k]:.2f})" for k in (i, j))
        print(f"{100 * apart[i, j]:.1f} cm between the paths of {first} and {second}")


def bound(given: Array, peaks: Array, takes: Array) -> None:
    """Print how many of the peaks could be predicted."""
    anywhere = max(int((np.abs(peaks - at) <= WITHIN).sum()) for at in np.linspace(0.0, 1.0, 201))
    mean = sum(abs(peaks[takes != take].mean() - top) <= WITHIN for take, top in zip(takes, peaks, strict=True))
    rng = np.random.default_rng(0)
    shuffled = [best_within(given, rng.permutation(peaks), takes) for _ in range(100)]
    found = best_within(given, peaks, takes)
    print(f"peaks within {WITHIN}: {mean} of {len(peaks)} by the mean of the other takes, {anywhere} by one place")
    usual, more = np.median(shuffled), sum(k >= found for k in shuffled)
    print(f"{found} by the best of 205 predictors; by the best of them of shuffled peaks {usual:.0f} (median), ")
    print(f"{found} or more in {more} of 100")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    mocap = parser.parse_args().data / "mocap"
    files = [f for f in sorted((mocap / "accad_c3d").glob("*.c3d")) if any(k in f.stem for k in ACCAD)]
    rows = carried(files + [mocap / "cmu_bvh" / f"{name}.bvh" for name in CMU])
    errors: dict[str, list[tuple[float, float]]] = {"eq. 11": [], "package": [], "bell": []}
    seen: list[tuple[list[float], float]] = []
    print(f"{'carry':38}  m     s   eq. 11  package  bell   peak at  package")
    for take, own, path, fps in rows:
        others = [p for t, p, _, _ in rows if t != take]
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
        top = peak(np.arange(len(path)) / fps, along)
        seen.append((features(path, own.length_m), top))
        timed, bell = sp.path_times(path, others), sp.path_times(path)
        like = min(others, key=lambda p: float(np.linalg.norm(sp.path_shape(path) - p.shape)))
        literal = like.duration_s * own.length_m / like.length_m
        found = {
            "eq. 11": (literal, sp.path_times(path, [like])),
            "package": (timed.duration, timed),
            "bell": (bell.duration, bell),
        }
        for name, (seconds, timing) in found.items():
            errors[name].append((seconds / own.duration_s - 1.0, peak(timing.times, along) - top))
        print(
            f"{own.name:38}{own.length_m:5.2f} {own.duration_s:5.2f}  {literal:5.2f}   {timed.duration:5.2f}"
            f"   {bell.duration:5.2f}    {top:4.2f}    {peak(timed.times, along):4.2f}   as {timed.source}"
        )
    for name, pairs in errors.items():
        e = np.abs(np.array(pairs))
        print(
            f"{name:8} duration off by {100 * np.median(e[:, 0]):.0f} % (median), within 25 %: "
            f"{(e[:, 0] <= 0.25).sum()} of {len(e)}; peak off by {np.median(e[:, 1]):.2f}, within 0.1: "
            f"{(e[:, 1] <= 0.1).sum()} of {len(e)}"
        )
    peaks = np.array([top for _, top in seen])
    bound(np.array([row for row, _ in seen]), peaks, np.array([row[0] for row in rows]))
    contradictions(rows, peaks)


if __name__ == "__main__":
    main()
