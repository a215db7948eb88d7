"""Blender opens what is written, and has wrists and feet where we have them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from conftest import ROOT
from elbowroom.files.bvh import read_bvh
from elbowroom.files.fbx import read_fbx
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.motion.clip import Clip, still_clip
from elbowroom.motion.edit import without_lead
from elbowroom.world.world import World
from tools import small_worlds

ENDS = ("left_hand", "right_hand", "left_foot", "right_foot")


def blender(path: Path, fps: float, frames: list[int], *export: str) -> dict:
    """Bone heads, objects and skins of FBX as Blender places them; skips where there is no bpy."""
    python = os.environ.get("ELBOWROOM_BPY", "")
    if not Path(python).is_file():
        pytest.skip(
            "Blender is not here: pip install bpy in an environment of its own, name its python in ELBOWROOM_BPY"
        )
    script = ROOT / "tests" / "tools" / "blender_heads.py"
    command = [python, str(script), str(path), str(fps), *map(str, frames), *export]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def assert_same(clip: Clip, bones: dict, frames: list[int], fps: float, ends_only: bool = False) -> None:
    ours = clip.positions(clip.start + np.array(frames) / fps)
    chosen = {clip.character.roles[e] for e in ENDS if e in clip.character.roles}
    assert len(chosen) == 4 or not ends_only
    for j, name in enumerate(clip.character.skeleton.names):
        if not ends_only or j in chosen:
            off = np.linalg.norm(np.array(bones[name]) - ours[:, j], axis=1).max()
            assert off < 1e-3, f"{name} is {1000 * off:.1f} mm off"


def test_people_and_objects(tmp_path):
    world = small_worlds.world(frames=61)
    write_glb(tmp_path / "w.glb", world, 30)
    frames = list(range(0, 61, 10))
    seen = blender(tmp_path / "w.glb", 30, frames)
    for name in ("ann", "bob"):
        assert_same(world.characters[name], seen["bones"][name], frames, 30)
    parcel = [world.objects["parcel"].path(k / 30)[:3, 3] for k in frames]
    assert np.allclose(seen["objects"]["parcel"], parcel, atol=1e-3)
    moved = np.ptp(np.array(seen["bones"]["ann"]["LeftHand"]), axis=0).max()
    assert moved > 0.3  # Blender plays the motion rather than showing one pose


@pytest.mark.parametrize("name", ["cmu_bvh/02_01.bvh", "accad_bvh/Male1_A5_PickUpBox.bvh"])
def test_motion_capture(tmp_path, data, name):
    clip = read_bvh(data / "mocap" / name)
    write_glb(tmp_path / "walk.glb", World(characters={"ann": clip}), clip.fps)
    clip = without_lead(clip).with_(start=0.0)
    frames = list(range(0, len(clip), 10))
    seen = blender(tmp_path / "walk.glb", clip.fps, frames)
    assert_same(clip, seen["bones"]["ann"], frames, clip.fps, ends_only=True)


def test_a_character_of_another_program(tmp_path, data):
    (clip,) = read_glb(data / "characters" / "CesiumMan.glb").clips.values()
    write_glb(tmp_path / "man.glb", World(characters={"man": clip}), clip.fps)
    frames = list(range(0, len(clip), 10))
    assert_same(clip, blender(tmp_path / "man.glb", clip.fps, frames)["bones"]["man"], frames, clip.fps)


def assert_same_skin(clip: Clip, skins: dict, frames: list[int]) -> None:
    """The same vertices, in any order."""
    assert clip.character.skin is not None
    for k, frame in enumerate(frames):
        ours = clip.character.skin.posed(clip.character.skeleton.forward(clip.root[frame], clip.rotations[frame]))
        theirs = np.concatenate([places[k] for places in skins.values()])
        assert cKDTree(theirs).query(ours)[0].max() < 1e-3
        assert cKDTree(ours).query(theirs)[0].max() < 1e-3


def test_fbx_of_another_program(data):
    path = data / "characters" / "rocketbox_male_adult_01.fbx"
    seen = blender(path, 30, [0])
    clip = still_clip(next(iter(read_fbx(path).characters.values())))
    places = dict(zip(clip.character.skeleton.names, clip.positions()[0], strict=True))
    ((_, bones),) = seen["bones"].items()
    assert len(bones) == 80
    for name, (head,) in bones.items():
        assert np.linalg.norm(places[name] - head) < 1e-3, name
    assert_same_skin(clip, seen["skins"], [0])


@pytest.mark.parametrize("how", [{}, {"axis_up": "Z", "axis_forward": "Y", "add_leaf_bones": True}])
def test_fbx_that_blender_exports(tmp_path, data, how):
    path, frames = tmp_path / "man.fbx", [0, 10, 40]
    blender(data / "characters" / "CesiumMan.glb", 30, [], "--to", str(path), json.dumps(how))
    (clip,) = read_fbx(path).clips.values()
    seen = blender(path, 30, frames)
    ((_, bones),) = seen["bones"].items()
    assert_same(clip, bones, frames, 30)
    assert_same_skin(clip, seen["skins"], frames)
