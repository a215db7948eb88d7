"""Motion of the SMPL family and joint positions: read, written back in the same form, damaged files refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadFile
from elbowroom.files.bvh import read_bvh
from elbowroom.files.joint_positions import read_joint_positions, write_joint_positions
from elbowroom.files.open import ImportHints, open_file
from elbowroom.files.save import save
from elbowroom.files.smpl import LAYOUTS, layout_skeleton
from elbowroom.geometry import rotations as rot
from elbowroom.locomotion.walk import walk

FRAMES = 41


def walked(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rotation vectors (T, J, 3) in SMPL's axes (Y up), pelvis (T, 3) and joint positions (T, J, 3) of a walk, Y up."""
    clip = walk(human(1.75, skin=False), seconds=1.0, fps=40.0)
    roles = [clip.character.skeleton.index(role) for _, _, role in LAYOUTS[count]]
    roles[22:25] = [clip.character.skeleton.index("head")] * 3 if count == 55 else roles[22:25]
    world = clip.world()[:, roles]
    q = layout_skeleton(count).local(rot.from_matrix(world[..., :3, :3]))
    y_up = lambda p: np.stack([p[..., 0], p[..., 2], -p[..., 1]], axis=-1)  # noqa: E731
    return y_up(rot.log(q)), y_up(clip.root), y_up(world[..., :3, 3])


def amass(path: Path, count: int, up: str = "Z", **changes) -> dict[str, np.ndarray]:
    """Write a file as AMASS has them; its arrays."""
    poses, trans, _ = walked(count)
    if up == "Z":  # the root's rotation leads from the model's axes to the world's
        tilt = rot.about([1.0, 0.0, 0.0], np.pi / 2)
        poses[:, 0] = rot.log(rot.multiply(tilt, rot.exp(poses[:, 0])))
        trans = rot.rotate(tilt, trans)
    arrays = {"poses": poses.reshape(len(poses), -1), "trans": trans, "betas": np.linspace(0.5, -0.5, 16)}
    arrays |= {"gender": np.array("female"), "mocap_framerate": np.array(40.0), "dmpls": np.zeros((len(poses), 8))}
    arrays |= changes
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    return arrays


@pytest.mark.parametrize(("count", "up"), [(22, "Z"), (24, "Y"), (52, "Z"), (55, "Z")])
def test_round_trip(tmp_path, count, up):
    arrays = amass(tmp_path / "walk.npz", count, up)
    opened = open_file(tmp_path / "walk.npz")
    clip = opened.clip()
    assert (opened.format, clip.fps, len(clip), clip.source.up) == ("SMPL", 40.0, FRAMES, up)
    # upright, walking to -Y, as the built-in person does
    head, toes, foot = (clip.positions()[:, clip.character.role(r)] for r in ("head", "left_toes", "left_foot"))
    assert np.all(head[:, 2] > 1.3) and np.mean(toes[:, 1] - foot[:, 1]) < -0.08
    assert abs(clip.positions()[..., 2].min()) < 0.05
    save([tmp_path / "back.npz"], opened.world())
    again = open_file(tmp_path / "back.npz")
    save([tmp_path / "again.npz"], again.world())
    for name in ("back.npz", "again.npz"):
        with np.load(tmp_path / name) as back:
            turns = rot.angle(
                rot.multiply(
                    rot.conjugate(rot.exp(arrays["poses"].reshape(FRAMES, -1, 3))),
                    rot.exp(back["poses"].reshape(FRAMES, -1, 3)),
                )
            )
            assert turns.max() < 1e-6 and np.allclose(back["trans"], arrays["trans"], atol=1e-9)
            assert str(back["gender"]) == "female" and back["dmpls"].shape == (FRAMES, 8)
            assert np.array_equal(back["betas"], arrays["betas"]) and float(back["mocap_framerate"]) == 40.0


def body_model(path: Path, **changes) -> np.ndarray:
    """Write a body model of 52 joints, each at a vertex, which grows with the first shape parameter; the joints."""
    skeleton = layout_skeleton(52, 1.6)
    at = skeleton.T_rest[:, :3, 3] - [0.0, 0.0, 0.3]
    joints = np.stack([at[:, 0], at[:, 2], -at[:, 1]], axis=1)
    corners = np.concatenate([joints, joints + [0.01, 0.0, 0.0], joints + [0.0, 0.0, 0.01]])
    arrays = {
        "v_template": corners,
        "J_regressor": np.eye(52, 3 * 52),
        "weights": np.tile(np.eye(52), (3, 1)),
        "f": np.arange(3 * 52).reshape(3, 52).T,
        "shapedirs": corners[..., None] * 0.1,
        "kintree_table": np.stack([skeleton.parents, np.arange(52)]),
    }
    np.savez(path, **(arrays | changes))
    return joints


@pytest.mark.parametrize("count", [22, 52])
def test_body_model(tmp_path, count):
    joints = body_model(tmp_path / "model.npz")
    arrays = amass(tmp_path / "walk.npz", count)
    opened = open_file(tmp_path / "walk.npz", ImportHints(body_model=tmp_path / "model.npz"))
    clip = opened.clip()
    shaped = joints * (1.0 + 0.1 * arrays["betas"][0])
    assert np.allclose(clip.root, arrays["trans"] + shaped[0], atol=1e-9)
    lengths = np.linalg.norm(clip.character.skeleton.offsets[1:], axis=1)
    parents = clip.character.skeleton.parents[1:]
    assert np.allclose(lengths, np.linalg.norm(shaped[1:count] - shaped[parents], axis=1), atol=1e-9)
    skin = clip.character.skin
    assert skin is not None and np.allclose(skin.posed(clip.world()[7])[:count], clip.positions()[7], atol=1e-6)
    save([tmp_path / "back.npz"], opened.world())
    with np.load(tmp_path / "back.npz") as back:
        assert np.allclose(back["trans"], arrays["trans"], atol=1e-9)


@pytest.mark.parametrize("up", ["Y", "Z"])
def test_joint_positions(tmp_path, up):
    _, _, points = walked(22)
    points = points if up == "Y" else np.stack([points[..., 0], -points[..., 2], points[..., 1]], axis=-1)
    np.save(tmp_path / "walk.npy", points.astype(np.float32))
    opened = open_file(tmp_path / "walk.npy")
    clip = opened.clip()
    assert (opened.format, clip.fps, len(clip), clip.source.up) == ("joint positions", 20.0, FRAMES, up)
    save([tmp_path / "back.npy"], opened.world())
    assert np.abs(np.load(tmp_path / "back.npy") - points).max() < 1e-3
    # knees bend about one axis, forwards: the shin turns about the thigh's own x axis
    knee = clip.rotations[:, clip.character.role("left_shin")]
    bent = rot.angle(knee) > 0.3
    axis = rot.normalize(rot.log(knee[bent]))
    assert (bent.sum() > 5 and np.all(axis[:, 0] > 0.98)) or np.all(axis[:, 0] < -0.98)


def test_positions_of_a_rig_without_neck_and_collars_are_read_again(tmp_path, data):
    clip = read_bvh(data / "mocap" / "cmu_bvh" / "02_01.bvh")
    neck, chest = (clip.character.role(role) for role in ("neck", "chest"))
    assert np.allclose(clip.positions()[:, neck], clip.positions()[:, chest])
    write_joint_positions(tmp_path / "walk.npy", clip)
    back = read_joint_positions(tmp_path / "walk.npy", fps=clip.fps)
    for role in ("left_hand", "right_hand", "left_foot", "right_foot", "head", "left_forearm", "chest"):
        ours, theirs = (c.positions()[:, c.character.role(role)] for c in (clip, back))
        assert np.abs(ours - theirs).max() < 1e-3, role


def test_positions_of_bones_that_change_are_followed_nearly(tmp_path):
    points = walked(22)[2] + np.random.default_rng(0).normal(0.0, 0.004, (FRAMES, 22, 3))
    np.save(tmp_path / "made.npy", points)
    opened = open_file(tmp_path / "made.npy")
    assert any("Bone lengths change" in note for note in opened.notes)
    save([tmp_path / "back.npy"], opened.world())
    assert np.linalg.norm(np.load(tmp_path / "back.npy") - points, axis=-1).mean() < 0.02


NAN = np.full((FRAMES, 3), np.nan)
BAD = {
    "no frames": ({"poses": np.zeros((0, 66)), "trans": np.zeros((0, 3))}, "0 frames"),
    "odd width": ({"poses": np.zeros((FRAMES, 65))}, "65 numbers per frame"),
    "not a number": ({"trans": NAN}, "not finite"),
    "other lengths": ({"trans": np.zeros((3, 3))}, "3 translations"),
    "infinite": ({"poses": np.full((FRAMES, 66), np.inf)}, "not finite"),
    "no rate": ({"mocap_framerate": np.array(0.0)}, "frames per second"),
    "objects": ({"poses": np.array([None, 1], dtype=object)}, "is not a table of numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_damaged_motion(tmp_path, case):
    changes, sentence = BAD[case]
    amass(tmp_path / "bad.npz", 22, **changes)
    with pytest.raises(BadFile, match=sentence) as caught:
        open_file(tmp_path / "bad.npz")
    assert str(caught.value).count("\n") == 0


def test_one_frame_and_no_betas(tmp_path):
    poses, trans, points = walked(22)
    np.savez(tmp_path / "one.npz", poses=poses[:1].reshape(1, -1), trans=trans[:1])
    np.save(tmp_path / "one.npy", points[:1])
    for name in ("one.npz", "one.npy"):
        assert len(open_file(tmp_path / name).clip()) == 1


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros((5, 263)), "263"),
        (np.zeros((5, 21, 3)), "expected positions"),
        (np.full((5, 22, 3), np.nan), "too large or not finite"),
        (np.zeros((5, 22, 3)), "at the same position as their parents"),
        (np.array([{}]), "object"),
    ],
)
def test_damaged_positions(tmp_path, array, sentence):
    np.save(tmp_path / "bad.npy", array, allow_pickle=True)
    with pytest.raises(BadFile, match=sentence):
        open_file(tmp_path / "bad.npy")


def test_truncated_positions(tmp_path):
    np.save(tmp_path / "cut.npy", walked(22)[2])
    whole = (tmp_path / "cut.npy").read_bytes()
    for size in (4, 60, len(whole) // 2):
        (tmp_path / "cut.npy").write_bytes(whole[:size])
        with pytest.raises(BadFile):
            open_file(tmp_path / "cut.npy")


def test_models_that_are_refused(tmp_path):
    amass(tmp_path / "walk.npz", 52)
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04.")
    with pytest.raises(BadFile, match="never opened"):
        open_file(tmp_path / "walk.npz", ImportHints(body_model=tmp_path / "model.pkl"))
    body_model(tmp_path / "model.npz", weights=np.zeros((3, 3)))
    with pytest.raises(BadFile, match="do not fit together"):
        open_file(tmp_path / "walk.npz", ImportHints(body_model=tmp_path / "model.npz"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"trans": None}, "neither a world of elbowroom nor motion of the SMPL family"),
        ({"trans": np.full((3, 3), 1e30)}, "expected metres"),
        ({"betas": np.zeros((2, 2, 2))}, "expected shape parameters"),
        ({"betas": np.full(10, 1e9)}, "expected shape parameters"),
        ({"mocap_framerate": np.array("fast")}, "expected frames per second"),
    ],
)
def test_unusable_arrays_get_one_sentence(tmp_path, change, sentence):
    whole = {"poses": np.zeros((3, 66)), "trans": np.zeros((3, 3)), "betas": np.zeros(10)}
    path = tmp_path / "motion.npz"
    np.savez(path, **{key: value for key, value in (whole | change).items() if value is not None})
    with pytest.raises(BadFile, match=sentence):
        open_file(path)
