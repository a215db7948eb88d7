"""Routes: sideways, backwards and on the spot, from and to how somebody stands."""

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.locomotion.course import WalkingManner, route
from elbowroom.locomotion.departure import footprints_of, stance_of, stance_on, walk_from
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.walk import WalkOptions, walk_route
from elbowroom.motion.clip import Clip
from elbowroom.motion.quality import peak_jerk, worst_quality
from elbowroom.motion.stance import foot_slide

WOMAN = er.preset("woman")


def ends(clip: Clip) -> tuple[np.ndarray, float]:
    """Where somebody stands at the end of a clip."""
    return stance_of(clip.character, Pose.of(clip.root[-1], clip.rotations[-1]))


@pytest.mark.parametrize(
    ("path", "face", "manner"),
    [
        ([[0, 0], [1.5, 0]], 0.0, "left"),
        ([[0, 0], [0, 1.2]], 0.0, "back"),
        ([[0, 0]], 1.6, "forward"),
        ([[0, 0], [0.3, -0.3]], 0.4, "forward"),
        ([[0, 0], [0, 1.5]], 3.0, "forward"),
    ],
)
def test_it_ends_where_and_as_it_is_to_with_planted_feet(path: list, face: float, manner: str) -> None:
    clip = walk_route(WOMAN, route(path, 0.0, face, manner), WalkOptions(fps=30.0))
    place, heading = ends(clip)
    np.testing.assert_allclose(place, path[-1], atol=0.01)
    assert abs((heading - face + np.pi) % (2.0 * np.pi) - np.pi) < 0.03
    assert worst_quality([clip]).foot_slide_m < 0.01


def test_sideways_steps_do_not_cross() -> None:
    clip = walk_route(WOMAN, route([[0, 0], [1.5, 0]], 0.0, 0.0, "left"), WalkOptions(fps=30.0))
    T = clip.world()
    left, right = (T[:, WOMAN.role(f"{side}_foot"), 0, 3] for side in ("left", "right"))
    assert (left - right).min() > 0.08


def test_shins_turn_little_from_frame_to_frame_in_slow_side_steps() -> None:
    clip = walk_route(
        WOMAN, route([[0, 0], [1.0, 0]], 0.0, 0.0, "left"), WalkOptions(speed=0.3, library=recorded_cycles())
    )
    for side in ("left", "right"):
        q = clip.rotations[:, WOMAN.role(f"{side}_shin")]
        assert 2.0 * np.arccos(np.clip(np.abs(np.sum(q[1:] * q[:-1], axis=1)), 0.0, 1.0)).max() < 0.2


def test_a_walk_begins_as_somebody_stands() -> None:
    before = er.place(er.idle(WOMAN, 0.5, 30.0, seed=3), (1.0, 2.0), 0.7)
    pose = Pose.of(before.root[-1], before.rotations[-1])
    clip = walk_from(WOMAN, pose, [[1.0, 2.0], [2.5, 2.0]], face=0.0, options=WalkOptions(fps=30.0))
    np.testing.assert_allclose(clip.root[0], pose.root, atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(clip.rotations[0] * pose.rotations, axis=-1)), 1.0, atol=1e-9)
    first, soon = (WOMAN.skeleton.at(Pose.of(clip.root[k], clip.rotations[k])) for k in (0, 12))
    for side in ("left", "right"):
        joint = WOMAN.role(f"{side}_foot")
        assert np.linalg.norm(first[joint, :3, 3] - soon[joint, :3, 3]) < 0.004


def test_envelopes_are_narrower_sideways_and_as_tall() -> None:
    ahead, aside = envelope(WOMAN, "forward"), envelope(WOMAN, "left")
    assert aside.width < 0.75 * ahead.width
    assert all(trunk <= half + 1e-9 for trunk, half in zip(ahead.trunk, ahead.half, strict=True))
    assert 1.5 < ahead.height < 1.75


def test_a_route_without_a_way_is_told() -> None:
    with pytest.raises(BadValue, match="ends where it begins"):
        route([[0.0, 0.0]], 0.0, 0.0)
    with pytest.raises(BadValue, match="finite"):
        route([[0.0, np.nan]], 0.0, 0.0)


@pytest.mark.parametrize(
    ("left", "right"),
    [((0.2, 0.0, 25.0), (-0.2, 0.0, -25.0)), ((0.6, -0.5, 65.0), (0.35, -0.35, 15.0))],
)
def test_it_ends_on_the_footprints_that_are_given(left: tuple, right: tuple) -> None:
    """Beside where feet stand, under a body that stays, and elsewhere."""
    before = er.idle(WOMAN, 0.5, 30.0)
    pose = Pose.of(before.root[-1], before.rotations[-1])
    feet = {
        side: (np.array([x, y]), np.radians(heading)) for side, (x, y, heading) in (("left", left), ("right", right))
    }
    place, face = stance_on(WOMAN, feet)
    clip = walk_from(WOMAN, pose, [[0.0, 0.0], place], face, options=WalkOptions(fps=30.0, last=feet))
    found = footprints_of(WOMAN, Pose.of(clip.root[-1], clip.rotations[-1]))
    for side, (at, heading) in feet.items():
        np.testing.assert_allclose(found[side][0], at, atol=1e-3)
        assert found[side][1] == pytest.approx(heading, abs=0.01)
    assert worst_quality([clip]).foot_slide_m < 0.01


def test_a_way_of_a_few_millimetres_moves_no_foot() -> None:
    clip = walk_route(WOMAN, route([[0, 0], [0.004, 0]], 0.0, 0.0, "left"), WalkOptions(fps=30.0))
    assert len(clip) > 1 and np.ptp(clip.root[:, 0]) < 0.05


@pytest.mark.parametrize(
    ("path", "face", "manner", "speed"),
    [([[0, 0], [2.5, 0]], 0.0, "left", 0.6), ([[0, 0], [0, -1.5], [1.5, -2.5], [3, -2.5]], 2.0, "forward", 1.25)],
)
def test_feet_that_land_at_frames_do_not_slide_between_them(
    path: list, face: float, manner: WalkingManner, speed: float
) -> None:
    """Nor do knees snap straight for it."""
    slides, jerks = [], []
    for on_frames in (True, False):
        options = WalkOptions(fps=30.0, speed=speed, library=recorded_cycles(), on_frames=on_frames)
        clip = walk_route(WOMAN, route(path, 0.0, face, manner), options)
        times = np.arange(0.0, clip.span[1], 1.0 / 240.0)
        slides.append(float(foot_slide(Clip(WOMAN, 240.0, *clip.sample(times))).max()))
        jerks.append(peak_jerk(clip))
    assert slides[0] < 1.5e-3 < 2e-3 < slides[1]
    assert jerks[0] < 1.15 * jerks[1]
