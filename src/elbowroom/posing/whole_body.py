"""Postures of the whole body: hands and feet exactly at their targets, all else as near as can be to what is wished.

Hard: targets of hands and feet, ranges of joints, and the centre of mass (with a load) over the support where one is
given. Soft: markers of a posture to resemble, and the posture at the start. Root, spine and clavicles are found by
damped least squares, limbs with a target in closed form (`kernels.whole_body`). Equal calls give equal postures.

    body = WholeBody(woman)
    grip = body.solve(standing, {"left_hand": T_left, "right_hand": T_right}, support=support_of(woman, standing))

Planners in compiled code call `kernels.whole_body_solve.solve` with what `WholeBody.problem` and `aims` give.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Chain, Character
from elbowroom.character.limits import EPS
from elbowroom.character.markers import MARKERS
from elbowroom.character.masses import center_of_mass
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import whole_body as kernels
from elbowroom.kernels import whole_body_solve
from elbowroom.posing.balance import contact_points, hull_of
from elbowroom.posing.gaze import gaze_error, looking_at
from elbowroom.posing.limb_ik import LimbIK, checked, numbers
from elbowroom.posing.whole_body_model import CLAVICLES, SPINE, Problem, problem_of
from elbowroom.stopping import may_stop_here

PostureStatus = Literal["found", "out-of-reach", "out-of-range", "off-balance", "turned-too-far"]

_STATUS: dict[int, PostureStatus] = {
    whole_body_solve.FOUND: "found",
    whole_body_solve.OUT_OF_REACH: "out-of-reach",
    whole_body_solve.OUT_OF_RANGE: "out-of-range",
    whole_body_solve.OFF_BALANCE: "off-balance",
}

FEET = ("left_foot", "right_foot")
ENDS = ("left_hand", "right_hand", *FEET)

# Iterations after which a posture is given up; tuned on boxes from 0.1 to 1.8 m: those that are found take less.
ITERATIONS = 60

# A hand or foot nearer to its target than this has reached it, metres: a tenth of the grip tolerance.
_MET_M = 1e-4

# Supports that are cached.
_HULLS = 16

# Metres that a radian of excess is worth, where both fail: about an arm's length.
_LEVER_M = 0.5


class Load(NamedTuple):
    """A held object: mass in kg, and its centre in the world, (3,) metres."""

    mass: float
    center: ArrayLike


@dataclass(frozen=True, eq=False)
class WholeBodySolution:
    """A posture and its quality.

    missing: metres between each hand or foot and its target. com_margin: metres of the centre of mass inside the
    support, negative outside, inf where none was given. turn: largest rotation of a joint from the initial posture,
    excess: largest excess over joint limits, gaze_error: between the gaze and its point, all in radians. reason: one
    sentence where a hard constraint is not met.
    """

    pose: Pose
    status: PostureStatus
    iterations: int
    missing: Mapping[str, float]
    com_margin: float
    turn: float
    excess: float
    reason: str
    gaze_error: float = 0.0

    @property
    def found(self) -> bool:
        """Return whether all hard constraints are met."""
        return self.status == "found"


def support_of(character: Character, pose: Pose, floor: float = 0.0) -> Array:
    """Corners (K, 2) of the ground under a character's feet, counter-clockwise; none where they touch nothing."""
    return hull_of(contact_points(character, character.skeleton.at(pose), floor))


class WholeBody:
    """Inverse kinematics of a whole character.

    pinned: hands and feet that stay where the initial posture has them, unless they are given a target. free: hands and
    feet without a target whose limbs follow markers; other limbs keep their shape and move with the trunk. head:
    whether neck and head follow markers. stay: weight of the initial posture, normally 1. most_turn: largest rotation
    of a joint in one call, radians.
    """

    def __init__(
        self,
        character: Character,
        pinned: Collection[str] = FEET,
        *,
        free: Collection[str] = (),
        head: bool = False,
        load: Load | None = None,
        stay: float = 1.0,
        most_turn: float = np.inf,
    ) -> None:
        self.character, self.load, self.most_turn, self.head = character, load, most_turn, head
        self.stay = stay
        arms_and_legs = {chain.end: chain for chain in character.chains.values() if chain.kind in ("arm", "leg")}
        self.ends: dict[str, Chain] = {
            role: arms_and_legs[j] for role, j in character.roles.items() if j in arms_and_legs
        }
        self.pinned, self.free = self._known(pinned), self._known(free)
        self._markers = [k for k, label in enumerate(MARKERS) if label in character.markers]
        self._problems: dict[tuple[str, ...], Problem] = {}
        self._limbs: dict[str, LimbIK] = {}
        self._hulls: dict[bytes, Array] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on parts that the character lacks."""
        roles, name = self.character.roles, self.character.name
        lacks = (
            (SPINE, f"{name} has no flexible spine: the trunk moves as one piece."),
            (CLAVICLES, f"{name} has no clavicles: its shoulders move with the chest."),
        )
        out = [text for parts, text in lacks if not any(part in roles for part in parts)]
        return tuple(out + [f"{name} has no {end.replace('_', ' ')}." for end in ENDS if end not in self.ends])

    def _known(self, ends: Collection[str]) -> tuple[str, ...]:
        for end in ends:
            if end not in self.ends:
                raise UnknownName(f"hand or foot of {self.character.name}", end, self.ends)
        return tuple(end for end in self.ends if end in ends)

    def limb(self, end: str) -> LimbIK:
        """Inverse kinematics of the limb of a hand or foot."""
        if end not in self._limbs:
            self._limbs[end] = LimbIK(self.character, self.ends[self._known([end])[0]].name)
        return self._limbs[end]

    def problem(self, ends: Collection[str]) -> Problem:
        """First arguments of the compiled solver if these hands and feet have targets, in the order of `ends`."""
        key = self._known(ends)
        if key not in self._problems:
            self._problems[key] = self._problem(key, [self.limb(end) for end in key])
        return self._problems[key]

    def solve(
        self,
        start: Pose,
        targets: Mapping[str, ArrayLike],
        markers: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        *,
        load: Load | None = None,
        support: ArrayLike | None = None,
        gaze: ArrayLike | None = None,
        iterations: int = ITERATIONS,
    ) -> WholeBodySolution:
        """Posture near `start` with hands and feet at their targets, T_world_joint (4, 4) by name ('left_hand').

        markers (41, 3): positions to approach, in the order of `MARKERS`; weights (41,), 1 by default, 0 for irrelevant
        ones. load counts for balance over the support (K, 2), metres. gaze (3,): a point that head and eyes turn to, as
        far as they can.
        """
        body = self.character
        if start.q.shape != (4 * len(body.skeleton),) or not (
            np.isfinite(start.q).all() and np.isfinite(start.root).all()
        ):
            raise BadValue(f"a pose of {body.name} is {len(body.skeleton)} finite quaternions and a position.")
        self._known(targets)
        ends = self._known({*self.pinned, *targets})
        T = body.skeleton.at(start) if set(ends) - set(targets) else body.T_rest
        places = {end: checked(end, targets[end]) if end in targets else T[self.ends[end].end] for end in ends}
        problem = self._problem_at(ends, start)
        aims = self.aims(places, markers, weights, load=load, support=support)
        pose, out = self._run(problem, aims, start, iterations)
        if out[whole_body_solve.STATUS] != whole_body_solve.FOUND and len(aims.corners):
            # if everything else would be met without the balance, report that
            other, free = self._run(problem, aims._replace(corners=np.zeros((0, 2))), start, iterations)
            if free[whole_body_solve.STATUS] == whole_body_solve.FOUND:
                pose, out = other, free
                out[whole_body_solve.MARGIN] = self._margin(pose, aims)
        error = 0.0
        if gaze is not None:
            pose = looking_at(body, pose, gaze)
            error = gaze_error(body, pose, gaze)
            out[whole_body_solve.MARGIN] = self._margin(pose, aims)
        return replace(self._solution(pose, ends, out), gaze_error=error)

    def follow(
        self,
        before: Pose,
        root: Array,
        rotations: Array,
        targets: Mapping[str, Array],
        *,
        carried: Sequence[int] = (),
        swivels: Mapping[str, Array] | None = None,
    ) -> WholeBodySolution:
        """Solve N frames one after another, in place, hands and feet at targets (N, 4, 4) by name.

        Frames start from root (N, 3) and rotations (N, J, 4), with joints `carried` as in the frame before, the first
        as in the posture `before`, and elbows and knees rotated by `swivels` (N,), radians, about the line between the
        ends of their limbs. Returns the solution of the last frame, or of the first that fails; `iterations` is then
        its index.
        """
        ends = self._known(targets)
        problem = self._problem_at(ends, before)
        aims = self.aims({end: targets[end][0] for end in ends})
        count = len(root)
        places = np.tile(np.eye(4), (count + 1, kernels.LIMBS, 1, 1))
        turns = np.zeros((count + 1, kernels.LIMBS))
        for k, end in enumerate(ends):
            places[1:, k] = targets[end]
            turns[1:, k] = 0.0 if swivels is None else swivels.get(end, 0.0)
        roots, rows = np.concatenate([before.root[None], root]), np.concatenate([before.rotations[None], rotations])
        out, done = np.zeros((count + 1, whole_body_solve.NUMBERS)), 1
        joints, scratch = np.array(carried, np.int64), (np.zeros((1, 3)), np.zeros_like(rows[:1]))
        while True:
            may_stop_here()
            done = whole_body_solve.follow(
                *problem, aims, places, turns, joints, ITERATIONS, roots, rows, out, *scratch, done
            )
            last = min(done, count)
            found = self._solution(Pose.of(roots[last], rows[last]), ends, out[last])
            if done > count or not found.found:
                break
            done += 1  # accepted within tolerance
        root[:], rotations[:] = roots[1:], rows[1:]
        return replace(found, iterations=last - 1)

    def _run(self, problem: Problem, aims: kernels.Aims, start: Pose, iterations: int) -> tuple[Pose, Array]:
        """Call the compiled solver: posture, and numbers as it gives them."""
        may_stop_here()
        root, rotations = np.zeros(3), np.zeros((len(self.character.skeleton), 4))
        out = np.zeros(whole_body_solve.NUMBERS)
        before = np.array(start.root[None]), np.array(start.rotations[None])
        whole_body_solve.solve(*problem, aims, *before, iterations, root, rotations, out)
        return Pose.of(root, rotations), out

    def _problem_at(self, ends: tuple[str, ...], pose: Pose) -> Problem:
        """The problem with joints inside limbs, such as forearm twist joints, as in a posture."""
        limbs = [self.limb(end) for end in ends]
        between = [j for limb in limbs for j in _between(self.character, limb)]
        if not between or np.array_equal(pose.rotations[between], self.character.skeleton.rest[between]):
            return self.problem(ends)
        return self._problem(ends, [LimbIK(self.character, limb.limb, pose) for limb in limbs])

    def _problem(self, ends: tuple[str, ...], limbs: list[LimbIK]) -> Problem:
        free = [self.limb(end) for end in self.free if end not in ends]
        spare = self.limb(next(iter(self.ends))) if self.ends else None
        return problem_of(self.character, limbs, free, spare, head=self.head, stay=self.stay)

    def _margin(self, pose: Pose, aims: kernels.Aims) -> float:
        """Distance of the centre of mass, with the load, inside the support, metres."""
        masses = self.character.masses
        if masses is None or not len(aims.corners):
            return float(np.inf)
        own = center_of_mass(self.character, self.character.skeleton.at(pose))
        com = (masses.total * own + aims.load[0] * aims.load[1:]) / (masses.total + aims.load[0])
        edge = np.roll(aims.corners, -1, axis=0) - aims.corners
        inside = edge[:, 0] * (com[1] - aims.corners[:, 1]) - edge[:, 1] * (com[0] - aims.corners[:, 0])
        return float((inside / np.linalg.norm(edge, axis=1)).min())

    def aims(
        self,
        targets: Mapping[str, ArrayLike],
        markers: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        *,
        load: Load | None = None,
        support: ArrayLike | None = None,
    ) -> kernels.Aims:
        """Goals as the compiled solver takes them, see `solve`; each limb of the problem needs a target."""
        ends = np.tile(np.eye(4), (kernels.LIMBS, 1, 1))
        for k, end in enumerate(self._known(targets)):
            ends[k] = targets[end]
        places, heavy = self._soft(markers, weights)
        corners = np.zeros((0, 2)) if support is None else self._hulled(support)
        if support is not None and self.character.masses is None:
            raise BadValue(f"{self.character.name} has no masses, so its balance is unknown; omit the support.")
        held = np.zeros(4)
        carried = self.load if load is None else load
        if carried is not None:
            held[0], held[1:] = numbers("mass of the load", carried.mass), numbers("centre of the load", carried.center)
            if held[0] < 0.0:
                raise BadValue(f"the mass of a load must be 0 kg or more, not {held[0]:g}.")
        return kernels.Aims(ends, places, heavy, held, corners, np.ones(1))

    def _hulled(self, support: ArrayLike) -> Array:
        """Corners of a support, see `_hull`; planners ask for the same one repeatedly."""
        key = numbers("support", support).tobytes()
        if key not in self._hulls:
            if len(self._hulls) >= _HULLS:
                self._hulls.clear()
            self._hulls[key] = _hull(support)
        return self._hulls[key]

    def _soft(self, markers: ArrayLike | None, weights: ArrayLike | None) -> tuple[Array, Array]:
        if markers is None:
            return np.zeros((len(self._markers), 3)), np.zeros(len(self._markers))
        places = np.array(markers, dtype=float)
        heavy = np.ones(len(MARKERS)) if weights is None else np.array(weights, dtype=float)
        if places.shape != (len(MARKERS), 3) or heavy.shape != (len(MARKERS),):
            raise BadValue(
                f"markers are ({len(MARKERS)}, 3) with ({len(MARKERS)},) weights, not {places.shape} and {heavy.shape}."
            )
        unseen = ~np.isfinite(places).all(axis=-1)
        heavy[unseen], places[unseen] = 0.0, 0.0
        if not (np.isfinite(heavy).all() and (heavy >= 0.0).all()):
            raise BadValue("weights of markers are finite numbers, 0 or more.")
        return places[self._markers], heavy[self._markers]

    def _solution(self, pose: Pose, ends: tuple[str, ...], out: Array) -> WholeBodySolution:
        status = _STATUS[int(out[whole_body_solve.STATUS])]
        if status == "found" and out[whole_body_solve.MARGIN] < 0.0:
            status = "off-balance"
        gaps = np.abs(out[whole_body_solve.GAPS :])
        missing = {end: float(gaps[k]) for k, end in enumerate(ends)}
        margin, excess = float(out[whole_body_solve.MARGIN]), float(out[whole_body_solve.EXCESS])
        turn = float(out[whole_body_solve.TURN])
        if status == "out-of-reach" and max(missing.values()) <= _MET_M and excess <= EPS:
            status = "found" if margin >= 0.0 else "off-balance"
        if status == "out-of-reach" and _LEVER_M * excess > max(missing.values()):
            status = "out-of-range"  # the limits keep the limb from its target
        if status == "found" and turn > self.most_turn:
            status = "turned-too-far"
        farthest = max(missing, key=lambda end: missing[end], default="")
        name = self.character.name
        reason = {
            "found": "",
            "out-of-reach": f"{farthest} of {name} is {_short(missing.get(farthest, 0.0))} short of its target.",
            "out-of-range": f"a limb of {name} is {np.degrees(excess):.1f} degrees out of its range.",
            "off-balance": f"the centre of mass of {name} is {-100.0 * margin:.1f} cm outside the support.",
            "turned-too-far": f"a joint of {name} turns by {np.degrees(turn):.0f} degrees, more than the "
            f"{np.degrees(self.most_turn):.0f} allowed.",
        }[status]
        iterations = int(out[whole_body_solve.ITERATIONS])
        return WholeBodySolution(pose, status, iterations, missing, margin, turn, excess, reason)


def _short(metres: float) -> str:
    """A length in words."""
    return f"{100.0 * metres:.1f} cm" if metres >= 0.01 else f"{1000.0 * metres:.1f} mm"


def _hull(support: ArrayLike) -> Array:
    """Corners of a support, counter-clockwise, as few as the solver takes."""
    corners = hull_of(numbers("support", support))
    if not len(corners):
        raise BadValue("a support is three corners (K, 2) or more that do not lie on one line.")
    if len(corners) > kernels.MOST_CORNERS:
        corners = corners[:: -(-len(corners) // kernels.MOST_CORNERS)]
    return np.ascontiguousarray(corners)


def _between(body: Character, limb: LimbIK) -> list[int]:
    """Joints between the three of a limb."""
    found, joint = [], int(body.parents[limb.joints[2]])
    while joint != limb.joints[0]:
        if joint != limb.joints[1]:
            found.append(joint)
        joint = int(body.parents[joint])
    return found
