"""Recorded motion applied to a planned path (P3 to P5): unnatural parts are blended with recordings and re-planned."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.finish.rounding import interpolate
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, continuous, slerp
from elbowroom.motion.clip import Clip
from elbowroom.motion.posture_angles import AngleDatabase
from elbowroom.motion.warp import Match, best_segment
from elbowroom.plan.tight.chain import BodyProblem, body_path, shortened
from elbowroom.plan.tight.criteria import (
    BLENDED,
    Criteria,
    Timing,
    clearances,
    component_joints,
    similarities,
    variations,
)
from elbowroom.plan.tight.frames import frames_of
from elbowroom.plan.tight.settings import USUAL, TightSettings
from elbowroom.spaces.component import PosePath

# Roles of joints whose positions are compared with recordings.
_POINTS = ("pelvis", "chest", "head", "left_thigh", "left_shin", "left_foot", "right_thigh", "right_shin", "right_foot",
           "left_upper_arm", "left_forearm", "left_hand", "right_upper_arm", "right_forearm", "right_hand")  # fmt: skip
# Share of a path at either end over which the blend fades in: both ends stay.
_FADE = 0.2
# Half-width of the smoothing of a blend, nodes.
_EVENED = 6
# Mean speed of the farthest-moving point where no recording gives a time, m/s.
_SPEED = 0.5
# Times that a blend is weakened around colliding nodes.
_HALVINGS = 6
# Longest piece that a local shortcut replaces after re-planning, share of the path.
_LOCAL = 0.2


@dataclass(frozen=True, eq=False)
class Capture:
    """Recordings for one body: postures in joint angles with counts, and clips with positions of some joints."""

    database: AngleDatabase
    clips: tuple[Clip, ...] = ()
    points: tuple[Array, ...] = ()

    @staticmethod
    def of(body: Character, clips: Sequence[Clip]) -> Capture:
        """Capture from clips that are already those of the body."""
        if not clips:
            raise BadValue("capture needs at least one recording; without any, plan without it.")
        for clip in clips:
            if clip.rotations.shape[1] != len(body.skeleton):
                raise BadValue(f"a recording has {clip.rotations.shape[1]} joints and {body.name} has "
                               f"{len(body.skeleton)}; retarget it with er.retarget(clip, body) first.")  # fmt: skip
        frames = np.concatenate([clip.rotations[:: max(round(clip.fps / 15.0), 1)] for clip in clips])
        points = tuple(_points(body, body.transforms(clip.root, clip.rotations)) for clip in clips)
        return Capture(AngleDatabase.of(frames, component_joints(body)), tuple(clips), points)


@dataclass(frozen=True, eq=False)
class Refined:
    """A path refined by recordings, or the smoothed planned one where they do not improve it.

    `before` are the criteria of the planned path (HMP), `smoothed` those after smoothing alone (`planned`), `after`
    those of `path` (HMT-II), all at the same `timing`, as long as the recording. `inferred` (N, C) marks nodes and
    components taken from recordings; `strength` is the share of the blend that was followed, the largest that improves
    both criteria, 0 where it was dropped. The paper follows all of it: where recordings lift an arm that the plan
    leaves hanging, torques vary more, and a part of the blend is better in both. `seconds` are times by stage, in the
    rows of the paper's Table 2.
    """

    path: PosePath
    planned: PosePath
    timing: Timing
    before: Criteria
    smoothed: Criteria
    after: Criteria
    inferred: NDArray[np.bool_]
    match: Match | None
    strength: float
    seconds: dict[str, float] = field(default_factory=dict)


def refined(
    problem: BodyProblem, path: PosePath, capture: Capture, seed: int = 0, settings: TightSettings = USUAL
) -> Refined:
    """Replace unnatural postures of a planned path in open space by recorded ones, and re-plan along the result."""
    seconds: dict[str, float] = {}
    clock, body = _Clock(seconds), problem.body
    raw = _nodes(body, path, settings.nodes)
    least = [int(np.ceil(raw.length_m / settings.fastest * clip.fps)) for clip in capture.clips]
    match = best_segment(_points(body, raw.T), capture.points, settings.match_m, least=least)
    timing = Timing.eased(_seconds(capture, raw, match))
    clock.stop("search&mapping")
    before = _criteria(problem, raw, timing, capture, settings, clock, seed)
    unnatural = (before.similarity < settings.natural_above) | (before.robust > settings.torque_below)
    inferred = (before.clearance > settings.open_above) & unnatural
    smoothed = _smoothed(problem, shortened(problem, path, seed, settings), settings)
    planned = smoothed if _free(problem, smoothed) else path
    base = _nodes(body, planned, settings.nodes)
    smooth = _criteria(problem, base, timing, capture, settings)
    blend = _blended(base, capture, match, before, inferred, settings)
    done, after, used = planned, smooth, 0.0
    for strength in settings.strengths:
        clock.stop("blend")
        last = _followed(problem, base, blend, strength, seed, settings)
        clock.stop("replanning")
        if last is None or not _free(problem, last):
            continue
        judged = _criteria(problem, _nodes(body, last, settings.nodes), timing, capture, settings)
        if _better(judged.means, before.means) and judged.means[0] >= smooth.means[0]:
            done, after, used = last, judged, strength
            break
    clock.stop("blend")
    return Refined(done, planned, timing, before, smooth, after, inferred, match, used, seconds)


def _followed(
    problem: BodyProblem, nodes: PosePath, blend: Array, strength: float, seed: int, settings: TightSettings
) -> PosePath | None:
    """A free path along a blend (N, J, 4): weakened around colliding nodes, otherwise re-planned; or None.

    The paper re-plans wherever the blend collides. A weakened blend is as free and does not wander, so planning comes
    last, for the largest strength alone.
    """
    share = np.full(len(nodes), strength)
    for _ in range(_HALVINGS):
        follow = _balanced(problem, nodes, slerp(nodes.rotations, blend, share[:, None]))
        bad = np.flatnonzero([not problem.check.free(pose, exact=False) for pose in follow.poses])
        if not len(bad):
            return _smoothed(problem, follow, settings)
        away = np.abs(np.arange(len(nodes))[:, None] - bad).min(axis=1)
        share = np.minimum(share, np.where(away <= 1, 0.4 * share, share))
        share = (share + strength * np.abs(np.arange(len(nodes))[:, None] - np.arange(len(nodes))) / _EVENED).min(
            axis=1
        )
    if strength < settings.strengths[0]:
        return None
    follow = _balanced(problem, nodes, slerp(nodes.rotations, blend, np.array(strength)))
    found = body_path(problem, seed, settings, follow=follow)
    if found.path is None:
        return None
    return _smoothed(problem, shortened(problem, found.path, seed, settings, longest=_LOCAL), settings)


def _free(problem: BodyProblem, path: PosePath) -> bool:
    """Return whether a smoothed path is free between its nodes."""
    return problem.check.first_hit(path.root, path.rotations) is None


def _better(new: tuple[float, float], old: tuple[float, float]) -> bool:
    """Return whether postures are more like recorded ones, and torques vary no more."""
    return new[0] >= old[0] and new[1] <= old[1]


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


def _points(body: Character, T: Array) -> Array:
    joints = [body.roles[role] for role in _POINTS if role in body.roles]
    return np.ascontiguousarray(T[..., :3, 3][:, joints])


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
    similar = similarities(capture.database, nodes, settings)
    if clock is None:
        none = np.zeros((0, similar.shape[1]))
        return Criteria(similar, *variations(problem.body, nodes, timing, capture.database), none)
    clock.stop("PS")
    literal, robust = variations(problem.body, nodes, timing, capture.database)
    clock.stop("TV")
    names = [name for name in BLENDED if name in capture.database.joints]
    free = clearances(problem, nodes, names, seed, settings)
    clock.stop("CLR")
    return Criteria(similar, literal, robust, free)


def _blended(
    nodes: PosePath, capture: Capture, match: Match | None, found: Criteria, inferred: NDArray[np.bool_],
    settings: TightSettings,
) -> Array:  # fmt: skip
    """Rotations (N, J, 4) of nodes with components inferred from recordings or drawn to them, both ends unchanged."""
    base, database = nodes.rotations, capture.database
    mapped = base
    if match is not None:
        clip = capture.clips[match.clip]
        mapped = interpolate(np.arange(len(clip)), clip.rotations, match.frames)
    out = base.copy()
    names = [name for name in BLENDED if name in database.joints]
    for c, name in enumerate(names):
        joints = list(database.joints[name])
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
            out[k, joints] = slerp(base[k, joints], database.rotations[nearest, joints], np.array(weight))
    out = _evened(continuous(out), _EVENED)
    u = np.linspace(0.0, 1.0, len(base))
    fade = smoothstep(np.minimum(u, 1.0 - u) / _FADE)[:, None]
    return slerp(base, out, fade)


def _balanced(problem: BodyProblem, nodes: PosePath, rotations: Array) -> PosePath:
    """Nodes with new rotations (N, J, 4), in balance (HMT-I), or unchanged where that fails. May collide."""
    poses = [problem.start]
    for k in range(1, len(nodes) - 1):
        feet = nodes.feet(float(nodes.along[k]))
        found = problem.balance.projected(Pose.of(nodes.root[k], rotations[k]), feet, nodes.pose(k))
        poses.append(found or nodes.pose(k))
    return PosePath(problem.body, [*poses, problem.goal])


def _evened(q: Array, reach: int) -> Array:
    """Rotations (N, J, 4) averaged over neighbours, fewer near the ends, which stay."""
    out = q.copy()
    for k in range(1, len(q) - 1):
        half = min(reach, k, len(q) - 1 - k)
        weight = np.hanning(2 * half + 3)[1:-1]
        mean = np.tensordot(weight / weight.sum(), q[k - half : k + half + 1], axes=1)
        out[k] = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
    return out
