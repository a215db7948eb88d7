"""What commands end with, and what they say of what was allowed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from elbowroom import cli
from elbowroom.character.human import human
from elbowroom.files.save import save
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place
from elbowroom.world.certificate import certify
from elbowroom.world.world import World


def run(*told: object) -> tuple[int, str]:
    """Exit code and output of a command."""
    result = CliRunner().invoke(cli.app, [str(t) for t in told])
    raised = getattr(result.exception, "exit_code", result.exit_code)
    return raised if isinstance(raised, int) else result.exit_code, result.stdout


@pytest.fixture(scope="module")
def stroll() -> Clip:
    """Somebody who walks half a second."""
    return walk(human(), seconds=0.5)


@pytest.fixture(scope="module")
def written(stroll: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A proven file."""
    world = World().with_character("ann", stroll).with_static("block", box([0.3, 0.3, 1.0], at=[1.0, 0.0, 0.5]))
    path = tmp_path_factory.mktemp("proven") / "stroll.npz"
    save([path, path.with_suffix(".glb")], world, certificate=certify(world), seed=3)
    return path


def verified(path: Path) -> tuple[int, dict]:
    code, text = run("verify", path, "--json")
    return code, json.loads(text)


@pytest.mark.parametrize("suffix", [".npz", ".glb"])
def test_a_proven_file_is_verified(written: Path, suffix: str) -> None:
    code, facts = verified(written.with_suffix(suffix))
    assert code == 0 and facts["verified"] and facts["samples"] > 400
    assert facts["says"]["status"] == "proven" and facts["says"]["seed"] == 3


def test_a_file_that_was_tampered_with_is_not_verified(written: Path, tmp_path: Path) -> None:
    with np.load(written) as file:
        arrays = dict(file)
    middle = 0.5 * (arrays["static/block/vertices"].min(axis=0) + arrays["static/block/vertices"].max(axis=0))
    arrays["static/block/vertices"] = arrays["static/block/vertices"] - [middle[0], middle[1], 0.0]
    np.savez(tmp_path / "moved.npz", **arrays)
    code, facts = verified(tmp_path / "moved.npz")
    assert code == 1 and facts["violations"] and facts["collisions"]


def test_a_file_that_claims_nothing_is_not_verified(stroll: Clip, tmp_path: Path) -> None:
    (path,) = save([tmp_path / "bare.npz"], World().with_character("ann", stroll))
    code, facts = verified(path)
    assert code in (1, 3) and not facts["verified"] and facts["says"]["status"] == "unchecked"
    assert run("verify", tmp_path / "none.bvh")[0] == 2


def test_a_person_under_ground_is_not_free(stroll: Clip, tmp_path: Path) -> None:
    (path,) = save([tmp_path / "deep.bvh"], World().with_character("ann", place(stroll, lift=-2.5)))
    assert run("check", path, "--floor", "0")[0] == 1
    (low,) = save([tmp_path / "low.bvh"], World().with_character("ann", place(stroll, lift=-0.03)))
    code, text = run("check", low, "--floor", "0", "--allow", "body=40")
    assert code == 0 and "in the floor as recorded up to" in text
    assert run("check", low, "--floor", "0", "--allow", "feet=20")[0] == 1
    assert run("check", low, "--allow", "feet")[0] == 2
    assert run("check", low, "--allow", "nose=3")[0] == 2


NEAR = """
elbowroom: 1
fps: 30
scene: {meshes: [{name: wall, box: [0.2, 2, 2], at: [-0.1, 0, 1.5]}], floor: none}
objects:
  ball: {mesh: {box: [0.2, 0.2, 0.2]}, path: [{t: 0, at: [0.100005, -0.05, 1.5]}, {t: 1, at: [0.100005, 0.05, 1.5]}]}
"""


def test_what_is_too_near_to_tell_ends_with_three(tmp_path: Path) -> None:
    storyboard = tmp_path / "near.yaml"
    storyboard.write_text(NEAR)
    assert run("check", storyboard)[0] == 3
    assert run("check", storyboard, "--accept-unproven")[0] == 0


def test_a_crash_does_not_look_like_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == cli.CRASHED == 70
    assert "ZeroDivisionError" in capsys.readouterr().err
