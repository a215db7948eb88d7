"""Fast validity agrees with the exact test, whatever a limb holds, follows or may touch."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.character.limits import sample_pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.finish.settle import between_free
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import FREE, HIT, UNCERTAIN, LimbCheck
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

ANN = human(skin=False)
ARM = ANN.chain("right_arm").joints
REST = np.tile(rot.IDENTITY, (3, 1))


def tip() -> float:
    """How far the right hand reaches to the right in the rest pose: x of its fingertips, metres."""
    exact = ExactWorld(World().with_character("ann", ANN)).place(0.0)
    return min(float(exact.placed.low[i, 0]) for i, p in enumerate(exact.parts) if p.kind == "body")


def arms(count: int, seed: int = 0, joints: tuple[int, ...] = ARM) -> np.ndarray:
    return sample_pose([ANN.limits[j] for j in joints], np.random.default_rng(seed), count)


def agree(check: LimbCheck, q: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Every answer against the exact test; returns how often each was given."""
    codes, true = check.batch(q, t), check.hits_batch(q, t)
    assert not np.any((codes == FREE) & true)
    assert not np.any((codes == HIT) & ~true)
    resolved = check.batch(q, t, resolve_uncertain=True)
    assert np.array_equal(resolved == FREE, codes == FREE)
    assert not np.any((resolved == HIT) & ~true)
    settled = check.free_batch(q, t)
    # where tables are lerped the exact test keeps their slack to spare
    assert not np.any(settled & true)
    assert np.mean(settled != ~true) < 0.002
    return np.bincount(resolved, minlength=3)


def test_free_hit_and_names() -> None:
    world = World(static={"wall": box((0.1, 2.0, 2.0), (-0.75, 0.0, 1.0))}).with_character("ann", ANN)
    check = LimbCheck(world, "ann", "right_arm")
    code, pairs = check.verdict(REST)
    assert code == HIT and pairs[0].a.startswith("ann.right_") and pairs[0].b == "wall"
    assert not check.free(REST)
    down = REST.copy()
    down[0] = rot.about([0, 1.0, 0], -1.2)
    assert check.verdict(down) == (FREE, ()) and check.free(down, exact=False)
    assert not between_free(check, np.stack([down, REST]), np.zeros(2), 0.02)
    assert between_free(check, np.stack([down, down]), np.zeros(2))


def test_a_thin_plate_on_the_way_is_met() -> None:
    world = World(static={"plate": box((0.3, 0.002, 0.3), (-0.8, -0.3, 1.4))}).with_character("ann", ANN)
    check = LimbCheck(world, "ann")
    front = REST.copy()
    front[0] = rot.about([0, 0, 1.0], 1.2)
    back = REST.copy()
    back[0] = rot.about([0, 0, 1.0], -0.3)
    assert check.free(front) and check.free(back)
    assert not between_free(check, np.stack([back, front]), np.zeros(2), 0.01)


def test_margin() -> None:
    wall = box((0.1, 2.0, 2.0), (tip() - 0.062, 0.0, 1.0))  # 12 mm from the fingertips
    world = World(static={"wall": wall}).with_character("ann", ANN)
    assert LimbCheck(world, "ann", margin=0.008).free(REST)
    assert not LimbCheck(world, "ann", margin=0.016).free(REST)
    wide = LimbCheck(world, "ann", margin=0.016)
    assert wide.hits(REST)
    assert wide.with_margin(0.008).free(REST) and not wide.with_margin(0.008).hits(REST)
    assert not wide.free(REST), "the one that was asked stays as it is"


def test_own_body_and_both_arms() -> None:
    world = World().with_character("ann", ANN)
    said = agree(LimbCheck(world, "ann"), q := arms(1500), np.zeros(len(q)))
    assert said[FREE] > 300 and said[HIT] > 300 and said[UNCERTAIN] < 60
    both = (*ANN.chain("left_arm").joints, *ARM)
    check = LimbCheck(world, "ann", ("left_arm", "right_arm"))
    assert check.joints == both
    said = agree(check, q := arms(1500, 1, both), np.zeros(len(q)))
    assert said[FREE] > 100 and said[HIT] > 300


def test_spine_and_arm_as_joint_numbers() -> None:
    joints = (*ANN.chain("spine").joints, *ARM)
    world = World(static={"wall": box((0.1, 2.0, 2.0), (-0.75, 0.0, 1.0))}).with_character("ann", ANN)
    said = agree(LimbCheck(world, "ann", joints), q := arms(600, 2, joints), np.zeros(len(q)))
    assert said[FREE] + said[HIT] > 500


def standing(frames: int, fps: float) -> Clip:
    still = np.tile(rot.IDENTITY, (frames, len(ANN.skeleton), 1))
    return Clip(ANN, fps, np.tile(ANN.skeleton.T_rest[0, :3, 3], (frames, 1)), still)


def fingers_that_curl() -> Clip:
    frames = 31
    still = standing(frames, 30.0)
    q = still.rotations.copy()
    for j in ANN.chain("right_fingers").joints:
        q[:, j] = rot.about([0, 1.0, 0], -np.linspace(0.0, 1.2, frames))
    return still.with_(rotations=q)


def test_fingers_follow_the_motion() -> None:
    world = World(static={"post": box((0.06, 0.06, 2.0), (-0.6, -0.35, 1.0))}).with_character(
        "ann", fingers_that_curl()
    )
    check = LimbCheck(world, "ann")
    q = arms(1200, 3)
    said = agree(check, q, np.random.default_rng(4).uniform(0.0, 1.0, len(q)))
    assert said[FREE] > 200 and said[HIT] > 200


def test_moving_things_between_rows() -> None:
    times = np.linspace(0.0, 2.0, 9)
    turn = rot.about([0, 0, 1.0], 3.0 * times)
    path = np.column_stack([-0.6 + 0.2 * np.sin(5 * times), -0.4 + 0 * times, 1.2 + 0.2 * np.cos(4 * times)])
    cross = merge([box((0.8, 0.05, 0.01)), box((0.05, 0.8, 0.01))])
    world = World().with_character("ann", ANN).with_object("cross", cross, Keyed(times, path, turn))
    check = LimbCheck(world, "ann", during=(0.0, 2.0), rate=60.0)
    q = arms(2500, 5)
    agree(check, q, np.random.default_rng(6).uniform(0.0, 2.0, len(q)))


def test_a_thing_that_jumps_is_left_to_the_exact_test() -> None:
    there, away = transform([-0.6, -0.1, 1.4]), transform([3.0, 0.0, 1.0])
    world = World().with_character("ann", ANN)
    world = world.with_object("ghost", box((0.2, 0.2, 0.2)), lambda t: there if t < 0.5021 else away)
    check = LimbCheck(world, "ann", during=(0.0, 1.0), rate=100.0)
    assert check.verdict(REST, 0.2)[0] == HIT
    for t, free in ((0.501, False), (0.5022, True), (0.509, True)):
        assert check.verdict(REST, t)[0] != (HIT if free else FREE)
        assert check.free(REST, t) == free
    assert check.free(REST, 0.7)


def test_what_a_hand_holds_goes_with_it() -> None:
    grip = transform([-0.08, 0.0, -0.05], rot.about([1.0, 0, 0], np.pi / 2))
    world = (
        World(static={"wall": box((4.0, 0.1, 2.4), (0.0, -0.75, 1.2))})
        .with_character("ann", standing(21, 10.0))
        .with_object("pole", box((0.03, 0.03, 1.6)), lambda t: transform([0.0, 2.0, 0.5]))
        .with_hold("pole", "ann", "right", (0.5, 1.5), grip)
    )
    check = LimbCheck(world, "ann", rate=50.0)
    assert check.free(REST, 0.2)
    pole = LimbCheck(world, "ann", during=(0.6, 1.4), rate=50.0)
    for seen in (check, pole):
        code, pairs = seen.verdict(REST, 1.0)
        assert code == HIT and pairs[0] == ("pole", "wall")
    rng = np.random.default_rng(8)
    q = arms(1500, 7)
    said = agree(check, q, rng.uniform(0.0, 2.0, len(q)))
    assert said[FREE] > 100 and said[HIT] > 300


def test_contacts_are_left_to_the_exact_test_and_kept() -> None:
    wall = box((0.1, 2.0, 2.0), (-1.0, 0.0, 1.0))
    near = World(static={"wall": wall.moved(transform([tip() + 0.95 + 0.003, 0.0, 0.0]))}).with_character("ann", ANN)
    assert not LimbCheck(near, "ann").free(REST)
    names = {p.a if p.b == "wall" else p.b for p in LimbCheck(near, "ann").verdict(REST)[1]}
    told = near
    for name in names:
        told = told.with_contact(Contact(name, "wall", (-1.0, 1.0), depth=0.01))
    check = LimbCheck(told, "ann")
    assert check.verdict(REST)[0] == UNCERTAIN and check.free(REST)
    shallow = tuple(Contact(n, "wall", (-1.0, 1.0), depth=0.001) for n in names)
    assert not LimbCheck(told.with_(contacts=shallow), "ann").free(REST)


def test_solids_that_overlap_inside_out_do_not_cancel() -> None:
    solid = box((0.6, 0.6, 0.6), (-0.6, 0.0, 1.4))
    inverted = Mesh(solid.vertices + [0.02, 0.01, 0.015], solid.faces[:, ::-1])
    world = World(static={"one": solid, "other": inverted}).with_character("ann", ANN)
    check = LimbCheck(world, "ann")
    assert check.verdict(REST)[0] == HIT and check.hits(REST)


def test_threads_do_not_meet() -> None:
    world = World(static={"wall": box((0.1, 2.0, 2.0), (-0.75, 0.0, 1.0))}).with_character("ann", ANN)
    check = LimbCheck(world, "ann")
    q = arms(600, 9)
    alone = check.free_batch(q, 0.0)
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(check.free_batch(q, 0.0))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(f, alone) for f in found)


def test_wrong_questions() -> None:
    clip = fingers_that_curl()
    check = LimbCheck(World().with_character("ann", clip), "ann")
    with pytest.raises(BadValue, match="outside the span"):
        check.free(REST, 5.0)
    with pytest.raises(BadValue, match="3 rotations"):
        check.free(REST[:2], 0.0)
    with pytest.raises(UnknownName):
        LimbCheck(World().with_character("ann", ANN), "ann", "tail")
    with pytest.raises(BadValue, match="root"):
        LimbCheck(World().with_character("ann", ANN), "ann", (0, 1))
