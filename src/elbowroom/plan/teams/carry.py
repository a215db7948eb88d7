"""People carry one object through a scene together: lifted, planned, walked in step, and set down (E1 to E8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.walk import STANDS_S
from elbowroom.motion.clip import Clip
from elbowroom.plan.actor import Actor
from elbowroom.plan.director import Director
from elbowroom.plan.places import place_for
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.tasks import Carry, Move
from elbowroom.plan.teams.animate import Blocked, Frames, add_frames, held_frames, walks
from elbowroom.plan.teams.stances import in_place, slots, walk_up
from elbowroom.plan.teams.trajectory import Trajectory, trajectory
from elbowroom.plan.teams.tuning import Tuning
from elbowroom.plan.teams.way import Ways, team_space
from elbowroom.plan.verbs.carrier import Carrier, Option
from elbowroom.plan.verbs.holding import Grips
from elbowroom.plan.verbs.move import Crew, crew_of, free_hands
from elbowroom.plan.walking.walked import until_end
from elbowroom.posing.two_hands import edge_grasps
from elbowroom.spaces.team import YAW, TeamSpace
from elbowroom.world.certificate import certify

# Height of the object's middle, or of its underside where that is higher, to which it is lifted: share of the mean
# height of those who carry it. What is taller than a share of that is lifted less.
_LIFTED, _TALL, _LIFTED_TALL = 0.5, 0.3, 0.5
# Metres that it is lifted off what it lies on at least, and held above its goal before it is set down.
_OFF_M = 0.05
# Turns of the object about the vertical that are tried at a goal, where none is given, radians: by number of carriers.
_TURNS_ALONE = np.radians([0.0, 90.0, -90.0, 180.0, 45.0, -45.0, 135.0, -135.0])
_TURNS = np.radians([0.0, 180.0, 90.0, -90.0])
# Seconds over which the sway of somebody who walks alone is left out of the way of what they carry.
_FOLLOWS_S = 0.15


class TeamCarrier(Carrier):
    """Somebody who carries an object on foot: palms on its sides, or hands under an edge of it."""

    def _grips(self, hands: Sequence[str]) -> list[Grips]:
        actor = self.actor
        place, heading = stance_of(actor.body, actor.pose)
        ahead = np.array([np.sin(heading), -np.cos(heading), 0.0])
        edges = edge_grasps(actor.body, self.d.world.objects[self.thing].mesh, self.T_start, place, ahead)
        under = [Grips(dict(zip(("left", "right"), pair, strict=True))) for pair in edges]
        return [*under, *super()._grips(hands)]


@dataclass(frozen=True, eq=False)
class Lifted:
    """An object in the hands of those who carry it."""

    carriers: tuple[Carrier, ...]
    grips: tuple[Grips, ...]


def carry(d: Director, task: Carry) -> None:
    """Carry an object to its goal; raises `PlanningFailure`."""
    what = f"carry {task.object}"
    actors = crew_of(d, task, what)
    for actor in actors:
        until_end(d, actor)
    T_start = np.asarray(d.world.frame(task.object, actors[0].now))
    T_goal = place_for(d.world, task, T_start, actors[0].now)
    for actor in actors:
        free_hands(d, actor, "both", what)
    if in_place(d.world, task.object, actors):
        return _carried_from(d, task, actors, T_goal, what)

    saved = d.save()
    stuck: list[PlanningFailure] = []
    for spots in slots(d.world, task.object, actors[0].now, actors):
        there = False
        try:
            walk_up(d, actors, spots, what)
            there = True
            return _carried_from(d, task, actors, T_goal, what)
        except PlanningFailure as failed:
            # why it cannot be carried tells more than where there is no room to stand
            stuck.insert(0, failed) if there and len(stuck) < 1 else stuck.append(failed)
            d.restore(saved)
    raise stuck[0]


def _carried_from(d: Director, task: Carry, actors: list[Actor], T_goal: Array, what: str) -> None:
    """Carry the object from where everybody stands at it now."""
    lifted = _lift(d, task, actors, what)
    lead = lifted.carriers[0]
    T = np.asarray(d.world.frame(task.object, lead.actor.now))
    turns = (_TURNS_ALONE if len(actors) == 1 else _TURNS) if task.turn is None else (None,)
    goals = [_turned(T_goal, turn) for turn in turns]
    space = team_space(d.world, lifted.carriers, lifted.grips, goals, tilts=not task.level)
    space = replace(space, heights=(min(space.heights[0], T[2, 3]), T[2, 3], max(space.heights[2], T[2, 3])))
    start = space.state(T[:3, 3], 0.0)
    above = [_above(space, T, goal) for goal in goals]
    space = replace(space, near=space.carriers(np.array([start, *above]))[0])
    ends = [state for state in above if space.valid(state[None])[0]]
    if not space.valid(start[None])[0]:
        space = replace(space, margin=0.0)
        ends = [state for state in above if space.valid(state[None])[0]]
    if not ends:
        x, y, z = T_goal[:3, 3]
        raise PlanningFailure("target-in-collision", f"{what}: there is no room for all of them and the object at "
                              f"({x:.2f}, {y:.2f}, {z:.2f})")  # fmt: skip
    ways = Ways(space, d.settings.seed)
    saved = d.save()
    stuck: PlanningFailure | None = None
    for number in range(task.tries):
        try:
            way = ways.find(start, ends, what)
        except PlanningFailure as none:
            raise stuck or none from None
        timing = trajectory(space, way.states, [a.body for a in actors], task.speed, task.accel, actors[0].base.fps,
                            d.settings.library)  # fmt: skip
        end = int(np.argmin(space.distances(np.array(ends), way.states[-1])))
        try:
            _walked(d, lifted, space, timing)
            _set_down(d, task, lifted, goals[[id(s) for s in above].index(id(ends[end]))], what)
        except PlanningFailure as failed:
            stuck = stuck or failed
            d.restore(saved)
            if not isinstance(failed, Blocked):
                ends.pop(end)
                if not ends:
                    raise stuck from None
                continue
            t = failed.frame / actors[0].base.fps - STANDS_S
            failed_at = timing.at(np.array([np.clip(t, 0.0, timing.duration)]))[0]
            if not ways.drop(failed_at, start, ends, failed.number):
                raise stuck from None
        else:
            d.world = d.world.with_(notes=(*d.world.notes, _note(what, number, ways, timing.duration)))
            return
    assert stuck is not None
    raise PlanningFailure(stuck.status, f"{stuck.why}; {task.tries} ways were tried")


def _note(what: str, number: int, ways: Ways, seconds: float) -> str:
    nodes = len(ways.roadmap.states)
    again = f"; {number} ways before it failed" if number else ""
    return f"{what}: {seconds:.1f} s on foot, a roadmap of {nodes} nodes and {len(ways.roadmap.edges)} edges{again}"


def _turned(T: Array, turn: float | None) -> Array:
    """A place (4, 4) turned about the vertical through its origin, radians."""
    if turn is None:
        return T
    out, c, s = np.array(T), np.cos(turn), np.sin(turn)
    out[:3, :3] = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ T[:3, :3]
    return out


def _above(space: TeamSpace, T_start: Array, T_goal: Array) -> Array:
    """State with the object above its goal (4, 4), at the height at which it is carried; it was at T_start (4, 4)."""
    R = T_goal[:3, :3] @ T_start[:3, :3].T
    yaw = float(np.arctan2(R[1, 0], R[0, 0]))
    high = max(T_goal[2, 3] + _OFF_M, space.heights[1])
    out = space.state(np.array([*T_goal[:2, 3], min(high, space.heights[2])]), 0.0)
    out[YAW] = yaw
    return out


def _lift(d: Director, task: Carry, actors: list[Actor], what: str) -> Lifted:
    """Everybody takes the object and lifts it to where it is carried; raises `PlanningFailure`."""
    T = np.asarray(d.world.frame(task.object, actors[0].now))
    corners = d.world.objects[task.object].mesh.vertices @ T[:3, :3].T
    low, high = float(corners[:, 2].min()), float(corners[:, 2].max())
    tall = float(np.mean([actor.body.height for actor in actors]))
    floor = 0.0 if d.world.floor is None else d.world.floor
    share = _LIFTED_TALL if high - low > _TALL * tall else _LIFTED
    z = max(floor + share * tall - 0.5 * (low + high), T[2, 3] + _OFF_M)
    up = Move(who=task.who, object=task.object, to=(float(T[0, 3]), float(T[1, 3]), float(z)), helpers=task.helpers)
    carriers = [TeamCarrier(d, actor, up, what, len(actors)) for actor in actors]
    for carrier in carriers:
        carrier.T_goal = np.array(T)
        carrier.T_goal[2, 3] = z
    crew = Crew(d, list(carriers), [["left", "right"]] * len(actors))
    chosen = crew.lift()
    return Lifted(tuple(carriers), tuple(option.grips for option in chosen))


def _walked(d: Director, lifted: Lifted, space: TeamSpace, timing: Trajectory) -> None:
    """Everybody walks with the object along a trajectory, in step; raises `Blocked`, with frames from its start."""
    carriers, grips = lifted.carriers, lifted.grips
    begin, first = carriers[0].actor.now, [carrier.actor.k for carrier in carriers]
    clips = walks(d, carriers, timing)
    fps = carriers[0].actor.base.fps
    states = timing.at(np.arange(len(clips[0])) / fps - STANDS_S)
    if len(carriers) == 1:
        _follow(space, states, clips[0])
    places = space.places(states)
    made: list[Frames] = []
    for carrier, held, clip in zip(carriers, grips, clips, strict=True):
        made.append(held_frames(carrier, held, clip, places))
    for carrier, held, frames in zip(carriers, grips, made, strict=True):
        add_frames(d, carrier, held, frames)
    if d.settings.tier == "ik":
        return
    during = (begin, carriers[0].actor.now)
    found = certify(d.world, during=during, clearance=False, contacts="never")
    if not found.free:
        Tuning(d, list(zip(carriers, grips, first, strict=True)), made).tune(during, found)


def _follow(space: TeamSpace, states: Array, walk: Clip) -> None:
    """Let the object of states (N, W) go before its only carrier as they walk, who turns with their steps."""
    place, heading = space.carriers(states)
    soft = _FOLLOWS_S * walk.fps
    body = np.stack(
        [stance_of(walk.character, Pose.of(r, q))[1] for r, q in zip(walk.root, walk.rotations, strict=True)]
    )
    turned = np.unwrap(body) - np.unwrap(heading[:, 0])
    turned = gaussian_filter1d(turned - 2.0 * np.pi * np.round(turned[0] / (2.0 * np.pi)), soft, mode="nearest")
    moved = gaussian_filter1d(walk.root[:, :2] - place[:, 0], soft, axis=0, mode="nearest")
    k = np.arange(len(walk))
    share = smootherstep(k / (4.0 * soft)) * smootherstep((len(walk) - 1 - k) / (4.0 * soft))
    space.put_before(states, place[:, 0] + share[:, None] * moved, heading[:, 0] + share * turned)


def _set_down(d: Director, task: Carry, lifted: Lifted, T_goal: Array, what: str) -> None:
    """Everybody lowers the object onto its goal (4, 4), lets go, and goes back to standing."""
    goal = tuple(float(x) for x in T_goal[:3, 3])
    down = Move(who=task.who, object=task.object, to=goal, helpers=task.helpers)  # type: ignore[arg-type]
    carriers = [TeamCarrier(d, carrier.actor, down, what, len(lifted.carriers)) for carrier in lifted.carriers]
    options = []
    for carrier, grips in zip(carriers, lifted.grips, strict=True):
        carrier.T_goal = T_goal
        pose = carrier.actor.pose
        carrier.guide = None
        options.append(Option(grips, pose, pose, carrier.held_at(grips, T_goal, pose), (None, 0.0)))
    Crew(d, list(carriers), []).set_down(tuple(options))
