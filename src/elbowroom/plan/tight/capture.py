"""Captured motion meets a planned path (P3 to P5): criteria by component, the blend, and a path that follows it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.dynamics import STRENGTH, Dynamics, strength_of
from elbowroom.character.skeleton import Pose
from elbowroom.finish.rounding import interpolate
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import Array, continuous, exp, multiply, normalize, slerp
from elbowroom.motion.clip import Clip
from elbowroom.motion.posture_angles import AngleDatabase
from elbowroom.motion.smooth import smoothed
from elbowroom.motion.warp import Match, best_segment
from elbowroom.plan.tight.chain import BodyProblem, body_path
from elbowroom.plan.tight.frames import frames_of
from elbowroom.plan.tight.settings import USUAL, TightSettings
from elbowroom.spaces.component import PosePath, components
from elbowroom.stopping import may_stop_here

# Components that recordings may change: legs and pelvis follow the feet.
BLENDED = ("spine", "head", "right_arm", "left_arm")
# Joints whose places are compared with those of recordings, by role.
_POINTS = ("pelvis", "chest", "head", "left_thigh", "left_shin", "left_foot", "right_thigh", "right_shin", "right_foot",
           "left_upper_arm", "left_forearm", "left_hand", "right_upper_arm", "right_forearm", "right_hand")  # fmt: skip
# Share of a path at either end over which the blend comes in: both ends stay as they are.
_FADE = 0.2
# Nodes to either side over which a blend is evened out.
_EVENED = 6
# Mean speed of what moves farthest where no recording gives a time, m/s, and frames a second for torques.
_SPEED, _RATE = 0.5, 30.0


@dataclass(frozen=True, eq=False)
class _Frames:
    """Frames at a fixed rate, as dynamics take them."""

    fps: float
    root: Array
    rotations: Array


@dataclass(frozen=True, eq=False)
class Capture:
    """Recordings for one body: postures in joint angles with counts, and clips with the places of some joints."""

    database: AngleDatabase
    clips: tuple[Clip, ...] = ()
    points: tuple[Array, ...] = ()

    @staticmethod
    def of(body: Character, clips: Sequence[Clip]) -> Capture:
        """Capture of clips that are already those of the body."""
        frames = np.concatenate([clip.rotations[:: max(round(clip.fps / 15.0), 1)] for clip in clips])
        points = tuple(_points(body, body.transforms(clip.root, clip.rotations)) for clip in clips)
        return Capture(AngleDatabase.of(frames, component_joints(body)), tuple(clips), points)


def component_joints(body: Character) -> dict[str, tuple[int, ...]]:
    """Joints that make up the posture of each component; of the pelvis those of the legs."""
    found = {name: tuple(sorted({j for f in one.freedoms for j in f.joints})) for name, one in components(body).items()}
    found["pelvis"] = tuple(j for name in ("left_leg", "right_leg") if name in body.chains
                            for j in body.chain(name).joints[:2])  # fmt: skip
    return {name: joints for name, joints in found.items() if joints}


@dataclass(frozen=True, eq=False)
class Criteria:
    """Criteria (N, C) of nodes by component in `BLENDED`: posture similarity, torque variation as the paper has it and
    over joint strength, and clearance, empty where it was not asked for."""

    similarity: Array
    variation: Array
    robust: Array
    clearance: Array


@dataclass(frozen=True, eq=False)
class Refined:
    """A path that recordings have refined, or the planned one where that was not to be had.

    `inferred` (N, C) are nodes and components taken from recordings, `times` (N,) those of the nodes, seconds.
    `seconds` are times by stage, in the rows of the paper's Table 2.
    """

    path: PosePath
    times: Array
    before: Criteria
    after: Criteria
    inferred: NDArray[np.bool_]
    match: Match | None
    followed: bool
    seconds: dict[str, float] = field(default_factory=dict)


def refined(
    problem: BodyProblem, path: PosePath, capture: Capture, seed: int = 0, settings: TightSettings = USUAL
) -> Refined:
    """A planned path with unnatural postures in the open replaced by recorded ones, planned again along that."""
    seconds: dict[str, float] = {}
    clock = _Clock(seconds)
    nodes = _nodes(problem.body, _smoothed(problem, path, settings), settings.nodes)
    match = best_segment(_points(problem.body, nodes.T), capture.points, settings.match_m) if capture.points else None
    times = _times(capture, nodes, match)
    clock.stop("search&mapping")
    before = criteria(problem, nodes, times, capture, seed, settings, clock)
    unnatural = (before.similarity < settings.natural_above) | (before.robust > settings.torque_below)
    inferred = (before.clearance > settings.open_above) & unnatural
    blend = _blended(problem, nodes, capture, match, before, inferred, settings)
    clock.stop("blend")
    found = body_path(problem, seed, settings, follow=blend)
    clock.stop("replanning")
    done = path if found.path is None else _smoothed(problem, found.path, settings)
    clock.stop("smoothing")
    again = _nodes(problem.body, done, settings.nodes)
    after = criteria(problem, again, times, capture, seed, settings, None)
    return Refined(done, times, before, after, inferred, match, found.path is not None, seconds)


class _Clock:
    """Seconds of stages, one after another."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds, self._since = seconds, time.perf_counter()

    def stop(self, stage: str) -> None:
        """Count the time since the last stage for this one."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now


def _nodes(body: Character, path: PosePath, count: int) -> PosePath:
    """A path's postures at even shares of it."""
    return PosePath(body, [path.at(share) for share in np.linspace(0.0, 1.0, count)])


def _smoothed(problem: BodyProblem, path: PosePath, settings: TightSettings) -> PosePath:
    """A path with its corners rounded as far as is free, as its frames are; as it is where none are."""
    frames = frames_of(problem, path, 2 * settings.nodes)
    return path if frames is None else PosePath(problem.body, [Pose.of(*row) for row in zip(*frames, strict=True)])


def _points(body: Character, T: Array) -> Array:
    joints = [body.roles[role] for role in _POINTS if role in body.roles]
    return np.ascontiguousarray(T[..., :3, 3][:, joints])


def _times(capture: Capture, nodes: PosePath, match: Match | None) -> Array:
    """Times (N,) of nodes: those of the recording, or by the way of what moves farthest."""
    if match is not None:
        return np.asarray((match.frames - match.frames[0]) / capture.clips[match.clip].fps)
    return np.asarray(nodes.along * max(nodes.length_m / _SPEED, 0.5))


def criteria(
    problem: BodyProblem, nodes: PosePath, times: Array, capture: Capture, seed: int, settings: TightSettings,
    clock: _Clock | None,
) -> Criteria:  # fmt: skip
    """Criteria of a path's nodes; the clearance only where a clock runs, as it takes longest."""
    names = [name for name in BLENDED if name in capture.database.joints]
    how = {"sigma": settings.sigma, "parent_rad": settings.parent_rad, "own_rad": settings.own_rad,
           "near_rad": settings.near_rad}  # fmt: skip
    similar = np.array([[capture.database.similarity(q, name, **how) for name in names] for q in nodes.rotations])
    if clock is not None:
        clock.stop("PS")
    literal, robust = _variation(problem.body, nodes, times, names, capture.database)
    if clock is None:
        return Criteria(similar, literal, robust, np.zeros((0, len(names))))
    clock.stop("TV")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    open_ = np.array([[_clearance(problem, nodes.pose(k), name, rng, settings) for name in names]
                      for k in range(len(nodes))])  # fmt: skip
    clock.stop("CLR")
    return Criteria(similar, literal, robust, open_)


def _variation(
    body: Character, nodes: PosePath, times: Array, names: Sequence[str], database: AngleDatabase
) -> tuple[Array, Array]:
    """Torque variation (N, C) of nodes at times (N,): as the paper has it, and over the joints' strength."""
    count = max(int(np.ceil(times[-1] * _RATE)), 8)
    even = np.linspace(0.0, times[-1], count + 1)
    root = np.stack([np.interp(even, times, nodes.root[:, k]) for k in range(3)], axis=1)
    dynamics = Dynamics(body)
    rate = count / times[-1]
    q = normalize(smoothed(continuous(interpolate(times, nodes.rotations, even)), rate))
    frames = _Frames(rate, smoothed(root, rate), q)
    torque = dynamics.torques(frames)
    share = (even / even[-1])[:, None]
    literal, robust = np.zeros((len(nodes), len(names))), np.zeros((len(nodes), len(names)))
    roles = {j: role for role, j in body.roles.items() if role in STRENGTH}
    for c, name in enumerate(names):
        for joint in database.joints[name]:
            own = torque[:, dynamics.velocity_columns[joint - 1]]
            size, line = np.linalg.norm(own, axis=1), np.linalg.norm(own[:1] + share * (own[-1:] - own[:1]), axis=1)
            off = np.abs(size - line)
            at = np.interp(times, even, off / np.maximum(line, 1e-9))
            literal[:, c] = np.maximum(literal[:, c], at)
            if joint in roles:
                strong = strength_of(body, roles[joint])
                robust[:, c] = np.maximum(robust[:, c], np.interp(times, even, off / strong))
    return literal, robust


def _clearance(problem: BodyProblem, pose: Pose, name: str, rng: np.random.Generator, settings: TightSettings) -> float:
    """Share of random neighbours of a component's posture that are free."""
    may_stop_here()
    component = components(problem.body)[name]
    spans = settings.clearance_rad * (1.0 - 2.0 * rng.random((settings.clearance_samples, component.width)))
    near = (component.moved(problem.body, pose, row, problem.axes) for row in spans)
    return float(np.mean([problem.check.free(one, exact=False) for one in near]))


def _blended(
    problem: BodyProblem, nodes: PosePath, capture: Capture, match: Match | None, found: Criteria,
    inferred: NDArray[np.bool_], settings: TightSettings,
) -> PosePath:  # fmt: skip
    """The path with components inferred from recordings or drawn to them (HMT-I); it may collide."""
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
    blend = slerp(base, out, fade)
    poses = [problem.start]
    for k in range(1, len(base) - 1):
        pose = Pose.of(nodes.root[k], blend[k])
        poses.append(problem.balance.projected(pose, nodes.feet(float(nodes.along[k])), nodes.pose(k)) or nodes.pose(k))
    return PosePath(problem.body, [*poses, problem.goal])


def _evened(q: Array, reach: int) -> Array:
    """Rotations (N, J, 4) averaged over some neighbours to either side, fewer near the ends, which stay."""
    out = q.copy()
    for k in range(1, len(q) - 1):
        half = min(reach, k, len(q) - 1 - k)
        weight = np.hanning(2 * half + 3)[1:-1]
        mean = np.tensordot(weight / weight.sum(), q[k - half : k + half + 1], axes=1)
        out[k] = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
    return out


def smooth_random(body: Character, start: Pose, goal: Pose, rng: np.random.Generator, count: int) -> PosePath:
    """A smooth random motion between two postures, the floor that measures of naturalness are held against."""
    u = np.linspace(0.0, 1.0, count)
    poses = []
    waves = [(j, rng.normal(size=3) * 0.35) for some in component_joints(body).values() for j in some]
    for s in u:
        q = np.array(slerp(start.rotations, goal.rotations, np.array(s)))
        for j, axis in waves:
            q[j] = multiply(q[j], exp(np.sin(np.pi * s) * axis))
        poses.append(Pose.of((1.0 - s) * start.root + s * goal.root, q))
    return PosePath(body, poses)
