"""A made-up person in BVH, for tests that need no real files."""

from __future__ import annotations

# A small person of 1.7 m in centimetres, standing along +Y in the zero pose, arms along +X and -X.
PERSON = """HIERARCHY
ROOT Hips
{{
 OFFSET 0 0 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
{limbs}
}}
MOTION
Frames: {count}
Frame Time: {time}
{rows}
"""
BONES = {
    "Spine": ("Hips", (0, 20, 0)),
    "Chest": ("Spine", (0, 20, 0)),
    "Neck": ("Chest", (0, 15, 0)),
    "Head": ("Neck", (0, 10, 0)),
    **{
        f"{side}{part}": (parent.format(side), tuple(s * v if k == 0 else v for k, v in enumerate(offset)))
        for side, s in (("Left", 1), ("Right", -1))
        for part, parent, offset in (
            ("Shoulder", "Chest", (5, 10, 0)),
            ("Arm", "{}Shoulder", (13, 0, 0)),
            ("ForeArm", "{}Arm", (28, 0, 0)),
            ("Hand", "{}ForeArm", (25, 0, 0)),
            ("UpLeg", "Hips", (9, -5, 0)),
            ("Leg", "{}UpLeg", (0, -42, 0)),
            ("Foot", "{}Leg", (0, -41, 0)),
            ("Toe", "{}Foot", (0, -5, 14)),
        )
    },
}
TIPS = {
    "Head": (0, 18, 0),
    "LeftHand": (18, 0, 0),
    "RightHand": (-18, 0, 0),
    "LeftToe": (0, 0, 6),
    "RightToe": (0, 0, 6),
}
ROOT = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\n"
CHANNELS = 6 + 3 * len(BONES)
STANDING = "0 93 0 " + "0 " * (CHANNELS - 3)


def person(
    rows: list[str] | None = None,
    *,
    scale: float = 1.0,
    channels: str = "3 Zrotation Xrotation Yrotation",
    time: str = "0.033333",
    count: object = None,
    turn=lambda v: v,
) -> str:
    """The text of a BVH file; `turn` changes bone vectors, e.g. to Z up."""

    def body(parent: str) -> str:
        text = ""
        for name, (above, offset) in BONES.items():
            if above == parent:
                x, y, z = turn([scale * v for v in offset])
                text += f"JOINT {name}\n{{\nOFFSET {x} {y} {z}\nCHANNELS {channels}\n{body(name)}}}\n"
        if parent in TIPS:
            x, y, z = turn([scale * v for v in TIPS[parent]])
            text += f"End Site\n{{\nOFFSET {x} {y} {z}\n}}\n"
        return text

    rows = rows or [STANDING] * 4
    return PERSON.format(limbs=body("Hips"), count=count or len(rows), time=time, rows="\n".join(rows))
