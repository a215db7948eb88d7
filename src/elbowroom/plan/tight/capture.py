"""Recorded motion applied to a planned path (P3 to P5): unnatural parts are blended with recordings and re-planned."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.limits import clamp_pose
from elbowroom.character.skeleton import Pose
from elbowroom.finish.settle import interpolate
from elbowroom.geometry.easing import averaged, smoothstep
from elbowroom.geometry.rotations import Array, continuous, normalize, slerp
from elbowroom.motion.pace import Timing
from elbowroom.motion.warp import Match, best_segment
from elbowroom.plan.tight.chain import BodyProblem, between_check, body_path, shortened
from elbowroom.plan.tight.criteria import (
    Criteria,
    blended_components,
    clearances,
    similarities,
    variations,
)
from elbowroom.plan.tight.frames import frames_of
from elbowroom.plan.tight.perturb import Judge, Reference, perturbed
from elbowroom.plan.tight.recordings import Capture, points_of
from elbowroom.plan.tight.settings import USUAL, TightSettings
from elbowroom.spaces.component import PosePath, components
from elbowroom.world.edit import CaptureBlend, PartSource
from elbowroom.world.pairs import Pair

# Share of a path at either end over which the blend fades in: both ends stay.
_FADE = 0.2
# Half-width of the smoothing of a blend, nodes.
_EVENED = 6
# Mean speed of the farthest-moving point where no recording gives a time, m/s.
_SPEED = 0.5
# Times that a blend is weakened around colliding nodes.
_HALVINGS = 6
# Shares of the chosen strengths that are tried in turn, and whether a path is planned along a blend of that share that
# is not free even when it is weakened.
_SCALES = ((1.0, True), (0.5, False), (0.25, False))
# Sources of a part by the share of recordings in it, and the shares from which on the second and the third apply.
_SOURCES: tuple[PartSource, ...] = ("planned", "blended", "captured")
_SOURCES_FROM = (0.05, 0.9)
# Longest piece that a local shortcut replaces after re-planning, share of the path.
_LOCAL = 0.2


@dataclass(frozen=True, eq=False)
class Refined:
    """A path refined by recordings, or the planned one where they do not improve it.

    `before` are the criteria of the path as it was searched (HMP), `smoothed` those of the `planned` one, which is
    shorter and rounded, `after` those of `path` (HMT-II), all at the same `timing`. `inferred` (N, C) marks nodes and
    components that recordings should replace; `weights` (N, C) are the shares of recorded postures in `path`, 0
    everywhere where they were dropped. The paper follows all of the blend: where recordings lift an arm that the plan
    leaves hanging, torques vary more; part of it, in some components, and perturbed, is better by both criteria.
    `seconds` are times by stage, in the rows of the paper's Table 2.
    """

    path: PosePath
    planned: PosePath
    timing: Timing
    before: Criteria
    smoothed: Criteria
    after: Criteria
    inferred: NDArray[np.bool_]
    match: Match | None
    weights: Array
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def used(self) -> bool:
        """Return whether recordings have a part in the path."""
        return self.path is not self.planned

    def blend(self, begin: float, names: Sequence[str]) -> CaptureBlend:
        """Account of a motion along the path from a time on, seconds, by components of those names."""
        at = begin + self.timing.when(np.linspace(0.0, 1.0, len(self.weights)))
        parts: list[tuple[str, PartSource, tuple[float, float]]] = []
        for name, column in zip(names, self.weights.T, strict=True):
            kinds = np.digitize(column, _SOURCES_FROM)
            borders = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds) - 1]
            for first, last in pairwise(dict.fromkeys(borders)):
                parts.append((name, _SOURCES[kinds[first]], (float(at[first]), float(at[last]))))
        means = zip(self.before.means, self.after.means, strict=True)
        similarity, torque = ((float(a), float(b)) for a, b in means)
        return CaptureBlend(similarity, torque, tuple(parts))


def refined(
    problem: BodyProblem, searched: PosePath, planned: PosePath, capture: Capture, timing: Timing | None = None,
    seed: int = 0, settings: TightSettings = USUAL,
) -> Refined:  # fmt: skip
    """Replace unnatural postures of a planned path in open space by recorded ones, and re-plan along the result.

    `searched` is the path that `planned` is a shorter form of. Without a `timing` the motion lasts as the recording
    does.
    """
    spent: dict[str, float] = {}
    clock, body = _Clock(spent), problem.body
    raw = _nodes(body, searched, settings.nodes)
    least = [int(np.ceil(raw.length_m / settings.fastest * clip.fps)) for clip in capture.clips]
    match = best_segment(points_of(body, raw.T), capture.points, settings.match_m, least=least)
    timing = timing or Timing.eased(_seconds(capture, raw, match))
    clock.stop("search&mapping")
    before = _criteria(problem, raw, timing, capture, settings, clock, seed)
    unnatural = (before.similarity < settings.natural_above) | (before.robust > settings.torque_below)
    inferred = (before.clearance > settings.open_above) & unnatural
    smoothed = _smoothed(problem, planned, settings)
    planned = smoothed if _free(problem, smoothed) else planned
    judge = partial(_criteria, problem, timing=timing, capture=capture, settings=settings)
    base = _nodes(body, planned, settings.nodes)
    smooth = judge(base)
    reference = Reference.of(before, smooth)
    if smooth.means[1] > before.means[1]:  # a shortened path has larger movements at once: the longer one may be calmer
        longer = _smoothed(problem, searched, settings)
        nodes = _nodes(body, longer, settings.nodes)
        if _free(problem, longer) and reference.score(judge(nodes)) > reference.score(smooth):
            base = nodes
    blend = _blended(base, capture, match, before, inferred, settings)
    strengths = _strengths(base, blend, judge, reference, settings)
    whole = blend.with_(base, strengths, partial(perturbed, names=blend.names, judge=judge,
                                                 reference=reference))  # fmt: skip
    done, after, used = planned, smooth, np.zeros(inferred.shape)
    for scale, replan in _SCALES:
        clock.stop("blend")
        last, share = _weakened(problem, base, whole, scale, settings)
        if last is None and replan:
            last, share = _replanned(problem, base, whole, scale, seed, settings), np.ones(used.shape)
        clock.stop("replanning")
        if last is None or not _free(problem, last):
            continue
        judged = judge(_nodes(body, last, settings.nodes))
        if reference.better(judged):
            done, after, used = last, judged, scale * share * whole.weights
            break
    clock.stop("blend")
    return Refined(done, planned, timing, before, smooth, after, inferred, match, used, spent)


@dataclass(frozen=True, eq=False)
class _Blend:
    """Rotations (N, J, 4) for the nodes of a path, the component (J,) of each joint or -1, the share (N, C) of
    recordings in them, and the components' names."""

    rotations: Array
    component: NDArray[np.int64]
    weights: Array
    names: tuple[str, ...]

    def mixed(self, base: PosePath, shares: Array | float) -> Array:
        """Rotations (N, J, 4) of nodes moved towards these, by shares (N, C) or (C,) of components."""
        own = np.broadcast_to(shares, self.weights.shape)[:, self.component]
        return slerp(base.rotations, self.rotations, np.where(self.component >= 0, own, 0.0))

    def with_(self, base: PosePath, strengths: Array, change: Callable[[PosePath], Array]) -> _Blend:
        """The blend with strengths (C,) of components, and a change of its postures."""
        mixed = self.mixed(base, strengths)
        nodes = PosePath(base.body, [Pose.of(*row) for row in zip(base.root, mixed, strict=True)])
        return replace(self, rotations=change(nodes), weights=strengths * self.weights)


def _strengths(base: PosePath, blend: _Blend, judge: Judge, reference: Reference, settings: TightSettings) -> Array:
    """Strengths (C,) of a blend by component, the largest with which its postures and torques are better.

    Collisions and balance are left to `_weakened`.
    """
    strengths, best = np.zeros(blend.weights.shape[1]), reference.score(judge(base))
    for c in range(len(strengths)):
        for strength in settings.strengths:
            trial = strengths.copy()
            trial[c] = strength
            mixed = blend.mixed(base, trial)
            nodes = PosePath(base.body, [Pose.of(*row) for row in zip(base.root, mixed, strict=True)])
            found = reference.score(judge(nodes))
            if found > best:
                strengths, best = trial, found
                break
    return strengths


def _weakened(
    problem: BodyProblem, nodes: PosePath, blend: _Blend, scale: float, settings: TightSettings
) -> tuple[PosePath | None, Array]:
    """A free path along a blend, or None, and its shares (N, C), weakened in components and nodes that collide."""
    share, number, check = np.ones(blend.weights.shape), np.arange(len(nodes)), between_check(problem, nodes)
    apart = np.abs(number[:, None] - number)
    for _ in range(_HALVINGS):
        follow = _balanced(problem, nodes, blend.mixed(nodes, scale * share))
        pairs = [None if check.free(pose) else check.blame(pose) for pose in follow.poses]
        if not any(pairs):
            return _smoothed(problem, follow, settings), share
        bad = np.array([_at_fault(problem, pair, blend.names) for pair in pairs])
        near = (bad[None] & (apart <= 1)[..., None]).any(axis=1)
        share = np.where(near, 0.4 * share, share)
        share = (share[None] + apart[..., None] / _EVENED).min(axis=1)
    return None, share


def _replanned(
    problem: BodyProblem, nodes: PosePath, blend: _Blend, scale: float, seed: int, settings: TightSettings
) -> PosePath | None:
    """A path planned along a blend, as the paper does wherever that collides; None where none is found."""
    follow = _balanced(problem, nodes, blend.mixed(nodes, scale))
    found = body_path(problem, seed, settings, follow=follow)
    if found.path is None:
        return None
    return _smoothed(problem, shortened(problem, found.path, seed, settings, longest=_LOCAL), settings)


def _at_fault(problem: BodyProblem, pair: Pair | None, names: Sequence[str]) -> NDArray[np.bool_]:
    """Components (C,) of some names that have a part in a colliding pair; all of them where none has."""
    if pair is None:
        return np.zeros(len(names), bool)
    met = {shape.joint for shape in problem.body.shapes if f"{problem.check.who}.{shape.name}" in pair}
    own = np.array([not met.isdisjoint(components(problem.body)[name].parts) for name in names])
    return own if own.any() else ~own


def _free(problem: BodyProblem, path: PosePath) -> bool:
    """Return whether a smoothed path is as free as frames have to be."""
    return between_check(problem, path).first_hit(path.root, path.rotations) is None


class _Clock:
    """Processor seconds of consecutive stages."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds, self._since = seconds, time.process_time()

    def stop(self, stage: str) -> None:
        """Assign the time since the last stage to this one."""
        now = time.process_time()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def _nodes(body: Character, path: PosePath, count: int) -> PosePath:
    """Poses at even shares of a path."""
    return PosePath(body, [path.at(share) for share in np.linspace(0.0, 1.0, count)])


def _smoothed(problem: BodyProblem, path: PosePath, settings: TightSettings) -> PosePath:
    """A path with its corners rounded as in its frames; unchanged where that is not free."""
    frames = frames_of(problem, path, 2 * settings.nodes)
    return path if frames is None else PosePath(problem.body, [Pose.of(*row) for row in zip(*frames, strict=True)])


def _seconds(capture: Capture, nodes: PosePath, match: Match | None) -> float:
    """Duration of a path: that of the recording, or from the length of the farthest-moving point's path."""
    if match is not None:
        return float((match.frames[-1] - match.frames[0]) / capture.clips[match.clip].fps)
    return max(nodes.length_m / _SPEED, 0.5)


def _criteria(
    problem: BodyProblem, nodes: PosePath, timing: Timing, capture: Capture, settings: TightSettings,
    clock: _Clock | None = None, seed: int = 0,
) -> Criteria:  # fmt: skip
    """Criteria of a path's nodes; the slow clearance only with a clock."""
    similar, folds = similarities(capture.database, nodes, settings)
    if clock is None:
        none = np.zeros((0, similar.shape[1]))
        return Criteria(similar, *variations(problem.body, nodes, timing, capture.database), none, folds)
    clock.stop("PS")
    literal, robust = variations(problem.body, nodes, timing, capture.database)
    clock.stop("TV")
    free = clearances(problem, nodes, blended_components(capture.database), seed, settings)
    clock.stop("CLR")
    return Criteria(similar, literal, robust, free, folds)


def _blended(
    nodes: PosePath, capture: Capture, match: Match | None, found: Criteria, inferred: NDArray[np.bool_],
    settings: TightSettings,
) -> _Blend:  # fmt: skip
    """Components of nodes inferred from recordings or drawn to them, within joint limits, both ends unchanged."""
    base, database, body = nodes.rotations, capture.database, nodes.body
    mapped = base
    if match is not None:
        clip = capture.clips[match.clip]
        mapped = interpolate(np.arange(len(clip)), clip.rotations, match.frames)
    out, weights = base.copy(), np.zeros(inferred.shape)
    component = np.full(base.shape[1], -1)
    for c, name in enumerate(blended_components(database)):
        joints = list(database.joints[name])
        component[joints] = c
        for k in range(1, len(base) - 1):
            far = database.conditional(base[k], name, settings.parent_rad)
            if not np.isfinite(far).any():
                continue
            if inferred[k, c]:
                cost = database.distances(mapped[k], name) + settings.smooth_weight * database.distances(
                    out[k - 1], name
                )
                nearest, weight = int(np.argmin(np.where(np.isfinite(far), cost, np.inf))), 1.0
            else:
                nearest = int(np.argmin(far))
                own = float(np.exp(-(far[nearest] ** 2) / settings.sigma**2))
                weight = 1.0 - (own if found.clearance[k, c] > settings.open_above else 1.0 - own)
                weight = min(weight, 0.5)
            weights[k, c] = weight
            out[k, joints] = slerp(base[k, joints], database.rotations[nearest, joints], np.array(weight))
    some = np.flatnonzero(component >= 0)
    limits = [body.limits[j] if j < len(body.limits) else None for j in some]
    out[:, some] = clamp_pose(limits, out[:, some])
    out = normalize(averaged(continuous(out), _EVENED))
    u = np.linspace(0.0, 1.0, len(base))
    fade = smoothstep(np.minimum(u, 1.0 - u) / _FADE)[:, None]
    names = blended_components(database)
    return _Blend(slerp(base, out, fade), component, fade * averaged(weights, _EVENED), names)


def _balanced(problem: BodyProblem, nodes: PosePath, rotations: Array) -> PosePath:
    """Nodes with new rotations (N, J, 4), in balance (HMT-I), or unchanged where that fails. May collide."""
    poses = [problem.start]
    for k in range(1, len(nodes) - 1):
        feet = nodes.feet(float(nodes.along[k]))
        found = problem.balance.closed(Pose.of(nodes.root[k], rotations[k]), feet, nodes.pose(k))
        poses.append(found or nodes.pose(k))
    return PosePath(problem.body, [*poses, problem.goal])
