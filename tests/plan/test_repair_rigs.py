"""Repair of real files of every kind: the hand of each runs into a small thing half way, and gets out of its way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.files.open import open_file
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.edit import cut, place, without_lead
from elbowroom.motion.quality import peak_jerk
from elbowroom.motion.retarget import retarget
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.repair.repair import repair
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

FILES = {
    "bvh": "mocap/cmu_bvh/07_01.bvh",
    "other bvh": "mocap/accad_bvh/Male1_B9_WalkToTurnLeft90.bvh",
    "amc": "mocap/cmu_asf_amc/16/16_22.amc",
    "glb": "characters/CesiumMan.glb",
    "rocketbox": "mocap/cmu_bvh/02_01.bvh",
}


def clip_of(data: Path, kind: str) -> Clip:
    path = data / FILES[kind]
    if not path.exists():
        pytest.skip(f"{FILES[kind]} is not here")
    clip = next(iter(open_file(path).clips.values()))
    if kind == "rocketbox":
        body = next(iter(open_file(data / "characters/rocketbox_male_adult_01.glb").characters.values()))
        clip = retarget(clip, body)
    return place(clip, lift=0.0)


@pytest.mark.parametrize("kind", FILES)
def test_any_rig_is_repaired(data: Path, kind: str) -> None:
    clip = clip_of(data, kind)
    real = without_lead(clip)
    t = float(np.mean(real.span))
    hand = clip.character.role("right_hand")
    elbow = clip.character.role("right_forearm")
    here = clip.positions([t])[0]
    end = here[hand] + 0.6 * (here[hand] - here[elbow]) / np.linalg.norm(here[hand] - here[elbow]) * 0.1
    world = World(floor=None).with_character("who", clip).with_static("thing", box((0.03, 0.03, 0.03), end))
    assert any("thing" in c.pair for c in certify(world).collisions)
    plan = repair(world)
    assert plan.found, plan.why
    after = plan.world.characters["who"]
    assert isinstance(after, Clip) and after.fps == clip.fps and len(after) == len(clip)
    assert after.character.joint_names == clip.character.joint_names
    changed = np.any(after.rotations != clip.rotations, axis=(1, 2))
    inside = np.zeros(len(clip), dtype=bool)
    for one in plan.edits:
        inside |= (clip.times >= one.during[0]) & (clip.times <= one.during[1])
    assert changed.any() and not (changed & ~inside).any()
    assert peak_jerk(without_lead(after)) <= max(2.0 * peak_jerk(real), 1500.0)


def test_body_faces_where_its_pelvis_does(data: Path) -> None:
    """The first joint of this rig stands still while the body turns about its pelvis."""
    path = data / "characters/rocketbox_male_adult_01.glb"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    body = next(iter(open_file(path).characters.values()))
    pelvis, q = body.role("pelvis"), np.array(body.skeleton.rest)
    assert pelvis > 0
    above = rot.from_matrix(body.T_rest[body.parents[pelvis], :3, :3])
    turn = rot.multiply(rot.conjugate(above), rot.multiply(rot.about(rot.UP, 0.5 * np.pi), above))
    q[pelvis] = rot.multiply(turn, q[pelvis])
    clip = Clip(body, 30.0, np.tile(body.skeleton.offsets[0], (2, 1)), np.tile(q, (2, 1, 1)))
    np.testing.assert_allclose(body.facing(clip.world()[0]), np.cross(rot.UP, body.front), atol=1e-6)


def test_knees_bent_into_themselves_are_unbent_over_planted_feet(data: Path) -> None:
    """A deep squat of a body with shapes of published girths, thighs up to 126 mm in the shins; 100 mm are allowed."""
    path = data / "mocap/cmu_bvh/69_70.bvh"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    clip = cut(place(next(iter(open_file(path).clips.values())), lift=0.0), 1.6, 4.6)
    rig = clip.character
    clip = clip.with_(character=rig.with_(shapes=fit_shapes(rig.skeleton, rig.roles)))
    world = World(floor=0.0).with_character("who", clip)
    assert any("thigh" in one.pair.a and "shin" in one.pair.b for one in certify(world).collisions)
    plan = repair(world)
    assert plan.found, plan.why
    assert any("body itself" in edit.reason for edit in plan.edits)
    new, on = plan.world.motion("who"), foot_contacts(clip)
    assert isinstance(new, Clip)
    assert (foot_slide(new, on, heights=clip) - foot_slide(clip, on)).max() < 1e-3
