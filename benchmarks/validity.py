"""Fast validity of limb postures: is it safe, how much does it leave open, and how fast is it?

Safety: in six scenes, and one more at worst, every posture that the fast check calls free is given to the exact test. A
sample of the sure hits is given to it as well. Speed: against Pinocchio with Coal on the same shapes and pairs, in the
same run, on one core. Ours is one compiled call for all postures, as planners use it; theirs is one call from Python
for each, with its pairs in their quickest order. What one call from Python for each posture takes of ours is shown as
well (single_us).

    python benchmarks/validity.py [--postures 3000] [--data FOLDER] [--scene NAME] [--no-speed] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from elbowroom.world.fast import FREE, HIT, UNCERTAIN, LimbCheck
from validity_pinocchio import Rival, speed_scene
from validity_scenes import Scene, postures, scenes

# Postures of which all are looked at by the exact test at once.
CHUNK = 20_000
# The share of sure hits that the exact test is asked about.
HITS_ASKED = 0.05


def safety(scene: Scene, count: int, seed: int = 1) -> dict[str, float]:
    """Postures, those in collision, those left in doubt, and those that were called wrongly."""
    check = LimbCheck(scene.world, scene.who, scene.limb)
    rng = np.random.default_rng(seed)
    figures = dict.fromkeys(
        ("postures", "hits", "doubts", "doubts at first", "wrong free", "wrong hit", "hits asked"), 0
    )
    for first in range(0, count, CHUNK):
        q, t = postures(scene, min(CHUNK, count - first), seed + first)
        quick, keen = check.batch(q, t), check.batch(q, t, resolve_uncertain=True)
        free = (quick == FREE) | (keen == FREE)
        asked = free | (keen == UNCERTAIN) | ((keen == HIT) & (rng.random(len(q)) < HITS_ASKED))
        true = np.ones(len(q), dtype=bool)
        true[asked] = check.hits_batch(q[asked], t[asked])
        figures["postures"] += len(q)
        figures["hits"] += int(true.sum())
        figures["doubts"] += int((keen == UNCERTAIN).sum())
        figures["doubts at first"] += int((quick == UNCERTAIN).sum())
        figures["wrong free"] += int((free & true).sum())
        figures["wrong hit"] += int((asked & (keen == HIT) & ~true).sum())
        figures["hits asked"] += int((asked & (keen == HIT)).sum())
    return figures


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def speed(data: Path, count: int = 300, stations: int = 30, repeats: int = 5) -> dict[str, float]:
    """Microseconds for each posture of both, and how often they agree."""
    scene = speed_scene(data, stations)
    check = LimbCheck(scene.world, scene.who, scene.limb)
    rival = Rival(check, scene)
    rng = np.random.default_rng(3)
    sets = []
    for k in range(stations):
        q, _ = postures(scene, count, 100 + k)
        sets.append((q, float(rng.uniform(*scene.stays[k]))))
    rival.tune([(q[:60], t) for q, t in sets])
    every = np.concatenate([q for q, _ in sets])
    times = np.concatenate([np.full(len(q), t) for q, t in sets])
    best = {"fast": np.inf, "exact": np.inf, "rival": np.inf}
    check.free_batch(every[:2000], times[:2000])
    for _ in range(repeats):
        best["fast"] = min(best["fast"], seconds(lambda: check.batch(every, times)))
        best["exact"] = min(best["exact"], seconds(lambda: check.free_batch(every, times)))
        spent, found = 0.0, []
        for q, t in sets:
            rival.place(t)
            rows = rival.rows(q)
            start = time.process_time()
            found.append([rival.hits(row) for row in rows])
            spent += time.process_time() - start
        best["rival"] = min(best["rival"], spent)
    single = seconds(lambda: [check.free(q, t, exact=False) for q, t in zip(every[:2000], times[:2000], strict=True)])
    codes, theirs = check.batch(every, times), np.concatenate(found)
    ours = ~check.free_batch(every, times)
    n = len(every)
    return {
        "triangles": float(scene.world.triangles),
        "postures": float(n),
        "pairs": float(len(rival.model.collisionPairs)),
        "hits": float(theirs.mean()),
        "fast_us": 1e6 * best["fast"] / n,
        "exact_us": 1e6 * best["exact"] / n,
        "single_us": 1e6 * single / 2000,
        "pinocchio_us": 1e6 * best["rival"] / n,
        "times faster, band as hit": best["rival"] / best["fast"],
        "times faster, exact in the band": best["rival"] / best["exact"],
        "band": float((codes == UNCERTAIN).mean()),
        "free but hit by Coal": float(((codes == FREE) & theirs).sum()),
        "agree": float((ours == theirs).mean()),
    }


def main() -> None:
    """Print tables, or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--postures", type=int, default=3000, help="in each scene")
    parser.add_argument("--stations", type=int, default=60)
    parser.add_argument("--data", type=Path, default=os.environ.get("ELBOWROOM_DATA"))
    parser.add_argument("--scene", action="append")
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    made = scenes(options.data, options.stations)
    results: dict[str, dict[str, float]] = {}
    for name in options.scene or made:
        results[name] = safety(made[name](), options.postures)
        if not options.json:
            _print(name, results[name])
    if not options.no_speed and options.data is not None:
        results["speed"] = speed(options.data)
        if not options.json:
            print("\n".join(f"{key:<34}{value:12.3f}" for key, value in results["speed"].items()))
    if options.json:
        print(json.dumps(results))


def _print(name: str, f: dict[str, float]) -> None:
    n = f["postures"]
    print(
        f"{name:<12}{n:9.0f} postures, {f['hits'] / n:6.1%} in collision, {f['doubts'] / n:6.2%} left to the exact "
        f"test ({f['doubts at first'] / n:5.1%} at the first doubt), {f['wrong free']:.0f} free that are hits, "
        f"{f['wrong hit']:.0f} of {f['hits asked']:.0f} hits that are free",
        flush=True,
    )


if __name__ == "__main__":
    main()
