"""Published measures of motions whose values are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from report_makers import moved, person, still

from elbowroom.character.human import human
from elbowroom.geometry.solids import box
from elbowroom.motion.clip import Clip
from elbowroom.report import page, published_of, report
from elbowroom.report.published import (
    PUBLISHED,
    gmd_skating_ratio,
    kimodo,
    mbench,
    omniretarget,
    physdiff,
    posa,
)
from elbowroom.world.paths import Still
from elbowroom.world.things import Hold
from elbowroom.world.world import World


def feet(height: float, speed: float, fps: float, frames: int = 41) -> np.ndarray:
    """Both feet at a height, metres, sliding along x at a speed, m/s: (T, 2, 3)."""
    out = np.zeros((frames, 2, 3))
    out[..., 0] = (speed * np.arange(frames) / fps)[:, None]
    out[..., 2] = height
    return out


def cloud(height: float, speed: float = 0.0, fps: float = 20.0, frames: int = 41) -> np.ndarray:
    """A body of two vertices, the lower one at a height, metres: (T, 2, 3)."""
    out = feet(height, speed, fps, frames)
    out[:, 1, 2] += 1.0
    return out


@pytest.mark.parametrize(
    ("height", "penetrate", "floats"),
    [(-0.02, 20.0, 980.0), (0.03, 0.0, 30.0), (-0.004, 0.0, 996.0), (0.004, 0.0, 0.0)],
)
def test_physdiff_measures_the_lowest_vertex_beyond_5_mm(height: float, penetrate: float, floats: float):
    """The height over the floor is that of the lowest vertex above it, as published, also where another is below."""
    found = physdiff(cloud(height), feet(0.1, 0.0, 20.0))
    assert found["penetrate_mm"] == pytest.approx(penetrate) and found["float_mm"] == pytest.approx(floats)
    assert found["phys_err_mm"] == pytest.approx(penetrate + floats)


def test_physdiff_means_are_over_all_frames():
    half = cloud(-0.02)
    half[21:, :, 2] += 0.02
    assert physdiff(half, feet(0.1, 0.0, 20.0))["penetrate_mm"] == pytest.approx(20.0 * 21 / 41)


def test_skate_is_a_step_on_the_floor_by_joints_or_by_vertices():
    found = physdiff(cloud(-0.001, 0.4), feet(0.02, 0.6, 20.0))
    assert found["uhc_skate_mm"] == pytest.approx(20.0) and found["skate_mm"] == 0.0
    found = physdiff(cloud(0.02, 0.4), feet(0.0, 0.6, 20.0))
    assert found["uhc_skate_mm"] == 0.0 and found["skate_mm"] == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("height", "speed", "sliding", "depth"),
    [(0.01, 1.0, 0.05, 0.0), (0.05, 1.0, 0.0, 0.0), (0.05, 0.1, 0.005, 0.0), (-0.03, 0.0, 0.0, 0.03)],
)
def test_mbench_slides_in_contact_and_sinks(height: float, speed: float, sliding: float, depth: float):
    """Contact is a low foot or a slow one: a fast foot at 5 cm is in the air, a slow one there is not."""
    on = feet(height, speed, 20.0)
    found = mbench(on, on)
    assert found["foot_sliding_m_per_frame"] == pytest.approx(sliding)
    assert found["ground_penetration_m"] == pytest.approx(depth)


def test_mbench_jitter_is_the_mean_second_difference():
    frames = np.arange(40)
    joints = np.zeros((40, 3, 3))
    joints[:, :, 0] = (0.5 * 0.004 * frames**2)[:, None]
    assert mbench(joints, feet(1.0, 0.0, 20.0, 40))["jitter_m_per_frame2"] == pytest.approx(0.004)


@pytest.mark.parametrize(
    ("height", "speed", "mean", "ratio"),
    [(0.03, 0.1, 0.1, 0.0), (0.03, 0.3, 0.3, 1.0), (0.06, 0.3, 0.0, 0.0)],
)
def test_kimodo_measures_toes_below_5_cm(height: float, speed: float, mean: float, ratio: float):
    found = kimodo(feet(height, speed, 30.0), 30.0)
    assert found["toe_speed_m_s"] == pytest.approx(mean) and found["skate_ratio"] == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("height", "speed", "ratio"), [(0.03, 0.45, 0.0), (0.03, 0.9, 1.0), (0.06, 0.9, 0.0), (0.03, 0.6, 36 / 40)]
)
def test_gmd_counts_steps_of_over_25_mm_below_5_cm(height: float, speed: float, ratio: float):
    """The mean over five frames must reach 0.5 m/s, too, and counts zeros beyond the ends: of 0.6 m/s it is 0.36 and
    0.48 in the two frames at either end."""
    assert gmd_skating_ratio(feet(height, speed, 20.0)) == pytest.approx(ratio)


def test_posa_counts_vertices_outside_and_frames_with_one_inside():
    inside = np.zeros((4, 10), dtype=bool)
    inside[0, :3] = True
    found = posa(inside)
    assert found == {"non_collision": pytest.approx(1.0 - 3 / 40), "contact": 0.25}


def test_omniretarget_forgives_a_centimetre_and_counts_kept_contacts():
    distance = np.array([0.2, -0.005, -0.02, -0.03])
    on = np.ones((41, 2), dtype=bool)
    found = omniretarget(distance, np.array([0.0, 0.019, 0.03, 0.5]), feet(0.0, 0.02, 30.0), on, 30.0)
    assert found["penetrating_share"] == 0.5 and found["largest_depth_m"] == pytest.approx(0.03)
    assert found["contact_kept_share"] == 0.5 and found["toe_sliding_share"] == 1.0
    still_ = omniretarget(distance[:1], np.zeros(0), feet(0.0, 0.005, 30.0), on, 30.0)
    assert still_["contact_kept_share"] is None and still_["toe_sliding_share"] == 0.0


def measured(clip: Clip, world: World | None = None) -> dict:
    found = published_of((world or World()).with_character("ann", clip), "ann")
    assert found is not None
    return found


def test_a_body_that_sinks_and_drifts_is_measured_in_all_definitions():
    """The built-in person 20 mm in the floor, drifting at 0.3 m/s."""
    clip = moved(lambda t: 0.3 * t)
    found = measured(clip.with_(root=clip.root - [0.0, 0.0, 0.02]))
    assert found["physdiff"]["penetrate_mm"] == pytest.approx(20.0, abs=2.0)
    assert found["physdiff"]["uhc_skate_mm"] == pytest.approx(15.0, abs=0.1)
    assert found["kimodo"]["toe_speed_m_s"] == pytest.approx(0.3)
    assert found["kimodo"]["skate_ratio"] == pytest.approx(1.0)
    assert found["gmd"]["skating_ratio"] == 0.0
    assert found["omniretarget"]["penetrating_share"] == 1.0 and found["posa"]["contact"] == 1.0
    assert found["omniretarget"]["toe_sliding_share"] == pytest.approx(1.0)
    assert found["mbench"]["jitter_m_per_frame2"] == pytest.approx(0.0, abs=1e-9)


def test_a_box_around_the_head_is_a_collision_and_a_held_one_is_not():
    clip = still(human(1.70))
    T = clip.world()[0]
    head = T[clip.character.role("head"), :3, 3]
    clear = measured(clip.with_(root=clip.root + [0.0, 0.0, 0.01]))
    assert clear["posa"] == {"non_collision": 1.0, "contact": 0.0}
    raised = clip.with_(root=clip.root + [0.0, 0.0, 0.01])
    hit = measured(raised, World(static={"box": box([0.6, 0.6, 0.6], at=head)}))
    assert hit["posa"]["contact"] == 1.0 and 0.5 < hit["posa"]["non_collision"] < 0.95
    assert hit["omniretarget"]["penetrating_share"] == 1.0
    at = np.eye(4)
    at[:3, 3] = T[clip.character.role("left_hand"), :3, 3] + [0.0, 0.0, 0.01]
    world = World().with_object("cube", box([0.1, 0.1, 0.1]), Still(at)).with_character("ann", raised)
    held = published_of(world.with_(holds=(Hold("cube", "ann", "left", (-1.0, 9.0)),)), "ann")
    assert held is not None and held["omniretarget"]["contact_kept_share"] == 1.0
    assert held["posa"]["contact"] == 0.0 and published_of(world, "ann")["posa"]["contact"] == 1.0


def test_far_from_the_origin_and_one_frame_are_measured():
    clip = still()
    far = measured(clip.with_(root=clip.root + [1e5, -1e5, 0.0]))
    assert far["physdiff"]["skate_mm"] == 0.0 and far["gmd"]["skating_ratio"] == 0.0
    one = clip.with_(root=clip.root[:1], rotations=clip.rotations[:1])
    assert measured(one)["kimodo"]["toe_speed_m_s"] == 0.0


def test_the_json_and_the_page_have_them():
    found = report(World().with_character("ann", still(person())))
    facts = found.facts()["published"]["ann"]
    assert {(source, key) for source in facts for key in facts[source] if key != "fps"} == set(PUBLISHED)
    assert "Published measures" in page(found, pictures=0)
