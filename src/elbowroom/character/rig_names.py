"""Body part and side that a joint's name refers to.

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

NameSide = Literal["left", "right", ""]

FINGERS = ("thumb", "index", "middle", "ring", "little")

# Part -> the words for it, joined without separators, after side, prefix and number are gone. The trunk is not
# here: it is read from the tree.
_WORDS: dict[str, str] = {
    "neck": "neck lowerneck upperneck necklower neckupper",
    "head": "head skull",
    "eye": "eye faceeye eyeball",
    "clavicle": "clavicle collar collarbone scapula shoulderblade clav",
    "shoulder": "shoulder shldr shldrbend",
    "upper_arm": "upperarm uparm uarm humerus bicep",
    "arm": "arm",
    "forearm": "forearm lowerarm farm radius ulna elbow loarm lowarm forearmbend",
    "hand": "hand wrist palm",
    "thigh": "thigh upleg upperleg femur thighbend",
    "hip": "hip",
    "leg": "leg",
    "shin": "shin calf lowerleg tibia knee loleg lowleg",
    "foot": "foot ankle",
    "toes": "toe toes toebase toesbase ball bigtoe",
    "thumb": "thumb handthumb fthumb",
    "index": "index handindex findex indexfinger pointer forefinger fingers",
    "middle": "middle handmiddle fmiddle middlefinger mid handmid",
    "ring": "ring handring fring ringfinger",
    "little": "little pinky pinkie handpinky handlittle fpinky pinkyfinger littlefinger",
    "finger": "finger",
}
_PART = {word: part for part, words in _WORDS.items() for word in words.split()}

# Words without which the name means the same joint.
_NOISE = """def org bip j jnt joint bone b bn c m f avg sec adj skeleton skel rig char character mixamorig
    proximal intermediate distal phalanx"""
# Words of joints that only help to skin, steer or end the rig.
_HELPER = """twist roll end nub site tip top effector ik pole target poletarget ctrl helper adjust corrective share
    dir metacarpal carpal metatarsal attach prop socket weapon dummy nil null blink lid brow muscle bendy tweak"""
_NOISE_WORDS, _HELPER_WORDS = frozenset(_NOISE.split()), frozenset(_HELPER.split())

_LEFT, _RIGHT = {"l", "left", "lf", "lt"}, {"r", "right", "rt", "rg"}
_GLUED: tuple[tuple[str, NameSide], ...] = (("left", "left"), ("right", "right"), ("l", "left"), ("r", "right"))


@dataclass(frozen=True)
class NamedPart:
    """Parsed joint name: `part` is a key of the table above or '', `digits` are its numbers as text."""

    part: str
    side: NameSide
    digits: str
    helper: bool


def words_of(name: str) -> list[str]:
    """A name cut at separators, at changes of case and around numbers, in lower case."""
    base = re.split(r"[:|]", name)[-1]
    base = re.sub(r"([a-z])([A-Z])", r"\1 \2", base)
    base = re.sub(r"([A-Z])([A-Z][a-z])", r"\1 \2", base)
    return re.findall(r"[a-z]+|\d+", base.lower())


def part_of(name: str) -> NamedPart:
    """Body part that a joint's name refers to."""
    words = words_of(name)
    # '3ds Max' numbers its bipeds ('Bip01', 'Bip001'): that number is no part of the name.
    if words and words[0] == "bip" and len(words) > 1 and words[1].isdigit():
        words = words[2:]
    digits = "".join(w for w in words if w.isdigit())
    words = [w for w in words if not w.isdigit() and w not in _NOISE_WORDS]
    side: NameSide = ""
    if any(w in _LEFT for w in words):
        side = "left"
    elif any(w in _RIGHT for w in words):
        side = "right"
    rest = [w for w in words if w not in _LEFT | _RIGHT]
    helper = any(w in _HELPER_WORDS for w in rest)
    joined = "".join(w for w in rest if w not in _HELPER_WORDS)
    part = _PART.get(joined, "")
    if not part and not side:
        # 'lfemur', 'leftknee': the side is glued to the part
        for glued, where in _GLUED:
            if joined.startswith(glued) and joined[len(glued) :] in _PART:
                side, part = where, _PART[joined[len(glued) :]]
                break
    # 'LHipJoint', 'lhipjoint': a helper between pelvis and thigh, not the thigh.
    if "hipjoint" in "".join(words_of(name)):
        part, helper = "hip", True
    return NamedPart(part, side, digits, helper)


def finger_of(named: NamedPart, counts_from_one: bool) -> str:
    """Finger that a name means, '' if none; numbered ones ('Finger12', 'finger2-1') by the first digit."""
    if named.part in FINGERS:
        return named.part
    if named.part == "finger" and named.digits:
        k = int(named.digits[0]) - (1 if counts_from_one else 0)
        return FINGERS[k] if 0 <= k < 5 else ""
    return ""


# CMU's rigs turn the palm at a joint half way down the forearm, called wrist there and hand in the BVH conversion;
# the wrist itself is the joint that comes next.
_FOREARM_TURNS = {("radius", "wrist"): "hand", ("forearm", "hand"): "fingerbase"}


def wrist_after(forearm: str, turning: str) -> str:
    """Name, in lower case, that the joint of the wrist has if `turning` only turns the forearm; '' if it does not."""
    for (fore, turn), wrist in _FOREARM_TURNS.items():
        side = turning.lower().removesuffix(turn)
        if side in ("l", "r", "left", "right") and (forearm.lower(), turning.lower()) == (side + fore, side + turn):
            return side + wrist
    return ""
