"""NPZ keeps the contract: plain arrays under known names, and the same world back."""

from __future__ import annotations

import io
import time
import zipfile

import numpy as np
import pytest

from elbowroom.errors import BadFile
from elbowroom.files.npz import read_npz, write_npz
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World
from tools import small_worlds

PER_CHARACTER = {
    "joint_names", "parents", "offsets", "rest", "rotations", "root", "T_world_joint", "role_names", "role_joints",
    "shape_names", "shape_joint", "shape_kind", "shape_size", "T_joint_shape", "shape_own",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    world = small_worlds.world()
    path = tmp_path_factory.mktemp("npz") / "w.npz"
    write_npz(path, world, 60.0)
    return world, path


def test_arrays_have_the_names_and_shapes_of_the_contract(made):
    world, path = made
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    T, J = 61, 16
    assert arrays["times"].shape == (T,) and arrays["fps"] == 60.0 and arrays["floor"] == 0.0
    bob = {k.removeprefix("char/bob/"): v for k, v in arrays.items() if k.startswith("char/bob/")}
    assert set(bob) == PER_CHARACTER | {"mesh/3/vertices", "mesh/3/faces"}
    assert bob["rotations"].shape == (T, J, 4) and bob["root"].shape == (T, 3)
    assert bob["T_world_joint"].shape == (T, J, 4, 4) and bob["offsets"].shape == (J, 3)
    assert list(bob["shape_kind"]) == ["capsule", "sphere", "box", "mesh"]
    assert bob["shape_size"].shape == (4, 3) and bob["T_joint_shape"].shape == (4, 4, 4)
    assert list(bob["joint_names"]) == list(world.body("bob").skeleton.names)
    assert np.allclose(bob["T_world_joint"], world.characters["bob"].world(arrays["times"]))
    assert arrays["object/parcel/T_world_object"].shape == (T, 4, 4)
    assert arrays["static/table/faces"].shape == (12, 3)
    assert arrays["allowed_pair"].shape == (0, 2) and arrays["allowed_depth"].shape == (0,)
    assert arrays["allowed_during"].shape == (0, 2) and arrays["ignored_pair"].shape == (0, 2)
    assert not any(a.dtype.hasobject for a in arrays.values())


def test_forward_kinematics_of_the_arrays_alone(made):
    """Whoever trains on the file can rebuild every transform from offsets, parents, rotations and root."""
    _, path = made
    with np.load(path) as file:
        a = {k.removeprefix("char/ann/"): file[k] for k in file if k.startswith("char/ann/")}
    for t in (0, 33, 60):
        T = np.zeros((16, 4, 4))
        for j, p in enumerate(a["parents"]):
            w, x, y, z = a["rotations"][t, j]
            local = np.eye(4)
            local[:3, :3] = [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
            local[:3, 3] = a["root"][t] if p < 0 else a["offsets"][j]
            T[j] = local if p < 0 else T[p] @ local
        assert np.allclose(T, a["T_world_joint"][t], atol=1e-12)


def test_the_world_comes_back(made):
    world, path = made
    again = read_npz(path)
    assert list(again.characters) == ["ann", "bob"] and again.floor == 0.0
    for name, motion in again.characters.items():
        assert np.allclose(motion.positions(), world.characters[name].positions(motion.times), atol=1e-12)
        for a, b in zip(world.body(name).shapes, again.body(name).shapes, strict=True):
            assert (a.name, a.joint, a.kind) == (b.name, b.joint, b.kind)
            assert np.array_equal(a.size, b.size) and np.array_equal(a.T_joint_shape, b.T_joint_shape)
            assert (a.mesh is None) == (b.mesh is None)
    assert np.array_equal(again.static["table"].vertices, world.static["table"].vertices)
    for t in (0.0, 0.5, 1.0, 7.0):  # at frames, and held behind the end
        expected = world.objects["parcel"].path(min(t, 1.0))
        assert np.allclose(again.objects["parcel"].path(t), expected, atol=1e-9)
    between = again.objects["parcel"].path(0.508)
    assert np.allclose(between, world.objects["parcel"].path(0.508), atol=1e-3)
    assert np.allclose(between[:3, :3] @ between[:3, :3].T, np.eye(3), atol=1e-12)


def test_slashes_in_names_and_no_floor(tmp_path):
    table = small_worlds.world().static["table"]
    write_npz(tmp_path / "a.npz", World(static={"a/b": table, "a_b": table}, floor=None))
    again = read_npz(tmp_path / "a.npz")
    assert list(again.static) == ["a_b", "a_b.001"] and again.floor is None


def test_holds_and_contacts_come_back(tmp_path):
    world = small_worlds.world().with_hold("parcel", "ann", "right", (0.25, 0.75))
    world = world.with_contact(Contact("ann.left_foot", "floor", (0.0, 1.0), "support", depth=0.02))
    write_npz(tmp_path / "a.npz", world, 30.0)
    with np.load(tmp_path / "a.npz") as file:
        assert file["allowed_pair"].tolist() == [["ann.left_foot", "floor"]]
        assert file["allowed_depth"].tolist() == [0.02] and file["allowed_during"].tolist() == [[0.0, 1.0]]
        hold = {key: file[f"hold/0/{key}"].tolist() for key in ("object", "by", "hand", "during")}
        assert hold == {"object": "parcel", "by": "ann", "hand": "right", "during": [0.25, 0.75]}
    again = read_npz(tmp_path / "a.npz")
    assert again.contacts[0].covers("floor", "ann.left_foot") and again.contacts[0].depth == 0.02
    for t in (0.0, 0.2, 0.3, 0.5, 0.71, 0.8, 1.0):
        assert np.allclose(again.at(t).things["parcel"], world.at(t).things["parcel"], atol=2e-3)
    moved = again.at(0.5).things["parcel"] - small_worlds.world().at(0.5).things["parcel"]
    assert np.abs(moved).max() > 0.1  # it goes with the hand, not on its own way


def rewritten(path, tmp_path, **changes) -> str:
    """The file with arrays replaced (or dropped, for None); '__' stands for '/'."""
    with np.load(path) as file:
        arrays = dict(file)
    for key, value in changes.items():
        name = key.replace("__", "/")
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value
    np.savez(tmp_path / "x.npz", **arrays)
    return tmp_path / "x.npz"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"times": None}, "'times': is missing"),
        ({"fps": np.array(0.0)}, "1 / fps apart"),
        ({"char__ann__parents": np.zeros(16, int)}, "parent-first"),
        ({"char__ann__parents": np.arange(16.0)}, "has the type float64; expected integers"),
        ({"char__ann__root": np.full((61, 3), np.nan)}, "not finite"),
        ({"char__ann__rotations": np.zeros((5, 16, 4))}, "shape (5, 16, 4)"),
        ({"char__bob__shape_joint": np.array([0, 1, 2, 99])}, "unknown kinds or joints"),
        ({"static__table__faces": np.array([[0, 1, 900]])}, "uses vertex 900"),
        ({"object__parcel__T_world_object": np.zeros((61, 3, 4))}, "expected"),
        ({"object__parcel__T_world_object": np.zeros((61, 4, 4))}, "not rigid"),
        ({"times": np.zeros(61)}, "increasing times"),
        ({"times": np.array([{"a": 1}], dtype=object)}, "'times'"),
    ],
)
def test_bad_arrays_give_one_sentence(made, tmp_path, changes, sentence):
    with pytest.raises(BadFile) as caught:
        read_npz(rewritten(made[1], tmp_path, **changes))
    assert sentence in str(caught.value) and "\n" not in str(caught.value)


def test_a_header_that_claims_a_terabyte(made, tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**11,)})
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as file:
        file.writestr("times.npy", buffer.getvalue() + b"\0" * 80)
    start = time.process_time()
    with pytest.raises(BadFile, match="claims"):
        read_npz(tmp_path / "x.npz")
    assert time.process_time() - start < 1.0


def test_what_is_no_npz(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04 nothing of the kind")
    with pytest.raises(BadFile, match="is not an NPZ"):
        read_npz(tmp_path / "a.npz")
    with pytest.raises(BadFile, match="does not exist"):
        read_npz(tmp_path / "none.npz")


@pytest.mark.parametrize("how", ["header", "null bytes", "deflated"])
def test_damage_inside_of_an_array_is_told(tmp_path, how):
    """numpy reads a header as Python text, and damaged compressed bytes raise an error of their own."""
    raw = io.BytesIO()
    np.lib.format.write_array(raw, np.arange(3.0))
    content = raw.getvalue()
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED if how == "deflated" else 0) as file:
        if how != "deflated":
            content = content.replace(b"), }", b"),\x80 " if how == "header" else b"),\0\0")
        file.writestr("times.npy", content)
    if how == "deflated":
        whole = bytearray((tmp_path / "x.npz").read_bytes())
        at = whole.index(b"times.npy") + len("times.npy")
        whole[at : at + 40] = b"\xff" * 40
        (tmp_path / "x.npz").write_bytes(whole)
    with pytest.raises(BadFile, match=r"array 'times': cannot be read"):
        read_npz(tmp_path / "x.npz")
