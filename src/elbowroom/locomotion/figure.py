"""A character measured for walking, poses assembled in one common frame, and limits of a clip.

Every rig is first brought to the same standing figure: facing -Y, arms straight out to the sides, palms down. A pose is
then a rotation of each body part against its parent in those axes, whatever frames the rig itself has.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.gait_tables import REFERENCE_LEG
from elbowroom.motion.clip import Clip

SIDES = ("left", "right")
_LEG = ("thigh", "shin", "foot")
_NEEDED = ("pelvis", *(f"{side}_{part}" for side in SIDES for part in _LEG))
# A child of each arm segment, in order of preference, that gives the direction of the segment.
_ARM_ENDS = {"upper_arm": ("forearm",), "forearm": ("hand",), "hand": ("middle1", "index1", "ring1")}


# Arms this close to straight out (radians) are left as they are: rest poses are not exact.
_STRAIGHT_ENOUGH = np.radians(12.0)


@dataclass(frozen=True, eq=False)
class Figure:
    """The standing figure of a character: world rotations (J, 4) and positions (J, 3) of its joints, floor at 0."""

    character: Character
    rotations: Array
    positions: Array

    def has(self, role: str) -> bool:
        """Return whether the character has that body part."""
        return role in self.character.roles

    def at(self, role: str) -> Array:
        """Position (3,) of a joint in the standing figure."""
        return self.positions[self.character.role(role)]

    @cached_property
    def leg(self) -> float:
        """Length of the leg from hip joint to sole, metres."""
        return float(np.mean([self.at(f"{side}_thigh")[2] for side in SIDES]))

    @cached_property
    def scale(self) -> float:
        """Length of the leg relative to the adults of the gait tables."""
        return self.leg / REFERENCE_LEG

    def hinge(self, role: str) -> Array:
        """Unit axis (3,) about which a positive turn bends an elbow or a knee, from its limit where it has one."""
        usual = np.array([1.0, 0.0, 0.0])
        if role.endswith("forearm"):
            usual = np.array([0.0, 0.0, -1.0 if role.startswith("left") else 1.0])
        j = self.character.role(role)
        limit = self.character.limits[j] if j < len(self.character.limits) else None
        parent = int(self.character.skeleton.parents[j])
        if limit is None or limit.kind != "hinge" or parent < 0:
            return usual
        own = rot.rotate(self.rotations[parent], rot.rotate(limit.pre, np.array([1.0, 0.0, 0.0])))
        return own if float(own @ usual) > 0.9 else usual

    def assemble(self, turns: Mapping[str, Array], root: Array) -> tuple[Array, Array]:
        """Root positions (N, 3) and local rotations (N, J, 4) of poses.

        turns: for each role the rotation (N, 4) or (4,) against its parent in the standing figure's axes (the pelvis:
        against the world); root: position of the pelvis joint, (N, 3).
        """
        skeleton, stem = self.character.skeleton, self.character.stem
        role_of = {0: "pelvis"} | {j: role for role, j in self.character.roles.items() if j not in stem}
        local = np.empty((len(root), len(skeleton), 4))
        for j in range(len(skeleton)):
            p = int(skeleton.parents[j])
            turn = turns.get(role_of.get(j, ""), rot.IDENTITY)
            own = self.rotations[j]
            before = rot.IDENTITY if p < 0 else rot.conjugate(self.rotations[p])
            local[:, j] = rot.multiply(rot.multiply(before, turn), own)
        return self.character.root_under(root, local), local

    @cached_property
    def but_legs(self) -> tuple[int, ...]:
        """Joints other than those of pelvis and legs, whose rotations may be clamped without moving a foot."""
        legs = {j for side in SIDES for j in self.character.skeleton.subtree(self.character.role(f"{side}_thigh"))}
        return tuple(j for j in range(len(self.positions)) if j not in legs and j not in self.character.stem)

    def clip(
        self, turns: Mapping[str, Array], root: Array, fps: float, name: str, clamped: Collection[int] = ()
    ) -> Clip:
        """Clip of poses as `assemble` takes them, with some joints clamped to their limits."""
        where, local = self.assemble(turns, root)
        for j, limit in enumerate(self.character.limits):
            if limit is not None and j in clamped:
                local[:, j] = limit.clamp(local[:, j])
        return Clip(self.character, fps, where, local, name=name)


def can_walk(character: Character) -> bool:
    """Return whether a character has all parts that standing and walking need."""
    return all(role in character.roles for role in _NEEDED)


@lru_cache(maxsize=32)
def figure(character: Character) -> Figure:
    """Measure a character, once; `BadValue` where it lacks parts that walking needs."""
    missing = [role for role in _NEEDED if role not in character.roles]
    if missing:
        raise BadValue(f"{character.name} cannot walk: it has no {', '.join(missing)}.")
    skeleton = character.skeleton
    front = np.asarray(character.front, dtype=float)
    face = rot.about([0.0, 0.0, 1.0], -np.pi / 2 - np.arctan2(front[1], front[0]))
    world = rot.multiply(face, rot.from_matrix(skeleton.T_rest[:, :3, :3]))
    points = rot.rotate(face, skeleton.T_rest[:, :3, 3])
    fixes = _arm_fixes(character, points)
    aligned = world.copy()
    extra = np.tile(rot.IDENTITY, (len(skeleton), 1))
    for j in range(len(skeleton)):
        p = int(skeleton.parents[j])
        extra[j] = fixes.get(j, extra[p] if p >= 0 else rot.IDENTITY)
        aligned[j] = rot.multiply(extra[j], world[j])
    local = np.empty_like(aligned)
    for j in range(len(skeleton)):
        p = int(skeleton.parents[j])
        local[j] = aligned[j] if p < 0 else rot.multiply(rot.conjugate(aligned[p]), aligned[j])
    T = skeleton.forward(rot.rotate(face, skeleton.offsets[0]), local)
    positions = T[:, :3, 3].copy()
    middle = 0.5 * (positions[character.role("left_thigh")] + positions[character.role("right_thigh")])
    positions -= np.array([middle[0], middle[1], _floor(character)])
    return Figure(character, aligned, positions)


def _arm_fixes(character: Character, points: Array) -> dict[int, Array]:
    """World rotations that bring each arm segment of the rest pose straight out to its side."""
    fixes: dict[int, Array] = {}
    for side, x in (("left", 1.0), ("right", -1.0)):
        for part, ends in _ARM_ENDS.items():
            j = character.roles.get(f"{side}_{part}")
            k = next((character.roles[f"{side}_{e}"] for e in ends if f"{side}_{e}" in character.roles), None)
            if j is not None and k is not None:
                turn = rot.arc(points[k] - points[j], [x, 0.0, 0.0])
                if rot.angle(turn) > _STRAIGHT_ENOUGH:
                    fixes[j] = turn
    return fixes


def _floor(character: Character) -> float:
    """Height of the soles in the rest pose: of the skin where there is one, else under the lowest joint."""
    if character.skin is not None:
        return float(np.min(character.skin.posed(character.skeleton.T_rest)[:, 2]))
    lowest = float(np.min(character.skeleton.T_rest[:, 2, 3]))
    if character.shapes:
        for shape in character.shapes:
            T = character.skeleton.T_rest[shape.joint] @ shape.T_joint_shape
            if shape.kind == "capsule":
                lowest = min(lowest, float(T[2, 3] - abs(T[2, 2]) * shape.size[1] - shape.size[0]))
    return lowest


def check(what: str, value: float, low: float, high: float, unit: str) -> None:
    """`BadValue` unless a number is within its range."""
    if not (np.isfinite(value) and low - 1e-9 <= value <= high + 1e-9):
        raise BadValue(f"{what} must be between {low:g} and {high:g} {unit}, not {value:g}.")


# Longest built-in clip, seconds and frames: 600 s at 60 fps. Frames take about 1.5 ms each.
LONGEST_S = 600.0
MOST_FRAMES = 36_000


def check_time(seconds: float, fps: float) -> None:
    """`BadValue` unless a clip of that length and frame rate makes sense."""
    if not (np.isfinite(seconds) and 0.0 < seconds <= LONGEST_S):
        raise BadValue(f"a clip must last between 0 and {LONGEST_S:g} seconds, not {seconds:g}.")
    if not (np.isfinite(fps) and 5.0 <= fps <= 480.0):
        raise BadValue(f"a clip must have between 5 and 480 frames per second, not {fps:g}.")
    if seconds * fps > MOST_FRAMES:
        raise BadValue(f"{seconds:g} s at {fps:g} frames per second exceed the limit of {MOST_FRAMES} frames.")
