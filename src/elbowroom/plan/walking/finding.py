"""Paths of an actor among everything else in the world, and the reason where there is none: no room at the goal, a
place that is too narrow, an obstacle too low to pass under or too high to step over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.departure import stance_of, standing_height
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.modes import HIGH_OVER, STOOP, WALK, Gait, Mode, modes_of
from elbowroom.plan.checks.ground import LOW_M
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.walking.paths import AVOID_M, WalkPaths
from elbowroom.world.columns import LAYER_M, columns_of
from elbowroom.world.world import World

# Height above the floor from which a target may be upstairs, metres.
_UPSTAIRS_M = 0.3
# Lowest passage and highest step that are considered, metres.
_LOWEST_M, _HIGHEST_M = 0.3, 1.2


class NoPath(PlanningFailure):
    """No path exists to a position in the scene as it is."""


def paths_of(
    d: Director,
    actor: Actor,
    goals: Sequence[Array],
    gait: Gait = "any",
    climbs: bool = False,
    without: Sequence[str] = (),
) -> WalkPaths:
    """Path search of an actor from its stance, among everything that does not move with it; on one level unless
    `climbs`.
    """
    held = [*without]
    held += [hold.object for hold in d.world.holds if hold.by == actor.who and hold.during[1] > actor.now]
    start = stance_of(actor.body, actor.pose)[0]
    high = standing_height(actor.body, actor.pose) - (d.world.floor or 0.0) if climbs else None
    columns = columns_of(d.world, actor.now, [start, *goals], without=held, climbing=high)
    for who, motion in d.world.characters.items():
        if who != actor.who and isinstance(motion.body, Character):
            ended = motion.sample([max(actor.now, motion.span[1])])[0][0]
            if np.linalg.norm(ended[:2] - motion.sample([actor.now])[0][0][:2]) < AVOID_M:
                columns = columns.with_disc(ended[:2], 0.5 * envelope(motion.body, "forward").width)
    return WalkPaths(columns, actor.body, modes=modes_of(gait, d.settings.mode_costs))


def paths_to(d: Director, actor: Actor, target: Array, gait: Gait = "any") -> WalkPaths:
    """Path search of an actor to a target (3,): on one level unless it is above ground that can be climbed to."""
    level = paths_of(d, actor, [target[:2]], gait)
    high = float(target[2]) - level.columns.floor
    if high < _UPSTAIRS_M:
        return level
    climbing = paths_of(d, actor, [target[:2]], gait, climbs=True)
    ground = _ground(climbing, target)
    return climbing if LOW_M < ground < high else level


def ground_at(d: Director, actor: Actor, place: Array) -> float:
    """Height over the floor of the ground at a place (2,) that an actor can climb to, metres; 0 where there is none."""
    return _ground(paths_of(d, actor, [place], climbs=True), place)


def _ground(climbing: WalkPaths, place: Array) -> float:
    assert climbing.columns.ground is not None
    return float(climbing.columns.ground[climbing.columns.cell(place)])


def no_path(d: Director, actor: Actor, paths: WalkPaths, start: Array, goal: Array, what: str) -> PlanningFailure:
    """Reason why there is no path: the obstacle at the goal, or the narrowest place."""
    if not paths.stands(goal):
        near = _nearest(d.world, goal, actor.now)
        return PlanningFailure("target-in-collision", f"{what}: no room to stand at {point_text(goal)}, {near}")
    narrow = paths.narrowest(start, goal)
    if narrow is None:
        other = WalkPaths(paths.columns, actor.body).find(start, goal)
        modes = () if other is None else dict.fromkeys(m.name for m in other.modes if m not in paths.modes)
        if modes:
            return PlanningFailure("no-path", f"{what}: no path with that gait; 'any' finds one ({', '.join(modes)})")
        met = barrier(paths, start, goal)
        if met is not None:
            return NoPath("no-path", f"{what}: {met.text(actor.who, _nearest(d.world, met.at, actor.now))}")
        return NoPath("no-path", f"{what}: walls block {point_text(goal)}")
    return NoPath(
        "no-path",
        f"{what}: the path is {narrow.width:.2f} m wide at {point_text(narrow.at)}, "
        f"{_nearest(d.world, narrow.at, actor.now)}, and {actor.who} needs {narrow.needed:.2f} m",
    )


def _nearest(world: World, point: Sequence[float] | Array, t: float) -> str:
    """Description of what is nearest to a point on the floor."""
    best, name = np.inf, ""
    meshes = dict(world.static) | {n: o.mesh.moved(np.asarray(o.path(t))) for n, o in world.things.items()}
    for n, mesh in meshes.items():
        low, high = mesh.bounds
        if high[2] < 0.05:
            continue
        gap = float(np.linalg.norm(np.maximum(np.maximum(low[:2] - point, point - high[:2]), 0.0)))
        if gap < best:
            best, name = gap, n
    return f"by '{name}'" if name else "in the open"


def point_text(point: Sequence[float] | Array) -> str:
    """Description of a point on the floor."""
    return f"({float(point[0]):.2f}, {float(point[1]):.2f})"


@dataclass(frozen=True, eq=False)
class Barrier:
    """Position (2,) on a path that is too low, or has an obstacle too high to step over; its height and the height that
    would do, metres.
    """

    at: Array
    under: bool
    height: float
    needed: float

    def text(self, who: str, near: str) -> str:
        """The barrier in a sentence; `near` names what is near it."""
        place = f"({self.at[0]:.2f}, {self.at[1]:.2f}), {near},"
        if self.under:
            return f"the path is {self.height:.2f} m high at {place} and {who} needs {self.needed:.2f} m"
        return f"the path is blocked at {place} {self.height:.2f} m high, and {who} steps over {self.needed:.2f} m"


def barrier(paths: WalkPaths, start: Array, goal: Array) -> Barrier | None:
    """The obstacle with the smallest shortfall in height for a path between two points (2,); None where none
    would do.
    """
    tall = envelope(paths.character, "forward").height
    lowest, highest = min(mode.high for mode in paths.modes) * tall, max(mode.low for mode in paths.modes) * tall
    room, step = int(np.ceil(lowest / LAYER_M)), int(highest / LAYER_M)
    found = []
    for under, heights in (
        (True, np.arange(room - 1, _LOWEST_M / LAYER_M, -1)),
        (False, np.arange(step + 1, _HIGHEST_M / LAYER_M)),
    ):
        for height in LAYER_M * heights:
            # half a layer inside: rounding must not make it the next one
            mode = (
                replace(STOOP, high=(height - 0.5 * LAYER_M) / tall)
                if under
                else replace(HIGH_OVER, low=(height + 0.5 * LAYER_M) / tall)
            )
            at = _first(paths, mode, start, goal)
            if at is not None:
                found.append(Barrier(at, under, float(height), LAYER_M * (room if under else step)))
                break
    return min(found, key=lambda b: abs(b.height - b.needed), default=None)


def _first(paths: WalkPaths, mode: Mode, start: Array, goal: Array) -> Array | None:
    """Middle (2,) of the first part of a path that is walked in a mode other than upright; None without a path."""
    path = WalkPaths(paths.columns, paths.character, modes=(WALK, mode)).find(start, goal)
    if path is None:
        return None
    there = [k for k, m in enumerate(path.modes) if m == mode]
    return path.points[there[len(there) // 2]] if there else None
