"""Built-in clips under the exact check: which of them, for which bodies, are not proven free, and how near limbs come.

Every preset stands, walks at four speeds and five rates of turn, runs, goes over from a walk to a run and walks along
curves. Feet stand on a floor that they may press into as `certify` allows.

    python benchmarks/builtin_clips.py [--only gorilla] [--seconds 4] [--all] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import PRESETS, human, preset
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import run, walk, walk_along, walk_to_run
from elbowroom.motion.clip import Clip, Motion
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.world import World

PATH: Array = np.array([(-0.2, 3.4), (0.1, 2.2), (0.5, 1.0), (0.4, -0.3), (-0.6, -1.2), (-1.9, -1.6), (-3.2, -1.7)])
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 9)
CURVES: dict[str, Array] = {
    "stroll": PATH,
    "s bend": np.array([(0.0, 0.0), (0.5, -1.0), (-0.5, -2.0), (0.5, -3.0), (0.0, -4.0)]),
    "circle": np.stack([np.sin(_ANGLES), -1.0 + np.cos(_ANGLES)], axis=-1),
}


def clips(person: Character, seconds: float) -> Iterator[tuple[str, Callable[[], Clip]]]:
    """Names and makers of all clips of one person."""
    yield "idle", lambda: idle(person, 3.0 * seconds)
    for speed in (0.6, 1.0, 1.4, 1.8):
        for turn in (0.0, 30.0, -30.0, 60.0, -60.0):
            yield f"walk {speed} m/s {turn:+.0f}°/s", lambda v=speed, w=turn: walk(person, v, w, seconds)
    for speed in (2.5, 3.5):
        for turn in (0.0, 30.0, -30.0):
            yield f"run {speed} m/s {turn:+.0f}°/s", lambda v=speed, w=turn: run(person, v, w, seconds)
    yield "walk to run", lambda: walk_to_run(person)
    for name, path in CURVES.items():
        yield f"along {name}", lambda p=path: walk_along(person, p)


def rows_of(name: str, person: Character, seconds: float) -> Iterator[dict[str, Any]]:
    """What `certify` says of each clip of one person."""
    for what, make in clips(person, seconds):
        yield _row(name, what, lambda make=make: World(floor=0.0).with_character("p", make()))


def _row(name: str, what: str, make: Callable[[], World]) -> dict[str, Any]:
    start = time.perf_counter()
    world = make()
    made = time.perf_counter()
    found = certify(world)
    return {
        "who": name,
        "what": what,
        "free": found.free,
        "clearance_mm": None if found.clearance_m is None else 1000.0 * found.clearance_m,
        "nearest": [n.removeprefix("p.") for n in found.pair or ()],
        "worst_mm": _worst(found),
        "unproven": len(found.unproven),
        "abduction_deg": abduction(world.characters["p"]),
        "make_s": made - start,
        "certify_s": time.perf_counter() - made,
    }


def _worst(found: Certificate) -> dict[str, float]:
    """The deepest collision of each pair, millimetres."""
    worst: dict[str, float] = {}
    for c in found.collisions:
        pair = "/".join(n.removeprefix("p.") for n in c.pair)
        worst[pair] = max(worst.get(pair, 0.0), 1000.0 * (c.depth_m or 0.0))
    return worst


def abduction(motion: Motion) -> float:
    """How far the left upper arm stands out from the body on average, degrees from the vertical."""
    T = motion.body.transforms(*motion.sample(motion.times))  # type: ignore[attr-defined]
    roles = motion.body.roles
    arm = T[:, roles["left_forearm"], :3, 3] - T[:, roles["left_upper_arm"], :3, 3]
    across = T[:, roles["left_upper_arm"], :3, 3] - T[:, roles["right_upper_arm"], :3, 3]
    across[:, 2] = 0.0
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return float(np.degrees(np.mean(np.arctan2(np.sum(arm * across, axis=1), -arm[:, 2]))))


def main() -> None:
    """Print a table of what is not free, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", choices=sorted(PRESETS))
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--all", action="store_true", help="also what is free")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    people = {name: preset(name) for name in ([told.only] if told.only else PRESETS)}
    rows = [row for name, person in people.items() for row in rows_of(name, person, told.seconds)]
    if not told.only:
        path = _row("human 1.72", "stroll", lambda: World(floor=0.0).with_character("p", walk_along(human(1.72), PATH)))
        rows.append(path)
    if told.json:
        print(json.dumps(rows, indent=2))
        return
    print(
        f"{'who':10} {'what':24} {'clearance':>9}  {'arm':>4} {'make s':>6} {'prove s':>7}  nearest, or what collides"
    )
    for r in rows:
        if r["free"] and not told.all:
            continue
        near = "/".join(r["nearest"]) if r["free"] else ", ".join(f"{p} {d:.1f}" for p, d in r["worst_mm"].items())
        near += f", {r['unproven']} unproven" if r["unproven"] else ""
        gap = "" if r["clearance_mm"] is None else f"{r['clearance_mm']:.1f}"
        print(
            f"{r['who']:10} {r['what']:24} {gap:>9}  {r['abduction_deg']:4.1f} {r['make_s']:6.2f} {r['certify_s']:7.2f}"
            f"  {near}"
        )
    print(f"{sum(r['free'] for r in rows)} of {len(rows)} clips are proven free.")


if __name__ == "__main__":
    main()
