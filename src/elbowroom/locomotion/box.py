"""Picking up, putting down and moving a box between any heights from the floor to above the head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.locomotion import upper
from elbowroom.locomotion.box_crouch import CROUCH, Posture, crouched, postures, shoulders
from elbowroom.locomotion.box_hands import arm_length, arms_to, palm
from elbowroom.locomotion.clearance import arms_clear, most_nod
from elbowroom.locomotion.figure import SIDES, Figure, check, check_time, figure
from elbowroom.motion.clip import Clip
from elbowroom.world.contacts import Contact
from elbowroom.world.pairs import FLOOR, hand_of, parts_of
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

_OPEN = 0.07  # metres that the hands stay off the box before they close on it
CLOSING = 0.28  # seconds to close or open the hands
_KNOTS = 13
_NEARER = 0.34  # share of the box's depth by which the palms are nearer than the middles of its sides: wrists stay off


@dataclass(frozen=True, eq=False)
class BoxClip:
    """A clip and the box that goes with it.

    `places` (T, 3) is the box's centre at the clip's frames; it does not turn. `held` is the span of seconds in which
    both palms are on its left and right side, half way up and a little nearer than their middles. `size` is its width,
    depth and height in metres.
    """

    clip: Clip
    size: Array  # (3,)
    places: Array  # (T, 3)
    held: tuple[float, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", frozen(self.size))
        object.__setattr__(self, "places", frozen(self.places))

    @property
    def path(self) -> Callable[[float], Array]:
        """Place of the box as a function of time: `T_world_object` (4, 4)."""

        def at(t: float) -> Array:
            T = np.eye(4)
            T[:3, 3] = [np.interp(t, self.clip.times, self.places[:, k]) for k in range(3)]
            return T

        return at

    def grips(self) -> dict[str, Array]:
        """Positions of the palms on the box's sides at the frames, (T, 3) for each hand."""
        nearer = np.array([0.0, _NEARER * self.size[1], 0.0])
        half = np.array([0.5 * self.size[0], 0.0, 0.0])
        return {"left": self.places + nearer + half, "right": self.places + nearer - half}


def pick_up(
    character: Character,
    size: ArrayLike = (0.36, 0.28, 0.24),
    height: float = 0.0,
    seconds: float = 3.0,
    fps: float = 60.0,
    *,
    ahead: float | None = None,
) -> BoxClip:
    """Take a box with its bottom at `height` (m) in front of the body, from standing, and hold it at the waist.

    size: width, depth, height in metres; ahead: distance of its centre from the ankles, chosen if not given. The
    person stands at the origin, facing -Y.
    """
    body, box = _checked(character, size, seconds, fps)
    start = _spot(body, box, height, ahead)
    hold = _carried(body, box)
    down = 0.46 * seconds
    return _made(
        body, box, [(down, start), (down + 0.1, start), (seconds, hold)], seconds, fps, (down, seconds), "pick up"
    )


def put_down(
    character: Character,
    size: ArrayLike = (0.36, 0.28, 0.24),
    height: float = 0.0,
    seconds: float = 3.0,
    fps: float = 60.0,
    *,
    ahead: float | None = None,
) -> BoxClip:
    """The other way round: from holding a box at the waist to standing, with its bottom left at `height` (m)."""
    body, box = _checked(character, size, seconds, fps)
    end = _spot(body, box, height, ahead)
    hold = _carried(body, box)
    down = 0.54 * seconds
    return _made(body, box, [(0.0, hold), (down - 0.1, end), (down, end)], seconds, fps, (0.0, down), "put down")


def lift_box(
    character: Character,
    size: ArrayLike = (0.36, 0.28, 0.24),
    from_height: float = 0.0,
    to_height: float = 0.75,
    seconds: float = 5.0,
    fps: float = 60.0,
    *,
    ahead: float | None = None,
) -> BoxClip:
    """Take a box with its bottom at one height (m) and leave it at another, from standing to standing."""
    body, box = _checked(character, size, seconds, fps)
    start, end = _spot(body, box, from_height, ahead), _spot(body, box, to_height, ahead)
    hold = _carried(body, box)
    down, up = 0.27 * seconds, 0.74 * seconds
    keys = [(down, start), (down + 0.1, start), (0.5 * seconds, hold), (up - 0.1, end), (up, end)]
    return _made(body, box, keys, seconds, fps, (down, up), "lift box")


def _checked(character: Character, size: ArrayLike, seconds: float, fps: float) -> tuple[Figure, Array]:
    check_time(seconds, fps)
    check("time to handle a box", seconds, 1.5, 600.0, "s")
    box = np.asarray(size, dtype=float).reshape(-1)
    if box.shape != (3,) or not np.all(np.isfinite(box)) or np.any(box <= 0.02):
        raise BadValue(f"a box needs width, depth and height of more than 2 cm, not {box.tolist()}.")
    body = figure(character)
    parts = ("clavicle", "upper_arm", "forearm", "hand")
    missing = [f"{s}_{p}" for s in SIDES for p in parts if not body.has(f"{s}_{p}")]
    if missing:
        raise BadValue(f"{character.name} cannot hold a box: it has no {', '.join(missing)}.")
    widest = 1.3 * arm_length(body)
    if box[0] > widest:
        raise BadValue(
            f"a box {box[0]:.2f} m wide is too wide for {character.name}; at most {widest:.2f} m is possible."
        )
    return body, box


def _spot(body: Figure, box: Array, height: float, ahead: float | None) -> Array:
    """Centre (3,) of a box whose bottom is at a height: before the toes when low, nearer to the body when high."""
    if not (np.isfinite(height) and height >= 0.0):
        raise BadValue(f"the height of a box must be 0 m or more, not {height}.")
    if ahead is None:
        toes = -float(body.at("left_toes")[1]) if body.has("left_toes") else 0.13 * body.scale
        shoulder = float(body.at("left_upper_arm")[2])
        gap = np.interp(height, [0.3 * body.leg, 0.5 * body.leg, shoulder, 1.2 * shoulder], [0.14, 0.13, 0.13, 0.05])
        ahead = toes + float(gap) * body.scale + 0.5 * float(box[1])
    check("distance of the box", ahead, 0.1, 2.0, "m")
    return np.array([0.0, -ahead, height + 0.5 * float(box[2])])


def _carried(body: Figure, box: Array) -> Array:
    """Centre (3,) of a box held before the waist, elbows bent."""
    arm = arm_length(body)
    z = float(body.at("left_upper_arm")[2]) - 0.62 * arm
    return np.array([0.0, -(0.28 * arm + 0.5 * float(box[1])), z])


def _made(
    body: Figure, box: Array, keys: list[tuple[float, Array]], seconds: float, fps: float, held: tuple[float, float],
    name: str,
) -> BoxClip:  # fmt: skip
    times = np.arange(round(seconds * fps) + 1) / fps
    places = _track(times, keys)
    taking = smootherstep((times - held[0] + held[0]) / max(held[0], 1e-6)) if held[0] > 0 else np.ones(len(times))
    leaving = (
        smootherstep((times - held[1]) / max(seconds - held[1], 1e-6)) if held[1] < seconds else np.zeros(len(times))
    )
    half, nearer = 0.5 * float(box[0]), np.array([0.0, _NEARER * float(box[1]), 0.0])
    follow = _postures(body, times, places + nearer, half, held, taking * (1.0 - leaving), fps)
    look = _gaze(body, places, follow, taking * (1.0 - leaving))
    turns, root, chest = crouched(body, follow, look, fps)

    busy = _busy(times, held, seconds)
    hanging = _hanging(body, chest, turns, root, fps)
    open_ = _opened(times, held, seconds)
    off = _OPEN * open_
    level = root[:, 2] + shoulders(body)[0] * 0.6
    down = np.clip(1.3 * (level - places[:, 2]) / body.scale, np.radians(-50.0), np.radians(65.0))
    down = gaussian_filter1d(down, 0.1 * fps, mode="nearest")
    down = np.radians(80.0) + busy * (down - np.radians(80.0))
    grips = {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        box_side = places + nearer + np.stack([sign * (half + off), 0 * off, 0 * off], axis=-1)
        # hands go out and forwards on their way, round thighs and box
        high = np.clip((places[:, 2] - _carried(body, box)[2]) / (0.6 * body.scale), 0.0, 1.0)
        round_about = body.scale * np.stack([sign * 0.10 + 0 * off, -0.06 - 0.16 * high, 0 * off], axis=-1)
        on_the_way = (4.0 * busy * (1.0 - busy))[:, None] * round_about
        grips[side] = hanging.palms[side] + busy[:, None] * (box_side - hanging.palms[side]) + on_the_way
    solved = arms_to(body, chest, root, turns, grips, down, open_)
    near = smootherstep(3.0 * busy)  # beside the thigh the arm simply hangs
    for side in SIDES:
        for role, q in solved.items():
            if role.startswith(side):
                solved[role] = rot.slerp(hanging.turns[role], q, near)
        relaxed, flat = upper.fingers(side, 1.0), upper.flat_fingers(side)
        turns |= {role: rot.slerp(relaxed[role], flat[role], busy) for role in relaxed}
    forearms = [body.character.role(f"{side}_forearm") for side in SIDES]
    clip = body.clip(turns | solved, root, fps, name, clamped=forearms)
    return BoxClip(clip, box, places, held)


class _Hanging(NamedTuple):
    """Arms that hang from a chest on its way: turns by role (N, 4), and where the palms are then, (N, 3) by side."""

    turns: dict[str, Array]
    palms: dict[str, Array]


def _hanging(body: Figure, chest: Array, turns: dict[str, Array], root: Array, fps: float) -> _Hanging:
    n = len(root)
    arms: dict[str, Array] = {}
    for side in SIDES:
        arms |= upper.arm(body, side, upper.hanging(n), chest, upper.upright(np.zeros(n)))
    # as far from the body as when standing: what the arms do beside a crouching body is another matter
    up = int(np.argmax(root[:, 2]))
    stood = {role: q[[up]] if q.ndim == 2 else q for role, q in (turns | arms).items()}
    straight = body.clip(stood, root[[up]], fps, "stood")
    opened = arms_clear(straight)
    for side in SIDES:
        role = f"{side}_upper_arm"
        j = body.character.role(role)
        parent = body.rotations[body.character.skeleton.parents[j]]
        local = rot.multiply(opened.rotations[0, j], rot.conjugate(straight.rotations[0, j]))
        arms[role] = rot.multiply(rot.multiply(rot.multiply(parent, local), rot.conjugate(parent)), arms[role])
    where, posed = body.assemble(turns | arms, root)
    T = body.character.skeleton.forward(where, posed)
    palms = {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        j = body.character.role(f"{side}_hand")
        along, off = palm(body, side)
        # the standing figure's axes seen from the rig's own
        own = rot.rotate(rot.conjugate(body.rotations[j]), np.array([sign * along, 0.0, -off]))
        palms[side] = T[:, j, :3, 3] + T[:, j, :3, :3] @ own
    return _Hanging(arms, palms)


def _track(times: Array, keys: list[tuple[float, Array]]) -> Array:
    """Centre of the box (N, 3): still before the first and after the last key, smooth between."""
    out = np.tile(keys[0][1], (len(times), 1))
    for (t0, a), (t1, b) in pairwise(keys):
        x = (times - t0) / max(t1 - t0, 1e-6)
        # out first, in last: clear of knees, face and table edges
        away = abs(b[1]) > abs(a[1])
        out[:, 2] += (b[2] - a[2]) * smootherstep(x)
        out[:, 1] += (b[1] - a[1]) * smootherstep(x / 0.65 if away else (x - 0.35) / 0.65)
    return out


def _postures(
    body: Figure, times: Array, places: Array, half: float, held: tuple[float, float], share: Array, fps: float
) -> Posture:
    """The body's posture over time: as the box needs it while held, from and to standing before and after."""
    knots = np.linspace(held[0], held[1], _KNOTS)
    at = np.stack([np.interp(knots, times, places[:, k]) for k in (1, 2)], axis=-1)
    possible = postures(body)
    values = np.stack([possible.for_grip(float(z), -float(y), half) for y, z in at])
    curve = PchipInterpolator(knots, values, axis=0)(np.clip(times, held[0], held[1]))
    curve = gaussian_filter1d(curve, 0.08 * fps, axis=0, mode="nearest") * share[:, None]
    return Posture(*curve.T)


def _gaze(body: Figure, places: Array, p: Posture, share: Array) -> Array:
    """Downward pitch of the head (N,), radians: towards the box while it is handled."""
    up = shoulders(body)[0] + 0.2 * body.scale
    eyes = body.leg * (1.0 - CROUCH * p.crouch) + up * np.cos(p.lean)
    front = up * np.sin(p.lean) - p.back
    angle = np.arctan2(eyes - places[:, 2], np.maximum(-places[:, 1] - front, 0.15))
    level = np.radians(4.0)
    return level + share * np.clip(0.7 * angle, np.radians(-35.0), p.lean + most_nod(body) - level)


def _opened(times: Array, held: tuple[float, float], seconds: float) -> Array:
    """1 where the hands are off the box, 0 while held, (N,)."""
    before = 1.0 - smootherstep((times - held[0] + CLOSING) / CLOSING) if held[0] > 0 else np.zeros(len(times))
    after = smootherstep((times - held[1]) / CLOSING) if held[1] < seconds else np.zeros(len(times))
    return np.maximum(before, after)


def _busy(times: Array, held: tuple[float, float], seconds: float) -> Array:
    """Share (N,) of the arms' transition from hanging (0) to the box (1)."""
    begin, end = held
    on = smootherstep((times - 0.12 * begin) / max(0.88 * begin - CLOSING, 0.2)) if begin > 0 else np.ones(len(times))
    rest = seconds - end
    off = (
        smootherstep((times - end - CLOSING) / max(0.88 * rest - CLOSING, 0.2))
        if end < seconds
        else np.zeros(len(times))
    )
    return on * (1.0 - off)


# How deep palms and fingers press on what they hold, metres: flesh gives way by as much.
GRIP = 0.005
_WHY = "holds the box"


def with_box(world: World, motion: BoxClip, who: str, name: str = "box") -> World:
    """A world in which `who` handles a box of that name.

    The box is no hold of one hand, which would turn it with that hand: both hands only keep to its sides.
    """
    path = Keyed.along(motion.clip.times, motion.places)
    world = world.with_character(who, motion.clip).with_object(name, box(motion.size), path)
    during = (motion.held[0] - CLOSING, motion.held[1] + CLOSING)
    for part in parts_of(world):
        if part.kind == "body" and part.owner == who and hand_of(part.role):
            world = world.with_contact(Contact(part.name, name, during, "grip", GRIP, _WHY))
    if world.floor is None:
        return world
    return world.with_contact(Contact(name, FLOOR, motion.clip.span, "support", 1e-3, "stands on the floor"))
