"""Recordings that whole bodies follow: their clips as motions of one body, and its database of postures (P3, P8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import resample
from elbowroom.motion.posture_angles import AngleDatabase
from elbowroom.motion.retarget import retarget
from elbowroom.plan.tight.criteria import component_joints

# Roles of joints whose positions are compared with recordings.
_POINTS = ("pelvis", "chest", "head", "left_thigh", "left_shin", "left_foot", "right_thigh", "right_shin", "right_foot",
           "left_upper_arm", "left_forearm", "left_hand", "right_upper_arm", "right_forearm", "right_hand")  # fmt: skip
# Roles of joints without which a recording says nothing of a whole body, and its shortest duration, seconds.
_NEEDED = ("left_upper_arm", "right_upper_arm", "left_thigh", "right_thigh")
_SHORTEST_S = 0.3
# Parts of the recordings, each of which a blend is to be more like: what is like one alone will not be like others.
_FOLDS = 2
# Frame rate of recordings.
_CAPTURE_FPS = 30.0


@dataclass(frozen=True, eq=False)
class Capture:
    """Recordings for one body: postures in joint angles with counts, and clips with positions of some joints."""

    database: AngleDatabase
    clips: tuple[Clip, ...] = ()
    points: tuple[Array, ...] = ()

    @staticmethod
    def of(body: Character, clips: Sequence[Clip]) -> Capture:
        """Capture from clips that are already those of the body."""
        if not clips:
            raise BadValue("capture needs at least one recording; omit it to plan without recordings.")
        for clip in clips:
            if clip.rotations.shape[1] != len(body.skeleton):
                raise BadValue(f"a recording has {clip.rotations.shape[1]} joints and {body.name} has "
                               f"{len(body.skeleton)}; retarget it with er.retarget(clip, body) first.")  # fmt: skip
        frames = [clip.rotations[:: max(round(clip.fps / 15.0), 1)] for clip in clips]
        folds = np.repeat(np.arange(len(clips)) % _FOLDS, [len(some) for some in frames])
        database = AngleDatabase.of(np.concatenate(frames), component_joints(body), folds=folds)
        points = tuple(points_of(body, body.transforms(clip.root, clip.rotations)) for clip in clips)
        return Capture(database, tuple(clips), points)


def checked_recording(clip: Clip) -> Clip:
    """The recording, if whole bodies can follow it; raises `BadValue` for one that is too short or has no limbs."""
    lacks = [role.replace("_", " ") for role in _NEEDED if role not in clip.character.roles]
    if lacks:
        raise BadValue(f"this recording has no {lacks[0]}; whole bodies follow recordings of arms and legs.")
    if clip.duration < _SHORTEST_S:
        raise BadValue(f"this recording lasts {clip.duration:.2g} s; whole bodies follow recordings of "
                       f"{_SHORTEST_S:g} s or more.")  # fmt: skip
    return clip


@lru_cache(maxsize=4)
def capture_for(body: Character, recordings: tuple[Clip, ...]) -> Capture:
    """Capture from recordings of any rig, as motions of a body."""
    return Capture.of(body, [retarget(resample(checked_recording(clip), _CAPTURE_FPS), body) for clip in recordings])


def points_of(body: Character, T: Array) -> Array:
    """Positions (T, K, 3) of the joints by which postures are compared with recordings."""
    joints = [body.roles[role] for role in _POINTS if role in body.roles]
    return np.ascontiguousarray(T[..., :3, 3][:, joints])
