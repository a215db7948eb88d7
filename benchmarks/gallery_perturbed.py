"""Gallery scenarios that are not quite those of the gallery: something is removed from the scene, or moved.

Each change is drawn at random: one mesh of the scene is left out, or one object begins up to 4 cm elsewhere. Results
depend on the seed alone; `--seconds` bounds the wall clock of each plan.

    python benchmarks/gallery_perturbed.py [NAME ...] [--each 6] [--seed 1] [--seconds 300]
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from collections import Counter
from typing import Any

import yaml

from elbowroom.errors import ElbowroomError
from elbowroom.gallery.scenes import scenario
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.storyboard.yaml_lines import read_yaml

# fmt: off
SCENARIOS = [
    "jar", "bookshelf", "cluttered-desk", "drawer", "top-shelf", "low-shelf", "switch", "under-table", "handover",
    "fetch-jar", "twin-grasp", "regrasp", "cabinet", "crate-from-floor", "long-pole", "car-trunk", "drawer-two",
    "adult-and-child", "walk-and-take", "door", "object-retrieval", "object-placement", "under-the-sink",
    "tools-under-a-chair", "through-the-window", "car-engine", "clown-box", "fetch-mug", "hat-thief",
    "cheese-and-hat",
]
# fmt: on
MOVED_M = 0.04


def perturbed(values: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], str] | None:
    """Values of a storyboard with one change, and its description; None where there is nothing to move."""
    values = copy.deepcopy(values)
    meshes = values["scene"].get("meshes", [])
    if rng.random() < 0.5 and len(meshes) > 2:
        gone = meshes.pop(rng.randrange(len(meshes)))
        return values, f"without {gone.get('name', gone)}" if isinstance(gone, dict) else f"without {gone}"
    placed = [name for name, part in values.get("objects", {}).items() if "at" in part]
    if not placed:
        return None
    name = rng.choice(placed)
    off = [rng.uniform(-MOVED_M, MOVED_M) for _ in range(2)]
    values["objects"][name]["at"][:2] = [a + b for a, b in zip(values["objects"][name]["at"], off, strict=False)]
    return values, f"{name} moved by {off[0]:+.3f}, {off[1]:+.3f} m"


def outcome(name: str, values: dict[str, Any], seconds: float) -> str:
    """Status of a changed scenario, with its reason where there is no motion."""
    text = yaml.safe_dump(values, allow_unicode=True, sort_keys=False)
    try:
        plan = plan_storyboard(parse_storyboard(text, scenario(name).path), budget=seconds, probes=0)
    except ElbowroomError as error:
        return f"bad input: {error}"
    return plan.status if plan.found else f"{plan.status}: {plan.why}"


def main() -> None:
    """Print each case as it ends, and how many ended how."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("names", nargs="*", default=SCENARIOS)
    ask.add_argument("--each", type=int, default=6)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--seconds", type=float, default=300.0)
    told = ask.parse_args()
    counts: Counter[str] = Counter()
    for name in told.names:
        rng = random.Random(f"{name} {told.seed}")
        values = read_yaml(scenario(name).path).values
        for _ in range(told.each):
            changed = perturbed(values, rng)
            if changed is None:
                continue
            begun = time.process_time()
            found = outcome(name, changed[0], told.seconds)
            counts[found.partition(":")[0]] += 1
            print(f"{name}, {changed[1]}: {found} ({time.process_time() - begun:.1f} s)", flush=True)
    print(", ".join(f"{number} {status}" for status, number in counts.most_common()))


if __name__ == "__main__":
    main()
