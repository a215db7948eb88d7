"""Cutting, splicing, resampling, placing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_makers import odd_rig, person, standing, stepping, wild

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.motion.edit import cut, place, resample, splice, without_lead

CLIP = wild(odd_rig(), frames=40, fps=30.0)


def assert_same(a, b, tolerance=1e-9):
    assert a.fps == b.fps and len(a) == len(b)
    np.testing.assert_allclose(a.root, b.root, atol=tolerance)
    assert rot.angle_between(a.rotations, b.rotations).max() < max(tolerance, 1e-7)


@given(st.integers(1, 38))
@settings(max_examples=20, deadline=None)
def test_cut_and_splice_give_back_the_clip(k):
    t = k / CLIP.fps
    a, b = cut(CLIP, 0.0, t), cut(CLIP, t, CLIP.span[1])
    assert len(a) + len(b) == len(CLIP) + 1
    assert_same(splice(a, b, blend=0.0), CLIP)
    assert_same(splice(a, b, blend=0.0, align=False), CLIP, 1e-12)


@given(st.integers(1, 30), st.integers(1, 9))
@settings(max_examples=20, deadline=None)
def test_a_blend_of_overlapping_parts_gives_back_the_clip(k, overlap):
    t0, t1 = k / CLIP.fps, (k + overlap) / CLIP.fps
    spliced = splice(cut(CLIP, 0.0, t1), cut(CLIP, t0, CLIP.span[1]), blend=t1 - t0)
    assert_same(spliced, CLIP)


def test_cut_between_frames_starts_exactly_there():
    part = cut(CLIP, 0.111, 0.7, keep_time=True)
    assert part.start == 0.111 and part.span[1] <= 0.7
    root, q = CLIP.sample(part.times)
    np.testing.assert_allclose(part.root, root, atol=1e-12)
    assert rot.angle_between(part.rotations, q).max() < 1e-7
    assert cut(CLIP, 0.111, 0.7).start == 0.0


@pytest.mark.parametrize("times", [(-0.1, 0.5), (0.5, 0.2), (0.0, 99.0), (np.nan, 1.0)])
def test_cut_outside_of_the_clip_is_refused(times):
    with pytest.raises(BadValue, match=r"runs from 0 s to 1\.3 s"):
        cut(CLIP, *times)


@given(st.floats(-5, 5), st.floats(-5, 5), st.floats(-7, 7), st.sampled_from(["origin", "start"]))
@settings(max_examples=30, deadline=None)
def test_place_is_a_rigid_motion_on_the_floor_and_has_an_inverse(x, y, turn, about):
    there = place(CLIP, (x, y), turn, about=about)
    q = rot.about([0, 0, 1.0], turn)
    before, after = CLIP.positions(), there.positions()
    np.testing.assert_allclose(after[..., 2], before[..., 2], atol=1e-9)
    np.testing.assert_allclose(after - after[:1, :1], rot.rotate(q, before - before[:1, :1]), atol=1e-9)
    if about == "start":
        np.testing.assert_allclose(there.root[0, :2], [x, y], atol=1e-12)
        assert_same(place(there, CLIP.root[0, :2], -turn, about="start"), CLIP)
    else:
        back = rot.rotate(rot.conjugate(q), np.array([-x, -y, 0.0]))
        assert_same(place(there, back[:2], -turn), CLIP)


def test_place_refuses_nonsense():
    for at, turn in (((1.0, 2.0, 3.0), 0.0), ((np.nan, 0.0), 0.0), ((0.0, 0.0), np.inf)):
        with pytest.raises(BadValue):
            place(CLIP, at, turn)


def test_splice_goes_on_where_the_first_clip_ends():
    walk = stepping(person(), steps=4)
    whole_way = walk.root[-1] - walk.root[0]
    elsewhere = place(walk, (3.0, -2.0), 1.0)
    joined = splice(walk, elsewhere, blend=0.2)
    speed = np.linalg.norm(np.diff(joined.positions(), axis=0), axis=-1).max()
    assert speed < 1.5 * np.linalg.norm(np.diff(walk.positions(), axis=0), axis=-1).max(), "the joint jumps"
    way = joined.root[-1] - joined.root[0]
    np.testing.assert_allclose(way / np.linalg.norm(way), whole_way / np.linalg.norm(whole_way), atol=0.1)
    assert joined.duration == pytest.approx(2 * walk.duration - 0.2)
    apart = splice(walk, elsewhere, blend=0.2, align=False)
    np.testing.assert_allclose(apart.root[-1], elsewhere.root[-1], atol=1e-12)


def test_splice_refuses_what_does_not_fit():
    with pytest.raises(BadValue, match="different skeletons"):
        splice(CLIP, standing(person(1.5)))
    with pytest.raises(BadValue, match="longer"):
        splice(CLIP, cut(CLIP, 0, 0.1), blend=0.3)
    with pytest.raises(BadValue, match="real frames"):
        splice(CLIP, CLIP, at=1.2, blend=0.3)
    with pytest.raises(BadValue, match="0 s or more"):
        splice(CLIP, CLIP, blend=-1.0)


@given(st.sampled_from([7.5, 24.0, 29.97, 30.0, 60.0, 120.0]))
def test_resample_follows_the_same_motion(fps):
    other = resample(CLIP, fps)
    assert other.fps == fps and other.span[1] <= CLIP.span[1] + 1e-9
    assert CLIP.span[1] - other.span[1] < 1.0 / fps
    root, q = CLIP.sample(other.times)
    np.testing.assert_allclose(other.root, root, atol=1e-9)
    assert rot.angle_between(other.rotations, q).max() < 1e-7


def test_resample_up_and_down_is_the_same_clip():
    assert_same(resample(resample(CLIP, 90.0), 30.0), CLIP, 1e-9)


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan])
def test_a_rate_is_a_positive_number(rate):
    with pytest.raises(BadValue):
        resample(CLIP, rate)


def test_artificial_frames_are_never_blended():
    clip = wild(odd_rig(), frames=40, fps=30.0, lead=2)
    up = resample(clip, 60.0)
    assert up.source.lead == 4
    for k in range(4):
        np.testing.assert_array_equal(up.root[k], [0, 0, 0])
    np.testing.assert_allclose(up.root[4], clip.root[2])
    down = resample(clip, 10.0)
    assert down.source.lead == 1 and np.all(down.root[0] == 0)
    assert cut(clip, 0.0, 1.0).source.lead == 2 and cut(clip, 3 / 30, 1.0).source.lead == 0
    real = without_lead(clip)
    assert real.source.lead == 0 and real.start == pytest.approx(2 / 30) and len(real) == 38
    joined = splice(CLIP, clip, blend=0.2, align=False)
    assert not np.any(np.all(joined.root == 0.0, axis=-1))
    with pytest.raises(BadValue, match="no frames besides"):
        without_lead(cut(clip, 0.0, 1 / 30))


def test_a_rate_that_would_fill_the_memory_is_refused():
    with pytest.raises(BadValue, match="more than 200,000 frames"):
        resample(CLIP, 1e9)
