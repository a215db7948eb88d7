"""Fingers that close on meshes: within 2 mm, no deeper than 1 mm, by an independent measure too (requirement 5)."""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np
import pytest
from hand_things import measured_gaps, thing

from conftest import DATA
from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import OPEN, finger_rotations, power
from elbowroom.character.hands import hand_size
from elbowroom.character.human import preset
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.posing.fingers import OPPOSED, TOUCH, Closed, close_fingers
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps import Grasp, propose_grasps

THINGS = ("box", "book", "cylinder", "ball", "handle", "blob1", "blob2", "blob3", "blob4")
DEEP = 0.001


@lru_cache
def person(name: str) -> Character:
    return preset(name, skin=False)


@lru_cache
def taken(who: str, hand: str, name: str) -> tuple[Mesh, list[Grasp]]:
    body = person(who)
    mesh, frames = thing(name, hand_size(body, hand))
    return mesh, propose_grasps(body, hand, mesh, frames=frames)


def closed_by(body: Character, grasp: Grasp, mesh: Mesh) -> tuple[Closed, Array]:
    T = inverse(grasp.T_thing_hand)
    return close_fingers(body, grasp.hand, T, mesh, grasp.open, grasp.shape), T


def palm_gap(body: Character, hand: str, T_hand_thing: Array, mesh: Mesh) -> float:
    scene = HandAtThing(hand_model(body, hand), mesh)
    scene.put_thing(T_hand_thing)
    scene.put_hand(scene.model.places(OPEN))
    return scene.gap(scene.model.palm)


def fine(gap: float) -> bool:
    """Requirement 5 for a finger that closed on something."""
    return -DEEP <= gap <= TOUCH


@pytest.mark.parametrize("name", THINGS)
@pytest.mark.parametrize("hand", ["left", "right"])
@pytest.mark.parametrize("who", ["woman", "child", "gorilla"])
def test_fingers_touch_and_do_not_enter(who: str, hand: str, name: str) -> None:
    body = person(who)
    mesh, grasps = taken(who, hand, name)
    assert grasps, "no grasp was proposed"
    for grasp in (*grasps[:2], grasps[len(grasps) // 2]):
        closed, T = closed_by(body, grasp, mesh)
        touching = [f for f, gap in closed.gaps.items() if fine(gap)]
        assert "thumb" in touching or grasp.frame == "handle"
        assert len(touching) >= (4 if name not in ("ball", *THINGS[-4:]) else 3), (grasp.name, closed.gaps)
        # fingers that do not reach are at the end of their way, and nothing is inside
        assert set(touching) == set(closed.touching)
        assert min(closed.gaps.values()) > -DEEP
        assert palm_gap(body, hand, T, mesh) > -DEEP


@pytest.mark.parametrize("name", [n for n in THINGS if n != "handle"])
def test_an_independent_measure_agrees(name: str) -> None:
    body = person("woman")
    mesh, grasps = taken("woman", "left", name)
    closed, T = closed_by(body, grasps[0], mesh)
    measured = measured_gaps(body, "left", closed, T, mesh)
    for finger, gap in closed.gaps.items():
        assert measured[finger] == pytest.approx(gap, abs=2e-4)
        assert not gap <= TOUCH or fine(measured[finger])


def test_the_check_can_fail() -> None:
    body = person("woman")
    mesh, grasps = taken("woman", "left", "cylinder")
    closed, T = closed_by(body, grasps[0], mesh)
    assert all(fine(gap) for gap in measured_gaps(body, "left", closed, T, mesh).values())
    pushed = T.copy()
    pushed[:3, 3] -= 0.004 * (T[:3, :3] @ grasps[0].approach)  # the thing comes nearer to the palm
    assert not all(fine(gap) for gap in measured_gaps(body, "left", closed, pushed, mesh).values())
    aside = T @ transform([0.0, 0.0, 1.0])
    assert not any(fine(gap) for gap in measured_gaps(body, "left", closed, aside, mesh).values())


def test_a_thing_is_held_between_thumb_and_fingers_only() -> None:
    body = person("woman")
    mesh, grasps = taken("woman", "right", "cylinder")
    closed, _ = closed_by(body, grasps[0], mesh)
    assert closed.holds and closed.across < OPPOSED
    # a wall before the hand is touched from one side, however many fingers are on it
    wall, hand = box([1.0, 1.0, 0.02]), propose_grasps(body, "right", box([1.0, 1.0, 0.4]))[0]
    T = inverse(hand.T_thing_hand) @ transform(0.2 * hand.T_thing_hand[:3, 3] / abs(hand.T_thing_hand[:3, 3]).max())
    assert hand.open.name == "flat"
    on_wall = close_fingers(body, "right", T, wall, hand.open, hand.shape)
    assert not on_wall.holds and on_wall.across > OPPOSED


def test_fingers_that_meet_nothing_end_in_the_closed_shape() -> None:
    body = person("woman")
    far = close_fingers(body, "right", transform([0.0, 0.0, 2.0]), box([0.1, 0.1, 0.1]), OPEN, power(0.08))
    assert far.touching == () and min(far.gaps.values()) > 1.0
    assert np.allclose(far.rotations, finger_rotations(body, "right", power(0.08)))
    empty = Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    nothing = close_fingers(body, "right", np.eye(4), empty, OPEN, power(0.05))
    assert nothing.touching == () and np.isinf(min(nothing.gaps.values()))


def test_a_thin_sheet_is_not_passed() -> None:
    body = person("woman")
    model = hand_model(body, "left")
    # a sheet of no thickness below the open fingers, right in their way
    tips = [model.tip(f, OPEN) for f in model.fingers if f.number]
    level = min(float(t[2]) for t in tips) - 0.02
    corners = np.array([[-1, -1, level], [1, -1, level], [1, 1, level], [-1, 1, level]], dtype=float)
    sheet = Mesh(corners, [[0, 1, 2], [0, 2, 3]])
    closed = close_fingers(body, "left", np.eye(4), sheet, OPEN, power(0.0))
    for finger in ("index", "middle", "ring", "little"):
        assert 0.0 < closed.gaps[finger] <= TOUCH
    T = model.places(closed.shape)
    for f in model.fingers[1:]:
        assert all(T[n, 2, 3] > level for n in f.beyond[0])


def test_fingers_inside_at_the_start_go_back() -> None:
    body = person("woman")
    model = hand_model(body, "left")
    middle = next(f for f in model.fingers if f.name == "middle")
    tip = model.tip(middle, OPEN)
    slab = box([0.1, 0.2, 0.02], tip - [0.0, 0.0, 0.007])
    closed = close_fingers(body, "left", np.eye(4), slab, OPEN, power(0.02))
    assert -DEEP < closed.gaps["middle"] <= TOUCH


def test_the_thumb_does_not_go_through_fingers() -> None:
    body = person("woman")
    rod = cylinder(0.006, 0.3)
    grasp = next(g for g in propose_grasps(body, "left", rod) if g.name.startswith("power"))
    closed, T = closed_by(body, grasp, rod)
    model = hand_model(body, "left")
    scene = HandAtThing(model, rod)
    scene.put_thing(T)
    scene.put_hand(model.places(closed.shape))
    thumb = model.fingers[0]
    others = [n for f in model.fingers[1:] for n in f.beyond[1]]
    assert not any(scene.placed.hit(a, b) for a in thumb.beyond[1] for b in others)


def test_rigs_from_files_close_their_fingers() -> None:
    path = DATA / "characters/rocketbox_male_adult_01.glb"
    if not path.is_file():
        pytest.skip("the folder with real files is not present")
    body = next(iter(read_glb(path).characters.values()))
    for name in ("cylinder", "book"):
        mesh, _ = thing(name)
        for hand in ("left", "right"):
            grasps = propose_grasps(body, hand, mesh)
            assert grasps
            closed, T = closed_by(body, grasps[0], mesh)
            assert len(closed.touching) >= 4 and min(closed.gaps.values()) > -DEEP
            assert palm_gap(body, hand, T, mesh) > -DEEP


def test_hands_without_fingers_close_to_nothing() -> None:
    body = person("woman")
    bare = body.with_(roles={r: j for r, j in body.roles.items() if not r.endswith(("1", "2", "3"))})
    closed = close_fingers(bare, "left", np.eye(4), box([0.1, 0.1, 0.1]), OPEN, power(0.02))
    assert closed.rotations.shape == (0, 4) and not closed.gaps


def test_closing_is_fast() -> None:
    body = person("woman")
    mesh, grasps = taken("woman", "left", "cylinder")
    closed_by(body, grasps[0], mesh)
    begin = time.process_time()
    for _ in range(5):
        closed_by(body, grasps[0], mesh)
    assert (time.process_time() - begin) / 5 < 0.08  # about 14 ms by itself on one core
