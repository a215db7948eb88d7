"""A whole-body path between two postures: one component after another, each along the path so far (P1, P2)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import EPS, JointLimit, pose_excess
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array, slerp
from elbowroom.plan.checks.accept import met_between
from elbowroom.plan.checks.margins import BETWEEN_M
from elbowroom.plan.tight.settings import USUAL, Decomposition, TightSettings
from elbowroom.posing.stance import between
from elbowroom.posing.stand import Balancer
from elbowroom.search import shortcut
from elbowroom.search.birrt import Budget, Stats
from elbowroom.search.rrt import EFFORT, CarriedPath, plan, smooth
from elbowroom.search.shortcut import SmoothingLimits
from elbowroom.spaces.component import Component, ComponentSpace, Edge, PosePath, components, joined
from elbowroom.world.fast_body import BodyCheck

# Poses along the straight path from start to goal, from which the first component's states are offsets.
_STRAIGHT = 25
# Random trunk postures by way of which paths lead: tries, their shares of the straight path, and their deviation from
# it, share of the ranges.
_VIA_TRIES = 40
_VIA_SHARES = (0.2, 0.8)
_VIA_SPREAD = 0.25
# Attempts at a path that follows another: one that is not found soon follows a bad path.
_FOLLOWS = 2
# Largest distance between postures that are checked between those of a path, metres.
_LOOKS_M = 0.008
# Distance between samples along a shortcut of the whole body, metres.
_LOOK_M = 0.03


@dataclass(frozen=True, eq=False)
class BodyProblem:
    """Motion of a whole body between two postures: obstacles, balance, facing direction.

    `axes` (3, 3) are the directions ahead, left and up, in columns. `working` is the arm that is planned first.
    """

    body: Character
    start: Pose
    goal: Pose
    check: BodyCheck
    balance: Balancer
    axes: Array
    working: str = "right_arm"

    @cached_property
    def _limits(self) -> list[tuple[int, JointLimit]]:
        """Joints of trunk and arms with the limits to keep between postures: those that both ends keep."""
        joints = sorted({j for one in components(self.body).values() for f in one.freedoms for j in f.joints})
        found = [(j, limit) for j in joints if (limit := dict(enumerate(self.body.limits)).get(j)) is not None]
        ends = np.stack([self.start.rotations, self.goal.rotations])
        return [(j, limit) for j, limit in found if float(pose_excess([limit], ends[:, [j]]).max()) <= EPS]

    def within_limits(self, rotations: Array) -> Array:
        """Rotations (..., J, 4) with joints moved into ranges that both ends keep: elsewhere they would jump."""
        out = np.array(rotations)
        for j, limit in self._limits:
            out[..., j, :] = limit.clamp(out[..., j, :])
        return out


def standing_balance(body: Character, floor: float, ends: Sequence[Pose], least_m: float, **bears: Any) -> Balancer:
    """Balance of a body over its feet as far from the border as all postures in `ends` are, `least_m` at most.

    None is kept where one of them is not balanced. `bears` are further supports and the load, see `Balancer`.
    """
    plain = Balancer(body, floor, 0.0, **bears)
    for pose in ends:
        corners = plain.support(pose, PosePath(body, [pose, pose]).feet(0.0))
        least_m = min(least_m, plain.margin(pose, corners))
    wanted = least_m >= 0.0 and body.masses is not None
    return Balancer(body, floor, max(least_m, 0.0), wanted=wanted, **bears)


@dataclass(frozen=True, eq=False)
class BodyPath:
    """A path of a whole body, None where none was found, with search statistics and seconds by component.

    `blocked` names the component that failed in the first decomposition, `decomposition` the one that worked.
    """

    path: PosePath | None
    stats: Stats = field(default_factory=Stats)
    seconds: dict[str, float] = field(default_factory=dict)
    decomposition: Decomposition = ()
    blocked: str = ""


def body_path(
    problem: BodyProblem, seed: int = 0, settings: TightSettings = USUAL, follow: PosePath | None = None
) -> BodyPath:
    """Path from start to goal by the first decomposition that succeeds, the same for the same seed.

    With `follow`, a path that may collide, components keep to it where it is free and search near it elsewhere (the
    paper's replanning); otherwise they keep to the straight path.
    """
    straight = PosePath(problem.body, _line(problem.body, problem.start, problem.goal)) if follow is None else follow
    share = 0.0 if follow is None else settings.follow
    total, seconds, blocked = np.zeros(4, np.int64), dict[str, float](), ""
    for number, (decomposition, guide, budget) in enumerate(
        islice(settings.attempts(), None if follow is None else _FOLLOWS)
    ):
        if total[0] >= settings.most_checks:
            break
        path: PosePath | None = _by_way(problem, straight, seed + 1009 * number) if guide == "via" else straight
        parts: list[int] = []
        for k, component in enumerate(_ordered(problem, decomposition)):
            assert path is not None
            parts += component.parts
            begun = time.perf_counter()
            search = _ComponentSearch(problem, component, path, tuple(parts), guide == "pushed", share)
            found = search.run(seed + 101 * k + 1009 * number, budget, settings.smoothing)
            total += astuple(found.stats)
            seconds[component.name] = seconds.get(component.name, 0.0) + time.perf_counter() - begun
            path = _along(problem.body, found)
            if path is None:
                blocked = blocked or component.name
                break
        # a forearm passes a thin post from one posture to the next
        if (
            path is not None
            and follow is None
            and not free_between(between_check(problem, path), path.root, path.rotations)
        ):
            path, blocked = None, blocked or component.name
        if path is not None:
            return BodyPath(path, Stats(*map(int, total)), seconds, decomposition, blocked)
    return BodyPath(None, Stats(*map(int, total)), seconds, (), blocked)


def between_check(problem: BodyProblem, path: PosePath) -> BodyCheck:
    """Check of postures between those of a path: something may be nearer there than at both."""
    return problem.check.with_margin(min(problem.check.margin, BETWEEN_M)).with_folds(path.T)


def free_between(check: BodyCheck, root: Array, rotations: Array) -> bool:
    """Return whether postures between those of roots (N, 3) and rotations (N, J, 4) are free."""
    way = np.linalg.norm(np.diff(check.body.transforms(root, rotations)[..., :3, 3], axis=0), axis=-1).max(axis=1)
    counts = np.maximum(np.ceil(way / _LOOKS_M), 2).astype(int)
    return met_between(root, rotations, counts, lambda pose, _k, _share: None if check.free(pose) else pose) is None


def _line(body: Character, start: Pose, goal: Pose) -> list[Pose]:
    """Poses interpolated between two, feet in place."""
    root, q = between(body, start, goal, np.linspace(0.0, 1.0, _STRAIGHT))
    return [start, *(Pose.of(r, x) for r, x in zip(root[1:-1], q[1:-1], strict=True)), goal]


def _by_way(problem: BodyProblem, straight: PosePath, seed: int) -> PosePath:
    """Path from start to goal by way of a random free posture of the trunk; the straight one where none is found.

    The trunk finds its straight path first, and again in every attempt: where that leaves an arm no room, only another
    one helps.
    """
    rng, body = np.random.default_rng(np.random.SeedSequence(seed)), problem.body
    own = components(body)
    trunk = joined([own[name] for name in ("pelvis", "spine") if name in own])
    space = ComponentSpace(trunk, straight, problem.check.with_parts(trunk.parts), problem.balance, problem.axes)
    for _ in range(_VIA_TRIES):
        state = space.near(rng, float(rng.uniform(*_VIA_SHARES)), _VIA_SPREAD)
        pose = space.pose(state)
        if pose is not None and space.check.free(pose, exact=False):
            return PosePath(body, [*_line(body, problem.start, pose), *_line(body, pose, problem.goal)[1:]])
    return straight


def _ordered(problem: BodyProblem, decomposition: Decomposition) -> list[Component]:
    """Components of a decomposition that the body has, its working arm before the other one.

    An arm whose hand bears weight is closed over it, as legs are over the feet, and belongs to the first component.
    """
    own = dict(components(problem.body))
    pinned = [own.pop(f"{end.removesuffix('_hand')}_arm", None) for end in problem.balance.pinned]
    other = {"right_arm": "left_arm", "left_arm": "right_arm"}
    swapped = problem.working == "left_arm"
    names = [[other.get(name, name) if swapped else name for name in group] for group in decomposition]
    groups = [[own[name] for name in group if name in own] for group in names]
    found = [group[0] if len(group) == 1 else joined(group) for group in groups if group]
    more = [j for arm in pinned if arm is not None for j in arm.parts]
    return [replace(found[0], parts=(*found[0].parts, *more)), *found[1:]] if more else found


@dataclass(frozen=True, eq=False)
class _ComponentSearch:
    """Search of one component along the path of those before it, with only `parts` present.

    With `perturbed` the pelvis may leave that path a little; `follow` is the share of samples on it.
    """

    problem: BodyProblem
    component: Component
    path: PosePath
    parts: tuple[int, ...]
    perturbed: bool
    follow: float

    def run(self, seed: int, budget: Budget, smoothing: int) -> CarriedPath[Edge]:
        """Path of the component, shortened unless it follows one, from which shortcuts would lead away."""
        problem, check = self.problem, self.problem.check.with_parts(self.parts)
        space = ComponentSpace(
            self.component, self.path, check, problem.balance, problem.axes,
            perturbed=self.perturbed, follow=self.follow,
        )  # fmt: skip
        start, goal = space.ends
        found = plan(space, (start, space.payload(0)), goal, seed, budget, space.payload(-1), balanced=True)
        if self.follow > 0.0 or not found.found:
            return found
        short = smooth(space, found, seed, replace(EFFORT, checks=smoothing))
        return replace(short, stats=Stats(found.stats.checks + short.stats.checks, *astuple(found.stats)[1:]))


def _along(body: Character, found: CarriedPath[Edge]) -> PosePath | None:
    """Poses along a path of edges; None where none was found."""
    if not found.found:
        return None
    return PosePath(body, [pose for edge, _ in found.payloads for pose in edge])


def edge_poses(problem: BodyProblem, a: Pose, b: Pose) -> list[Pose] | None:
    """Poses after `a` up to `b`, balanced and free; None where one is not. The middle is checked first."""
    body = problem.body
    T = body.transforms(np.stack([a.root, b.root]), np.stack([a.rotations, b.rotations]))[..., :3, 3]
    looks = max(int(np.ceil(np.linalg.norm(T[1] - T[0], axis=-1).max() / _LOOK_M)), 1)
    if looks == 1:
        return [b]
    line = PosePath(body, [a, b])
    out: dict[int, Pose] = {looks: b}
    shares = np.arange(looks) / looks
    rotations = problem.within_limits(slerp(a.rotations, b.rotations, shares[:, None]))
    for k in sorted(range(1, looks), key=lambda k: abs(2 * k - looks)):
        share = float(shares[k])
        near = Pose.of((1.0 - share) * a.root + share * b.root, rotations[k])
        pose = problem.balance.projected(near, line.feet(share), a if share < 0.5 else b)
        if pose is None or not problem.check.free(pose):
            return None
        out[k] = pose
    return [out[k] for k in range(1, looks + 1)]


def shortened(
    problem: BodyProblem, path: PosePath, seed: int, settings: TightSettings = USUAL, *, longest: float = 1.0
) -> PosePath:
    """The path with random pieces, at most `longest` of it, replaced by straight ones that are free and balanced."""

    def straight(poses: list[Pose], i: int, j: int) -> list[Pose] | None:
        inner = edge_poses(problem, poses[i], poses[j]) if 2 < j - i <= longest * len(poses) else None
        return None if inner is None or len(inner) >= j - i else [*poses[: i + 1], *inner, *poses[j + 1 :]]

    effort = SmoothingLimits(settings.shortcuts, vain=settings.shortcuts)
    poses: list[Pose] = shortcut.shortened(path.poses, straight, seed, effort)
    return PosePath(problem.body, poses)
