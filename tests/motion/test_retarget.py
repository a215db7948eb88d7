"""Clips on characters of other proportions: same pose, feet on the floor, nothing slides, knees do not snap."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from motion_makers import odd_rig, person, planted, stepping, wild

from conftest import real_files
from elbowroom.character.body import Character
from elbowroom.character.human import preset
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.files.bvh import read_bvh
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts, steps
from elbowroom.motion.edit import place
from elbowroom.motion.retarget import jolts, plant_feet, retarget, without_jolts
from elbowroom.motion.retarget_pose import carry_over, is_finger, leg_length
from elbowroom.motion.soles import sole_points, soles
from elbowroom.motion.stance import foot_slide

WALKS = real_files(*(f"mocap/cmu_bvh/{name}.bvh" for name in ("02_01", "07_01", "07_12", "16_17")))
MODELS = real_files(*(f"characters/{name}.glb" for name in ("CesiumMan", "rocketbox_male_*", "quaternius_worker")))


@lru_cache
def walk(path: Path) -> Clip:
    return read_bvh(path)


@lru_cache
def model(path: Path) -> Character:
    return next(iter(read_glb(path).characters.values()))


def knees(clip: Clip) -> np.ndarray:
    """Flexion of both knees (T, 2), radians, without artificial frames."""
    p, roles = clip.positions()[clip.source.lead :], clip.character.roles
    out = []
    for side in ("left", "right"):
        hip, knee, ankle = (p[:, roles[f"{side}_{part}"]] for part in ("thigh", "shin", "foot"))
        u, v = rot.normalize(knee - hip), rot.normalize(ankle - knee)
        out.append(np.arctan2(np.linalg.norm(np.cross(u, v), axis=-1), np.sum(u * v, axis=-1)))
    return np.stack(out, axis=1)


def check_feet(original: Clip, made: Clip) -> None:
    """Planted feet slide less than 2 cm per step and stay within 1 cm of the floor; nothing sinks into it."""
    contacts = foot_contacts(original)
    assert len(steps(contacts)) >= 4
    assert foot_slide(made, contacts).max() < 0.02
    points = sole_points(made.character, made.world())[..., 2] - contacts.floor
    assert np.abs(points[contacts.on]).max() < 0.01
    assert points[original.source.lead :].min() > -0.01


def test_the_same_skeleton_gets_the_same_motion():
    clip = wild(person())
    made = retarget(clip, person())
    np.testing.assert_allclose(made.rotations, clip.rotations, atol=1e-12)
    np.testing.assert_array_equal(made.root, clip.root)


@pytest.mark.parametrize("character", [person(), odd_rig()], ids=lambda c: c.name)
def test_carrying_over_to_itself_is_the_identity(character):
    clip = wild(character, seed=2)
    carried = carry_over(clip, character, 0.0)
    np.testing.assert_allclose(carried.root, clip.root, atol=1e-9)
    assert rot.angle_between(carried.rotations, clip.rotations).max() < 1e-6
    assert carried.scale == pytest.approx(1.0) and carried.notes == ()


@pytest.mark.parametrize("seed", range(3))
def test_frames_of_the_rig_do_not_matter(seed):
    clip = wild(person(), seed=seed)
    # the odd rig has no skin, so only its soles are found otherwise; joints go the same ways
    made = retarget(clip, odd_rig(seed), plant=False)
    relative = clip.positions() - clip.positions()[:, :1]
    np.testing.assert_allclose(made.positions() - made.positions()[:, :1], relative, atol=1e-6)


def test_planting_feet_that_are_planted_changes_little():
    clip = stepping(person())
    made = plant_feet(clip, foot_contacts(clip))
    moved = np.linalg.norm(made.positions() - clip.positions(), axis=-1)
    for k, side in enumerate(("left", "right")):
        still = planted(clip)[:, k]
        assert moved[still, person().role(f"{side}_foot")].max() < 0.005
    assert moved.max() < 0.05 and np.linalg.norm(made.root - clip.root, axis=-1).max() < 0.01
    assert foot_slide(made, foot_contacts(clip)).max() < 0.005


@pytest.mark.parametrize("name", ["child", "clown", "gorilla"])
def test_stride_and_hips_scale_with_the_legs(name):
    clip, character = stepping(person()), preset(name)
    made = retarget(clip, character)
    scale = leg_length(character) / leg_length(person())
    way = np.linalg.norm((made.root[-1] - made.root[0])[:2])
    assert way == pytest.approx(scale * np.linalg.norm((clip.root[-1] - clip.root[0])[:2]), rel=0.02)
    np.testing.assert_allclose(made.root[0, :2], clip.root[0, :2], atol=0.05)
    check_feet(clip, made)


def test_an_a_pose_rest_gives_the_same_arms():
    """A rig that rests with lowered arms gets the directions of the limbs, not the turns from its own rest."""
    plain = person()
    skeleton = plain.skeleton
    rest = np.array(skeleton.rest)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        rest[plain.role(f"{side}_upper_arm")] = rot.about([0, 1.0, 0], sign * 0.9)
    lowered = skeleton.__class__(skeleton.names, skeleton.parents, skeleton.offsets, rest)
    a_pose = Character(name="a", skeleton=lowered, roles=plain.roles, shapes=plain.shapes)
    clip = wild(plain, seed=4)
    made = retarget(clip, a_pose, plant=False)
    for role in ("left_hand", "right_hand", "left_index3", "head", "left_foot"):
        j = plain.role(role)
        error = (made.positions()[:, j] - made.root) - (clip.positions()[:, j] - clip.root)
        assert np.abs(error).max() < 1e-6, role


def test_missing_parts_are_told_and_the_spine_shares_its_bend():
    plain = person()
    roles = {r: j for r, j in plain.roles.items() if r not in ("spine2", "left_clavicle") and "thumb" not in r}
    poorer = plain.with_(roles=roles, name="poorer")
    clip = wild(poorer, seed=6)
    made = retarget(clip.with_(character=poorer), odd_rig(), plant=False)
    notes = " ".join(made.source.notes)
    assert "spine2" in notes and "left_clavicle" in notes and "finger" in notes
    W = plain.skeleton.orientations(clip.rotations)
    turned = odd_rig().skeleton.orientations(made.rotations)
    turned = rot.multiply(turned, rot.conjugate(odd_rig().skeleton.orientations(odd_rig().skeleton.rest)))
    for role in ("spine1", "chest", "left_hand"):
        j = plain.role(role)
        assert rot.angle_between(W[:, j], turned[:, j]).max() < 1e-6
    low, middle, high = (turned[:, plain.role(r)] for r in ("spine1", "spine2", "chest"))
    np.testing.assert_allclose(rot.angle_between(low, middle), rot.angle_between(middle, high), atol=1e-6)


def test_fingers_that_were_not_recorded_hang_relaxed():
    plain = person()
    roles = {r: j for r, j in plain.roles.items() if not (is_finger(r) and "index" not in r)}
    mitten = plain.with_(roles=roles, name="mitten")
    made = retarget(wild(mitten), preset("man"), plant=False)
    assert any("relaxed" in note for note in made.source.notes)
    p = made.positions()[0]
    tips = {}
    for side in ("left", "right"):
        hand, knuckle, tip = (p[plain.role(f"{side}_{part}")] for part in ("hand", "middle1", "middle3"))
        bend = rot.angle(rot.arc(knuckle - hand, tip - knuckle))
        assert np.radians(25) < bend < np.radians(80), "neither stiff nor a fist"
        tips[side] = bend
    # the index does not stay stretched among the others
    middle, index = (made.rotations[:, plain.role(f"left_{f}2")] for f in ("middle", "index"))
    np.testing.assert_allclose(rot.angle(middle), rot.angle(index), atol=0.05)
    assert tips["left"] == pytest.approx(tips["right"], abs=0.1)


def test_a_root_above_the_pelvis_turns_with_the_body():
    plain = person()
    old = plain.skeleton
    for at in (old.offsets[0], np.zeros(3)):
        offsets = np.concatenate([[at], [old.offsets[0] - at], old.offsets[1:]])
        skeleton = Skeleton(("root", *old.names), [-1, 0, *(old.parents[1:] + 1)], offsets)
        roles = {role: j + 1 for role, j in plain.roles.items()}
        rooted = Character(name="rooted", skeleton=skeleton, roles=roles, shapes=())
        clip = wild(plain, seed=8)
        clip = place(clip, turn=2.0)
        made = retarget(clip, rooted, plant=False)
        relative = clip.positions() - clip.positions()[:, :1]
        np.testing.assert_allclose(made.positions()[:, 1:] - made.positions()[:, 1:2], relative, atol=1e-6)
        assert rot.angle_between(made.rotations[:, 0], clip.rotations[:, 0]).max() < 1e-6


def test_a_body_without_legs_is_moved_but_not_planted():
    plain = person()
    bust = plain.with_(roles={r: j for r, j in plain.roles.items() if "foot" not in r and "shin" not in r})
    made = retarget(wild(bust), odd_rig())
    assert any("not planted" in note for note in made.source.notes)
    assert np.all(np.isfinite(made.root))


def test_a_frame_that_leaps_is_put_back():
    clip = stepping(person())
    root = np.array(clip.root)
    root[200] += [0.02, 0.0, -0.03]
    assert jolts(clip).size == 0
    np.testing.assert_array_equal(jolts(clip.with_(root=root)), [200])
    mended, count = without_jolts(clip.with_(root=root))
    assert count == 1 and np.abs(mended.root - clip.root).max() < 1e-4
    made = retarget(clip.with_(root=root), preset("child"))
    assert any("jumped" in note for note in made.source.notes)


@pytest.mark.skipif(not WALKS, reason="recorded walks are not present")
@pytest.mark.parametrize("name", ["woman", "child", "clown", "gorilla"])
@pytest.mark.parametrize("path", WALKS, ids=lambda p: p.stem)
def test_a_recorded_walk_on_other_bodies(path, name):
    original = walk(path)
    made = retarget(original, preset(name))
    check_feet(original, made)
    assert len(made) == len(original) and made.source.lead == original.source.lead
    # knees: no faster than the recording's by half, and no jolt at the limit of what an eye can see in one
    # frame
    speed, limit = np.abs(np.diff(knees(made), axis=0)).max(), np.abs(np.diff(knees(original), axis=0)).max()
    assert speed < max(1.5 * limit, np.radians(6.0))
    jolts = np.abs(np.diff(knees(made), 2, axis=0))
    assert np.percentile(jolts, 99) < max(
        2.0 * np.percentile(np.abs(np.diff(knees(original), 2, axis=0)), 99), np.radians(4.0)
    )
    assert np.degrees(knees(made).max()) < np.degrees(knees(original).max()) + 20.0


@pytest.mark.skipif(not WALKS, reason="recorded walks are not present")
def test_without_planting_the_same_check_fails():
    original = walk(WALKS[0])
    with pytest.raises(AssertionError):
        check_feet(original, retarget(original, preset("clown"), plant=False))


@pytest.mark.skipif(not (WALKS and MODELS), reason="recorded walks or models are not present")
@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_a_recorded_walk_on_models_from_files(path):
    original, character = walk(WALKS[0]), model(path)
    made = retarget(original, character)
    check_feet(original, made)
    p, roles, original_p = made.positions(), character.roles, original.positions()
    for side in ("left", "right"):
        for above, below in (("thigh", "shin"), ("shin", "foot"), ("upper_arm", "forearm"), ("forearm", "hand")):
            ours = rot.normalize(p[:, roles[f"{side}_{below}"]] - p[:, roles[f"{side}_{above}"]])
            there = original.character.roles
            theirs = rot.normalize(original_p[:, there[f"{side}_{below}"]] - original_p[:, there[f"{side}_{above}"]])
            off = np.degrees(np.arccos(np.clip(np.sum(ours * theirs, axis=-1), -1, 1)))[1:]
            # arms point as recorded; legs give way to the floor
            assert off.max() < (1.0 if "arm" in above else 25.0), f"{side}_{above} is off by {off.max():.0f} degrees"


def test_legs_without_length_are_refused():
    body = person()
    flat = body.with_(skeleton=replace(body.skeleton, offsets=np.zeros_like(body.skeleton.offsets)))
    clip = Clip(flat, 30.0, np.zeros((2, 3)), np.tile(flat.skeleton.rest, (2, 1, 1)))
    with pytest.raises(BadValue, match="zero length"):
        retarget(clip, preset("child"))


def test_elbows_bend_about_their_own_axes(data):
    """CMU's elbows are hinges whose axes are not those of the built-in person at rest: on her they are hinges, too."""
    woman = preset("woman")
    made = retarget(walk(data / "mocap/cmu_bvh/02_01.bvh"), woman)
    for side in ("left", "right"):
        j = woman.role(f"{side}_forearm")
        flexion, off_axis, _ = np.degrees(woman.limits[j].coordinates(made.rotations[made.source.lead :, j])).T
        assert flexion.max() > 30.0
        assert np.abs(off_axis).max() < 1.0


def test_long_arms_stay_above_the_floor(data):
    clip = read_bvh(data / "mocap" / "accad_bvh" / "Male1_A5_PickUpBox.bvh")
    gorilla = preset("gorilla")
    sunk, made = (retarget(clip, gorilla, floor=0.0, plant=plant).positions()[..., 2].min() for plant in (False, True))
    assert sunk < -0.2 and made > -0.02


@pytest.mark.parametrize(("name", "walked"), [("woman", "16_17"), ("gorilla", "16_17"), ("gorilla", "07_01")])
def test_soles_stay_above_the_floor(data, name, walked):
    """Toes went 27 mm below the ground that heels and balls stand on, and those of a gorilla 48 mm."""
    clip = walk(data / f"mocap/cmu_bvh/{walked}.bvh")
    made = retarget(clip, preset(name))
    T = made.world()[made.source.lead :]
    for sole in soles(made.character):
        edge = np.concatenate([apply(T[:, sole.toes], sole.toe_outline), apply(T[:, sole.foot], sole.outline)], axis=1)
        assert foot_contacts(clip).floor - edge[..., 2].min() < 0.0045
