"""C3D markers: four ways of storage, labels, gaps, damage; and against another reader."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import real_files
from elbowroom.character.markers import MARKERS
from elbowroom.errors import BadFile, UnknownName
from elbowroom.files.c3d import Markers, Processor, read_c3d

ALL = real_files("mocap/*c3d*/*.c3d")


@pytest.mark.parametrize("path", [p for p in ALL if "variants" not in p.parent.name], ids=lambda p: p.stem)
def test_real_files_hold_people(path: Path) -> None:
    markers = read_c3d(path)
    assert markers.known == MARKERS and not markers.absent
    assert len(markers.labels) == (330 if path.stem == "16_07" else 41)
    assert markers.fps == 120.0
    assert 0.8 < np.nanpercentile(markers.track("LFWT")[:, 2], 75) < 1.2
    assert np.nanpercentile(markers.track("LFHD")[:, 2], 95) > 1.4
    assert -0.02 < np.nanpercentile(markers.track("LTOE")[:, 2], 20) < 0.1
    # a person's markers are within arm's reach of the waist
    waist = markers.track("LFWT")
    for label in MARKERS:
        assert np.nanmax(np.linalg.norm(markers.track(label) - waist, axis=-1)) < 1.6, label


@pytest.mark.parametrize("path", ALL[::6] + [p for p in ALL if p.stem in ("16_07", "07_12")], ids=lambda p: p.stem)
def test_numbers_equal_those_of_another_reader(path: Path) -> None:
    ezc3d = pytest.importorskip("ezc3d")
    ours = read_c3d(path)
    theirs = ezc3d.c3d(str(path))
    parameters = theirs["parameters"]["POINT"]
    xyz = theirs["data"]["points"][:3].transpose(2, 1, 0) * 0.001
    labels = [*parameters["LABELS"]["value"], *parameters.get("LABELS2", {"value": []})["value"]]
    xyz[~xyz.any(axis=-1)] = np.nan  # 07_12 marks some gaps so
    shared = 0
    for k, label in enumerate(labels[: xyz.shape[1]]):
        bare = label.rpartition(":")[2].strip()
        if bare in ours.labels:
            shared += 1
            assert np.allclose(ours.track(bare), xyz[:, k], atol=1e-9, equal_nan=True)
    assert shared == len(ours.labels)
    assert ours.fps == parameters["RATE"]["value"][0]
    assert ours.first_frame == theirs["header"]["points"]["first_frame"] + 1


def test_all_ways_of_storage_give_the_same_numbers(data: Path) -> None:
    clips = [read_c3d(p) for p in sorted((data / "mocap/c3d_variants").glob("*.c3d"))]
    assert len(clips) == 4
    for other in clips[1:]:
        assert other.labels == clips[0].labels and other.fps == clips[0].fps == 50.0
        assert np.array_equal(np.isnan(other.points), np.isnan(clips[0].points))
        assert np.nanmax(np.abs(other.points - clips[0].points)) < 0.0005  # integers are rounded


def test_leftovers_are_left_out_and_told(data: Path) -> None:
    for path, leftover in (("cmu_c3d/07_12", "RWRB-1"), ("accad_c3d/Male1_walk", "LFRM-1")):
        markers = read_c3d(data / f"mocap/{path}.c3d")
        assert leftover not in markers.labels
        assert any(leftover in n for n in markers.notes)
    assert read_c3d(data / "mocap/cmu_c3d/07_01.c3d").first_frame == 235


# --- made by hand


def make_c3d(
    points: np.ndarray,
    labels: list[str],
    *,
    kind: str = "intel",
    as_float: bool = True,
    units: str = "mm",
    rate: float = 60.0,
    first: int = 1,
) -> bytes:
    """The bytes of a C3D file. points (T, M, 3) in file units, NaN where not seen."""
    end = ">" if kind == "mips" else "<"

    def float_bytes(value: float) -> bytes:
        if kind != "dec":
            return struct.pack(f"{end}f", value)
        raw = struct.pack("<f", 4.0 * value)
        return raw[2:] + raw[:2]

    def word(value: int) -> bytes:
        return struct.pack(f"{end}H", value & 0xFFFF)

    scale = -1.0 if as_float else 0.1
    count, width = points.shape[:2]

    def entry(group: int, name: str, data: bytes) -> bytes:
        return bytes([len(name)]) + struct.pack("b", group) + name.encode() + word(2 + len(data)) + data

    longest = max(map(len, labels))
    table = "".join(label.ljust(longest) for label in labels).encode()
    section = entry(-1, "POINT", b"\0")
    section += entry(1, "USED", struct.pack("bb", 2, 0) + word(width) + b"\0")
    section += entry(1, "SCALE", struct.pack("bb", 4, 0) + float_bytes(scale) + b"\0")
    section += entry(1, "RATE", struct.pack("bb", 4, 0) + float_bytes(rate) + b"\0")
    section += entry(1, "UNITS", struct.pack("bbb", -1, 1, len(units)) + units.encode() + b"\0")
    section += entry(1, "LABELS", struct.pack("bbBB", -1, 2, longest, width) + table + b"\0")
    section = bytes([1, 80, 0, {"intel": 84, "dec": 85, "mips": 86}[kind]]) + section + b"\0\0"
    blocks = -(-len(section) // 512)
    section = section.ljust(512 * blocks, b"\0")
    header = bytes([2, 80]) + word(width) + word(0) + word(first) + word(first + count - 1) + word(0)
    header += float_bytes(scale) + word(2 + blocks) + word(0) + float_bytes(rate)
    body = b""
    for row in points:
        for p in row:
            seen = bool(np.all(np.isfinite(p)))
            values = p if seen else np.zeros(3)
            if as_float:
                body += b"".join(map(float_bytes, [*values, 0.0 if seen else -1.0]))
            else:
                body += b"".join(word(round(v / scale)) for v in values) + word(0 if seen else -1)
    return header.ljust(512, b"\0") + section + body


@given(
    st.sampled_from(["intel", "dec", "mips"]),
    st.booleans(),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_every_way_of_storage_round_trips(
    tmp_path_factory, kind: str, as_float: bool, frames: int, width: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform(-3000.0, 3000.0, (frames, width, 3))
    points[rng.random((frames, width)) < 0.3] = np.nan
    path = tmp_path_factory.mktemp("c3d") / "any.c3d"
    labels = [f"P{k}" for k in range(width)]
    path.write_bytes(make_c3d(points, labels, kind=kind, as_float=as_float, first=7))
    markers = read_c3d(path)
    assert markers.labels == tuple(labels) and markers.fps == 60.0 and markers.first_frame == 7
    assert np.allclose(markers.points, 0.001 * points, atol=0.06e-3 if not as_float else 1e-6, equal_nan=True)


def test_dec_floats_are_a_quarter_with_words_swapped() -> None:
    raw = struct.pack("<f", 4.0 * 1.5)
    assert Processor("dec").floats(raw[2:] + raw[:2])[0] == 1.5


def _small(tmp_path: Path, labels: list[str], **kwargs) -> Markers:
    path = tmp_path / "small.c3d"
    points = np.arange(2 * len(labels) * 3, dtype=float).reshape(2, len(labels), 3)
    path.write_bytes(make_c3d(points, labels, **kwargs))
    return read_c3d(path)


def test_labels_lose_prefix_and_leftovers(tmp_path: Path) -> None:
    markers = _small(tmp_path, ["Ann:LFHD", "Ann:rfhd", "Ann:LFHD-1", "*12", "Ann:Hat"])
    assert markers.labels == ("LFHD", "RFHD", "Hat")
    assert np.allclose(markers.track("Hat")[0], [0.012, 0.013, 0.014])
    assert any("39" not in n and "Found 2 of" in n for n in markers.notes)
    with pytest.raises(UnknownName, match="did you mean 'LFHD'"):
        markers.track("LFHX")


def test_two_people_keep_their_names(tmp_path: Path) -> None:
    assert _small(tmp_path, ["Ann:LFHD", "Bob:LFHD", "Bob:C7"]).labels == ("Ann:LFHD", "Bob:LFHD", "C7")


def test_units_up_and_rate(tmp_path: Path) -> None:
    plain = _small(tmp_path, ["a", "b"])
    assert np.allclose(_small(tmp_path, ["a", "b"], units="m").points, 1000.0 * plain.points)
    assert any("millimetres" in n for n in _small(tmp_path, ["a", "b"], units="??").notes)
    told = read_c3d(tmp_path / "small.c3d", units=1.0, up="Y", fps=25)
    assert told.fps == 25 and np.allclose(told.track("b")[0], [3.0, -5.0, 4.0])


def _with(raw: bytes, at: int, new: bytes) -> bytes:
    return raw[:at] + new + raw[at + len(new) :]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda r: b"", "not a C3D file"),
        (lambda r: b"\x02\x51" + r[2:], "not a C3D file"),
        (lambda r: bytes(range(256)) * 40, "not a C3D file"),
        (lambda r: r[:600], "not a C3D file"),
        (lambda r: _with(r, 0, b"\xff"), "block 255, outside the file"),
        (lambda r: _with(r, 515, b"\x07"), "processor type 7"),
        (lambda r: _with(r, 2, struct.pack("<H", 60000)), "60000 markers by its header and 3"),
        (lambda r: _with(r, 8, struct.pack("<H", 60000)), "declares 60000 frames and has data for 2"),
        (lambda r: _with(r, 16, struct.pack("<H", 60000)), "block 60000, outside the file"),
        (lambda r: r[:-10], "declares 2 frames and has data for 1"),
        (lambda r: r[: len(r) - 90], "ends before its first frame"),
        (lambda r: r.replace(b"POINT", b"JOINT"), "no POINT parameters"),
        (lambda r: r.replace(b"LABELS", b"LABELS\x00\x00", 1), "."),
        (lambda r: _with(r, len(r) - 8, struct.pack("<f", 1e30)), "not usable numbers"),
    ],
)
def test_bad_files_are_told_in_one_sentence(tmp_path: Path, spoil, says: str) -> None:
    path = tmp_path / "bad.c3d"
    raw = make_c3d(np.ones((2, 3, 3)), ["a", "b", "c"])
    path.write_bytes(spoil(raw))
    with pytest.raises(BadFile, match=says) as caught:
        read_c3d(path)
    assert "bad.c3d" in str(caught.value)


@pytest.mark.parametrize("path", [p for p in ALL if p.stem == "Female1_crouch"], ids=lambda p: p.stem)
def test_a_recording_that_is_cut_off_is_refused(tmp_path: Path, path: Path) -> None:
    whole = path.read_bytes()
    (tmp_path / "cut.c3d").write_bytes(whole[: len(whole) * 6 // 10])
    with pytest.raises(BadFile, match="declares 608 frames and has data for"):
        read_c3d(tmp_path / "cut.c3d")
