"""Characters of a storyboard: bodies and motions."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, Tag, field_validator, model_validator

from elbowroom.character.anthropometry import Sex
from elbowroom.storyboard.values import (
    BY_FORM,
    FloorPoint,
    Number,
    PointValue,
    Positive,
    SecondsValue,
    StoryboardPart,
    Text,
    TurnValue,
    only_one,
    rising,
    wrong,
)


class Human(StoryboardPart):
    """The built-in person."""

    height: Positive = 1.70
    mass: Positive | None = None
    sex: Sex = "average"
    leg_scale: Positive = 1.0
    arm_scale: Positive = 1.0
    trunk_scale: Positive = 1.0
    head_scale: Positive = 1.0
    hand_scale: Positive = 1.0
    foot_scale: Positive = 1.0
    shoulder_scale: Positive = 1.0
    hip_scale: Positive = 1.0
    trunk_girth_scale: Positive = 1.0
    arm_girth_scale: Positive = 1.0
    leg_girth_scale: Positive = 1.0
    skin: bool = True


class RobotSource(StoryboardPart):
    """A robot from a URDF file; without a file, the built-in arm of six joints on a base that rolls."""

    file: Text | None = None
    base: Literal["fixed", "wheels", "free"] | None = Field(default=None, description="'fixed' unless built in.")
    drive: Literal["differential", "omnidirectional"] | None = Field(
        default=None, description="A base on wheels rolls along its heading (as the built-in one), or in any direction."
    )
    reach: Positive = Field(default=0.95, description="Length of the built-in arm from shoulder to wrist, in metres.")
    packages: list[Text] = Field(default_factory=list, description="Folders in which package:// paths are resolved.")


class BodySource(StoryboardPart):
    """Body of a character."""

    human: Human | None = None
    preset: Literal["woman", "man", "child", "clown", "gorilla"] | None = None
    file: Text | None = Field(default=None, description="File with a rigged character.")
    robot: RobotSource | None = None
    units: Positive | None = None
    up: Literal["Y", "Z"] | None = None

    @model_validator(mode="after")
    def _one_body(self) -> BodySource:
        only_one(self, ("human", "preset", "file", "robot"))
        return self


Library = Annotated[
    str | None,
    Field(description="Recorded gait cycles to walk like: 'recorded' for those of the package, or an .npz file."),
]


class WalkClip(StoryboardPart):
    """Walking or running from the origin, facing -Y."""

    speed: Positive | None = None
    turn: Number = Field(0.0, description="Turning rate in degrees per second, counter-clockwise.")
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 4.0
    seed: Annotated[int, Field(ge=0)] = 0
    library: Library = None


class WalkToRun(StoryboardPart):
    """Walking, then speeding up into a run, straight ahead from the origin, facing -Y."""

    walking: Positive = 1.5
    running: Positive = 3.0
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 6.0
    seed: Annotated[int, Field(ge=0)] = 0


class Idle(StoryboardPart):
    """Standing, breathing, shifting weight."""

    seconds: Annotated[float, Field(gt=0.0, le=3600.0)] = 8.0
    seed: Annotated[int, Field(ge=0)] = 0


class WalkAlong(StoryboardPart):
    """Walking along points on the floor, from standing to standing."""

    path: Annotated[list[FloorPoint], Field(min_length=2, max_length=10_000)]
    speed: Positive = 1.2
    seed: Annotated[int, Field(ge=0)] = 0
    library: Library = None


class JointKey(StoryboardPart):
    """Keyframe of a robot: joint values in radians as in its URDF, metres for slides; others keep their value."""

    t: SecondsValue
    joints: dict[str, Number] = Field(default_factory=dict)
    at: PointValue | None = None
    turn: TurnValue | None = None


class ClipSource(StoryboardPart):
    """A motion: from a file, built in, or the keyframes of a robot."""

    file: Text | None = None
    clip: Text | None = Field(default=None, description="Clip to use from a file with several.")
    units: Positive | None = None
    up: Literal["Y", "Z"] | None = None
    fps: Positive | None = None
    fix_rig: bool = False
    asf: Text | None = Field(default=None, description="Skeleton of an AMC file.")
    walk: WalkClip | None = None
    run: WalkClip | None = None
    walk_to_run: WalkToRun | None = None
    idle: Idle | None = None
    walk_along: WalkAlong | None = None
    keys: Annotated[list[JointKey], Field(min_length=1)] | None = Field(
        default=None, description="Keyframes of a robot."
    )

    @model_validator(mode="after")
    def _one_clip(self) -> ClipSource:
        only_one(self, ("file", "walk", "run", "walk_to_run", "idle", "walk_along", "keys"))
        return self

    @property
    def seconds(self) -> float:
        """About how long a built-in motion lasts; 0 for a file or keys."""
        if self.walk_along is not None:
            path = self.walk_along.path
            return sum(map(math.dist, path, path[1:])) / self.walk_along.speed
        made = self.walk or self.run or self.walk_to_run or self.idle
        return 0.0 if made is None else made.seconds

    @field_validator("keys")
    @classmethod
    def _in_order(cls, keys: list[JointKey] | None) -> list[JointKey] | None:
        rising(keys or [])
        return keys


class CharacterPart(StoryboardPart):
    """A person or robot and its motion. The default body is that of the clip; without a clip it stands still."""

    body: Annotated[Annotated[Text, Tag("word")] | Annotated[BodySource, Tag("keys")], BY_FORM] | None = None
    clip: Annotated[Annotated[Text, Tag("word")] | Annotated[ClipSource, Tag("keys")], BY_FORM] | None = None
    at: FloorPoint = Field(default_factory=lambda: [0.0, 0.0])
    turn: Number = Field(0.0, description="Rotation in degrees, counter-clockwise.")
    lift: Annotated[Annotated[Number, Tag("number")] | Annotated[Literal["auto"], Tag("word")], BY_FORM] = Field(
        0.0, description="Vertical offset in metres; 'auto' puts the feet on the floor."
    )
    start: SecondsValue | None = Field(default=None, description="Start time of the motion, in seconds.")

    @model_validator(mode="after")
    def _someone(self) -> CharacterPart:
        if self.body is None and self.clip is None:
            raise wrong("needs a 'body', a 'clip' or both; neither is given")
        return self
