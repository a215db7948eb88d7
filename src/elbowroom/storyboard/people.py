"""Construction of a storyboard's characters: body, motion, start position, and what they hold from the start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.body import Body, Character
from elbowroom.character.human import PRESETS, human, preset
from elbowroom.character.robot import Robot, mobile_arm
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.clip_library import read_clip_library
from elbowroom.files.open import ImportHints, Opened, open_file
from elbowroom.files.urdf import read_urdf
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.kept import Arrays, contents, package_sources, remembered
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.standing import at_ease, idle
from elbowroom.locomotion.walk import run, walk, walk_along, walk_to_run
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.contacts import estimate_floor
from elbowroom.motion.edit import place, without_lead
from elbowroom.motion.retarget import retarget
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.storyboard.cast import BodySource, CharacterPart, ClipSource, JointKey, RobotSource
from elbowroom.storyboard.things import existing, quaternion
from elbowroom.world.things import Thing

_SUFFIX_CLIP = "give a .bvh, .amc, .c3d, .fbx, .glb, .gltf, .npz or .npy"
_SUFFIX_BODY = "give a .glb, .gltf, .fbx, .bvh, .asf or .npz with a rig"


def library_named(name: str | None, folder: Path) -> ClipLibrary | None:
    """The clip library of a file in a folder, or that of the package where it is called 'recorded'."""
    if name is None or name == "recorded":
        return None if name is None else recorded_cycles()
    return read_clip_library(existing(folder / name, "give 'recorded' or a library written by elbowroom library"))


def recording_named(name: str, folder: Path) -> Clip:
    """The recorded motion of a file in a folder, with known faults of CMU's BVH rigs fixed."""
    path = existing(folder / name, _SUFFIX_CLIP)
    opened = open_file(path, ImportHints(fix_rig=True)).with_solved_markers()
    if not opened.clips:
        raise BadFile(path, "contains no motion", would_do=_SUFFIX_CLIP)
    return without_lead(opened.clip())


class CharacterBuild:
    """One character of a storyboard, built in steps so that each fault is reported at its key."""

    def __init__(self, name: str, part: CharacterPart, folder: Path, fps: float) -> None:
        self._name, self._part, self._folder, self._fps = name, part, folder, fps
        self.notes: list[str] = []

    def body(self) -> Body | None:
        """Requested body, None for that of the clip."""
        source = self._part.body
        if source is None:
            return None
        if isinstance(source, str):
            if source in PRESETS:
                return preset(source)
            source = BodySource(file=source)
        if source.human is not None:
            return human(name=self._name, **source.human.model_dump())
        if source.preset is not None:
            return preset(source.preset)
        if source.robot is not None:
            return self._robot(source.robot)
        assert source.file is not None
        opened = self._open(source.file, ImportHints(source.units, source.up), _SUFFIX_BODY)
        if not opened.characters:
            raise BadFile(opened.path, "has no character", would_do=_SUFFIX_BODY)
        return next(iter(opened.characters.values()))

    def motion(self, body: Body | None, floor: float | None) -> Motion:
        """Motion of the body at its position in the storyboard."""
        if isinstance(body, Robot):
            return self._robot_motion(body)
        assert body is None or isinstance(body, Character)
        clip = self._clip(body)
        if body is not None and clip.character is not body:
            clip = retarget(clip, body)
            self.notes += [f"{self._name}: {note}" for note in clip.source.notes]
        part = self._part
        lift = part.lift
        if isinstance(lift, str):
            lift = (floor or 0.0) - estimate_floor(clip)
        elif "lift" not in part.model_fields_set and not self._recorded:
            lift = floor or 0.0  # built-in motions are made on a floor at 0
        clip = place(clip, part.at, np.radians(part.turn), lift=lift)
        return clip if part.start is None else clip.with_(start=part.start)

    @property
    def _recorded(self) -> bool:
        """Return whether the motion is read from a file."""
        source = self._part.clip
        return isinstance(source, str) or (source is not None and source.file is not None)

    def _clip(self, body: Character | None) -> Clip:
        source = self._part.clip
        if source is None:
            assert body is not None
            return at_ease(body)
        if isinstance(source, str):
            source = ClipSource(file=source)
        if source.file is not None:
            hints = ImportHints(source.units, source.up, source.fps, source.fix_rig, self._asf(source))
            return self._open(source.file, hints, _SUFFIX_CLIP).clip(source.clip)
        return self._built_in(source, body or human(name=self._name))

    def _built_in(self, source: ClipSource, body: Character) -> Clip:
        for gait, make in ((source.walk, walk), (source.run, run)):
            if gait is not None:
                options: dict[str, Any] = {} if gait.speed is None else {"speed": gait.speed}
                options |= {"seed": gait.seed, "library": library_named(gait.library, self._folder)}
                return make(body, turn=gait.turn, seconds=gait.seconds, fps=self._fps, **options)
        if source.walk_to_run is not None:
            change = source.walk_to_run
            return walk_to_run(body, change.walking, change.running, change.seconds, self._fps, seed=change.seed)
        if source.idle is not None:
            return idle(body, source.idle.seconds, self._fps, seed=source.idle.seed)
        if source.walk_along is None:
            raise BadValue("joint keyframes are for robots, and this is a person; give a walk or a file")
        along = source.walk_along
        library = library_named(along.library, self._folder)
        return walk_along(body, np.array(along.path), along.speed, fps=self._fps, seed=along.seed, library=library)

    def _robot(self, source: RobotSource) -> Robot:
        """Robot of a URDF file, or the built-in one."""
        if source.file is None:
            if source.base not in (None, "wheels") or source.packages:
                raise BadValue("the built-in robot has a base on wheels; give a 'file' for others")
            return mobile_arm(self._name, reach=source.reach, drive=source.drive or "differential")
        folders = [self._folder / p for p in source.packages]
        path = self._existing(source.file, "give a .urdf")
        robot = read_urdf(path, packages=folders, base=source.base or "fixed")
        self.notes += robot.notes
        return robot if source.drive is None else robot.with_(drive=source.drive)

    def _robot_motion(self, robot: Robot) -> RobotClip:
        """Motion of a robot through its keyframes, placed by `at` and `turn` of the character."""
        source, part = self._part.clip, self._part
        if source is not None and (isinstance(source, str) or source.keys is None):
            raise BadValue(f"{robot.name} is a robot; give 'keys' with its joint values")
        keys = [JointKey(t=0.0)] if source is None else source.keys or []
        lift = 0.0 if isinstance(part.lift, str) else part.lift
        around = quaternion(part.turn)
        values: dict[str, float] = {}
        at, turn = np.zeros(3), quaternion(0.0)
        poses = []
        for key in keys:
            values |= key.joints
            at = at if key.at is None else np.array(key.at)
            turn = turn if key.turn is None else quaternion(key.turn)
            place = rot.rotate(around, at) + [*part.at, lift]
            poses.append(robot.pose(values, place, rot.multiply(around, turn)))
        times = np.array([key.t for key in keys]) + (part.start or 0.0)
        return RobotClip.of(robot, poses, times, self._name)

    def _asf(self, source: ClipSource) -> Path | None:
        return None if source.asf is None else self._folder / source.asf

    def _open(self, file: str, hints: ImportHints, would_do: str) -> Opened:
        opened = open_file(self._existing(file, would_do), hints)
        self.notes += [f"{file}: {note}" for note in opened.notes]
        return opened

    def _existing(self, file: str, would_do: str) -> Path:
        return existing(self._folder / file, would_do)


def held_from_start(
    motion: Motion, hand: str, thing: Thing, during: tuple[float, float], *, released: bool
) -> tuple[Motion, Array] | None:
    """Motion of a person whose hand is closed on an object during some seconds, and `T_hand_object` (4, 4).

    None where the hand cannot close on it; see `holding_clip` for the arm, and for `released`.
    """
    body = motion.body
    assert isinstance(body, Character)
    clip = motion if isinstance(motion, Clip) else None

    def make() -> Arrays:
        # whatever chooses grasps takes a third of a second to import
        from elbowroom.posing.grasps import held_grasp
        from elbowroom.posing.held import holding_clip

        grasp = held_grasp(body, hand, thing, released=released)
        if grasp is None:
            return {}
        arrays = {"place": inverse(grasp.T_thing_hand)}
        if clip is not None:
            arrays["rotations"] = holding_clip(clip, thing, grasp, during, released=released).rotations
        return arrays

    frames = () if clip is None else (clip.root, clip.rotations, clip.fps, clip.start)
    made_of = (body.skeleton, body.shapes, body.limits, body.roles, body.height, thing.frames, thing.grasps)
    key = (thing.mesh.vertices, thing.mesh.faces, *frames, *contents(made_of))
    held = remembered("held", (package_sources(), hand, *during, released, *key), make)
    if not held:
        return None
    return motion if clip is None else clip.with_(rotations=held["rotations"]), held["place"]
