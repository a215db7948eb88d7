"""Gait cycles that ship with the package: writes `src/elbowroom/locomotion/recorded_cycles.npz`.

    python tools/recorded_cycles.py MOCAP_FOLDER

Reads walks, runs, turns and steps of two collections below the folder: CMU's (`cmu_asf_amc`, `cmu_bvh`) and those of
the Open Motion Project (`accad_c3d`). CMU's may be included in products and may not be sold by themselves; those of
the Open Motion Project are under CC BY 3.0: see NOTICE.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from elbowroom.files.clip_library import clip_library, write_clip_library
from elbowroom.locomotion.library import ClipLibrary

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "elbowroom" / "locomotion" / "recorded_cycles.npz"
SOURCE = (
    "The data used in this project was obtained from mocap.cs.cmu.edu. The database was created with funding from NSF "
    "EIA-0196217. Motion data: Open Motion Project, ACCAD, The Ohio State University, CC BY 3.0. Strides cut out, "
    "resized, joined at their ends, smoothed and rounded"
)
# Takes without anything in the hands. Walks that begin or end with something else give their strides in between.
CMU = {
    "cmu_asf_amc": ("02_01", "02_02", "02_03", "07_01", "07_04", "07_05", "09_06", "69_01", "69_02", "16_*"),
    "cmu_bvh": ("07_12", "09_12", "104_35", "132_17", "132_45", "136_09", "38_03", "69_16", "69_20", "69_24", "69_28",
                "69_31"),
}  # fmt: skip
ACCAD = (
    "Female1_crouch_to_walk", "Female1_run*", "Female1_side_step*", "Female1_stand_to_walk", "Female1_walk",
    "Female1_walk_back", "Female1_walk_to_stand", "Female1_walk_turn*", "Male1_walk", "Male1_walk_to_stand",
    "Male1_walk_turn*",
)  # fmt: skip
# Strides of one clip that go straight ahead at nearly the same speed add nothing to each other.
_STRAIGHT_RAD_S = 0.15
_MOST_STRAIGHT = 2  # of a clip


def chosen(folder: Path) -> list[Path]:
    """Files of the library, in the order of their names."""
    found = [f for name, takes in CMU.items() for take in takes for f in (folder / name).rglob(f"{take}.*")]
    found += [f for take in ACCAD for f in (folder / "accad_c3d").glob(f"{take}.c3d")]
    return sorted({f.stem: f for f in found if f.suffix != ".asf"}.values(), key=lambda f: f.stem)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mocap", type=Path)
    files = chosen(parser.parse_args().mocap)
    made = clip_library(files, name="recorded cycles", source=SOURCE, progress=lambda name: print(name, flush=True))
    kept, straight = [], dict.fromkeys((c.source for c in made.cycles), 0)
    for cycle in sorted(made.cycles, key=lambda c: c.opening):
        even = cycle.mode in ("walk", "brisk", "back", "crouch") and abs(cycle.velocity[2]) < _STRAIGHT_RAD_S
        if not even or straight[cycle.source] < _MOST_STRAIGHT:
            kept.append(cycle)
            straight[cycle.source] += even
    order = {id(c): k for k, c in enumerate(made.cycles)}
    made = ClipLibrary(tuple(sorted(kept, key=lambda c: order[id(c)])), made.name, SOURCE)
    write_clip_library(OUTPUT, made)
    print(f"{len(made.cycles)} cycles of {len(files)} clips, {OUTPUT.stat().st_size / 1000:.0f} kB: {OUTPUT}")


if __name__ == "__main__":
    main()
