"""ASF/AMC: forward kinematics against true bone ends and against the BVH release, oddities, bad files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import real_files
from elbowroom.errors import BadFile
from elbowroom.files.asf_amc import find_asf, read_amc, read_asf
from elbowroom.files.bvh import read_bvh, write_bvh
from elbowroom.files.c3d import read_c3d
from elbowroom.files.conventions import CMU_UNIT
from elbowroom.geometry import rotations as rot

# Joint at a bone's end -> label of that bone end in 16_07.c3d
BONE_ENDS = {
    "root": "PEL0",
    "lowerneck": "TRX0",
    "head_end": "HED0",
    **{
        joint.format(side.lower()): label.format(side)
        for side in "LR"
        for joint, label in (
            ("{}femur", "{}HJ0"),
            ("{}tibia", "{}FE0"),
            ("{}foot", "{}TI0"),
            ("{}humerus", "{}CL0"),
            ("{}radius", "{}HU0"),
            ("{}wrist", "{}RA0"),
            ("{}toes", "{}FO0"),
            ("{}toes_end", "{}TO0"),
        )
    },
}
LEGS = {
    "root": "Hips",
    **{
        joint.format(side[0].lower()): name.format(side)
        for side in ("Left", "Right")
        for joint, name in (
            ("{}femur", "{}UpLeg"),
            ("{}tibia", "{}Leg"),
            ("{}foot", "{}Foot"),
            ("{}toes", "{}ToeBase"),
            ("{}toes_end", "{}ToeBase_end"),
        )
    },
}
ARMS = {"lhumerus": "LeftArm", "rradius": "RightForeArm", "lhand": "LeftFingerBase", "head_end": "Head_end"}


@pytest.mark.parametrize("path", real_files("mocap/cmu_asf_amc/*/*.amc"), ids=lambda p: p.stem)
def test_real_files_hold_upright_people(path: Path) -> None:
    clip = read_amc(path)
    P = clip.positions()
    assert np.all(np.isfinite(P))
    assert clip.fps == 120.0 and any("120 fps" in n for n in clip.source.notes)
    assert clip.source.units == CMU_UNIT
    top, bottom = P[..., 2].max(axis=1), P[..., 2].min(axis=1)
    assert 1.2 < np.percentile(top - bottom, 98) < 2.4
    assert -0.05 < np.percentile(bottom, 20) < 0.1
    assert 0.8 < np.percentile(clip.root[:, 2], 95) < 1.5  # 16_07 jumps
    assert {"left_arm", "right_arm", "left_leg", "right_leg"} <= set(clip.character.chains)
    assert not any("steps per second" in n for n in clip.source.notes)


def test_forward_kinematics_agrees_with_the_true_bone_ends(data: Path) -> None:
    clip = read_amc(data / "mocap/cmu_asf_amc/16/16_07.amc")
    markers = read_c3d(data / "mocap/cmu_c3d/16_07.c3d")
    P = clip.positions()
    assert len(markers.points) == len(P)
    for joint, label in BONE_ENDS.items():
        truth = markers.track(label)
        truth = np.stack([truth[:, 1], -truth[:, 0], truth[:, 2]], axis=-1)  # C3D's (y, z, x) is the AMC's (x, y, z)
        off = np.linalg.norm(P[:, clip.character.skeleton.index(joint)] - truth, axis=1)
        if "toes" in joint:
            # the AMC has no channel for one of the foot's turns: exact at rest, off while landing
            assert off.mean() < 0.010, joint
        else:
            assert off.max() < 0.001, joint


@pytest.mark.parametrize("name", ["02/02_01", "07/07_01", "16/16_17"])
def test_legs_agree_with_the_bvh_release(data: Path, name: str) -> None:
    amc = read_amc(data / f"mocap/cmu_asf_amc/{name}.amc")
    bvh = read_bvh(data / f"mocap/cmu_bvh/{Path(name).name}.bvh", fix_rig=True)
    A, B = amc.positions(), bvh.positions()[bvh.source.lead :]
    count = min(len(A), len(B))
    for pairs, most in ((LEGS, 0.0001), (ARMS, 0.005)):  # the thorax that fix_rig puts back is an estimate
        for joint, other in pairs.items():
            a = A[:count, amc.character.skeleton.index(joint)]
            b = B[:count, bvh.character.skeleton.index(other)]
            assert np.linalg.norm(a - b, axis=1).max() < most, joint


@pytest.mark.parametrize("path", real_files("mocap/cmu_asf_amc/*/*.asf"), ids=lambda p: p.stem)
def test_real_skeletons(path: Path) -> None:
    character = read_asf(path)
    assert len([n for n in character.skeleton.names if not n.endswith("_end")]) == 31
    assert 1.4 < character.height < 1.9
    assert any("inches times 0.45" in n for n in character.notes)


def test_an_amc_can_be_written_as_bvh(data: Path, tmp_path: Path) -> None:
    clip = read_amc(data / "mocap/cmu_asf_amc/02/02_01.amc")
    write_bvh(tmp_path / "walk.bvh", clip)
    again = read_bvh(tmp_path / "walk.bvh")
    assert again.source.units == 0.01
    index = [again.character.skeleton.index(n) for n in clip.character.skeleton.names]
    assert np.abs(again.positions()[:, index] - clip.positions()).max() < 1e-6


# --- made by hand

ASF = """# a comment
:version 1.10
:name SMALL
:units
  mass 1.0
  length 1.0
  angle deg
:documentation
  any words: here
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name spine
     direction 0 1 0
     length 30
     axis 0 0 0 XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
     id 2
     name leg
     direction 0 -1 0
     length 36
     axis 0 0 90 XYZ
    dof rx
    limits (-160.0 20.0)
  end
  begin
     id 3
     name hip
     direction 1 0 0
     length 4
     axis 0 0 0 XYZ
  end
:hierarchy
  begin
    root spine hip
    hip leg
  end
"""
AMC = "#!OML:ASF F:\\some path\\x.ASF\r\n:FULLY-SPECIFIED\r\n:DEGREES\r\n" + "".join(
    f"{k}\r\nroot {k} 40 0 0 0 0 \r\nleg 30\r\nspine 10 20 30\r\n" for k in range(1, 4)
)


@pytest.fixture
def pair(tmp_path: Path):
    def make(asf: str = ASF, amc: str | bytes = AMC) -> Path:
        (tmp_path / "s.asf").write_bytes(asf.encode())
        path = tmp_path / "s_01.amc"
        path.write_bytes(amc if isinstance(amc, bytes) else amc.encode())
        return path

    return make


def test_a_bone_turns_about_its_own_axes(pair) -> None:
    clip = read_amc(pair())
    index = clip.character.skeleton.index
    # the leg's x axis is the file's y, which is up: turning about it leaves the leg where it was
    assert clip.source.units == pytest.approx(0.0254)
    assert np.allclose(clip.positions()[0, index("leg_end")], 0.0254 * np.array([5.0, 0.0, 4.0]))
    assert rot.angle(clip.rotations[0, index("leg")]) == pytest.approx(np.radians(30))
    x, y, z = ([1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0])  # file axes in Z up
    spine = rot.multiply(
        rot.multiply(rot.about(z, np.radians(30)), rot.about(y, np.radians(20))), rot.about(x, np.radians(10))
    )
    assert rot.angle_between(clip.rotations[1, index("spine")], spine) < 1e-12
    assert np.allclose(clip.root[:, 0], 0.0254 * np.array([1, 2, 3]))
    assert rot.angle(clip.rotations[:, index("hip")]).max() == 0.0


def test_radians_and_overrides(pair) -> None:
    radians = AMC.replace(":DEGREES", ":RADIANS").replace("leg 30", f"leg {np.radians(30)}")
    radians = radians.replace("spine 10 20 30", "spine " + " ".join(str(np.radians(a)) for a in (10, 20, 30)))
    assert np.allclose(read_amc(pair(amc=radians)).rotations, read_amc(pair()).rotations, atol=1e-12)
    clip = read_amc(pair(), units=0.01, up="Z", fps=30)
    assert clip.fps == 30 and clip.source.units == 0.01
    assert np.allclose(clip.root[0], [0.01, 0.4, 0.0])
    assert not any("assumed" in n for n in clip.source.notes)


def test_bones_without_motion_are_told(pair) -> None:
    clip = read_amc(pair(amc=AMC.replace("leg 30\r\n", "")))
    assert any("No motion for leg" in n for n in clip.source.notes)


def test_the_skeleton_is_found_beside_the_motion(tmp_path: Path, pair) -> None:
    path = pair()
    assert find_asf(path).name == "s.asf"
    other = tmp_path / "walk.amc"
    other.write_text(AMC)
    assert find_asf(other).name == "s.asf"
    (tmp_path / "t.asf").write_text(ASF)
    assert find_asf(path).name == "s.asf"
    with pytest.raises(BadFile, match="several skeletons"):
        read_amc(other)
    assert len(read_amc(other, tmp_path / "t.asf")) == 3
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "x.amc").write_text(AMC)
    with pytest.raises(BadFile, match="no skeleton"):
        read_amc(alone / "x.amc")
    with pytest.raises(BadFile, match="does not exist"):
        read_amc(tmp_path / "none.amc")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: "", "empty"),
        (lambda t: t.replace("leg 30", "leg 30 31", 1), "line 6: has 2 values for 'leg'"),
        (lambda t: t.replace("leg 30", "wing 30", 1), "'wing' has no degrees"),
        (lambda t: t.replace("leg 30\r\n", "", 1), "frame 1 lacks 'leg'"),
        (lambda t: t[: t.rindex("leg")], "lacks 'spine'|lacks 'leg'"),
        (lambda t: t.replace("leg 30", "leg nan", 1), "line 6: 'nan'"),
        (lambda t: t.replace("leg 30", "leg x", 1), "line 6: 'x' is not a number"),
        (lambda t: t.replace("leg 30", "leg 30\nleg 30", 1), "twice in a frame"),
        (lambda t: t.replace("1\r\nroot", "root", 1), "before a frame's number"),
        (lambda t: ":DEGREES\n", "no frames"),
        (lambda t: "1\n2\n3\n", "empty"),
        (lambda t: t.encode() + bytes(range(256)), "binary"),
    ],
)
def test_bad_motions(pair, spoil, says: str) -> None:
    with pytest.raises(BadFile, match=says):
        read_amc(pair(amc=spoil(AMC)))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: "", "empty"),
        (lambda t: "hello", "before any section"),
        (lambda t: t[: t.index(":hierarchy")], "no :hierarchy"),
        (lambda t: t.replace(":hierarchy", ":heirs"), ":heirs"),
        (lambda t: t.replace("    hip leg", "    leg hip\n    hip leg"), "second parent"),
        (lambda t: t.replace("root spine hip", "root spine"), "is not connected to the root"),
        (lambda t: t.replace("hip leg", "hip arm"), "'arm' is not in :bonedata"),
        (lambda t: t.replace("length 30", "length nan"), "nan"),
        (lambda t: t.replace("length 30", "length"), "not a number"),
        (lambda t: t.replace("length 1.0", "length 0"), "not positive"),
        (lambda t: t.replace("direction 0 1 0", "direction 0 1"), "three numbers"),
        (lambda t: t.replace("axis 0 0 90 XYZ", "axis 0 0 90 XXZ"), "order such as XYZ"),
        (lambda t: t.replace("dof rx\n", "dof qx\n"), "'qx' is unknown"),
        (lambda t: t.replace("name leg", "name hip"), "no unique name"),
        (lambda t: t.replace("order TX TY", "order TX TX"), "root order"),
        (lambda t: t.replace("  end\n:hier", ":hier"), "has no 'end'"),
        (lambda t: t[:-6], "no 'end'"),
    ],
)
def test_bad_skeletons(pair, spoil, says: str) -> None:
    with pytest.raises(BadFile, match=says):
        read_asf(pair(asf=spoil(ASF)).parent / "s.asf")


def test_a_cycle_of_bones_is_found(pair) -> None:
    cycle = ASF.replace("    root spine hip\n    hip leg", "    root spine\n    hip leg\n    leg hip")
    with pytest.raises(BadFile, match="cycle"):
        read_asf(pair(asf=cycle).parent / "s.asf")
