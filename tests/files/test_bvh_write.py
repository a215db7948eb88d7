"""Writing BVH: any rig keeps its joint positions, angles run on without jumps, all or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from person_bvh import CHANNELS, person

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile
from elbowroom.files.bvh import continuous_euler, read_bvh, write_bvh
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip


def _random_clip(seed: int, frames: int = 6) -> Clip:
    """A rig with rest rotations that are not identity, as GLB files have, in any poses."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    parents = [-1, *(int(rng.integers(0, k)) for k in range(1, n))]
    offsets = rng.normal(0.0, 0.3, (n, 3))
    rest = rot.normalize(rng.normal(size=(n, 4)))
    skeleton = Skeleton(tuple(f"j{k}" for k in range(n)), np.array(parents), offsets, rest)
    q = rot.normalize(rng.normal(size=(frames, n, 4)))
    return Clip(Character(name="any", skeleton=skeleton), 30.0, rng.normal(size=(frames, 3)), q)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_rigs_with_rest_rotations_keep_their_positions(tmp_path_factory, seed: int) -> None:
    clip = _random_clip(seed)
    path = tmp_path_factory.mktemp("rest") / "any.bvh"
    write_bvh(path, clip)
    again = read_bvh(path, units=0.01, up="Y")
    names = again.character.skeleton.names
    here = [names.index(n) for n in clip.character.skeleton.names]
    assert np.abs(again.positions()[:, here] - clip.positions()).max() < 1e-6
    # the zero pose of the file is the rest pose
    raw = Skeleton(names, again.character.skeleton.parents, again.character.skeleton.offsets)
    zero = raw.forward(clip.character.skeleton.offsets[0], np.tile(rot.IDENTITY, (len(names), 1)))[here, :3, 3]
    assert np.abs(zero - clip.character.skeleton.T_rest[:, :3, 3]).max() < 1e-6


@given(st.sampled_from(["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_euler_angles_are_continuous_and_right(order: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = rot.exp(rng.normal(0.0, 0.03, (200, 3)) + rng.normal(0.0, 0.1, 3))
    q = [rot.normalize(rng.normal(size=4))]
    for step in steps:
        q.append(rot.multiply(q[-1], step))
    angles = continuous_euler(order, np.array(q))
    assert rot.angle_between(rot.from_euler(order, angles), np.array(q)).max() < 1e-7
    # near a right middle angle the outer ones do turn fast; elsewhere no step may exceed the turn by much
    lock = np.abs(np.cos(angles[:, 1]))
    turn = rot.angle_between(np.array(q)[1:], np.array(q)[:-1])
    calm = np.minimum(lock[1:], lock[:-1]) > 0.5
    assert np.all(np.abs(np.diff(angles, axis=0)).max(axis=1)[calm] < 4.0 * turn[calm] + 1e-9)


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
@pytest.mark.parametrize("middle", [90.0, -90.0])
def test_euler_angles_hold_through_gimbal_lock(order: str, middle: float) -> None:
    first = np.linspace(-20.0, 40.0, 30)
    given_angles = np.radians(np.stack([first, np.full(30, middle), 0.0 * first + 10.0], axis=-1))
    given_angles[:5, 1] *= 0.9
    q = rot.from_euler(order, given_angles)
    angles = continuous_euler(order, q)
    assert rot.angle_between(rot.from_euler(order, angles), q).max() < 1e-6
    assert np.abs(np.diff(angles, axis=0)).max() < np.radians(75.0)
    assert np.ptp(angles[6:, 0]) < 1e-6  # the first is held, the last takes the turn


def test_full_turns_are_not_wrapped_back(tmp_path: Path) -> None:
    rows = [f"0 93 0 0 0 {20 * k} " + "0 " * (CHANNELS - 6) for k in range(40)]
    write_bvh(tmp_path / "spin.bvh", read_bvh(_person(tmp_path, person(rows))))
    data = (tmp_path / "spin.bvh").read_text().split("Frame Time:")[1].split("\n")[1:41]
    turn = np.array([float(line.split()[5]) for line in data])
    assert np.allclose(np.diff(turn), 20.0)


def test_nothing_is_left_when_writing_fails(tmp_path: Path) -> None:
    clip = read_bvh(_person(tmp_path, person()))
    with pytest.raises(BadFile):
        write_bvh(tmp_path / "no" / "such" / "folder.bvh", clip)
    assert [p.name for p in tmp_path.iterdir()] == ["person.bvh"]


def _person(folder: Path, text: str) -> Path:
    path = folder / "person.bvh"
    path.write_text(text)
    return path
