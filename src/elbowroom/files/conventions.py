"""Guesses for data that motion files lack: units, up axis, frame rate. Every guess comes with a note.

elbowroom is in metres with +Z up. A file with Y up is turned by (x, y, z) -> (x, -z, y), all joint frames
with it, so that a zero rotation in the file is a zero rotation here: offsets p become C p, rotations q
become C q C^-1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.text import shown
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip

INCH = 0.0254
# CMU's skeletons say ':units length 0.45', which means inches times 0.45; their BVH conversion kept the
# numbers.
CMU_UNIT = INCH / 0.45
NAMED_UNITS = {"metres": 1.0, "centimetres": 0.01, "inches": INCH, "millimetres": 0.001, "feet": 0.3048}
# Heights of people, metres, small child to giant.
SHORTEST, TALLEST = 0.8, 2.3
# Largest object or place, metres: larger files use a smaller unit.
LARGEST_IN_METRES = 80.0
# No giant has longer bones, metres.
LONGEST_BONE = 10.0
# The longest way along the bones from one tip to another (finger to toe) against height, over common rigs.
_SPAN_PER_HEIGHT = 1.4


def body_height(parents: ArrayLike, offsets: ArrayLike) -> float:
    """Rough height of a person, in the offsets' unit, from the bones alone, so that no pose is needed.

    parents (J,) parent-first, offsets (J, 3).
    """
    p = np.asarray(parents)
    length = np.linalg.norm(np.asarray(offsets, dtype=float), axis=1)
    deepest = np.zeros(len(p))
    span = 0.0
    for j in range(len(p) - 1, 0, -1):
        way = deepest[j] + length[j]
        span = max(span, deepest[p[j]] + way)
        deepest[p[j]] = max(deepest[p[j]], way)
    return span / _SPAN_PER_HEIGHT


def guess_units(height: float, likely: tuple[str, float] | None = None) -> tuple[float, str]:
    """Metres per file unit and the sentence on it, for a person `height` units tall.

    `likely` is a unit, with its name in words, that other signs speak for: it is taken if it makes a person.
    """
    if likely is not None and SHORTEST <= height * likely[1] <= TALLEST:
        return likely[1], f"Units assumed: {likely[0]} (1 = {likely[1]:.5g} m) (option: units)."
    usual = {**NAMED_UNITS, "the unit of CMU's skeletons": CMU_UNIT}
    able = {n: u for n, u in usual.items() if SHORTEST <= height * u <= TALLEST}
    if not able:
        return 0.01, (
            f"Units unknown, centimetres assumed: the skeleton is about {height:.3g} units tall, which is not a "
            "human height in any common unit (option: units)."
        )
    name = min(able, key=lambda n: abs(math.log(height * able[n] / 1.65)))
    return able[name], (
        f"Units assumed: {name} (1 = {able[name]:.5g} m), which makes a person about "
        f"{height * able[name]:.1f} m tall (option: units)."
    )


def size_note(size: Array) -> str | None:
    """Note if a scene of this size (3,) in metres is probably in a smaller unit than its format defines."""
    largest = float(np.max(size, initial=0.0))
    if largest <= LARGEST_IN_METRES:
        return None
    shown = " x ".join(f"{s:.3g}" for s in size)
    name, unit = ("centimetres", 0.01) if largest <= 100.0 * LARGEST_IN_METRES else ("millimetres", 0.001)
    return f"Its size is {shown} m: if the file is in {name}, set the units (option: units {unit:g})."


def check_bones(path: str | Path, names: Sequence[str], offsets: Array) -> None:
    """Refuse bones, offsets (J, 3) in metres, that no person has: damage, or quite another unit."""
    length = np.linalg.norm(offsets, axis=1)
    worst = int(np.argmax(length))
    if length[worst] > LONGEST_BONE:
        what = f"the bone that leads to '{shown(names[worst])}' is {length[worst]:.4g} m long"
        raise BadFile(path, what, would_do=f"at most {LONGEST_BONE:g} m are plausible (option: units)")


def checked_units(units: float) -> float:
    """Metres per unit as the user gave them."""
    if not (math.isfinite(units) and 1e-6 <= units <= 1e6):
        raise BadValue(f"units must be metres per file unit, a positive number such as 0.01, not {units}.")
    return float(units)


def checked_up(up: str) -> str:
    """'Y' or 'Z' as the user gave it."""
    if up.upper() not in ("Y", "Z"):
        raise BadValue(f"the up axis must be Y or Z, not '{up}'.")
    return up.upper()


def checked_fps(fps: float) -> float:
    """Frames per second as the user gave them."""
    if not (math.isfinite(fps) and 0.1 <= fps <= 1e5):
        raise BadValue(f"fps must be 0.1 to 100000 frames per second, such as 30, not {fps:g}.")
    return float(fps)


def guess_up(names: Sequence[str], positions: Array) -> tuple[str, str]:
    """Up axis and the sentence on it, from joint positions (T, J, 3) in the file's axes.

    Y is the custom. Z needs a person who stands along Z, with the feet near z = 0, in most frames.
    """
    note = "Up axis assumed: {} (option: up)."
    head = [j for j, n in enumerate(names) if re.search("head", n, re.I)]
    feet = [j for j, n in enumerate(names) if re.search("foot|toe|ankle", n, re.I)]
    if head and feet:
        person = positions[:, head].mean(axis=1) - positions[:, feet].mean(axis=1)
        size = np.linalg.norm(person, axis=1)
        stands = person[:, 2] > 0.8 * size
        near_floor = np.abs(positions[:, feet, 2].min(axis=1)) < 0.25 * size
        if np.mean(stands & near_floor & (size > 0)) > 0.7:
            return "Z", note.format("Z, since the character stands along it")
    return "Y", note.format("Y, the usual convention")


def turned_points(points: ArrayLike, up: str) -> Array:
    """Points or vectors (..., 3) from file axes to Z up."""
    p = np.asarray(points, dtype=float)
    return p if up == "Z" else np.stack([p[..., 0], -p[..., 2], p[..., 1]], axis=-1)


def turned_rotations(q: ArrayLike, up: str) -> Array:
    """Rotations (..., 4) between frames that are all turned from file axes to Z up."""
    a = np.asarray(q, dtype=float)
    return a if up == "Z" else np.stack([a[..., 0], a[..., 1], -a[..., 3], a[..., 2]], axis=-1)


def file_points(points: ArrayLike, up: str) -> Array:
    """The inverse of `turned_points`."""
    p = np.asarray(points, dtype=float)
    return p if up == "Z" else np.stack([p[..., 0], p[..., 2], -p[..., 1]], axis=-1)


def file_rotations(q: ArrayLike, up: str) -> Array:
    """The inverse of `turned_rotations`."""
    a = np.asarray(q, dtype=float)
    return a if up == "Z" else np.stack([a[..., 0], a[..., 1], a[..., 3], -a[..., 2]], axis=-1)


def rate_of(frame_time: str) -> float:
    """Frames per second from the text of a frame time: a whole number, if its digits allow one.

    '.0083333' means 120 and not 120.00048; '0.033' means 30.
    """
    seconds = float(frame_time)
    mantissa = re.split("[eE]", frame_time)[0]
    digits = len(mantissa.partition(".")[2])
    exponent = int(re.split("[eE]", frame_time)[1]) if re.search("[eE]", frame_time) else 0
    doubt = 0.5 * 10.0 ** (exponent - digits)
    nearest = round(1.0 / seconds)
    # a frame time in round figures (0.05) is exact as it stands; more doubt than 2 % says nothing
    if nearest and abs(1.0 / nearest - seconds) <= min(doubt, 0.02 * seconds):
        return float(nearest)
    return 1.0 / seconds


# People walk at up to about 2.3 steps a second; quicker steps belong to running, which leaves the ground.
_MOST_STEPS = 3.0


def rate_note_of(clip: Clip) -> str | None:
    """`rate_note` for a clip whose feet are known; None otherwise."""
    roles = clip.character.roles
    if not {"left_foot", "right_foot"} <= set(roles):
        return None
    feet = clip.positions()[clip.source.lead :, [roles["left_foot"], roles["right_foot"]]]
    skeleton = clip.character.skeleton
    return rate_note(feet[:, 0], feet[:, 1], body_height(skeleton.parents, skeleton.offsets), clip.fps)


def rate_note(left: Array, right: Array, height: float, fps: float) -> str | None:
    """Note if a walk has faster steps than humanly possible, a sign of a wrong frame rate.

    left, right: foot positions (T, 3) in metres, Z up; height in metres.
    """
    steps = _step_frames(left, right, height, fps)
    if len(steps) < 4:
        return None
    quickest = 0.0
    for a, b in zip(steps[:-3], steps[3:], strict=True):
        lowest = np.minimum(left[a : b + 1, 2], right[a : b + 1, 2])
        runs = np.ptp(lowest) > 0.035 * height  # both feet off the ground at times
        if not runs:
            quickest = max(quickest, 3.0 * fps / (b - a))
    if quickest < _MOST_STEPS:
        return None
    return (
        f"A walk of {quickest:.1f} steps per second is faster than humanly possible: the file probably plays too "
        f"fast at {fps:g} fps (option: fps {fps / 2:g} plays it at half the speed)."
    )


def _step_frames(left: Array, right: Array, height: float, fps: float) -> NDArray[np.int64]:
    """Frames in which the feet are farthest apart: one per step."""
    apart = np.linalg.norm((left - right)[:, :2], axis=1)
    half = max(int(0.05 * fps), 1)
    smooth = np.convolve(np.pad(apart, half, mode="edge"), np.ones(2 * half + 1) / (2 * half + 1), mode="valid")
    steps: list[int] = []
    low = high = 0  # frames of the lowest and the highest value since the last step
    rising = True
    for k, value in enumerate(smooth):
        if rising:
            if value > smooth[high]:
                high = k
            elif smooth[high] - value > 0.1 * height:
                steps.append(high)
                rising, low = False, k
        elif value < smooth[low]:
            low = k
        elif value - smooth[low] > 0.1 * height:
            rising, high = True, k
    return np.array(steps, dtype=np.int64)


def euler_to_quaternions(axes: Sequence[int], degrees: Array) -> Array:
    """Rotations (T, 4) from angles (T, n) about axes 0..2, multiplied in the order of the columns."""
    if not axes:
        return np.tile(rot.IDENTITY, (len(degrees), 1))
    return rot.from_euler("".join("XYZ"[a] for a in axes), np.radians(degrees))
