"""Motions that come to rest near a target pause there while a task is done; tasks with a time keep their timing."""

from __future__ import annotations

from functools import cache

import numpy as np

import elbowroom as er
from elbowroom.geometry.solids import box, cylinder
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Grab, Put
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.made_of_edits import assert_made_of_edits

# Seconds at which somebody comes to rest, and leaves again.
COMES, LEAVES = 1.5, 2.5


def coming() -> Clip:
    """A woman who glides one metre forward to a table, rests there for a second and glides aside."""
    clip = er.idle(er.preset("woman"), seconds=4.0, fps=30.0)
    root = np.array(clip.root)
    root[:, 1] += np.interp(clip.times, [0.0, COMES], [1.0, 0.0])
    root[:, 0] += np.interp(clip.times, [LEAVES, 4.0], [0.0, 1.0])
    return clip.with_(root=root)


def scene(clip: Clip) -> World:
    """A table before where the woman rests, with a can on it."""
    world = World(floor=0.0).with_character("ann", clip)
    world = world.with_static("table", box((0.9, 0.4, 0.03), (0.0, -0.65, 0.885)))
    return world.with_object("can", cylinder(0.033, 0.12), Still(transform([-0.1, -0.58, 0.9602])), mass=0.3)


@cache
def taken() -> Plan:
    return plan_tasks(
        scene(coming()), [Grab(who="ann", object="can"), Put(who="ann", object="can", to=(0.1, -0.58, 0.9602))]
    )


def test_a_motion_pauses_at_rest_and_goes_on_as_it_was():
    plan, clip = taken().require(), coming()
    motion = plan.world.motion("ann")
    assert isinstance(motion, Clip)
    (note,) = (n for n in plan.world.notes if "pauses at" in n)
    begin, lasts = float(note.split()[3]), float(note.split()[-2])
    assert COMES <= begin <= LEAVES and lasts > 1.0
    assert len(motion) == len(clip) + round(lasts * clip.fps)
    k = round(begin * clip.fps)
    left = len(clip) - k - 1
    np.testing.assert_array_equal(motion.root[:k], clip.root[:k])
    np.testing.assert_array_equal(motion.root[-left:], clip.root[-left:])
    assert_made_of_edits(plan)


def test_feet_stay_planted_while_it_pauses():
    plan, clip = taken(), coming()
    motion = plan.world.motion("ann")
    assert isinstance(motion, Clip)
    during = (motion.times > COMES + 0.3) & (motion.times < motion.times[-1] - (clip.times[-1] - COMES))
    feet = [motion.character.roles[f"{side}_foot"] for side in ("left", "right")]
    assert np.ptp(motion.world()[during][..., :2, 3][:, feet], axis=0).max() < 0.002


def test_a_slow_drift_is_no_walk():
    """A drift of a quarter of a metre in all used to be planned as a walk."""
    clip = er.idle(er.preset("woman"), seconds=4.0, fps=30.0)
    root = np.array(clip.root)
    root[:, 0] += np.linspace(0.0, 0.25, len(clip))
    plan = plan_tasks(scene(clip.with_(root=root)), [Grab(who="ann", object="can")]).require()
    assert all(" at " not in edit.reason or "ease" in edit.reason for edit in plan.edits), "nothing is done in passing"


def test_a_task_with_a_time_keeps_the_timing_of_the_motion():
    clip = coming()
    plan = plan_tasks(scene(clip), [Grab(who="ann", object="can", at=2.2)])
    assert not any("pauses at" in note for note in plan.world.notes)
    motion = plan.world.motion("ann")
    assert isinstance(motion, Clip) and len(motion) == len(clip)
    np.testing.assert_array_equal(motion.root, clip.root)
