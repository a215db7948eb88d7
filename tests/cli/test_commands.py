"""The commands as a user meets them: exit codes, one sentence on bad input, JSON alone on standard output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.cli import main
from elbowroom.files.bvh import read_bvh, write_bvh
from elbowroom.locomotion.walk import walk

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def run_apart(*words: object, cwd: Path, **env: str) -> Done:
    """Run the command line in a process of its own, which takes seconds to start."""
    env = os.environ | {"COLUMNS": "200"} | env
    command = [sys.executable, "-c", "from elbowroom.cli import main; main()", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=300)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line in this process."""

    def here(*words: object, cwd: Path | None = None) -> Done:
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(sys, "argv", ["elbowroom", *map(str, words)])
        if cwd is not None:
            monkeypatch.chdir(cwd)
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert isinstance(code, int)
        return Done(sys.argv, code, *capsys.readouterr())

    return here


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "walk.bvh"
    write_bvh(path, walk(human(skin=False), speed=1.2, seconds=2.0, fps=30))
    return path


def test_info_tells_limbs_and_assumptions(run: Run, clip: Path) -> None:
    done = run("info", clip)
    assert done.returncode == 0, done.stderr
    for word in ("left_arm", "right_leg", "spine", "30", "Units"):
        assert word in done.stdout
    facts = json.loads(run("info", clip, "--json").stdout)
    (character,) = facts["characters"].values()
    assert character["missing"] == []
    assert 1.5 < character["height_m"] < 1.8
    (moved,) = facts["clips"].values()
    assert moved["frames"] == 61 and abs(moved["mean_speed_m_s"] - 1.2) < 0.15


def test_options_override_guesses(run: Run, clip: Path) -> None:
    facts = json.loads(run("info", clip, "--json", "--fps", 15, "--units", 0.005).stdout)
    (moved,) = facts["clips"].values()
    assert moved["fps"] == 15 and abs(moved["mean_speed_m_s"] - 0.3) < 0.05


def test_convert_writes_all_and_edits(run: Run, clip: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"out{suffix}" for suffix in (".glb", ".bvh", ".npz", ".html", ".usda")]
    edits = ("--cut", 0.5, 1.5, "--mirror", "--rate", 60, "--at", "2,1", "--turn", 90, "--onto", "child")
    done = run("convert", clip, *outputs, *edits, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] == [str(p) for p in outputs]
    assert all(p.stat().st_size > 1000 for p in outputs)
    back = read_bvh(outputs[1])
    assert len(back) == 61 and abs(back.fps - 60) < 1e-3
    arrays = np.load(outputs[2])
    root = arrays["char/child/root"]
    assert np.ptp(root[:, 0]) > 3 * np.ptp(root[:, 1]), "turned by 90 degrees, the walk goes along x"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in outputs)


def test_render_still_strip_and_film(run: Run, clip: Path, tmp_path: Path) -> None:
    small = ("--size", "160x120")
    for name, more in (("a.png", ()), ("b.png", ("--frames", 3, "--look", "side")), ("c.mp4", ("--rate", 5))):
        done = run("render", clip, "-o", tmp_path / name, *small, *more)
        if "needs" in done.stderr and "EGL" in done.stderr:
            pytest.skip(done.stderr.strip())
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name).stat().st_size > 500


def test_demo_writes_both_files(tmp_path: Path) -> None:
    done = run_apart("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["status"] == "found" and facts["frames"] > 100
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(facts["written"])
    assert [Path(p).suffix for p in facts["written"]] == [".glb", ".html"]
    again = run_apart("demo", "--json", cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    # with what the first run stored it is quick, since these take a third of a second to import
    slow = {"scipy.spatial", "scipy.sparse", "scipy.linalg", "scipy.interpolate", "trimesh"}
    # and these, with what they load, are for tasks of hands and feet
    slow |= {"elbowroom.plan.steps.acting", "elbowroom.posing.grasps"}
    assert slow & {line.rpartition("|")[2].strip() for line in again.stderr.splitlines()} == set()


BAD = {
    "missing file": (("info", "nothing.bvh"), "does not exist"),
    "folder": (("info", "."), "is a folder"),
    "unknown suffix": (("info", "odd.xyz"), "suffix"),
    "empty": (("info", "empty.bvh"), "is empty"),
    "noise": (("info", "noise.glb"), "noise.glb"),
    "up": (("info", "walk.bvh", "--up", "X"), "Y or Z"),
    "units": (("info", "walk.bvh", "--units", "-1"), "positive"),
    "nan units": (("info", "walk.bvh", "--units", "nan"), "positive"),
    "output suffix": (("convert", "walk.bvh", "out.fbx"), ".glb"),
    "output folder": (("convert", "walk.bvh", "no/such/out.glb"), "does not exist"),
    "same output": (("convert", "walk.bvh", "a.glb", "a.glb"), "twice"),
    "place": (("convert", "walk.bvh", "a.glb", "--at", "1;2"), "X,Y"),
    "cut": (("convert", "walk.bvh", "a.glb", "--cut", "5", "9"), "s"),
    "preset": (("convert", "walk.bvh", "a.glb", "--onto", "chlid"), "did you mean 'child'"),
    "clip": (("convert", "walk.bvh", "a.glb", "--clip", "run"), "unknown clip"),
    "size": (("render", "walk.bvh", "-o", "a.png", "--size", "huge"), "960x640"),
    "look": (("render", "walk.bvh", "-o", "a.png", "--look", "under"), "under"),
    "picture suffix": (("render", "walk.bvh", "-o", "a.gif"), ".png"),
    "scene": (("demo", "nosuch"), "jar"),
    "no such option": (("info", "walk.bvh", "--frobnicate"), "No such option"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_exit_code_2(case: str, run: Run, clip: Path, tmp_path: Path) -> None:
    words, told = BAD[case]
    (tmp_path / "walk.bvh").write_bytes(clip.read_bytes())
    (tmp_path / "odd.xyz").write_text("x")
    (tmp_path / "empty.bvh").write_text("")
    (tmp_path / "noise.glb").write_bytes(np.random.default_rng(0).bytes(5000))
    before = sorted(p.name for p in tmp_path.iterdir())
    done = (run_apart if case == "missing file" else run)(*words, cwd=tmp_path)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert told in done.stderr and "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == before, "nothing is written"


def test_names_are_shown_as_they_are(run: Run, clip: Path, tmp_path: Path) -> None:
    """Brackets in joint names are no markup."""
    odd = tmp_path / "[odd].bvh"
    odd.write_text(clip.read_text().replace("JOINT left_hand", "JOINT left_[/]hand"))
    done = run("info", odd)
    assert done.returncode == 0, done.stderr
    assert "left_[/]hand" in done.stdout and "[odd]" in done.stdout
