"""Postures along the box path of a recorded take that the database lacks: how far markers are from the person's own.

    python benchmarks/object_moves_natural.py [--data folder]

Takes of ACCAD in which both hands hold a box over standing feet: a body is fitted to the take's markers, and its hands
and feet lead the whole-body solver as `move` does, frame by frame from a standing posture, guided by all other takes
(local regression, eq. 4 of the paper) or by none. Collisions are not looked at. Errors are of the 27 markers that are
neither at hands nor at feet, against those of the fitted body in the take, centimetres; means over takes and frames.
Then two lifts of CMU, one with the knees (115_06) and one with the back (115_01), from where hands are lowest, led by
recordings without stoops and without squats.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import elbowroom as er
from elbowroom.character.markers import marker_positions
from elbowroom.character.skeleton import Pose
from elbowroom.files.c3d import read_c3d
from elbowroom.files.clip_library import marker_take
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import runs
from elbowroom.motion.edit import place
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.posture_db import Method, PostureDatabase, build
from elbowroom.motion.recorded import recorded_postures
from elbowroom.plan.verbs.holding import PULLS
from elbowroom.posing.marker_solve import solve_markers
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body import ENDS, WholeBody, support_of
from posture_database import DATA, FREE, TRAINED

# Frames a second that are followed: about one step of 3 cm of the planner each.
FPS = 30.0
WAYS: dict[str, Method | None] = {"no database": None, "eq. 4": "linear", "local regression": "local"}


def held(clip: Clip) -> slice:
    """The longest run of frames in which both hands hold something over standing feet."""
    points = marker_positions(clip.character, clip.world())
    take = mp.MarkerTake("", points, clip.fps)
    good = (mp.holding(take) == (mp.LEFT | mp.RIGHT)) & mp.feet_in_place(points, clip.fps)
    first, last = max(runs(good), key=lambda run: run[1] - run[0], default=(0, -1))
    return slice(first, last + 1)


def followed(clip: Clip, frames: slice, database: PostureDatabase | None, method: Method) -> tuple[float, int]:
    """Mean error of markers in metres along a clip's own hands and feet, and frames that found no posture."""
    body, world = clip.character, clip.world()[frames]
    solver = WholeBody(unfolding(body))
    stand = er.idle(body, seconds=0.2, fps=FPS)
    feet = [body.role("left_foot"), body.role("right_foot")]
    left, right = (world[0, j, :3, 3] for j in feet)
    across = left - right
    turn = np.arctan2(across[1], across[0])  # a body at rest faces -y, its left is +x
    stand = place(stand, 0.5 * (left + right)[:2], turn)
    pose = Pose.of(stand.root[0], stand.rotations[0])
    errors, missed = [], 0
    for T in world:
        targets = {end: T[body.role(end)] for end in ENDS}
        places = weights = None
        if database is not None:
            found = database.posture(constraints_of(body, targets), method)
            places, weights = found.markers, PULLS[0] * found.weights
        support = support_of(body, Pose.of(clip.root[frames][0], clip.rotations[frames][0]), 0.0)
        solved = solver.solve(pose, targets, places, weights, support=support if len(support) > 2 else None)
        if not solved.found:
            missed += 1
            continue
        pose = solved.pose
        own, ours = marker_positions(body, T), marker_positions(body, body.skeleton.at(pose))
        errors.append(float(np.linalg.norm(ours - own, axis=-1)[FREE].mean()))
    return (float(np.mean(errors)) if errors else np.nan), missed


def left_out(folder: Path) -> None:
    """Print errors along each take's path with that take left out."""
    files = sorted((folder / "accad_c3d").glob("*.c3d"))
    files = [f for f in files if "_run" not in f.stem and any(k in f.stem for k in TRAINED)]
    takes = {f: marker_take(f) for f in files}
    rows: list[dict[str, float]] = []
    counts: list[int] = []
    print(f"{'take':34} frames  " + "  ".join(WAYS))
    for file in files:
        if "box" not in file.stem:
            continue
        markers = read_c3d(file)
        every = round(markers.fps / FPS)
        clip = solve_markers(markers.labels, markers.points[::every], markers.fps / every, name=file.stem).clip
        frames = held(clip)
        if frames.stop - frames.start < FPS / 2:
            continue
        database = build([take for other, take in takes.items() if other is not file]).for_character(clip.character)
        row = {}
        for name, method in WAYS.items():
            row[name], missed = followed(clip, frames, database if method else None, method or "local")
            if missed:
                print(f"    {name}: {missed} frames without a posture")
        rows.append(row)
        counts.append(frames.stop - frames.start)
        shown = "  ".join(f"{100 * row[name]:{len(name)}.1f}" for name in WAYS)
        print(f"{file.stem:34} {frames.stop - frames.start:6}  {shown}", flush=True)
    for what, weights in ((f"{len(rows)} takes", np.ones(len(rows))), (f"{sum(counts)} frames", np.array(counts))):
        mean = {name: 100 * float(np.average([row[name] for row in rows], weights=weights)) for name in WAYS}
        print(f"mean of {what}, cm: " + ", ".join(f"{name} {value:.2f}" for name, value in mean.items()))


def squat_and_stoop(folder: Path) -> None:
    """Print errors of lifts with the knees and with the back, led by squats and by stoops."""
    for name in ("115_06", "115_01"):
        clip = er.retarget(er.read_bvh(folder / "cmu_bvh" / f"{name}.bvh"), er.preset("man"))
        every = max(round(clip.fps / FPS), 1)
        clip = replace(clip, root=clip.root[::every], rotations=clip.rotations[::every], fps=clip.fps / every)
        body, frames = clip.character, held(clip)
        hands = clip.world()[:, [body.role("left_hand"), body.role("right_hand")], 2, 3].mean(axis=1)
        frames = slice(min(int(np.argmin(hands)), frames.start), frames.stop)
        row = {}
        for kind in ("squat", "stoop"):
            database = recorded_postures().of_strategy(kind).for_character(clip.character)  # type: ignore[arg-type]
            row[kind] = followed(clip, frames, database, "local")
        shown = ", ".join(f"{kind} {100 * error:.1f} cm ({missed} missed)" for kind, (error, missed) in row.items())
        print(f"{name}, {frames.stop - frames.start} frames: {shown}", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    folder: Path = parser.parse_args().data / "mocap"
    left_out(folder)
    squat_and_stoop(folder)


if __name__ == "__main__":
    main()
