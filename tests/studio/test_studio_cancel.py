"""Cancels: work stops by itself where it looks up; what comes from outside waits at bad moments, and breaks nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import pytest
from studio_makers import studio_of, umbrella

from elbowroom.geometry import fields
from elbowroom.geometry.solids import box
from elbowroom.stopping import may_stop_here, stoppable
from elbowroom.studio.forcing import Cancelled, deaf
from elbowroom.studio.worker import Job, Worker

_CANCELS = """
import random, time
from contextlib import nullcontext
import elbowroom.studio.worker
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
elbowroom.studio.worker._PATIENCE = 0.0
elbowroom.studio.worker.stoppable = lambda look: nullcontext()  # work that does not look up is stopped from outside


def proofs(job):
    while True:
        certify(world, clearance=False)
        check._local.__dict__.clear()  # as in a thread that has not looked yet
        check.desk()


for _ in range(500):
    job = worker.submit(Job("proofs", proofs))
    time.sleep(rng.uniform(0.0, 0.006))
    worker.cancel()
    assert job.finished.wait(20.0) and job.forced == bool(job.begun)
print("alive" if worker.alive else "dead")
"""


def test_cancels_amid_proofs_never_end_the_process() -> None:
    """Each comes at another moment; what breaks there takes the whole process with it, so it has one of its own."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", _CANCELS], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0 and done.stdout == "alive\n", done.stderr[-2000:]


def test_a_cancel_amid_the_compiler_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes while tables of the compiler are filled would leave them so, for all that comes after."""
    monkeypatch.setattr("elbowroom.studio.worker._PATIENCE", 0.0)
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


def test_work_that_looks_up_stops_by_itself_and_other_work_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elbowroom.studio.worker._PATIENCE", 0.3)
    worker = Worker()

    def polite(job: Job) -> None:
        while True:
            may_stop_here()
            time.sleep(0.001)

    def stubborn(job: Job) -> None:
        while True:
            time.sleep(0.001)

    try:
        for work, forced in ((polite, False), (stubborn, True), (polite, False)):
            job = worker.submit(Job("endless", work))
            while job.state != "running":
                time.sleep(0.001)
            begun = time.monotonic()
            worker.cancel()
            assert job.finished.wait(10.0) and job.state == "cancelled" and job.forced is forced
            assert (time.monotonic() - begun >= 0.3) is forced
    finally:
        worker.stop()
    may_stop_here()  # nobody asks here


def test_a_plan_stops_by_itself_whenever_it_is_cancelled(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        for after in (0.0, 0.05, 0.15, 0.3, 0.45, 0.6):
            studio.plan_from_scratch()
            job = studio.worker.current
            assert job is not None
            while job.state == "waiting":
                time.sleep(0.001)
            time.sleep(after)
            studio.cancel()
            assert job.finished.wait(60.0) and not job.forced
            assert job.state == "cancelled" or after > 0.3  # a quick machine may be done by then


def test_a_studio_that_is_busy_ends_at_once(tmp_path: Path) -> None:
    with studio_of(umbrella(), tmp_path) as studio:
        studio.replan()
        while studio.worker.current is None or studio.worker.current.state != "running":
            time.sleep(0.001)
        time.sleep(0.1)
        job = studio.worker.current
        studio.close()
        assert not studio.worker.alive and not studio.filer.alive and not studio.player.alive
        assert job is not None and job.state in ("cancelled", "done") and not job.forced


def test_distance_fields_stop_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices are measured by other threads, which nobody asks to stop: who waits for them does."""
    monkeypatch.setattr(fields, "FEW_BRICKS", 1)
    monkeypatch.setattr(fields, "_SLICE", 10)
    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 3:
            raise Cancelled

    mesh = box([1.0, 1.3, 0.7])
    with pytest.raises(Cancelled), stoppable(look):
        fields.distance_field(mesh, keep=False)
    assert len(looks) == 3
    assert fields.distance_field(mesh, keep=False).arrays.start.shape  # what was given up is made anew
