"""Inside repaired intervals: no joint too fast or rough, no pop where they begin and end, feet and held things stay."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.quality import joint_jerks
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.checks.accept import Smooth, speed_limits
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.world.world import World


@cache
def stroll() -> Clip:
    return walk(human(), 1.2, 0.0, 4.0, 60.0)


def beside_the_way(role: str, t: float, size: tuple[float, float, float], off: tuple[float, float, float]) -> World:
    clip = stroll()
    at = clip.positions([t])[0, clip.character.role(role)] + off
    return World(floor=0.0).with_character("ann", clip).with_static("block", box(size, at))


def turns(clip: Clip) -> np.ndarray:
    return rot.log(rot.multiply(rot.conjugate(clip.rotations[:-1]), clip.rotations[1:])) * clip.fps


CASES = {
    "arm": ("right_hand", 2.0, (0.3, 0.08, 0.06), (-0.13, 0.0, 0.0)),
    "head": ("head", 2.0, (1.5, 0.06, 0.06), (0.0, 0.0, 0.16)),
    "shin": ("left_shin", 2.1, (0.1, 0.1, 0.2), (0.1, 0.0, -0.2)),
}


@cache
def repaired(case: str) -> Plan:
    plan = repair(beside_the_way(*CASES[case]), seed=2)
    assert plan.collisions, "nothing to repair"
    assert plan.found, plan.why
    return plan


@pytest.mark.parametrize("case", CASES)
def test_speed_jerk_and_splices(case: str) -> None:
    plan = repaired(case)
    old, new = stroll(), plan.world.characters["ann"]
    assert isinstance(new, Clip)
    added = np.linalg.norm(np.diff(turns(new) - turns(old), axis=0), axis=-1).max(axis=-1) * old.fps
    for one in plan.edits:
        first, last = (round(t * old.fps) for t in one.during)
        speed = np.linalg.norm(turns(new)[first:last], axis=-1).max(axis=0)
        assert (speed <= speed_limits(old, range(speed.shape[0]), first, last) + 1e-9).all()
        about = slice(max(first - 18, 0), last + 19)
        assert (
            joint_jerks(new.rotations[about], 60.0) <= np.maximum(1500.0, 2.0 * joint_jerks(old.rotations[about], 60.0))
        ).all()
        # velocity goes on: acceleration at the ends is that of the clip but for what a calm start adds
        assert all(added[k - 1] <= 80.0 for k in (first, last) if 0 < k < len(old) - 1)
    slide = foot_slide(new, foot_contacts(old), heights=old) - foot_slide(old, foot_contacts(old))
    assert slide.max() < 0.001


def test_what_is_too_fast_rough_or_pops_is_refused() -> None:
    """Each of the bounds can refuse, and the clip itself passes."""
    clip = stroll()
    arm = clip.character.chain("right_arm").joints
    pace = Smooth(clip, clip, arm, 60, 180)
    base = clip.rotations[60:181][:, list(arm)]
    assert pace.good(base)
    t = np.linspace(0.0, 1.0, 121)

    def leaned(angle: np.ndarray) -> np.ndarray:
        return rot.multiply(base, rot.about((1.0, 0.0, 0.0), angle[:, None] * np.array([1.0, 0.0, 0.0])))

    assert pace.good(leaned(0.2 * np.sin(np.pi * t) ** 4))
    assert not pace.good(leaned(0.2 * (t > 0.5)))  # a jump
    assert not pace.good(leaned(0.2 * np.sin(2.0 * np.pi * 10.0 * t) * np.sin(np.pi * t) ** 4))  # a tremor
    calm, popping = (pace.rough(leaned(np.sin(np.pi * t) ** power)[None])[0] for power in (4, 1))
    assert calm <= 1.0 < popping  # the second begins and ends at speed
    assert not pace.good(leaned(4.0 * np.sin(np.pi * t) ** 4))  # out of range
