"""Markers to motion: the body that wore them, gaps, feet on the floor, and real takes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.cli.options import world_of
from elbowroom.errors import BadValue
from elbowroom.files.c3d import Markers, read_c3d
from elbowroom.files.open import Opened
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.standing import idle
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.soles import sole_points
from elbowroom.posing.marker_solve import SolvedMarkers, solve_markers

FPS = 30.0


@lru_cache
def worn() -> Array:
    """Markers (T, 41, 3) of somebody who stands, worn up to 2 cm from where they belong, 5 cm above the floor."""
    clip = idle(human(1.58, leg_scale=1.06, arm_scale=0.95, skin=False), 2.0, FPS)
    body, rng = clip.character, np.random.default_rng(1)
    T = clip.world()
    points = marker_positions(body, T)
    for k, label in enumerate(MARKERS):
        joint = body.markers[label].joint
        points[:, k] += T[:, joint, :3, :3] @ rng.uniform(-0.012, 0.012, 3)
    return points + [0.0, 0.0, 0.05] + rng.normal(scale=0.001, size=points.shape)


@lru_cache
def solved() -> SolvedMarkers:
    """Solved with gaps: two markers for a while, one arm for longer, one marker never."""
    points = np.array(worn())
    points[10:16, [MARKERS.index("LFWT"), MARKERS.index("RKNE")]] = np.nan
    points[20:30, [MARKERS.index("L" + m) for m in ("UPA", "ELB", "FRM", "WRA", "WRB", "FIN")]] = np.nan
    points[:, MARKERS.index("RBAC")] = np.nan
    points[-4:] = np.nan
    return solve_markers(MARKERS, points, FPS, name="somebody")


def test_body_and_posture_are_found_again() -> None:
    """Sizes are known up to where markers sit on the skin; the posture shows in the residual."""
    found = solved()
    assert found.subject.height == pytest.approx(1.58, abs=0.06)
    assert found.median_residual < 0.006
    assert len(found.clip) == len(worn()) - 4
    bones = np.linalg.norm(np.diff(found.clip.positions()[:, [found.clip.character.role("left_shin"),
                           found.clip.character.role("left_foot")]], axis=1), axis=-1)  # fmt: skip
    assert np.ptp(bones) < 1e-9


def test_gaps_are_filled_and_told() -> None:
    found = solved()
    text = " ".join(found.notes)
    assert "Never seen: RBAC" in text and "left arm over 0.33 s" in text and "Kept 0.00 to 1.87 s" in text
    assert "0.33 s of L" in text and "Moved by -" in text
    hand = found.clip.positions()[:, found.clip.character.role("left_hand")]
    assert np.linalg.norm(np.diff(hand, axis=0), axis=-1).max() < 0.01
    assert np.isnan(found.residual[25, MARKERS.index("LELB")])


def test_feet_stand_on_the_floor_and_do_not_slide() -> None:
    clip = solved().clip
    points = sole_points(clip.character, clip.world())
    on = foot_contacts(clip, 0.0).on
    assert on.mean() > 0.9
    assert np.abs(points[on][:, 2]).max() < 0.002
    assert np.ptp(points[:, :, :2], axis=0).max() < 0.002


def test_a_body_from_another_take_is_used_as_it_is() -> None:
    again = solve_markers(MARKERS, worn()[:20], FPS, subject=solved().subject)
    assert again.subject.height == solved().subject.height and again.median_residual < 0.008


def test_markers_of_a_file_become_a_clip_onto_anybody() -> None:
    opened = Opened(Path("take.c3d"), "C3D", markers=Markers(MARKERS, worn()[:20], FPS))
    done = opened.with_solved_markers()
    assert len(opened.clip()) == 20 and done.clip().name == "take" and len(done.clip()) == 20
    assert any("mm off the body" in note for note in done.notes)
    clip = world_of(done, None, "child", None).characters["child"]
    assert isinstance(clip, Clip) and clip.character.name == "child" and len(clip) == 20


def test_too_few_markers_are_refused() -> None:
    points = np.array(worn()[:5])
    points[:, 12:] = np.nan
    with pytest.raises(BadValue, match="18 of the 41"):
        solve_markers(MARKERS, points, FPS)
    with pytest.raises(BadValue, match="points of 41 markers"):
        solve_markers(MARKERS, points[:, :4], FPS)


@pytest.mark.parametrize("take", ["Female1_lift_box", "Male1_pick_up_box"])
def test_real_takes_fit(data: Path, take: str) -> None:
    """Acceptance: 20 mm in the median on the subject's own body."""
    markers = read_c3d(data / f"mocap/accad_c3d/{take}.c3d")
    found = solve_markers(markers.labels, markers.points[::8], markers.fps / 8.0)
    assert found.median_residual < 0.012
    points = sole_points(found.clip.character, found.clip.world())
    assert points[..., 2].min() > -0.005
