"""Damaged files of every format: each is read or told in one sentence, quickly; nothing else escapes.

A sample of what `benchmarks/mutations.py` does by the hundred thousand.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from person_bvh import person

from conftest import DATA
from elbowroom.errors import BadFile, ElbowroomError
from elbowroom.files.bvh import read_bvh
from elbowroom.files.meshes import read_meshes
from tools.mutation_seeds import Seed, made_seeds, real_seeds

CASES = 30  # of each file that is made here
REAL_CASES = 3
SECONDS = 1.5  # of work for a single file

SEEDS = {seed.name: seed for seed in made_seeds()}
REAL = {seed.name: seed for seed in (real_seeds(DATA) if DATA.is_dir() else [])}


def outcomes(seed: Seed, folder: Path, cases: int) -> set[str]:
    """What came of the first cases of a file, each of which must be read or told, in time."""
    own = seed.prepared(folder)
    found = set()
    for number in range(cases):
        said, seconds = seed.attempt(number, own)
        assert said in ("read", "told"), f"{seed.name}, case {number}: {said}"
        assert seconds < SECONDS, f"{seed.name}, case {number} took {seconds:.1f} s"
        found.add(said)
    return found


@pytest.mark.parametrize("name", SEEDS)
def test_damage_never_escapes(tmp_path: Path, name: str) -> None:
    seed = SEEDS[name]
    own = seed.prepared(tmp_path)
    whole = own / f"whole_01{seed.suffix}"
    whole.write_bytes(seed.data)
    seed.read(whole)
    whole.unlink()
    assert "told" in outcomes(seed, tmp_path, CASES), "the damage reaches the checks"


def test_not_all_damage_matters(tmp_path: Path) -> None:
    """Damage that is always found at once would never reach what comes after the first checks."""
    found = [outcomes(SEEDS[name], tmp_path, CASES) for name in ("c3d intel", "obj", "stl text", "glb things")]
    assert all("read" in said for said in found)


@pytest.mark.parametrize("name", REAL)
def test_damage_to_real_files_never_escapes(tmp_path: Path, name: str) -> None:
    outcomes(REAL[name], tmp_path, REAL_CASES)


def test_what_escapes_is_noticed(tmp_path: Path) -> None:
    def fails(path: Path) -> None:
        raise IndexError("list index out of range")

    def babbles(path: Path) -> None:
        raise BadFile(path, "is\nodd")

    assert "IndexError: list index" in Seed("a", ".obj", b"v 1", SEEDS["obj"].kinds, read=fails).attempt(0, tmp_path)[0]
    assert "no sentence" in Seed("b", ".obj", b"v 1", SEEDS["obj"].kinds, read=babbles).attempt(0, tmp_path)[0]


def test_the_same_number_is_the_same_damage() -> None:
    again = {seed.name: seed for seed in made_seeds()}
    for name in ("bvh", "obj", "gltf file", "urdf"):
        assert [SEEDS[name].damaged(k) for k in range(9)] == [again[name].damaged(k) for k in range(9)]


def test_noise_never_escapes(tmp_path: Path) -> None:
    rng = random.Random(22)
    for _ in range(10):
        noise = rng.randbytes(rng.choice([0, 1, 3, 12, 19, 20, 100, 5000]))
        for head in (b"", b"glTF\x02\0\0\0", b"{", b"ply\n", b"solid x\n", b"v 1 2 3\nf "):
            for suffix in (".glb", ".gltf", ".obj", ".stl", ".ply"):
                path = tmp_path / f"x{suffix}"
                path.write_bytes(head + noise)
                with pytest.raises(ElbowroomError):
                    read_meshes(path)


def test_every_cut_of_a_small_file_is_told(tmp_path: Path) -> None:
    """A file that ends anywhere before its last frame must not pass for a shorter one."""
    body = person().encode().rstrip()
    path = tmp_path / "cut.bvh"
    for k in range(0, len(body) - 2, max(len(body) // 60, 1)):
        path.write_bytes(body[:k])
        with pytest.raises(ElbowroomError):
            read_bvh(path)
