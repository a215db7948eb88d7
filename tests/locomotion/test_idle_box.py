"""Standing at ease, and handling boxes at any height."""

from __future__ import annotations

import numpy as np
import pytest
from gait_measures import jolt, knee, lowest

from elbowroom.character.human import human
from elbowroom.character.limits import pose_excess
from elbowroom.character.presets import PRESETS, preset
from elbowroom.locomotion.box import BoxClip, lift_box, pick_up, put_down
from elbowroom.locomotion.box_hands import palm
from elbowroom.locomotion.figure import figure
from elbowroom.locomotion.standing import idle

HEIGHTS = (0.0, 0.45, 0.8, 1.3, 1.7)


def palms(motion: BoxClip):
    """Palm points of both hands at the frames, (T, 3), by side."""
    character = motion.clip.character
    T = motion.clip.world()
    out = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        along, off = palm(figure(character), side)
        hand = T[:, character.role(f"{side}_hand")]
        out[side] = hand[:, :3, 3] + hand[:, :3, :3] @ np.array([sign * along, 0.0, -off])
    return out


def held_frames(motion: BoxClip):
    t = motion.clip.times
    return (t >= motion.held[0]) & (t <= motion.held[1])


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_idle_breathes_and_shifts_on_planted_feet(name):
    clip = idle(preset(name), seconds=12.0, fps=30.0)
    for side in ("left", "right"):
        foot = clip.positions()[:, clip.character.role(f"{side}_foot")]
        assert np.ptp(foot, axis=0).max() < 1e-6
        assert knee(clip, side).min() > 2.5 and knee(clip, side).max() < 25.0
        assert lowest(clip, side).min() > -0.002
    assert 0.015 < np.ptp(clip.root[:, 0]) < 0.09
    chest = clip.world()[:, clip.character.role("chest"), :3, :3]
    assert 0.5 < np.degrees(np.ptp(np.arctan2(chest[:, 1, 2], chest[:, 2, 2]))) < 8.0
    assert np.degrees(pose_excess(clip.character.limits, clip.rotations)).max() < 0.5
    assert jolt(clip) < 8.0


def test_idle_is_made_from_its_seed():
    a, b, c = (idle(human(), seconds=6.0, fps=20.0, seed=s) for s in (1, 1, 2))
    assert np.array_equal(a.rotations, b.rotations) and not np.array_equal(a.rotations, c.rotations)


@pytest.mark.parametrize("maker", [pick_up, put_down])
@pytest.mark.parametrize("height", HEIGHTS)
def test_palms_stay_on_the_box_while_it_is_held(maker, height):
    motion = maker(human(), height=height)
    held, grips = held_frames(motion), motion.grips()
    assert held.sum() > 60
    for side, at in palms(motion).items():
        assert np.abs(at - grips[side])[held].max() < 0.001
    # and nowhere else: the hands come from and go back to the sides
    away = palms(motion)["left"] - grips["left"]
    end = 0 if maker is pick_up else -1
    assert np.linalg.norm(away[end]) > 0.1
    assert motion.path(motion.held[0])[2, 3] == pytest.approx(motion.places[held][0, 2], abs=1e-3)


@pytest.mark.parametrize("height", HEIGHTS)
def test_box_stands_still_until_it_is_taken_and_moves_softly(height):
    motion = pick_up(human(), height=height)
    before = motion.clip.times <= motion.held[0]
    assert np.ptp(motion.places[before], axis=0).max() == 0.0
    assert motion.places[0, 2] - 0.5 * motion.size[2] == pytest.approx(height)
    speed = np.linalg.norm(np.diff(motion.places, axis=0), axis=1) * motion.clip.fps
    assert speed.max() < 2.5
    acceleration = np.abs(np.diff(motion.places, 2, axis=0)) * motion.clip.fps**2
    assert acceleration.max() < 12.0
    assert jolt(motion.clip) < 400.0


def test_knees_bend_for_the_floor_and_not_for_the_table():
    low, table, high = (pick_up(human(), height=h).clip for h in (0.0, 0.85, 1.7))
    assert knee(low, "left").max() > 60.0
    assert knee(table, "left").max() < 35.0
    hands = high.positions()[:, high.character.role("left_hand"), 2]
    assert hands.max() > high.positions()[:, high.character.role("head"), 2].max()


@pytest.mark.parametrize("name", ["woman", "man", "child", "gorilla"])
def test_lifting_feet_stay_and_weight_is_over_them(name):
    character = preset(name)
    motion = lift_box(character, size=(0.3, 0.25, 0.2), from_height=0.0, to_height=0.5 * character.height, fps=30.0)
    clip, T = motion.clip, motion.clip.world()
    for side in ("left", "right"):
        assert np.ptp(clip.positions()[:, character.role(f"{side}_foot")], axis=0).max() < 1e-6
        assert lowest(clip, side).min() > -0.005
    masses = character.masses
    centres = T[..., :3, 3] + np.einsum("tjab,jb->tja", T[..., :3, :3], masses.center)
    weight = np.einsum("j,tja->ta", masses.mass, centres) / masses.total
    ankle, ball = (clip.positions()[0, character.role(f"left_{p}"), 1] for p in ("foot", "toes"))
    heel = ankle + 0.35 * (ankle - ball)
    assert ball - 0.02 < weight[:, 1].min() and weight[:, 1].max() < heel


@pytest.mark.parametrize("name", ["woman", "man"])
def test_lifting_joints_stay_within_limits(name):
    for a, b in ((0.0, 0.8), (0.8, 1.5)):
        clip = lift_box(preset(name), from_height=a, to_height=b, fps=20.0).clip
        excess = np.degrees(pose_excess(clip.character.limits, clip.rotations)).max(axis=0)
        assert excess.max() < 3.0, clip.character.skeleton.names[int(excess.argmax())]


def test_tiptoes_lift_the_heels_over_planted_toes():
    clip = pick_up(human(), height=1.85).clip
    heel = clip.positions()[:, clip.character.role("left_foot"), 2]
    toes = clip.positions()[:, clip.character.role("left_toes")]
    assert np.ptp(heel) > 0.02
    assert np.ptp(toes[:, :2], axis=0).max() < 0.004
    for side in ("left", "right"):
        assert lowest(clip, side).min() > -0.005
