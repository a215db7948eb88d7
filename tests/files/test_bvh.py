"""Reading BVH: real files of two dialects, oddities made by hand, bad files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from person_bvh import BONES, CHANNELS, ROOT, STANDING, TIPS, person

from elbowroom.character.human import human
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.bvh import bvh_text, read_bvh
from elbowroom.files.conventions import guess_units, rate_note, rate_of
from elbowroom.geometry import rotations as rot


@pytest.fixture
def write(tmp_path: Path):
    def make(text: str | bytes, name: str = "person.bvh") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


# --- real files


# --- oddities


def test_units_up_and_rate_are_told_and_can_be_overridden(write) -> None:
    clip = read_bvh(write(person()))
    told = " ".join(clip.source.notes)
    assert "centimetres" in told and "Up axis assumed: Y" in told and "30 fps" in told
    assert clip.source.units == 0.01 and clip.fps == 30
    assert abs(clip.positions()[0, :, 2].max() - 1.76) < 0.02
    other = read_bvh(write(person()), units=0.02, up="Z", fps=25)
    assert other.source.units == 0.02 and other.fps == 25 and other.source.up == "Z"
    assert not any("assumed" in n for n in other.source.notes)
    for wrong in ({"units": 0.0}, {"units": float("nan")}, {"up": "W"}, {"fps": -1.0}):
        with pytest.raises(BadValue):
            read_bvh(write(person()), **wrong)


@pytest.mark.parametrize(("scale", "unit"), [(1.0, 0.01), (0.01, 1.0), (10.0, 0.001), (1 / 2.54, 0.0254)])
def test_each_usual_unit_is_recognised(write, scale: float, unit: float) -> None:
    rows = [f"0 {93 * scale} 0 " + "0 " * (CHANNELS - 3)] * 3
    clip = read_bvh(write(person(rows, scale=scale)))
    assert clip.source.units == unit
    assert abs(np.ptp(clip.positions()[0, :, 2]) - 1.76) < 0.05


def test_a_size_that_fits_no_unit_is_told() -> None:
    units, note = guess_units(4000000.0)
    assert units == 0.01 and "unknown" in note


def test_a_person_who_stands_along_z_is_recognised(write) -> None:
    rows = ["0 0 93 " + "0 " * (CHANNELS - 3)] * 3
    clip = read_bvh(write(person(rows, turn=lambda v: (v[0], -v[2], v[1]))))
    assert clip.source.up == "Z"
    same = read_bvh(write(person()))
    assert np.allclose(clip.positions()[0], same.positions()[0], atol=1e-9)


@pytest.mark.parametrize(
    ("text", "fps"),
    [
        (".0083333", 120),
        ("0.033", 30),
        ("0.0333333", 30),
        ("0.05", 20),
        ("0.04170833", 1 / 0.04170833),
        ("8.33333e-3", 120),
        ("1", 1),
        ("0.0166667", 60),
        ("0.0333667", 1 / 0.0333667),
    ],
)
def test_rates_are_whole_where_the_digits_allow_it(text: str, fps: float) -> None:
    assert rate_of(text) == fps


def test_mixed_line_ends_tabs_and_case(write) -> None:
    plain = person()
    mixed = (
        plain.replace("\nCHANNELS", "\r\n\tCHANNELS")
        .replace("ROOT Hips\n", "ROOT Hips {\r")
        .replace("{\r{\n", "{\r", 1)
    )
    mixed = mixed.replace("Xrotation", "XROTATION").replace("MOTION", "motion").replace("Frame Time:", "Frame Time:\t")
    assert "\r" in mixed
    a, b = read_bvh(write(plain)), read_bvh(write(mixed, "mixed.bvh"))
    assert a.character.skeleton.names == b.character.skeleton.names
    assert np.array_equal(a.positions(), b.positions())


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_channel_order_is_the_order_of_multiplication(write, order: str) -> None:
    a, b, c = 30.0, -40.0, 70.0
    row = f"0 93 0 0 0 0 {a} {b} {c} " + "0 " * (CHANNELS - 9)
    channels = "3 " + " ".join(f"{letter}rotation" for letter in order)
    clip = read_bvh(write(person([row] * 3, channels=channels)))
    axes = {"X": [1, 0, 0], "Y": [0, 0, 1], "Z": [0, -1, 0]}  # file axes in Z up
    expected = rot.IDENTITY
    for letter, angle in zip(order, (a, b, c), strict=True):
        expected = rot.multiply(expected, rot.about(axes[letter], np.radians(angle)))
    assert rot.angle_between(clip.rotations[0, 1], expected) < 1e-12
    assert clip.source.euler["Spine"] == order


def test_position_channels_below_the_root_replace_the_offset(write) -> None:
    channels = "6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    rows = []
    for k in range(4):
        row = "0 93 0 0 0 0 "
        for offset in _in_file_order():
            x, y, z = offset
            row += f"{x} {y + (0.5 if k == 3 and y == 20 else 0)} {z} 0 0 0 "
        rows.append(row)
    clip = read_bvh(write(person(rows, channels=channels)))
    assert np.allclose(clip.positions()[0], read_bvh(write(person())).positions()[0], atol=1e-9)
    assert any("position channels" in n and "0.5" in n for n in clip.source.notes)
    # zeros mean the OFFSET
    zeros = ["0 93 0 0 0 0 " + "0 " * (6 * len(BONES))] * 4
    clip = read_bvh(write(person(zeros, channels=channels)))
    assert np.allclose(clip.positions()[0], read_bvh(write(person())).positions()[0], atol=1e-9)


def _in_file_order() -> list[tuple[float, float, float]]:
    out: list[tuple[float, float, float]] = []

    def visit(parent: str) -> None:
        for name, (above, offset) in BONES.items():
            if above == parent:
                out.append(offset)
                visit(name)

    visit("Hips")
    return out


def test_root_channels_are_absolute(write) -> None:
    with_offset = person().replace("OFFSET 0 0 0", "OFFSET 11 95 -3", 1)
    assert np.array_equal(read_bvh(write(with_offset)).root, read_bvh(write(person())).root)


def test_a_reference_root_is_folded_into_the_hips(write) -> None:
    text = person(["5 0 0 0 0 90 " + f"{k} 93 0 " + "0 " * (CHANNELS - 3) for k in range(4)])
    channels = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
    head = f"ROOT Reference\n{{\nOFFSET 0 0 0\n{channels}\nJOINT Hips"
    text = text.replace("ROOT Hips", head).replace("MOTION", "}\nMOTION")
    clip = read_bvh(write(text))
    assert clip.character.skeleton.names[0] == "Hips"
    assert any("merged into it" in n for n in clip.source.notes)
    # the reference turns +X to -Z of the file, which is +Y here
    assert np.allclose(clip.root, [[0.05, 0.01 * k, 0.93] for k in range(4)], atol=1e-12)


def test_names_that_come_twice_are_numbered(write) -> None:
    clip = read_bvh(write(person().replace("JOINT RightToe", "JOINT LeftToe")))
    assert "LeftToe_2" in clip.character.skeleton.names
    assert any("LeftToe_2" in n for n in clip.source.notes)


def test_end_sites_are_leaves_and_stay_so(write, tmp_path: Path) -> None:
    clip = read_bvh(write(person()))
    ends = [n for n in clip.character.skeleton.names if n.endswith("_end")]
    assert sorted(ends) == sorted(f"{n}_end" for n in TIPS)
    text = bvh_text(clip)
    assert text.count("End Site") == len(TIPS) and "_end" not in text


def test_artificial_frames_need_a_jump(write) -> None:
    moving = [
        f"0 93 {k} " + " ".join(f"{np.sin(0.1 * k + j) * 9 + 9.6:.4f}" for j in range(CHANNELS - 3)) for k in range(20)
    ]
    assert read_bvh(write(person([STANDING, *moving]))).source.lead == 1
    assert read_bvh(write(person([STANDING, STANDING, *moving]))).source.lead == 2
    assert read_bvh(write(person(moving))).source.lead == 0
    assert read_bvh(write(person([STANDING] * 20))).source.lead == 0
    smooth = [f"0 93 {k} " + " ".join(f"{k * 0.3:.4f}" for j in range(CHANNELS - 3)) for k in range(20)]
    assert read_bvh(write(person(smooth))).source.lead == 0


def _feet(steps_a_second: float, lift: float, fps: float = 60.0) -> tuple[np.ndarray, np.ndarray]:
    """Feet of someone who goes along -Y for four seconds; `lift` is how far both leave the ground at times."""
    t = np.arange(int(4 * fps)) / fps
    swing = 0.35 * np.sin(np.pi * steps_a_second * t)
    hop = lift * np.abs(np.sin(np.pi * steps_a_second * t))
    left = np.stack(
        [0.1 + 0 * t, swing - t, 0.08 + hop + 0.1 * np.clip(np.cos(np.pi * steps_a_second * t), 0, 1)], axis=-1
    )
    right = np.stack([-0.1 + 0 * t, -swing - t, 0.08 + hop], axis=-1)
    return left, right


@pytest.mark.parametrize(
    ("steps", "lift", "told"), [(1.8, 0.0, False), (2.4, 0.0, False), (3.6, 0.0, True), (3.6, 0.12, False)]
)
def test_walks_that_are_too_quick_are_told(steps: float, lift: float, told: bool) -> None:
    note = rate_note(*_feet(steps, lift), 1.7, 60.0)
    assert (note is not None and "fps 30" in note) == told


def test_a_clip_can_be_read_onto_another_character(write) -> None:
    ann = human(height=1.6)
    clip = read_bvh(write(person()), ann)
    assert clip.character is ann and len(clip) == 4
    assert abs(clip.positions()[0, 0, 2] - 0.88) < 0.08  # hips of a smaller person
    assert any("assumed" in n for n in clip.source.notes)


# --- bad files


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: "", "empty"),
        (lambda t: "\n \n", "empty"),
        (lambda t: "hello world", "HIERARCHY"),
        (lambda t: t[: t.index("MOTION")], "ends before MOTION"),
        (lambda t: t[: len(t) - 200], "values|declares"),
        (lambda t: t.replace("JOINT Spine", "JOINT Spine\n{", 1), "line 8"),
        (lambda t: t.replace("}\nMOTION", "MOTION"), "still open"),
        (lambda t: t.replace("}\nMOTION", "}\n}\nMOTION"), "without an opening"),
        (lambda t: t.replace("Frame Time: 0.033333", "Frame Time: -0.01"), "frame time -0.01"),
        (lambda t: t.replace("Frame Time: 0.033333", "Frame Time: 0"), "frame time 0"),
        (lambda t: t.replace("Frame Time: 0.033333", "Frame Time: nan"), "nan"),
        (lambda t: t.replace("Frames: 4", "Frames: 1000000000"), "declares 1,000,000,000 frames"),
        (lambda t: t.replace("Frames: 4", "Frames: -4"), "not a positive whole number"),
        (lambda t: t.replace("Frames: 4", "Frames: 9" + "9" * 5000), "declares"),
        (lambda t: t.replace("0 93 0", "0 nan 0", 1), "'nan' is not a usable number"),
        (lambda t: t.replace("0 93 0", "0 1e300 0", 1), "1e300"),
        (lambda t: t.replace("0 93 0", "0 x 0", 1), "line 1[0-9]+: 'x' is not a number"),
        (lambda t: t.replace("0 93 0", "0 93 0 7", 1), "61 values where the hierarchy declares 60|channels"),
        (lambda t: t.replace("CHANNELS 3", "CHANNELS 4", 1), "declares 4 channels and names 3"),
        (lambda t: t.replace("Xrotation", "Wrotation", 1), "Wrotation"),
        (lambda t: t.replace("Xrotation", "Zrotation", 1), "listed twice"),
        (lambda t: t.replace("OFFSET 0.0 20.0 0.0", "OFFSET 0 20", 1), "three numbers"),
        (lambda t: t.replace("OFFSET 0.0 20.0 0.0", "SCALE 1", 1), "'SCALE' is unknown"),
        (lambda t: t.replace("OFFSET 0.0 20.0 0.0", "OFFSET 0 20000 0", 1), "'Spine' is [0-9.]+ m long"),
        (lambda t: t.replace("JOINT Spine", "ROOT Spine", 1), "ROOT is inside"),
        (lambda t: t.replace("MOTION", "ROOT Two\n{\nOFFSET 0 0 0\n}\nMOTION"), "second ROOT"),
        (lambda t: ROOT + "JOINT a\n{\nOFFSET 0 1 0\n" * 10_000, "more than 2000"),
        (lambda t: t.encode()[:300] + bytes(range(256)) * 20, "binary"),
        (lambda t: ROOT + "CHANNELS 1 Xposition\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0", "no other"),
    ],
)  # fmt: skip
def test_bad_files_are_told_in_one_sentence(write, spoil, says: str) -> None:
    path = write(spoil(person()), "bad.bvh")
    with pytest.raises(BadFile, match=says) as caught:
        read_bvh(path)
    assert "bad.bvh" in str(caught.value) and "\n" not in str(caught.value)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        read_bvh(tmp_path / "none.bvh")
    with pytest.raises(BadFile, match="is a folder"):
        read_bvh(tmp_path)


def test_more_rows_than_announced_are_left_out_and_told(write) -> None:
    clip = read_bvh(write(person(count=3)))
    assert len(clip) == 3
    assert any("declares 3 frames and has 4" in n for n in clip.source.notes)
