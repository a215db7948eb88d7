"""Animations of a glTF file, sampled at a fixed rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.skeleton import Skeleton
from elbowroom.files.glb_container import GltfPart
from elbowroom.files.glb_nodes import Nodes, compose, rigid, sane
from elbowroom.files.glb_rig import Rig, locals_of
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_DEFAULT_FPS = 30.0
_SLOWEST, _FASTEST = 20.0, 480.0
_MOVES = 1e-3  # metres of a joint in its parent that are worth a note
_MOST_POSES = 3_000_000  # joints times frames
_AT_ONCE = 50_000  # transforms that are held in memory together


@dataclass(frozen=True, eq=False)
class KeyTrack:
    """One animated property: keys at times (K,), values (K, n), cubic ones with tangents (K, 3, n)."""

    times: Array
    values: Array
    interpolation: str
    turns: bool

    def __call__(self, at: Array) -> Array:
        """Values (T, n) at times (T,); the ends are held."""
        at = np.clip(at, self.times[0], self.times[-1])
        k = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, max(len(self.times) - 2, 0))
        after = np.minimum(k + 1, len(self.times) - 1)
        step = self.times[after] - self.times[k]
        s = np.where(step > 0, (at - self.times[k]) / np.where(step > 0, step, 1.0), 0.0)
        if self.interpolation == "STEP":
            return self.values[np.where(s >= 1.0, after, k)]
        if self.interpolation == "CUBICSPLINE":
            return self._cubic(k, after, s, step)
        a, b = self.values[k], self.values[after]
        return rot.slerp(a, b, s) if self.turns else a + s[:, None] * (b - a)

    def _cubic(self, k: NDArray[np.intp], after: NDArray[np.intp], s: Array, step: Array) -> Array:
        s, step = s[:, None], step[:, None]
        start, leaving = self.values[k, 1], self.values[k, 2]
        end, arriving = self.values[after, 1], self.values[after, 0]
        out = (2 * s**3 - 3 * s**2 + 1) * start + step * (s**3 - 2 * s**2 + s) * leaving
        out = out + (3 * s**2 - 2 * s**3) * end + step * (s**3 - s**2) * arriving
        return rot.normalize(out) if self.turns else out


Tracks = dict[int, dict[str, KeyTrack]]


@dataclass(frozen=True, eq=False)
class Sampled:
    """A rig in motion at a fixed rate: frame k at `start + k / fps`."""

    fps: float
    start: float
    root: Array  # (T, 3), metres
    rotations: Array  # (T, J, 4)
    notes: tuple[str, ...]


def read_tracks(nodes: Nodes, animation: GltfPart) -> Tracks:
    """Tracks of one animation by node and property; weights of blend shapes are skipped."""
    container = nodes.container
    samplers = animation.parts("samplers", "sampler")
    out: Tracks = {}
    for channel in animation.parts("channels", "channel"):
        target = channel.part("target")
        if target is None or "node" not in target:
            continue
        node, path = target.index("node", len(nodes.parts), "node"), target.text("path")
        if path not in _WIDTHS:
            continue
        sampler = samplers[channel.index("sampler", len(samplers), "sampler")]
        count = len(container.accessors)
        times = container.array(sampler.index("input", count, "accessor"), ("SCALAR",), "key times")[:, 0]
        values = container.array(sampler.index("output", count, "accessor"), ("VEC3", "VEC4"), f"keys of {path}")
        how = sampler.text("interpolation", "LINEAR")
        per_key = 3 if how == "CUBICSPLINE" else 1
        width = _WIDTHS[path]
        if not len(times) or np.any(np.diff(times) < 0) or values.shape != (per_key * len(times), width):
            sampler.fail(
                f"has {len(values)} values of {values.shape[1]} numbers for {len(times)} key times",
                f"expected increasing times with {per_key} of {width} numbers each",
            )
        turns = path == "rotation"
        if turns:
            values = values[:, [3, 0, 1, 2]]
            values = values if how == "CUBICSPLINE" else rot.continuous(_unit(values))
        if how == "CUBICSPLINE":
            values = values.reshape(-1, 3, width)
        out.setdefault(node, {})[path] = KeyTrack(times, values, how, turns)
    return out


def _unit(q: Array) -> Array:
    """Unit quaternions; one of zero length becomes the identity."""
    q = rot.normalize(q)
    return np.where(np.any(q != 0.0, axis=-1, keepdims=True), q, rot.IDENTITY)


def frame_rate(tracks: Tracks, stored: float | None = None) -> tuple[float, str]:
    """Frames per second and a note on it: stored in the file, or guessed from the spacing of keys."""
    if stored is not None:
        return stored, f"{stored:g} frames per second, as stored in the file."
    lists = [t.times for of in tracks.values() for t in of.values() if len(t.times) > 2]
    gaps = np.concatenate([np.diff(t) for t in lists]) if lists else np.zeros(0)
    gaps = gaps[gaps > 1e-5]
    rate = 1.0 / float(np.median(gaps)) if len(gaps) else 0.0
    if not _SLOWEST <= rate <= _FASTEST:
        return (
            _DEFAULT_FPS,
            f"Frame rate assumed: {_DEFAULT_FPS:g} per second, since it cannot be inferred from the keys.",
        )
    nearest = float(np.round(rate))
    rate = nearest if abs(rate - nearest) < 2e-3 * rate else rate
    return rate, f"Frame rate assumed: {rate:g} per second, from the spacing of keys."


def sample(
    rig: Rig, nodes: Nodes, tracks: Tracks, skeleton: Skeleton, turn: Array, given_fps: float | None
) -> Sampled | None:
    """The rig moved by an animation, or None where the animation does not touch it.

    `turn` (4, 4) leads to metres and Z up.
    """
    moved = touching(nodes, tracks, rig.nodes)
    if not moved:
        return None
    times, fps, how = frames(nodes, moved, len(rig.nodes), given_fps)
    places, turns = [], []
    for T_node in posed(nodes, moved, rig.nodes, times):
        T_joint = rigid(turn @ T_node)
        places.append(T_joint[..., :3, 3])
        turns.append(locals_of(rig, T_joint)[1])
    where, q = np.concatenate(places), rot.continuous(np.concatenate(turns))
    root, notes = _carried(rig, where, q, skeleton)
    scaled = [t for of in moved.values() for name, t in of.items() if name == "scale"]
    if any(np.ptp(t.values, axis=0).max() > 0.01 for t in scaled):
        notes.append("Animated scales affect joint positions only.")
    return Sampled(fps, float(times[0]), root, q, (how, *notes))


def touching(nodes: Nodes, tracks: Tracks, chosen: Sequence[int]) -> Tracks:
    """The tracks that move any of the chosen nodes, be it through their ancestors."""
    chain = {a for n in chosen if n >= 0 for a in (n, *nodes.ancestors(n))}
    return {n: of for n, of in tracks.items() if n in chain}


def frames(nodes: Nodes, moved: Tracks, parts: int, stored: float | None) -> tuple[Array, float, str]:
    """Times (T,) of frames over all keys, their rate, and a sentence on the rate; `parts` move at once."""
    fps, how = frame_rate(moved, stored)
    start = min(float(t.times[0]) for of in moved.values() for t in of.values())
    end = max(float(t.times[-1]) for of in moved.values() for t in of.values())
    count = int(np.ceil((end - start) * fps - 1e-3)) + 1
    if count * parts > _MOST_POSES:
        nodes.container.json.fail(f"an animation lasts {end - start:.0f} s", "use shorter animations")
    return start + np.arange(count) / fps, fps, how


def posed(nodes: Nodes, moved: Tracks, chosen: Sequence[int], times: Array) -> Iterator[Array]:
    """Transforms of the chosen nodes, (T', K, 4, 4) for some frames at a time; node -1 stays in the origin."""
    chain = {a for n in chosen if n >= 0 for a in (n, *nodes.ancestors(n))}
    order = [n for n in nodes.order if n in chain]
    row = {n: k for k, n in enumerate([*order, -1])}
    rows = [row[n] for n in chosen]
    at_once = max(1, _AT_ONCE // len(row))
    for k in range(0, len(times), at_once):
        T = _posed(nodes, order, row, moved, times[k : k + at_once])
        yield sane(T, nodes.container.path, "animated transforms")[:, rows]


def _posed(nodes: Nodes, order: list[int], row: dict[int, int], moved: Tracks, times: Array) -> Array:
    """Transforms of the nodes of `order` at times, (T, N + 1, 4, 4); the last one stays in the origin."""
    out = np.zeros((len(times), len(order) + 1, 4, 4))
    out[:, -1] = np.eye(4)
    for n in order:
        rest = nodes.trs(n)
        if n in moved and rest is None:
            nodes.parts[n].fail("is animated but placed by a matrix", "expected translation, rotation and scale")
        if n in moved and rest is not None:
            move, q, scale = (
                moved[n][name](times) if name in moved[n] else still
                for name, still in zip(("translation", "rotation", "scale"), rest, strict=True)
            )
            local = compose(move, q, scale)
        else:
            local = nodes.local(n)
        parent = nodes.parents[n]
        out[:, row[n]] = local if parent < 0 else out[:, row[parent]] @ local
    return out


def _carried(rig: Rig, where: Array, q: Array, skeleton: Skeleton) -> tuple[Array, list[str]]:
    """The root's track (T, 3), and notes where joints move in their parents, which a skeleton cannot follow.

    Many rigs rest their root on the floor and move the hips below it. The root is then carried along with the
    joint of the trunk that leaves the least error over all joints. `where` (T, J, 3) is what the file says.
    """
    ours = skeleton.forward(where[:, 0], q)[..., :3, 3]
    off = [np.linalg.norm(ours + (where - ours)[:, j, None] - where, axis=-1).max(axis=0) for j in _trunk(rig)]
    best = int(np.argmin([np.sum(o) + 0.01 * k for k, o in enumerate(off)]))
    j, left = _trunk(rig)[best], off[best].copy()
    notes = [] if best == 0 else [f"'{rig.names[j]}' moves relative to the root; the root was moved with it."]
    left[0] = 0.0 if best else left[0]
    if left.max() > _MOVES:
        notes.append(
            f"{int(np.sum(left > _MOVES))} joints translate relative to their parents, which skeletons cannot do; "
            f"they are up to {left.max():.3f} m ('{rig.names[int(left.argmax())]}') off."
        )
    return where[:, 0] + (where - ours)[:, j], notes


def _trunk(rig: Rig) -> list[int]:
    """Joints from the root down as long as one branch holds most of what is left."""
    below = np.ones(len(rig.nodes), dtype=int)
    for j in range(len(rig.nodes) - 1, 0, -1):
        below[rig.parents[j]] += below[j]
    line = [0]
    while True:
        children = [j for j, p in enumerate(rig.parents) if p == line[-1]]
        big = max(children, key=lambda j: below[j], default=None)
        if big is None or below[big] < 0.6 * below[0]:
            return line
        line.append(big)
