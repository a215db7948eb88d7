"""Forearms with a joint of their own that turns the palm: the hand begins at the wrist, not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.human import human
from elbowroom.character.rig import as_character
from elbowroom.character.rig_geometry import between
from elbowroom.character.rig_names import wrist_after
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.asf_amc import read_amc
from elbowroom.files.bvh import read_bvh
from elbowroom.files.c3d import read_c3d
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import counterparts, mirror
from elbowroom.motion.retarget_pose import carry_over

SIDES = ("left", "right")


@pytest.mark.parametrize(
    ("forearm", "turning", "wrist"),
    [
        ("lradius", "lwrist", "lhand"),
        ("RightForeArm", "RightHand", "rightfingerbase"),
        ("L_Elbow", "L_Wrist", ""),  # here the next joint is in the palm
        ("lradius", "rwrist", ""),
        ("forearm.L", "hand.L", ""),
    ],
)
def test_which_joint_turns_the_forearm(forearm: str, turning: str, wrist: str) -> None:
    assert wrist_after(forearm, turning) == wrist


def with_turning_joints() -> Skeleton:
    """The built-in person under CMU's names, with a joint for the palm two thirds down each forearm."""
    names = {"left_forearm": "lradius", "left_hand": "lhand", "left_upper_arm": "lhumerus"}
    names |= {k.replace("left", "right"): "r" + v[1:] for k, v in names.items()}
    person = human(skin=False).skeleton
    kept = [j for j, n in enumerate(person.names) if n[-1] not in "123" or "spine" in n]
    out: list[tuple[str, str, np.ndarray]] = []
    for j in kept:
        name = person.names[j]
        parent = person.names[person.parents[j]] if person.parents[j] >= 0 else ""
        offset = person.offsets[j]
        if name in ("left_hand", "right_hand"):
            turning = f"{name[0]}wrist"
            out.append((turning, names[parent], offset * 2 / 3))
            parent, offset = turning, offset / 3
        out.append((names.get(name, name), names.get(parent, parent), offset))
    index = {n: k for k, (n, _, _) in enumerate(out)}
    return Skeleton(tuple(index), np.array([index.get(p, -1) for _, p, _ in out]), np.array([o for _, _, o in out]))


def test_the_palm_turns_at_a_joint_of_its_own() -> None:
    c = as_character(with_turning_joints(), name="rig")
    for side in SIDES:
        assert c.skeleton.names[c.role(f"{side}_hand")] == f"{side[0]}hand"
        assert [c.skeleton.names[j] for j in c.chains[f"{side}_arm"].joints] == [
            f"{side[0]}{bone}" for bone in ("humerus", "radius", "hand")
        ]
        (turning,) = between(c.skeleton, c.roles, f"{side}_forearm", f"{side}_hand")
        limit, wrist = c.limits[turning], c.limits[c.role(f"{side}_hand")]
        assert limit is not None and wrist is not None
        along = c.skeleton.offsets[turning]
        for degrees, within in ((85, True), (-85, True), (120, False)):
            assert limit.contains(rot.about(rot.normalize(along), np.radians(degrees))) == within
            assert not wrist.contains(rot.about(rot.normalize(along), np.radians(degrees)))
        assert not limit.contains(rot.about([0, 0, 1], np.radians(40)))
        bare = fit_shapes(c.skeleton, c.roles)
        forearm = next(s for s in bare if s.name == f"{side}_forearm" and s.size[0] < 0.035)
        assert 2 * forearm.size[1] == pytest.approx(1.5 * np.linalg.norm(along), rel=0.01)  # up to the wrist


def test_a_forearm_without_such_a_joint_takes_its_turn() -> None:
    """Onto the built-in person the palm is turned by the forearm, not by a wrist that cannot."""
    rig = as_character(with_turning_joints(), name="rig")
    q = np.tile(rig.skeleton.rest, (2, 1, 1))
    turning = rig.skeleton.names.index("lwrist")
    q[1, turning] = rot.about([1, 0, 0], np.radians(60))
    clip = Clip(rig, 30.0, np.tile(rig.skeleton.offsets[0], (2, 1)), q)
    person = human(skin=False)
    made = carry_over(clip, person, 0.0)
    fore, hand = (person.limits[person.role(p)] for p in ("left_forearm", "left_hand"))
    assert fore is not None and hand is not None
    turned = fore.coordinates(made.rotations[:, person.role("left_forearm")])[:, 2]
    assert np.degrees(turned[1] - turned[0]) == pytest.approx(60, abs=1e-6)
    assert hand.contains(made.rotations[1, person.role("left_hand")], 1e-6)
    # between two rigs that both have the joint, it keeps its turn
    again = carry_over(clip, rig.with_(name="other"), 0.0)
    assert np.allclose(rot.angle_between(again.rotations, q), 0, atol=1e-6)


def test_the_wrist_is_where_the_markers_of_the_wrist_are(data: Path) -> None:
    """CMU 02_01 as angles, as BVH and as markers: two markers sit on both sides of each wrist."""
    markers = read_c3d(data / "mocap/cmu_c3d/02_01.c3d")
    at = {label.rpartition(":")[2]: markers.points[:, k] for k, label in enumerate(markers.labels)}
    clips = (
        read_amc(data / "mocap/cmu_asf_amc/02/02_01.amc"),
        read_bvh(data / "mocap/cmu_bvh/02_01.bvh", fix_rig=True),
    )
    for clip in clips:
        p = clip.positions()[clip.source.lead :]
        n = min(len(p), len(markers.points))
        for side in SIDES:
            mark = side[0].upper()
            wrist = 0.5 * (at[f"{mark}WRA"] + at[f"{mark}WRB"])[:n]
            # another origin and heading in the markers' file: distances within the body tell all the same
            elbow = at[f"{mark}ELB"][:n]
            c = clip.character
            (turning,) = between(c.skeleton, c.roles, f"{side}_forearm", f"{side}_hand")
            fore, hand = p[:n, c.role(f"{side}_forearm")], p[:n, c.role(f"{side}_hand")]
            seen = np.median(np.linalg.norm(wrist - elbow, axis=1))
            assert abs(np.median(np.linalg.norm(hand - fore, axis=1)) - seen) < 0.04
            assert seen - np.median(np.linalg.norm(p[:n, turning] - fore, axis=1)) > 0.05
        partner = counterparts(clip.character)
        (left,), (right,) = (between(c.skeleton, c.roles, f"{s}_forearm", f"{s}_hand") for s in SIDES)
        assert partner[left] == right
        twice = mirror(mirror(clip))
        assert np.allclose(twice.positions(), clip.positions(), atol=1e-6)


def test_a_made_rest_pose_keeps_the_head_level(data: Path) -> None:
    """ACCAD's zero pose lies on its side; in the one that is made instead the neck leans and the gaze is level."""
    clip = read_bvh(data / "mocap/accad_bvh/Male1_B20_WalkWithBox.bvh")
    person = human(skin=False)
    made = carry_over(clip, person, 0.0)
    W = person.skeleton.orientations(made.rotations)[:, person.role("head")]
    gaze = rot.rotate(W, person.front)
    assert abs(np.degrees(np.arcsin(np.median(gaze[:, 2])))) < 8.0
    assert clip.character.T_rest[clip.character.role("head"), 2, 3] > 1.4
