"""Walk of a team with its object along a trajectory, in step, after those have passed who cross it (E4 to E7, E11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import rolling
from elbowroom.locomotion.departure import headings_of
from elbowroom.locomotion.walk import STANDS_S
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.accept import hits
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.teams.animate import (
    Frames,
    add_frames,
    held_frames,
    let_steadiest_lead,
    swaying_frames,
    walks,
)
from elbowroom.plan.teams.robots import RobotCarrier
from elbowroom.plan.teams.trajectory import Trajectory
from elbowroom.plan.teams.tuning import Tuning
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.plan.walking.crossing import delay_past_people
from elbowroom.spaces.team import YAW, TeamSpace

# Seconds over which the sway of a single carrier is smoothed out of the object's path, and shares of it that are tried.
_FOLLOWS_S, _FOLLOWS = 0.4, (1.0, 0.7, 0.4, 0.2, 0.0)
# Distance between points of the object's outline that people who cross keep off, metres, and seconds that setting it
# down takes.
_OUTLINE_M, _SETS_DOWN_S = 0.2, 3.0
# Seconds for which carriers who wait stand still.
_STANDS_STILL_S = 2.0


@dataclass(frozen=True, eq=False)
class Lifted:
    """An object in the hands of its carriers."""

    carriers: tuple[Carrier, ...]
    grips: tuple[Grips, ...]
    robots: tuple[RobotCarrier, ...] = ()

    @property
    def count(self) -> int:
        """Number of people and robots."""
        return len(self.carriers) + len(self.robots)


def walk_with(
    d: Director, lifted: Lifted, space: TeamSpace, timing: Trajectory, may_step_back: Callable[[int], bool],
    limits: tuple[float, float],
) -> None:  # fmt: skip
    """Let everybody walk with the object along a trajectory, in step; raises `Blocked`, with frames from its start."""
    carriers, grips, robots = lifted.carriers, lifted.grips, lifted.robots
    fps = carriers[0].actor.base.fps
    bases = _bases(space, robots, timing.at(timing.rows.times))
    turns = [robot.turn(float(headings[0])) for robot, (_, headings) in zip(robots, bases, strict=True)]
    _wait(d, carriers, grips, _delay(d, lifted, space, timing, max(turns, default=0.0)))
    begin, first = carriers[0].actor.now, [carrier.actor.k for carrier in carriers]
    ways = walks(d, carriers, space, timing)
    states = timing.at(np.arange(len(ways[0].leaned)) / fps - STANDS_S)
    if lifted.count == 1:
        _follow(space, states, ways[0].leaned, *limits)
    places = space.places(states)
    made: list[Frames] = []
    for carrier, held, walk in zip(carriers, grips, ways, strict=True):
        made.append(held_frames(carrier, held, walk.leaned, places))
    for carrier, held, frames, walk in zip(carriers, grips, made, ways, strict=True):
        add_frames(d, carrier, held, frames, walk.upright)
    let_steadiest_lead(d, carriers, grips, made)
    _roll(space, robots, begin, states, places)
    if d.settings.tier == "ik":
        return
    during = (begin, carriers[0].actor.now)
    found = hits(d.world, during)
    if found:
        rolled = partial(_roll, space, robots, begin, states) if robots else None
        Tuning(d, list(zip(carriers, grips, first, strict=True)), made, rolled, may_step_back).tune(during, found)


def _delay(d: Director, lifted: Lifted, space: TeamSpace, timing: Trajectory, least: float) -> float:
    """Seconds, `least` or more, to wait before a trajectory for people who cross it."""
    middle, half = space.outline[:2], space.outline[2:]
    grid = [np.linspace(-side, side, int(2.0 * side / _OUTLINE_M) + 2) for side in half]
    outline = middle + np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2)

    def places(times: Array) -> Array:
        states = timing.at(times - STANDS_S)
        c, s = np.cos(states[:, YAW]), np.sin(states[:, YAW])
        R = np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)
        thing = states[:, None, :2] + outline @ R.swapaxes(1, 2)
        return np.concatenate([space.carriers(states)[0], thing], axis=1)

    team = [*(carrier.actor.who for carrier in lifted.carriers), *(robot.who for robot in lifted.robots)]
    radii = np.array([*(bearer.radius for bearer in space.bearers), *np.full(len(outline), 0.5 * _OUTLINE_M)])
    took = timing.duration + STANDS_S + _SETS_DOWN_S
    return delay_past_people(d.world, team, lifted.carriers[0].actor.now, places, radii, (least, took))


def _bases(space: TeamSpace, robots: Sequence[RobotCarrier], states: Array) -> list[tuple[Array, Array]]:
    """Positions (N, 2) and headings (N,) of the bases of robots, the last carriers of states (N, W)."""
    at, heading = space.carriers(states)
    out = []
    for k, robot in enumerate(robots, start=len(space.bearers) - len(robots)):
        free = space.bearers[k].gait == "slides"
        out.append((at[:, k], np.unwrap(heading[:, k]) if free else rolling(at[:, k], robot.place[1])))
    return out


def _roll(space: TeamSpace, robots: Sequence[RobotCarrier], begin: float, states: Array, places: Array) -> None:
    """Let robots roll through states (N, W) from a time on, their arms with the object at placements (N, 4, 4)."""
    for robot in robots:
        robot.back_to(begin)
    for robot, (at, heading) in zip(robots, _bases(space, robots, states), strict=True):
        times = begin + np.arange(1, len(states)) / robot.fps
        robot.follow(times, robot.bases(at[1:], heading[1:]), places[1:])


def _wait(d: Director, carriers: Sequence[Carrier], grips: Sequence[Grips], seconds: float) -> None:
    """Let carriers stand for some seconds; they shift their weight in a longer time, where that is free."""
    if seconds <= 0.0:
        return
    before, begin = d.take, carriers[0].actor.now

    def sway() -> None:
        for number, (carrier, held) in enumerate(zip(carriers, grips, strict=True)):
            actor = carrier.actor
            made = swaying_frames(carrier, held, actor.frames(seconds), d.settings.seed + number)
            acting.add(d, actor, made.root, made.rotations, away=actor.away)

    if seconds > _STANDS_STILL_S and d.attempt(sway) is None:
        if d.settings.tier == "ik" or not hits(d.world, (begin, carriers[0].actor.now)):
            return
        d.take = before
    for carrier in carriers:
        carrier.wait(carrier.actor.k + carrier.actor.frames(seconds))


def _follow(space: TeamSpace, states: Array, walk: Clip, speed: float, accel: float) -> None:
    """Let the object of states (N, W) move before its only carrier, who turns with each step, within its limits."""
    place, heading = space.carriers(states)
    soft = _FOLLOWS_S * walk.fps
    # the chest turns ahead of the pelvis, and arms with it
    body = headings_of(walk.character, walk.world(), "chest" if "chest" in walk.character.roles else "pelvis")
    turned = np.unwrap(body) - np.unwrap(heading[:, 0])
    turned = scipy.ndimage.gaussian_filter1d(
        turned - 2.0 * np.pi * np.round(turned[0] / (2.0 * np.pi)), soft, mode="nearest"
    )
    moved = scipy.ndimage.gaussian_filter1d(walk.root[:, :2] - place[:, 0], soft, axis=0, mode="nearest")
    k = np.arange(len(walk))
    share = smootherstep(k / (4.0 * soft)) * smootherstep((len(walk) - 1 - k) / (4.0 * soft))
    for part in _FOLLOWS:
        rows = np.array(states)
        space.put_before(rows, place[:, 0] + part * share[:, None] * moved, heading[:, 0] + part * share * turned)
        fast = walk.fps * np.linalg.norm(np.gradient(rows[:, :2], axis=0), axis=1)
        if fast.max() <= speed and np.abs(np.gradient(fast)).max() * walk.fps <= accel:
            break
    states[:] = rows
