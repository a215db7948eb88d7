"""A world as it would be written, laid out over time for a proof.

Frames, keys and holds cut time into intervals in which every joint turns, and everything shifts, at constant speed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.robot import Robot
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.kernels.sweep import Tree
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.edit import resample, without_lead
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.carried import Carried
from elbowroom.world.extent import box_corners, frame_times
from elbowroom.world.pairs import Part
from elbowroom.world.paths import Keyed, KeyedState, Still, places, states
from elbowroom.world.things import Fixture, Hold, Thing, with_keys
from elbowroom.world.world import Record, World

# Frames a second of motions that are no clips and were not told a rate.
RATE = 60.0
# How often a path that cannot be looked into is sampled, a second.
DENSE = 240.0
# Times closer than this are the same, seconds.
_SAME = 1e-9
# An object that leaps farther into a hand than this is told, metres; the leap takes as long as that, seconds.
_JUMP = 1e-3
LEAP = 1e-6


class Stage:
    """A world at any time, and how it moves between the knots (K,) of time.

    `world` is as written; `sampled` names what could only be sampled and not looked into; `jumps` are objects that leap
    into a hand, each with the time. With `during`, knots are those of that interval of seconds alone.
    """

    def __init__(self, world: World, fps: float | None, during: tuple[float, float] | None = None) -> None:
        if fps is not None and not (np.isfinite(fps) and fps > 0.0):
            raise BadValue(f"a frame rate is a positive number of frames per second, not {fps}.")
        characters = {name: written(motion, fps) for name, motion in world.characters.items()}
        robots = {n for n, m in world.characters.items() if isinstance(m.body, Robot)}
        self.sampled = [n for n in world.characters if n in robots and characters[n] is not world.characters[n]]
        told = replace(world, characters=characters)
        objects = {name: self._keyed(name, thing, told.span) for name, thing in world.objects.items()}
        self.world = replace(told, objects=objects)
        self._span = told.span if during is None else _within(during, told.span)
        leaps = [h for h in self.world.holds if self._span[0] - LEAP <= h.during[0] <= self._span[1] and self._leaps(h)]
        self.jumps = [(h.object, h.during[0]) for h in leaps]
        self.knots = self._cut([m.times for m in characters.values()])
        counts = [len(m.body.parents) for m in characters.values()]
        self._first = dict(zip(characters, np.cumsum([0, *counts])[:-1].tolist(), strict=True))
        self._things = {name: sum(counts) + i for i, name in enumerate(objects)}

    def joints_of(self, parts: tuple[Part, ...]) -> NDArray[np.int64]:
        """Number (M,) in `tree` of the joint that each part of a body and each thing rides on."""
        ridden = {"body": lambda p: self._first[p.owner] + p.joint, "thing": lambda p: self._things[p.owner]}
        return np.array([ridden[p.kind](p) for p in parts if p.kind in ridden], dtype=np.int64)

    def tree(self, record: Record) -> Tree:
        """How joints move between the times of a record: bodies first, then one joint for each thing."""
        times = record.times
        count = sum(len(m.body.parents) for m in self.world.characters.values()) + len(self._things)
        place = np.zeros((len(times), count, 3))
        parent = np.full((len(times) - 1, count), -1, np.int32)
        angle, shift = np.zeros((len(times) - 1, count)), np.zeros((len(times) - 1, count))
        for name, motion in self.world.characters.items():
            o, parents = self._first[name], motion.body.parents
            rows = slice(o, o + len(parents))
            place[:, rows] = record.joints[name][..., :3, 3]
            parent[:, rows] = np.where(parents < 0, -1, parents + o)
            angle[:, rows], shift[:, rows] = _steps(motion, times)
        middle = 0.5 * (times[:-1] + times[1:])
        for name, j in self._things.items():
            path = self.world.things[name].path
            place[:, j] = record.things[name][:, :3, 3]
            own = np.ones(len(middle), dtype=bool)
            for hold in path.holds if isinstance(path, Carried) else ():
                own &= middle < hold.during[0]
                riding = (middle >= hold.during[0]) & (middle < hold.during[1])
                parent[riding, j] = self._first[hold.by] + self.world.body(hold.by).hand(hold.hand)[0]
                shift[riding, j] = 0.0
                after = middle >= hold.during[1]
                parent[after, j] = -1
                shift[after, j] = 0.0 if hold.fall is None else _lengths(hold.fall.sample(times))[after]
            thing = self.world.objects[name]
            angle[own, j], shift[own, j] = (a[own] for a in _own_steps(thing, times))
            if isinstance(thing, Fixture):
                place[:, j] = apply(thing.T_world_closed, thing.joint.origin[None])
        return Tree(parent, angle, shift, place)

    def _cut(self, frames: list[Array]) -> Array:
        """All times at which something changes its speed; `frames` are those of the characters."""
        world = self.world
        begin, end = self._span
        times = [np.array([begin, end]), *frames]
        for thing in world.objects.values():
            keys = thing.state if isinstance(thing, Fixture) else thing.path
            if isinstance(keys, (Keyed, KeyedState)):
                times.append(keys.times)
        times += [hold.fall.times for hold in world.holds if hold.fall is not None]
        during = [h.during for h in world.holds] + [c.during for c in world.contacts]
        times += [np.array(d) for d in during]
        times += [np.array([t - LEAP]) for _, t in self.jumps]
        merged = np.unique(np.clip(np.concatenate(times), begin, end))
        if len(merged) == 1:  # one frame: it is held
            return np.array([begin, begin + 1.0 / RATE])
        return merged[np.concatenate([[True], np.diff(merged) > _SAME])]

    def _keyed(self, name: str, thing: Thing, span: tuple[float, float]) -> Thing:
        """A thing whose path or state has keys; others are sampled."""
        times = _dense(span)
        if isinstance(thing, Fixture):
            if isinstance(thing.state, KeyedState):
                return thing
            values = states(thing.state, times)
            _check_finite(values, name)
            if np.ptp(values) > 0.0:
                self.sampled.append(name)
            state = KeyedState(times, values)
            return Fixture.at(thing.mesh, thing.joint, thing.T_world_closed, state, thing.frames, thing.mass)
        path = with_keys(thing.path)
        if isinstance(path, (Keyed, Still)):
            return replace(thing, path=path)
        T = places(thing.path, times)
        _check_finite(T, name)
        if np.ptp(T, axis=0).max() < _SAME:
            return replace(thing, path=Still(T[0]))
        self.sampled.append(name)
        return replace(thing, path=Keyed(times, T[:, :3, 3], rot.from_matrix(T[:, :3, :3])))

    def _leaps(self, hold: Hold) -> bool:
        path = self.world.things[hold.object].path
        begin = hold.during[0]
        if begin - LEAP <= self.world.span[0]:
            return False
        corners = box_corners(self.world.objects[hold.object].mesh.bounds)
        before, after = places(path, [np.nextafter(begin, -np.inf), begin])
        return bool(np.abs(apply(before, corners) - apply(after, corners)).max() > _JUMP)


def written(motion: Motion, fps: float | None) -> Clip | RobotClip:
    """A motion as it would be written: frames at a rate, without artificial ones at the start.

    Motions of robots keep their keys.
    """
    if isinstance(motion, Clip):
        real = without_lead(motion)
        return real if fps is None or fps == real.fps else resample(real, fps)
    if isinstance(motion, RobotClip):
        return motion
    if isinstance(motion.body, Robot):
        times = _dense(motion.span)
        return RobotClip(motion.body, times, *motion.sample(times))
    assert isinstance(motion.body, Character)
    rate = RATE if fps is None else fps
    return Clip(motion.body, rate, *motion.sample(frame_times(motion.span, rate)), start=motion.span[0])


def _steps(motion: Motion, times: Array) -> tuple[Array, Array]:
    """Turns and shifts (K - 1, J) of joints against their parents from one time to the next."""
    root, q = motion.sample(times)
    shift = np.zeros((len(times) - 1, len(motion.body.parents)))
    if isinstance(motion.body, Robot):
        ways = np.abs(np.diff(q[:, 4:], axis=0))
        slides = np.array(motion.body.joints.kinds[1:]) == "slides"
        shift[:, 1:] = ways * slides
        angle = np.column_stack([rot.angle_between(q[:-1, :4], q[1:, :4]), ways * ~slides])
    else:
        angle = rot.angle_between(q[:-1], q[1:])
    shift[:, 0] = np.linalg.norm(np.diff(root, axis=0), axis=1)
    return angle, shift


def _own_steps(thing: Thing, times: Array) -> tuple[Array, Array]:
    """Turns and shifts (K - 1,) of a thing that no hand holds; a turning fixture turns about its joint."""
    still = np.zeros(len(times) - 1)
    if isinstance(thing, Fixture):
        # where the joint's range ends, the state goes on and the part does not: it is never faster than the state
        ways = np.abs(np.diff(states(thing.state, times)))
        return (still, ways) if thing.joint.kind == "slides" else (ways, still)
    T = places(thing.path, times)
    turn = np.swapaxes(T[:-1, :3, :3], 1, 2) @ T[1:, :3, :3]
    return rot.angle(rot.from_matrix(turn)), _lengths(T[:, :3, 3])


def _lengths(places: Array) -> Array:
    """Ways (K - 1,) from each of some places (K, 3) to the next, metres."""
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))


def _within(during: tuple[float, float], span: tuple[float, float]) -> tuple[float, float]:
    """The part of an interval that lies in a span."""
    begin, end = max(during[0], span[0]), min(during[1], span[1])
    if not begin <= end:
        raise BadValue(
            f"a proof during {during[0]:g} to {during[1]:g} s has nothing to look at: the motion lasts from "
            f"{span[0]:g} to {span[1]:g} s."
        )
    return begin, end


def _dense(span: tuple[float, float]) -> Array:
    return np.unique(np.linspace(*span, max(int(np.ceil((span[1] - span[0]) * DENSE)), 1) + 1))


def _check_finite(values: Array, name: str) -> None:
    if not np.all(np.isfinite(values)):
        raise BadValue(f"the path of '{name}' is not finite.")
