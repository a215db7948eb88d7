"""Names of parts, and which pairs count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.files.open import open_file
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.shapes import Shape, capsule
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import never_ignored
from elbowroom.world.pairs import hand_of
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def ann() -> Character:
    return human()


def still(character: Character, x: float = 0.0) -> Clip:
    skeleton = character.skeleton
    root = np.tile(skeleton.offsets[0] + [x, 0.0, 0.0], (3, 1))
    return Clip(character, 1.0, root, np.tile(skeleton.rest, (3, 1, 1)))


def names(exact: ExactWorld) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in exact.pairs}


def test_roles() -> None:
    assert hand_of("left_hand") == hand_of("left_thumb2") == "left"
    assert hand_of("right_little3") == "right"
    assert hand_of("left_forearm") == hand_of("chest") == hand_of("left_toes") == ""
    for other in ("chest", "head", "left_thigh", "right_thigh", "right_upper_arm", "right_hand", "pelvis"):
        assert never_ignored("left_forearm", other)
        assert never_ignored(other, "left_index1")
    assert not never_ignored("left_forearm", "left_upper_arm")
    assert not never_ignored("left_hand", "left_forearm")
    assert not never_ignored("left_upper_arm", "chest")


def test_kin_of_the_built_in_person(ann: Character) -> None:
    exact = ExactWorld(World().with_character("ann", still(ann)))
    ignored = {frozenset(p) for p in exact.ignored}
    assert frozenset(("ann.left_upper_arm", "ann.chest")) in ignored
    assert frozenset(("ann.left_thigh", "ann.left_shin")) in ignored
    arms = ("forearm", "hand", "thumb", "index", "middle", "ring", "little")
    for pair in exact.ignored:
        if len({hand_of(name.removeprefix("ann.")) for name in pair} - {""}) == 1 and not any("arm" in n for n in pair):
            continue  # parts of one hand
        lower = [n for n in pair if any(part in n for part in arms)]
        assert not lower or all("arm" in n or "hand" in n or "thumb1" in n for n in pair), pair
    counted = names(exact)
    for part in ("chest", "head", "pelvis", "left_thigh", "right_upper_arm", "right_hand"):
        assert frozenset(("ann.left_forearm", f"ann.{part}")) in counted
        assert frozenset(("ann.left_index3", f"ann.{part}")) in counted
    assert frozenset(("ann.left_index1", "ann.left_thumb2")) not in counted
    assert frozenset(("ann.left_index1", "ann.left_hand")) not in counted
    assert frozenset(("ann.left_foot", "floor")) in counted
    assert not any("eye" in n for pair in counted for n in pair)


def test_the_rest_pose_of_the_built_in_person_is_free(ann: Character) -> None:
    hits = ExactWorld(World(floor=-1.0).with_character("ann", still(ann))).collisions(0.0)
    assert [h.pair for h in hits] == []


def test_a_forearm_that_overlaps_the_trunk_at_rest_still_counts(ann: Character) -> None:
    wide = capsule("left_forearm", ann.role("left_forearm"), [0.0, 0, 0], [-0.5, 0, 0], 0.08)
    shapes = (*(s for s in ann.shapes if s.name != "left_forearm"), wide)
    exact = ExactWorld(World(floor=None).with_character("ann", still(ann.with_(shapes=shapes))))
    assert ("ann.chest", "ann.left_forearm") in {h.pair for h in exact.collisions(0.0)}


def test_statics_and_still_things_never_meet(ann: Character) -> None:
    block = box([1.0, 1.0, 1.0])
    world = World().with_static("a", block).with_static("b", block)
    world = world.with_object("vase", block, Still(np.eye(4)))
    world = world.with_object("resting", block, Keyed.along([0.0, 1.0], [[0, 0, 0], [0, 0, 0]]))
    assert names(ExactWorld(world)) == set()
    world = world.with_object("ball", block, Keyed.along([0.0, 1.0], [[0, 0, 0], [0, 0, 1]]))
    others = ("a", "b", "vase", "resting", "floor")
    assert names(ExactWorld(world)) == {frozenset(("ball", other)) for other in others}
    assert frozenset(("ann.head", "vase")) in names(ExactWorld(world.with_character("ann", still(ann))))


def test_a_fixture_counts_when_it_moves(ann: Character) -> None:
    world = World(floor=None).with_character("ann", still(ann)).with_static("wall", box([1.0, 1.0, 1.0]))
    joint = Joint("slides", np.array([0.0, -1.0, 0.0]), (0.0, 0.4))
    drawer = Fixture.at(box([0.3, 0.3, 0.1]), joint, transform([2.0, 0.0, 1.0]), lambda t: 0.0)
    moving = Fixture.at(box([0.3, 0.3, 0.1]), joint, transform([2.0, 0.0, 1.0]), lambda t: 0.1 * t)
    assert frozenset(("drawer", "wall")) not in names(ExactWorld(world.with_fixture("drawer", drawer)))
    assert frozenset(("drawer", "wall")) in names(ExactWorld(world.with_fixture("drawer", moving)))
    assert frozenset(("drawer", "ann.left_hand")) in names(ExactWorld(world.with_fixture("drawer", drawer)))


def test_a_held_object_does_not_collide_with_its_hand_while_it_is_held(ann: Character) -> None:
    stick = box([0.3, 0.03, 0.03])
    world = World(floor=None).with_character("ann", still(ann)).with_static("post", box([0.1, 0.1, 3.0], at=(5, 5, 0)))
    hand = world.hand("ann", "left", 0.0)
    world = world.with_object("stick", stick, Still(transform(hand[:3, 3])))
    world = world.with_hold("stick", "ann", "left", (0.5, 1.5))
    exact = ExactWorld(world)
    touching = {h.pair for h in exact.collisions(1.0)}
    assert touching == {("ann.left_forearm", "stick")}, "only the hand and its fingers are let off"
    for t in (0.2, 1.8):
        assert ("ann.left_hand", "stick") in {h.pair for h in exact.collisions(t)}
    (k,) = exact.numbers("stick", "ann.left_hand")
    assert not exact.counts(k, 1.0)
    assert exact.counts(k, 1.8)
    assert exact.off[k] == ((0.5, 1.5),)
    assert not exact.counts(exact.numbers("stick", "ann.left_index2")[0], 1.0)
    assert exact.counts(exact.numbers("stick", "ann.right_hand")[0], 1.0)
    assert frozenset(("stick", "post")) in names(exact)


def test_two_people_meet_and_are_told_apart(ann: Character) -> None:
    apart = World().with_character("ann", still(ann)).with_character("bob", still(ann, 3.0))
    assert ExactWorld(apart).place(1.0).distance(("ann.head", "bob.head")).value == pytest.approx(2.8, abs=0.1)
    close = World(floor=-1.0).with_character("ann", still(ann)).with_character("bob", still(ann, 1.2))
    hits = ExactWorld(close).collisions(0.0)
    assert hits
    assert all({n.split(".")[0] for n in h.pair} == {"ann", "bob"} for h in hits)


def test_shapes_that_share_a_name_are_one_part_to_ask_for(ann: Character) -> None:
    head = ann.role("head")
    hat = Shape("head", head, "sphere", np.array([0.1, 0.0, 0.0]), transform([0.0, 0.0, 0.5]))
    world = World().with_character("ann", still(ann.with_(shapes=(*ann.shapes, hat))))
    world = world.with_static("lamp", box([0.1, 0.1, 0.1]), at=ann.skeleton.T_rest[head, :3, 3] + [0, 0, 0.7])
    exact = ExactWorld(world).place(0.0)
    assert len(exact.numbers("ann.head", "lamp")) == 2
    assert exact.distance(("ann.head", "lamp")).value == pytest.approx(0.05, abs=1e-6)


def test_boots_that_come_upon_the_shins_in_a_walk_do_not_count(ann: Character, data: Path) -> None:
    assert frozenset(("ann.left_shin", "ann.left_toes")) in names(ExactWorld(World().with_character("ann", still(ann))))
    porter = open_file(data / "characters" / "CesiumMan.glb").clip().character
    exact = ExactWorld(World().with_character("porter", still(porter)))
    assert {("porter.left_shin", "porter.left_toes"), ("porter.right_shin", "porter.right_toes")} <= set(exact.ignored)


def test_joints_without_shapes_are_no_step_between_kin() -> None:
    ann = human()
    bare = ann.with_(shapes=tuple(s for s in ann.shapes if "clavicle" not in s.name))
    exact = ExactWorld(World().with_character("ann", still(bare)))
    assert ("ann.chest", "ann.left_upper_arm") in exact.ignored


def test_empty_things_have_no_pairs(ann: Character) -> None:
    nothing = Mesh(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    world = World(floor=None).with_object("ghost", nothing, lambda t: transform([t, 0.0, 0.0]))
    world = world.with_static("wall", box([1.0, 1.0, 1.0]))
    assert not ExactWorld(world).pairs
    assert ExactWorld(world).free(0.0)
