"""People carry one object through a scene together: lifted, planned, walked in step, and set down (E1 to E8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from elbowroom.character.robot import Robot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import facing
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.walk import STANDS_S
from elbowroom.plan.checks.places import place_for
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure, tried
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Carry, Move
from elbowroom.plan.teams.animate import Blocked
from elbowroom.plan.teams.paths import TeamPaths
from elbowroom.plan.teams.robots import RobotCarrier
from elbowroom.plan.teams.space import team_space
from elbowroom.plan.teams.stances import holds_edge, in_place, slots, walk_up
from elbowroom.plan.teams.trajectory import Trajectory, stalls, trajectory
from elbowroom.plan.teams.under_way import Lifted, walk_with
from elbowroom.plan.verbs.carrier import Carrier, Option
from elbowroom.plan.verbs.grips import edge_grips, grips_on
from elbowroom.plan.verbs.holding import Grips
from elbowroom.plan.verbs.move import Crew, crew_of, free_hands
from elbowroom.plan.walking.stances import is_low, stances_for, standing_at
from elbowroom.plan.walking.walked import Spot, until_end
from elbowroom.posing.two_hands import under_edge
from elbowroom.spaces.team import YAW, TeamSpace

# Height of the object's middle while carried, share of the carriers' mean height: between palms, or with fingers under
# its edge, where lower forearms stay off the trunk.
_LIFTED, _LIFTED_EDGE = 0.53, 0.5
# An object taller than this share is lifted less, by the edge where that is above its middle; metres in from the edge.
_TALL, _EDGE_M = 0.3, 0.06
# Smallest lift off the support, and height above the goal before it is set down, metres.
_OFF_M = 0.05
# Share of the object's mass above which a failed balance is reported as too heavy, kg: the limit recommended for lifts
# under the best conditions (NIOSH 1991).
_LIFTS_KG = 23.0
# Stances that are tried to lift a low object: each is known to hold it on the floor and at carrying height.
_STANCES = 3
# Metres from above its goal by which a single carrier may stop short, to set the object down with outstretched arms.
_SHORT_M = (0.1, 0.2, 0.3, 0.4, 0.5)
# Rotations of the object about the vertical that are tried at a goal without one, radians, by number of carriers.
_TURNS_ALONE = np.radians([0.0, 90.0, -90.0, 180.0, 45.0, -45.0, 135.0, -135.0])
_TURNS = np.radians([0.0, 180.0, 90.0, -90.0])


class TeamCarrier(Carrier):
    """A person who carries an object on foot: palms on its sides, or hands under an edge of it."""

    def _grips(self, hands: Sequence[str]) -> list[Grips]:
        return [*edge_grips(self), *grips_on(self, hands)]


def carry(d: Director, task: Carry) -> None:
    """Carry an object to its goal; raises `PlanningFailure`. Robots hold it from where they stand."""
    what = f"carry {task.object}"
    machines = [name for name in task.helpers if isinstance(d.world.body(name), Robot)]
    task = replace(task, helpers=tuple(name for name in task.helpers if name not in machines))
    actors = crew_of(d, task, what)
    robots = tuple(RobotCarrier(d, name, task.object, what, actors[0].base.fps) for name in machines)
    for actor in actors:
        until_end(d, actor)
    T_start = np.asarray(d.world.frame(task.object, actors[0].now))
    T_goal = place_for(d.world, task, T_start, actors[0].now)
    for actor in actors:
        free_hands(d, actor, "both", what)
    before = d.take
    stuck: PlanningFailure | None = None
    for spots in _arrangements(d, task, actors):
        failed = d.attempt(partial(walk_up, d, actors, spots, what)) if spots else None
        if failed is None:
            failed = d.attempt(lambda: on_foot(d, task, _lift(d, task, actors, robots, what), T_goal, what))
        if failed is None:
            return
        stuck, d.take = stuck or failed, before
        if failed.anywhere:
            raise failed
    assert stuck is not None, "there is always an arrangement"
    raise stuck


def _arrangements(d: Director, task: Carry, actors: list[Actor]) -> Iterator[list[Spot]]:
    """Positions of everybody from which the object may be lifted; an empty list is where they stand.

    A single person bends down to a low object from stances in which the whole body is known to hold it.
    """
    there = in_place(d.world, task.object, actors)
    if there:
        yield []
    if len(actors) == 1:
        up = _raised(d, task, actors)
        if is_low(d.world, actors[0], task.object, actors[0].now):
            yield from ([spot] for spot in islice(stances_for(d, actors[0], up, at_once=True), _STANCES))
    if not there:
        yield from slots(d.world, task.object, actors[0].now, actors)


def on_foot(d: Director, task: Carry, lifted: Lifted, T_goal: Array, what: str) -> None:
    """Carry an object that is in everybody's hands to its goal (4, 4) and set it down; raises `PlanningFailure`."""
    actors, robots = [carrier.actor for carrier in lifted.carriers], lifted.robots
    T = np.asarray(d.world.frame(task.object, actors[0].now))
    turns = (_TURNS_ALONE if lifted.count == 1 else _TURNS) if task.turn is None else (None,)
    goals = [_turned(T_goal, turn) for turn in turns]
    space = team_space(d.world, lifted.carriers, lifted.grips, robots, goals, tilts=not task.level)
    space = replace(space, heights=(min(space.heights[0], T[2, 3]), T[2, 3], max(space.heights[2], T[2, 3])))
    start = space.state(T[:3, 3], 0.0)
    above = [_above(space, T, goal) for goal in goals]
    space = replace(space, near=space.carriers(np.array([start, *above]))[0])
    if not space.valid(start[None])[0]:
        space = replace(space, margin=0.0)
    goal_of = {id(state): goal for state, goal in zip(above, goals, strict=True) if space.valid(state[None])[0]}
    ends = [state for state in above if id(state) in goal_of]
    if not ends and lifted.count == 1:
        short = _short_of(d, task, lifted, space, list(zip(above, goals, strict=True)), what)
        goal_of, ends = {id(state): goal for state, goal in short}, [state for state, _ in short]
        space = replace(space, near=space.carriers(np.array([start, *above, *ends]))[0])
    if not ends:
        x, y, z = T_goal[:3, 3]
        raise PlanningFailure("target-in-collision", f"{what}: there is no room for all carriers and the object at "
                              f"({x:.2f}, {y:.2f}, {z:.2f})")  # fmt: skip
    paths = TeamPaths(space, d.settings.seed)
    stuck: PlanningFailure | None = None
    for number in range(task.tries):
        path = tried(lambda: paths.find(start, ends, what))
        if isinstance(path, PlanningFailure):
            raise stuck or path
        timing = trajectory(space, path.states, [a.body for a in actors], task.speed, task.accel, actors[0].base.fps,
                            d.settings.library)  # fmt: skip
        end = int(np.argmin(space.distances(np.array(ends), path.states[-1])))

        def walk(number: int = number, timing: Trajectory = timing, end: int = end) -> None:
            if number < task.tries // 2 and (slow := stalls(space, timing, task.speed)) is not None:
                frame = round((slow + STANDS_S) * actors[0].base.fps)
                raise Blocked(f"{what}: {timing.duration:.0f} s of walking is too long", frame)
            walk_with(d, lifted, paths.space, timing, paths.may_step_back, (task.speed, task.accel))
            _set_down(d, task, lifted, goal_of[id(ends[end])], what)

        failed = d.attempt(walk)
        if failed is None:
            d.world = d.world.with_(notes=(*d.world.notes, _note(what, number, paths, timing.duration)))
            return
        stuck = stuck or failed
        if not isinstance(failed, Blocked):
            ends.pop(end)
            if not ends:
                raise stuck
            continue
        t = failed.frame / actors[0].base.fps - STANDS_S
        failed_at = timing.at(np.array([np.clip(t, 0.0, timing.duration)]))[0]
        if not paths.drop(failed, failed_at, start, ends):
            raise stuck
    assert stuck is not None
    raise PlanningFailure(stuck.status, f"{stuck.why}; {task.tries} paths were tried")


def _short_of(
    d: Director, task: Carry, lifted: Lifted, space: TeamSpace, above: Sequence[tuple[Array, Array]], what: str
) -> list[tuple[Array, Array]]:
    """States of a single carrier before what the goal lies on, with the goal (4, 4) that is in reach from there.

    Above the middle of a table the object would be where the carrier's legs are in the table.
    """
    carrier, grips, found = lifted.carriers[0], lifted.grips[0], []
    for state, goal in above:
        ahead = facing(float(space.carriers(state[None])[1][0, 0]))
        for short in _SHORT_M:
            back = np.array(state)
            back[:2] -= short * ahead
            place, heading = (one[0, 0] for one in space.carriers(back[None]))
            close = replace(space, near=place[None, None])
            stands = standing_at(carrier.actor, place, float(heading)) if close.valid(back[None])[0] else None
            if stands is None:
                continue
            lowering = _lowering(d, task, carrier, stands, goal, what)
            if not isinstance(tried(partial(lowering.held_at, grips, goal, stands.pose)), PlanningFailure):
                found.append((back, goal))
                break
    return found


def _lowering(d: Director, task: Carry, carrier: Carrier, actor: Actor, T_goal: Array, what: str) -> TeamCarrier:
    """A carrier of an object, as an actor, who lowers it onto its goal (4, 4)."""
    goal = tuple(float(x) for x in T_goal[:3, 3])
    down = Move(who=task.who, object=task.object, to=goal, helpers=task.helpers)  # type: ignore[arg-type]
    lowering = TeamCarrier(d, actor, down, what, carrier.people)
    lowering.T_goal, lowering.guided = T_goal, (None, lowering.guided[1])
    return lowering


def _note(what: str, number: int, paths: TeamPaths, seconds: float) -> str:
    again, nodes = f"; {number} earlier paths failed" if number else "", len(paths.roadmap.states)
    return f"{what}: {seconds:.1f} s of walking, a roadmap of {nodes} nodes and {len(paths.roadmap.edges)} edges{again}"


def _turned(T: Array, turn: float | None) -> Array:
    """A placement (4, 4) rotated about the vertical through its origin, radians."""
    if turn is None:
        return T
    out, c, s = np.array(T), np.cos(turn), np.sin(turn)
    out[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ T[:3, :3]
    return out


def _above(space: TeamSpace, T_start: Array, T_goal: Array) -> Array:
    """State with the object above its goal (4, 4), at carrying height; it was at T_start (4, 4)."""
    R = T_goal[:3, :3] @ T_start[:3, :3].T
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    high = max(T_goal[2, 3] + _OFF_M, space.heights[1])
    out = space.state(np.array([*T_goal[:2, 3], min(high, space.heights[2])]), 0.0)
    out[YAW] = yaw
    return out


def _lift(d: Director, task: Carry, actors: list[Actor], robots: tuple[RobotCarrier, ...], what: str) -> Lifted:
    """Let robots take the object, then people, who lift it to carrying height; raises `PlanningFailure`."""
    now = max(actor.now for actor in actors)
    _wait(d, actors, max([robot.take(now) for robot in robots], default=0.0))
    up = _raised(d, task, actors)
    carriers = [TeamCarrier(d, actor, up, what, len(actors) + len(robots)) for actor in actors]
    crew = Crew(d, list(carriers), [["left", "right"]] * len(actors), *_with_robots(robots))
    chosen = tried(crew.lift)
    if isinstance(chosen, PlanningFailure):
        share = carriers[0].mass
        if chosen.status == "too-heavy" or (chosen.status == "out-of-balance" and share > _LIFTS_KG):
            why = chosen.why.removeprefix(f"{what}: ")
            raise PlanningFailure("too-heavy", f"{what}: {share:.0f} kg each is too heavy; {why}")
        raise chosen
    return Lifted(tuple(carriers), tuple(option.grips for option in chosen), robots)


def _raised(d: Director, task: Carry, actors: list[Actor]) -> Move:
    """Task to lift the object to the height at which it is carried."""
    T = np.asarray(d.world.frame(task.object, actors[0].now))
    corners = d.world.objects[task.object].mesh.vertices @ T[:3, :3].T
    low, high = float(corners[:, 2].min()), float(corners[:, 2].max())
    tall = float(np.mean([actor.body.height for actor in actors]))
    floor = 0.0 if d.world.floor is None else d.world.floor
    held, share = 0.5 * (low + high), _LIFTED
    if high - low > _TALL * tall:  # an object on legs is held by the edge above them
        held, share = max(held, _edge(d, task.object, T, actors[0]) - T[2, 3]), _LIFTED_EDGE
    elif any(holds_edge(d.world, task.object, actor) for actor in actors):
        share = _LIFTED_EDGE
    z = max(floor + share * tall - held, T[2, 3] + _OFF_M)
    to = (float(T[0, 3]), float(T[1, 3]), float(z))
    return Move(who=task.who, object=task.object, to=to, helpers=task.helpers)


def _with_robots(robots: Sequence[RobotCarrier]) -> tuple[Callable[[float], None], Callable[[Array], float] | None]:
    """Functions that let robots hold the object until a time, their bases in place, and that say by which factor
    placements (N, 4, 4) of it are too fast for them.
    """

    def stay(until: float) -> None:
        for robot in robots:
            robot.stay(until)

    return stay, (lambda T: max(robot.too_fast(T) for robot in robots)) if robots else None


def _edge(d: Director, thing: str, T: Array, actor: Actor) -> float:
    """Height of the edge of an object at a placement (4, 4) before an actor, minus infinity where there is none."""
    place, heading = stance_of(actor.body, actor.pose)
    mesh = d.world.objects[thing].mesh
    point = under_edge(mesh.moved(T).vertices[mesh.faces], place, facing(heading), _EDGE_M)
    return -np.inf if point is None else float(point[2])


def _wait(d: Director, actors: Sequence[Actor], until: float) -> None:
    """Let people stand as they are until a time."""
    for actor in actors:
        if (count := actor.frame(until) - actor.k) > 0:
            acting.wait(d, actor, count)


def _set_down(d: Director, task: Carry, lifted: Lifted, T_goal: Array, what: str) -> None:
    """Let everybody lower the object onto its goal (4, 4), release it, and return to standing."""
    carriers = [_lowering(d, task, carrier, carrier.actor, T_goal, what) for carrier in lifted.carriers]
    options = []
    for carrier, grips in zip(carriers, lifted.grips, strict=True):
        pose = carrier.actor.pose
        options.append(Option(grips, pose, pose, carrier.held_at(grips, T_goal, pose), (None, 0.0)))
    Crew(d, list(carriers), [], *_with_robots(lifted.robots)).set_down(tuple(options))
    for robot in lifted.robots:
        robot.leave(max(carrier.actor.now for carrier in lifted.carriers))
