"""Depth of limbs in the body, judged by what recorded people have, and apart from the clearance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_makers import person, still, turned

from elbowroom.motion.clip import Clip
from elbowroom.report import report
from elbowroom.report.measure import Report
from elbowroom.report.sections import body
from elbowroom.world.own_pairs import limbs_apart
from elbowroom.world.world import World


def hanging(inwards: float) -> Clip:
    """A recorded person whose arms hang down, turned into the body by degrees past the vertical."""
    clip = still(person(), seconds=1.0)
    angle = np.full(len(clip), np.radians(90.0 + inwards))
    clip = turned(clip, "left_upper_arm", [0.0, 1.0, 0.0], angle)
    clip = turned(clip, "right_upper_arm", [0.0, 1.0, 0.0], -angle)
    return clip.with_(source=replace(clip.source, format="bvh"))


def found(inwards: float) -> Report:
    return report(World().with_character("ann", hanging(inwards)))


def test_arms_beside_the_body_are_good():
    own = found(-25.0).people[0].own
    assert own.light == "good" and own.depth.max() == 0.0 and "No limb" in own.says


def test_arms_turned_into_the_body_are_deeper_and_deeper():
    reports = [found(turn) for turn in (-5.0, 5.0, 20.0)]
    depths = [r.people[0].own.depth.max() for r in reports]
    assert depths == sorted(depths) and depths[0] < depths[-1]
    deep = reports[-1].people[0].own
    assert deep.light == "bad" and "pass through" in deep.says and reports[-1].light == "bad" and reports[-1].collides
    assert any(p is not None and "arm" in p.a + p.b for p in deep.pairs)
    facts = deep.facts()
    assert (
        facts["depth_m"] == pytest.approx(depths[-1], abs=1e-4) and facts["overlaps"][0]["depth_m"] == facts["depth_m"]
    )
    assert "<svg" in body(deep) and deep.moments[0].badness > 1.0


def test_an_overlap_with_the_own_body_is_not_a_clearance_of_a_recording():
    deep = found(20.0)
    assert deep.clearance.light == "good" and "own" not in [key for _, key, m in deep.measures if m.light == "good"]
    planned = hanging(20.0)
    planned = planned.with_(source=replace(planned.source, format=""))
    assert report(World().with_character("ann", planned)).clearance.light == "bad"


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("left_forearm", "left_thigh", True),
        ("left_hand", "pelvis", True),
        ("left_shin", "right_shin", True),
        ("left_upper_arm", "right_thigh", True),
        ("left_upper_arm", "chest", False),
        ("left_thigh", "left_shin", False),
        ("left_thigh", "chest", False),
        ("left_hand", "left_forearm", False),
        ("left_foot", "left_toes", False),
    ],
)
def test_folds_of_flesh_are_told_from_limbs(one: str, other: str, apart: bool):
    assert limbs_apart(one, other) is apart and limbs_apart(other, one) is apart
