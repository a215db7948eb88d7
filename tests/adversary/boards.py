"""Random storyboards for the command line: somebody idles or walks amid low sills, flying things and a held rod."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typer.testing import CliRunner

from adversary.verdicts import SLACK_M, Verdict, checker, sampling_rate
from elbowroom.cli import app

KIND = "storyboard"


def board(seed: int) -> str:
    """A storyboard in YAML."""
    rng = np.random.default_rng([12, seed])
    fps, seconds = int(rng.choice([12, 24, 30, 60])), float(rng.uniform(0.4, 1.0))
    what = "idle: {" if rng.random() < 0.5 else "walk: {speed: 1.2, "
    clip = f"{{{what}seconds: {seconds:.3f}}}}}"
    floor = str(rng.choice(["0", "auto", "none"]))
    t = float(rng.uniform(0.1, 0.3))
    # past the chest, which is some 0.15 m deep and 0.35 m wide, or round it by a key between frames
    y = float(rng.choice([-0.2, 0.2]) + rng.normal() * 0.05)
    out = float(rng.choice([y, -0.35, -0.5]))
    path = [(0.0, -0.5, y), (t, 0.0, out), (2.0 * t, 0.5, y)]
    keys = ", ".join(f"{{t: {when:.4f}, at: [{x}, {depth:.3f}, 1.25]}}" for when, x, depth in path)
    tall, apart = float(rng.choice([0.004, 0.012, 0.018])), float(rng.choice([0.0, 0.6]))
    sill = f"{{box: [0.6, 0.04, {tall}], name: sill, at: [{apart}, -0.1, {0.5 * tall}]}}"
    start = float(rng.choice([0.0, 0.013, 0.2]))
    hand = str(rng.choice(["right", "left", "chest"]))
    rod = float(rng.uniform(0.1, 0.9))
    lines = [
        "elbowroom: 1",
        f"fps: {fps}",
        f"scene: {{floor: {floor}, meshes: [{sill}]}}",
        "objects:",
        f"  saw: {{mesh: {{box: [0.02, 0.02, 0.02]}}, path: [{keys}]}}",
        f"  rod: {{mesh: {{box: [{rod:.3f}, 0.01, 0.01]}}, at: [0, -0.3, {float(rng.uniform(0.9, 1.4)):.3f}]}}",
        "characters:",
        f"  ann: {{body: {{human: {{height: 1.70}}}}, clip: {clip}, start: {start}}}",
    ]
    if rng.random() < 0.5:
        lines += ["holds:", f"  - {{object: rod, by: ann, hand: {hand}, during: [{start + 0.07:.3f}, end]}}"]
    return "\n".join(lines) + "\n"


def judge_board(seed: int, folder: Path) -> Verdict:
    """Have a storyboard run by the command, and the file that it writes checked."""
    path, out = folder / "board.yaml", folder / "board.npz"
    path.write_text(board(seed))
    out.unlink(missing_ok=True)
    result = CliRunner().invoke(app, ["run", str(path), "-o", str(out)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code != 0:
        return Verdict(seed, KIND, refused="" if result.exit_code in (1, 3) else result.output.strip())
    report = checker().verify(out, sampling_rate(out), SLACK_M)
    return Verdict(seed, KIND, True, tuple(v.text() for v in report.violations), not report.violations)
