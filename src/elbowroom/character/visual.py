"""Visible form of a character: skin, collision shapes or bones, always as a mesh bound to joints.

Rigs without a skin get the built-in person's. A person is made whose limbs are as long as the rig's, shoulders and hips
as far apart; trunk, head, hands and feet follow the tables. Her parts are bound to the rig's joints of the same roles
where both are in the zero pose, arms out and legs straight. Collisions are found with the rig's own shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np

from elbowroom.character.anatomy import limits_for
from elbowroom.character.anthropometry import Proportions, Scales, proportions
from elbowroom.character.body import Body, Character, Skin
from elbowroom.character.fit_shapes import stature
from elbowroom.character.hands import FINGERS, relaxed_bend
from elbowroom.character.human_joints import carrier, rest_positions, skeleton_at
from elbowroom.character.mannequin import mannequin_skin
from elbowroom.character.mannequin_fit import MIRROR
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.kept import KeptTogether
from elbowroom.geometry.mesh import Color, Mesh
from elbowroom.geometry.rotations import UP, Array, from_matrix, multiply
from elbowroom.geometry.shapes import capsule_mesh, octahedron, shape_mesh
from elbowroom.geometry.transforms import apply, inverse

SIDES = ("left", "right")
_LIMBS = ("thigh", "shin", "foot", "upper_arm", "forearm", "hand")
_HANDS = tuple(f"{finger}{k}" for finger in FINGERS for k in (1, 2, 3))
_STRAIGHT = ("upper_arm", "forearm", "hand", "thigh", "shin", *_HANDS)
_TRUNK = ("spine1", "spine2", "chest", "neck", "head", "left_clavicle", "right_clavicle", "left_eye", "right_eye")
_CARRIED = {"hand": _HANDS, "foot": ("toes",)}
_NEEDED = frozenset({"pelvis", "chest", "head", *(f"{side}_{part}" for side in SIDES for part in _LIMBS)})
# Ratios of lengths to those of the tables beyond which a rig has no person's shape.
_LEAST_RATIO = 0.4
_MOST_RATIO = 2.5

# By skeleton and ranges of the joints: copies of a character with other shapes or clothes share one.
_made: KeptTogether[Skin | None] = KeptTogether(64)


def fitted_skin(character: Character) -> Skin | None:
    """The built-in person's skin on a rig; None where limbs are missing or the rig has no person's proportions."""
    owners = (character.skeleton, *(limit for limit in character.limits if limit is not None))
    front = np.asarray(character.front).tobytes()
    return _made.of(owners, (tuple(character.roles.items()), front), lambda: _fitted(character))


def _fitted(character: Character) -> Skin | None:
    if not set(character.roles) >= _NEEDED:
        return None
    T_zero = _zero_pose(character)
    # axes in which the rig faces -Y with its left at +X, the hips' centre at the origin
    front = np.asarray(character.front) * [1.0, 1.0, 0.0]
    back = -front / np.linalg.norm(front)
    T_person_rig = np.eye(4)
    T_person_rig[:3, :3] = np.stack([np.cross(back, UP), back, UP])
    hips = T_zero[[character.roles[f"{side}_thigh"] for side in SIDES], :3, 3].mean(axis=0)
    T_person_rig[:3, 3] = -T_person_rig[:3, :3] @ hips
    at = dict(zip(character.roles, apply(T_person_rig, T_zero[list(character.roles.values()), :3, 3]), strict=True))
    try:
        p = _proportions(stature(character.skeleton, character.roles), at)
    except BadValue:
        return None
    person = _person(p, at)
    skin = mannequin_skin(person, p)
    if not _has_hands(at):
        # the skin with fingers bent as they hang, for hands without joints
        limits = limits_for(person, {name: j for j, name in enumerate(person.names)}, np.array([0.0, -1.0, 0.0]))
        T_bind = inverse(skin.inverse_bind)
        local = person.local(from_matrix(T_bind[:, :3, :3]))
        for j, name in enumerate(person.names):
            if name.partition("_")[2] in _HANDS:
                local[j] = relaxed_bend(name, person.rest[j], limits[j])
        skin = replace(skin, vertices=skin.posed(person.forward(T_bind[0, :3, 3], local)))
    return _bound(skin, person, character, T_zero, T_person_rig)


def _zero_pose(character: Character) -> Array:
    """World transforms (J, 4, 4) of the rig with arms straight out and legs straight down.

    Trunk, head and feet stay as they rest: there, directions between joints depend more on the rig than on the pose.
    """
    skeleton = character.skeleton
    local = np.array(skeleton.rest)
    for j, limit in enumerate(character.limits):
        if limit is not None:
            local[j] = limit.rotation(np.zeros(3))
    zero, world = skeleton.orientations(local), skeleton.orientations(skeleton.rest)
    role_of = {j: role.partition("_")[2] for role, j in character.roles.items() if role.startswith(SIDES)}
    for j, parent in enumerate(skeleton.parents):
        if role_of.get(j) in _STRAIGHT:
            world[j] = zero[j]
        elif j not in character.roles.values() and parent >= 0:
            world[j] = multiply(world[parent], skeleton.rest[j])
    return skeleton.forward(skeleton.offsets[0], skeleton.local(world))


def _proportions(height: float, at: Mapping[str, Array]) -> Proportions:
    """Proportions of the person nearest to a rig with joints at (3,) by role and legs of a person `height` metres tall.

    Raises `BadValue` for impossible proportions.
    """
    usual = rest_positions(proportions(height))

    def ratio(size: Callable[[Mapping[str, Array], str], float]) -> float:
        return sum(size(at, side) for side in SIDES) / sum(size(usual, side) for side in SIDES)

    ratios = {
        "trunk": ratio(lambda m, s: m[f"{s}_upper_arm"][2] - m[f"{s}_thigh"][2]),
        "arm": ratio(lambda m, s: float(np.linalg.norm(m[f"{s}_hand"] - m[f"{s}_upper_arm"]))),
        "shoulder": ratio(lambda m, s: abs(m[f"{s}_upper_arm"][0])),
        "hip": ratio(lambda m, s: abs(m[f"{s}_thigh"][0])),
    }
    if any(not _LEAST_RATIO < r < _MOST_RATIO for r in ratios.values()):
        raise BadValue("the proportions are not those of a person.")
    scales = Scales(**ratios)
    # At a given height a longer trunk would shorten the legs: the height grows instead.
    return proportions(height * height / proportions(height, scales=scales).unit, scales=scales)


def _person(p: Proportions, at: Mapping[str, Array]) -> Skeleton:
    """The person's skeleton with limbs where the rig has them at (3,) by role, the mean of both sides."""
    places = rest_positions(p)
    low, shoulder = places["pelvis"], places["left_upper_arm"]
    for part in (*_LIMBS, *(_HANDS if _has_hands(at) else ())):
        mean = low + 0.5 * (at[f"left_{part}"] + at[f"right_{part}"] * MIRROR)
        for side, flip in zip(SIDES, (np.ones(3), MIRROR), strict=True):
            shift = mean * flip - places[f"{side}_{part}"]
            for moved in (part, *_CARRIED.get(part, ())):
                places[f"{side}_{moved}"] = places[f"{side}_{moved}"] + shift
    # The trunk leans evenly to where the shoulders are.
    lean = places["left_upper_arm"][1] - shoulder[1]
    for part in _TRUNK:
        share = (places[part][2] - low[2]) / (shoulder[2] - low[2])
        places[part] = places[part] + [0.0, min(share, 1.0) * lean, 0.0]
    return skeleton_at(places)


def _has_hands(roles: Container[str]) -> bool:
    """Return whether both hands have all bones of five fingers; those of a mitten move with the hand."""
    return all(f"{side}_{bone}" in roles for side in SIDES for bone in _HANDS)


def _bound(skin: Skin, person: Skeleton, character: Character, T_zero: Array, T_person_rig: Array) -> Skin:
    """The person's skin on the rig's joints: each part follows the joint of its role, or of the part above it."""
    hands = _has_hands(character.roles)
    roles = {role: j for role, j in character.roles.items() if hands or role.partition("_")[2] not in _HANDS}
    T_rig_person = inverse(T_person_rig)
    T_rig_person[:3, 3] -= T_rig_person[:3, :3] @ person.offsets[0]
    inverse_bind = inverse(T_zero) @ T_rig_person
    role_of = {j: role for role, j in roles.items()}
    for j, parent in enumerate(character.skeleton.parents):
        role = role_of.get(j)
        if role is not None and role in person.names:
            m = person.names.index(role)
            T_place = T_rig_person @ person.T_rest[m]
            if role.startswith(SIDES) and role.partition("_")[2] in (*_LIMBS, *_HANDS):
                T_place[:3, 3] = T_zero[j, :3, 3]
            inverse_bind[j] = inverse(T_zero[j]) @ T_place @ skin.inverse_bind[m]
        elif parent >= 0:
            inverse_bind[j] = inverse(T_zero[j]) @ T_zero[parent] @ inverse_bind[parent]
    joints = np.array([carrier(name, roles) for name in person.names], dtype=np.int32)[skin.joints]
    # a joint that is named twice has all its weight at its first place
    out = np.array(skin.weights)
    for k in range(1, joints.shape[1]):
        for first in range(k):
            same = joints[:, first] == joints[:, k]
            out[same, first] += out[same, k]
            out[same, k] = 0.0
    return replace(skin, joints=joints, weights=out, inverse_bind=inverse_bind)


Show = Literal["skin", "shapes", "bones"]
SHOWS: tuple[Show, ...] = ("skin", "shapes", "bones")

SHAPE_COLOR: Color = (0.36, 0.46, 0.58)
BONE_COLOR: Color = (0.74, 0.56, 0.30)


def visible(body: Body, show: Show = "skin") -> Skin:
    """The mesh that shows a body: as asked where it has that, else its shapes, else its bones.

    People without a skin wear the built-in person's, fitted to their bones.
    """
    if show not in SHOWS:
        raise BadValue(f"a character is shown as 'skin', 'shapes' or 'bones', not '{show}'.")
    if show == "skin" and isinstance(body, Character):
        skin = seen_skin(body)
        if skin is not None:
            return skin
    if show != "bones" and body.shapes:
        return shapes_skin(body)
    return bones_skin(body)


def seen_skin(body: Character) -> Skin | None:
    """Skin in which a person is shown: its own, else the built-in person's, fitted to its bones; None if that fails."""
    return body.skin if body.skin is not None and len(body.skin.faces) else fitted_skin(body)


def shapes_skin(body: Body, color: Color = SHAPE_COLOR) -> Skin:
    """Collision shapes as a mesh that is bound rigidly, each part to its joint."""
    parts = [(shape.joint, shape_mesh(shape)) for shape in body.shapes]
    return _rigid_skin(parts, body.T_rest, color)


def bones_skin(body: Body, color: Color = BONE_COLOR) -> Skin:
    """Bones as octahedra from each joint to its children as they rest, with a small ball at every joint."""
    parents, T = body.parents, body.T_rest
    offsets = np.zeros((len(parents), 3))
    offsets[1:] = (inverse(T[parents[1:]]) @ T[1:])[:, :3, 3]
    length = np.linalg.norm(offsets, axis=1)
    reach = float(np.sum(length) / max(1, np.count_nonzero(length)))
    parts: list[tuple[int, Mesh]] = []
    for j, parent in enumerate(parents):
        width = float(np.clip(0.18 * length[j], 0.04 * reach, 0.6 * reach)) if length[j] > 0 else 0.1 * reach
        parts.append((j, capsule_mesh(max(0.28 * width, 1e-3), 0.0, segments=8)))
        if parent >= 0 and length[j] > 1e-6:
            parts.append((int(parent), octahedron(np.zeros(3), offsets[j], width)))
    return _rigid_skin(parts, T, color)


def _rigid_skin(parts: list[tuple[int, Mesh]], T_rest: Array, color: Color) -> Skin:
    """Meshes in the frames of their joints as one skin, bound in the rest pose (J, 4, 4)."""
    starts = np.cumsum([0, *(len(mesh.vertices) for _, mesh in parts[:-1])])
    owner = np.concatenate([np.full(len(mesh.vertices), joint) for joint, mesh in parts])
    return Skin(
        vertices=np.concatenate([apply(T_rest[joint], mesh.vertices) for joint, mesh in parts]),
        faces=np.concatenate([mesh.faces + start for (_, mesh), start in zip(parts, starts, strict=True)]),
        joints=owner[:, None],
        weights=np.ones((len(owner), 1)),
        inverse_bind=inverse(T_rest),
        color=color,
    )
