"""Repairs without proofs while an object is dragged: known ones, stored as joint offsets that can be shifted in time
and scaled, and new ones at sampled times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import composed
from elbowroom.plan.checks.allowed import OwnTouches, at_work
from elbowroom.plan.checks.episodes import clip_of, collision_episodes
from elbowroom.plan.checks.margins import ladder
from elbowroom.plan.repair.ladder import by_limbs, repair_episode
from elbowroom.plan.repair.options import Clocks, RepairOptions
from elbowroom.plan.repair.repair import ASIDE, USUAL
from elbowroom.plan.state.edit import laid
from elbowroom.plan.state.result import Plan
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE, StyleLike, style_of
from elbowroom.world.certificate_findings import Collision, who_and_limb
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.extent import box_corners, joint_transforms, outline
from elbowroom.world.fast import HIT, UNCERTAIN, LimbCheck
from elbowroom.world.pairs import moves
from elbowroom.world.paths import Interval, Still, merged, places
from elbowroom.world.world import World

# Factors relative to the last one that are tried in turn for a known repair, and the largest.
_STEPS = (0.0, 0.12, 0.3, 0.6, 1.0)
_MOST = 2.2
# A smaller factor is tried once in so many times.
_LESS = 3
# Seconds by which a known repair may be shifted either way.
_ASIDE = 0.35


@dataclass(eq=False)
class KnownRepair:
    """Difference of an edit's frames from the motion below it, for re-use while objects move.

    `edit` has the joints and their planned frames from `first` on, `turns` (F, n, 3) the offset of their coordinates;
    `middle` is the time of the episode. `share` is the factor needed last, `tight` how often it was used since a
    smaller one was tried, `check` the last collision check, `margin` its clearance, `unavoidable` the frames that lack
    it whatever is moved. Repairs of legs keep the timing of their `steps`, since feet would slide otherwise; so do
    those of hands at work before or after. `touches` are the recorded contacts around it.
    """

    edit: Edit
    first: int
    turns: Array
    middle: float
    steps: bool = False
    share: float = 1.0
    check: LimbCheck | None = None
    tight: int = 0
    margin: float = 0.0
    unavoidable: NDArray[np.bool_] | None = None
    touches: OwnTouches | None = None

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints that it changes."""
        return self.edit.layer.joints

    def about(self, clip: Clip) -> tuple[int, int]:
        """First and last frame of a clip at which it may be applied, shifts included."""
        reach = round(_ASIDE * clip.fps)
        return max(self.first - reach, 0), min(self.first + len(self.turns) - 1 + reach, len(clip) - 1)

    def shares(self) -> list[float]:
        """Factors to try: the last one, now and then a smaller one, then larger ones."""
        self.tight = (self.tight + 1) % _LESS
        less = [max(0.85 * self.share, 0.05)] if self.tight == 0 else []
        return [*less, *(min(self.share + step, _MOST) for step in _STEPS)]

    def scaled(self, clip: Clip, later: int, share: float, rows: NDArray[np.int64]) -> Array:
        """Rotations (R, n, 4) at some frames with the offset scaled by `share`, `later` frames later."""
        out = np.array(clip.rotations[rows][:, list(self.joints)])
        at = rows - self.first - later
        inside = (at >= 0) & (at < len(self.turns))
        for n, joint in enumerate(self.joints):
            limit = clip.character.limits[joint]
            assert limit is not None
            own = limit.coordinates(clip.rotations[rows[inside], joint])
            out[inside, n] = limit.moved(own, share * self.turns[at[inside], n])
        return out

    def as_planned(self, clip: Clip) -> tuple[Clip, Edit]:
        """A clip with the repair as planned."""
        return composed(clip, [self.edit.layer]), self.edit

    def applied(
        self, clip: Clip, rows: NDArray[np.int64], frames: Array, later: int, share: float
    ) -> tuple[Clip, Edit]:
        """A clip with frames (R, n, 4) from `scaled`; stores the factor."""
        self.share = share
        rotations = clip.rotations.copy()
        rotations[np.ix_(rows, np.array(self.joints))] = rot.continuous(frames)
        begin, end = (
            float(np.clip(t + later / clip.fps, clip.times[rows[0]], clip.times[rows[-1]])) for t in self.edit.during
        )
        new = clip.with_(rotations=rotations)
        edit = replace(self.edit, during=(begin, end), checks=0, nodes=0, trees=())
        return new, laid(edit, clip, new, self.joints)


def known_repair(base: World, edit: Edit, collisions: Sequence[Collision]) -> KnownRepair | None:
    """Known repair from an edit that resolved `collisions`; None where it does more than rotate joints within their
    limits.
    """
    layer = edit.layer
    if edit.who not in base.characters or layer.root is not None or not layer.joints:
        return None
    clip = clip_of(base, edit.who)
    limits = [clip.character.limits[j] for j in layer.joints]
    if layer.during[1] > clip.span[1] + 0.5 / clip.fps or any(limit is None for limit in limits):
        return None
    first = layer.first_frame(clip)
    rows = slice(first, first + len(layer))
    turns = np.stack(
        [
            limit.coordinates(layer.rotations[:, n]) - limit.coordinates(clip.rotations[rows, j])
            for n, (j, limit) in enumerate(zip(layer.joints, limits, strict=True))
            if limit is not None
        ],
        axis=1,
    )
    hits = [c.during for c in collisions if c.during[0] <= edit.during[1] and edit.during[0] <= c.during[1]]
    middle = 0.5 * (min(h[0] for h in hits) + max(h[1] for h in hits)) if hits else 0.5 * sum(edit.during)
    legs = {j for name, chain in clip.character.chains.items() if name.endswith("_leg") for j in chain.joints}
    about = (edit.during[0] - _ASIDE, edit.during[1] + _ASIDE)
    steps = not legs.isdisjoint(layer.joints) or at_work(base, edit.who, about, layer.joints)
    return KnownRepair(edit, first, turns, middle, steps)


# Checks that one search may make: it must end before the mouse has moved on.
_BUDGET = Budget(checks=3000)


def meetings(world: World, exact: ExactWorld, times: Array, moved: Sequence[str] = ()) -> list[Collision]:
    """Collisions of bodies, or of what they hold, with `moved` objects, by default with any, at `times` (T,) only.

    Depths are not measured. `exact` may belong to the same world with other frames of its characters.
    """
    held = {hold.object for hold in world.holds}
    body = np.array([part.kind == "body" or part.owner in held for part in exact.parts], dtype=bool)
    thing = np.array([part.kind in ("thing", "static") for part in exact.parts], dtype=bool)
    if moved:
        thing = np.array([part.owner in moved for part in exact.parts], dtype=bool)
    a, b = exact.index[:, 0], exact.index[:, 1]
    pairs = np.flatnonzero((thing[a] & body[b]) | (thing[b] & body[a]))
    step = float(np.diff(times).min(initial=np.inf)) if len(times) > 1 else 0.0
    met: dict[int, list[tuple[float, float]]] = {}
    record = world.record(times) if len(times) else ()
    for k, t in enumerate(times):
        exact.place_snapshot(record[k])
        for pair in exact.near(0.0, pairs).tolist():
            if exact.collides(pair):
                met.setdefault(pair, []).append((t - 0.5 * step, t + 0.5 * step))
    found = []
    for pair, spans in met.items():
        who, limb = who_and_limb(exact, pair)
        for begin, end in merged(spans, 1.5 * step):
            during = (max(begin, float(world.span[0])), min(end, float(world.span[1])))
            found.append(Collision(during, who, limb, exact.pairs[pair], None, 0.5 * sum(during)))
    return sorted(found, key=lambda c: (c.during, c.pair))


def repair_quickly(
    world: World, found: Sequence[Collision], sources: Mapping[str, Clip], seed: int, style: StyleLike, until: float
) -> Plan:
    """The world with limbs led around collisions, as far as offsets and short searches go; nothing is proven.

    `sources` are the imported clips. Nothing begins after `until`, by `time.perf_counter`; without it bodies may be
    displaced, too.
    """
    rungs, budget = (by_limbs, _BUDGET) if math.isfinite(until) else (repair_episode, USUAL)
    options = RepairOptions(
        sources, seed, style_of(style, CLOSE), budget, fix_self=False, max_aside=ASIDE, clocks=Clocks(until=until)
    )
    exact, below = ExactWorld(world), world.characters
    edits: list[Edit] = []
    for who in sources:
        for episode in collision_episodes(exact, who, found):
            done, _ = rungs(world, episode, options)
            if done is not None:
                world = done.world
                edits += done.edits
    return Plan("found", world, tuple(edits), collisions=tuple(found), base=below)


# Stride of the first pass over frames; and the number of uncertain cases that go to the exact test unless it must be
# sure.
_FEWER, _DOUBTS = 5, 5
# A distance from everybody, metres.
_FAR = 1e3


def clearance_without(
    world: World, known: KnownRepair, below: Array, times: Array, rows: NDArray[np.int64], moved: Sequence[str]
) -> tuple[float, NDArray[np.bool_]]:
    """Clearance of the motion below a repair (F, n, 4) without the dragged objects, and frames that lack it.

    Hands that put objects down come very near to others, and feet stand on the floor; neither needs a repair.
    """
    led = (rows > known.first) & (rows < known.first + len(known.turns) - 1)
    span, far = (float(times[0]), float(times[-1])), _far_away(world, moved)
    for margin in ladder():
        check = LimbCheck(far, known.edit.who, known.joints, span, rate=RATE, margin=margin)
        free = check.free_batch(below, times)
        if free[led].all():
            break
    return margin, ~free


def _far_away(world: World, moved: Sequence[str]) -> World:
    """The world with the dragged objects far from everybody."""
    far = Still(transform([_FAR, _FAR, 0.0]))
    return world.with_(objects={**world.objects, **{n: replace(world.objects[n], path=far) for n in moved}})


def hits(check: LimbCheck, frames: Array, times: Array, near: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mask of frames (F, n, 4) that collide: every other near frame first, then all near ones."""
    out = np.zeros(len(frames), dtype=bool)
    out[near[::2]] = check.batch(frames[near[::2]], times[near[::2]], resolve_uncertain=True) == HIT
    if not out.any():
        out[near] = ~check.free_batch(frames[near], times[near])
    return out


def frames_free(check: LimbCheck, frames: Array, times: Array, sure: bool) -> bool:
    """Return whether frames (F, n, 4) are free; a coarse pass rejects most of the others.

    Some uncertain cases go to the exact test, all of them if `sure`.
    """
    for some in (slice(None, None, _FEWER), slice(None)):
        codes = check.batch(frames[some], times[some], resolve_uncertain=True)
        if (codes == HIT).any():
            return False
    doubts = np.flatnonzero(codes == UNCERTAIN)
    if not sure and len(doubts) > _DOUBTS:
        doubts = doubts[np.linspace(0, len(doubts) - 1, _DOUBTS).astype(int)]
    return all(check.free(frames[k], float(times[k])) for k in doubts)


# Samples per second; and the distance that counts as near, metres, more than anything moves between two samples.
RATE, _NEAR = 60.0, 0.1
# Seconds added at both ends of an interval of nearness.
_PAD = 0.05


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls around a character and what it holds: `centres` (T, K, 3) at `times` (T,), and `radii` (K,)."""

    times: Array
    centres: Array
    radii: Array

    def near(self, world: World, moved: Iterable[str], times: Array, margin: float = _NEAR) -> NDArray[np.bool_]:
        """Mask of times (N,) at which a ball is nearer than `margin` metres to the box of a moved object."""
        rows = np.clip(np.searchsorted(self.times, times - 0.5 / RATE), 0, len(self.times) - 1)
        centres = self.centres[rows]
        out = np.zeros(len(times), dtype=bool)
        for name in moved:
            corners = _corners(world, name, times)
            low, high = corners.min(axis=1)[:, None], corners.max(axis=1)[:, None]
            away = np.maximum(np.maximum(low - centres, centres - high), 0.0)
            out |= (np.einsum("tkc,tkc->tk", away, away) < (self.radii + margin) ** 2).any(axis=1)
        return out


def balls_of(world: World, who: str) -> Balls:
    """Balls around a character at all times."""
    motion = world.motion(who)
    times = _sample_times(motion.span)
    joints, reach = _reach(motion.body)
    held = dict.fromkeys(hold.object for hold in world.holds if hold.by == who)
    things = [_ball(world, name, times) for name in held]
    centres = [joint_transforms(motion, times)[..., :3, 3][:, joints], *(ball.centres for ball in things)]
    return Balls(times, np.concatenate(centres, axis=1), np.concatenate([reach, *(ball.radii for ball in things)]))


def near_spans(world: World, moved: Sequence[str]) -> list[Interval]:
    """Intervals in which any character or moving object could meet the moved objects."""
    others = [name for name, thing in world.things.items() if name not in moved and moves(world, name, thing)]
    balls = [balls_of(world, who) for who in world.characters]
    balls += [_ball(world, name, _sample_times(world.span)) for name in others]
    found = [(float(t), float(t)) for b in balls for t in b.times[b.near(world, moved, b.times)]]
    begin, end = world.span
    return [(max(a - _PAD, begin), min(b + _PAD, end)) for a, b in merged(found, 2.0 * _PAD)]


def _sample_times(span: Interval) -> Array:
    return np.arange(span[0], span[1] + 1.0 / RATE, 1.0 / RATE)


def _ball(world: World, name: str, times: Array) -> Balls:
    """The ball around an object."""
    corners = _corners(world, name, times)
    radius = 0.5 * np.linalg.norm(corners[:1, -1] - corners[:1, 0], axis=1)
    return Balls(times, corners.mean(axis=1, keepdims=True), radius)


def _reach(body: Body) -> tuple[NDArray[np.int32], Array]:
    """Joints (K,) that carry parts, and the radius of these parts around them, (K,) metres."""

    def make() -> tuple[NDArray[np.int32], Array]:
        joints, points = outline(body.with_(skin=None) if isinstance(body, Character) else body)
        carriers, rows = np.unique(joints, return_inverse=True)
        radii = np.zeros(len(carriers))
        np.maximum.at(radii, rows, np.linalg.norm(points, axis=1))
        return carriers, radii

    return kept(body, "reach about joints", make)


def _corners(world: World, name: str, times: Array) -> Array:
    """Corners (T, 8, 3) of an object's box."""
    T = places(world.things[name].path, times)
    return box_corners(world.things[name].mesh.bounds) @ np.swapaxes(T[:, :3, :3], 1, 2) + T[:, None, :3, 3]
