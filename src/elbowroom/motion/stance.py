"""Stance phases: when a foot carries the body, wherever it slides to meanwhile, and how far it slides.

`motion.contacts.foot_contacts` finds points that lie still, because these can be pinned to the floor. A skating foot
is none of them, so it cannot be judged by that. Here a foot is in stance by what it does for the body: it is low, it
neither rises nor falls, and the weight presses on the ground nearer to it than to the other one; two feet in stance do
not move against each other. None of this changes where a whole clip is moved along the floor or up and down. The
cheapest order of phases (flight, left, right, both) over time is found by dynamic programming.

The motion of each foot in stance is then taken away from it, and heel and ball follow the rules of
`foot_contacts` from what is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.dynamics import GRAVITY
from elbowroom.character.masses import center_of_mass
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, Flags, leg_scales, resting, runs, steps
from elbowroom.motion.edit import without_lead
from elbowroom.motion.smooth import derivative, smoothed
from elbowroom.motion.soles import SIDES, soles

# Phases: whether the left and the right foot are in stance.
_PHASES = np.array([[False, False], [True, False], [False, True], [True, True]])
# A foot is low up to about this height over the ground nearby in time, metres for an adult's leg.
_LOW_M = 0.035
# It neither rises nor falls below about this speed, m/s.
_LEVEL_M_S = 0.15
# Two feet in stance move against each other slower than about this, m/s.
_TOGETHER_M_S = 0.5
# The weight is on the other foot where that one is nearer to where the ground pushes by about this much, metres. It
# costs no more than this, because who pushes or pulls at something leans on more than feet.
_NEARER_M = 0.08
_NEARER_MOST = 1.5
# A foot that is faster than the other by this speed, m/s, is a little less likely the one in stance: this breaks ties.
_FASTER_M_S = 1.0
_FASTER_MOST = 1.25
# The body flies where the ground pushes with less than the first share of its weight, and stands from the second on: a
# filtered acceleration does not come down to nothing in a short flight, and goes down to 0.6 in a brisk walk.
_FLIES, _STANDS = 0.2, 0.8
# Cost of a foot in the air; a low and level one in stance costs nothing.
_AIR = 1.0
# Cost of a single foot in stance while the other does not move against it.
_IDLE = 1.5
# Cost of flight while the ground bears the whole weight, and of stance while it bears nothing.
_HELD, _UNPRESSED = 4.0, 3.0
# No single cue costs more than this.
_MOST = 4.0
# Cost of a change of one foot between air and stance, as seconds at a cost of 1: shorter phases are noise.
_CHANGE_S = 0.05
# The ground is where the lower foot is in this share of the time, percent, in so many seconds before and after: longer
# than a step of a slow walk. The lowest of all would be toes that dip into the floor for a moment.
_GROUND_PERCENT, _NEARBY_S = 20.0, 0.7
# Points of a foot this much higher than its lowest hardly bear, metres.
_SOFT_M = 0.01
# A foot does not bear where its lowest point is higher over its median height in the step than the middle half of its
# heights is apart, and the first of these; but at most the second, metres. It comes down, lifts off, or makes a step so
# small that it counts as one stance with those before and after.
_LIFTED_M = (0.004, 0.015)
# Time over which the velocity of a foot in stance is averaged, and which does not count at both ends, seconds.
_DRIFT_S, _ENDS_S = 0.25, 0.10
# Time over which the stillest point of a sole is determined, seconds: between two frames of a clip all points go to
# and fro by tenths of a millimetre, and with another one there and back that adds up.
_ALIKE_S = 1.0 / 30.0
# A foot that stays higher than this over the other one, in stance, for less than this time pauses in its swing, metres,
# seconds: before it comes down it may be as slow and level as one that stands. A slow swing takes longer: it is as much
# higher than within some seconds before and after it.
_PAUSE_M, _PAUSE_S = 0.02, 0.25
_SWING_S, _BESIDE_S = 0.6, 0.15
# Touchdown and lift-off are found within this time of a phase's ends, seconds.
_EDGE_S = 0.08


def stance_contacts(clip: Clip) -> Contacts:
    """Find out when heels and balls bear weight, also those that slide, float over the floor or sink into it.

    For judging a motion; to pin feet to the floor use `foot_contacts`.
    """
    lead = clip.source.lead
    if 0 < lead < len(clip):
        real = stance_contacts(without_lead(clip))
        return real.before(_points(clip)[:lead, :, :2].reshape(lead, 4, 3))
    feet = _feet(clip)
    phases = _phases(clip, feet)
    points = feet.points[:, :, :2]
    ways = np.stack([_way(feet.velocity[:, k], phases[:, k], clip.fps) for k in range(2)], axis=1)
    ways = np.concatenate([ways, np.zeros((*ways.shape[:2], 1))], axis=-1)
    found, floor = resting(clip, (points - ways[:, :, None]).reshape(-1, 4, 3))
    height = points[..., 2] - feet.low[..., None]
    lower = height < np.maximum(_SOFT_M * leg_scales(clip.character)[0], height.min(axis=-1, keepdims=True) + 1e-9)
    on = np.zeros_like(found)
    edge = max(1, round(_EDGE_S * clip.fps))
    for k in range(2):
        foot = slice(2 * k, 2 * k + 2)
        rests = found[:, 2 * k] | found[:, 2 * k + 1]
        for first, last in runs(phases[:, k]):
            # as far as the foot rests without a break: in the air it may be still for a moment
            begin = first - int(np.logical_and.accumulate(rests[max(first - edge, 0) : first][::-1]).sum())
            end = last + int(np.logical_and.accumulate(rests[last + 1 : last + edge + 1]).sum())
            near = slice(begin, end + 1)
            on[near, foot] |= found[near, foot]
            inner = min(edge, (last - first) // 3)
            sure = slice(first + inner, last - inner + 1)
            on[sure, foot] |= ~on[sure, foot].any(axis=1, keepdims=True) & lower[sure, k]
    return Contacts(clip.fps, clip.start, on, points.reshape(-1, 4, 3), floor)


def foot_slide(clip: Clip, contacts: Contacts | None = None, heights: Clip | None = None) -> Array:
    """Sliding distances of feet in stance along the floor, metres, one for each of `steps(contacts)`.

    It is the greatest distance between two places on the step's `slide_ways`. `contacts` may come from another clip of
    the same frames, such as the retargeted original.
    """
    contacts = stance_contacts(clip) if contacts is None else contacts
    return np.array([slid_so_far(way)[-1] for way in slide_ways(clip, contacts, heights)])


def slide_ways(clip: Clip, contacts: Contacts, heights: Clip | None = None) -> list[Array]:
    """Way (N, 2) that the foot of each of `steps(contacts)` has slid by frame, metres.

    From frame to frame it goes on as a point of the sole that bears does: the heel while the heel is down, what lies
    between ball and tip of the toes while the ball is down, and all of it while both are. Of these points the one that
    moves least counts, because who rises on tiptoe rolls over the ball, who pushes off over the toes, and who pivots
    turns about one of them; of a foot that slides, the one that moves least against its sliding.

    Which points bear depends on their heights in the clip, or in `heights`, another clip of the same frames: a motion
    that was raised or lowered for a while then slides as much as it did before.
    """
    if len(contacts.on) != len(clip):
        raise BadValue(f"contacts of {len(contacts.on)} frames do not fit a clip of {len(clip)} frames.")
    points = _points(clip)
    height = (points if heights is None else _points(heights))[..., 2]
    low = height.min(axis=-1)
    width, leg = max(1, round(_DRIFT_S * clip.fps)), leg_scales(clip.character)[0]
    out = []
    for step in steps(contacts):
        side = SIDES.index(step.side)
        inside = slice(step.first, step.last + 1)
        moved = np.diff(points[inside, side, :, :2], axis=0)
        quarter, middle, most = np.percentile(low[inside, side], [25.0, 50.0, 75.0])
        lifted = min(most - quarter + _LIFTED_M[0] * leg, _LIFTED_M[1] * leg)
        down = low[inside, side] <= middle + lifted
        moved[~(down[1:] & down[:-1])] = 0.0
        on = contacts.on[inside, 2 * side : 2 * side + 2]
        bears = on[1:] & on[:-1]
        # where heel hands over to ball, whichever was down
        bears |= ~bears.any(axis=1, keepdims=True) & (on[1:] | on[:-1])
        # and always the lowest: a heel that has just landed lies still, with the ball above it
        lowest = height[inside, side].argmin(axis=1)[1:]
        bears |= np.stack([lowest == 0, lowest > 0], axis=1)
        apart = max(1, round(_ALIKE_S * clip.fps))
        over = scipy.ndimage.uniform_filter1d(moved, apart, axis=0, mode="nearest") if len(moved) else moved
        least = _least(moved, over, bears, np.zeros((len(moved), 2)))
        if len(least):
            # the mean of what there is: with ends repeated, the frame in which a foot lands would count as sliding
            size = min(width, len(least))
            some = scipy.ndimage.uniform_filter1d(np.ones((len(least), 1)), size, axis=0, mode="constant")
            drift = scipy.ndimage.uniform_filter1d(least, size, axis=0, mode="constant") / some
            least = _least(moved, over, bears, drift)
        out.append(np.concatenate([np.zeros((1, 2)), np.cumsum(least, axis=0)]))
    return out


def _least(moved: Array, over: Array, bears: Flags, against: Array) -> Array:
    """Motion (N, 2) of the point of a sole that moves least against some other one (N, 2): heel, ball and tip move by
    (N, 3, 2), and by `over` (N, 3, 2) in the mean of some time around, which selects the point; heel and ball bear
    (N, 2)."""
    best, least = moved[:, 0], np.full(len(moved), np.inf)
    # of a foot on its heel, on its ball and toes, and flat
    for a, b, where in ((0, 0, bears[:, 0]), (1, 2, bears[:, 1]), (0, 1, bears.all(axis=1))):
        first, along = over[:, a] - against, over[:, b] - over[:, a]
        s = -np.einsum("na,na->n", first, along) / np.maximum(np.einsum("na,na->n", along, along), 1e-18)
        s = np.clip(s, 0.0, 1.0)[:, None]
        far = np.where(where, np.linalg.norm(first + s * along, axis=-1), np.inf)
        best = np.where((far < least)[:, None], moved[:, a] + s * (moved[:, b] - moved[:, a]), best)
        least = np.minimum(far, least)
    return best


def slid_so_far(way: Array) -> Array:
    """Greatest distance between two points of a path (N, 2) up to each, (N,), metres; long paths are sampled."""
    some = np.unique(np.linspace(0, len(way) - 1, min(len(way), 400)).round().astype(int))
    apart = np.linalg.norm(way[some][:, None] - way[some][None], axis=-1)
    return np.interp(np.arange(len(way)), some, np.maximum.accumulate(np.tril(apart).max(axis=1)))


@dataclass(frozen=True, eq=False)
class _Feet:
    """Points (T, 2, 3, 3): heel, ball and tip of each foot; height `low` (T, 2) of the lowest; horizontal velocity
    (T, 2, 2) of where the foot is lowest, m/s."""

    points: Array
    low: Array
    velocity: Array


def _points(clip: Clip) -> Array:
    """Heel, ball and tip of both feet, (T, 2, 3, 3)."""
    T = clip.world()
    return np.stack([np.concatenate([s.points(T), s.tips(T)[:, None]], axis=1) for s in soles(clip.character)], axis=1)


def _feet(clip: Clip) -> _Feet:
    points = _points(clip)
    smoothed = scipy.ndimage.uniform_filter1d(points, max(1, round(clip.fps / 24.0)), axis=0, mode="nearest")
    low = smoothed[..., 2].min(axis=-1)
    weight = np.exp(-(smoothed[..., 2] - low[..., None]) / (_SOFT_M * leg_scales(clip.character)[0]))
    weight /= weight.sum(axis=-1, keepdims=True)
    velocity = np.einsum("tfp,tfpa->tfa", weight, derivative(smoothed[..., :2], clip.fps))
    return _Feet(points, low, velocity)


def _phases(clip: Clip, feet: _Feet) -> Flags:
    """Mask (T, 2) of feet in stance by frame."""
    size, pace = leg_scales(clip.character)
    fps = clip.fps
    around = 2 * round(_NEARBY_S * np.sqrt(size) * fps) + 1
    ground = scipy.ndimage.percentile_filter(feet.low.min(axis=1), _GROUND_PERCENT, size=around, mode="nearest")
    height = (feet.low - ground[:, None]) / (_LOW_M * size)
    rising = derivative(feet.low, fps) / (_LEVEL_M_S * pace)
    apart = np.linalg.norm(feet.velocity[:, 0] - feet.velocity[:, 1], axis=-1) / (_TOGETHER_M_S * pace)
    pressure, place = _ground_force(clip, ground)
    far = np.stack([_distance(place, feet.points[:, k, :, :2]) for k in range(2)], axis=1)
    speed = np.linalg.norm(feet.velocity, axis=-1)
    faster = np.clip((speed - speed[:, ::-1]) / (_FASTER_M_S * pace), 0.0, 1.0)
    stance = np.clip(height, 0.0, _MOST) + np.minimum(rising**2, _MOST)
    nearer = np.clip((far - far[:, ::-1]) / (_NEARER_M * size), 0.0, _NEARER_MOST)
    pressed = np.clip((pressure - _FLIES) / (_STANDS - _FLIES), 0.0, 1.0)
    cost = np.zeros((len(height), 4))
    for k, phase in enumerate(_PHASES):
        cost[:, k] = np.where(phase, stance, _AIR).sum(axis=1)
        if phase.any():
            cost[:, k] += _UNPRESSED * (1.0 - pressed)
    cost[:, 0] += _HELD * pressed
    cost[:, 1:3] += nearer + _FASTER_MOST * faster + _IDLE * (1.0 - np.minimum(apart, 1.0))[:, None]
    cost[:, 3] += np.minimum(apart**2, 2.0 * _MOST)
    return _without_pauses(_PHASES[_cheapest(cost / fps, _CHANGE_S * np.sqrt(size))], feet.low / size, fps)


def _without_pauses(phases: Flags, low: Array, fps: float) -> Flags:
    """Phases (T, 2) without short ones of a foot that pauses in the air, its lowest points at (T, 2), scaled metres."""
    out, beside = np.array(phases), round(_BESIDE_S * fps)
    for k in range(2):
        for first, last in runs(phases[:, k]):
            here = slice(first, last + 1)
            higher = float((low[here, k] - low[here, 1 - k]).min())
            sides = (low[max(first - beside, 0) : first, k], low[last + 1 : last + 1 + beside, k])
            swings = np.median(low[here, k]) - max(side.min(initial=np.inf) for side in sides) > _PAUSE_M
            longest = (_SWING_S if swings else _PAUSE_S) * fps
            if last - first < longest and phases[here, 1 - k].all() and higher > _PAUSE_M:
                out[here, k] = False
    return out


def _cheapest(cost: Array, change: float) -> NDArray[np.intp]:
    """Phase of each frame (T,) whose costs (T, 4) with those of changes of a foot sum to the least."""
    between = change * (_PHASES[:, None] != _PHASES[None]).sum(axis=-1)
    came = np.zeros(cost.shape, dtype=np.intp)
    total = cost[0].copy()
    for t in range(1, len(cost)):
        through = total[:, None] + between
        came[t] = through.argmin(axis=0)
        total = through.min(axis=0) + cost[t]
    out = np.empty(len(cost), dtype=np.intp)
    out[-1] = total.argmin()
    for t in range(len(cost) - 1, 0, -1):
        out[t - 1] = came[t, out[t]]
    return out


def _ground_force(clip: Clip, ground: Array) -> tuple[Array, Array]:
    """Vertical ground reaction (T,) as a share of the weight, and its point (T, 2), metres: as if all of the mass
    were in its centre."""
    masses = clip.character.masses
    T = clip.world()
    com = T[:, 0, :3, 3] if masses is None or not masses.total > 0.0 else center_of_mass(clip.character, T)
    com = smoothed(com, clip.fps)
    faster = derivative(com, clip.fps, 2)
    pressure = np.clip(1.0 + faster[:, 2] / GRAVITY, 0.0, None)
    lever = (com[:, 2] - ground) / (GRAVITY * np.maximum(pressure, _FLIES))
    return pressure, com[:, :2] - lever[:, None] * faster[:, :2]


def _distance(place: Array, sole: Array) -> Array:
    """Distance (T,) of places (T, 2) from the line from heel to tip of a sole (T, 3, 2)."""
    along = sole[:, 2] - sole[:, 0]
    s = np.einsum("ta,ta->t", place - sole[:, 0], along) / np.maximum(np.einsum("ta,ta->t", along, along), 1e-12)
    return np.linalg.norm(place - sole[:, 0] - np.clip(s, 0.0, 1.0)[:, None] * along, axis=-1)


def _way(velocity: Array, stance: Flags, fps: float) -> Array:
    """Way (T, 2) that a foot with a velocity (T, 2) is taken along in its stances, metres; it rests in between."""
    taken = np.zeros_like(velocity)
    edge, ends = round(_EDGE_S * fps), round(_ENDS_S * fps)
    width = max(1, round(_DRIFT_S * fps))
    for first, last in runs(stance):
        trim = min(ends, (last - first) // 3)
        core = velocity[first + trim : last - trim + 1]
        smoothed = scipy.ndimage.uniform_filter1d(core, min(width, len(core)), axis=0, mode="nearest")
        begin, end = max(first - edge, 0), min(last + edge, len(velocity) - 1)
        inside = np.clip(np.arange(begin, end + 1) - first - trim, 0, len(core) - 1)
        taken[begin : end + 1] = smoothed[inside]
    return np.cumsum(taken, axis=0) / fps
