"""Styles of repairs (S3): one problem, arms low or high or bent; any rig; and what cannot keep to a style says so."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from elbowroom.files.open import open_file
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import peak_jerk
from elbowroom.plan.optimise.window import Window
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.spaces.styles import CLOSE, STYLES, Style
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.world.world import World


def clip_of(world: World, who: str) -> Clip:
    motion = world.motion(who)
    assert isinstance(motion, Clip)
    return motion


def height(clip: Clip, role: str) -> Array:
    """Of a joint over all frames, metres."""
    return np.asarray(clip.world()[:, clip.character.role(role), 2, 3])


@cache
def planned(name: str, seed: int, style: str | None = None) -> Plan:
    return plan_storyboard(scenario(name).board(), seed=seed, style=style)


def at_the_height(plan: Plan, role: str, term: int) -> Array:
    """A term of a joint of ann's over the middle third of what was planned, degrees."""
    clip = clip_of(plan.world, "ann")
    joint = clip.character.role(role)
    limit = clip.character.limits[joint]
    assert limit is not None
    begin, end = plan.edits[0].during
    middle = np.abs(clip.times - 0.5 * (begin + end)) < (end - begin) / 6.0
    return np.degrees(limit.coordinates(clip.rotations[middle, joint])[:, term])


def test_the_gallery_has_one_problem_in_two_styles() -> None:
    low, high = scenario("arm-low").board(), scenario("arm-high").board()
    assert low.style == "low-arms" and high.style == "high-arms"
    assert all(np.array_equal(low.world.static[n].vertices, m.vertices) for n, m in high.world.static.items())
    a, b = (clip_of(board.world, "ann") for board in (low, high))
    assert np.array_equal(a.rotations, b.rotations) and np.array_equal(a.root, b.root)


def test_low_and_high_arms_are_clearly_different() -> None:
    low, high = planned("arm-low", 0), planned("arm-high", 0)
    for plan in (low, high):
        assert plan.found and plan.certificate is not None and plan.certificate.free
        assert [p.limb.partition(" and ")[0] for p in plan.edits] == ["right_arm"]
        before = clip_of(scenario("arm-low").board().world, "ann")
        assert peak_jerk(clip_of(plan.world, "ann")) <= max(2.0 * peak_jerk(before), 1500.0)
    swing = [at_the_height(plan, "right_upper_arm", 0) for plan in (low, high)]
    assert swing[0].min() > 50 - 4 and swing[0].max() < 100 + 4
    assert swing[1].min() > -50 - 4 and swing[1].max() < 15 + 4
    elbows = [height(clip_of(plan.world, "ann"), "right_forearm") for plan in (low, high)]
    assert elbows[1].max() - elbows[0].max() > 0.06
    apart = np.abs(elbows[1] - elbows[0])
    assert np.mean(apart > 0.06) > 0.25  # most of the way along the counter


def test_bent_arms_bend() -> None:
    plan = planned("arm-low", 1, "bent-arms")
    assert plan.found
    assert at_the_height(plan, "right_forearm", 0).min() > 70 - 4


def test_what_cannot_keep_to_a_style_is_mended_all_the_same_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Window, "in_style", lambda window, *_: window.style is CLOSE)
    plan = planned.__wrapped__("arm-high", 1, "low-arms")
    assert plan.found, plan.why
    assert any("not in the requested style" in p.reason for p in plan.edits)
    assert all("style" not in p.reason for p in planned("arm-high", 0).edits)


def test_recorded_rigs_have_styles_too(data: Path) -> None:
    """The same two styles on a skeleton from motion capture, by the roles of its joints."""
    clip = next(iter(open_file(data / "mocap/cmu_bvh/07_01.bvh").clips.values()))
    body = clip.character
    T = clip.world()[:, body.role("right_hand"), :3, 3]
    k = len(clip) // 2
    heading = clip.root[k + 20] - clip.root[k - 20]
    aside = np.cross(heading, [0.0, 0.0, 1.0])
    aside /= np.linalg.norm(aside)
    at = T[k] + 0.02 * aside
    post = box((0.05, 0.05, 0.08), at)
    world = World(floor=None).with_character("ann", clip).with_static("post", post)
    elbows = []
    for name in ("low-arms", "high-arms"):
        plan = repair(world, style=STYLES[name])
        assert plan.found and plan.edits, plan.why
        assert all("style" not in p.reason for p in plan.edits)
        elbows.append(height(clip_of(plan.world, "ann"), "right_forearm"))
    assert (elbows[1] - elbows[0]).max() > 0.08


def test_styles_of_ones_own() -> None:
    low = Style({"right_upper_arm": {"swing_x": (np.radians(20), np.radians(40))}})
    plan = plan_storyboard(scenario("arm-low").board(), seed=0, style=low)
    assert plan.found
    swing = at_the_height(plan, "right_upper_arm", 0)
    assert swing.min() > 20 - 4 and swing.max() < 40 + 4
