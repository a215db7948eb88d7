"""Cancels that come at bad moments: they wait, and nothing is broken after them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba

from elbowroom.studio.worker import Job, Worker, deaf

_CANCELS = """
import random, time
from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import still_clip
from elbowroom.studio.worker import Job, Worker
from elbowroom.world.certificate import certify
from elbowroom.world.fast import LimbCheck
from elbowroom.world.world import World
from tools.simple_bodies import swinging

world = World(floor=None).with_character("it", swinging([0.0, 0.4, 0.0]))
world = world.with_static("box", box([0.1, 0.1, 0.1], at=[0.7, 0.4, 0.0]))
certify(world)
check = LimbCheck(World().with_character("ann", still_clip(human(skin=False))), "ann", "right_arm", (0.0, 0.0))
worker, rng = Worker(), random.Random(0)


def proofs(job):
    while True:
        certify(world, clearance=False)
        check._local.__dict__.clear()  # as in a thread that has not looked yet
        check.desk()


for _ in range(500):
    job = worker.submit(Job("proofs", proofs))
    time.sleep(rng.uniform(0.0, 0.006))
    worker.cancel()
    assert job.finished.wait(20.0)
print("alive" if worker.alive else "dead")
"""


def test_cancels_amid_proofs_never_end_the_process() -> None:
    """Each comes at another moment; what breaks there takes the whole process with it, so it has one of its own."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", _CANCELS], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0 and done.stdout == "alive\n", done.stderr[-2000:]


def test_a_cancel_amid_the_compiler_waits_for_its_end() -> None:
    """One that comes while tables of the compiler are filled would leave them so, for all that comes after."""
    worker = Worker()
    try:
        for k in range(3):
            job = worker.submit(Job("compile", lambda job, k=k: numba.njit(lambda x: x + k)(1)))
            time.sleep(0.02 + 0.03 * k)
            worker.cancel()
            assert job.finished.wait(60.0)
        assert int(numba.njit(lambda x: 2 * x)(3)) == 6
        place: dict[str, Any] = {}
        exec(compile("def inside(f):\n    return f()\n", "/site-packages/numba/core/base.py", "exec"), place)
        assert not deaf(sys._getframe(), ends=False)
        assert place["inside"](lambda: deaf(sys._getframe(), ends=False))
        assert not place["inside"](lambda: deaf(sys._getframe()))
    finally:
        worker.stop()
