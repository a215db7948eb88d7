"""Damaged glTF, mesh and NPZ files: one clear sentence or a result, never a traceback, never a long wait."""

from __future__ import annotations

import copy
import random
import time
from pathlib import Path

import pytest

from conftest import real_files
from elbowroom.errors import ElbowroomError
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.files.meshes import read_meshes
from elbowroom.files.npz import read_npz, write_npz
from elbowroom.world.world import World
from tools import small_worlds

SECONDS = 1.5  # of work for a single file; a whole rig with its shapes takes half of it
ODD = [-1, 0, 1, 7, 2**31, 10**9, 10**30, 1e308, 0.5, None, True, "", "VEC3", "nan", [], {}, [[]], [1e38] * 16, [0] * 4]


def attempt(read, path: Path, data: bytes, what: str) -> bool:
    """Whether the file was accepted; anything but the package's own error is a failure that names the damage."""
    path.write_bytes(data)
    start = time.process_time()
    try:
        read(path)
        good = True
    except ElbowroomError as error:
        assert "\n" not in str(error) and len(str(error)) < 600, what
        good = False
    except Exception as error:
        pytest.fail(f"{what}: {type(error).__name__}: {error}")
    assert time.process_time() - start < SECONDS, f"{what} took {time.process_time() - start:.1f} s"
    return good


def places(value, at=()):
    """Every place in a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*at, key)
        yield from places(inner, (*at, key))


def changed(document: dict, rng: random.Random) -> tuple[dict, str]:
    """The document with one to three values replaced or dropped."""
    document = copy.deepcopy(document)
    told = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        at = rng.choice(list(places(document)))
        holder = document
        for key in at[:-1]:
            holder = holder[key]
        if rng.random() < 0.2:
            del holder[at[-1]]
            told.append(f"{at} dropped")
        else:
            old = holder[at[-1]]
            holder[at[-1]] = (
                old + rng.choice([-1, 1, 100]) if type(old) is int and rng.random() < 0.4 else rng.choice(ODD)
            )
            told.append(f"{at} = {holder[at[-1]]!r}")
    return document, ", ".join(told)


def damaged(data: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Bytes flipped, cut, doubled or overwritten."""
    kind = rng.choice(["flip", "cut", "ones", "repeat"])
    at = rng.randrange(len(data))
    if kind == "cut":
        return data[:at], f"cut at {at}"
    if kind == "repeat":
        return data[:at] + data[at // 2 :], f"repeated from {at}"
    out = bytearray(data)
    if kind == "ones":  # NaN in floats, the largest index in integers
        out[at : at + 16] = b"\xff" * len(out[at : at + 16])
        return bytes(out), f"ones at {at}"
    for _ in range(rng.choice([1, 8, 64])):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out), f"flipped near {at}"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> bytes:
    """A GLB of our own, small enough for hundreds of reads."""
    path = tmp_path_factory.mktemp("fuzz") / "made.glb"
    person = small_worlds.moving(small_worlds.person(), frames=5)
    write_glb(path, World(characters={"ann": person}, static=small_worlds.world().static))
    return path.read_bytes()


def glb_sources(made: bytes) -> list[tuple[str, bytes, int]]:
    real = {p.name: p for p in real_files("characters/*.glb", "scenes/parts/quaternius_drawer.glb")}
    counts = {"RiggedFigure.glb": 30, "quaternius_drawer.glb": 60}
    return [("made", made, 30), *((n, p.read_bytes(), counts.get(n, 3)) for n, p in real.items())]


def test_changed_json_never_escapes(made, tmp_path):
    rng = random.Random(20)
    outcomes = []
    for name, data, count in glb_sources(made):
        document, binary = small_worlds.glb_parts(data)
        for k in range(count):
            other, told = changed(document, rng)
            outcomes.append(
                attempt(read_glb, tmp_path / "x.glb", small_worlds.glb_bytes(other, binary), f"{name} {k}: {told}")
            )
    assert 0 < sum(outcomes) < len(outcomes)  # the damage reaches the checks, yet not all of it matters


def test_damaged_bytes_never_escape(made, tmp_path):
    rng = random.Random(21)
    outcomes = []
    for name, data, count in glb_sources(made):
        for k in range(count):
            other, told = damaged(data, rng)
            outcomes.append(attempt(read_glb, tmp_path / "x.glb", other, f"{name} {k}: {told}"))
    assert 0 < sum(outcomes) < len(outcomes)


def test_noise_never_escapes(tmp_path):
    rng = random.Random(22)
    for k in range(20):
        noise = rng.randbytes(rng.choice([0, 1, 3, 12, 19, 20, 100, 5000]))
        for head in (b"", b"glTF\x02\0\0\0", b"{", b"ply\n", b"solid x\n", b"v 1 2 3\nf "):
            for suffix in (".glb", ".gltf", ".obj", ".stl", ".ply"):
                assert not attempt(read_meshes, tmp_path / f"x{suffix}", head + noise, f"noise {k} {head!r} {suffix}")


OBJ = b"o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1/1/1 2 4\ng b\nf -1 -2 -3\nf 1 2 3 4\n"
PLY = (
    b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n"
    b"property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n"
)
STL = b"\0" * 80 + (2).to_bytes(4, "little") + b"\0\0\x80?" * 25


def test_damaged_meshes_never_escape(tmp_path):
    rng = random.Random(23)
    real = [(p.suffix, p.read_bytes()) for p in real_files("scenes/hatchback.obj")]
    outcomes = []
    for suffix, data, count in [
        (".obj", OBJ, 150),
        (".ply", PLY, 150),
        (".stl", STL, 60),
        *((s, d, 30) for s, d in real),
    ]:
        for k in range(count):
            other, told = damaged(data, rng)
            outcomes.append(attempt(read_meshes, tmp_path / f"x{suffix}", other, f"{suffix} {k}: {told}"))
    assert 0 < sum(outcomes) < len(outcomes)


def test_damaged_npz_never_escapes(tmp_path):
    write_npz(tmp_path / "made.npz", small_worlds.world(frames=3), 30)
    data = (tmp_path / "made.npz").read_bytes()
    rng = random.Random(24)
    outcomes = []
    for k in range(40):
        other, told = damaged(data, rng)
        outcomes.append(attempt(read_npz, tmp_path / "x.npz", other, f"npz {k}: {told}"))
    assert 0 < sum(outcomes) < len(outcomes)
