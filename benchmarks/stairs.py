"""Stairs and ramps of several sizes: whether the walk up and down is free by itself, before any repair, and its time.

python benchmarks/stairs.py [NUMBER ...]
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from elbowroom.character.human import preset
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.checks.ground import standing_at
from elbowroom.plan.state.settings import USUAL
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Go
from elbowroom.plan.walking.go import go
from elbowroom.props.makers import made
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

FPS, FOOT_M, LANDING_M = 30.0, 1.2, 1.5
# Body, number of steps, rise and tread of each, metres.
STAIRS = (
    ("woman", 6, 0.17, 0.28),
    ("woman", 5, 0.12, 0.35),
    ("man", 5, 0.2, 0.25),
    ("man", 16, 0.175, 0.27),
    ("child", 4, 0.15, 0.3),
)
# Body, length and rise, metres.
RAMPS = (("woman", 4.0, 0.5), ("man", 4.0, 0.5))


def cases() -> list[tuple[str, str, Mesh, float]]:
    """Name, body, mesh, and the way along -Y to the middle of its landing."""
    found = []
    for body, steps, rise, tread in STAIRS:
        options = {"steps": steps, "rise": rise, "tread": tread, "landing": LANDING_M, "railing": False}
        name = f"{steps} steps of {100 * rise:g} on {100 * tread:g} cm"
        found.append((name, body, made("stairs", options)["stairs"], (steps - 1) * tread + 0.5 * LANDING_M))
    for body, length, rise in RAMPS:
        options = {"length": length, "rise": rise, "landing": LANDING_M}
        found.append(
            (f"ramp of {rise:g} on {length:g} m", body, made("ramp", options)["ramp"], length + 0.5 * LANDING_M)
        )
    return found


def main() -> None:
    """Measure and print all cases, or those with the numbers that are given."""
    only = [int(number) for number in sys.argv[1:]]
    for number, (name, body, mesh, far) in enumerate(cases()):
        if only and number not in only:
            continue
        scene = World(static={"climbed": mesh.moved(transform([0.0, -FOOT_M, 0.0]))})
        world = standing_at(scene, "ann", preset(body), (0.0, 0.0), 0.0, FPS)
        d = Director(world, replace(USUAL, tier="ik"), FPS, 0)  # no repair in this tier
        seconds = []
        for goal in ((0.0, -FOOT_M - far), (0.0, 0.0)):
            begun = time.process_time()
            go(d, Go(who="ann", to=goal))
            seconds.append(time.process_time() - begun)
        begun = time.process_time()
        proof = certify(d.world, clearance=False)
        up, down = seconds
        met = [f"{c.pair.a} at {c.during[0]:.1f} s" for c in (*proof.collisions, *proof.unproven)]
        spent = time.process_time() - begun
        motion = d.world.motion("ann")
        slide = float(np.max(foot_slide(motion), initial=0.0)) if isinstance(motion, Clip) else np.nan
        print(f"{name}, {body}: {', '.join(met) or 'free'}; up {up:.1f} s, down {down:.1f} s, "
              f"certificate {spent:.1f} s; feet slide by at most {1000.0 * slide:.1f} mm", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
