"""Small files that claim to be huge: one sentence within two seconds, and no memory taken for the claim."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from person_bvh import person

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.glb_write import write_glb
from elbowroom.files.open import open_file, read_scene
from elbowroom.files.save import save
from elbowroom.geometry.solids import box
from elbowroom.world.world import World
from tools import small_worlds

SECONDS = 2.0


def bomb(arrays: dict[str, tuple[int, ...]]) -> bytes:
    """An NPZ of zeros: a megabyte for every gigabyte that it unpacks to."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for key, shape in arrays.items():
            with file.open(f"{key}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array_header_2_0(member, {"descr": "<f8", "fortran_order": False, "shape": shape})
                for _ in range(int(np.prod(shape)) * 8 >> 20):
                    member.write(bytes(2**20))
    return out.getvalue()


def many_frames() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, times=np.arange(1_000_000.0), fps=np.array(30.0), floor=np.array(0.0))
    return out.getvalue()


def gltf(**parts: object) -> bytes:
    return json.dumps({"asset": {"version": "2.0"}, **parts}).encode()


HUGE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "compressed arrays": ("npz", lambda: bomb({"times": (40_000_000,)}), "claims 305 MB of arrays in"),
    "a million frames": ("npz", many_frames, "has 1,000,000 frames"),
    "frames of a BVH": ("bvh", lambda: person(count=10**9).encode(), "declares 1,000,000,000 frames"),
    "values of a glTF": ("gltf", lambda: b'{"a":[' + b"0," * 5_100_000 + b"0]}", "more than 5,000,000 values"),
    "nesting of a glTF": ("gltf", lambda: b'{"a":' + b"[" * 200_000, "nested too deeply"),
    "zeros of a glTF": (
        "gltf",
        lambda: gltf(
            accessors=[{"componentType": 5126, "count": 10**9, "type": "VEC3"}],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}}]}],
            nodes=[{"mesh": 0}],
        ),
        "has positions without data",
    ),
    "corners of an OBJ": ("obj", lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 1000000000\n", "out of bounds"),
    "vertices of a PLY": (
        "ply",
        lambda: b"ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\nend_header\n0\n",
        "claims 'element vertex 1000000000'",
    ),
    "triangles of an STL": (
        "stl",
        lambda: bytes(80) + (4_000_000_000).to_bytes(4, "little") + bytes(50),
        "claims 4000000000 triangles",
    ),
}


@pytest.mark.parametrize("what", HUGE)
def test_claims_are_told_before_they_are_believed(tmp_path: Path, what: str) -> None:
    suffix, made, said = HUGE[what]
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(made())
    start = time.process_time()
    with pytest.raises(BadFile, match=said):
        open_file(path)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("suffix", ["glb", "bvh", "npz"])
def test_rates_beyond_measure_are_refused(tmp_path: Path, suffix: str) -> None:
    world = World(characters={"ann": small_worlds.moving(small_worlds.person(skin=False), frames=3)})
    with pytest.raises(BadValue, match="more than 200,000 frames"):
        save([tmp_path / f"a.{suffix}"], world, fps=1e9)
    assert not list(tmp_path.iterdir())


def test_a_scene_in_centimetres_is_noticed(tmp_path: Path) -> None:
    """glTF is in metres by its own rule: what is larger than any place is told, and the option that mends it."""
    write_glb(tmp_path / "a.glb", World(static={"hall": box([1200.0, 900.0, 300.0])}))
    (note,) = [n for n in read_scene(tmp_path / "a.glb").notes if "Its size is" in n]
    assert "1.2e+03 x 900 x 300 m" in note and "(option: units 0.01)" in note
    told = read_scene(tmp_path / "a.glb", units=0.01)
    assert not [n for n in told.notes if "Its size is" in n] and np.ptp(told.static["hall"].bounds, axis=0).max() < 12.1
