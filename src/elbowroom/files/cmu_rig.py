"""The faults of the 2010 BVH conversion of CMU's motion library, and their corrections.

The converter dropped the length of every bone that branches: the thorax (neck and both shoulders start at
Spine1) and the wrists (fingers and thumb start at the hand). Arms and head sit 11 to 13 cm too low, hands 10
cm too near. In the original skeletons (02, 07, 09, 14, 16, 69, 127) the thorax is 1.00 to 1.02 times as long
as the bone below it and leans 1 to 4 degrees further forward, and the wrist is half as long as the forearm:
what is put back is within 4 mm of the original.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elbowroom.geometry.rotations import Array

_THORAX_PER_SPINE = 1.01
_THORAX_FORWARD = np.array([0.0, 0.0, 0.04])
_WRIST_PER_FOREARM = 0.5
_ON_THORAX = ("Neck", "LeftShoulder", "RightShoulder")
_ON_WRIST = {"LeftHand": ("LeftFingerBase", "LThumb"), "RightHand": ("RightFingerBase", "RThumb")}


def is_cmu_conversion(names: Sequence[str], offsets: Array) -> bool:
    """Return whether a skeleton is that of the conversion, by joint names and CMU's size (offsets in file units)."""
    known = {"Hips", "LHipJoint", "RHipJoint", "LowerBack", "Spine", "Spine1", *_ON_THORAX, *_ON_WRIST}
    if not known <= set(names):
        return False
    return 1.0 < float(np.linalg.norm(offsets[list(names).index("Spine1")])) < 3.0


def restored_lengths(names: Sequence[str], offsets: Array, fix: bool) -> tuple[Array, str]:
    """Offsets (J, 3) in metres, Y up, with the dropped lengths put back if `fix`; and the sentence on it."""
    index = {n: j for j, n in enumerate(names)}
    spine = offsets[index["Spine1"]]
    thorax = _THORAX_PER_SPINE * spine + _THORAX_FORWARD * np.linalg.norm(spine)
    missing = dict.fromkeys(_empty(index, offsets, _ON_THORAX), thorax)
    for hand, ends in _ON_WRIST.items():
        missing |= dict.fromkeys(_empty(index, offsets, ends), _WRIST_PER_FOREARM * offsets[index[hand]])
    if not missing:
        return offsets, "The rig is that of the CMU conversion, with thorax and wrist lengths in place."
    if not fix:
        return offsets, (
            "The CMU conversion dropped the lengths of thorax and wrists: arms and head sit 11 to 13 cm too "
            "low, hands 10 cm too close to the elbow (option to restore them: fix-rig)."
        )
    out = offsets.copy()
    for j, vector in missing.items():
        out[j] = vector
    length = float(np.linalg.norm(out[index["Neck"]]))
    return (
        out,
        f"Thorax ({100 * length:.1f} cm) and wrist lengths that the CMU conversion dropped were restored.",
    )


def _empty(index: dict[str, int], offsets: Array, names: Sequence[str]) -> list[int]:
    return [index[n] for n in names if n in index and not np.any(offsets[index[n]])]
