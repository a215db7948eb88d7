"""The 41 markers: labels, places on the person, rigs with parts missing, positions in poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

from conftest import real_files
from elbowroom.character.anthropometry import proportions
from elbowroom.character.human import PRESETS, human, preset
from elbowroom.character.human_joints import human_skeleton
from elbowroom.character.markers import MARKERS, marker_positions, markers_for
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.asf_amc import read_amc
from elbowroom.files.c3d import read_c3d
from elbowroom.geometry.rotations import about, normalize

LABELS = """
    LFHD RFHD LBHD RBHD C7 T10 CLAV STRN RBAC
    LSHO LUPA LELB LFRM LWRA LWRB LFIN RSHO RUPA RELB RFRM RWRA RWRB RFIN
    LFWT RFWT LBWT RBWT
    LTHI LKNE LSHN LANK LHEE LTOE LMT5 RTHI RKNE RSHN RANK RHEE RTOE RMT5
"""


def places(name: str = "man") -> dict[str, np.ndarray]:
    person = preset(name, skin=False)
    at = marker_positions(person, person.skeleton.T_rest)
    return dict(zip(person.markers, at, strict=True))


def test_the_labels_are_those_of_the_real_files() -> None:
    assert len(LABELS.split()) == 41
    assert set(MARKERS) == set(LABELS.split())
    assert tuple(human(skin=False).markers) == MARKERS


@pytest.mark.parametrize("name", list(PRESETS))
def test_left_and_right_mirror_each_other_and_lie_where_they_should(name: str) -> None:
    at = places(name)
    for label in MARKERS:
        if label[0] == "L":
            np.testing.assert_allclose(at[label] * [-1, 1, 1], at["R" + label[1:]], atol=0.01)
            assert at[label][0] > 0
    height = PRESETS[name]["height"]
    assert all(0 < p[2] < height for p in at.values())
    down = ["LFHD", "C7", "CLAV", "STRN", "LFWT", "LTHI", "LKNE", "LSHN", "LANK", "LHEE"]
    heights = [at[label][2] for label in down]
    assert heights == sorted(heights, reverse=True)
    for front, back in (
        ("LFHD", "LBHD"),
        ("CLAV", "C7"),
        ("STRN", "T10"),
        ("LFWT", "LBWT"),
        ("LTOE", "LHEE"),
    ):
        assert at[front][1] < at[back][1] - 0.05
    assert at["LWRA"][1] < at["LWRB"][1], "A is on the thumb's side"


def test_markers_lie_on_the_skin_not_far_from_where_the_tables_put_them() -> None:
    dressed, bare = preset("woman"), preset("woman", skin=False)
    assert dressed.skin is not None
    rest = dressed.skeleton.T_rest
    surface = cKDTree(dressed.skin.posed(rest))
    at, guess = marker_positions(dressed, rest), marker_positions(bare, rest)
    assert surface.query(at)[0].max() < 1e-6
    assert np.linalg.norm(at - guess, axis=1).max() < 0.04


@pytest.mark.parametrize("path", real_files("mocap/cmu_c3d/0*.c3d"), ids=lambda p: p.stem)
def test_distances_between_markers_are_those_of_recorded_people(path: Path) -> None:
    recorded = read_c3d(path)
    points = {label.split(":")[-1]: recorded.points[:, k] for k, label in enumerate(recorded.labels)}
    person = human()
    ours = dict(zip(person.markers, marker_positions(person, person.skeleton.T_rest), strict=True))
    size = (ours["LFHD"] - ours["LTOE"])[2] / (np.nanmedian(points["LFHD"][:, 2]) - np.nanmin(points["LTOE"][:, 2]))
    # On one segment each, so the pose does not matter; the shoulder's moves with its soft tissue.
    for a, b, slack in (
        ("LKNE", "LANK", 0.13),
        ("RKNE", "RANK", 0.13),
        ("LELB", "LWRB", 0.12),
        ("LFWT", "RFWT", 0.20),
        ("LFWT", "LBWT", 0.20),
        ("LSHO", "LELB", 0.25),
        ("C7", "CLAV", 0.25),
    ):
        seen = float(np.nanmedian(np.linalg.norm(points[a] - points[b], axis=-1)))
        assert np.linalg.norm(ours[a] - ours[b]) == pytest.approx(size * seen, rel=slack), f"{a} to {b}"


def test_head_markers_are_a_heads_breadth_apart_and_wrist_markers_a_wrists() -> None:
    at, sizes = places("man"), proportions(1.76, 77.0, sex="male")
    assert np.linalg.norm(at["LFHD"] - at["RFHD"]) == pytest.approx(0.8 * sizes.breadth["head"], rel=0.2)
    assert np.linalg.norm(at["LWRA"] - at["LWRB"]) == pytest.approx(sizes.girth["wrist"] / np.pi, rel=0.35)


def test_markers_ride_on_their_segments() -> None:
    person = human(skin=False)
    rest = person.skeleton.rest_pose
    q = np.array(rest.rotations)
    q[person.role("left_forearm")] = about([0.0, 0.0, 1.0], -1.2)
    before = dict(zip(person.markers, marker_positions(person, person.skeleton.T_rest), strict=True))
    T = person.skeleton.forward(rest.root, q)
    after = dict(zip(person.markers, marker_positions(person, T), strict=True))
    moved = {label for label in MARKERS if np.linalg.norm(after[label] - before[label]) > 1e-9}
    assert moved == {"LFRM", "LWRA", "LWRB", "LFIN"}


def test_positions_of_a_batch_are_those_of_its_poses() -> None:
    person = human(skin=False)
    rng = np.random.default_rng(1)
    T = person.skeleton.forward(rng.normal(size=(5, 3)), normalize(rng.normal(size=(5, 54, 4))))
    batch = marker_positions(person, T)
    assert batch.shape == (5, 41, 3)
    np.testing.assert_allclose(batch[3], marker_positions(person, T[3]))
    label = "RMT5"
    marker = person.markers[label]
    by_hand = T[2, marker.joint] @ [*marker.offset, 1.0]
    np.testing.assert_allclose(batch[2, MARKERS.index(label)], by_hand[:3])


def test_a_rig_with_parts_missing_gets_the_markers_that_it_can_carry() -> None:
    sizes = proportions(1.7)
    skeleton = human_skeleton(sizes)
    roles = {name: j for j, name in enumerate(skeleton.names)}
    full = markers_for(skeleton, roles, [0, -1, 0], sizes)
    without_arm = {role: j for role, j in roles.items() if not role.startswith("left_") or "thigh" in role}
    some = markers_for(skeleton, without_arm, [0, -1, 0], sizes)
    assert not {"LELB", "LWRA", "LFIN", "LKNE"} & set(some)
    assert {"RELB", "RKNE", "C7", "LFWT"} <= set(some)
    without_clavicle = {role: j for role, j in roles.items() if "clavicle" not in role}
    moved = markers_for(skeleton, without_clavicle, [0, -1, 0], sizes)
    assert moved["LSHO"].joint == roles["chest"]
    at = [skeleton.T_rest[m["LSHO"].joint, :3, 3] + m["LSHO"].offset for m in (moved, full)]
    np.testing.assert_allclose(at[0], at[1])


def test_a_rig_that_faces_elsewhere_has_its_markers_turned_with_it() -> None:
    sizes = proportions(1.7)
    skeleton = human_skeleton(sizes)
    roles = {name: j for j, name in enumerate(skeleton.names)}
    turn = np.array(about([0.0, 0.0, 1.0], 2.0))
    rest = np.array(skeleton.rest)
    rest[0] = turn
    turned = Skeleton(skeleton.names, skeleton.parents, skeleton.offsets, rest)
    front = turned.T_rest[0, :3, :3] @ [0.0, -1.0, 0.0]
    a, b = (markers_for(s, roles, f, sizes) for s, f in ((skeleton, [0, -1, 0]), (turned, front)))
    for label in MARKERS:
        np.testing.assert_allclose(a[label].offset, b[label].offset, atol=1e-12)


def test_a_rig_from_a_file_has_the_markers_about_where_its_actor_wore_them(data: Path) -> None:
    clip = read_amc(data / "mocap/cmu_asf_amc/07/07_01.amc")
    assert tuple(clip.character.markers) == MARKERS
    take = read_c3d(data / "mocap/cmu_c3d/07_01.c3d")
    worn = np.stack([take.track(label) for label in MARKERS], axis=1)[..., [1, 0, 2]] * [1, -1, 1]
    count = min(len(clip), len(worn))
    apart = np.linalg.norm(marker_positions(clip.character, clip.world())[:count] - worn[:count], axis=-1)
    assert np.median(apart) < 0.06
