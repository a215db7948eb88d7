"""Foot slide, floating and sinking against motions with known answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from report_makers import moved, still, subject, turned

from elbowroom.character.human import human
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.soles import sole_points
from elbowroom.motion.stance import foot_slide, stance_contacts
from elbowroom.report.bearing import gaps_of, ground_under
from elbowroom.report.footing import FootHeights, feet_of_person, floating_of, sinking_of
from elbowroom.report.sections import body
from elbowroom.world.paths import Still
from elbowroom.world.world import World


def footing(clip: Clip, world: World | None = None) -> tuple[FootHeights, FootHeights]:
    """Floating and sinking of a clip in a world."""
    gaps = gaps_of(subject(clip), world or World())
    return floating_of(subject(clip), gaps), sinking_of(subject(clip), gaps)


def lifted(clip: Clip, by: float | Callable[[np.ndarray], np.ndarray]) -> Clip:
    """The clip moved up, the same everywhere or by times (T,), metres."""
    up = by(clip.times) if callable(by) else np.full(len(clip), by)
    return clip.with_(root=clip.root + up[:, None] * [0.0, 0.0, 1.0])


def test_a_planted_foot_does_not_slide():
    found = feet_of_person(subject(still()))
    assert found.slides.max() < 1e-9 and found.light == "good"
    assert np.nanmax(found.drift) < 1e-9


@pytest.mark.parametrize(("shift", "light"), [(0.004, "good"), (0.03, "look"), (0.08, "bad"), (1.5, "bad")])
def test_a_shifted_foot_slides_by_the_shift(shift: float, light: str):
    found = feet_of_person(subject(moved(lambda t: shift * t / 3.0)))
    np.testing.assert_allclose(found.slides, shift, rtol=1e-6)
    assert np.nanmax(found.drift) == pytest.approx(shift, rel=1e-6) and found.light == light


def tiptoe(character=None) -> Clip:
    """Rising on the balls of the feet and down again: toes stay, heels rise by 30 degrees, legs stay upright."""
    clip = still(character)
    angle = np.radians(30.0) * np.sin(np.pi * clip.times / clip.times[-1]) ** 2
    for side in ("left", "right"):
        clip = turned(turned(clip, f"{side}_foot", [1.0, 0.0, 0.0], angle), f"{side}_toes", [1.0, 0.0, 0.0], -angle)
    toes = clip.character.role("left_toes")
    p = clip.positions()[:, toes]
    return clip.with_(root=clip.root + (p[0] - p))


def test_who_rises_on_tiptoe_does_not_slide():
    clip = tiptoe()
    for contacts in (foot_contacts(clip), stance_contacts(clip)):
        assert contacts.on[60, [1, 3]].all() and not contacts.on[60, [0, 2]].any()
    ball = sole_points(clip.character, clip.world())[:, 1, :2]
    assert np.linalg.norm(ball[60] - ball[0]) > 0.005  # the point of the stiff foot does move
    assert foot_slide(clip).max() < 0.002  # what the heel moves by before it counts as lifted
    assert feet_of_person(subject(clip)).light == "good"


def test_who_slides_on_tiptoe_is_seen():
    clip = tiptoe()
    root = np.array(clip.root)
    root[:, 0] += 0.03 * clip.times / clip.times[-1]
    assert 0.02 < foot_slide(clip.with_(root=root)).max() < 0.032


def test_a_child_is_told_its_own_limits_and_shown_them():
    clips = [still(human(height, skin=False), seconds=3.0) for height in (1.75, 1.2)]
    adult, child = (
        feet_of_person(subject(clip.with_(root=clip.root + np.outer(clip.times, [0.05 / 3.0, 0.0, 0.0]))))
        for clip in clips
    )
    assert adult.light == "look" and "for a body of this size" not in adult.figures
    assert child.light == "bad" and child.figures["for a body of this size"] == "green to 7, amber to 48 mm"
    assert body(child) != body(replace(child, size=1.0))  # bands of the plot are where the lights change


@pytest.mark.parametrize(("up", "lights"), [(0.0, "good good"), (0.05, "look good"), (0.12, "bad good")])
def test_feet_over_the_floor_float(up: float, lights: str):
    floating, sinking = footing(lifted(still(), up))
    assert floating.most == pytest.approx(up, abs=1e-3) and f"{floating.light} {sinking.light}" == lights
    assert up == 0.0 or f"{1000 * up:.0f} mm above the ground" in floating.says


@pytest.mark.parametrize(("down", "light"), [(0.02, "good"), (0.05, "look"), (2.5, "bad")])
def test_feet_in_the_floor_sink(down: float, light: str):
    floating, sinking = footing(lifted(still(), -down))
    assert sinking.most == pytest.approx(down, abs=1e-3) and (floating.light, sinking.light) == ("good", light)
    assert light == "good" or f"{1000 * down:.0f} mm in the ground" in sinking.says


def test_a_short_dip_is_worth_a_look_and_a_long_one_is_bad():
    def dip(seconds: float) -> Clip:
        return lifted(still(), lambda t: np.where(np.abs(t - 1.0) < 0.5 * seconds, -0.09, 0.0))

    _, short = footing(dip(0.1))
    assert short.light == "look" and short.deepest == pytest.approx(0.09, abs=1e-3) and "for a moment" in short.says
    _, long = footing(dip(0.5))
    assert long.light == "bad" and long.most == pytest.approx(0.09, abs=1e-3)


def test_feet_in_the_air_do_not_float():
    """A jump by a metre: in flight no foot carries the body."""
    flight = 2.0 * np.sqrt(2.0 / 9.81)

    def up(t: np.ndarray) -> np.ndarray:
        s = np.clip((t - 0.8) / flight, 0.0, 1.0)
        return 4.0 * s * (1.0 - s)

    clip = lifted(still(seconds=3.0), up)
    contacts = stance_contacts(clip)
    off = (clip.times > 0.95) & (clip.times < 0.65 + flight)
    assert not contacts.on[off].any() and contacts.on[clip.times < 0.7].any() and contacts.on[-10:].any()
    floating, _ = footing(clip)
    assert floating.light == "good" and np.isnan(floating.off[off]).all()


def test_who_stands_on_a_step_does_not_float():
    high = lifted(still(), 0.3)
    step, table = box([1.0, 1.0, 0.3], at=[0.0, 0.0, 0.15]), box([2.0, 2.0, 0.05], at=[0.0, 0.0, 0.9])
    floating, sinking = footing(high, World(static={"step": step, "table": table}))
    assert floating.most < 1e-3 and sinking.most < 1e-3
    beside, _ = footing(high, World(static={"step": step.moved(transform([3.0, 0.0, 0.0]))}))
    assert beside.most == pytest.approx(0.3, abs=1e-3)
    deep, sunk = footing(lifted(still(), 0.25), World(static={"step": step}))
    assert deep.light == "good" and sunk.most == pytest.approx(0.05, abs=1e-3)


def test_who_stands_on_a_thing_that_may_be_moved_does_not_float():
    crate = box([1.0, 1.0, 0.3])
    at = np.eye(4)
    at[:3, 3] = [0.0, 0.0, 0.15]
    floating, _ = footing(lifted(still(), 0.3), World().with_object("crate", crate, Still(at)))
    assert floating.light == "good" and floating.most < 1e-3


def test_without_a_floor_nothing_floats_or_sinks():
    for found in footing(lifted(still(), 2.0), World(floor=None)):
        assert found.light == "none" and "no floor" in found.says


def test_the_ground_under_a_slope_is_on_the_slope():
    slope = Mesh(np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [0.0, 2.0, 0.0]]), np.array([[0, 1, 2]]))
    assert ground_under(np.array([0.5, 0.5, 0.3]), 0.0, [slope]) == pytest.approx(0.25)
    assert ground_under(np.array([1.5, 1.5, 0.3]), -0.1, [slope]) == -0.1


def recorded(clip: Clip) -> Clip:
    """The clip as if it were read from a file."""
    return clip.with_(source=replace(clip.source, format="bvh"))


def leaning_walk(degrees: float, down: float = 0.0) -> Clip:
    """A walk over a floor that leans along the way and lies lower at its middle, by metres."""
    clip = walk(human(1.70, skin=False), 1.2, seconds=4.0, fps=60.0)
    way = clip.root[:, 1] - clip.root[:, 1].mean()
    return lifted(clip, lambda _: np.tan(np.radians(degrees)) * way - down)


def test_a_recorded_floor_that_leans_is_not_bad():
    """2.4 m of a walk on a floor of 2 degrees: 84 mm from end to end, half of it in the level floor."""
    clip = leaning_walk(1.6, 0.04)
    _, level = footing(clip)
    assert level.light == "bad" and level.most > 0.06
    _, leans = footing(recorded(clip))
    assert leans.light == "look" and leans.most == level.most and "that the steps stand on" in leans.says
    assert leans.figures["slope of the recorded floor"] == "1.6°"
    box_ = {"box": box([0.1, 0.1, 0.1], at=[5.0, 5.0, 0.05])}
    assert footing(recorded(clip), World(static=box_))[1].light == "bad"  # a scene has a floor of its own


@pytest.mark.parametrize(("degrees", "down"), [(4.0, 0.0), (0.0, 0.09)])
def test_floors_that_no_laboratory_has_are_bad(degrees: float, down: float):
    _, sinking = footing(recorded(leaning_walk(degrees, down)))
    assert sinking.light == "bad"


def test_toes_alone_in_the_floor_are_worth_a_look():
    clip = lifted(still(seconds=3.0), -0.025)
    for side in ("left", "right"):
        clip = turned(clip, f"{side}_toes", [1.0, 0.0, 0.0], np.full(len(clip), np.radians(75.0)))
    _, sinking = footing(clip)
    assert sinking.most > 0.06 and sinking.light == "look" and "without the toes" in sinking.says
