"""A clip library as plain arrays, for files; and the library that ships with the package.

`recorded_cycles.npz` is made by tools/recorded_cycles.py from motion capture of CMU and of the Open Motion Project
(ACCAD); see NOTICE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry import rotations as rot
from elbowroom.locomotion.cycles import MODES, PARTS, PHASES, SHARES, Cycle, FootCycle
from elbowroom.locomotion.library import ClipLibrary

FORMAT = 1
# Quantisation of stored angles (radians) and lengths (leg lengths).
_STEP = 1e-4
# Numbers of each cycle: forwards, left (m/s), turn (rad/s), strides per second, opening (radians).
_NUMBERS = 5
# Numbers of each foot: duty, strike, push, place (3), length of the step.
_FOOT_NUMBERS = 7


def arrays_of(library: ClipLibrary) -> dict[str, NDArray]:
    """Arrays by name; `library_of` is the inverse."""
    cycles = library.cycles
    numbers = [[*c.velocity, c.rate, c.opening] for c in cycles]
    feet = [[[f.duty, f.strike, f.push, *f.place, f.step] for f in c.feet] for c in cycles]
    return {
        "library_format": np.array(FORMAT),
        "name": np.array(library.name),
        "source": np.array(library.source),
        "clips": np.array([c.source for c in cycles]),
        "modes": np.array([MODES.index(c.mode) for c in cycles], dtype=np.uint8),
        "numbers": np.array(numbers, dtype=np.float32),
        "turns": _rounded(rot.log(np.array([c.turns for c in cycles]))),
        "offset": _rounded(np.array([c.offset for c in cycles])),
        "feet": np.array(feet, dtype=np.float32),
        "knee": _rounded(np.array([[f.knee for f in c.feet] for c in cycles])),
        "swing": _rounded(np.array([[f.swing for f in c.feet] for c in cycles])),
    }


def shapes(count: int) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays of a library of `count` cycles."""
    return {
        "numbers": (count, _NUMBERS),
        "turns": (count, PHASES, len(PARTS), 3),
        "offset": (count, PHASES, 3),
        "feet": (count, 2, _FOOT_NUMBERS),
        "knee": (count, 2, len(SHARES)),
        "swing": (count, 2, len(SHARES), 4),
    }


def library_of(arrays: Mapping[str, NDArray] | Callable[[str], NDArray]) -> ClipLibrary:
    """The library from arrays by name."""
    get = arrays if callable(arrays) else arrays.__getitem__
    turns, offset, knee, swing = (get(k) * _STEP for k in ("turns", "offset", "knee", "swing"))
    numbers, feet = get("numbers").astype(float), get("feet").astype(float)
    cycles = []
    for k, (clip, mode) in enumerate(zip(get("clips"), get("modes"), strict=True)):
        both = [
            FootCycle(float(f[0]), float(f[1]), float(f[2]), f[3:6], knee[k, i], swing[k, i], float(f[6]))
            for i, f in enumerate(feet[k])
        ]
        cycles.append(
            Cycle(
                str(clip), MODES[int(mode)], numbers[k, :3], float(numbers[k, 3]), rot.continuous(rot.exp(turns[k])),
                offset[k], (both[0], both[1]), float(numbers[k, 4]),
            )
        )  # fmt: skip
    return ClipLibrary(tuple(cycles), str(get("name")), str(get("source")))


@lru_cache(maxsize=1)
def recorded_cycles() -> ClipLibrary:
    """The clip library that ships with the package: walks, brisk walks, runs, crouching, sideways, backwards, turns."""
    with (resources.files("elbowroom.locomotion") / "recorded_cycles.npz").open("rb") as file:
        return library_of(dict(np.load(file, allow_pickle=False)))


def _rounded(values: NDArray) -> NDArray:
    return np.round(values / _STEP).astype("<i2")
