"""Feet of recorded clips with added skating, floating and penetration of known size, before and after `clean_feet`.

    python benchmarks/feet.py DATA [--clips N]

Skating is a drift of the whole body along the floor, there and back, by a few centimetres; floating and penetration
lift and lower it, for all of the clip or for a while. The result is judged twice: by stance phases found anew in it,
which is what `elbowroom report` measures and what the clean-up itself goes by; and, independently of both, by the
contacts of the recording before anything was added ("true"), beside what the recording slides in them. Of each of these
contacts, "still" is the longest part in which the recording itself slides less than 5 mm.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from elbowroom.files.open import ImportHints, open_file
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Contacts, estimate_floor, foot_contacts
from elbowroom.motion.edit import place, without_lead
from elbowroom.motion.feet import clean_feet, feet_measures
from elbowroom.motion.stance import slid_so_far, slide_ways, stance_contacts

# Added faults: metres along the floor, metres up.
SKATES_M = (0.03, 0.06, 0.10)
LIFTS_M = (0.02, 0.05, 0.08, -0.02, -0.05, -0.08)

# Slide of a recording up to which it lies still, metres.
STILL_M = 0.005


def clips(data: Path, count: int) -> list[Clip]:
    """Recorded clips with their floor at 0."""
    out = []
    kinds = ("*.bvh", "*.amc", "accad_c3d/*.c3d")
    for path in [found for kind in kinds for found in sorted((data / "mocap").rglob(kind))]:
        clip = without_lead(open_file(path, ImportHints(fix_rig=True)).with_solved_markers().clip())
        if {"left_foot", "right_foot"} <= set(clip.character.roles) and len(clip) > clip.fps:
            clip = clip.with_(name=path.name)
            out.append(place(clip, lift=-estimate_floor(clip)))
        if len(out) == count:
            break
    return out


def spoiled(clip: Clip, k: int) -> tuple[Clip, float, float]:
    """The clip with faults of the k-th size, and their sizes in metres: along the floor and up."""
    rng = np.random.default_rng(k)
    skate, lift = SKATES_M[k % len(SKATES_M)], LIFTS_M[k % len(LIFTS_M)]
    heading = rng.uniform(0.0, 2.0 * np.pi)
    t = clip.times - clip.start
    way = skate * np.sin(2.0 * np.pi * t / rng.uniform(1.2, 2.5) + rng.uniform(0.0, 6.0))
    height = np.full(len(t), lift) if k % 2 else lift * np.sin(np.pi * t / max(t[-1], 1e-9)) ** 2
    added = np.column_stack([way * np.cos(heading), way * np.sin(heading), height])
    return clip.with_(root=clip.root + added), skate, lift


def still_slide(clip: Clip, cleaned: Clip, truth: Contacts) -> float:
    """Farthest slide of the cleaned clip, metres, in the parts of contacts in which the recording lies still."""
    worst = 0.0
    for recorded, made in zip(slide_ways(clip, truth), slide_ways(cleaned, truth), strict=True):
        first, best = 0, (0, 0)
        for last in range(len(recorded)):
            while np.linalg.norm(recorded[first : last + 1] - recorded[last], axis=-1).max() >= STILL_M:
                first += 1
            best = max(best, (last - first, first))
        length, first = best
        worst = max(worst, float(slid_so_far(made[first : first + length + 1])[-1]))
    return worst


def main() -> None:
    """Print one line of JSON a clip, and a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--clips", type=int, default=50)
    args = parser.parse_args()
    rows = []
    for k, clip in enumerate(clips(args.data, args.clips)):
        bad, skate, lift = spoiled(clip, k)
        began = time.perf_counter()
        good, report = clean_feet(bad, 0.0)
        seconds = time.perf_counter() - began
        slide, floor = feet_measures(good, stance_contacts(good), 0.0)
        truth = foot_contacts(clip, 0.0)
        true_slide, true_floor = feet_measures(good, truth, 0.0)
        recorded_slide, _ = feet_measures(clip, truth, 0.0)
        found = stance_contacts(good)
        kept = [found.foot(side)[truth.foot(side)] for side in ("left", "right")]
        was = rot.angle(rot.multiply(rot.conjugate(clip.rotations), good.rotations))
        row = {
            "clip": clip.name,
            "skate_m": skate,
            "lift_m": lift,
            "slide_m": round(slide, 4),
            "floor_m": round(floor, 4),
        }
        row |= {"true_slide_m": round(true_slide, 4), "true_floor_m": round(true_floor, 4)}
        row |= {"still_slide_m": round(still_slide(clip, good, truth), 4)}
        row |= {"recorded_slide_m": round(recorded_slide, 4), "kept": round(float(np.concatenate(kept).mean()), 3)}
        row |= {"from_recorded_deg": round(float(np.degrees(was.mean())), 2), "report": report.facts()}
        rows.append(row | {"frames": len(clip), "seconds": round(seconds, 2)})
        print(json.dumps(rows[-1]), flush=True)
    pairs = (("slide_m", "floor_m"), ("true_slide_m", "true_floor_m"), ("still_slide_m", "true_floor_m"))
    for slide_key, floor_key in pairs:
        slides, floors = (np.array([r[key] for r in rows]) for key in (slide_key, floor_key))
        within = int(np.sum((slides < 0.005) & (floors < 0.005)))
        print(f"{slide_key}, {floor_key}: {within} of {len(rows)} clips within 5 mm")
    for key in (
        "slide_m",
        "floor_m",
        "true_slide_m",
        "still_slide_m",
        "true_floor_m",
        "recorded_slide_m",
        "kept",
        "from_recorded_deg",
    ):
        values = np.array([r[key] for r in rows])
        print(f"{key}: median {np.median(values):.4f}, least {values.min():.4f}, most {values.max():.4f}")


if __name__ == "__main__":
    main()
