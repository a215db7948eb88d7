"""What a certificate and the stand-alone checker say of the same world: a wrong 'free' is where they differ."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from adversary.worlds import Case
from elbowroom.errors import ElbowroomError
from elbowroom.files.npz import write_npz
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.files.verify import read_played
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

SLACK_M = 2e-4  # overlaps up to this are rounding
STEP_M = 0.0015  # the checker looks so often that nothing moves farther in between
MOST_SAMPLES = 12_000
LEAST_RATE_HZ = 1000.0


def checker() -> ModuleType:
    """The stand-alone checker, which knows nothing of elbowroom, as a module."""
    if "verify_npz" not in sys.modules:
        path = Path(__file__).resolve().parents[2] / "tools" / "verify_npz.py"
        spec = importlib.util.spec_from_file_location("verify_npz", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["verify_npz"] = module
        spec.loader.exec_module(module)
    return sys.modules["verify_npz"]


@dataclass(frozen=True)
class Verdict:
    """`free`: the certificate says so; `found`: violations that the checker sees, worst first.

    `refused` says why a world was not taken at all. `clear`: the checker sees no overlap at all.
    """

    seed: int
    kind: str
    free: bool = False
    found: tuple[str, ...] = ()
    clear: bool = False
    refused: str = ""

    @property
    def wrong(self) -> bool:
        """Whether something that is not free was called free."""
        return self.free and bool(self.found)

    @property
    def too_strict(self) -> bool:
        """Whether something that is clear was not called free."""
        return not self.free and not self.refused and self.clear


def judge(case: Case, folder: Path) -> Verdict:
    """Certify a world, write it, and have the file checked."""
    path = folder / "case.npz"
    try:
        world = case.world
        if case.through:
            way = folder / f"way.{case.through}"
            save([way], world, case.fps)
            world = open_file(way).world()
        free = certify_and_save(world, case.fps, path)
        if case.as_glb and free:
            free = played_as_glb(world, case.fps, path)
    except ElbowroomError as error:
        return Verdict(case.seed, case.kind, refused=str(error))
    rate = sampling_rate(path)
    report = checker().verify(path, rate, SLACK_M if free else 0.0, first=not free)
    return Verdict(case.seed, case.kind, free, tuple(v.text() for v in report.violations), not report.violations)


def certify_and_save(world: World, fps: float | None, path: Path) -> bool:
    """Whether the file of a world says that it is proven; it is written either way."""
    certificate = certify(world, fps)
    save([path], world, fps, certificate=certificate)
    status = read_played(path)[1].status
    assert (status == "proven") == certificate.free, f"certified {certificate.free}, but the file is {status}"
    return certificate.free


def played_as_glb(world: World, fps: float | None, path: Path) -> bool:
    """Write what a GLB of a world plays to an NPZ with its proof, and return whether that says 'proven'."""
    (glb,) = save([path.with_suffix(".glb")], world, fps, certificate=certify(world, fps))
    on, proof = read_played(glb)
    write_npz(path, on, on.fps, proof)
    return proof.status == "proven"


def sampling_rate(path: Path) -> float:
    """Samples a second at which nothing in a file moves farther than a step from one to the next, within reason."""
    with np.load(path) as file:
        arrays: dict[str, Any] = {k: file[k] for k in file if k.endswith(("T_world_object", "T_world_joint", "times"))}
    times = arrays.pop("times")
    if len(times) < 2:
        return LEAST_RATE_HZ
    fastest = 0.0
    for T in arrays.values():
        way = np.linalg.norm(np.diff(T[..., :3, 3], axis=0), axis=-1) + 0.3 * np.linalg.norm(
            np.diff(T[..., :3, :3], axis=0), axis=(-2, -1)
        )
        fastest = max(fastest, float((way.reshape(len(times) - 1, -1).max(axis=1) / np.diff(times)).max()))
    most = MOST_SAMPLES / float(times[-1] - times[0])
    return float(np.clip(fastest / STEP_M, LEAST_RATE_HZ, max(most, LEAST_RATE_HZ)))
