"""Every scenario of the gallery in every format: planned, written, read back and verified.

NPZ and GLB are verified by `elbowroom verify` (1,000 samples a second and a proof), the NPZ by `tools/verify_npz.py` as
well; frames of BVH and USD are read back and compared with those that were certified. 'deepest' is the deepest overlap
that was allowed.

    python benchmarks/gallery_files.py [--only NAME ...] [--json]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from elbowroom.files.bvh import read_bvh
from elbowroom.files.save import save
from elbowroom.files.verify import verify
from elbowroom.gallery.scenes import scenario, scenarios
from elbowroom.motion.clip import Clip
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.played import PlayedWorld, played


def stand_alone() -> ModuleType:
    """The script that checks an NPZ without elbowroom."""
    path = Path(__file__).parent.parent / "tools" / "verify_npz.py"
    spec = importlib.util.spec_from_file_location("verify_npz", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["verify_npz"] = module
    spec.loader.exec_module(module)
    return module


def bvh_error(path: Path, on: PlayedWorld) -> float:
    """How far joints of a BVH are from those that were certified, metres."""
    (clip,) = (m for m in on.characters.values() if isinstance(m, Clip))
    again = read_bvh(path)
    rows = [again.character.skeleton.names.index(n) for n in clip.character.skeleton.names]
    lead = len(again) - len(on.times)
    return float(np.abs(again.positions()[lead:, rows] - clip.positions(on.times)).max())


def usd_error(path: Path, on: PlayedWorld) -> float:
    """How far objects of a USD file are from those that were certified, half way between frames too, metres."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))
    worst = 0.0
    prims = [p for p in stage.Traverse() if p.GetTypeName() == "Xform" and p.GetPath().pathString.count("/") == 2]
    for prim, thing in zip(prims, on.things.values(), strict=False):
        for k in np.arange(0.0, len(on.times) - 0.5, 0.5):
            T = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(float(k))).T
            worst = max(worst, float(np.abs(T - thing.path(float(on.times[0] + k / on.fps))).max()))
    return worst


def one(name: str, checker: ModuleType, folder: Path) -> dict[str, Any]:
    """One scenario, planned with seed 0 and written in all formats."""
    begun = time.perf_counter()
    board = scenario(name).board()
    plan = plan_storyboard(board)
    facts: dict[str, Any] = {"name": name, "status": plan.status, "plan_s": time.perf_counter() - begun}
    if not plan.found or plan.certificate is None:
        return facts
    on = played(plan.world, board.fps)
    people = list(on.characters.values())
    suffixes = ["npz", "glb", "html", "usdc"] + (["bvh"] if len(people) == 1 and isinstance(people[0], Clip) else [])
    paths = {s: folder / f"{name}.{s}" for s in suffixes}
    save(list(paths.values()), plan.world, board.fps, certificate=plan.certificate, seed=0)
    facts["deepest_m"] = max((a.depth_m for a in plan.certificate.allowed), default=0.0)
    for suffix in ("npz", "glb"):
        found = verify(paths[suffix])
        facts[suffix] = "verified" if found.good else f"{len(found.violations)} violations, {found.certificate.summary}"
    alone = checker.verify(paths["npz"])
    facts["alone"] = (
        "verified" if not alone.violations else f"{len(alone.violations)} violations: {alone.violations[0]}"
    )
    facts["usd_m"] = usd_error(paths["usdc"], on)
    facts["bvh_m"] = bvh_error(paths["bvh"], on) if "bvh" in paths else None
    return facts


def main() -> None:
    """Print the table as it grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="names of scenarios")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    checker, rows = stand_alone(), []
    if not told.json:
        print("| scenario | plan | deepest mm | NPZ | GLB | stand-alone | USD mm | BVH mm |", flush=True)
        print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in told.only or scenarios():
            rows.append(one(name, checker, Path(folder)))
            if not told.json:
                print(line(rows[-1]), flush=True)
    if told.json:
        print(json.dumps(rows))


def line(row: dict[str, Any]) -> str:
    """A row of the table."""

    def mm(key: str) -> str:
        return "–" if row.get(key) is None else f"{1000 * row[key]:.3f}"

    parts = [
        row["name"],
        row["status"],
        mm("deepest_m"),
        row.get("npz", "–"),
        row.get("glb", "–"),
        row.get("alone", "–"),
    ]
    return "| " + " | ".join([*parts, mm("usd_m"), mm("bvh_m")]) + " |"


if __name__ == "__main__":
    main()
