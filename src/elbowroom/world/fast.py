"""Is a posture of a limb free at a time? Fast, and never free where the exact test finds a hit."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue
from elbowroom.geometry.fields import nowhere, pack
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.kernels import edges, limb_world
from elbowroom.kernels.fields import FREE, HIT, UNCERTAIN, new_room
from elbowroom.stopping import may_stop_here
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast_exact import ExactJudge, ThreadScratch
from elbowroom.world.fast_parts import Parts, packed
from elbowroom.world.fast_tables import Looks, grips_of, held_when, joints_of, tables_of
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import places
from elbowroom.world.scene_field import scene_field
from elbowroom.world.world import World

__all__ = ["FREE", "HIT", "UNCERTAIN", "LimbCheck"]

# Postures whose surroundings are placed together for the exact test.
_AT_ONCE = 512
# Doubtful postures whose exact answers are remembered: motions share most of their frames with those tried before.
_DECIDED = 4096
# Postures that compiled code looks at before work may stop: a tenth of a second where many are in doubt.
_ROWS = 512
# The same where the first that hits ends it.
_FEW_ROWS = 48


class LimbCheck:
    """Validity of postures of a limb of one character, all else moving as a world has it.

    `limb` is a chain by name, several of them, or joint numbers; a posture is the local rotations (n, 4) of those
    joints, in that order (`joints`). Fingers and whatever else hangs on them follow the world's motion, and what the
    limb's hands hold goes with them. `during` is the span of seconds that is asked about, by default that of the
    world; `rate` is how often in a second everything else is posed; `margin` is a clearance in metres that is asked
    for.

    Answers are FREE, HIT or UNCERTAIN. FREE and HIT are certain; UNCERTAIN is left to the exact test. Instances may be
    used from several threads at once.
    """

    def __init__(
        self,
        world: World,
        who: str,
        limb: str | Sequence[str] | Sequence[int] = "right_arm",
        during: tuple[float, float] | None = None,
        *,
        rate: float = 240.0,
        margin: float = 0.0,
        exact: ExactWorld | None = None,
    ) -> None:
        body = world.body(who)
        names = [limb] if isinstance(limb, str) else limb
        searched = tuple(int(j) for n in names for j in (body.chain(n).joints if isinstance(n, str) else (n,)))
        begin, end = during or world.span
        if not (np.isfinite(rate) and rate > 0.0 and begin <= end and margin >= 0.0):
            raise BadValue(
                "a check of a limb needs a rate above 0, a span that goes forward, and a margin of 0 or more."
            )
        if 0 in searched and (during is None or begin != end):
            raise BadValue("a limb has no root among its joints; a whole body is checked at one time.")
        self.world, self.who, self.joints, self.margin = world, who, searched, margin
        self.exact = exact or ExactWorld(world)
        rows = int(np.ceil((end - begin) * rate - 1e-9)) + 1
        looks = Looks.at(world, begin + np.arange(rows) / rate)
        self.span = (begin, end) if len(looks.times) > 1 else (-np.inf, np.inf)
        joints = joints_of(body, searched, looks.record.joints[who])
        grips = grips_of(self.exact, who, joints, (begin, end))
        self._parts = Parts(self.exact, who, joints, grips, (begin, end))
        pieces, items = self._parts.pieces, self._parts.items
        spheres, capsules, balls, roots, cores = packed(pieces)
        tabled = [item for item in items if item.carrier < 0]
        own = items[len(tabled) :]
        self.tables = T = tables_of(self.exact, who, joints, pieces, spheres, tabled, looks, margin)
        static = scene_field(self.exact.static)
        shown = [*(item.field for item in items), *(piece.field for piece in pieces)]
        meshes = self._parts.fields()
        numbers = {f: n for n, f in enumerate(meshes)}
        field = np.array([limb_world.SEVERAL if f is None else numbers[f] for f in shown], np.int64)
        boxes = [p.half is not None for p in pieces]
        maps = [inverse(item.T) for item in own if item.T is not None]
        centers = [(item.T @ np.append(item.ball[:3], 1.0))[:3] for item in own if item.T is not None]
        self.limb = limb_world.Limb(
            parent=T.parent,
            source=T.source,
            offset=T.offset,
            follow=T.follow,
            joint=np.array([p.carrier for p in pieces], np.int64),
            sphere=spheres,
            capsule=capsules,
            balls=balls,
            root=roots,
            core=cores,
            box=np.array([np.zeros(3) if p.half is None else p.half for p in pieces]),
            field=np.where(boxes, limb_world.BOX, field[len(items) :]),
            own=np.ascontiguousarray(np.array([np.eye(4) if p.T is None else inverse(p.T) for p in pieces])[:, :3]),
        )
        self.around = limb_world.Around(
            start=float(T.times[0]),
            rate=float(rate),
            base=T.base,
            base_slack=T.base_slack,
            static=(static or nowhere()).arrays,
            has_static=static is not None,
            half=np.array([item.half for item in items]).reshape(-1, 3),
            rounding=np.array([item.rounding for item in items], dtype=float),
            field=field[: len(items)],
            bound=np.array([item.ball[3] for item in items], dtype=float),
            meshes=pack(meshes) if meshes else nowhere().arrays,
            placed=T.placed,
            center=T.center,
            slack=T.slack,
            near=T.near,
            near_count=T.near_count,
            own_joint=np.array([item.carrier for item in own], np.int64),
            own_map=np.ascontiguousarray(np.array(maps).reshape(-1, 4, 4)[:, :3]),
            own_center=np.array(centers).reshape(-1, 3),
            own_on=held_when(T.times, [item.grip for item in own]),
            mode=np.ascontiguousarray(self._parts.mode[:, :-2]),
            static_mode=np.ascontiguousarray(self._parts.mode[:, -2]),
            floor_mode=np.ascontiguousarray(self._parts.mode[:, -1]),
            told=self._parts.allowances.table(T.times),
            on=T.on,
            floor=-np.inf if world.floor is None else float(world.floor),
            margin=float(margin),
        )
        self._joints, self._looks, self._spheres, self._tabled, self._during = (
            joints,
            looks,
            spheres,
            tabled,
            (begin, end),
        )
        self._judge = ExactJudge(self.exact, who, joints, self._parts, T, self.around, (begin, end))
        self._local = threading.local()

    def elsewhere(self, world: World, things: Iterable[str], exact: ExactWorld | None = None) -> LimbCheck:
        """The same check in a world in which some things are elsewhere and all else is as it was: a third of the time
        that a new one takes."""
        other = copy(self)
        other.world, other.exact = world, exact or ExactWorld(world)
        record = self._looks.record
        placed = {name: places(world.things[name].path, record.times) for name in things}
        other._looks = replace(self._looks, record=replace(record, things={**record.things, **placed}))
        other.tables = T = tables_of(
            other.exact,
            self.who,
            self._joints,
            self._parts.pieces,
            self._spheres,
            self._tabled,
            other._looks,
            self.margin,
        )
        other.around = self.around._replace(
            placed=T.placed, center=T.center, slack=T.slack, near=T.near, near_count=T.near_count
        )
        other._judge = ExactJudge(other.exact, self.who, self._joints, self._parts, T, other.around, self._during)
        other._local = threading.local()
        return other

    def with_margin(self, margin: float) -> LimbCheck:
        """The same check with a clearance of no more than this one's, which takes no time to make."""
        other = copy(self)
        other.margin, other.around = margin, self.around._replace(margin=float(margin))
        other._judge = ExactJudge(
            self.exact, self.who, self._joints, self._parts, self.tables, other.around, self._during
        )
        other._local = threading.local()
        return other

    # asking

    def verdict(self, q: ArrayLike, t: float = 0.0) -> tuple[int, tuple[Pair, ...]]:
        """FREE, HIT or UNCERTAIN of a posture (n, 4) at a time, and the pairs that are hit or in doubt, by name."""
        q = self.posture(q, t)
        scratch = self.scratch()
        code, count = self._look(q, t, limb_world.KEEN, scratch)
        if code == FREE:
            return FREE, ()
        met = scratch.buffers.doubt[: count if code == UNCERTAIN else 1].tolist()
        return code, tuple(dict.fromkeys(pair for e, m in met for pair in self._judge.names(scratch, e, m, t)))

    def batch(
        self, q: ArrayLike, t: ArrayLike, *, resolve_uncertain: bool = False, until_hit: bool = False
    ) -> NDArray[np.uint8]:
        """Verdicts (N,) of postures (N, n, 4) at times (N,).

        The first doubt ends the check of a posture: UNCERTAIN, even where a later pair would be a sure hit.
        `resolve_uncertain` goes on. With `until_hit` postures some way behind the first sure hit are left UNCERTAIN.
        """
        q = np.array(q, dtype=float, order="C")
        times = np.empty(len(q))
        times[:] = t
        self._check_shape(q.shape[1:])
        if len(q):
            self._check_time(float(times.min()))
            self._check_time(float(times.max()))
        out = np.full(len(q), UNCERTAIN, np.uint8)
        doubts_until = limb_world.KEEN if resolve_uncertain else 1
        step = _FEW_ROWS if until_hit else _ROWS
        for first in range(0, len(q), step):
            rows = slice(first, first + step)
            buffers = self.scratch().buffers
            edges.check_batch(self.limb, self.around, q[rows], times[rows], doubts_until, buffers, out[rows])
            if until_hit and (out[rows] == HIT).any():
                break
        return out

    def _look(self, q: Array, t: float, doubts_until: int, scratch: ThreadScratch) -> tuple[int, int]:
        """Verdict of a posture (n, 4) at a time, and how many pairs in doubt are on the scratch; a hit is the first."""
        out = np.full(1, UNCERTAIN, np.uint8)
        doubts = edges.check_batch(
            self.limb, self.around, q[None], np.array([float(t)]), doubts_until, scratch.buffers, out
        )
        return int(out[0]), doubts

    def free_batch(self, q: ArrayLike, t: ArrayLike, exact: bool = True) -> NDArray[np.bool_]:
        """`free` for postures (N, n, 4) at times (N,)."""
        codes = self.batch(q, t, resolve_uncertain=exact)
        free = codes == FREE
        if exact:
            q, times = np.asarray(q, dtype=float), np.broadcast_to(np.asarray(t, dtype=float), len(codes))
            for i in np.flatnonzero(codes == UNCERTAIN):
                free[i] = self.free(q[i], float(times[i]))
        return free

    def free(self, q: ArrayLike, t: float = 0.0, exact: bool = True) -> bool:
        """Return whether a posture (n, 4) is free at a time; the exact test decides doubts (exact=False: not free)."""
        q = self.posture(q, t)
        scratch = self.scratch()
        # a body may go elsewhere with the same rotations
        posture = q.tobytes() + (self.limb.offset[0].tobytes() if 0 in self.joints else b"")
        known = scratch.decided.get((posture, t)) if exact else None
        if known is not None:
            return known
        code, count = self._look(q, t, limb_world.KEEN if exact else 1, scratch)
        if code != UNCERTAIN or not exact:
            return bool(code == FREE)
        free = self._judge.blame(q, t, scratch, count) is None
        if len(scratch.decided) >= _DECIDED:
            scratch.decided.clear()
        scratch.decided[posture, t] = free
        return free

    def blame(self, q: ArrayLike, t: float = 0.0) -> Pair | None:
        """A pair that is hit, by name, where a posture (n, 4) is not free at a time; the exact test decides doubts."""
        q = self.posture(q, t)
        scratch = self.scratch()
        code, count = self._look(q, t, limb_world.KEEN, scratch)
        if code == UNCERTAIN:
            return self._judge.blame(q, t, scratch, count)
        e, m = scratch.buffers.doubt[0].tolist()
        return None if code == FREE else self._judge.names(scratch, e, m, t)[0]

    def travels(self, q: Array, t: Array) -> Array:
        """Metres that points of the limb travel at most from each of postures (N, n, 4) at times (N,) to the next."""
        turn = 2.0 * np.arccos(np.clip(np.abs(np.sum(q[:-1] * q[1:], axis=-1)), 0.0, 1.0))
        base = np.interp(t, self.tables.times, self.tables.travelled)
        return np.asarray(turn @ self.tables.lever + np.abs(np.diff(base)))

    def hits(self, q: ArrayLike, t: float = 0.0) -> bool:
        """Answer of the exact test for a posture, with everything placed again: the reference for the fast answers."""
        return self._judge.exactly(self.posture(q, t), t, self.scratch()) is not None

    def hits_batch(self, q: ArrayLike, t: ArrayLike) -> NDArray[np.bool_]:
        """`hits` for postures (N, n, 4) at times (N,)."""
        q, times = np.ascontiguousarray(q, dtype=float), np.asarray(t, dtype=float)
        out = np.zeros(len(q), dtype=bool)
        for first in range(0, len(q), _AT_ONCE):
            record = self.world.record(times[first : first + _AT_ONCE])
            for k in range(len(record)):
                posture, now = self.posture(q[first + k], float(times[first + k])), float(times[first + k])
                out[first + k] = self._judge.exactly(posture, now, self.scratch(), record[k]) is not None
        return out

    # what searches build on: `limb`, `around`, `tables` as compiled code takes them, and these

    def posture(self, q: ArrayLike, t: float) -> Array:
        """Local rotations (n, 4) as compiled code takes them, or an error that says what is wrong with them or t."""
        q = np.array(q, dtype=float, order="C")
        self._check_shape(q.shape)
        self._check_time(t)
        return q

    def scratch(self) -> ThreadScratch:
        """Scratch arrays of the current thread. Every query passes here and may be cancelled here."""
        may_stop_here()
        scratch: ThreadScratch | None = getattr(self._local, "scratch", None)
        if scratch is None:
            n, pieces = len(self.tables.parent), len(self._parts.pieces)
            buffers = limb_world.Buffers(
                np.zeros((n, 3, 4)),
                np.zeros((pieces, 3)),
                np.zeros((2, 3, 4)),
                np.zeros((2, 3)),
                np.zeros(512, np.int64),
                np.zeros(256),
                new_room(),
                np.zeros((pieces * (len(self._parts.items) + 2) + 1, 2), np.int64),
            )
            scratch = self._local.scratch = ThreadScratch(buffers, self._judge.placed())
        return scratch

    # inner workings

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if shape != (len(self.joints), 4):
            raise BadValue(f"a posture of this limb has {len(self.joints)} rotations (n, 4), not {shape}.")

    def _check_time(self, t: float) -> None:
        if not self.span[0] - 1e-6 <= t <= self.span[1] + 1e-6:
            raise BadValue(f"{t:g} s is outside the span of this check, {self.span[0]:g} to {self.span[1]:g} s.")
