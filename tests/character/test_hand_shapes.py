"""Hand shapes: within the joints' ranges on every rig, mirrored, and shaped as their names say."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import DATA, real_files
from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import (
    FLAT,
    OPEN,
    PINCH,
    POINT,
    REST,
    SHAPES,
    HandShape,
    finger_joints,
    finger_roles,
    finger_rotations,
    hand_shape,
    mixed,
    pinch,
    power,
)
from elbowroom.character.hands import FINGERS, grip_frame, hand_size
from elbowroom.character.human import human, preset
from elbowroom.errors import BadValue, UnknownName
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry.rotations import Array

RIGS = real_files("characters/rocketbox*.glb", "characters/quaternius_worker.glb")


@pytest.fixture(scope="module")
def person() -> Character:
    return human(skin=False)


def positions(body: Character, hand: str, shape: HandShape) -> dict[str, Array]:
    """Where finger joints are as seen from the wrist, along the axes of the built-in person's rest pose."""
    q = np.array(body.skeleton.rest)
    q[list(finger_joints(body, hand))] = finger_rotations(body, hand, shape)
    T = body.transforms(body.skeleton.offsets[:1], q[None])[0]
    wrist = T[body.role(f"{hand}_hand"), :3, 3]
    return {role: T[body.role(role), :3, 3] - wrist for role in finger_roles(body, hand)}


def excess(body: Character, hand: str, shape: HandShape) -> float:
    q = finger_rotations(body, hand, shape)
    limits = [body.limits[j] for j in finger_joints(body, hand)]
    return max((float(limit.excess(r)) for limit, r in zip(limits, q, strict=True) if limit is not None), default=0.0)


@pytest.mark.parametrize("who", ["woman", "child", "gorilla"])
@pytest.mark.parametrize("hand", ["left", "right"])
def test_named_shapes_are_within_the_ranges(who: str, hand: str) -> None:
    body = preset(who, skin=False)
    assert len(finger_joints(body, hand)) == 15
    for shape in (*SHAPES.values(), *(power(w) for w in (0.0, 0.02, 0.05, 0.09)), pinch(0.05)):
        assert excess(body, hand, shape) < 1e-6, shape.name


def test_ranges_are_kept_when_a_shape_asks_for_more(person: Character) -> None:
    wild = HandShape("wild", np.full((5, 3, 3), 4.0))
    assert excess(person, "left", wild) < 1e-6
    free = finger_rotations(person, "left", REST)
    limit = person.limits[finger_joints(person, "left")[4]]
    assert limit is not None and limit.excess(limit.rotation([4.0, 0.0, 0.0])) > 1.0  # the check can fail
    assert np.abs(finger_rotations(person, "left", wild) - free).max() > 0.1


@pytest.mark.parametrize("shape", list(SHAPES.values()), ids=list(SHAPES))
def test_hands_are_mirror_images(person: Character, shape: HandShape) -> None:
    left, right = positions(person, "left", shape), positions(person, "right", shape)
    for role, at in left.items():
        assert np.allclose(right[role.replace("left", "right")], at * [-1.0, 1.0, 1.0], atol=1e-9)


def test_shapes_are_what_they_are_called(person: Character) -> None:
    reach = {name: positions(person, "left", shape) for name, shape in SHAPES.items()}
    for finger in FINGERS[1:]:
        tip = f"left_{finger}3"
        assert reach["flat"][tip][0] > reach["rest"][tip][0] > reach["power"][tip][0] > reach["fist"][tip][0]
        # bent towards the palm, which looks down, never backwards
        assert all(reach[name][tip][2] < 0.0 for name in SHAPES)
    assert reach["point"]["left_index3"][0] > reach["point"]["left_middle3"][0] + 0.06
    # the thumb is on its own side, and below the palm where it faces the fingers
    assert reach["flat"]["left_thumb3"][1] < reach["flat"]["left_index1"][1] - 0.02
    for name in ("pinch", "power", "open"):
        assert reach[name]["left_thumb3"][2] < -0.03


def test_power_opens_with_its_width(person: Character) -> None:
    def gap(width: float) -> float:
        at = positions(person, "left", power(width))
        return float(np.linalg.norm(at["left_thumb3"] - at["left_middle3"]))

    gaps = [gap(w) for w in np.linspace(0.02, 0.095, 12)]
    assert np.all(np.diff(gaps) > -1e-4)
    # joints of the last bones, which are half a finger's thickness each from what is held
    assert gaps[-1] > 0.08 > 0.03 > gaps[0] > 0.01


def test_pinch_brings_pads_as_far_apart_as_it_says(person: Character) -> None:
    def gap(width: float) -> float:
        at = positions(person, "left", pinch(width))
        return float(np.linalg.norm(at["left_thumb3"] - at["left_index3"]))

    # joints of the last bones, so the same offset for every width; pads are half a finger nearer each
    apart = [gap(w) for w in (0.0, 0.02, 0.04, 0.06, 0.08)]
    assert np.all(np.diff(apart) > 0.01)
    assert apart[-1] - apart[0] == pytest.approx(0.08, abs=0.025)


def test_mixed_goes_in_terms_from_one_to_the_other() -> None:
    assert np.array_equal(mixed(REST, FLAT, 0.0).coordinates, REST.coordinates)
    assert np.allclose(mixed(REST, FLAT, 1.0).coordinates, FLAT.coordinates)
    assert np.allclose(mixed(REST, FLAT, 0.25).coordinates, 0.75 * REST.coordinates + 0.25 * FLAT.coordinates)
    assert mixed(REST, FLAT, 0.25).name == "rest" and mixed(REST, FLAT, 0.75).name == "flat"


def test_shapes_by_name() -> None:
    assert hand_shape("pinch") is PINCH
    assert np.array_equal(hand_shape("power", 0.03).coordinates, power(0.03).coordinates)
    assert np.array_equal(hand_shape("pinch", 0.03).coordinates, pinch(0.03).coordinates)
    with pytest.raises(UnknownName, match="hand shape"):
        hand_shape("claw")
    with pytest.raises(BadValue, match="no width"):
        hand_shape("flat", 0.05)
    for width in (-0.01, np.nan, np.inf):
        with pytest.raises(BadValue, match="width"):
            power(width)
    with pytest.raises(BadValue, match="5 fingers"):
        HandShape("odd", np.full((5, 3, 3), np.nan))


def test_hands_without_fingers_have_no_rotations(person: Character) -> None:
    bare = person.with_(roles={r: j for r, j in person.roles.items() if not r.endswith(("1", "2", "3"))})
    assert finger_joints(bare, "left") == () and finger_rotations(bare, "left", REST).shape == (0, 4)
    handless = person.with_(roles={"pelvis": 0})
    assert finger_joints(handless, "right") == ()
    assert finger_joints(person, "tail") == ()
    assert 0.9 < hand_size(bare, "left") < 1.1


def test_a_finger_of_one_joint_bends_for_three(person: Character) -> None:
    # as CMU's hands: one joint for a whole finger, without limits
    roles = {r: j for r, j in person.roles.items() if not r.endswith(("2", "3")) or "spine" in r}
    limits = tuple(None if j in finger_joints(person, "left") else limit for j, limit in enumerate(person.limits))
    stiff = person.with_(roles=roles, limits=limits)
    assert finger_roles(stiff, "left") == tuple(f"left_{f}1" for f in FINGERS)
    tip = person.role("left_middle3")

    def height(shape: HandShape) -> float:
        q = np.array(stiff.skeleton.rest)
        q[list(finger_joints(stiff, "left"))] = finger_rotations(stiff, "left", shape)
        T = stiff.transforms(stiff.skeleton.offsets[:1], q[None])[0]
        return float(T[tip, 2, 3] - T[stiff.role("left_hand"), 2, 3])

    assert height(FLAT) > -0.02 > height(REST) > height(power(0.04))


@pytest.mark.parametrize("path", RIGS, ids=[p.stem for p in RIGS])
@pytest.mark.parametrize("hand", ["left", "right"])
def test_rigs_from_files_take_the_shapes(path: object, hand: str) -> None:
    body = next(iter(read_glb(path).characters.values()))  # type: ignore[arg-type]
    assert len(finger_joints(body, hand)) >= 14
    assert 0.5 < hand_size(body, hand) < 1.6

    def far(shape: HandShape, finger: str) -> float:
        return float(np.linalg.norm(positions(body, hand, shape)[f"{hand}_{finger}3"]))

    for shape in (*SHAPES.values(), OPEN):
        assert excess(body, hand, shape) < 1e-6
    assert far(FLAT, "middle") > far(REST, "middle") > far(SHAPES["fist"], "middle")
    assert far(POINT, "index") > 1.3 * far(POINT, "ring")
    # the last joints that thumb and index finger have come together
    ends = [next(r for r in reversed(finger_roles(body, hand)) if f in r) for f in ("thumb", "index")]
    met, apart = ([positions(body, hand, shape)[r] for r in ends] for shape in (PINCH, FLAT))
    assert np.linalg.norm(met[0] - met[1]) < 0.7 * np.linalg.norm(apart[0] - apart[1])


def test_rigs_from_files_without_fingers() -> None:
    path = DATA / "characters/CesiumMan.glb"
    if not path.is_file():
        pytest.skip("the folder with real files is not present")
    body = next(iter(read_glb(path).characters.values()))
    assert finger_rotations(body, "left", POINT).shape == (0, 4)


def test_the_grip_is_as_far_from_the_wrist_as_the_hand_is_large() -> None:
    reach = []
    for name in ("child", "woman", "gorilla"):
        body = preset(name, skin=False)
        for hand in ("left", "right"):
            knuckle = body.T_rest[body.roles[f"{hand}_middle1"], :3, 3] - body.T_rest[body.roles[f"{hand}_hand"], :3, 3]
            reach.append(np.linalg.norm(grip_frame(body, hand)[:3, 3]) / np.linalg.norm(knuckle))
    # the gorilla's hands are large for its height
    assert np.ptp(reach) < 0.05 and 0.9 < np.mean(reach) < 1.1
