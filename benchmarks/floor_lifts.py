"""Crates lifted from the floor onto a bench by people of several builds, feet chosen by the planner or in place.

    python benchmarks/floor_lifts.py
    python benchmarks/floor_lifts.py --who man heavy --feet stay --posture squat stoop

Each body lifts three sizes of crate from before it and from 15 cm to the left and to the right. A row says what was
found, the deepest contact of belly and thigh that the certificate lists, and processor seconds with the certificate.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Move
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# Sizes of crates for 1.75 m of stature: across, deep and high, metres; kilograms.
_CRATES = {"small": ((0.28, 0.2, 0.18), 2.0), "crate": ((0.38, 0.28, 0.26), 5.0), "wide": ((0.5, 0.34, 0.3), 8.0)}
_STATURE_M = 1.75
# Places of its middle: to the left, and before the middle of the feet, metres for that stature.
_PLACES = {"middle": (0.0, 0.45), "left": (0.15, 0.45), "right": (-0.15, 0.45)}
# The bench behind it: distance, depth, height of its top, metres for that stature.
_BENCH = (0.95, 0.4, 0.72)
_ROOM_M = 0.0005


def body_of(who: str) -> Character:
    """A preset, a heavy man, a slight man, or a heavy woman."""
    own = {
        "heavy": lambda: human(height=1.8, mass=100.0, sex="male"),
        "slight": lambda: human(height=1.75, mass=62.0, sex="male"),
        "heavy woman": lambda: human(height=1.65, mass=85.0, sex="female"),
    }
    return own[who]() if who in own else er.preset(who)


def scene(who: str, crate: str, place: str) -> tuple[World, tuple[float, float, float]]:
    """Somebody before a crate on the floor and a bench beyond it, and the crate's goal on the bench."""
    body = body_of(who)
    scale = body.height / _STATURE_M
    size, mass = np.array(_CRATES[crate][0]) * scale, _CRATES[crate][1] * scale**3
    left, ahead = np.array(_PLACES[place]) * scale
    far, deep, top = np.array(_BENCH) * scale
    world = World(floor=0.0).with_character("ann", er.idle(body, seconds=1.0, fps=30.0))
    world = world.with_static("bench", box((1.4 * scale, deep, 0.04), (0.0, -far, top - 0.02)))
    at = transform([left, -ahead, 0.5 * size[2] + _ROOM_M])
    goal = (0.0, -(far - 0.5 * deep + 0.5 * size[1]), top + 0.5 * size[2] + _ROOM_M)
    return world.with_object("crate", box(tuple(size)), Still(at), mass=mass), goal


def main() -> None:
    """Read the command line and print a row for each lift."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--who", nargs="+", default=["woman", "man", "child", "heavy", "slight", "heavy woman"])
    parser.add_argument("--posture", nargs="+", default=["auto", "squat", "stoop"])
    parser.add_argument("--crate", nargs="+", default=list(_CRATES))
    parser.add_argument("--place", nargs="+", default=list(_PLACES))
    parser.add_argument("--feet", default="auto", choices=["auto", "stay"])
    asked = parser.parse_args()
    rows: Counter[tuple[str, str, bool]] = Counter()
    for who in asked.who:
        for crate in asked.crate:
            for place in asked.place:
                for posture in asked.posture:
                    world, goal = scene(who, crate, place)
                    task = Move(who="ann", object="crate", to=goal, posture=posture, feet=asked.feet)
                    begun = time.process_time()
                    plan = plan_tasks(world, [task], Settings(probes=0))
                    seconds = time.process_time() - begun
                    allowed = plan.certificate.allowed if plan.certificate else ()
                    soft = [a.depth_m for a in allowed if a.why == "soft tissue"]
                    free = plan.certificate is not None and plan.certificate.free
                    rows[who, posture, free] += 1
                    deep = f"{1000 * max(soft, default=0.0):3.0f} mm"
                    row = f"{who:12} {crate:6} {place:7} {posture:6} {plan.status:20} {deep} {seconds:6.2f} s"
                    print(row, plan.why, flush=True)
    for (who, posture, free), count in sorted(rows.items()):
        if free:
            print(f"{who} {posture}: {count} of {count + rows[who, posture, False]} found and certified")


if __name__ == "__main__":
    main()
