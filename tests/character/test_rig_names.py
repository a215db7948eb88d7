"""Parts found from joint names: the built-in skeleton under the names of other rigs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elbowroom.character.human import human
from elbowroom.character.rig import find_roles
from elbowroom.character.rig_names import part_of

# Built-in joint -> its name in a rig; {S} Left or Right, {s} left or right, {L} L or R, {l} l or r.
ARM_LEG = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toes")
SCHEMES = {
    "Mixamo": (
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck mixamorig:Head",
        "mixamorig:{S}Shoulder mixamorig:{S}Arm mixamorig:{S}ForeArm mixamorig:{S}Hand "
        "mixamorig:{S}UpLeg mixamorig:{S}Leg mixamorig:{S}Foot mixamorig:{S}ToeBase",
    ),
    "VRM": (
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest J_Bip_C_Neck J_Bip_C_Head",
        "J_Bip_{L}_Shoulder J_Bip_{L}_UpperArm J_Bip_{L}_LowerArm J_Bip_{L}_Hand "
        "J_Bip_{L}_UpperLeg J_Bip_{L}_LowerLeg J_Bip_{L}_Foot J_Bip_{L}_ToeBase",
    ),
    "Biped": (
        "Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Spine2 Bip01_Neck Bip01_Head",
        "Bip01_{L}_Clavicle Bip01_{L}_UpperArm Bip01_{L}_Forearm Bip01_{L}_Hand "
        "Bip01_{L}_Thigh Bip01_{L}_Calf Bip01_{L}_Foot Bip01_{L}_Toe0",
    ),
    "Quaternius": (
        "Hips Abdomen Torso Chest Neck Head",
        "Shoulder.{L} UpperArm.{L} LowerArm.{L} Hand.{L} UpperLeg.{L} LowerLeg.{L} Foot.{L} Toe.{L}",
    ),
    "Unreal": (
        "pelvis spine_01 spine_02 spine_03 neck_01 head",
        "clavicle_{l} upperarm_{l} lowerarm_{l} hand_{l} thigh_{l} calf_{l} foot_{l} ball_{l}",
    ),
    "Rigify": (
        "DEF-spine DEF-spine.001 DEF-spine.002 DEF-spine.003 DEF-neck DEF-head",
        "DEF-shoulder.{L} DEF-upper_arm.{L} DEF-forearm.{L} DEF-hand.{L} "
        "DEF-thigh.{L} DEF-shin.{L} DEF-foot.{L} DEF-toe.{L}",
    ),
    "MakeHuman": (
        "root spine05 spine04 spine01 neck01 head",
        "clavicle.{L} upperarm01.{L} lowerarm01.{L} wrist.{L} upperleg01.{L} lowerleg01.{L} foot.{L} toe1-1.{L}",
    ),
    "SMPL": (
        "m_avg_Pelvis m_avg_Spine1 m_avg_Spine2 m_avg_Spine3 m_avg_Neck m_avg_Head",
        "m_avg_{L}_Collar m_avg_{L}_Shoulder m_avg_{L}_Elbow m_avg_{L}_Wrist "
        "m_avg_{L}_Hip m_avg_{L}_Knee m_avg_{L}_Ankle m_avg_{L}_Foot",
    ),
    "SMPL-X": (
        "pelvis spine1 spine2 spine3 neck head",
        "{s}_collar {s}_shoulder {s}_elbow {s}_wrist {s}_hip {s}_knee {s}_ankle {s}_foot",
    ),
    "Xsens": (
        "Hips L5 L3 T8 Neck Head",
        "{S}Shoulder {S}UpperArm {S}ForeArm {S}Hand {S}UpperLeg {S}LowerLeg {S}Foot {S}Toe",
    ),
    "CMU BVH": (
        "Hips LowerBack Spine Spine1 Neck Head",
        "{S}Shoulder {S}Arm {S}ForeArm {S}Hand {S}UpLeg {S}Leg {S}Foot {S}ToeBase",
    ),
    "CMU ASF": (
        "root lowerback upperback thorax lowerneck head",
        "{l}clavicle {l}humerus {l}radius {l}wrist {l}femur {l}tibia {l}foot {l}toes",
    ),
    "DAZ": (
        "hip abdomen spine chest neck head",
        "{l}Collar {l}ShldrBend {l}ForearmBend {l}Hand {l}ThighBend {l}Shin {l}Foot {l}Toe",
    ),
}


def renamed(trunk: str, limbs: str) -> dict[str, str]:
    """Built-in joint names -> names of a scheme; fingers and eyes get the names of Mixamo and of VRM."""
    names = dict(zip(("pelvis", "spine1", "spine2", "chest", "neck", "head"), trunk.split(), strict=True))
    for side in ("left", "right"):
        marks = {"S": side.title(), "s": side, "L": side[0].upper(), "l": side[0]}
        for part, name in zip(ARM_LEG, limbs.split(), strict=True):
            names[f"{side}_{part}"] = name.format(**marks)
    return names


@pytest.mark.parametrize("scheme", SCHEMES)
def test_limbs_are_found_under_the_names_of_other_rigs(scheme: str) -> None:
    person = human(skin=False)
    names = renamed(*SCHEMES[scheme])
    kept = [j for j, n in enumerate(person.skeleton.names) if n in names]
    new_index = {old: new for new, old in enumerate(kept)}
    skeleton = replace(
        person.skeleton,
        names=tuple(names[person.skeleton.names[j]] for j in kept),
        parents=[new_index.get(int(person.skeleton.parents[j]), -1) for j in kept],
        offsets=person.skeleton.offsets[kept],
        rest=person.skeleton.rest[kept],
    )
    roles, notes = find_roles(skeleton)
    assert {part: skeleton.names[j] for part, j in roles.items()} == names
    assert notes == ["No eyes found.", "No fingers found."]


def test_the_built_in_names_are_their_own_roles() -> None:
    skeleton = human(skin=False).skeleton
    roles, notes = find_roles(skeleton)
    assert {skeleton.names[j]: part for part, j in roles.items()} == {n: n for n in skeleton.names}
    assert notes == []


@pytest.mark.parametrize(
    ("name", "part", "side", "helper"),
    [
        ("LHipJoint", "hip", "left", True),
        ("rhipjoint", "hip", "", True),
        ("lowerarm_twist_01_l", "forearm", "left", True),
        ("index_metacarpal_r", "index", "right", True),
        ("Bip01 LEye", "eye", "left", False),
        ("Bip01 LEyeBlinkTop", "eye", "left", True),
        ("L5", "", "left", False),
        ("ik_hand_l", "hand", "left", True),
        ("lowerback", "", "", False),
        ("HeadTop_End", "head", "", True),
        ("mKneeLeft", "shin", "left", False),
    ],
)
def test_odd_names(name: str, part: str, side: str, helper: bool) -> None:
    found = part_of(name)
    assert (found.part, found.side, found.helper) == (part, side, helper)


def test_fingers_by_name_and_by_number() -> None:
    person = human(skin=False).skeleton
    digit = {"thumb": 0, "index": 1, "middle": 2, "ring": 3, "little": 4}
    biped, makehuman = [], []
    for name in person.names:
        side, _, rest = name.partition("_")
        if rest[:-1] in digit:
            k, segment = digit[rest[:-1]], int(rest[-1])
            biped.append(f"Bip01 {side[0].upper()} Finger{k}{'' if segment == 1 else segment - 1}")
            makehuman.append(f"finger{k + 1}-{segment}.{side[0].upper()}")
        else:
            biped.append(name)
            makehuman.append(name)
    for names in (biped, makehuman):
        roles, _ = find_roles(replace(person, names=tuple(names)))
        assert {person.names[j]: part for part, j in roles.items()} == {n: n for n in person.names}
