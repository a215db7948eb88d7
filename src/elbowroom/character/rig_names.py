"""Which part of a body a joint's name speaks of, and on which side.

Names differ in prefix ('mixamorig:LeftArm', 'J_Bip_L_UpperArm', 'Bip01 L UpperArm', 'DEF-upper_arm.L'), in
how the side is written ('Left', 'L', 'lfemur', 'upperarm_l') and in the word for the part ('LeftUpLeg',
'lfemur', 'L Thigh'). A name is cut into lower-case words, the side and the number are taken out, and the
rest is looked up. Some words mean different joints in different rigs ('shoulder', 'hip', 'leg'): they keep
a part of their own here, and the tree decides (see `rig`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "right", ""]

FINGERS = ("thumb", "index", "middle", "ring", "little")

# Part -> the words for it, joined without separators, after side, prefix and number are gone.
_WORDS: dict[str, tuple[str, ...]] = {
    "pelvis": ("hips", "pelvis", "root", "mpelvis", "cog", "hip", "body"),
    "trunk": (
        *(
            "lowerback",
            "upperback",
            "spine",
            "thorax",
            "abdomen",
            "torso",
            "chest",
            "upperchest",
            "belly",
            "back",
        ),
        *("tospine", "waist", "stomach", "ribs", "ribcage", "lowerchest", "spinelower", "spineupper", "ab"),
    ),
    "neck": ("neck", "lowerneck", "upperneck", "necklower", "neckupper"),
    "head": ("head", "skull"),
    "eye": ("eye", "faceeye", "eyeball"),
    "clavicle": ("clavicle", "collar", "collarbone", "scapula", "shoulderblade", "clav"),
    "shoulder": ("shoulder",),
    "upper_arm": ("upperarm", "uparm", "humerus", "shoulderjoint", "bicep"),
    "arm": ("arm",),
    "forearm": ("forearm", "lowerarm", "radius", "elbow", "ulna", "loarm", "lowarm"),
    "hand": ("hand", "wrist", "palm"),
    "thigh": ("thigh", "upleg", "upperleg", "femur", "hipjointfemur"),
    "hip": ("hip",),
    "hip_helper": ("hipjoint",),
    "leg": ("leg",),
    "shin": ("shin", "calf", "lowerleg", "tibia", "knee", "loleg", "lowleg"),
    "foot": ("foot", "ankle"),
    "toes": ("toe", "toes", "toebase", "ball", "bigtoe", "toesbase"),
    "thumb": ("thumb", "handthumb", "fthumb"),
    "index": ("index", "handindex", "findex", "indexfinger", "pointer", "fingers", "forefinger"),
    "middle": ("middle", "handmiddle", "fmiddle", "middlefinger", "mid", "handmid"),
    "ring": ("ring", "handring", "fring", "ringfinger"),
    "little": (
        "little",
        "pinky",
        "handpinky",
        "handlittle",
        "fpinky",
        "pinkyfinger",
        "littlefinger",
        "pinkie",
    ),
    "finger": ("finger",),
}
_PART = {word: part for part, words in reversed(_WORDS.items()) for word in words}

# Words without which the name means the same joint.
_NOISE = {
    "def",
    "org",
    "bip",
    "bip01",
    "bip02",
    "bip001",
    "j",
    "jnt",
    "joint",
    "bone",
    "b",
    "bn",
    "c",
    "sec",
    "skeleton",
}
_NOISE |= {
    "adj",
    "rig",
    "skel",
    "char",
    "character",
    "mixamorig",
    "proximal",
    "intermediate",
    "distal",
    "phalanx",
}
# Joints that only help to skin, steer or end the rig.
_HELPER = {
    "twist",
    "roll",
    "end",
    "nub",
    "site",
    "tip",
    "effector",
    "ik",
    "pole",
    "target",
    "ctrl",
    "helper",
    "poletarget",
}
_HELPER |= {
    "adjust",
    "corrective",
    "metacarpal",
    "carpal",
    "metatarsal",
    "attach",
    "prop",
    "socket",
    "weapon",
    "dummy",
}
_HELPER |= {"top", "blink", "lid", "brow", "share", "muscle", "bendy", "tweak", "nil", "null", "dir"}

_LEFT, _RIGHT = {"l", "left", "lf", "lt"}, {"r", "right", "rt", "rg"}


@dataclass(frozen=True)
class NamedPart:
    """What a joint's name says: `part` is a key of `_WORDS` or '', `digits` are its numbers as text."""

    part: str
    side: Side
    digits: str
    helper: bool


def words_of(name: str) -> list[str]:
    """A name cut at separators, at changes of case and around numbers, in lower case."""
    base = re.split(r"[:|]", name)[-1]
    base = re.sub(r"([a-z])([A-Z])", r"\1 \2", base)
    base = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", base)
    return re.findall(r"[a-z]+|\d+", base.lower())


def part_of(name: str) -> NamedPart:
    """What part of a body a joint's name speaks of."""
    words = words_of(name)
    # '3ds Max' numbers its bipeds ('Bip01', 'Bip001'): that number is no part of the name.
    if words and words[0] == "bip" and len(words) > 1 and words[1].isdigit():
        words = words[2:]
    digits = "".join(w for w in words if w.isdigit())
    words = [w for w in words if not w.isdigit() and w not in _NOISE]
    side: Side = ""
    if any(w in _LEFT for w in words):
        side = "left"
    elif any(w in _RIGHT for w in words):
        side = "right"
    rest = [w for w in words if w not in _LEFT | _RIGHT]
    helper = any(w in _HELPER for w in rest)
    joined = "".join(w for w in rest if w not in _HELPER)
    part = _PART.get(joined, "")
    if not part and not side and joined[:1] in ("l", "r"):
        # 'lfemur', 'lhipjoint': the side is glued to the part
        inner = _PART.get(joined[1:], "")
        if inner and inner not in ("trunk", "pelvis", "neck", "head"):
            side, part = ("left" if joined[0] == "l" else "right"), inner
    if not part and not side:
        for word, s in (("left", "left"), ("right", "right")):
            if joined.startswith(word) and joined[len(word) :] in _PART:
                side, part = s, _PART[joined[len(word) :]]  # type: ignore[assignment]
    if part == "pelvis" and side:
        part = "hip" if joined.endswith("hip") else ""
    # 'LHipJoint' loses 'joint' as noise, yet it is the helper above the thigh, not the thigh.
    if (part == "hip" and side and "joint" in words_of(name)) or joined.endswith("hipjoint"):
        part = "hip_helper"
    return NamedPart(part, side, digits, helper)


def finger_of(named: NamedPart, counts_from_one: bool) -> str:
    """Finger that a name means, '' if none; numbered ones ('Finger12', 'finger2-1') by the first digit."""
    if named.part in FINGERS:
        return named.part
    if named.part == "finger" and named.digits:
        k = int(named.digits[0]) - (1 if counts_from_one else 0)
        return FINGERS[k] if 0 <= k < 5 else ""
    return ""
