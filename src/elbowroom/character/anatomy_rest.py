"""Rest pose of a rig: directions of its bones, a straightened pose, anatomical frames, and where it faces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.rig_geometry import UP, forward_of_feet
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import (
    Array,
    about,
    arc,
    conjugate,
    from_matrix,
    multiply,
    normalize,
    rotate,
)

SIDES = ("left", "right")
FINGERS = ("thumb", "index", "middle", "ring", "little")

# The part whose joint ends a part's bone: the first of these that the rig has.
_ENDS: dict[str, tuple[str, ...]] = {
    "spine1": ("spine2", "chest", "neck", "head"),
    "spine2": ("chest", "neck", "head"),
    "chest": ("neck", "head"),
    "neck": ("head",),
}
for _s in SIDES:
    _ENDS[f"{_s}_clavicle"] = (f"{_s}_upper_arm",)
    _ENDS[f"{_s}_upper_arm"] = (f"{_s}_forearm",)
    _ENDS[f"{_s}_forearm"] = (f"{_s}_hand",)
    _ENDS[f"{_s}_hand"] = tuple(f"{_s}_{f}1" for f in ("middle", "index", "ring"))
    _ENDS[f"{_s}_thigh"] = (f"{_s}_shin",)
    _ENDS[f"{_s}_shin"] = (f"{_s}_foot",)
    _ENDS[f"{_s}_foot"] = (f"{_s}_toes",)
    for _f in FINGERS:
        for _k in (1, 2):
            _ENDS[f"{_s}_{_f}{_k}"] = (f"{_s}_{_f}{_k + 1}",)

# A pose counts as standing when legs and spine are this near to the vertical and arms are not raised above
# this.
_LEGS_WITHIN, _SPINE_WITHIN, _ARMS_BELOW = np.radians([40.0, 35.0, 35.0])

_NEARLY_AN_AXIS = float(np.cos(np.radians(5.0)))

# How much a raised arm counts against a leaning leg.
_ARMS_COUNT = 0.2

# Height of the lowest joint (the ball of the foot) above the sole, as a share of stature.
_SOLE = 0.012


def bone_end(skeleton: Skeleton, roles: Mapping[str, int], part: str) -> Array | None:
    """End of a part's bone, (3,) in its joint's frame in the rest pose; None if unknown.

    The next part's joint, else an end joint or a lone child; a bone without length is ignored.
    """
    j = roles[part]
    here = skeleton.T_rest[j]
    ends = [roles[p] for p in _ENDS.get(part, ()) if p in roles]
    if not ends and len(skeleton.children[j]) == 1:
        ends = [skeleton.children[j][0]]
    for end in ends:
        offset = here[:3, :3].T @ (skeleton.T_rest[end, :3, 3] - here[:3, 3])
        if np.linalg.norm(offset) > 1e-4:
            return offset
    return None


def canonical_direction(part: str, now: Array, front: Array) -> Array | None:
    """Direction of a part's bone in the straightened pose, (3,); None if it keeps following its parent.

    Spine, neck: up. Thigh, shin: down. Arm, hand, fingers: out to the side. Foot: to the front, as steep as
    it is (`now` is its present direction). Clavicle and thumb rest where they are.
    """
    left = np.cross(UP, front)
    side, _, rest = part.partition("_")
    if part in ("spine1", "spine2", "chest", "neck"):
        return UP
    if rest in ("thigh", "shin"):
        return -UP
    if rest == "foot":
        level = float(np.sqrt(max(1.0 - now[2] ** 2, 0.0)))
        return normalize(level * front + now[2] * UP) if level > 0.3 else None
    if rest in ("upper_arm", "forearm", "hand") or (rest[:-1] in FINGERS and rest[:-1] != "thumb"):
        return left if side == "left" else -left
    return None


def straightened(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    world: Array,
    front: Array,
    twists: Mapping[str, tuple[Array, Array]] | None = None,
) -> Array:
    """World rotations (J, 4) after every bone is turned by the smallest rotation to its canonical direction.

    `world` (J, 4) is the pose to start from, upright and facing `front`. Joints between the parts, and
    parts without a canonical direction, follow their parents; each bone keeps the twist it has, unless
    `twists` gives for its part a direction across the bone, in the joint's frame, and where that is to
    point in the world.
    """
    part_of_joint = {j: p for p, j in roles.items()}
    out = np.array(world)
    for j, p in enumerate(skeleton.parents):
        carried = world[j]
        if p >= 0:
            carried = multiply(out[p], multiply(conjugate(world[p]), world[j]))
        part = part_of_joint.get(j, "")
        end = bone_end(skeleton, roles, part) if part else None
        now = UP if end is None else normalize(rotate(carried, end))
        goal = canonical_direction(part, now, front)
        if goal is not None and end is not None:
            carried = multiply(arc(now, goal), carried)
        if goal is not None and twists and part in twists:
            pointer, towards = twists[part]
            carried = multiply(about(goal, angle_about(goal, rotate(carried, pointer), towards)), carried)
        out[j] = carried
    return normalize(out)


def angle_about(axis: Array, a: Array, b: Array) -> float:
    """Angle in radians about a unit axis that leads from direction `a` to direction `b`, both (3,)."""
    return float(np.arctan2(np.dot(axis, np.cross(a, b)), np.dot(a, b) - np.dot(a, axis) * np.dot(b, axis)))


def facing(skeleton: Skeleton, roles: Mapping[str, int]) -> tuple[Array, list[str]]:
    """Direction faced at rest, a level unit vector (3,), from hips and shoulders, else from the feet."""
    positions = skeleton.T_rest[:, :3, 3]
    front = _front_of(roles, positions)
    toes = forward_of_feet(roles, positions)
    if front is None:
        if toes is not None:
            return frozen(toes), ["The facing direction was inferred from the feet."]
        return frozen([0.0, -1.0, 0.0]), ["The facing direction is unknown; -Y was assumed."]
    return frozen(front), []


def _front_of(roles: Mapping[str, int], positions: Array) -> Array | None:
    across = np.zeros(3)
    for part in ("thigh", "upper_arm"):
        a, b = roles.get(f"left_{part}"), roles.get(f"right_{part}")
        if a is not None and b is not None:
            across += normalize((positions[a] - positions[b]) * [1, 1, 0])
    if np.linalg.norm(across) < 1e-6:
        return None
    front = normalize(np.cross(across, UP))
    # Bodies are not quite alike on both sides; rigs are built along an axis.
    axis = np.round(front)
    return axis if np.linalg.norm(axis) == 1.0 and np.dot(front, axis) > _NEARLY_AN_AXIS else front


def standing_error(skeleton: Skeleton, roles: Mapping[str, int], positions: Array) -> tuple[float, bool]:
    """Deviation of joint positions (J, 3) from standing, and whether it is acceptable.

    The first is a weighted sum of the angles of legs, spine and arms, in radians.
    """
    total, good = 0.0, True

    def lean(a: str, b: str, towards: Array) -> float | None:
        if a not in roles or b not in roles:
            return None
        d = positions[roles[b]] - positions[roles[a]]
        size = float(np.linalg.norm(d))
        return float(np.arccos(np.clip(np.dot(d, towards) / size, -1, 1))) if size > 1e-6 else None

    for side in SIDES:
        foot = f"{side}_foot" if f"{side}_foot" in roles else f"{side}_shin"
        angle = lean(f"{side}_thigh", foot, -UP)
        if angle is not None:
            total, good = total + angle, good and angle < _LEGS_WITHIN
        hand = f"{side}_hand" if f"{side}_hand" in roles else f"{side}_forearm"
        raised = lean(f"{side}_upper_arm", hand, UP)
        if raised is not None:
            total += _ARMS_COUNT * (np.pi - raised)  # raised arms lift the collar bones
            good = good and raised > np.pi / 2 - _ARMS_BELOW
    top = next((p for p in ("head", "neck", "chest") if p in roles), None)
    spine = lean("pelvis", top, UP) if top else None
    if spine is not None:
        total, good = total + 2 * spine, good and spine < _SPINE_WITHIN
    return total, good


def meaningful_rest(skeleton: Skeleton, roles: Mapping[str, int], poses: Array | None) -> tuple[Skeleton, list[str]]:
    """The skeleton with a rest pose that stands: its own where that will do, else one made from sample poses.

    From samples (N, J, 4): the most upright one, turned upright and to -Y, then straightened.
    """
    _, good = standing_error(skeleton, roles, skeleton.T_rest[:, :3, 3])
    if good or not any(p in roles for p in ("left_thigh", "right_thigh", "head")):
        return _on_the_floor(skeleton, roles), []
    if poses is None or not len(poses):
        return skeleton, ["The rest pose of the rig is not a standing pose, and there is no motion to derive one from."]
    posed = skeleton.forward(np.zeros((len(poses), 3)), poses)[:, :, :3, 3]
    errors = [standing_error(skeleton, roles, p)[0] for p in posed]
    best = int(np.argmin(errors))
    front = _front_of(roles, posed[best])
    front = np.array([0.0, -1.0, 0.0]) if front is None else front
    goal = np.array([0.0, -1.0, 0.0])
    turn = about(UP, np.arctan2(np.cross(front, goal)[2], np.dot(front, goal)))
    world = stood = multiply(turn, skeleton.orientations(poses[best]))
    # Upright: the line from pelvis to chest, or head, becomes vertical.
    top = next((p for p in ("chest", "neck", "head") if p in roles), None)
    if top:
        lean = rotate(turn, posed[best][roles[top]] - posed[best][roles["pelvis"]])
        if np.linalg.norm(lean) > 1e-6:
            world = multiply(arc(lean, UP), world)
    world = straightened(skeleton, roles, world, goal)
    # A neck leans forwards while the head is level: both stay as the person held them.
    top = next((p for p in ("neck", "head") if p in roles), None)
    if top:
        held = list(skeleton.subtree(roles[top]))
        world[held] = stood[held]
    made = replace(skeleton, rest=skeleton.local(world))
    note = (
        "The rig's zero pose is not a standing pose; the rest pose was derived from the most upright frame of the clip."
    )
    return _on_the_floor(made, roles), [note]


def _on_the_floor(skeleton: Skeleton, roles: Mapping[str, int]) -> Skeleton:
    """A rest pose that floats or sinks by a good part of the body (a root at the origin) is put on z = 0."""
    z = skeleton.T_rest[:, 2, 3]
    height = float(np.ptp(z))
    low = float(z.min())
    if -0.1 * height < low < 0.1 * height:
        return skeleton
    offsets = np.array(skeleton.offsets)
    offsets[0, 2] += _SOLE * height - low
    return replace(skeleton, offsets=offsets)


def frame(z: Array, bends_to: Array) -> Array:
    """Frame (quaternion) with z along the bone; a positive turn about x moves z towards `bends_to`."""
    z = normalize(z)
    x = np.cross(z, bends_to)
    if np.linalg.norm(x) < 1e-6:  # a bone along the way it should bend: any axis across it will do
        x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x = normalize(x)
    return from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))


# The axis of a hinge is known once it bends by this much: at rest, or on average over sample poses.
_TELLING_BEND = np.radians(6.0)

# A joint carries twist if samples of it differ by more than this.
_TELLING_TWIST = np.radians(4.0)


@dataclass(frozen=True, eq=False)
class Zero:
    """Zero pose: world rotations (J, 4) of all joints, and each part's anatomical frame (quaternion)."""

    world: Array
    frames: dict[str, Array]


def anatomical_zero(
    skeleton: Skeleton, roles: Mapping[str, int], front: Array, poses: Array | None, wrist_twists: bool
) -> Zero:
    """Zero pose of all joints, for a rig at rest facing `front` (3,).

    `poses` (N, J, 4) may show hinge axes; `wrist_twists` says that the palm is turned at the wrist, not the
    forearm.
    """
    front = normalize(front * np.array([1.0, 1.0, 0.0]))
    left = np.cross(UP, front)
    at_rest = skeleton.orientations(skeleton.rest)
    twists: dict[str, tuple[Array, Array]] = {}
    for side in SIDES:
        for upper, lower, end, bends_to in (
            ("upper_arm", "forearm", "hand", front),
            ("thigh", "shin", "foot", -front),
        ):
            parts = (f"{side}_{upper}", f"{side}_{lower}", f"{side}_{end}")
            bend = hinge_direction(skeleton, roles, parts, poses)
            if bend is not None:
                twists[parts[0]] = (bend, bends_to)
        thumbs_up = thumb_side(skeleton, roles, side)
        if thumbs_up is not None:
            hand, fore = roles[f"{side}_hand"], roles[f"{side}_forearm"]
            in_forearm = rotate(multiply(conjugate(at_rest[fore]), at_rest[hand]), thumbs_up)
            part, pointer = ("hand", thumbs_up) if wrist_twists else ("forearm", in_forearm)
            twists[f"{side}_{part}"] = (pointer, front)
    world = straightened(skeleton, roles, at_rest, front, twists)
    frames: dict[str, Array] = {}
    for part in ("spine1", "spine2", "chest", "neck", "head"):
        frames[part] = frame(UP, front)
    for side in SIDES:
        out = left if side == "left" else -left
        frames[f"{side}_eye"] = frame(front, -UP)
        frames[f"{side}_upper_arm"] = frame(out, -UP)
        frames[f"{side}_forearm"] = frame(out, front)
        frames[f"{side}_hand"] = frame(out, -UP)
        frames[f"{side}_thigh"] = frame(-UP, front)
        frames[f"{side}_shin"] = frame(-UP, -front)
        frames[f"{side}_foot"] = frame(-UP, front)
        frames[f"{side}_toes"] = frame(front, -UP)
        for finger in FINGERS[1:]:
            for k in (1, 2, 3):
                frames[f"{side}_{finger}{k}"] = frame(out, -UP)
        clavicle = _direction(skeleton, roles, world, f"{side}_clavicle", out)
        frames[f"{side}_clavicle"] = frame(clavicle, -UP)
        for k in (1, 2, 3):
            thumb = _direction(skeleton, roles, world, f"{side}_thumb{k}", normalize(out + front))
            frames[f"{side}_thumb{k}"] = frame(thumb, -UP - front)
    return Zero(world, {p: f for p, f in frames.items() if p in roles})


def hinge_direction(
    skeleton: Skeleton, roles: Mapping[str, int], parts: tuple[str, str, str], poses: Array | None
) -> Array | None:
    """Which way a hinge bends its lower bone, unit (3,) in the upper joint's frame; None where nothing
    shows it.

    `parts` are upper bone, lower bone and its end. Sample poses (N, J, 4) that bend decide; else the rest
    pose.
    """
    if any(p not in roles for p in parts):
        return None
    upper, lower = roles[parts[0]], roles[parts[1]]
    thigh, shin = bone_end(skeleton, roles, parts[0]), bone_end(skeleton, roles, parts[1])
    if thigh is None or shin is None:
        return None
    for samples in (poses, skeleton.rest[None]):
        if samples is None or not len(samples):
            continue
        # joints between the two (twist bones) count as turned with the upper one
        turn = samples[:, lower]
        j = int(skeleton.parents[lower])
        while j != upper:
            turn = multiply(samples[:, j], turn)
            j = int(skeleton.parents[j])
        across = np.cross(normalize(thigh), rotate(turn, normalize(shin)))
        total = across.mean(axis=0)
        size = float(np.linalg.norm(total))
        if size > np.sin(_TELLING_BEND) and size > 0.8 * float(np.linalg.norm(across, axis=1).mean()):
            # The axis from which the lower bone strays least over all samples, in the sense of least squares.
            main = np.linalg.eigh(across.T @ across)[1][:, -1]
            return normalize(np.cross(main if np.dot(main, total) > 0 else -main, thigh))
    return None


def thumb_side(skeleton: Skeleton, roles: Mapping[str, int], side: str) -> Array | None:
    """Direction across the hand from the little finger to the thumb's side, (3,) in the hand's frame.

    None with fewer than two fingers: the palms then count as facing down with the arms out.
    """
    if f"{side}_hand" not in roles or f"{side}_forearm" not in roles:
        return None
    T = skeleton.T_rest
    hand = roles[f"{side}_hand"]
    knuckles = [roles[f"{side}_{f}1"] for f in FINGERS[1:] if f"{side}_{f}1" in roles]
    if len(knuckles) > 1:
        across = T[knuckles[0], :3, 3] - T[knuckles[-1], :3, 3]
        return normalize(T[hand, :3, :3].T @ across) if np.linalg.norm(across) > 1e-3 else None
    return None


def _direction(skeleton: Skeleton, roles: Mapping[str, int], world: Array, part: str, otherwise: Array) -> Array:
    """Direction of a part's bone in a pose given by world rotations; `otherwise` where it is unknown."""
    end = bone_end(skeleton, roles, part) if part in roles else None
    return otherwise if end is None else normalize(rotate(world[roles[part]], end))


def carries_twist(skeleton: Skeleton, roles: Mapping[str, int], ends: tuple[str, str], poses: Array | None) -> bool:
    """Return whether hands or feet are turned about the bone above them in sample poses: the twist is on the wrong
    joint.

    CMU's skeleton turns the palm at the wrist and the toes at the ankle.
    """
    if poses is None or not len(poses):
        return True
    for part in (p for p in ends if p in roles):
        j = roles[part]
        along = normalize(skeleton.offsets[j])
        step = multiply(poses[:, j], conjugate(poses[0, j]))
        twist = np.unwrap(2.0 * np.arctan2(step[:, 1:] @ along, step[:, 0]))
        if np.ptp(twist) > _TELLING_TWIST:
            return True
    return False
