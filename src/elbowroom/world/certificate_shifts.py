"""Contacts of two meshes, proven by a shift: a tray on a table, a book on its board.

The overlap of two meshes has no upper bound that could be measured: a fin may pierce a tray between its vertices. So
what may touch is proven otherwise. Shifted by a few millimetres in one direction, the thing must be clear of the other
at all times of the contact; and where the contact begins or ends within the motion, the way from its place to the
shifted one must be clear, too. Then it is nowhere deeper than the shift is long, and it cannot change sides: a card
does not fall through a thin table, and resting on a board does not excuse the board above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.stopping import may_stop_here
from elbowroom.world.certificate_exact import Findings, Span, verdict_of
from elbowroom.world.certificate_findings import Allowed, who_and_limb
from elbowroom.world.certificate_proof import Proof
from elbowroom.world.certificate_units import SAME_S
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_placed import ALL_ROUND
from elbowroom.world.paths import Interval, holds_at, merged
from elbowroom.world.world import Record

# Shifts that are tried, metres: the smallest that works is stored.
_SHIFTS = (0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02)
# Times of a contact at which directions are tried before one is proven, and proofs that are tried with each length, at
# most.
_SAMPLES, _PROOFS = 12, 4
# The way to the shifted place is bisected down to this, metres.
_FINE = 1e-5
# Rounding of the length of a shift, metres.
_SPARE_M = 1e-9


@dataclass(frozen=True, eq=False)
class _Case:
    """A contact that is used: spans of its pair during the contact, and what is wrong without a shift.

    Contacts of one pair that follow each other without a gap, or with one too short to be checked, are one: else a
    thing could change sides from one to the next.
    """

    pair: int
    during: Interval
    contacts: tuple[Contact, ...]
    spans: tuple[Span, ...]
    bad: tuple[Interval, ...]

    @property
    def depth(self) -> float:
        """The longest shift that may prove it, metres."""
        return max(c.depth for c in self.contacts)

    def allows(self, piece: Interval, length: float) -> bool:
        """Return whether one of its contacts allows a shift of some metres in an interval: none lends its depth to
        another."""
        return any(_covers(c.during, piece) and length <= c.depth + _SPARE_M for c in self.contacts)


def excuse(proof: Proof, spans: Sequence[Span], found: Findings, tolerance: float) -> list[Allowed]:
    """Allow what a shift proves to be contact, and take it out of the findings. Returns what was allowed."""
    allowed: list[Allowed] = []
    for case in _cases(proof, spans, found):
        shift = _shift(proof, case, tolerance)
        if shift is None:
            continue
        length = float(np.linalg.norm(shift))
        for pieces in (found.collide, found.unproven):
            if case.pair in pieces:
                pieces[case.pair] = [p for p in pieces[case.pair] if not case.allows(p, length)]
                if not pieces[case.pair]:
                    del pieces[case.pair]
        during = max(case.during[0], float(proof.stage.knots[0])), min(case.during[1], float(proof.stage.knots[-1]))
        who, limb = who_and_limb(proof.exact, case.pair)
        why = max(case.contacts, key=lambda c: c.depth).why
        vector = (float(shift[0]), float(shift[1]), float(shift[2]))
        allowed.append(Allowed(proof.exact.pairs[case.pair], length, during, why, who, limb, vector))
    return allowed


def _cases(proof: Proof, spans: Sequence[Span], found: Findings) -> list[_Case]:
    out = []
    for k in sorted({*found.collide, *found.unproven}):
        if not proof.exact.by_shift[k]:
            continue
        pieces = [*found.collide.get(k, ()), *found.unproven.get(k, ())]
        own = [s for s in spans if s.pair == k]
        contacts = [c for c in proof.exact.contacts.get(k, ()) if c.depth > 0.0]
        for during in merged((c.during for c in contacts), 2.0 * SAME_S):
            bad = tuple(p for p in pieces if _covers(during, p))
            if bad:
                inside = tuple(s for s in own if _covers(during, (s.begin, s.end)))
                together = tuple(c for c in contacts if during[0] <= c.during[0] <= during[1])
                out.append(_Case(k, during, together, inside, bad))
    return out


def _covers(during: Interval, piece: Interval) -> bool:
    return holds_at(during, 0.5 * (piece[0] + piece[1]))


def _shift(proof: Proof, case: _Case, tolerance: float) -> Array | None:
    """The shortest shift (3,) that proves a contact."""
    given = {c.shift for c in case.contacts}
    if given != {None}:
        known = np.array(next(s for s in given if s is not None))
        short = len(given) == 1 and float(np.linalg.norm(known)) <= case.depth + _SPARE_M
        return known if short and _proves(proof, case, known, tolerance) else None
    ends = sorted({t for piece in case.bad for t in piece})
    times = [ends[i] for i in np.unique(np.linspace(0, len(ends) - 1, min(_SAMPLES, len(ends))).astype(int))]
    record = proof.stage.world.record(np.array(times))
    a = int(proof.exact.index[case.pair, 0])
    proof.exact.place_snapshot(record[0])
    axes = proof.exact.placed.T[a, :3, :3].T
    directions = np.concatenate([ALL_ROUND, axes, -axes])
    moments = _moments(proof, case.pair, record)
    # no shift that is shorter than a point of one is deep in the other can part them
    least = max(_depth(proof.exact, case.pair, T) for T in moments) - _FINE
    for length in (s for s in (*_SHIFTS, case.depth) if least <= s <= case.depth):
        for direction in islice(_clear(proof.exact, case.pair, moments, length * directions), _PROOFS):
            if _proves(proof, case, direction, tolerance):
                return direction
    return None


def _moments(proof: Proof, pair: int, record: Record) -> list[Array]:
    """Places (2, 4, 4) of a pair in the snapshots of a record, without those where it was in the one before."""
    out: list[Array] = []
    for i in range(len(record)):
        T = proof.exact.place_snapshot(record[i]).placed.T[proof.exact.index[pair]]
        if not out or not np.array_equal(T, out[-1]):
            out.append(T)
    return out


def _depth(exact: ExactWorld, pair: int, T: Array) -> float:
    """Lower bound of the depth to which a pair overlaps at places (2, 4, 4), metres."""
    return -(_placed(exact, pair, T).overlap(pair) or 0.0)


def _placed(exact: ExactWorld, pair: int, T: Array) -> ExactWorld:
    """The world with a pair at places (2, 4, 4)."""
    may_stop_here()
    rows = exact.index[pair].astype(np.int64)
    exact.placed.T[rows] = T
    exact.placed.moved(rows)
    return exact


def _clear(exact: ExactWorld, pair: int, moments: Sequence[Array], shifts: Array) -> Iterator[Array]:
    """Those of some shifts (S, 3) that make a pair clear at all moments, each checked on demand."""
    order = list(range(len(moments)))
    for shift in shifts:
        hit = next((i for i in order if _placed(exact, pair, moments[i]).shifted_hit(pair, shift)), None)
        if hit is None:
            yield shift
        else:  # the moment that stops one shift stops most of the others
            order.remove(hit)
            order.insert(0, hit)


def _proves(proof: Proof, case: _Case, shift: Array, tolerance: float) -> bool:
    """Return whether a shifted pair is free during a contact, and can be shifted at its start and end."""
    spans = [Span(s.pair, s.begin, s.end, s.way, s.bend, 0.0) for s in case.spans]
    known: dict[float, float] = {}
    exact = proof.exact
    seen: tuple[Array, float, float] | None = None  # where both were, how far was looked, and what was found
    while spans:
        need: dict[float, float] = {}
        for s in spans:
            for t in (s.begin, s.end):
                need[t] = max(need.get(t, 0.0), 2.0 * s.way + 1e-3)
        times = sorted(t for t in need if t not in known)
        record = proof.stage.world.record(np.array(times))
        for i, t in enumerate(times):
            T = exact.place_snapshot(record[i]).placed.T[exact.index[case.pair]]
            if seen is None or seen[1] < need[t] or not np.array_equal(T, seen[0]):  # what rests is where it was
                value = exact.shifted_distance(case.pair, shift, need[t]).value
                seen = T, need[t], -1.0 if value is None else value
            known[t] = seen[2]
            if not known[t] > 0.0:
                return False
        verdicts = [(s, verdict_of(s, known[s.begin], known[s.end], tolerance)) for s in spans]
        if any(v in ("collide", "unproven") for _, v in verdicts):
            return False
        spans = [half for s, v in verdicts if v == "bisect" for half in s.halves()]
    opens, closes = float(proof.stage.knots[0]), float(proof.stage.knots[-1])
    begin, end = case.during
    return all(_way_is_clear(proof, case.pair, t, shift) for t in (begin, end) if opens < t < closes)


def _way_is_clear(proof: Proof, pair: int, time: float, shift: Array) -> bool:
    """Return whether a part is clear of the other all along the shift, or collides at its own place."""
    proof.exact.place_snapshot(proof.stage.world.record([time])[0])
    length = float(np.linalg.norm(shift))

    def at(share: float) -> float:
        value = proof.exact.shifted_distance(pair, share * shift, 2.0 * length + 1e-3).value
        return -1.0 if value is None else value

    pieces = [(0.0, 1.0, at(0.0), at(1.0))]
    if not pieces[0][2] > 0.0:
        return True  # it collides as soon as the contact is over, which is reported elsewhere
    while pieces:
        a, b, before, after = pieces.pop()
        if not (before > 0.0 and after > 0.0):
            return False
        if before + after > (b - a) * length:
            continue
        if (b - a) * length < _FINE:
            return False
        middle = at(0.5 * (a + b))
        pieces += [(a, 0.5 * (a + b), before, middle), (0.5 * (a + b), b, middle, after)]
    return True
