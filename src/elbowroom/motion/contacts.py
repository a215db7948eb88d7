"""Detection of foot contacts (heels and balls at rest on the floor), and of the floor height.

`foot_contacts` is for planting feet: what lies still can be pinned to the floor, and a foot that slides is left as it
is. It cannot judge a motion, because a foot that skates is none that it finds: `motion.stance.stance_contacts` asks
which foot carries the weight instead, and uses the same rules on what is left once its skating is taken away.

Recorded feet are noisy: in stance they wander by centimetres in height, differently for heel and ball. So
each point is compared with the level at which it itself comes to rest, and a contact ends later than it
begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.soles import SIDES, sole_points

Flags = NDArray[np.bool_]

# Contact begins below the first and ends above the second: height over the point's own level, metres, and
# speed, m/s, for a leg of 0.85 m; both grow with the size of the body, speed with its square root (Froude).
_HEIGHT = (0.025, 0.040)
_SPEED = (0.30, 0.50)
# How much higher than the other end of the sole heel or ball may be; this sees the heel rise in spite of
# drift.
_TILT = (0.006, 0.010)
_LEG = 0.85
# Points that rest higher than this over the lowest one of some seconds around do not rest on the floor,
# metres.
_SPREAD, _NEARBY = 0.06, 1.5
# A planted point moves less than this, metres, in some time before or after, seconds: slow shuffling is no
# contact.
_SHIFT, _WHILE = 0.020, 0.12
# Shorter contacts, and shorter gaps within one, are noise, seconds.
_SHORTEST = 0.06


@dataclass(frozen=True, eq=False)
class Contacts:
    """Planted points of the feet, `on` (T, 4), and their positions (T, 4, 3), ordered as `POINTS`.

    `floor` is the height of the ground in metres. Artificial frames at the start of a clip have no contacts.
    """

    fps: float
    start: float
    on: Flags
    points: Array
    floor: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", frozen(self.on, bool))
        object.__setattr__(self, "points", frozen(self.points))

    def foot(self, side: str) -> Flags:
        """Frames in which a foot touches the floor with heel or ball, (T,)."""
        return np.any(self.on[:, self._columns(side)], axis=1)

    def flat(self, side: str) -> Flags:
        """Frames in which heel and ball of a foot touch the floor, (T,)."""
        return np.all(self.on[:, self._columns(side)], axis=1)

    def after(self, frames: int) -> Contacts:
        """The same without the first frames."""
        start = self.start + frames / self.fps
        return replace(self, start=start, on=self.on[frames:], points=self.points[frames:])

    def before(self, points: Array) -> Contacts:
        """The same after some first frames without contacts, whose points (N, 4, 3) are given."""
        on = np.concatenate([np.zeros((len(points), 4), dtype=bool), self.on])
        start = self.start - len(points) / self.fps
        return replace(self, start=start, on=on, points=np.concatenate([points, self.points]))

    @staticmethod
    def _columns(side: str) -> slice:
        if side not in SIDES:
            raise BadValue(f"a foot must be 'left' or 'right', not '{side}'.")
        return slice(0, 2) if side == "left" else slice(2, 4)


@dataclass(frozen=True)
class FootStep:
    """One foot on the floor, from the strike to the toe-off: frames [first, last] and times in seconds.

    A clip may begin or end within a step: `whole` is false then.
    """

    side: str
    first: int
    last: int
    strike: float
    off: float
    whole: bool


def foot_contacts(clip: Clip, floor: float | None = None) -> Contacts:
    """Find out when heels and balls are planted, from their height and speed.

    The floor's height (metres) is estimated where it is not given.
    """
    points = sole_points(clip.character, clip.world())
    on, ground = resting(clip, points, floor)
    return Contacts(clip.fps, clip.start, on, points, ground)


def resting(clip: Clip, points: Array, floor: float | None = None) -> tuple[Flags, float]:
    """Mask (T, 4) of the points (T, 4, 3) of a clip's feet on the floor, and the floor's height in metres."""
    height, speed = _tracks(clip, points)
    levels = _levels(clip, height, speed)
    ground = _ground(levels) if floor is None else float(floor)
    size, pace = leg_scales(clip.character)
    if floor is not None:
        levels = np.where(np.abs(levels - ground) < _SPREAD * size, levels, ground)
    above = (height - levels) / size
    speed = speed / pace
    tilt = above - above[:, [1, 0, 3, 2]]
    # way along the floor of each point (T, 4) in the time before or after, whichever is less; metres
    frames, n = np.arange(len(points)), max(1, round(_WHILE * clip.fps))
    flat = points[..., :2]
    before = np.linalg.norm(flat - flat[np.maximum(frames - n, min(clip.source.lead, len(points) - 1))], axis=-1)
    after = np.linalg.norm(flat[np.minimum(frames + n, len(points) - 1)] - flat, axis=-1)
    still = np.minimum(before, after) < _SHIFT * size
    begins = (above < _HEIGHT[0]) & (tilt < _TILT[0]) & (speed < _SPEED[0]) & still
    stays = (above < _HEIGHT[1]) & (tilt < _TILT[1]) & (speed < _SPEED[1]) & still
    on = np.stack([_hysteresis(begins[:, k], stays[:, k]) for k in range(4)], axis=1)
    lead = clip.source.lead
    on[:lead] = False
    shortest = max(1, round(_SHORTEST * clip.fps))
    on[lead:] = np.stack([_tidy(on[lead:, k], shortest) for k in range(4)], axis=1)
    return on, ground


def estimate_floor(clip: Clip) -> float:
    """Height of the ground in metres, one plane: the level at which the feet come to rest."""
    height, speed = _tracks(clip, sole_points(clip.character, clip.world()))
    return _ground(_levels(clip, height, speed))


def steps(contacts: Contacts, side: str | None = None) -> tuple[FootStep, ...]:
    """Stance phases of one foot or of both, in order of time."""
    found = []
    for name in SIDES if side is None else (side,):
        for first, last in runs(contacts.foot(name)):
            whole = first > 0 and last < len(contacts.on) - 1
            strike = contacts.start + first / contacts.fps
            off = contacts.start + (last + 1) / contacts.fps
            found.append(FootStep(name, first, last, strike, off, whole))
    return tuple(sorted(found, key=lambda s: (s.first, s.side)))


def runs(on: ArrayLike) -> list[tuple[int, int]]:
    """First and last frame of each run of true values in (T,)."""
    flags = np.concatenate([[False], np.asarray(on, dtype=bool), [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(flags))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def _tracks(clip: Clip, points: Array) -> tuple[Array, Array]:
    """Heights and speeds (T, 4) of points (T, 4, 3); artificial frames count as the first real one."""
    lead = min(clip.source.lead, len(clip) - 1)
    real = np.concatenate([np.repeat(points[lead : lead + 1], lead, axis=0), points[lead:]])
    width = max(1, round(clip.fps / 24.0))
    smooth = scipy.ndimage.uniform_filter1d(real, width, axis=0, mode="nearest")
    moved = np.gradient(smooth, axis=0) if len(real) > 1 else np.zeros_like(real)
    return smooth[..., 2], np.linalg.norm(moved, axis=-1) * clip.fps


def _levels(clip: Clip, height: Array, speed: Array) -> Array:
    """Height at which each point would rest on the floor by frame, (T, 4): recorded floors drift and lean."""
    size, pace = leg_scales(clip.character)
    rests = [_rests(height[:, k], speed[:, k] < _SPEED[0] * pace) for k in range(4)]
    if not any(len(r) for r in rests):
        rests = [np.array([[np.argmin(height[:, k]), height[:, k].min()]]) for k in range(4)]
    every = np.concatenate(rests)
    levels = np.zeros_like(height)
    frames = np.arange(len(height))
    for k, mine in enumerate(rests):
        # what is slow but well above what rests nearby is held in the air
        around = [every[np.abs(every[:, 0] - at) <= _NEARBY * clip.fps, 1].min() for at, _ in mine]
        down = mine[mine[:, 1] < np.array(around) + _SPREAD * size] if len(mine) else mine
        if not len(down):
            down = every[[np.argmin(every[:, 1])]]
        levels[:, k] = np.interp(frames, down[:, 0], down[:, 1])
    return levels


def _rests(height: Array, slow: Flags) -> Array:
    """Middle frame and level of each run of slow frames, (R, 2)."""
    # the lower part of its heights, because a heel is slow for some time while it rises
    found = [(0.5 * (a + b), np.percentile(height[a : b + 1], 30.0)) for a, b in runs(slow)]
    return np.array(found).reshape(-1, 2)


def _ground(levels: Array) -> float:
    """One height of the floor, metres, from levels (T, 4): the lower end of each sole, both feet alike."""
    typical = np.median(levels, axis=0)
    return float(0.5 * (typical[:2].min() + typical[2:].min()))


def leg_scales(character: Character) -> tuple[float, float]:
    """Factors for lengths and for speeds by the size of the legs, 1 for an adult's."""
    p = character.skeleton.T_rest[:, :3, 3]
    leg = [p[character.role(f"left_{part}")] for part in ("thigh", "shin", "foot")]
    size = float(np.linalg.norm(leg[1] - leg[0]) + np.linalg.norm(leg[2] - leg[1])) / _LEG
    return size, float(np.sqrt(size))


def _hysteresis(begins: Flags, stays: Flags) -> Flags:
    """Runs of `stays` in which `begins` holds at least once."""
    out = np.zeros_like(stays)
    for first, last in runs(stays):
        if begins[first : last + 1].any():
            out[first : last + 1] = True
    return out


def _tidy(on: Flags, shortest: int) -> Flags:
    """Contacts with short gaps filled, then short contacts dropped, except at the ends of the clip."""
    out = on.copy()
    for first, last in runs(~out):
        if last - first + 1 < shortest and first > 0 and last < len(out) - 1:
            out[first : last + 1] = True
    for first, last in runs(out):
        if last - first + 1 < shortest and first > 0 and last < len(out) - 1:
            out[first : last + 1] = False
    return out
