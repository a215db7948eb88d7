"""Damaged BVH, ASF, AMC and C3D files: each is read or told in a sentence, quickly; nothing else escapes."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from person_bvh import person
from test_asf_amc import AMC, ASF
from test_c3d import make_c3d

from conftest import DATA
from elbowroom.errors import ElbowroomError
from elbowroom.files.asf_amc import read_amc, read_asf
from elbowroom.files.bvh import read_bvh
from elbowroom.files.c3d import read_c3d

CASES = 120  # per kind of file
SECONDS = 1.0  # for one file
NUMBERS = (b"0", b"1e6", b"-9999999", b"0.0001", b"180", b"-90", b"1e-300", b"7")
WORDS = (
    b"{|}|nan|-inf|1e999|-1|0|1000000000|JOINT|ROOT a|End Site|OFFSET|CHANNELS 6|MOTION|Frames:|:root|begin|end|root"
).split(b"|")


def mutated(raw: bytes, rng: np.random.Generator) -> bytes:
    """One to four kinds of damage: cut, flip, drop, repeat, move, put in a word or noise."""
    for _ in range(int(rng.integers(1, 5))):
        if not raw:
            return raw
        a, b = np.sort(rng.integers(0, len(raw) + 1, 2))
        b = min(b, a + int(rng.integers(1, 400)))
        match int(rng.integers(0, 10)):
            case 0:
                raw = raw[:a]
            case 1:
                out = bytearray(raw)
                for k in rng.integers(0, len(raw), int(rng.integers(1, 20))):
                    out[k] ^= 1 << int(rng.integers(0, 8))
                raw = bytes(out)
            case 2:
                raw = raw[:a] + raw[b:]
            case 3:
                raw = raw[:b] + raw[a:b] * int(rng.integers(1, 4)) + raw[b:]
            case 4:
                raw = raw[:a] + bytes(rng.integers(0, 256, int(rng.integers(1, 60))).astype(np.uint8)) + raw[a:]
            case 5:
                raw = raw[:a] + b" " + WORDS[int(rng.integers(0, len(WORDS)))] + b" " + raw[a:]
            case 6:
                lines = raw.split(b"\n")
                i, j = rng.integers(0, len(lines), 2)
                lines[i], lines[j] = lines[j], lines[i]
                raw = b"\n".join(lines)
            case _:
                # numbers that stay numbers: what they mean is what goes wrong
                words = re.split(rb"([ \n]+)", raw)
                for k in rng.integers(0, len(words), int(rng.integers(1, 40))):
                    if re.fullmatch(rb"-?[0-9.]+", words[k]):
                        words[k] = NUMBERS[int(rng.integers(0, len(NUMBERS)))]
                raw = b"".join(words)
    return raw


def hold(read: Callable[[Path], object], path: Path, raw: bytes, seeds: range) -> tuple[int, int]:
    """Read mutated copies; gives how many could be read and how many were told."""
    good = told = 0
    for seed in seeds:
        path.write_bytes(mutated(raw, np.random.default_rng(seed)))
        start = time.process_time()
        try:
            read(path)
            good += 1
        except ElbowroomError as error:
            text = str(error)
            assert text.endswith(".") and text.isprintable(), f"seed {seed}: {text!r}"
            told += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} of {path.name} escapes: {error!r}") from error
        assert time.process_time() - start < SECONDS, f"seed {seed} of {path.name} takes too long"
    return good, told


def real(name: str, most: int) -> bytes | None:
    path = DATA / "mocap" / name
    return path.read_bytes()[:most] if path.is_file() else None


def short_bvh(name: str, frames: int) -> bytes | None:
    """A real file with few frames, so that most damage falls on what matters."""
    raw = real(f"{name}.bvh", 10**7)
    if raw is None:
        return None
    head, _, motion = raw.partition(b"Frames:")
    rows = motion.split(b"\n")
    return head + b"Frames: %d\n" % frames + b"\n".join(rows[1 : 2 + frames]) + b"\n"


@pytest.mark.parametrize("name", ["made", "cmu_bvh/02_01", "accad_bvh/Male1_A5_PickUpBox"])
def test_damaged_bvh(tmp_path: Path, name: str) -> None:
    raw = person().encode() if name == "made" else short_bvh(name, 12)
    if raw is None:
        pytest.skip("the folder with real files is not present")
    read_bvh(_write(tmp_path / "whole.bvh", raw))
    good, told = hold(read_bvh, tmp_path / "any.bvh", raw, range(CASES))
    assert told > CASES // 3, "the damage must matter"
    assert good > 0, "and not always"


@pytest.mark.parametrize("name", ["made", "cmu_asf_amc/16/16"])
def test_damaged_asf(tmp_path: Path, name: str) -> None:
    raw = ASF.encode() if name == "made" else real(f"{name}.asf", 10**6)
    if raw is None:
        pytest.skip("the folder with real files is not present")
    good, told = hold(read_asf, tmp_path / "any.asf", raw, range(CASES))
    assert good > 0 and told > CASES // 3


@pytest.mark.parametrize("name", ["made", "cmu_asf_amc/16/16"])
def test_damaged_amc(tmp_path: Path, name: str) -> None:
    asf, amc = (ASF.encode(), AMC.encode()) if name == "made" else (real(f"{name}.asf", 10**6), _frames(name, 6))
    if asf is None or amc is None:
        pytest.skip("the folder with real files is not present")
    _write(tmp_path / "any.asf", asf)
    good, told = hold(read_amc, tmp_path / "any_01.amc", amc, range(CASES))
    assert good > 0 and told > CASES // 3


def _frames(name: str, count: int) -> bytes | None:
    raw = real(f"{name}_07.amc", 10**6)
    return None if raw is None else raw[: raw.index(b"\n%d\n" % (count + 1)) + 1]


@pytest.mark.parametrize(
    "name", ["intel", "dec", "mips", "c3d_variants/pc_int", "cmu_c3d/16_07", "accad_c3d/Female1_run"]
)
def test_damaged_c3d(tmp_path: Path, name: str) -> None:
    if "/" in name:
        raw = real(f"{name}.c3d", 10**7)
    else:
        raw = make_c3d(np.ones((3, 4, 3)), ["a:LFHD", "a:RFHD", "c", "d"], kind=name)
    if raw is None:
        pytest.skip("the folder with real files is not present")
    good, told = hold(read_c3d, tmp_path / "any.c3d", raw, range(CASES))
    assert good > 0 and told > 0


def test_every_cut_of_a_small_file_is_told(tmp_path: Path) -> None:
    """A file that ends anywhere before its last frame must not pass for a shorter one."""
    raw = person().encode()
    body = raw.rstrip()
    for k in range(0, len(body) - 2, max(len(body) // 60, 1)):
        path = _write(tmp_path / "cut.bvh", body[:k])
        with pytest.raises(ElbowroomError):
            read_bvh(path)


def _write(path: Path, raw: bytes) -> Path:
    path.write_bytes(raw)
    return path
