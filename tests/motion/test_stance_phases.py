"""Stance phases told by load, on clips with known answers and on recorded ones, however far they skate."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from motion_makers import odd_rig, person, planted, standing, stepping, wild

from conftest import real_files
from elbowroom.character.human import human
from elbowroom.errors import BadValue
from elbowroom.files.bvh import read_bvh
from elbowroom.locomotion.walk import run, walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts, runs, steps
from elbowroom.motion.edit import place, without_lead
from elbowroom.motion.legs import place_feet
from elbowroom.motion.stance import foot_slide, slid_so_far, stance_contacts


def down(clip: Clip) -> np.ndarray:
    """Which feet (T, 2) are in stance."""
    contacts = stance_contacts(clip)
    return np.stack([contacts.foot("left"), contacts.foot("right")], axis=1)


def drifting(clip: Clip, velocity: tuple[float, float]) -> Clip:
    """A clip that is moved along the floor evenly, m/s."""
    return clip.with_(root=clip.root + np.outer(clip.times - clip.times[0], [*velocity, 0.0]))


@pytest.mark.parametrize("character", [person(), person(1.1), odd_rig()], ids=["adult", "child", "odd"])
@pytest.mark.parametrize("velocity", [(0.0, 0.0), (0.3, 0.0), (-0.4, 0.9)], ids=["clean", "aside", "back"])
def test_stance_of_a_known_walk_is_found_however_it_skates(character, velocity):
    stride = 0.3 * character.skeleton.offsets[0, 2] / 0.9
    clip = stepping(character, stride=stride)
    found, truth = down(drifting(clip, velocity)), planted(clip)
    for k in range(2):
        pairs = list(zip(runs(found[:, k]), runs(truth[:, k]), strict=True))
        assert max(abs(a - b) for pair in pairs for a, b in zip(*pair, strict=True)) <= 0.08 * clip.fps


def test_one_who_stands_and_is_moved_slides_by_the_whole_way():
    still = standing(person(), frames=61, fps=60.0)
    assert not foot_contacts(drifting(still, (0.25, 0.0))).on[10:-10].any(), "what moves cannot be planted"
    np.testing.assert_allclose(foot_slide(drifting(still, (0.25, 0.0))), 0.25, rtol=1e-6)
    np.testing.assert_allclose(foot_slide(drifting(still, (2.0, 0.0))), 2.0, rtol=1e-6)


@pytest.mark.parametrize(("lifted_m", "slides_m"), [(0.0, 0.05), (0.03, 0.0)])
def test_a_small_step_within_a_stance_is_no_slide(lifted_m: float, slides_m: float):
    still = standing(person(), frames=121, fps=60.0)
    moves = np.clip((np.arange(121) - 50) / 20.0, 0.0, 1.0)
    lifts = lifted_m * ((moves > 0.0) & (moves < 1.0))
    moved = still.with_(root=still.root + np.column_stack([0.05 * moves, np.zeros(121), lifts]))
    np.testing.assert_allclose(foot_slide(moved, stance_contacts(still)), slides_m, atol=0.003)


def test_a_motion_that_is_raised_slides_as_before():
    """By heights of the raised motion, the small step in this stance would be a slide."""
    still = standing(person(), frames=121, fps=60.0)
    moves = np.clip((np.arange(121) - 50) / 20.0, 0.0, 1.0)
    lifts = 0.03 * ((moves > 0.0) & (moves < 1.0))
    stepped = still.with_(root=still.root + np.column_stack([0.05 * moves, np.zeros(121), lifts]))
    raised = still.with_(root=still.root + np.column_stack([0.05 * moves, np.zeros(121), np.full(121, 0.03)]))
    contacts = stance_contacts(still)
    assert np.array_equal(foot_slide(raised, contacts, heights=stepped), foot_slide(stepped, contacts))
    assert foot_slide(raised, contacts).max() > 0.04 > 0.005 > foot_slide(stepped, contacts).max()
    slid = drifting(raised, (0.02, 0.0))
    assert foot_slide(slid, contacts, heights=stepped).min() > 0.02


@pytest.mark.parametrize(
    ("lifted", "moves"),
    [
        ([40, 45, 65, 70], ([40, 50, 57, 67], [0.0, 0.14, 0.14, 0.28])),  # hangs still for a tenth of a second
        ([40, 42, 70, 73], ([40, 42, 70, 73], [0.0, 0.014, 0.076, 0.09])),  # a slow small step
    ],
)
def test_a_foot_that_is_slow_in_the_air_is_not_in_stance(lifted, moves):
    still = standing(person(), frames=121, fps=60.0)
    body, k, T = still.character, np.arange(121), still.world()
    feet = {side: T[:, body.role(f"{side}_foot")].copy() for side in ("left", "right")}
    # the weight on the right foot, the left one goes ahead 34 mm up
    root = still.root + np.outer(np.interp(k, [20, 35, 85, 100], [0.0, 1.0, 1.0, 0.0]), [feet["right"][0, 0, 3], 0, 0])
    high = np.interp(k, lifted, [0.0, 0.034, 0.034, 0.0])
    ahead = np.interp(k, *moves)
    feet["left"][:, :3, 3] += np.column_stack([np.zeros(121), -ahead, high])
    clip = still.with_(root=root, rotations=place_feet(body, root, still.rotations, feet))
    found = down(clip)
    assert found[:38, 0].all() and not found[46:62, 0].any() and found[82:, 0].all() and found[:, 1].all()


@pytest.mark.parametrize("speed", [0.7, 1.2, 1.6])
def test_a_walk_without_its_way_slides_by_its_way(speed: float):
    """Forward travel removed: each foot slides back by the speed times how long it is down."""
    clip = walk(human(1.70), speed, seconds=3.0, fps=60.0)
    assert foot_slide(clip).max() < 0.01
    on_the_spot = drifting(clip, tuple(-(clip.root[-1] - clip.root[0])[:2] / (clip.times[-1] - clip.times[0])))
    longest = max((s.last - s.first) / clip.fps for s in steps(foot_contacts(clip)))
    assert foot_slide(on_the_spot).max() == pytest.approx(speed * longest, rel=0.05)
    assert np.mean(down(on_the_spot) == down(clip)) > 0.99


def test_a_run_flies_between_its_steps():
    clip = run(human(1.70), 3.0, seconds=2.0, fps=120.0)
    found = down(clip)
    assert not found.all(axis=1).any() and 0.2 < np.mean(~found.any(axis=1)) < 0.6
    sides = [s.side for s in steps(stance_contacts(clip))]
    assert len(sides) >= 4 and all(a != b for a, b in pairwise(sides))
    assert np.mean(down(drifting(clip, (0.0, 3.0))) == found) > 0.98


def test_one_foot_held_up_is_not_in_stance():
    """The right knee is drawn up for a second and the foot held still in the air."""
    clip = stepping(person(), steps=1, seconds=2.0, stride=0.0)
    found = down(clip)
    up = ~planted(clip, seconds=2.0)
    assert up.any() and not found[:, 0][~planted(clip, seconds=2.0)[:, 0]][30:-30].any()
    assert found[:, 1][~planted(clip, seconds=2.0)[:, 0]].all(), "the other foot carries the body meanwhile"


def test_height_does_not_matter():
    clip = stepping(person())
    for lift in (-0.5, 0.2):
        np.testing.assert_array_equal(stance_contacts(place(clip, lift=lift)).on, stance_contacts(clip).on)


def test_artificial_frames_have_no_stance():
    contacts = stance_contacts(wild(person(), lead=2))
    assert len(contacts.on) == 40 and not contacts.on[:2].any() and contacts.start == 0.0


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_few_frames_are_enough(frames: int):
    clip = standing(person(), frames=frames)
    assert stance_contacts(clip).on.all() and np.all(foot_slide(clip) == 0.0)


def test_contacts_of_other_frames_are_refused():
    with pytest.raises(BadValue, match="do not fit"):
        foot_slide(standing(person(), 30), stance_contacts(standing(person(), 31)))


def test_slid_so_far_is_the_widest_way_yet():
    way = np.array([[0.0, 0.0], [0.03, 0.04], [0.0, 0.0], [0.0, -0.12]])
    np.testing.assert_allclose(slid_so_far(way), [0.0, 0.05, 0.05, np.hypot(0.03, 0.16)])


@pytest.mark.parametrize(
    "path", real_files("mocap/cmu_bvh/0[27]_01.bvh", "mocap/cmu_bvh/69_24.bvh"), ids=lambda p: p.stem
)
def test_recorded_walks_are_always_on_a_foot_and_keep_their_steps_when_they_skate(path):
    clip = without_lead(read_bvh(path))
    found = down(clip)
    assert np.mean(found.any(axis=1)) > 0.99 and 0.05 < np.mean(found.all(axis=1)) < 0.6
    sides = [s.side for s in steps(stance_contacts(clip))]
    assert all(a != b for a, b in pairwise(sides[1:]))
    assert np.mean(down(drifting(clip, (0.3, -0.5))) == found) > 0.99
