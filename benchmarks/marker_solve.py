"""Marker solving on real takes: how far markers are from the fitted body, feet from the floor, and how long it takes.

python benchmarks/marker_solve.py [--data folder] [--takes 'accad_c3d/*.c3d'] [--every 1] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.errors import ElbowroomError
from elbowroom.files.c3d import read_c3d
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.soles import sole_points
from elbowroom.posing.marker_solve import solve_markers


def measure(path: Path, every: int) -> dict[str, Any]:
    """One take: residuals and feet in millimetres, seconds of one core."""
    markers = read_c3d(path)
    begun = time.process_time()
    try:
        found = solve_markers(markers.labels, markers.points[::every], markers.fps / every, name=path.stem)
    except ElbowroomError as why:
        return {"take": path.stem, "failed": str(why)}
    seconds = time.process_time() - begun
    clip = found.clip
    points = sole_points(clip.character, clip.world())
    on = foot_contacts(clip, 0.0).on
    held = on[1:] & on[:-1]
    slid = np.linalg.norm(np.diff(points[..., :2], axis=0), axis=-1)[held]
    return {
        "take": path.stem,
        "frames": len(clip),
        "seen": float(np.isfinite(found.residual).mean()),
        "median_mm": 1000.0 * found.median_residual,
        "p95_mm": 1000.0 * float(np.nanpercentile(found.residual, 95)),
        "height_m": found.subject.height,
        "lowest_sole_mm": 1000.0 * float(points[..., 2].min()),
        "slide_mm_a_second": 1000.0 * clip.fps * float(slid.mean()) if len(slid) else 0.0,
        "ms_a_frame": 1000.0 * seconds / len(clip),
        "notes": found.notes,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ELBOWROOM_DATA", "../shared/data")))
    parser.add_argument("--takes", default="accad_c3d/*.c3d")
    parser.add_argument("--every", type=int, default=1, help="use every n-th frame")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    rows = []
    for path in sorted((told.data / "mocap").glob(told.takes)):
        rows.append(measure(path, told.every))
        if not told.json:
            shown = {k: round(v, 2) if isinstance(v, float) else v for k, v in rows[-1].items() if k != "notes"}
            print(shown, flush=True)
    if told.json:
        print(json.dumps(rows, indent=1))
        return
    done = [row for row in rows if "failed" not in row]
    medians = [row["median_mm"] for row in done]
    cost = np.mean([row["ms_a_frame"] for row in done])
    print(f"{len(done)} of {len(rows)} takes, {cost:.1f} ms a frame")
    print(f"residual of the median take {np.median(medians):.1f} mm, of the worst {max(medians):.1f} mm")


if __name__ == "__main__":
    main()
