"""Edits in NPZ and GLB: layers beside the motion, read back, and checked against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from test_glb_write import assert_clean

from elbowroom.character.human import human
from elbowroom.errors import BadFile
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.files.verify import read_played, verify
from elbowroom.geometry.rotations import about, multiply
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip, Source
from elbowroom.plan.prove import prove
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.edit import laid_in_turn
from elbowroom.plan.state.result import Plan
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.world import World
from tools import small_worlds


def planned(strength: float = 1.0, fps: float = 30.0) -> Plan:
    """Two edits of a small person: a forearm that turns for a while, and the whole body that is moved."""
    base = small_worlds.moving(small_worlds.person())
    base = base.with_(fps=fps, start=0.5)
    q, joint = np.array(base.rotations), base.character.role("right_forearm")
    rows = np.arange(5, 12)
    q[rows, joint] = multiply(q[rows, joint], about([1.0, 0.0, 0.0], 0.3))
    bent = base.with_(rotations=q)
    root = np.array(bent.root)
    root[8:20] += (0.05, 0.02, 0.0)
    after = bent.with_(root=root)
    at = [float(base.times[k]) for k in (5, 11, 8, 19)]
    first = laid_in_turn(
        [Edit("ann", "right_arm", "clear of post", (at[0], at[1]), "plan", 0.1, 0.2, 30, 4)], base, bent
    )
    second = laid_in_turn([Edit("ann", "whole body", "5 cm aside", (at[2], at[3]), "avoid")], bent, after)
    world = World().with_character("ann", after)
    return Plan("found", world, (*first, *second), base={"ann": base}).with_edits({1: strength})


def written(folder: Path, plan: Plan, suffix: str, fps: float | None = None) -> Path:
    path = folder / f"out{suffix}"
    save([path], plan.world, fps, certificate=certify(plan.world, fps), **plan.layers)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".glb"])
@pytest.mark.parametrize("strength", [1.0, 0.25])
def test_edits_come_back_and_make_the_motion(tmp_path: Path, suffix: str, strength: float) -> None:
    plan = planned(strength)
    path = written(tmp_path, plan, suffix)
    found = open_file(path).edited
    start = 0.5 if suffix == ".glb" else 0.0  # a GLB begins at 0
    for ours, theirs in zip(plan.edits, found.edits, strict=True):
        assert (theirs.who, theirs.limb, theirs.reason, theirs.tier) == (ours.who, ours.limb, ours.reason, ours.tier)
        assert theirs.layer.joints == ours.layer.joints and theirs.strength == ours.strength
        assert theirs.during == pytest.approx([t - start for t in ours.during])
        assert theirs.layer.during == pytest.approx([t - start for t in ours.layer.during])
        assert np.allclose(np.abs(theirs.layer.rotations), np.abs(ours.layer.rotations), atol=1e-6)
        assert (theirs.layer.root is None) == (ours.layer.root is None)
    assert (found.edits[0].checks, found.edits[0].nodes) == (30, 4)
    on, _ = read_played(path)
    assert found.off(on) < (1e-6 if suffix == ".glb" else 1e-12)
    assert np.allclose(found.base["ann"].root, plan.base["ann"].root, atol=1e-6)
    checked = verify(path)
    assert checked.whole and len(checked.edits) == 2 and checked.facts()["edits"][1]["what"] == "5 cm aside"


def test_files_of_another_rate_have_the_edits_on_their_frames(tmp_path: Path) -> None:
    for suffix in (".npz", ".glb"):
        path = written(tmp_path, planned(), suffix, 47.0)
        found, (on, _) = open_file(path).edited, read_played(path)
        assert found.base["ann"].fps == 47.0 and found.off(on) < 1e-6


def test_the_motion_of_a_glb_is_its_first_animation_and_layers_have_their_own_channels_alone(tmp_path: Path) -> None:
    path = written(tmp_path, planned(), ".glb")
    gltf = pygltflib.GLTF2().load(str(path))
    names = [animation.name for animation in gltf.animations]
    assert names == ["motion", "ann: base", "ann: edit 1 right_arm clear of post", "ann: edit 2 whole body 5 cm aside"]
    targets = [{(gltf.nodes[c.target.node].name, c.target.path) for c in a.channels} for a in gltf.animations]
    assert targets[2] == {("RightForeArm", "rotation")} and {path for _, path in targets[3]} == {"translation"}
    times = gltf.accessors[gltf.animations[2].samplers[0].input]
    assert times.min == [pytest.approx(5 / 30)] and times.max == [pytest.approx(11 / 30)]
    opened = open_file(path)
    assert list(opened.clips) == ["motion"], "layers are no motions"
    motion, ours = opened.world().motion("ann"), planned().world.motion("ann")
    assert isinstance(motion, Clip) and isinstance(ours, Clip) and np.allclose(motion.root, ours.root, atol=1e-6)
    assert_clean(path)


def test_verify_tells_edits_that_do_not_make_the_motion(tmp_path: Path) -> None:
    plan = planned()
    other = replace(plan.edits[0], layer=replace(plan.edits[0].layer, weight=0.5))
    save(
        [tmp_path / "a.npz"], plan.world, certificate=certify(plan.world), base=plan.base, edits=[other, plan.edits[1]]
    )
    found = verify(tmp_path / "a.npz")
    assert found.certificate.free and not found.whole and not found.good and found.edits_off > 0.05


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("edit/0/joints", np.array([999], np.int32), "does not have"),
        ("edit/0/first", np.array(10_000), "frames of its base"),
        ("edit/0/facts", np.array("{"), "not JSON"),
        ("edit/0/facts", np.array('{"who": ["ann"]}'), "lacks its character"),
        ("edit/0/facts", np.array('{"who": ["bob"]}'), "lacks its character"),
        ("base/ann/root", np.zeros((3, 3)), "shape"),
    ],
)
def test_damaged_edits_are_refused_in_a_sentence(tmp_path: Path, key: str, value: np.ndarray, told: str) -> None:
    path = written(tmp_path, planned(), ".npz")
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, key: value})
    with pytest.raises(BadFile, match=told):
        open_file(path)


def test_names_with_a_slash_are_plain_in_npz(tmp_path: Path) -> None:
    plan = planned()
    world = World().with_character("a/n", plan.world.motion("ann"))
    edits = [replace(edit, who="a/n") for edit in plan.edits]
    save([tmp_path / "a.npz"], world, base={"a/n": plan.base["ann"]}, edits=edits)
    assert [edit.who for edit in open_file(tmp_path / "a.npz").edited.edits] == ["a_n", "a_n"]


def test_a_repair_whose_edits_have_contacts_is_saved_as_proven(tmp_path: Path) -> None:
    """Contacts that come with edits are part of the proof, and not of the world that is saved."""
    clip = walk(human(), seconds=1.0)
    world = World().with_character("ann", clip.with_(source=Source(format="BVH")))
    hand = clip.positions([0.5])[0, clip.character.role("left_hand")]
    plan = repair(world.with_static("post", box([0.04, 0.04, 0.04], hand)), "ann")
    assert plan.found
    edits = [replace(e, contacts=(Contact("ann", "post", (0.0, 1.0), "touch", 0.001, "a test"),)) for e in plan.edits]
    proved = prove(plan.with_(edits=tuple(edits)))
    assert proved.found and proved.certificate is not None
    for path in save([tmp_path / "a.npz", tmp_path / "a.glb"], proved.world, certificate=proved.certificate):
        assert read_played(path)[1].status == "proven"
