"""Visible skin outside of the proven collision shapes, and what measuring it costs a certificate.

Bodies: presets, and imported rigs, with recorded clips retargeted onto them, and the clips' own bones in the built-in
skin. 'At rest' are shapes that enclose the skin in the rest pose alone, of bare bones those of the tables of girths.

    python benchmarks/skin_excess.py DATA_FOLDER [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.skin_cover import HELD_M, cover_of
from elbowroom.character.visual import seen_skin
from elbowroom.files.open import open_file
from elbowroom.gallery.scenes import scenarios
from elbowroom.kernels.skin_cover import outliers
from elbowroom.motion.clip import Clip
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world import certificate, skin_excess
from elbowroom.world.certificate import certify

CLIPS = ("16_17", "02_01", "07_01", "69_70", "115_06", "113_15", "131_05", "26_09", "62_20", "80_07")
SCENES = ("umbrella", "bookshelf", "box-table", "under-the-bar", "crowded-corridor")
FRAMES = 120


def found(body: Character, clip: Clip) -> dict[str, float]:
    """Shares of vertices and frames beyond 5 and 20 mm, percent, and the largest excess, mm."""
    skin = seen_skin(body)
    assert skin is not None
    cover = cover_of(body.skeleton, body.shapes, skin)
    rows = np.unique(np.linspace(0, len(clip) - 1, FRAMES).astype(int))
    T = np.ascontiguousarray(body.transforms(clip.root[rows], clip.rotations[rows]))
    count = len(cover.joints)
    which, place, way = np.zeros(count, np.int64), np.zeros((count, 3)), np.zeros((count, 3))
    far = [np.linalg.norm(way[: outliers(cover, pose, HELD_M, which, place, way)], axis=1) for pose in T]
    outside = np.concatenate([np.zeros(0), *far])
    share = {f"beyond_{mm}_mm": 100.0 * float((outside > 0.001 * mm).sum()) for mm in (5, 20)}
    total = len(T) * len(skin.vertices)
    return {k: v / total for k, v in share.items()} | {"largest_mm": 1000 * float(outside.max(initial=0.0))}


def bodies(data: Path) -> dict[str, Character | None]:
    """Bodies by name; None for a clip's own bones."""
    out: dict[str, Character | None] = {f"preset {name}": er.preset(name) for name in ("woman", "man", "child")}
    out |= {f"preset {name}": er.preset(name) for name in ("clown", "gorilla")}
    for path in sorted((data / "characters").glob("*.glb")):
        out[path.stem] = next(iter(open_file(path).characters.values()))
    return {**out, "clips on their own bones": None}


def table(data: Path) -> list[dict[str, Any]]:
    """A row for each body: the mean of all clips, and the largest excess."""
    rows = []
    clips = {name: er.read_bvh(data / "mocap/cmu_bvh" / f"{name}.bvh") for name in CLIPS}
    for name, body in bodies(data).items():
        cases: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
        for clip in clips.values():
            own = body or clip.character
            moved = clip if body is None else er.retarget(clip, own)
            at_rest = fit_shapes(own.skeleton, own.roles, own.skin)
            cases["before"].append(found(own.with_(shapes=at_rest), moved))
            cases["after"].append(found(own, moved))
        row: dict[str, Any] = {"body": name}
        for when, results in cases.items():
            row |= {f"{when}_{key}": float(np.mean([r[key] for r in results])) for key in results[0]}
            row[f"{when}_largest_mm"] = max(r["largest_mm"] for r in results)
        rows.append(row)
    return rows


def cost() -> list[dict[str, Any]]:
    """Seconds of the processor for certificates of planned scenes, without the skin and with it; the least of five."""
    rows = []
    measure = skin_excess.skin_excess
    for name in SCENES:
        world = plan_storyboard(scenarios()[name].board(), seed=0).require().world
        spent: dict[bool, list[float]] = {True: [], False: []}
        for k in range(10):
            with_skin = k % 2 == 0
            certificate.skin_excess = measure if with_skin else (lambda *_: None)  # type: ignore[assignment]
            begin = time.process_time()
            certify(world)
            spent[with_skin].append(time.process_time() - begin)
        rows.append({"scene": name, "without_s": min(spent[False]), "with_s": min(spent[True])})
    return rows


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("data", type=Path)
    ask.add_argument("--json", action="store_true")
    told = ask.parse_args()
    rows, seconds = table(told.data), cost()
    if told.json:
        print(json.dumps({"excess": rows, "cost": seconds}))
        return
    print("| body | beyond 5 mm, at rest / now, % | beyond 20 mm, % | largest, mm |")
    print("|---|---|---|---|")
    for r in rows:
        print(
            f"| {r['body']} | {r['before_beyond_5_mm']:.2f} / {r['after_beyond_5_mm']:.3f} "
            f"| {r['before_beyond_20_mm']:.2f} / {r['after_beyond_20_mm']:.3f} "
            f"| {r['before_largest_mm']:.0f} / {r['after_largest_mm']:.0f} |"
        )
    print("| scene | certificate without skin, s | with | more, % |")
    print("|---|---|---|---|")
    for r in seconds:
        more = 100 * (r["with_s"] / r["without_s"] - 1)
        print(f"| {r['scene']} | {r['without_s']:.2f} | {r['with_s']:.2f} | {more:.0f} |")


if __name__ == "__main__":
    main()
