"""Clip libraries from files, as files, and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from elbowroom.character.human import human
from elbowroom.cli import app
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.bvh import write_bvh
from elbowroom.files.clip_library import clip_library, read_clip_library, write_clip_library
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import walk


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three synthetic walks as BVH files."""
    folder, body = tmp_path_factory.mktemp("walks"), human()
    for name, speed, turn in (("slow", 0.8, 0.0), ("fast", 1.5, 0.0), ("turn", 1.0, 40.0)):
        write_bvh(folder / f"{name}.bvh", walk(body, speed, turn, seconds=3.0))
    write_bvh(folder / "idle.bvh", idle(body, seconds=2.0))
    return [folder / f"{name}.bvh" for name in ("slow", "fast", "turn")]


def test_a_library_of_files_is_written_and_read(walks: list[Path], tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app, ["library", *map(str, walks), "-o", str(tmp_path / "my.npz"), "--plot", str(tmp_path / "my.png"), "--json"]
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["clips"] == ["fast", "slow", "turn"] and sum(facts["cycles"].values()) >= 3
    assert (tmp_path / "my.png").read_bytes().startswith(b"\x89PNG")
    read = read_clip_library(tmp_path / "my.npz")
    assert read.name == "my" and len(read.cycles) == sum(facts["cycles"].values())
    straight = min(read.cycles, key=lambda c: abs(c.velocity[0] - 0.8))
    assert straight.velocity[0] == pytest.approx(0.8, abs=0.05) and abs(straight.velocity[2]) < 0.05
    write_clip_library(tmp_path / "again.npz", read)
    again = read_clip_library(tmp_path / "again.npz")
    assert max(float(np.abs(a.turns - b.turns).max()) for a, b in zip(read.cycles, again.cycles, strict=True)) < 1e-3
    assert np.array_equal(read.numbers, again.numbers)


def test_one_sentence_for_what_is_no_library(walks: list[Path], tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="nobody in them takes three even steps"):
        clip_library([walks[0].with_name("idle.bvh")])
    with pytest.raises(BadValue, match="needs walks at 3 or more different speeds"):
        clip_library(walks[:1])
    with pytest.raises(BadValue, match="needs recordings"):
        clip_library([])
    broken = tmp_path / "broken.bvh"
    broken.write_text("HIERARCHY\n")
    with pytest.raises(BadFile):
        clip_library([broken])
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(BadFile, match="is not a clip library"):
        read_clip_library(tmp_path / "other.npz")


def test_the_command_writes_nothing_for_clips_without_steps(walks: list[Path], tmp_path: Path) -> None:
    body = human()
    one = walk(body, 1.0, seconds=3.0)
    afloat = one.with_(root=one.root + np.array([0.0, 0.0, 1.0]) * (2.0 + np.sin(np.arange(len(one)))[:, None]))
    write_bvh(tmp_path / "one.bvh", one.with_(root=one.root[:1], rotations=one.rotations[:1]))
    write_bvh(tmp_path / "afloat.bvh", afloat)
    for clip in (tmp_path / "one.bvh", tmp_path / "afloat.bvh", walks[0].with_name("idle.bvh"), walks[0]):
        done = CliRunner().invoke(app, ["library", str(clip), "-o", str(tmp_path / "my.npz"), "--plot",
                                        str(tmp_path / "my.png")])  # fmt: skip
        assert isinstance(done.exception, BadValue) and str(done.exception).count(".") <= 3
    assert not [p for p in tmp_path.iterdir() if p.suffix in (".npz", ".png")]


def test_damaged_libraries_are_refused(walks: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "my.npz"
    write_clip_library(path, clip_library(walks, name="my"))
    arrays = dict(np.load(path))
    for key, wrong, words in (
        ("turns", arrays["turns"][:, :5], "array 'turns'"),
        ("modes", arrays["modes"] + 50, "unknown modes"),
        ("library_format", np.array(9), "another version"),
    ):
        np.savez(tmp_path / "bad.npz", **(arrays | {key: wrong}))
        with pytest.raises(BadFile, match=words):
            read_clip_library(tmp_path / "bad.npz")


def test_the_command_says_which_clips_gave_nothing(walks: list[Path], tmp_path: Path) -> None:
    idle_too = [*map(str, walks), str(walks[0].with_name("idle.bvh"))]
    done = CliRunner().invoke(app, ["library", *idle_too, "-o", str(tmp_path / "my.npz")])
    assert done.exit_code == 0 and "idle.bvh has no stride that can be repeated" in done.output
    assert "walk:" in done.output
    wrong = CliRunner().invoke(app, ["library", str(walks[0]), "-o", str(tmp_path / "my.glb")])
    assert isinstance(wrong.exception, BadFile)
