"""What a proof rests on: nothing travels farther than its bound, and nothing is nearer than its bound."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.body import Character
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import normalize
from elbowroom.geometry.solids import box, cylinder, merge
from elbowroom.geometry.transforms import apply, transform
from elbowroom.kernels import sweep
from elbowroom.motion.clip import Clip
from elbowroom.world import certificate_proof
from elbowroom.world.certificate import certify
from elbowroom.world.certificate_proof import Proof, near_units
from elbowroom.world.certificate_units import ProofStage, units_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import Keyed
from elbowroom.world.played import played
from elbowroom.world.world import World
from tools.brute_force import brute_force, disagreements
from tools.small_worlds import moving, person

# Metres that a point jumps where a time is taken for its frame's: that is done within a millionth of a frame.
_SNAP = 1e-6


def wild_world(seed: int) -> World:
    """Two people who whirl about, a stick in a hand, a thing that tumbles, and a scene."""
    rng = np.random.default_rng(seed)
    world = World(floor=-0.5)
    for name in ("ann", "bob"):
        clip = moving(person(name, skin=False), 6, 10.0, int(rng.integers(1 << 30)))
        world = world.with_character(name, clip.with_(root=clip.root + rng.uniform(-0.6, 0.6, 3)))
    tumble = Keyed(
        np.array([0.0, 0.23, 0.5]), rng.uniform(-0.8, 0.8, (3, 3)) + [0, 0, 1.0], normalize(rng.normal(size=(3, 4)))
    )
    world = world.with_object("crate", box([0.5, 0.3, 0.2]), tumble)
    world = world.with_object("stick", cylinder(0.02, 1.2), lambda t: transform([0.5, 0.2, 1.2]))
    ring = trimesh.creation.torus(0.5, 0.05, major_sections=24, minor_sections=8)
    spin = Keyed(np.array([0.0, 0.5]), rng.uniform(-0.3, 0.3, (2, 3)) + [0, 0, 1.0], normalize(rng.normal(size=(2, 4))))
    world = world.with_object("ring", Mesh(ring.vertices, ring.faces), spin)
    hold = transform([0.0, 0.0, 0.05], normalize(rng.normal(size=4)))
    world = world.with_hold("stick", "ann", "left", (0.1, 0.4), hold)
    scene = merge([box([0.3, 0.3, 1.0], at=[0.8, 0.0, 0.5]), box([3.0, 0.05, 2.0], at=[0.0, 1.0, 1.0])])
    return world.with_static("scene", scene)


def set_up(seed: int) -> tuple[ProofStage, Proof]:
    stage = ProofStage(played(wild_world(seed)))
    exact = ExactWorld(stage.world)
    return stage, Proof(stage, exact, units_of(exact, range(len(exact.pairs))))


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 4))
def test_no_point_travels_farther_than_its_bound(seed: int, knot: int) -> None:
    stage, proof = set_up(seed)
    times = stage.knots[knot : knot + 2]
    ball = np.zeros((2, len(proof.movers.radius), 4))
    sweep.spheres(proof.movers, proof.place(stage.world.record(times)), ball)
    way = np.zeros((len(proof.units), 1))
    sweep.travel(
        stage.tree(stage.world.record(stage.knots[knot : knot + 2])),
        ball,
        stage.joints_of(proof.exact.parts),
        proof.units.parts,
        way,
    )
    fine = np.linspace(*times, 41)[1:-1]
    T = proof.place(stage.world.record(fine))
    points = [proof.movers.points[a:b] for a, b in zip(proof.movers.first[:-1], proof.movers.first[1:], strict=True)]
    tightest = 0.0
    for u, (a, b) in enumerate(proof.units.parts):
        # as seen from the second part; what that sees of the first is all that matters to their distance
        seen = np.linalg.inv(T[:, b]) @ T[:, a] if b >= 0 else T[:, a]
        paths = apply(seen, points[a])
        step = np.linalg.norm(paths[-1] - paths[0], axis=-1).max()
        share = (fine[-1] - fine[0]) / (times[1] - times[0])
        if u % 11 == seed % 11:
            gap = distances(stage, proof, u, (fine[0], fine[-1]))
            assert abs(gap[1] - gap[0]) <= share * way[u, 0] + 1e-5
        if b < 0:
            assert step <= share * way[u, 0] + _SNAP
            tightest = max(tightest, step / max(share * way[u, 0], 1e-12))
    assert tightest > 0.3, "the bound is far from what happens"


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 4))
def test_points_bend_and_move_no_farther_than_told(seed: int, knot: int) -> None:
    """As one part sees another: between knots, in halves and in quarters of them."""
    stage, proof = set_up(seed)
    times = stage.knots[knot : knot + 2]
    record = stage.world.record(times)
    T, parts, tree = proof.place(record), proof.units.parts, stage.tree(record)
    ball, joint = np.zeros((2, len(proof.movers.radius), 4)), stage.joints_of(proof.exact.parts)
    sweep.spheres(proof.movers, T, ball)
    travel, bend = np.zeros((len(parts), 1)), np.zeros((len(parts), 1))
    sweep.travel(tree, ball, joint, parts, travel)
    way = travel.copy()
    sweep.closing(proof.movers, T, tree, ball, joint, parts, way, bend)
    assert (way <= travel).all() and (bend[way < travel] >= 0.0).all()
    fine = np.linspace(*times, 33)
    placed = proof.place(stage.world.record(fine))
    points = [proof.movers.points[a:b] for a, b in zip(proof.movers.first[:-1], proof.movers.first[1:], strict=True)]
    bent = 0
    for u in np.flatnonzero(way[:, 0] < travel[:, 0]):
        a, b = parts[u]
        paths = apply(np.linalg.inv(placed[:, b]) @ placed[:, a] if b >= 0 else placed[:, a], points[a])
        whole, curve = float(way[u, 0]), float(bend[u, 0])
        for size in (32, 16, 8):
            for first in range(0, 33 - size, size):
                piece = paths[first : first + size + 1]
                share = np.linspace(0.0, 1.0, size + 1)[:, None, None]
                off = np.linalg.norm(piece - piece[0] - share * (piece[-1] - piece[0]), axis=-1).max()
                moved = np.linalg.norm(piece[-1] - piece[0], axis=-1).max()
                assert off <= curve / 8.0 + _SNAP
                assert moved <= whole - curve / 4.0 + _SNAP
                bent += off > curve / 80.0
            whole, curve = 0.5 * whole + curve / 16.0, 0.25 * curve
    assert bent, "the bound is far from what happens"


def distances(stage: ProofStage, proof: Proof, unit: int, times: tuple[float, float]) -> list[float]:
    """Exact distances of a unit's first pair; overlaps of unknown depth count as 0."""
    record = stage.world.record(np.array(times))
    out = []
    for i in range(2):
        value = proof.exact.place_snapshot(record[i]).distance(proof.units.pairs[unit][0]).value
        out.append(max(value or 0.0, 0.0))
    return out


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 0.5), st.floats(0.0, 2.0))
def test_no_pair_is_nearer_than_its_bound(seed: int, t: float, need: float) -> None:
    stage, proof = set_up(seed)
    count = len(proof.units)
    told = proof.at(np.arange(count), np.full(count, t), np.full(count, need))
    proof.exact.place_snapshot(stage.world.record([t])[0])
    sharp = 0
    for u in range(seed % 3, count, 3):
        truth = [proof.exact.distance(k).value for k in proof.units.pairs[u]]
        exact = min(0.0 if d is None else d for d in truth)
        if proof.units.parts[u, 1] == sweep.FLOOR:
            assert told[u] == pytest.approx(exact, abs=1e-6)
        elif told[u] > 0.0:
            assert told[u] <= exact + 1e-5
        if proof.units.sharp[u] and 0.0 < exact < need:
            sharp += 1
            assert told[u] >= exact - 0.02
    assert sharp or need < 1.0


def test_a_bound_that_forgets_turning_is_caught() -> None:
    stage, proof = set_up(3)
    tree = stage.tree(stage.world.record(stage.knots[:2]))
    ball = np.zeros((2, len(proof.movers.radius), 4))
    sweep.spheres(proof.movers, proof.place(stage.world.record(stage.knots[:2])), ball)
    way = np.zeros((len(proof.units), 1))
    still = tree._replace(angle=np.zeros_like(tree.angle))
    sweep.travel(still, ball, stage.joints_of(proof.exact.parts), proof.units.parts, way)
    short = 0
    for u in np.flatnonzero(proof.units.parts[:, 1] >= 0):
        gap = distances(stage, proof, int(u), (float(stage.knots[0]), float(stage.knots[1])))
        short += abs(gap[1] - gap[0]) > way[u, 0] + 1e-5
    assert short > 10


def test_covers_hold_their_parts() -> None:
    _, proof = set_up(1)
    movers = proof.movers
    rng = np.random.default_rng(0)
    for m in range(len(movers.radius)):
        points = movers.points[movers.first[m] : movers.first[m + 1]]
        balls = movers.cover[movers.cover_first[m] : movers.cover_first[m + 1]]
        share = rng.dirichlet(np.full(len(points), 0.3), 400)
        out = rng.normal(size=(400, 3))
        inside = share @ points + movers.radius[m] * out / np.linalg.norm(out, axis=1)[:, None]
        apart = np.linalg.norm(inside[:, None] - balls[:, :3], axis=2) - balls[:, 3]
        assert apart.min(axis=1).max() <= 1e-9
        assert np.linalg.norm(inside - movers.ball[m, :3], axis=1).max() <= movers.ball[m, 3] + 1e-9


def test_motions_are_taken_as_they_would_be_written() -> None:
    clip = moving(person(skin=False), 11, 10.0)

    class Smooth:
        """A motion that is no clip."""

        body: Character = clip.character
        span = clip.span

        def __call__(self, t: float) -> object:
            return clip(t)

        def sample(self, times: object) -> object:
            return clip.sample(times)

    stage = ProofStage(played(World().with_character("ann", Smooth()), 40.0))
    taken = stage.world.motion("ann")
    assert isinstance(taken, Clip) and taken.fps == 40.0 and len(taken) == 41
    assert np.allclose(taken.root[::4], clip.root)
    assert len(stage.knots) == 41


@pytest.mark.parametrize("seed", [101, 107])
def test_wild_worlds_agree_with_brute_force(seed: int) -> None:
    world = wild_world(seed)

    def counts(pair: Pair) -> bool:
        return pair.b != "floor"  # feet may press into it

    found = certify(world)
    hits = tuple(c for c in found.collisions if counts(c.pair))
    slow = brute_force(played(world), 1000.0, counts)
    assert len(hits) > 30 and any(c.pair.a == "stick" or c.pair.b == "stick" for c in hits)
    assert disagreements(replace(found, collisions=hits), slow) == []


@pytest.mark.parametrize("margin", [0.0, 0.03, 0.5])
def test_what_is_left_out_as_far_away_is_far_away(margin: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in (3, 4, 5):
        _, proof = set_up(seed)
        quick = proof.first_pass(margin)
        seen: list[int] = []

        def all_units(parts: np.ndarray, *rest: object, seen: list[int] = seen) -> np.ndarray:
            seen.append(len(parts) - len(near_units(parts, *rest)))  # type: ignore[arg-type]
            return np.arange(len(parts))

        with monkeypatch.context() as patch:
            patch.setattr(certificate_proof, "near_units", all_units)
            slow = proof.first_pass(margin)
        for one, other in zip(quick, slow, strict=True):
            assert np.array_equal(one.unit, other.unit) and np.array_equal(one.begin, other.begin)
        assert margin > 0.1 or sum(seen) > 10, "little is left out"
