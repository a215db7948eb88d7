"""Damaged clips with a defect of known size are measured right and not passed; clean ones are passed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pytest

from conftest import DATA, benchmark_module
from elbowroom.character.human import human
from elbowroom.files.bvh import read_bvh
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.report import report
from elbowroom.report.balance import SHARES
from elbowroom.report.measure import PersonMeasures, Report
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.world import World

independent = benchmark_module("report_independent")
cases = benchmark_module("report_damage_cases")

WITHIN = 0.15


@lru_cache
def clean(name: str) -> tuple[Clip, Certificate]:
    """A clip without a defect, and what is proven of it alone."""
    if name == "walk":
        clip = walk(human(1.70), 1.2, seconds=2.5, fps=60.0)
    elif name == "stand":
        clip = idle(human(1.70), seconds=3.0, fps=60.0)
    else:
        clip = cases.levelled(without_lead(read_bvh(DATA / "mocap" / "cmu_bvh" / f"{name}.bvh")))
    return clip, certify(cases.alone(clip))


@pytest.mark.parametrize("name", ["walk", "stand"])
def test_clean_clips_are_ready(name: str):
    clip, proven = clean(name)
    found = report(cases.alone(clip), certificate=proven)
    assert found.verdict[0] == "Ready to use"
    ann = found.people[0]
    assert ann.feet.slides.max() < 0.005 and ann.floating.most < 0.005 and ann.sinking.most < 0.005


def check(name: str, damage: Callable[[Clip], object]) -> None:
    clip, proven = clean(name)
    case = damage(clip)
    wall = bool(case.world.static)
    found = report(case.world, certificate=None if wall else proven)
    assert case.read(found) == pytest.approx(case.true, rel=WITHIN)
    light = {key: m.light for _, key, m in found.measures}[case.measure]
    assert light in ("look", "bad") and found.verdict[0] == "Not ready"


@pytest.mark.parametrize("damage", cases.WALKING, ids=lambda d: d.__name__)
def test_damage_to_a_walk_is_measured(damage: Callable[[Clip], object]):
    check("walk", damage)


@pytest.mark.parametrize("damage", cases.STANDING[:3], ids=lambda d: d.__name__)
def test_damage_to_a_stand_is_measured(damage: Callable[[Clip], object]):
    check("stand", damage)


@pytest.mark.parametrize("damage", cases.WALKING[:8], ids=lambda d: d.__name__)
def test_damage_to_a_recorded_walk_is_measured(damage: Callable[[Clip], object], data: object):
    check("02_01", damage)


def measured(clip: Clip) -> tuple[Report, PersonMeasures]:
    """A report that proves nothing anew."""
    found = report(World().with_character("ann", clip), certificate=clean("walk")[1])
    return found, found.people[0]


@pytest.mark.parametrize("name", ["02_01", "07_01", "07_12", "69_24"])
def test_balance_of_recorded_walks_is_that_of_an_independent_calculation(name: str, data: object):
    """07_12 is a brisk walk of which one foot used to be left out: told to be 35 cm beside its feet."""
    clip = without_lead(read_bvh(DATA / "mocap" / "cmu_bvh" / f"{name}.bvh"))
    _, ann = measured(clip)
    level = float(np.median(independent.sole_points(clip)[..., 2].min(axis=1)))
    zmp, margin = independent.zero_moment_point(clip, level), independent.zmp_margin(clip, level)
    off = np.linalg.norm(ann.balance.zmp - zmp, axis=-1)[np.isfinite(ann.balance.zmp_margin)]
    assert np.nanmedian(off) < 0.012 and np.nanpercentile(off, 95.0) < 0.035
    share = float(np.mean(margin[np.isfinite(margin)] < -0.06))
    assert share < SHARES[0] and abs(ann.balance.outside_share - share) < 0.06
    assert ann.balance.light == ("look" if name == "07_12" else "good")  # its soles are near the bound
    assert "bad" not in {m.light for m in ann.measures.values()}
