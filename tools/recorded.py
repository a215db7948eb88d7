"""Postures and carries that ship with the package: writes `src/elbowroom/motion/recorded.json`.

    python tools/recorded.py MOCAP_FOLDER

Reads the ACCAD takes below the folder (`accad_c3d`) in which people stand with their feet in place. Only takes whose
licence lets what is derived from them be passed on go in: those of the Open Motion Project are under CC BY 3.0. CMU's
may not be resold, even converted, and stay out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from elbowroom.files.clip_library import marker_take
from elbowroom.motion.posture_db import build
from elbowroom.motion.recorded import packed
from elbowroom.motion.speed_profiles import carries_of

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "elbowroom" / "motion" / "recorded.json"
SOURCE = (
    "Motion data: Open Motion Project, ACCAD, The Ohio State University, CC BY 3.0; resized, thinned out and rounded"
)
# Takes of standing people; those with a box have carries.
STANDING = ("crouch", "lift_box", "pick_up_box", "put_down_box", "stand", "sway")
WITH_BOX = ("lift_box", "pick_up_box", "put_down_box")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mocap", type=Path)
    files = sorted((parser.parse_args().mocap / "accad_c3d").glob("*.c3d"))
    takes = [marker_take(f) for f in files if any(word in f.stem for word in STANDING)]
    carries = [c for t in takes if any(word in t.name for word in WITH_BOX) for c, _ in carries_of(t)]
    postures = build(takes, name="ACCAD", source=SOURCE)
    text = packed(SOURCE, postures, carries)
    OUTPUT.write_text(text, encoding="utf-8")
    print(
        f"{len(postures)} postures of {len(takes)} takes, {len(carries)} carries, {len(text) / 1000:.0f} kB: {OUTPUT}"
    )


if __name__ == "__main__":
    main()
