"""Visible skin of people that is outside of the collision shapes that a proof is about.

Shapes are rigid, skins bend. Nearly all of a skin stays within 5 mm of the shapes (`character/skin_cover.py`); the rest
is bounded here for the whole motion, between frames too, and compared ten times a second with the distance of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.skin_cover import HELD_M, Levers, cover_of, levers
from elbowroom.character.visual import seen_skin
from elbowroom.geometry.kept import kept
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import boxes
from elbowroom.kernels import skin_cover as kernels
from elbowroom.kernels.skin_cover import Cover
from elbowroom.motion.clip import Motion
from elbowroom.stopping import may_stop_here
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import FLOOR, shapes_of
from elbowroom.world.paths import Interval, holds_at
from elbowroom.world.world import Record

# Excess that is not listed, metres: half a sleeve, and as deep as a contact may be.
LISTED_M = 0.005
# Seconds between the times at which the skin of a part is compared with what is near it, besides its worst: at every
# frame that costs as many exact distances as the proof.
_LOOKS_S = 0.1
# Times that are measured together, to bound the memory.
_BLOCK = 512
# Steps into which the time between two frames is split, at most: a joint that turns round in one frame needs 30.
_MOST_STEPS = 64


@dataclass(frozen=True)
class SkinPart:
    """Skin of a body part more than 5 mm outside the proven shapes, by at most `beyond_m`, the most at `at_s` seconds.

    `enters` are the things nearer to the part's shape than that, ten times a second and at its worst, with the depth in
    metres to which the skin may be in them; empty where it is clear of everything.
    """

    part: str
    beyond_m: float
    at_s: float
    during: Interval
    enters: tuple[tuple[str, float], ...] = ()

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON and files."""
        return {
            "part": self.part,
            "beyond_m": self.beyond_m,
            "at_s": self.at_s,
            "during": list(self.during),
            "enters_m": dict(self.enters),
        }


@dataclass(frozen=True)
class SkinExcess:
    """Skin outside the proven shapes in a motion: `share` of vertices and frames by more than 5 mm, and the parts."""

    share: float
    parts: tuple[SkinPart, ...] = ()

    @property
    def enters(self) -> tuple[str, str, float] | None:
        """Part, thing, and depth in metres to which the skin may be in it; None where it is clear of everything."""
        found = [(depth, part.part, thing) for part in self.parts for thing, depth in part.enters]
        depth, part, thing = max(found, default=(0.0, "", ""))
        return (part, thing, depth) if found else None

    def __str__(self) -> str:
        """Sentence for people."""
        if not self.parts:
            return "skin within 5 mm of the proven shapes"
        worst = max(self.parts, key=lambda p: p.beyond_m)
        said = (
            f"{_percent(self.share)} of the skin up to {_mm(worst.beyond_m)} outside the proven shapes ({worst.part})"
        )
        if self.enters is None:
            return f"{said}, clear of everything"
        part, thing, depth = self.enters
        return f"{said}, and {part} up to {_mm(depth)} in {thing}"

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON and files."""
        return {"beyond_5mm_share": self.share, "parts": [p.facts() for p in self.parts]}


@dataclass(frozen=True, eq=False)
class _Person:
    """A person of a world with a skin: its vertices that may leave its shapes, and the parts of the world it owns."""

    who: str
    motion: Motion
    cover: Cover
    levers: Levers
    length: Array
    vertices: int
    parts: NDArray[np.int64]


def skin_excess(exact: ExactWorld, times: Array) -> SkinExcess | None:
    """Excess of all skins at times (N,) of frames, seconds, and between them; None where no skin is shown."""
    people = [p for p in (_person(exact, who) for who in exact.world.characters) if p is not None]
    found: list[SkinPart] = []
    out = 0.0
    for person in people:
        at, share = _split(person, times)
        for first in range(0, len(at), _BLOCK):
            may_stop_here()
            rows = slice(first, first + _BLOCK + 1)  # with the first of the next block
            worst, many = _bounds(person, at[rows])
            ours = slice(0, None if rows.stop >= len(at) else -1)
            out += float((many[ours].sum(axis=1) * share[rows][ours]).sum())
            found += _listed(exact, person, worst[ours], at[rows])
    if not people:
        return None
    total = sum(p.vertices for p in people) * len(times)
    return SkinExcess(out / total, tuple(sorted(_joined(found), key=lambda p: -p.beyond_m)))


def _person(exact: ExactWorld, who: str) -> _Person | None:
    body = exact.world.body(who)
    skin = seen_skin(body) if isinstance(body, Character) else None
    if skin is None or not isinstance(body, Character):
        return None
    shapes = [s.shape for s in shapes_of(body) if s.others]
    cover = kept(body, "skin cover", lambda: cover_of(body.skeleton, shapes, skin))
    length = np.linalg.norm(body.skeleton.offsets, axis=1)
    length[0] = 0.0
    parts = np.flatnonzero([p.kind == "body" and p.owner == who and p.others for p in exact.parts])
    arms = kept(body, "skin levers", lambda: levers(cover, length))
    return _Person(who, exact.world.motion(who), cover, arms, length, len(skin.vertices), parts)


def _split(person: _Person, times: Array) -> tuple[Array, Array]:
    """Times (M,) at and between frames, so dense that arcs rise by a millimetre, and the share of a frame of each."""
    q = person.motion.sample(times)[1]
    rise = person.levers.rise(_angles(q))
    steps = np.append(np.clip(np.ceil(np.sqrt(rise / (LISTED_M - HELD_M))), 1, _MOST_STEPS).astype(int), 1)
    begin, share = np.repeat(times, steps), np.repeat(1.0 / steps, steps)
    passed = np.arange(len(begin)) - np.repeat(np.cumsum(steps) - steps, steps)
    return begin + passed * share * np.repeat(np.diff(times, append=times[-1]), steps), share


def _angles(q: Array) -> Array:
    """Angles (N - 1, J) by which joints with local rotations (N, J, 4) turn from frame to frame, radians."""
    return 2.0 * np.arccos(np.clip(np.abs((q[1:] * q[:-1]).sum(axis=-1)), 0.0, 1.0))


def _bounds(person: _Person, times: Array) -> tuple[Array, Array]:
    """Bounds (N, S) of the excess at each shape from a time until the next, metres, and the vertices that pass 5 mm."""
    root, q = person.motion.sample(times)
    T = np.ascontiguousarray(person.motion.body.transforms(root, q))
    worst, many = np.zeros((len(T), len(person.parts))), np.zeros((len(T), len(person.parts)))
    turn = _angles(q)
    kernels.excess(person.cover, T, turn, person.length, person.levers.rise(turn), HELD_M, LISTED_M, worst, many)
    return worst, many


def _listed(exact: ExactWorld, person: _Person, worst: Array, times: Array) -> Iterator[SkinPart]:
    """Parts whose skin is more than 5 mm outside between some of the times (N,), by bounds (N, S)."""
    for s in np.flatnonzero(worst.max(axis=0) > LISTED_M).tolist():
        rows = np.flatnonzero(worst[:, s] > LISTED_M)
        at = int(np.argmax(worst[:, s]))
        near = np.unique(person.cover.near[person.cover.near[:, 0] == s])
        parts = person.parts[near[near >= 0]]  # those that may hold the vertices of s
        meets = np.isin(exact.index, parts).any(axis=1) & ~np.isin(exact.index, person.parts).all(axis=1)
        pairs = np.flatnonzero(meets)
        enters: dict[str, float] = {}
        close = rows[_close(exact, parts, pairs, worst[rows, s], times[rows])]
        _, first = np.unique(np.floor(times[close] / _LOOKS_S), return_index=True)
        close = np.union1d(close[first], close[worst[close, s] >= worst[close, s].max(initial=0.0)])
        for n in close[np.argsort(-worst[close, s], kind="stable")].tolist():  # the deepest first: others add nothing
            _enter(exact, person, s, parts, pairs, float(worst[n, s]), float(times[n]), enters)
        during = (float(times[rows[0]]), float(times[min(rows[-1] + 1, len(times) - 1)]))
        name = exact.parts[person.parts[s]].name
        yield SkinPart(name, float(worst[at, s]), float(times[at]), during, tuple(enters.items()))


def _close(
    exact: ExactWorld, parts: NDArray[np.int64], pairs: NDArray[np.int64], beyond: Array, times: Array
) -> NDArray[np.bool_]:
    """Mask (N,) of times at which balls around parts come nearer to other things than the skin stands out, (N,) m."""
    close = np.zeros(len(times), dtype=bool)
    others = np.setdiff1d(exact.index[pairs], parts).tolist()
    if not others:
        return close
    record = exact.world.record(times)
    balls = {i: _ball(exact, i, record) for i in parts.tolist()}
    for i in others:
        if exact.parts[i].kind in ("thing", "body"):
            balls[i] = _ball(exact, i, record)
    for part in parts.tolist():
        center, radius = balls[part]
        for i in others:
            if exact.parts[i].kind == "floor":
                close |= center[:, 2] - radius - beyond < exact.placed.height
            elif i in balls:
                close |= np.linalg.norm(center - balls[i][0], axis=1) < radius + balls[i][1] + beyond
            else:
                gap = np.maximum(np.maximum(exact.placed.low[i] - center, center - exact.placed.high[i]), 0.0)
                close |= np.linalg.norm(gap, axis=1) < radius + beyond
    return close


def _ball(exact: ExactWorld, i: int, record: Record) -> tuple[Array, float]:
    """Centres (N, 3) and radius of a ball around a moving part of the world, metres."""
    part = exact.parts[i]
    if part.shape is None:
        T = record.things[part.owner]
    else:
        T = record.joints[part.owner][:, part.shape.joint] @ part.shape.T_joint_shape
    low, high = exact.placed.forms[i].bounds
    return T[:, :3, :3] @ (0.5 * (low + high)) + T[:, :3, 3], 0.5 * float(np.linalg.norm(high - low))


def _joined(found: list[SkinPart]) -> Iterator[SkinPart]:
    """One entry for each part, of all blocks."""
    for name in dict.fromkeys(p.part for p in found):
        same = [p for p in found if p.part == name]
        enters: dict[str, float] = {}
        for thing, depth in (item for p in same for item in p.enters):
            enters[thing] = max(enters.get(thing, 0.0), depth)
        worst = max(same, key=lambda p: p.beyond_m)
        during = (min(p.during[0] for p in same), max(p.during[1] for p in same))
        yield SkinPart(name, worst.beyond_m, worst.at_s, during, tuple(sorted(enters.items(), key=lambda e: -e[1])))


def _enter(
    exact: ExactWorld,
    person: _Person,
    s: int,
    parts: NDArray[np.int64],
    pairs: NDArray[np.int64],
    beyond: float,
    t: float,
    enters: dict[str, float],
) -> None:
    """Deepen by name the things that are nearer to parts than the skin of s stands out at a time, by what that leaves.

    Distances are only worked out where boxes leave room for more than is known.
    """
    exact.place(t)
    near = exact.near(beyond, pairs)
    gaps = np.zeros(len(near))
    boxes.gaps(exact.index[near], exact.placed.low, exact.placed.high, gaps)
    for k, gap in zip(near.tolist(), gaps.tolist(), strict=True):
        a, b = exact.index[k].tolist()
        other = exact.parts[b if a in parts else a]
        known = enters.get(other.name, 0.0)
        if beyond - gap <= known or any(holds_at(c.during, t) for c in exact.contacts.get(k, ())):
            continue
        if other.name == FLOOR:
            depth = exact.placed.height - _lowest(person, s, t)
        else:
            found = exact.distance(k, beyond - known)
            depth = beyond - (0.0 if found.value is None else found.value)
        if depth > known:
            enters[other.name] = depth


def _lowest(person: _Person, s: int, t: float) -> float:
    """Height of the lowest vertex outside all shapes that shape s would hold, metres; infinite without one."""
    T = np.ascontiguousarray(person.motion.body.transforms(*person.motion.sample(np.array([t])))[0])
    rows = np.flatnonzero(person.cover.near[:, 0] == s)
    vertices = {name: getattr(person.cover, name)[rows] for name in ("joints", "weights", "bound", "near")}
    which, place, way = np.zeros(len(rows), np.int64), np.zeros((len(rows), 3)), np.zeros((len(rows), 3))
    n = kernels.outliers(person.cover._replace(**vertices), T, HELD_M, which, place, way)
    at = T[person.cover.joint[which[:n]]]
    return float(((at[:, 2, :3] * place[:n]).sum(axis=1) + at[:, 2, 3]).min(initial=np.inf))


def _mm(metres: float) -> str:
    return f"{1000 * metres:.1f} mm"


def _percent(share: float) -> str:
    return "less than 0.01 %" if share < 1e-4 else f"{100 * share:.2f} %"
