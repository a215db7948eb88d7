"""Posture databases with one take left out: how far predicted markers are from where the person had them.

Hands and feet of each frame of a take of ACCAD are the constraints, its other markers are predicted from all other
takes; errors are of the 27 markers that are neither at hands nor at feet, in centimetres on the person's own body, the
mean over takes. `standing` is the most upright pose of the database, whatever the constraints; `8 nearest` and
`gaussian process` are rivals that the package does not have. `strategy known` and `contact known` are local regression
in the poses that have the frame's own label. Distances to the nearest constraints are compared with errors for the
measure of whether the data fits (Y10).

    python benchmarks/posture_database.py [--data folder] [--threshold metres] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from elbowroom.errors import BadValue
from elbowroom.files.clip_library import marker_take
from elbowroom.geometry.rotations import Array
from elbowroom.motion import marker_poses as mp
from elbowroom.motion import posture_db as pdb
from elbowroom.motion.marker_poses import MarkerTake
from elbowroom.motion.posture_constraints import BOTH, SUMS
from elbowroom.motion.posture_db import PostureDatabase, build

DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
TESTED = ("lift_box", "pick_up_box", "crouch", "put_down")
TRAINED = (*TESTED, "stand", "sway", "walk_with")
FREE = np.flatnonzero(np.isin(np.arange(41), [i for s in "LR" for i in (*mp.HANDS[s], *mp.FEET[s])], invert=True))
FREE = FREE[~np.isin(FREE, mp.rows("LANK", "RANK"))]
LOW = (mp.STRATEGIES.index("squat"), mp.STRATEGIES.index("stoop"))
# Upper ends of the distances by which errors are grouped, metres.
BINS = (0.02, 0.04, 0.06, 0.08, 0.12, 1.0)
# Distances below which poses are left out for answers far from all recordings, metres.
LEFT_OUT = (0.1, 0.2, 0.3, 0.4)


def own_size(db: PostureDatabase, lengths: mp.BodyLengths) -> PostureDatabase:
    """The database on a body of other lengths."""
    return replace(db, poses=mp.resized(db.poses, db.lengths, lengths), lengths=lengths)


def standing(db: PostureDatabase, rows: Array) -> Array:
    highest = db.poses[np.argmax(db.poses[:, mp.rows("C7")[0], 2])]
    return np.repeat(highest[None], len(rows), axis=0)


def linear(db: PostureDatabase, rows: Array) -> Array:
    given = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    return (given @ db._linear(BOTH).T).reshape(-1, 41, 3)


def nearest(db: PostureDatabase, rows: Array) -> Array:
    return db.poses[db._tree(BOTH).query(rows)[1]]


def k_nearest(db: PostureDatabase, rows: Array) -> Array:
    distance, index = db._tree(BOTH).query(rows, k=8)
    weight = 1.0 / (distance**2 + 1e-4)
    return np.einsum("qk,qkmi->qmi", weight / weight.sum(axis=1, keepdims=True), db.poses[index])


def local(db: PostureDatabase, rows: Array) -> Array:
    return db.regressed(rows)


def gaussian_process(db: PostureDatabase, rows: Array) -> Array:
    given, flat = db.rows(), db.poses.reshape(len(db), -1)
    x0, y0 = given.mean(axis=0), flat.mean(axis=0)
    x = given - x0
    slope = np.linalg.solve(x.T @ x + 0.1 * np.eye(x.shape[1]), x.T @ (flat - y0))

    def kernel(a: Array, b: Array) -> Array:
        return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(axis=-1) / 0.35**2)

    rest = np.linalg.solve(kernel(given, given) + 0.02 * np.eye(len(given)), flat - y0 - x @ slope)
    return (y0 + (rows - x0) @ slope + kernel(rows, given) @ rest).reshape(-1, 41, 3)


METHODS: dict[str, Callable[[PostureDatabase, Array], Array]] = {
    "standing": standing,
    "eq. 4": linear,
    "nearest": nearest,
    "8 nearest": k_nearest,
    "local regression": local,
    "gaussian process": gaussian_process,
}


def frames_of(take: MarkerTake) -> tuple[Array, Array, Array]:
    """Poses (N, 41, 3) of a take with standing feet, 30 a second, in the feet's frame; strategies and contacts."""
    points = mp.filled(take.points, take.fps)
    good = mp.feet_in_place(points, take.fps) & np.isfinite(points).all(axis=(1, 2))
    k = np.flatnonzero(good)[:: round(take.fps / 30.0)]
    held = mp.holding(replace(take, points=points))
    return mp.in_feet_frame(points[k]), mp.strategies(points)[k], held[k]


def split(db: PostureDatabase, rows: Array, labels: Array, part: Callable[[int], PostureDatabase]) -> Array:
    """Answers by local regression in the part of a database that fits the label of each frame (N,)."""
    out = np.zeros((len(rows), 41, 3))
    for label in np.unique(labels):
        try:
            there = part(int(label))
        except BadValue:
            there = db
        out[labels == label] = there.regressed(rows[labels == label])
    return out


def errors(db: PostureDatabase, take: MarkerTake) -> tuple[dict[str, Array], Array, dict[str, float]]:
    """Errors (N,) in metres by method, distances (N,) to the nearest constraints, and seconds per question."""
    poses, strategy, held = frames_of(take)
    here = own_size(db, mp.recorded_lengths(take.points))
    rows = np.einsum("pm,nmi->npi", SUMS, poses).reshape(len(poses), -1)
    found, seconds = {}, {}
    for name, method in METHODS.items():
        method(here, rows[:1])
        start = time.process_time()
        answer = method(here, rows)
        seconds[name] = (time.process_time() - start) / len(rows)
        found[name] = np.linalg.norm(answer - poses, axis=-1)[:, FREE].mean(axis=1)
    for name, labels, part in (
        ("strategy known", strategy, lambda k: here.of_strategy(mp.STRATEGIES[k]) if k in LOW else here),
        ("contact known", held, lambda k: here.of_contact(*(BOTH if k else ()))),
    ):
        answer = split(here, rows, labels, part)
        found[name], seconds[name] = np.linalg.norm(answer - poses, axis=-1)[:, FREE].mean(axis=1), np.nan
    return found, here._tree(BOTH).query(rows)[0] / np.sqrt(6.0), seconds


def summary(results: list[tuple[dict[str, Array], Array, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Mean, 95th percentile and largest error in centimetres, and microseconds, by method: means over takes."""
    return {
        name: {
            "mean": 100 * float(np.mean([r[0][name].mean() for r in results])),
            "p95": 100 * float(np.mean([np.percentile(r[0][name], 95) for r in results])),
            "largest": 100 * float(max(r[0][name].max() for r in results)),
            "microseconds": 1e6 * float(np.mean([r[2][name] for r in results])),
        }
        for name in results[0][0]
    }


def fit(results: list[tuple[dict[str, Array], Array, dict[str, float]]]) -> dict[str, object]:
    """How the distance to the nearest constraints tells the error of local regression."""
    distance = np.concatenate([r[1] for r in results])
    error = np.concatenate([r[0]["local regression"] for r in results])
    groups, low = [], 0.0
    for high in BINS:
        inside = (distance >= low) & (distance < high)
        if inside.any():
            groups.append(
                {"from": low, "to": high, "middle": float(np.median(distance[inside])), "frames": int(inside.sum()),
                 "mean": 100 * float(error[inside].mean()), "p95": 100 * float(np.percentile(error[inside], 95))}
            )  # fmt: skip
        low = high
    return {"spearman": float(spearmanr(distance, error)[0]), "groups": groups}


def beyond(takes: list[MarkerTake], tested: list[MarkerTake]) -> None:
    """Print errors where all poses with constraints nearer than some distance are left out, too."""
    found: dict[float, list[float]] = {least: [] for least in LEFT_OUT}
    for take in tested:
        poses = frames_of(take)[0][::12]
        db = own_size(build([t for t in takes if t is not take]), mp.recorded_lengths(take.points))
        for pose in poses:
            row = (SUMS @ pose).reshape(1, -1)
            distance = np.linalg.norm(db.rows() - row, axis=1) / np.sqrt(6.0)
            for least, errors in found.items():
                if (distance > least).sum() >= 60:
                    answer = db.where(distance > least).regressed(row)[0]
                    errors.append(float(np.linalg.norm(answer - pose, axis=-1)[FREE].mean()))
    print("poses with nearer constraints left out, too: error of local regression")
    for least, errors in found.items():
        print(f"  {least:.2f} m ({len(errors)} frames): mean {100 * np.mean(errors):.1f} cm,"
              f" p95 {100 * np.percentile(errors, 95):.1f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--threshold", type=float, default=pdb.THRESHOLD_M)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    files = sorted((given.data / "mocap" / "accad_c3d").glob("*.c3d"))
    takes = [marker_take(f) for f in files if "_run" not in f.stem and any(k in f.stem for k in TRAINED)]
    takes = [t for t in takes if len(frames_of(t)[0]) > 10]
    tested = [t for t in takes if any(k in t.name for k in TESTED)]
    sizes, left_out, across = [], [], []
    for take in tested:
        db = build([t for t in takes if t is not take], threshold_m=given.threshold)
        sizes.append(len(db))
        left_out.append(errors(db, take))
    for person in ("Female1", "Male1"):
        db = build([t for t in takes if not t.name.startswith(person)], threshold_m=given.threshold)
        across += [errors(db, t) for t in tested if t.name.startswith(person)]
    out = {
        "takes": len(tested),
        "poses": [min(sizes), max(sizes)],
        "left out": summary(left_out),
        "across persons": summary(across),
        "fit": fit(left_out + across),
    }
    if given.json:
        print(json.dumps(out, indent=1))
        return
    print(f"{len(tested)} takes, databases of {min(sizes)} to {max(sizes)} poses")
    for title in ("left out", "across persons"):
        print(f"{title}: marker error, cm\n{'':18} mean   p95  largest  µs")
        for name, row in summary(left_out if title == "left out" else across).items():
            print(f"{name:18}{row['mean']:5.1f} {row['p95']:5.1f} {row['largest']:7.1f} {row['microseconds']:5.0f}")
    told = fit(left_out + across)
    print(f"distance against error: Spearman {told['spearman']:.2f}")
    for row in told["groups"]:  # type: ignore[attr-defined]
        print(f"  {row['from']:.2f} to {row['to']:.2f} m ({row['frames']} frames, {row['middle']:.3f}):"
              f" mean {row['mean']:.1f} cm, p95 {row['p95']:.1f}")  # fmt: skip
    beyond(takes, tested)


if __name__ == "__main__":
    main()
