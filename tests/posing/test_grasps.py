"""Grasps: what is recognised, that an open hand gets there unhindered, and that marked ones come first."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hand_things import JAR, thing

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import POINT
from elbowroom.character.hands import grip_frame, hand_size
from elbowroom.character.human import preset
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import angle_between, from_matrix
from elbowroom.geometry.solids import box, cylinder, lathe, sphere
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.posing import grasps as grasps_module
from elbowroom.posing.fingers import close_fingers
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps import Grasp, grasps_of, press_target, propose_grasps
from elbowroom.posing.grasps_settle import MOST
from elbowroom.posing.two_hands import two_hand_grasps
from elbowroom.world.paths import Still
from elbowroom.world.things import Fixture, GraspMark, Joint
from elbowroom.world.world import World

HANDS = ("left", "right")


@lru_cache
def person(name: str = "woman") -> Character:
    return preset(name, skin=False)


@lru_cache
def proposed(who: str, hand: str, name: str) -> tuple[Mesh, tuple[Grasp, ...]]:
    mesh, frames = thing(name, hand_size(person(who), hand))
    return mesh, tuple(propose_grasps(person(who), hand, mesh, frames=frames))


def styles(grasps: tuple[Grasp, ...]) -> set[str]:
    return {g.name.rstrip("0123456789") for g in grasps}


@pytest.mark.parametrize("name", ["box", "book", "cylinder", "ball", "handle", "blob2", "cube"])
@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("who", ["woman", "child", "gorilla"])
def test_enough_grasps_best_first_with_names_of_their_own(who: str, hand: str, name: str) -> None:
    _, grasps = proposed(who, hand, name)
    assert (4 if name == "handle" else 16) <= len(grasps) <= MOST
    assert [g.cost for g in grasps] == sorted(g.cost for g in grasps)
    assert len({g.name for g in grasps}) == len(grasps)
    assert all(g.hand == hand and np.isclose(np.linalg.norm(g.approach), 1.0) for g in grasps)
    assert all((g.frame == "handle") == (name == "handle") for g in grasps)
    assert all(np.allclose(g.T_thing_hand @ inverse(g.T_thing_hand), np.eye(4), atol=1e-9) for g in grasps)


@pytest.mark.parametrize("name", ["box", "book", "cylinder", "ball", "handle", "blob2"])
@pytest.mark.parametrize("hand", HANDS)
def test_the_open_hand_comes_there_without_touching(hand: str, name: str) -> None:
    mesh, grasps = proposed("woman", hand, name)
    scene = HandAtThing(hand_model(person(), hand), mesh)
    every = range(len(scene.model.shapes))
    for grasp in grasps[:: max(len(grasps) // 6, 1)]:
        scene.put_hand(scene.model.places(grasp.open))
        for back in (0.0, 0.005, 0.01, 0.02, 0.04, 0.08):
            T = grasp.T_thing_hand.copy()
            T[:3, 3] -= back * grasp.approach
            scene.put_thing(inverse(T))
            assert scene.gap(every) > 0.0, (grasp.name, back)
        if name == "blob2" and grasp.name.startswith("pinch"):
            continue  # pads may slide off something bumpy
        # a step further is a hit: the hand is where it belongs
        T = grasp.T_thing_hand.copy()
        T[:3, 3] += 0.05 * grasp.approach
        scene.put_thing(inverse(T))
        assert scene.gap(every) < 0.0


@pytest.mark.parametrize("hand", HANDS)
def test_palms_look_at_the_thing_from_all_round(hand: str) -> None:
    _, grasps = proposed("woman", hand, "cylinder")
    sides = [g for g in grasps if g.name.startswith("power")]
    around = []
    for grasp in sides:
        T = grasp.T_thing_hand @ grip_frame(person(), hand)
        palm, thumb, middle = T[:3, 0], T[:3, 2], T[:3, 3]
        level = np.array([middle[0], middle[1], 0.0])
        assert palm @ -level / np.linalg.norm(level) > 0.8
        assert abs(thumb[2]) > np.cos(np.radians(51))
        around.append((float(np.arctan2(level[1], level[0])), thumb[2] > 0))
    ups = np.sort([a for a, up in around if up])
    assert len(ups) >= 8 and np.max(np.diff([*ups, ups[0] + 2 * np.pi])) < np.radians(60)
    best = grasps[0].T_thing_hand @ grip_frame(person(), hand)
    assert best[2, 2] > 0.99  # thumb up


@pytest.mark.parametrize("hand", HANDS)
def test_books_are_pinched_across_their_covers(hand: str) -> None:
    _, grasps = proposed("woman", hand, "book")
    assert styles(grasps) == {"pinch"}
    model = hand_model(person(), hand)
    thumb = model.fingers[0]
    for grasp in grasps[:8]:
        tips = apply(grasp.T_thing_hand, np.array([model.tip(f, grasp.open) for f in model.fingers]))
        assert thumb.number == 0
        # thumb beyond one cover, fingers beyond the other, both over the book's edge
        assert tips[0, 0] * tips[1, 0] < 0.0 and np.all(tips[1:, 0] * tips[1, 0] > 0.0)
        assert np.all(np.abs(tips[:3, 0]) > 0.015)


def pointing(grasp: Grasp, who: str = "woman") -> np.ndarray:
    """The way the hand points, from the wrist to the knuckles, in the thing's frame."""
    palm, _, thumb = (grasp.T_thing_hand @ grip_frame(person(who), grasp.hand))[:3, :3].T
    return np.cross(thumb, palm) if grasp.hand == "left" else np.cross(palm, thumb)


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("who", ["woman", "man", "child"])
def test_books_are_taken_with_fingers_along_their_covers(who: str, hand: str) -> None:
    _, grasps = proposed(who, hand, "book")
    body = person(who)
    for into in ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0]):
        along = [g for g in grasps if g.approach @ into > 0.99 and abs(pointing(g, who)[0]) < 0.6]
        # the hand points into the shelf, up or down by half a right angle, too, and the fingers are nearly straight
        rises = np.degrees([np.arctan2(*(pointing(g, who)[[2, 1]] * [1.0, into[1]])) for g in along])
        assert np.any(np.abs(rises) < 15) and np.any(rises > 25) and np.any(rises < -25)
        assert all(np.degrees(g.open.coordinates[1:, :, 0].sum(axis=1)).max() < 50 for g in along)
        mesh = thing("book", hand_size(body, hand))[0]
        closed = close_fingers(body, hand, inverse(along[0].T_thing_hand), mesh, along[0].open, along[0].shape)
        assert "thumb" in closed.touching and len(closed.touching) >= 4


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("name", ["cylinder", "box"])
def test_what_stands_is_taken_level_slanting_and_from_above(hand: str, name: str) -> None:
    _, grasps = proposed("woman", hand, name)
    thumb_up = [
        g for g in grasps if g.name.startswith("power") and (g.T_thing_hand @ grip_frame(person(), hand))[2, 2] > 0
    ]
    rises = np.degrees(np.arcsin([pointing(g)[2] for g in thumb_up]))
    assert np.any(np.abs(rises) < 5) and np.any(rises > 20) and np.any(rises < -20)
    # slanting ones are at the upper half
    high = [(g.T_thing_hand @ grip_frame(person(), hand))[2, 3] for g, r in zip(thumb_up, rises, strict=True) if r > 20]
    assert min(high) > 0.0
    assert any(g.approach[2] < -0.9 for g in grasps)


@pytest.mark.parametrize("name", ["cylinder", "box", "book", "ball"])
def test_grasps_differ(name: str) -> None:
    _, grasps = proposed("woman", "right", name)
    T = np.stack([g.T_thing_hand for g in grasps])
    turn = angle_between(from_matrix(T[:, None, :3, :3]), from_matrix(T[None, :, :3, :3]))
    away = turn / np.radians(30) + np.linalg.norm(T[:, None, :3, 3] - T[None, :, :3, 3], axis=2) / 0.05
    np.fill_diagonal(away, np.inf)
    assert away.min() > 0.5
    # hands come with their fingers pointing to all sides, least of all upwards
    ways = np.array([pointing(g) for g in grasps])
    sides = np.concatenate([np.eye(3), -np.eye(3)])
    assert np.all((ways @ sides.T).max(axis=0) > 0.45)


def test_what_suits_which_thing() -> None:
    assert "power" in styles(proposed("woman", "left", "ball")[1])
    assert styles(proposed("woman", "left", "cube")[1]) == {"pinch"}
    assert styles(proposed("woman", "left", "crate")[1]) == {"flat"}
    assert "hook" in styles(proposed("woman", "left", "handle")[1])
    ends = [g for g in proposed("woman", "left", "cylinder")[1] if g.name.startswith("pinch")]
    assert all(abs(g.approach[2]) > 0.9 for g in ends)


def test_a_small_hand_cannot_span_what_a_large_one_can() -> None:
    can = cylinder(0.05, 0.12)
    large = propose_grasps(person("gorilla"), "left", can)
    small = propose_grasps(person("child"), "left", can)
    assert any(g.name.startswith("power") for g in large)
    assert not any(g.name.startswith(("power", "pinch1")) and abs(g.approach[2]) < 0.5 for g in small)


def test_up_as_the_thing_lies_decides_which_is_best() -> None:
    mesh, _ = thing("book")
    for up in np.eye(3):
        best = propose_grasps(person(), "left", mesh, up=up)[0]
        assert best.approach @ up < 0.3  # never from below


def test_grasps_of_a_thing_in_a_world() -> None:
    mesh, frames = thing("handle")
    joint = Joint("slides", np.array([0.0, -1.0, 0.0]), (0.0, 0.3))
    T_grip = transform([-0.15, 0.0, 0.07])
    mark = GraspMark(hand="left", T_thing_grip=T_grip, width=0.04)
    world = (
        World()
        .with_character("ann", person())
        .with_object("jar", lathe(JAR), Still(transform([0.3, -0.4, 1.0])), grasps={"by the lid": mark})
        .with_fixture("drawer", Fixture.at(mesh, joint, transform([0, -0.5, 0.9]), frames=frames))
    )
    grasps = grasps_of(world, "ann", "left", "jar", 0.0)
    assert grasps[0].name == "by the lid" and len(grasps) > 10
    assert np.allclose(grasps[0].T_thing_hand @ grip_frame(person(), "left"), T_grip)
    assert np.allclose(grasps[0].approach, [1.0, 0.0, 0.0])  # palm first
    assert grasps_of(world, "ann", "right", "jar", 0.0)[0].name != "by the lid"
    assert {g.frame for g in grasps_of(world, "ann", "right", "drawer", 0.0)} == {"handle"}
    with pytest.raises(UnknownName, match="mug"):
        grasps_of(world, "ann", "left", "mug", 0.0)
    bare = person().with_(roles={r: j for r, j in person().roles.items() if not r.endswith("_hand")})
    assert grasps_of(World(objects=world.objects).with_character("bob", bare), "bob", "left", "jar", 0.0) == []


def test_nothing_is_proposed_for_nothing() -> None:
    empty = Mesh(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    assert propose_grasps(person(), "left", empty) == []


def test_proposals_are_the_same_each_time() -> None:
    mesh, _ = thing("blob4")
    again = Mesh(mesh.vertices, mesh.faces)
    one, other = (propose_grasps(person(), "right", m) for m in (mesh, again))
    assert [g.name for g in one] == [g.name for g in other]
    assert all(np.array_equal(a.T_thing_hand, b.T_thing_hand) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("shape", ["point", "flat"])
@pytest.mark.parametrize("out", [(0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.6, -0.8, 0.0)])
def test_fingertips_touch_a_spot(hand: str, shape: str, out: tuple[float, float, float]) -> None:
    x = np.array(out)
    y = np.cross([0.1, 0.2, 1.0], x) if abs(x[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    y = (y - (y @ x) * x) / np.linalg.norm(y - (y @ x) * x)
    spot = np.eye(4)
    spot[:3, :3], spot[:3, 3] = np.stack([x, y, np.cross(x, y)], axis=1), [0.2, -0.5, 1.1]
    # the surface is a thick board behind the spot
    board = box([0.04, 0.8, 0.8], [-0.02, 0.0, 0.0]).moved(spot)
    model = hand_model(person(), hand)
    scene = HandAtThing(model, board)
    grasps = press_target(person(), hand, spot, shape)
    assert len(grasps) >= 12 and all(np.allclose(g.approach, -x) for g in grasps)
    for grasp in grasps:
        scene.put_hand(model.places(grasp.open))
        scene.put_thing(inverse(grasp.T_thing_hand))
        gap = scene.gap(range(len(model.shapes)))
        assert gap < 0.002
        tip = next(f for f in model.fingers if f.name == ("index" if shape == "point" else "middle"))
        at = apply(grasp.T_thing_hand, model.tip(tip, grasp.open)[None])[0]
        assert np.linalg.norm(at - spot[:3, 3]) < 0.002
    # the first ones are of use: nothing but the tip is at the board
    scene.put_hand(model.places(grasps[0].open))
    scene.put_thing(inverse(grasps[0].T_thing_hand))
    assert scene.gap(range(len(model.shapes))) > -0.008
    assert grasps[0].shape.name == shape


def test_spots_must_make_sense() -> None:
    with pytest.raises(BadValue, match="finite"):
        press_target(person(), "left", np.full((4, 4), np.nan))
    with pytest.raises(BadValue, match="hand"):
        press_target(person(), "third", np.eye(4))
    assert press_target(person(), "left", np.eye(4))[0].shape is POINT


def test_marks_of_every_shape_can_be_taken() -> None:
    for shape in ("power", "pinch", "hook", "flat", "point"):
        mark = GraspMark(hand="right", T_thing_grip=np.eye(4), shape=shape)
        world = World().with_character("ann", person())
        world = world.with_object("thing", sphere(0.03), Still(np.eye(4)), grasps={"it": mark})
        grasp = grasps_of(world, "ann", "right", "thing", 0.0)[0]
        assert grasp.name == "it" and grasp.shape.name == shape


def test_a_mark_inside_of_the_thing_is_taken_from_outside() -> None:
    can = cylinder(0.035, 0.15)
    mark = GraspMark(hand="left", T_thing_grip=np.eye(4))
    world = World().with_character("ann", person()).with_object("can", can, Still(np.eye(4)), grasps={"it": mark})
    grasp = grasps_of(world, "ann", "left", "can", 0.0)[0]
    scene = HandAtThing(hand_model(person(), "left"), can)
    scene.put_hand(scene.model.places(grasp.open))
    every = range(len(scene.model.shapes))
    scene.put_thing(inverse(mark.T_thing_grip @ inverse(grip_frame(person(), "left"))))
    assert scene.gap(every) < -0.005
    scene.put_thing(inverse(grasp.T_thing_hand))
    assert 0.0 < scene.gap(every) < 0.002
    closed = close_fingers(person(), "left", inverse(grasp.T_thing_hand), can, grasp.open, grasp.shape)
    assert len(closed.touching) == 5


def test_forms_of_scanned_surfaces_need_not_be_closed() -> None:
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.035)
    half = np.asarray(ball.triangles_center)[:, 2] > -0.01
    assert propose_grasps(person(), "left", Mesh(ball.vertices, np.asarray(ball.faces)[half]))


def test_grasps_are_proposed_once_for_a_hand_and_a_mesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    first = propose_grasps(person(), "right", box((0.06, 0.08, 0.2)))

    def settled_again(*_: object, **__: object) -> list[Grasp]:
        raise AssertionError("these are on the disk")

    monkeypatch.setattr(grasps_module, "settled", settled_again)
    again = propose_grasps(person(), "right", box((0.06, 0.08, 0.2)))
    assert len(first) == len(again) > 8
    for a, b in zip(first, again, strict=True):
        assert (a.name, a.hand, a.cost, a.frame) == (b.name, b.hand, b.cost, b.frame)
        assert np.array_equal(a.T_thing_hand, b.T_thing_hand) and np.array_equal(a.approach, b.approach)
        assert np.array_equal(a.open.coordinates, b.open.coordinates) and a.shape.name == b.shape.name
    for body, mesh, up in (
        (person("child"), box((0.06, 0.08, 0.2)), (0.0, 0.0, 1.0)),
        (person(), box((0.06, 0.08, 0.21)), (0.0, 0.0, 1.0)),
        (person(), box((0.06, 0.08, 0.2)), (1.0, 0.0, 0.0)),
    ):
        with pytest.raises(AssertionError, match="on the disk"):
            propose_grasps(body, "right", mesh, up=up)


def test_both_hands_take_a_low_box_on_the_floor_from_above() -> None:
    body, low = preset("man"), box((0.4, 0.3, 0.13))
    T = transform([0.0, -0.5, 0.065])
    pairs = two_hand_grasps(body, low, T, np.array([0.0, -1.0, 0.0]))
    wrists = [
        min((T @ grasp.T_thing_hand @ inverse(body.hand(grasp.hand)[1]))[2, 3] for grasp in pair) for pair in pairs
    ]
    assert max(wrists) > 0.19  # with level fingers a wrist is hardly higher than the box, and the body folds up to it
