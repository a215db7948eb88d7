"""Walks that begin from a stance: feet in place, the rest blended into the gait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.clearance import feet_clear
from elbowroom.locomotion.course import WalkingManner, facing, heading_of, leftwards, route
from elbowroom.locomotion.figure import SIDES, Figure, figure
from elbowroom.locomotion.steps import Footprints
from elbowroom.locomotion.walk import STANDS_S, WalkOptions, walk_route
from elbowroom.motion.clip import Clip
from elbowroom.motion.legs import place_feet

# Seconds over which legs and root blend into the walk, both feet on the ground, and over which the rest does: arms that
# were stretched out take longer.
_LEGS_S, _REST_S = STANDS_S, 0.9
# Seconds in which blended feet are lifted out of the floor.
_LIFTS_S = 0.06
# A body that only moves its feet, and goes less far than this, steps back by it first, metres; tuned on both feet of a
# woman put 10 cm outwards: with less, one of them stays.
SHUFFLED_M = 0.12


def stance_of(character: Character, pose: Pose) -> tuple[Array, float]:
    """Position (2,) of a standing body on the floor in a posture, and its heading."""
    body = figure(character)
    T = character.skeleton.at(pose)
    heading = float(headings_of(character, T[None])[0])
    return _over(body, [T[character.role(f"{side}_foot"), :2, 3] for side in SIDES], heading), heading


def headings_of(character: Character, T: Array, role: str = "pelvis") -> Array:
    """Headings (N,) of a body's pelvis, or of another part, world transforms T (N, J, 4, 4) of its joints."""
    joint = character.role(role)
    rest = rot.conjugate(figure(character).rotations[joint])
    turns = rot.multiply(rot.from_matrix(T[:, joint, :3, :3]), rest)
    return heading_of(rot.rotate(turns, np.array([0.0, -1.0, 0.0]))[:, :2])


def stance_on(character: Character, feet: Footprints) -> tuple[Array, float]:
    """Position (2,) on the floor of a body that stands on both footprints, and its heading."""
    heading = float(heading_of(np.sum([facing(feet[side][1]) for side in SIDES], axis=0)))
    return _over(figure(character), [feet[side][0] for side in SIDES], heading), heading


def _over(body: Figure, ankles: Sequence[Array], heading: float) -> Array:
    """Position (2,) between two ankles (2,) that is below a standing body's origin."""
    x, y = np.mean([body.at(f"{side}_foot")[:2] for side in SIDES], axis=0)
    return np.mean(ankles, axis=0) - x * leftwards(heading) + y * facing(heading)


def footprints_of(character: Character, pose: Pose) -> Footprints:
    """Footprints of standing feet in a posture."""
    T = character.skeleton.at(pose)
    return {side: _footprint(figure(character), T, side) for side in SIDES}


def standing_height(character: Character, pose: Pose) -> float:
    """Height of the ground under the lower foot of a standing posture, metres."""
    T, body = character.skeleton.at(pose), figure(character)
    return min(float(T[character.role(f"{s}_foot"), 2, 3]) - float(body.at(f"{s}_foot")[2]) for s in SIDES)


def walk_from(
    character: Character,
    pose: Pose,
    path: ArrayLike,
    face: float | None = None,
    manner: WalkingManner | Sequence[WalkingManner] = "forward",
    floor: float = 0.0,
    *,
    options: WalkOptions,
) -> Clip:
    """Walk from a stance along points (N, 2), the first of them left out, to stand facing a heading.

    The first frame is the posture itself. Heights of the options' terrain are above the floor.
    """
    place, heading = stance_of(character, pose)
    points = np.concatenate([place[None], np.asarray(path, dtype=float).reshape(-1, 2)[1:]])
    if options.last and np.linalg.norm(points[-1] - place) < SHUFFLED_M:
        # feet that are moved under a fixed body need a path to step on
        back = points[-1] - SHUFFLED_M * facing(heading if face is None else face)
        points, manner = np.stack([place, back, points[-1]]), "forward"
    manners = manner if isinstance(manner, str) else list(manner)
    made = walk_route(character, route(points, heading, face, manners), options, footprints_of(character, pose))
    return _start_clear(led_over(made.with_(root=made.root + np.array([0.0, 0.0, floor])), pose), floor)


def _start_clear(clip: Clip, floor: float) -> Clip:
    """The clip with blended feet lifted out of a floor at some height; the first frame stays."""
    n = min(int(_LEGS_S * clip.fps) + 4, len(clip))
    begin = clip.with_(root=clip.root[:n] - np.array([0.0, 0.0, floor]), rotations=clip.rotations[:n])
    lifted = feet_clear(begin)
    if lifted is begin:
        return clip
    k = np.arange(n)
    share = smootherstep(k / (_LIFTS_S * clip.fps)) * smootherstep((n - 1 - k) / 3.0)
    q = rot.slerp(begin.rotations, lifted.rotations, share[:, None])
    return clip.with_(rotations=rot.continuous(np.concatenate([q, clip.rotations[n:]])))


def _footprint(body: Figure, T: Array, side: str) -> tuple[Array, float]:
    """Ankle (2,) and heading of a standing foot, joints at T (J, 4, 4)."""
    joint = body.character.role(f"{side}_foot")
    turn = rot.multiply(rot.from_matrix(T[joint, :3, :3]), rot.conjugate(body.rotations[joint]))
    return T[joint, :2, 3], float(heading_of(rot.rotate(turn, [0.0, -1.0, 0.0])[:2]))


def led_over(clip: Clip, pose: Pose) -> Clip:
    """The clip with its beginning blended from a posture."""
    character, n = clip.character, min(len(clip), int(_REST_S * clip.fps) + 1)
    clip, later = clip.with_(root=clip.root[:n], rotations=clip.rotations[:n]), clip
    T = character.skeleton.at(pose)
    t = np.arange(n) / clip.fps
    legs, rest = smootherstep(t / _LEGS_S), smootherstep(t / _REST_S)
    after = clip.world()
    leg_joints = {j for side in SIDES for j in character.subtree(character.role(f"{side}_thigh"))}
    fast = [*leg_joints, *character.stem]
    share = np.where(np.isin(np.arange(len(character.parents)), fast), legs[:, None], rest[:, None])
    q = rot.slerp(pose.rotations[None], clip.rotations, share)
    _stem_between(character, q, rot.from_matrix(T[:, :3, :3]), rot.from_matrix(after[..., :3, :3]), legs)
    hips = T[character.pelvis, :3, 3]
    root = character.root_under(hips + legs[:, None] * (after[:, character.pelvis, :3, 3] - hips), q)
    feet = {}
    for side in SIDES:
        joint = character.role(f"{side}_foot")
        turn = rot.slerp(rot.from_matrix(T[joint, :3, :3]), rot.from_matrix(after[:, joint, :3, :3]), legs)
        place = T[joint, :3, 3] + legs[:, None] * (after[:, joint, :3, 3] - T[joint, :3, 3])
        feet[side] = transform(place, turn)
    soon = legs < 1.0
    q[soon] = place_feet(character, root[soon], q[soon], {side: Tf[soon] for side, Tf in feet.items()})
    q[0], root[0] = pose.rotations, pose.root
    root, q = np.concatenate([root, later.root[n:]]), np.concatenate([q, later.rotations[n:]])
    return clip.with_(root=root, rotations=rot.continuous(q))


def _stem_between(character: Character, q: Array, before: Array, after: Array, share: Array) -> None:
    """Turn the pelvis from one world rotation to another, and the joints above it with it.

    A recording may have the heading in the pelvis alone, a walk has it in the root: joints blended one by one would
    turn the body about. Rotations q (N, J, 4) are changed; world rotations of joints before (J, 4), after (N, J, 4).
    """
    stem = list(character.stem)
    if len(stem) == 1:
        return
    pelvis = rot.slerp(before[stem[-1]], after[:, stem[-1]], share)
    was, then = (rot.multiply(rot.conjugate(x[..., stem[-1:], :]), x[..., stem, :]) for x in (before, after))
    world = rot.multiply(pelvis[:, None], rot.slerp(was, then, share[:, None]))
    q[:, 0] = world[:, 0]
    q[:, stem[1:]] = rot.multiply(rot.conjugate(world[:, :-1]), world[:, 1:])


def leaned(clip: Clip, pose: Pose, weights: Array) -> Clip:
    """The clip with pelvis, trunk and head as in a standing posture, by weights (N,); feet stay on their steps.

    The posture is taken relative to the clip's first frame, and turns with the body.
    """
    rows = np.flatnonzero(weights > 0.0)
    if not len(rows):
        return clip
    character, w = clip.character, weights[rows, None]
    T = clip.world()
    heading = np.unwrap(headings_of(character, T))
    turned = rot.about(rot.UP, heading[rows] - heading[0])
    root, q = np.array(clip.root), np.array(clip.rotations)
    root[rows] += w * rot.rotate(turned, pose.root - clip.root[0])
    target = np.repeat(pose.rotations[None], len(rows), axis=0)
    target[:, 0] = rot.multiply(turned, pose.rotations[0])
    legs = {j for side in SIDES for j in character.subtree(character.role(f"{side}_thigh"))}
    rest = [j for j in range(len(character.parents)) if j not in legs]
    q[rows[:, None], rest] = rot.slerp(q[rows][:, rest], target[:, rest], w)
    feet = {side: T[rows, character.role(f"{side}_foot")] for side in SIDES}
    q[rows] = place_feet(character, root[rows], q[rows], feet)
    return clip.with_(root=root, rotations=rot.continuous(q))
