"""Gait cycles found in clips, the library that blends them, and walks made of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import benchmark_module
from elbowroom.character.human import human, preset
from elbowroom.errors import BadValue
from elbowroom.files.open import open_file
from elbowroom.geometry.easing import smoothstep
from elbowroom.locomotion.course import route
from elbowroom.locomotion.cycles import cycles_of
from elbowroom.locomotion.library import PER_RAD_M, ClipLibrary, point_of, thinned
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import WalkOptions, run, walk, walk_along, walk_route
from elbowroom.motion.edit import mirror

bench = benchmark_module("clip_library")


@pytest.fixture(scope="module")
def made() -> ClipLibrary:
    """A library of three synthetic walks."""
    body = human()
    walks = {"slow": (0.8, 0.0), "fast": (1.5, 0.0), "turn": (1.0, 40.0)}
    clips = {name: walk(body, speed, turn, seconds=3.0) for name, (speed, turn) in walks.items()}
    return ClipLibrary(thinned([c for name, clip in clips.items() for c in cycles_of(clip, name)]), "made")


def test_cycles_have_the_speed_and_turn_of_their_clip() -> None:
    body = human(height=1.5)
    scale = float(np.sqrt(body.skeleton.T_rest[body.role("left_thigh"), 2, 3] / 0.92))
    found = cycles_of(walk(body, 1.1, 30.0, seconds=4.0), "turn")
    assert len(found) >= 3
    for cycle in found:
        assert cycle.mode == "walk"
        # a short person at 1.1 m/s walks as a taller one does who is faster, and who turns slower
        assert cycle.velocity[0] == pytest.approx(1.1 / scale, rel=0.04)
        assert np.degrees(cycle.velocity[2]) == pytest.approx(30.0 * scale, rel=0.05)
        assert all(0.55 < foot.duty < 0.7 for foot in cycle.feet)


def test_a_mirrored_cycle_is_that_of_the_mirrored_clip() -> None:
    clip = walk(human(), 1.0, 40.0, seconds=3.0)
    ours = cycles_of(clip)[0].mirrored()
    theirs = min(cycles_of(mirror(clip)), key=lambda c: float(np.abs(c.turns - ours.turns).mean()))
    assert theirs.velocity == pytest.approx(ours.velocity, abs=0.03)
    assert np.abs(np.sum(theirs.turns * ours.turns, axis=-1)).min() > 0.995
    assert ours.mirrored().turns == pytest.approx(cycles_of(clip)[0].turns)


def test_who_stands_has_no_cycles() -> None:
    assert cycles_of(idle(human(), seconds=3.0)) == []


def test_weights_are_barycentric_and_nothing_is_extrapolated(made: ClipLibrary) -> None:
    inside = np.array([[0.9, 0.0, 0.1], [1.1, 0.0, -0.3], [0.2, 0.0, 0.05]])
    weights = made.weights(inside)
    points = np.array([(0.0, 0.0) if c.mode == "stand" else point_of(c) for c in made.nodes])
    assert weights.sum(axis=1) == pytest.approx(np.ones(3))
    assert (weights > 0.0).sum(axis=1).max() <= 3
    assert weights @ points == pytest.approx(inside[:, [0, 2]] * [1.0, PER_RAD_M], abs=1e-5)
    fast = np.array([[3.0, 0.0, 0.6]])
    factor = made.reach(fast)[0]
    assert 0.2 < factor < 0.6
    assert made.weights(factor * fast) @ points == pytest.approx(factor * fast[:, [0, 2]] * [1.0, PER_RAD_M], abs=1e-5)
    assert (made.weights(fast) @ points)[0, 0] < 1.6, "never faster than recorded"


def test_too_few_walks_are_refused(made: ClipLibrary) -> None:
    one = [c for c in made.cycles if c.source == "fast"][:1]
    with pytest.raises(BadValue, match="3 or more different speeds"):
        ClipLibrary(tuple(one), "one")
    with pytest.raises(BadValue, match="has 2"):
        made.without("slow")


def test_speed_and_turn_are_those_asked_for_and_feet_do_not_slide(made: ClipLibrary) -> None:
    clip = walk(human(), 1.1, 20.0, seconds=3.0, fps=240.0, library=made)
    speed, turn = bench.achieved(clip)
    assert speed == pytest.approx(1.1, rel=0.01) and np.degrees(turn) == pytest.approx(20.0, rel=0.02)
    far, deep = bench.slid(clip)
    assert far < 0.002 and deep < 0.002
    assert bench.slid(bench.plain_blend(made, 1.1, np.radians(20.0)))[0] > 0.02, "the check can fail"


def test_the_shipped_library() -> None:
    library = recorded_cycles()
    assert {"walk", "run", "crouch", "side", "back"} == set(library.fields)
    v, w = np.meshgrid([0.3, 0.8, 1.3, 1.7], np.radians([-35.0, 0.0, 35.0]))
    assert (library.reach(np.column_stack([v.ravel(), 0.0 * v.ravel(), w.ravel()])) >= 1.0).all()
    assert "CC BY 3.0" in library.source and "mocap.cs.cmu.edu" in library.source


@pytest.mark.parametrize("name", ["child", "gorilla"])
def test_bodies_of_other_proportions(name: str) -> None:
    body = preset(name)
    clip = walk_along(body, [(0.0, 0.0), (0.3, -1.2)], 0.8, fps=60.0, library=recorded_cycles())
    far, deep = bench.slid(clip)
    assert far < 0.002 and deep < 0.002
    assert np.linalg.norm(clip.root[-1, :2] - [0.3, -1.2]) < 0.1


def test_an_imported_rig(data: Path) -> None:
    opened = open_file(data / "characters" / "rocketbox_male_adult_01.glb")
    body = next(iter(opened.characters.values()))
    clip = walk_along(body, [(0.0, 0.0), (0.0, -1.2)], 1.0, fps=60.0, library=recorded_cycles())
    far, deep = bench.slid(clip)
    assert far < 0.003 and deep < 0.003


def test_tight_curves_are_walked_as_slowly_as_recorded_people_do(made: ClipLibrary) -> None:
    bend = [(0.0, 0.0), (0.0, -1.0), (0.7, -1.5), (1.4, -1.0)]
    body = human()
    usual, slow = (walk_along(body, bend, 1.4, fps=30.0, library=library) for library in (None, made))
    assert slow.duration > usual.duration + 0.3
    with pytest.raises(BadValue, match=r"no walk at 1\.4 m/s turning by 60"):
        walk(body, 1.4, 60.0, library=made)
    with pytest.raises(BadValue, match="no run at 3 m/s"):
        run(body, 3.0, library=made)


def test_the_same_seed_is_the_same_walk_and_another_is_not(made: ClipLibrary) -> None:
    one, same, other = (walk(human(), 1.1, seconds=1.0, seed=s, library=made) for s in (1, 1, 2))
    assert np.array_equal(one.rotations, same.rotations)
    assert np.abs(one.rotations - other.rotations).max() > 1e-3


def test_crouching_along_a_part_of_the_way() -> None:
    body = human()
    way = route([[0.0, 0.0], [0.0, -3.0]], 0.0, 0.0)
    clip = walk_route(
        body,
        way,
        WalkOptions(fps=30.0, library=recorded_cycles(), low=lambda s: smoothstep(s) * smoothstep(way.length - s)),
    )
    head = clip.positions()[:, body.role("head"), 2]
    assert head.min() < head[0] - 0.2 and abs(head[-1] - head[0]) < 0.02
