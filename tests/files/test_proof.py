"""Files say what was proven of them, and read back as what was certified."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.hands import grip_frame
from elbowroom.character.human import human
from elbowroom.files.bvh import read_bvh
from elbowroom.files.glb_read import read_glb
from elbowroom.files.npz import read_npz
from elbowroom.files.save import save
from elbowroom.files.verify import read_played
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Source
from elbowroom.world.allowances import HELD
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Keyed
from elbowroom.world.played import played
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def strolling() -> World:
    """Somebody walks with a stick past a box and a ball."""
    world = World().with_character("ann", walk(human(), seconds=1.0))
    world = world.with_static("block", box([0.3, 0.3, 1.0], at=[1.2, -0.5, 0.5]))
    world = world.with_object("ball", box([0.1] * 3), Keyed.along([0.0, 0.7], [[2.0, 0.0, 1.0], [2.0, 1.0, 1.0]]))
    stick = box([0.014, 0.014, 0.014])
    return world.with_object("stick", stick, lambda t: transform([0.0, 3.0, 1.0])).with_hold(
        "stick", "ann", "right", None, grip_frame(world.body("ann"), "right")
    )


def test_npz_and_glb_carry_the_proof(strolling: World, tmp_path: Path) -> None:
    found = certify(strolling)
    assert found.free
    clip = tmp_path / "notes.txt"
    clip.write_text("from here")
    files = save([tmp_path / "a.npz", tmp_path / "a.glb"], strolling, certificate=found, seed=7, inputs=[clip])
    for file in files:
        on, proof = read_played(file)
        assert proof.status == "proven" and "scene" in proof.why
        assert proof.facts["seed"] == 7 and proof.facts["version"] and len(proof.facts["inputs"][0]["sha256"]) == 64
        assert proof.facts["caps_m"]["feet"] == 0.05 and proof.facts["floor_m"] == 0.0
        assert {(a.pair, round(a.depth_m, 9)) for a in proof.allowed} == {
            (a.pair, round(a.depth_m, 9)) for a in found.allowed
        }
        assert any(a.pair.b == "stick" and a.why == HELD and a.depth_m < 0.005 for a in proof.allowed)
        assert ("ann.chest", "ann.left_upper_arm") in proof.ignored
        assert len(on.times) == found.frames and on.fps == found.fps
    with np.load(files[0]) as arrays:
        assert len(arrays["ignored_pair"]) > 100 and json.loads(str(arrays["evidence"]))["status"] == "proven"


def test_what_was_not_certified_says_so(strolling: World, tmp_path: Path) -> None:
    (bare,) = save([tmp_path / "a.npz"], strolling)
    assert read_played(bare)[1].status == "unchecked"
    (other,) = save([tmp_path / "a.npz"], strolling, 24.0, certificate=certify(strolling))
    assert read_played(other)[1].why == "the check was of other frames"
    moved = strolling.with_static("block", box([0.3, 0.3, 1.0], at=[1.1, -0.5, 0.5]))
    (changed,) = save([tmp_path / "a.npz"], moved, certificate=certify(strolling))
    assert read_played(changed)[1].status == "unchecked"


def test_shapes_come_back_as_they_were_certified(strolling: World, tmp_path: Path) -> None:
    save([tmp_path / "a.glb"], strolling)
    again = read_glb(tmp_path / "a.glb").characters["ann"]
    body = strolling.body("ann")
    assert [s.name for s in again.shapes] == [s.name for s in body.shapes]
    for ours, theirs in zip(body.shapes, again.shapes, strict=True):
        np.testing.assert_allclose(ours.T_joint_shape, theirs.T_joint_shape)
        if ours.mesh is not None:
            np.testing.assert_allclose(ours.mesh.vertices, theirs.mesh.vertices)


def test_all_formats_have_the_frames_that_were_certified(strolling: World, tmp_path: Path) -> None:
    clip = strolling.motion("ann")
    led = clip.with_(source=Source(format="bvh", lead=1))
    world = World().with_character("ann", led)
    on = played(world, 30.0)
    npz, glb, bvh = save([tmp_path / f"a.{s}" for s in ("npz", "glb", "bvh")], world, 30.0)
    np.testing.assert_allclose(read_npz(npz).motion("ann").root, on.motion("ann").root)
    np.testing.assert_allclose(read_glb(glb).clips["motion"].root, on.motion("ann").root, atol=1e-6)
    again = read_bvh(bvh)
    assert len(again) == len(on.times) + 1, "BVH keeps the artificial frame"
    np.testing.assert_allclose(again.positions()[1:, 0], on.motion("ann").positions()[:, 0], atol=1e-5)
