"""Path of a team and its object through a scene, from a roadmap that is learned once and stored (E2, E3, E8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.geometry.cover import mesh_cover
from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.kept import remembered
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import facing, leftwards
from elbowroom.kernels.fields import Fields
from elbowroom.locomotion.course import smoothed
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.envelope import envelope
from elbowroom.plan.result import PlanningFailure
from elbowroom.plan.teams.animate import Blocked
from elbowroom.plan.teams.robots import RobotCarrier
from elbowroom.plan.teams.stances import MOST_BACK_M, steps_back
from elbowroom.plan.verbs.carrier import Carrier
from elbowroom.plan.verbs.holding import Grips
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.search.roadmap import Learning, Roadmap, shortened
from elbowroom.spaces.team import OWN, WHEEL_TURN_M, YAW, Bearer, Floor, TeamSpace, Z
from elbowroom.spaces.team_scene import grouped, narrow_places, open_cells, passage_width, without_low
from elbowroom.world.columns import CELL_M, Columns, columns_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.scene_field import scene_field
from elbowroom.world.world import World

# Clearances of the object, metres, the first with which a path is found; also at its start and end.
_MARGINS_M = (0.03, 0.012)
# Extra reach of a leaning body, metres, and the shortest reach of an arm, share of it.
_LEANS_M, _FOLDED = 0.06, 0.3
# Heights of carrying hands, shares of the body's height: lowest, usual and highest.
_HANDS = (0.47, 0.56, 0.84)
# Band of the scene that legs and trunk meet: from, metres, and to, share of the body's height. Heads bend.
LOW_M, TRUNK = 0.05, 0.8
# Position of bent elbows: to the side, and between which heights, shares of the body's height.
_ELBOWS, _ELBOW_BAND = 0.175, (0.5, 0.72)
# Metres between forearms and trunk of a walking person beside an object that does not sway, or alone
# with one that does, and metres of a way in which they step back for it.
_SWAYS_M, _SWAYS_ALONE_M, _STEPS_BACK_M = 0.07, 0.09, 0.3
# Shares of a step back where there is less room.
_BACK_SHARES = (0.25, 0.5, 0.75, 1.0)
# Metres by which a person whose arm met the trunk steps back more.
_MORE_BACK_M = 0.08
# Distance of the middle of the body from the object at least, share of the height.
_DEPTH = 0.155
# Clearance of a robot's base, and distance of its middle from the outline of the object, metres; share of its arm's
# reach that is used.
_BESIDE_ROBOT_M, _DEPTH_ROBOT_M, _STRETCHED = 0.03, 0.2, 0.95
# Clearance of legs and trunk, metres: sidesteps and turns are wider than steps ahead.
_BESIDE_M = 0.05
# Cells this near to a surface count as solid: walls are thin, metres.
_SHELL_M = 0.08
# Distance from a start or goal within which the path for a width message may begin or end, metres.
_ENDS_M = 0.5
# Missing width from which on there is no path whatever is sampled, metres: rooms are measured in cells.
_SURELY_M = 2.0 * CELL_M
# Widest passage that counts as narrow, metres.
_WIDEST_M = 1.8
# Limits of learning at first, and where no way is found yet.
_FIRST, _MORE = Learning(samples=1500, idle=400), Learning(samples=24_000, idle=3000)
# Corners that are tried to be cut off.
_SHORTCUTS = 200
# Distance between states while a path is straightened, metres, and iterations.
_PULLED_M, _PULLS = 0.045, 600
# Shares of the possible rise by which the object is raised on the straight way to a goal.
_RAISED = (0.0, 0.25, 0.5, 0.75)
# Paths to different goals that are compared after that, and cost relative to another path beyond which shortening does
# not make one cheaper.
_SHORTENED, _HOPELESS = 4, 1.4
# Distance that later paths keep from a place where one failed, in the space's own metric, metres.
_AVOID_M = 0.3
# The same near a start or goal: a share of the distance to it; nearer than this no path avoids it.
_OF_ENDS, _LEAST_AVOID_M = 0.6, 0.1
# Extra clearance of a carrier whose legs or trunk collided, metres, and the radius around that place in which it
# applies.
_FARTHER_M, _FARTHER_WITHIN_M = 0.06, 0.8
# Metres from a person whose head met something within which that hangs.
_UNDER_M = 0.4
# Metres from one state of a way to the next, and over which its corners are rounded: the widest that is free.
_SPACED_M = 0.015
_ROUNDED_M = (0.25, 0.16, 0.09, 0.04)


@dataclass(frozen=True, eq=False)
class TeamPath:
    """States (K, W) of a path, closely spaced; `piece` (K,) numbers their local paths."""

    states: Array
    piece: NDArray[np.int64]
    cost: float


def team_space(
    world: World, carriers: Sequence[Carrier], grips: Sequence[Grips], robots: Sequence[RobotCarrier],
    goals: Sequence[Array], *, tilts: bool,
) -> TeamSpace:  # fmt: skip
    """Space of people and robots that stand at an object and hold it, with everything else as it is now; `goals` (4,
    4).
    """
    lead = carriers[0]
    now, thing = lead.actor.now, lead.thing
    T = np.asarray(world.frame(thing, now))
    people = {carrier.actor.who for carrier in carriers}
    places = [stance_of(carrier.actor.body, carrier.actor.pose) for carrier in carriers]
    columns = columns_of(world, now, [T[:2, 3], *(p for p, _ in places), *(g[:2, 3] for g in goals)], without=[thing])
    for who, motion in world.characters.items():
        if who not in people and isinstance(motion.body, Character):
            at = motion.sample([now])[0][0]
            columns = columns.with_disc(at[:2], 0.5 * envelope(motion.body, "forward").width)
    sways = _SWAYS_M if len(carriers) + len(robots) > 1 else _SWAYS_ALONE_M
    bearers: list[Bearer] = []
    spans: list[tuple[float, ...]] = []
    for carrier, held, (place, heading) in zip(carriers, grips, places, strict=True):
        body = carrier.actor.body
        joints = body.skeleton.at(carrier.actor.pose)
        targets = held.targets(carrier.actor, np.eye(4))
        room = columns.room(LOW_M, TRUNK * body.height)
        hands, shoulders, reach = [], [], []
        for hand in held.grasps:
            ik = LimbIK(body, f"{hand}_arm")
            path = joints[ik.joints[0], :3, 3] - np.array([*place, columns.floor])
            shoulders.append([path[:2] @ leftwards(heading), -path[:2] @ facing(heading), path[2]])
            hands.append(targets[f"{hand}_hand"][:3, 3])
            reach.append([_FOLDED * ik.reach[1], ik.reach[1] + _LEANS_M])
            above = float((T[:3, :3] @ targets[f"{hand}_hand"][:3, 3])[2])
            spans.append(tuple(share * body.height - above + columns.floor for share in _HANDS))
        stance = np.array([*(place - T[:2, 3]), heading])
        radius = max(envelope(body, "forward").trunk[:3]) + _BESIDE_M
        elbows = _ELBOWS * body.height
        elbow_room = columns.room(*(share * body.height for share in _ELBOW_BAND))
        bearers.append(
            Bearer(
                stance,
                np.array(hands),
                np.array(shoulders),
                np.array(reach),
                radius,
                room,
                elbow_room,
                elbows,
                _DEPTH * body.height,
                ceiling=columns.ceiling(TRUNK * body.height, body.height),
                back=steps_back(carrier, held, T, sways),
            )
        )
    bearers += [_robot_bearer(robot, T, columns) for robot in robots]
    floor = Floor(columns.origin, CELL_M, open_cells([b.room for b in bearers], columns.origin, CELL_M),
                  narrow_places(bearers[0].room < _SHELL_M, columns.origin, CELL_M, _WIDEST_M, 1))  # fmt: skip
    lows, usual, highs = np.array(spans).T
    low, high = sorted((float(lows.max()), float(highs.min())))
    heights = (low, float(np.clip(usual.mean(), low, high)), high)
    mesh = world.objects[thing].mesh
    balls = mesh_cover(mesh)[:, :4]
    size = float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))
    flat = (mesh.vertices @ T[:3, :3].T)[:, :2]
    outline = np.concatenate([0.5 * (flat.max(axis=0) + flat.min(axis=0)), 0.5 * np.ptp(flat, axis=0)])
    return TeamSpace(tuple(bearers), floor, grouped(balls), outline, _scene(world, thing, now), T[:3, :3], heights,
                     max(0.4 * size, 0.4), columns.floor, _MARGINS_M[0], tilts)  # fmt: skip


def _robot_bearer(robot: RobotCarrier, T: Array, columns: Columns) -> Bearer:
    """Robot carrier of a team's space, with the object at a placement (4, 4)."""
    place, heading = robot.place
    _, frames = robot.ik.grips(robot.values[None])
    shoulder = frames[0, 1, :3, 3]
    base = [shape_mesh(shape).vertices for shape in robot.robot.shapes if shape.joint == 0]
    corners = np.concatenate([*base, np.zeros((1, 3))])
    radius = float(np.linalg.norm(corners[:, :2], axis=1).max()) + _BESIDE_ROBOT_M
    room = columns.room(LOW_M, max(float(corners[:, 2].max()), shoulder[2]))
    longest = robot.ik.longest
    off = float(np.linalg.norm(shoulder[:2]))
    reach = np.array([[_FOLDED * longest, _STRETCHED * longest - off]])
    gait: Literal["rolls", "slides"] = "rolls" if robot.robot.drive == "differential" else "slides"
    return Bearer(
        np.array([*(place - T[:2, 3]), heading]), robot.T_thing_grip[None, :3, 3], np.array([[0.0, 0.0, shoulder[2]]]),
        reach, radius, room, room, 0.0, _DEPTH_ROBOT_M, gait,
    )  # fmt: skip


def _scene(world: World, thing: str, now: float) -> Fields | None:
    """Distance field of everything but people and the object, as it is now; None where there is nothing."""
    meshes = dict(world.static)
    meshes |= {name: o.mesh.moved(np.asarray(o.path(now))) for name, o in world.things.items() if name != thing}
    found = scene_field(ExactWorld(World(static=meshes, floor=world.floor)).static) if meshes else None
    return None if found is None else found.arrays


@dataclass
class TeamPaths:
    """Paths of a team over its roadmap: later ones avoid places where earlier ones failed."""

    space: TeamSpace
    seed: int
    roadmap: Roadmap = field(init=False)
    failed: int = 0
    looked: dict[tuple[bytes, bytes], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        about = (*_key(self.space), self.seed)
        self.roadmap = Roadmap.of(self.space, remembered("roadmaps", about, self._learned))

    def _learned(self) -> dict[str, NDArray]:
        roadmap = Roadmap(replace(self.space, near=self.space.near[:0]))  # for all starts and goals
        roadmap.learn(np.random.default_rng(self.seed), _FIRST)
        return roadmap.arrays()

    def find(self, start: Array, goals: Sequence[Array], what: str) -> TeamPath:
        """The cheapest path from a state to one of several, rounded and closely spaced; raises `PlanningFailure`."""
        rng = np.random.default_rng(self.seed + 1 + self.failed)
        found = self._found(start, goals)
        lack, narrow = (0.0, "") if found else self._narrowest(start, goals)
        if not found and lack < _SURELY_M:
            for goal in (start, *goals):
                self.roadmap.add(goal, always=True)

            if not self._found(start, goals):
                self.roadmap.learn(rng, _MORE, lambda: bool(self._found(start, goals)))
            found = self._found(start, goals)
        if not found:
            why = PlanningFailure("no-path", f"{what}: no path was found for all carriers and the object; {narrow}")
            why.anywhere = lack >= _SURELY_M and not self.failed  # ground may be left out after failures
            raise why
        best = min(self._across(start, goals), key=lambda path: path[0], default=None)
        for cost, states in found[:_SHORTENED]:
            if best is not None and cost > _HOPELESS * best[0]:
                break
            short = shortened(self.space, states, self._at, rng, _SHORTCUTS)
            cost = self._cost(short)
            best = (cost, short) if best is None or cost < best[0] else best
        assert best is not None
        return self._spaced(best[1])

    def _narrowest(self, start: Array, goals: Sequence[Array]) -> tuple[float, str]:
        """Width that the carrier who lacks most lacks where the path is narrowest, metres, and a description."""
        space = self.space
        at = space.carriers(np.array([start, *goals]))[0]
        lacks = []
        for k, bearer in enumerate(space.bearers):
            ends = (at[:1, k], at[1:, k])
            wide = passage_width(bearer.room, space.floor.origin, CELL_M, ends, _ENDS_M)
            lacks.append((2.0 * bearer.radius - wide, wide, 2.0 * bearer.radius))
        lack, wide, needed = max(lacks)
        if wide == 0.0:
            return lack, "there is no path to walk"
        text = f"the widest path is {wide:.2f} m wide at its narrowest"
        more = f", and one carrier needs {needed:.2f} m" if lack > 0.0 else ", too little for the object"
        return lack, text + more

    def _at(self, a: Array, b: Array, share: float) -> Array:
        return np.asarray(self.space.between(a, b, np.array([share]))[0])

    def _cost(self, states: Sequence[Array]) -> float:
        return sum(self.space.cost(a, b) for a, b in pairwise(states))

    def _found(self, start: Array, goals: Sequence[Array]) -> list[tuple[float, list[Array]]]:
        """Paths over the roadmap to some goals, the cheapest first, with their costs."""
        paths = self.roadmap.find(start, goals, self.passable)
        return sorted(((self._cost(path), path) for path in paths if path is not None), key=lambda path: path[0])

    def _across(self, start: Array, goals: Sequence[Array]) -> Iterator[tuple[float, list[Array]]]:
        """Paths straight to some goals, raised as little as is free, with their costs."""
        for goal in goals:
            low = max(start[Z], goal[Z])
            for share in _RAISED:
                a, b = np.array(start), np.array(goal)
                a[Z] = b[Z] = low + share * max(self.space.heights[2] - low, 0.0)
                path = [start, a, b, goal]
                if all(self.space.joins(*pair) for pair in pairwise(path)):
                    yield self._cost(path), path
                    break

    def drop(self, failed: Blocked, state: Array, start: Array, goals: Sequence[Array]) -> bool:
        """Leave out all ways near a state; return False where every way passes it, near its ends.

        A person whose body met something keeps farther from all things around there; who found no way under
        something goes nowhere under it where it hangs as low as there; whose arm met the own trunk steps back more.
        """
        self.failed += 1
        if failed.number is not None and failed.chain.endswith("_arm"):
            self._use(replace(self.space, bearers=self._stepped_back(failed.number)))
            return True
        if failed.number is not None:
            bearer, at = self.space.bearers[failed.number], self.space.carriers(state[None])[0][0, failed.number]
            j, i = np.indices(bearer.room.shape)
            cells = self.space.floor.origin + CELL_M * (np.stack([i, j], axis=-1) + 0.5)
            far = np.linalg.norm(cells - at, axis=-1)
            if failed.chain == "head":
                room = without_low(bearer.room, bearer.ceiling, far < _UNDER_M, CELL_M)
            else:
                room = bearer.room - _FARTHER_M * (far < _FARTHER_WITHIN_M)
            others = list(self.space.bearers)
            others[failed.number] = replace(bearer, room=room)
            space = replace(self.space, bearers=tuple(others))
            if space.valid(np.array([start, *goals])).all():
                self._use(space)
                return True
        ends = float(self.space.distances(np.array([start, *goals]), state).min())
        closed = np.append(state, min(_OF_ENDS * ends, _AVOID_M))[None]
        self._use(replace(self.space, closed=np.concatenate([self.space.closed.reshape(-1, closed.shape[1]), closed])))
        return ends > _LEAST_AVOID_M

    def _stepped_back(self, number: int) -> tuple[Bearer, ...]:
        """Carriers, one of whom walks farther from the object."""
        back = min(self.space.bearers[number].back + _MORE_BACK_M, MOST_BACK_M[0])
        return tuple(replace(b, back=back) if k == number else b for k, b in enumerate(self.space.bearers))

    def may_step_back(self, number: int) -> bool:
        """Return whether a carrier can walk farther from the object."""
        return self.space.bearers[number].back < MOST_BACK_M[0]

    def _use(self, space: TeamSpace) -> None:
        self.space = self.roadmap.space = space
        self.looked.clear()

    def passable(self, a: Array, b: Array, joined: bool) -> bool:
        """Return whether a local path is free: one that was so may have been left out since, and a single carrier, who
        walks ahead, comes back along another curve than the one that was `joined`.
        """
        if not self.failed and (joined or len(self.space.bearers) > 1):
            return True
        edge = (a.tobytes(), b.tobytes())
        if edge not in self.looked:
            self.looked[edge] = self.space.joins(a, b)
        return self.looked[edge]

    def _spaced(self, states: Sequence[Array]) -> TeamPath:
        """States of a path, evenly spaced, with its corners rounded as far as that is free."""
        rows, piece = [], []
        for k, (a, b) in enumerate(pairwise(states)):
            n = max(int(self.space.distances(a[None], b)[0] / _SPACED_M), 2)
            part = self.space.between(a, b, np.linspace(0.0, 1.0, n + 1))
            rows.append(part if k == 0 else part[1:])
            piece += [k] * len(rows[-1])
        path = np.concatenate(rows)
        path[:, YAW] = np.unwrap(path[:, YAW])
        if len(self.space.bearers) > 1:
            path = self._pulled(path)
        cost = self.space.way_cost(path[::3])
        for width in (*_ROUNDED_M, 0.02):
            soft = smoothed(path, width / _SPACED_M)
            if self.space.valid(soft[:: max(len(soft) // 400, 1)]).all():
                break
        return TeamPath(self._stood_back(soft), np.array(piece, np.int64), cost)

    def _stood_back(self, path: Array) -> Array:
        """A way on which everybody steps back as far as they are to stand off the object, or as there is room."""
        k = _SPACED_M * np.arange(len(path))
        ends = smootherstep(k / _STEPS_BACK_M) * smootherstep((k[-1] - k) / _STEPS_BACK_M)
        looks = np.arange(0, len(path), max(len(path) // 400, 1))
        looks = looks[self.space.valid(path[looks])]
        for number, bearer in enumerate(self.space.bearers):
            if bearer.back <= 0.0:
                continue
            column = OWN + 3 * number
            farther = ends * np.clip(bearer.back - path[:, column], 0.0, None)
            most = np.zeros(len(looks))
            for share in _BACK_SHARES:
                other = np.array(path[looks])
                other[:, column] += share * farther[looks]
                most = np.where(self.space.valid(other), share, most)
            width = _STEPS_BACK_M / _SPACED_M
            shares = scipy.ndimage.minimum_filter1d(np.interp(np.arange(len(path)), looks, most), 2 * int(width) + 1)
            path = np.array(path)
            path[:, column] += scipy.ndimage.gaussian_filter1d(shares, width / 4.0, mode="nearest") * farther
        return path

    def _pulled(self, path: Array) -> Array:
        """A team's path straightened in parts, on coarser states."""
        rng = np.random.default_rng(self.seed + 7)
        every = max(round(_PULLED_M / _SPACED_M), 1)
        rows = np.unique(np.append(np.arange(0, len(path), every), len(path) - 1))
        coarse = self.space.pulled(path[rows], rng, _PULLS)
        return np.stack([np.interp(np.arange(len(path)), rows, coarse[:, c]) for c in range(path.shape[1])], axis=-1)


def _key(space: TeamSpace) -> Iterator[object]:
    """Everything that a roadmap depends on: the people, the object and the scene."""
    for b in space.bearers:
        yield from (b.stance, b.hands, b.shoulders, b.reach, b.radius, b.room, b.elbow_room, b.gait)
    yield from (space.cover[2], space.upright, space.heights, space.margin, space.tilts, space.arms, space.floor.origin)
    if space.wheels:
        yield WHEEL_TURN_M
    if len(space.bearers) == 1:
        yield "curves by length"
    if space.scene is not None:
        yield from (space.scene.center, space.scene.corner, space.scene.origin)
