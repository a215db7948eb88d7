"""When heels and balls of the feet bear on the floor, where the floor is, and how far planted feet slide.

Recorded feet are noisy: in stance they wander by centimetres in height, differently for heel and ball. So
each point is compared with the level at which it itself comes to rest, and a contact ends later than it
begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import uniform_filter1d

from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.soles import SIDES, sole_points, soles

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
    """Which points of the feet are planted, `on` (T, 4), and where they are (T, 4, 3), ordered as `POINTS`.

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

    @staticmethod
    def _columns(side: str) -> slice:
        if side not in SIDES:
            raise BadValue(f"a foot is 'left' or 'right', not '{side}'.")
        return slice(0, 2) if side == "left" else slice(2, 4)


@dataclass(frozen=True)
class Step:
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
    points, height, speed = _tracks(clip)
    levels = _levels(clip, height, speed)
    ground = _ground(levels) if floor is None else float(floor)
    size, pace = _scales(clip)
    if floor is not None:
        levels = np.where(np.abs(levels - ground) < _SPREAD * size, levels, ground)
    above = (height - levels) / size
    speed = speed / pace
    tilt = above - above[:, [1, 0, 3, 2]]
    still = _shift(points, clip.fps, clip.source.lead) < _SHIFT * size
    begins = (above < _HEIGHT[0]) & (tilt < _TILT[0]) & (speed < _SPEED[0]) & still
    stays = (above < _HEIGHT[1]) & (tilt < _TILT[1]) & (speed < _SPEED[1]) & still
    on = np.stack([_hysteresis(begins[:, k], stays[:, k]) for k in range(4)], axis=1)
    lead = clip.source.lead
    on[:lead] = False
    shortest = max(1, round(_SHORTEST * clip.fps))
    on[lead:] = np.stack([_tidy(on[lead:, k], shortest) for k in range(4)], axis=1)
    return Contacts(clip.fps, clip.start, on, points, ground)


def estimate_floor(clip: Clip) -> float:
    """Height of the ground in metres, one plane: the level at which the feet come to rest."""
    _, height, speed = _tracks(clip)
    return _ground(_levels(clip, height, speed))


def steps(contacts: Contacts, side: str | None = None) -> tuple[Step, ...]:
    """Stance phases of one foot or of both, in order of time."""
    found = []
    for name in SIDES if side is None else (side,):
        for first, last in runs(contacts.foot(name)):
            whole = first > 0 and last < len(contacts.on) - 1
            strike = contacts.start + first / contacts.fps
            off = contacts.start + (last + 1) / contacts.fps
            found.append(Step(name, first, last, strike, off, whole))
    return tuple(sorted(found, key=lambda s: (s.first, s.side)))


def foot_slide(clip: Clip, contacts: Contacts | None = None) -> Array:
    """How far planted feet move along the floor, metres, one number for each of `steps(contacts)`.

    It is the greatest horizontal distance between two places of the heel while the heel is planted, or of the front
    while the ball is. Of the front the ball or the tip of the toes counts, whichever moves less: who rises on tiptoe
    rolls over the ball, and who pushes off over the toes. `contacts` may come from another clip of the same frames,
    such as the retargeted original.
    """
    contacts = foot_contacts(clip) if contacts is None else contacts
    if len(contacts.on) != len(clip):
        raise BadValue(f"contacts of {len(contacts.on)} frames do not fit a clip of {len(clip)} frames.")
    T = clip.world()
    points, tips = sole_points(clip.character, T), [sole.tips(T) for sole in soles(clip.character)]
    slides = []
    for step in steps(contacts):
        side = SIDES.index(step.side)
        slid = [0.0]
        for point, ways in ((2 * side, ()), (2 * side + 1, (tips[side],))):
            for first, last in runs(contacts.on[step.first : step.last + 1, point]):
                inside = slice(step.first + first, step.first + last + 1)
                slid.append(min(_diameter(way[inside, :2]) for way in (points[:, point], *ways)))
        slides.append(max(slid))
    return np.array(slides)


def runs(on: ArrayLike) -> list[tuple[int, int]]:
    """First and last frame of each run of true values in (T,)."""
    flags = np.concatenate([[False], np.asarray(on, dtype=bool), [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(flags))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def _diameter(p: Array) -> float:
    """Greatest distance between two of the points (N, 2)."""
    thin = p[:: max(1, len(p) // 200)]
    return float(np.linalg.norm(thin[:, None] - thin[None], axis=-1).max())


def _tracks(clip: Clip) -> tuple[Array, Array, Array]:
    """Points (T, 4, 3), their heights and speeds (T, 4); artificial frames count as the first real one."""
    points = sole_points(clip.character, clip.world())
    lead = min(clip.source.lead, len(clip) - 1)
    real = np.concatenate([np.repeat(points[lead : lead + 1], lead, axis=0), points[lead:]])
    width = max(1, round(clip.fps / 24.0))
    smooth = uniform_filter1d(real, width, axis=0, mode="nearest")
    moved = np.gradient(smooth, axis=0) if len(real) > 1 else np.zeros_like(real)
    return points, smooth[..., 2], np.linalg.norm(moved, axis=-1) * clip.fps


def _shift(points: Array, fps: float, lead: int) -> Array:
    """Way along the floor of each point (T, 4) in the time before or after, whichever is less; metres."""
    frames, n = np.arange(len(points)), max(1, round(_WHILE * fps))
    flat = points[..., :2]
    before = np.linalg.norm(flat - flat[np.maximum(frames - n, min(lead, len(points) - 1))], axis=-1)
    after = np.linalg.norm(flat[np.minimum(frames + n, len(points) - 1)] - flat, axis=-1)
    return np.minimum(before, after)


def _levels(clip: Clip, height: Array, speed: Array) -> Array:
    """Height at which each point would rest on the floor by frame, (T, 4): recorded floors drift and lean."""
    size, pace = _scales(clip)
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


def _scales(clip: Clip) -> tuple[float, float]:
    """Factors for lengths and for speeds by the size of the legs."""
    p = clip.character.skeleton.T_rest[:, :3, 3]
    leg = [p[clip.character.role(f"left_{part}")] for part in ("thigh", "shin", "foot")]
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
    """Short gaps filled, then short contacts dropped; what touches an end of the clip may be short."""
    out = on.copy()
    for first, last in runs(~out):
        if last - first + 1 < shortest and first > 0 and last < len(out) - 1:
            out[first : last + 1] = True
    for first, last in runs(out):
        if last - first + 1 < shortest and first > 0 and last < len(out) - 1:
            out[first : last + 1] = False
    return out
