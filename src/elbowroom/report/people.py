"""Characters of a world for a report: frames, joints in the world, names of their parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.contacts import Contacts
from elbowroom.motion.edit import without_lead
from elbowroom.motion.layers import to_clip
from elbowroom.motion.smooth import smoothed_clip
from elbowroom.motion.stance import stance_contacts
from elbowroom.world.world import World

# Common names of the joint that moves a segment.
_JOINTS = {
    "clavicle": "collarbone",
    "upper_arm": "shoulder",
    "forearm": "elbow",
    "hand": "wrist",
    "thigh": "hip",
    "shin": "knee",
    "foot": "ankle",
    "spine1": "low back",
    "spine2": "mid back",
    "chest": "upper back",
}
_SEGMENTS = {"spine1": "waist", "spine2": "ribs"}
# A first frame is artificial where joints turn by this much to the second on average, radians; in clips of so many
# frames.
_APART, _FEW = float(np.radians(3.0)), 8
_FINGERS = ("thumb", "index", "middle", "ring", "little")


@dataclass(frozen=True, eq=False)
class Subject:
    """Character under report: the clip without artificial frames, and data shared by several measures."""

    name: str
    clip: Clip

    @property
    def character(self) -> Character:
        """Character of the motion."""
        return self.clip.character

    @property
    def times(self) -> Array:
        """Times of the frames (T,), seconds."""
        return self.clip.times

    @cached_property
    def T(self) -> Array:
        """Joints in the world at every frame, (T, J, 4, 4)."""
        return self.clip.world()

    @cached_property
    def smooth(self) -> Clip:
        """The clip below 6 Hz."""
        return smoothed_clip(self.clip)

    @cached_property
    def T_smooth(self) -> Array:
        """Joints in the world of the smooth clip, (T, J, 4, 4)."""
        return self.smooth.world()

    @cached_property
    def contacts(self) -> Contacts | None:
        """Contacts of heels and balls of the feet; None for a rig without feet."""
        return stance_contacts(self.clip) if has_feet(self.character) else None

    @cached_property
    def size(self) -> float:
        """Height of the joints in the rest pose relative to an adult's."""
        z = self.character.skeleton.T_rest[:, 2, 3]
        return max(float(np.ptp(z)) / 1.6, 1e-3)

    def joint(self, j: int) -> str:
        """Joint in words: 'left elbow', or the rig's own name if it has no known role."""
        role = next((r for r, k in self.character.roles.items() if k == j), None)
        return self.character.skeleton.names[j] if role is None else words_for(role)


def has_feet(character: Character) -> bool:
    """Return whether both legs were found, down to the feet."""
    return {f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot")} <= set(
        character.roles
    )


def subject_of(name: str, motion: Motion) -> Subject | None:
    """Subject of a character's motion; None for a robot."""
    if not isinstance(motion.body, Character):
        return None
    clip = motion if isinstance(motion, Clip) else to_clip(motion)
    return Subject(name, without_lead(clip) if clip.source.lead < len(clip) else clip)


def leads_marked(world: World) -> World:
    """World with artificial first frames marked: results of repair keep them, and NPZ and GLB files cannot mark
    them."""
    for name, clip in world.characters.items():
        if isinstance(clip, Clip) and clip.source.lead == 0 and _begins_apart(clip):
            world = world.with_character(name, clip.with_(source=replace(clip.source, lead=1)))
            note = f"the first frame of {name} is an artificial pose far from the second one and is ignored."
            world = world.with_(notes=(*world.notes, note))
    return world


def _begins_apart(clip: Clip) -> bool:
    """Return whether the whole body jumps between the first two frames as nowhere else."""
    if len(clip) < _FEW:
        return False
    turn = rot.multiply(rot.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    steps = np.mean(np.linalg.norm(rot.log(turn), axis=-1), axis=1)
    return bool(steps[0] > max(_APART, 5.0 * float(steps[1:].max())))


def words_for(role: str) -> str:
    """Everyday name of the joint that moves a part: 'left_forearm' is the left elbow."""
    side, _, part = role.partition("_")
    if side in ("left", "right"):
        return f"{side} {_JOINTS.get(part, segment_words(part))}"
    return _JOINTS.get(role, segment_words(role))


def segment_words(role: str) -> str:
    """Everyday name of a part: 'right_ring3' is a right ring finger."""
    part = role.rstrip("123")
    finger = part.rpartition("_")[2]
    if finger in _FINGERS and part != role:
        return part.replace("_", " ") + ("" if finger == "thumb" else " finger")
    return _SEGMENTS.get(role, role.replace("_", " "))
