"""Whole-body inverse kinematics at boxes: how many are held, and how far joints turn along lines of boxes.

A character stands at ease and takes a box with both hands, feet in place, the weight over the feet. Places of the box
are scaled by stature, z from 0.12 to 1.8 m on a woman of 1.63 m. Cold: each place from the same stance. Lines: places
2 cm apart, each from the posture before it. Hands and feet are measured by forward kinematics. Times are of one core.

    python benchmarks/whole_body_ik.py [--characters woman,child] [--data folder] [--load 5] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import preset
from elbowroom.character.limits import pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.standing import idle
from elbowroom.posing.whole_body import Load, WholeBody, WholeBodySolution, support_of

CHARACTERS = ("woman", "man", "child", "clown", "gorilla", "rocketbox")
HANDS = ("left_hand", "right_hand")
STATURE_M = 1.63
WIDTH_M = 0.36
HEIGHTS_M = (0.12, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.65, 1.8)
AHEAD_M = (0.30, 0.42, 0.54)
STEP_M = 0.02


def character(name: str, data: Path) -> Character:
    """A built-in person, or a rig from the folder of real files."""
    if name == "rocketbox":
        return next(iter(read_glb(data / "characters/rocketbox_male_adult_01.glb").characters.values()))
    return preset(name, skin=False)


def grips(c: Character, T: Array, ahead: float, height: float, aside: float = 0.0) -> dict[str, Array]:
    """Targets of both hands at a box in front of the feet: palms to its sides, fingers to the front and as it lies.

    T (J, 4, 4): where the character stands.
    """
    front, up = np.asarray(c.front, dtype=float), np.array([0.0, 0.0, 1.0])
    left = np.cross(up, front)
    scale = c.height / STATURE_M
    feet = T[[c.role("left_foot"), c.role("right_foot")], :3, 3].mean(axis=0) * [1.0, 1.0, 0.0]
    center = feet + scale * (ahead * front + aside * left + height * up)
    pitch = float(np.clip(0.8 * np.arctan2(height - 1.15, ahead + 0.1), -1.2, 0.9))
    fingers = np.cos(pitch) * front + np.sin(pitch) * up
    out = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hand, elbow = c.role(f"{side}_hand"), c.role(f"{side}_forearm")
        rest = c.T_rest
        along = rot.normalize(rest[hand, :3, 3] - rest[elbow, :3, 3])
        along = rot.normalize(along - (along @ front) * front)
        palm = rot.normalize(np.cross(sign * along, front))
        before = np.stack([along, -palm * np.sign(palm[2]), np.zeros(3)], axis=1)
        before[:, 2] = np.cross(before[:, 0], before[:, 1])
        inwards = -sign * left
        after = np.stack([fingers, inwards, np.cross(fingers, inwards)], axis=1)
        target = np.eye(4)
        target[:3, :3] = after @ before.T @ rest[hand, :3, :3]
        target[:3, 3] = center + sign * 0.5 * scale * WIDTH_M * left - 0.08 * scale * fingers
        out[f"{side}_hand"] = target
    return out


def wrong(c: Character, s: WholeBodySolution, targets: dict[str, Array], before: Pose) -> tuple[float, float]:
    """Farthest hand or foot from where it must be, metres, and joint out of range, radians, by other code."""
    T, T0 = c.skeleton.at(s.pose), c.skeleton.at(before)
    far = max(np.abs(T[c.role(hand)] - targets[hand]).max() for hand in HANDS)
    far = max(far, *(np.abs(T[c.role(foot)] - T0[c.role(foot)]).max() for foot in ("left_foot", "right_foot")))
    return float(far), float(pose_excess(c.limits, s.pose.rotations).max()) if c.limits else 0.0


def measure(name: str, data: Path, kilos: float) -> dict[str, Any]:
    """Cold starts and lines of one character."""
    c = character(name, data)
    clip = idle(c, 0.5)
    start = Pose.of(clip.root[0], clip.rotations[0])
    T = c.skeleton.at(start)
    body, support = WholeBody(c), support_of(c, start)
    body.solve(start, grips(c, T, 0.42, 0.9), support=support)
    found, tried, iterations, seconds, worst, reasons = 0, 0, [], 0.0, (0.0, 0.0), {}
    for height in HEIGHTS_M:
        for ahead in AHEAD_M:
            targets = grips(c, T, ahead, height)
            load = Load(kilos, sum(t[:3, 3] for t in targets.values()) / 2.0)
            begun = time.process_time()
            s = body.solve(start, targets, support=support, load=load)
            seconds += time.process_time() - begun
            tried, found = tried + 1, found + s.found
            iterations.append(s.iterations)
            if s.found:
                worst = tuple(np.maximum(worst, wrong(c, s, targets, start)))
            else:
                reasons[f"{height:.2f} {ahead:.2f}"] = s.status
    lines = [along(c, body, start, T, support, kilos, k) for k in range(4)]
    return {
        "character": name,
        "found": found,
        "tried": tried,
        "iterations": float(np.median(iterations)),
        "ms_an_iteration": 1000.0 * seconds / sum(iterations),
        "farthest_m": worst[0],
        "excess_rad": worst[1],
        "reasons": reasons,
        "lines": lines,
    }


def along(c: Character, body: WholeBody, start: Pose, T: Array, support: Array, kilos: float, k: int) -> dict[str, Any]:
    """One line of boxes: up, up and ahead, aside, or ahead; each 2 cm from the one before."""
    count = 61
    ways = (
        np.stack([np.full(count, 0.42), np.linspace(0.35, 1.55, count), np.zeros(count)], axis=1),
        np.stack([np.linspace(0.36, 0.54, count), np.linspace(1.45, 0.3, count), np.zeros(count)], axis=1),
        np.stack([np.full(count, 0.4), np.full(count, 0.9), np.linspace(-0.5, 0.5, count)], axis=1),
        np.stack([np.linspace(0.25, 0.75, count), np.full(count, 1.0), np.zeros(count)], axis=1),
    )
    pose, failed, turns, iterations, seconds = start, 0, [], [], 0.0
    for i, (ahead, height, aside) in enumerate(ways[k]):
        targets = grips(c, T, ahead, height, aside)
        load = Load(kilos, sum(t[:3, 3] for t in targets.values()) / 2.0)
        begun = time.process_time()
        s = body.solve(pose, targets, support=support, load=load)
        seconds += time.process_time() - begun
        failed += not s.found
        if i and s.found:
            turns.append(np.degrees(s.turn))
            iterations.append(s.iterations)
        pose = s.pose if s.found else pose
    return {
        "failed": failed,
        "of": count,
        "largest_turn_deg": float(max(turns, default=0.0)),
        "iterations": float(np.median(iterations)) if iterations else 0.0,
        "ms_a_posture": 1000.0 * seconds / count,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", default=",".join(CHARACTERS))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ELBOWROOM_DATA", "../shared/data")))
    parser.add_argument("--load", type=float, default=0.0, help="mass of the box, kg")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    rows = [measure(name, told.data, told.load) for name in told.characters.split(",")]
    if told.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print(
            f"{row['character']:10} {row['found']:3} of {row['tried']}, {row['iterations']:.0f} iterations of "
            f"{row['ms_an_iteration']:.3f} ms, off by {row['farthest_m']:.1e} m, {row['excess_rad']:.1e} rad"
        )
        for line in row["lines"]:
            print(
                f"           line: {line['failed']} of {line['of']} fail, largest turn {line['largest_turn_deg']:.1f} "
                f"degrees, {line['iterations']:.0f} iterations, {line['ms_a_posture']:.2f} ms a posture"
            )
        print("          ", row["reasons"])


if __name__ == "__main__":
    main()
