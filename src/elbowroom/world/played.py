"""World sampled at the frames of a file: exactly what is written, played back and proven.

All parts of a world (clips at several rates, start times between frames, paths with keys of their own,
functions of time, hinges, holds), a file has frames at one rate. Everything is sampled at those frames first; the
certificate and every writer start from there, so that the proof is about the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue, ElbowroomError
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.edit import without_lead
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.evidence import digest_of
from elbowroom.world.extent import frame_times
from elbowroom.world.paths import Fall, Keyed, Still, places
from elbowroom.world.things import Hold, Thing, hands, slip
from elbowroom.world.world import Record, World

# Frame rate of motions that are not clips and were not given a rate.
RATE = 60.0
# A time this near to a frame's is the frame's, frames.
_SAME_FRAMES = 1e-6
# Negligible time, seconds.
_SAME_S = 1e-6
# A hand that moves farther than this on an object does not hold it, metres: skin and fingers give that much.
SLIP_M = 0.01
# An object that moves less than this stays, metres.
_STAYS = 1e-5


@dataclass(frozen=True, eq=False)
class PlayedWorld(World):
    """A world whose motions and paths have keys at the frames of a file only, at `times` (T,) seconds.

    Between frames people's joints are slerped and roots lerped; objects and links of robots are each lerped and slerped
    in the world. Holds are baked into paths of objects: `holds` only says which hand has what, from the frame before a
    hold begins to the frame after it ends.
    """

    fps: float = RATE
    times: Array = field(default_factory=lambda: frozen(np.zeros(1)))

    @cached_property
    def things(self) -> Mapping[str, Thing]:
        """All objects, with holds baked into their paths."""
        return self.objects

    def record(self, times: ArrayLike) -> Record:
        """States at times (N,) in seconds; links of robots move straight from frame to frame."""
        found = super().record(times)
        robots = {name: self.links(name, found.times) for name in self._links}
        return replace(found, joints={**found.joints, **robots}) if robots else found

    def links(self, robot: str, times: ArrayLike) -> Array:
        """Places (N, J, 4, 4) of a robot's links at times (N,)."""
        return np.stack([path.sample(times) for path in self._links[robot]], axis=1)

    @cached_property
    def _links(self) -> Mapping[str, list[Keyed]]:
        out = {}
        for name, motion in self.characters.items():
            if isinstance(motion.body, Robot):
                T = motion.body.transforms(*motion.sample(self.times))
                turn = rot.from_matrix(T[..., :3, :3])
                out[name] = [Keyed(self.times, T[:, j, :3, 3], turn[:, j]) for j in range(T.shape[1])]
        return out

    @cached_property
    def digest(self) -> str:
        """SHA-256 over everything that a proof depends on: two worlds with the same digest play alike."""
        return digest_of(self)

    def riding(self) -> World:
        """World in which held objects move with the hands that hold them, so that they follow edited hands.

        Between frames hand and object then differ from the file minutely; what a hold cannot describe stays as it is.
        """
        plain = {f.name: getattr(self, f.name) for f in fields(World)}
        world = World(**plain | {"holds": ()})
        for hold in sorted(self.holds, key=lambda h: h.during):
            held = self._ridden(hold)
            try:
                world = world if held is None else world.with_hold(*held, leads=hold.leads)
            except ElbowroomError:
                continue
            if held is not None:
                fallen = replace(world.holds[-1], fall=self._fall(hold))
                world = world.with_(holds=(*world.holds[:-1], fallen))
        return world

    def held_during(self, hold: Hold) -> tuple[float, float] | None:
        """Interval from the frame before a hold begins, when the object moves into the hand, to the frame after.

        None where the hand slips on the object: that is no hold, and excuses nothing.
        """
        if self.slip(hold) > SLIP_M:
            return None
        first, last = (np.array(hold.during) - self.times[0]) * self.fps
        begin, end = np.floor(first + _SAME_FRAMES), np.ceil(last - _SAME_FRAMES)
        return float(self.times[0] + begin / self.fps), float(self.times[0] + max(end, begin + 1.0) / self.fps)

    def slip(self, hold: Hold) -> float:
        """Largest displacement of a hand on the object that it holds, over the frames of the file, metres."""
        during = self.times[(self.times >= hold.during[0] - _SAME_S) & (self.times < hold.during[1] - _SAME_S)]
        if not len(during):
            return 0.0
        return slip(hands(self.motion(hold.by), hold.hand, during), places(self.objects[hold.object].path, during))

    def _ridden(self, hold: Hold) -> tuple[str, str, str, tuple[float, float], Array] | None:
        """A hold as `with_hold` takes it, with `T_hand_object` of a frame in its middle; None where it has no frame."""
        span = self.motion(hold.by).span
        during = max(hold.during[0], span[0]), min(hold.during[1], span[1])
        inside = self.times[(self.times >= during[0]) & (self.times <= during[1])]
        if not (during[0] < during[1] and len(inside)):
            return None
        middle = inside[len(inside) // 2 : len(inside) // 2 + 1]
        hand = hands(self.motion(hold.by), hold.hand, middle)
        grip = inverse(hand[0]) @ places(self.objects[hold.object].path, middle)[0]
        return hold.object, hold.by, hold.hand, during, grip

    def _fall(self, hold: Hold) -> Fall | None:
        """Motion of an object in the file after a hold has ended and before the next; None if it stays."""
        end = hold.during[1]
        coming = min((h.during[0] for h in self.holds if h.object == hold.object and h.during[0] > end), default=np.inf)
        later = self.times[(self.times > end) & (self.times < coming)]
        place = places(self.objects[hold.object].path, later)[:, :3, 3]
        if not len(later) or np.abs(place - place[0]).max() < _STAYS:
            return None
        # it is released at the first of these frames
        return Fall(np.append(end, later), np.vstack([np.zeros(3), place - place[0]]))


def output_rate(world: World, fps: float | None = None) -> float:
    """Frame rate at which a world is written: as requested, else that of its first clip."""
    if fps is not None and not (np.isfinite(fps) and fps > 0.0):
        raise BadValue(f"a frame rate must be a positive number of frames per second, not {fps}.")
    if fps is None and isinstance(world, PlayedWorld):
        return world.fps
    rates = (m.fps for m in world.characters.values() if isinstance(m, Clip))
    return float(next(rates, RATE) if fps is None else fps)


def played(world: World, fps: float | None = None) -> PlayedWorld:
    """A world on the frames of its file, at `fps`; artificial frames at the start of clips are left out."""
    rate = output_rate(world, fps)
    if isinstance(world, PlayedWorld) and world.fps == rate:
        return world
    real = {n: without_lead(m) if isinstance(m, Clip) else m for n, m in world.characters.items()}
    base = replace(world, characters=real)
    begin, end = base.span
    times = frozen(frame_times((begin, end), rate))
    characters = {name: _on_frames(motion, times, rate) for name, motion in real.items()}
    moved = replace(base, characters=characters)
    objects = {name: _thing(name, thing, times) for name, thing in moved.things.items()}
    plain = {f.name: getattr(base, f.name) for f in fields(World)}
    plain |= {"characters": characters, "objects": objects}
    return PlayedWorld(**plain, fps=rate, times=times)


def _on_frames(motion: Motion, times: Array, fps: float) -> Motion:
    """A motion with keys at the frames only; a clip that has them already is unchanged."""
    if isinstance(motion, Clip):
        first = (motion.start - times[0]) * fps
        if motion.fps == fps and abs(first - round(first)) < _SAME_FRAMES:
            return motion
        root, q = motion.sample(times)
        return motion.with_(fps=fps, root=root, rotations=q, start=float(times[0]))
    if isinstance(motion.body, Robot):
        return RobotClip(motion.body, times, *motion.sample(times))
    if not isinstance(motion.body, Character):
        raise BadValue(f"{motion.body.name} is neither a person nor a robot and cannot be sampled at frames.")
    return Clip(motion.body, fps, *motion.sample(times), start=float(times[0]))


def _thing(name: str, thing: Thing, times: Array) -> Thing:
    """Object whose path has keyframes at the frames only."""
    T = places(thing.path, times)
    if not np.all(np.isfinite(T)):
        raise BadValue(f"the path of '{name}' is not finite.")
    still = len(times) == 1 or not np.ptp(T, axis=0).any()
    path = Still(T[0]) if still else Keyed(times, T[:, :3, 3], rot.from_matrix(T[:, :3, :3]))
    return Thing(
        mesh=thing.mesh, path=path, mass=thing.mass, frames=thing.frames, freedom=thing.freedom, grasps=thing.grasps
    )
