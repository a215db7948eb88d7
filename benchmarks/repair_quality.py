"""How good a repaired motion is inside the intervals that were planned anew, against the recorded one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.limits import pose_excess
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.motion.quality import JERK, joint_jerks, rms_jerk
from elbowroom.motion.stance import foot_slide
from elbowroom.plan.checks.accept import ABOUT, ROUGHER, speed_limits
from elbowroom.plan.state.result import Plan
from elbowroom.world.certificate_findings import merged


def inside(clip: Clip, plan: Plan) -> NDArray[np.bool_]:
    """Frames (T,) within the intervals that were planned anew."""
    frames = np.zeros(len(clip), dtype=bool)
    for first, last in _intervals(clip, plan):
        frames[first : last + 1] = True
    return frames


def measured(old: Clip, new: Clip, plan: Plan) -> dict[str, float]:
    """Joint by joint, over each interval: shares of what is allowed (1 is the bound) for speed and jerk; then what a
    planted foot slides more than in the recording, metres; how far joints are out of range beyond what they were,
    radians; and the largest acceleration that is added where a joint leaves the recording or joins it, rad/s²."""
    speed, jerk = [0.0], [0.0]
    more = round(ABOUT * old.fps)
    for first, last in _intervals(old, plan):
        now = np.linalg.norm(_turns(new)[first:last], axis=-1).max(axis=0, initial=0.0)
        speed.append(float((now / speed_limits(old, range(now.shape[0]), first, last)).max()))
        about = slice(max(first - more, old.source.lead), last + more + 1)
        was, now = (joint_jerks(clip.rotations[about], clip.fps) for clip in (old, new))
        jerk.append(float((now / np.maximum(JERK, ROUGHER * was)).max()))
    beyond = [pose_excess(clip.character.limits, clip.rotations) for clip in (old, new)]
    on = foot_contacts(old)
    slide = foot_slide(new, on, heights=old) - foot_slide(old, on)
    return {
        "speed_of_limit": round(max(speed), 3),
        "jerk_of_allowed": round(max(jerk), 3),
        "feet_slide_more_m": round(float(slide.max(initial=0.0)), 5),
        "out_of_range_more_rad": round(float((beyond[1] - beyond[0]).max(initial=0.0)), 5),
        "pop": round(_pop(old, new), 2),
    }


# Ends of limbs whose paths are compared, by role.
_ENDS = ("left_hand", "right_hand", "head")


def change(old: Clip, new: Clip, plan: Plan) -> dict[str, float]:
    """How much of a clip a repair changes: the share of its frames; the farthest that a hand or the head is from where
    it was, metres, and as a multiple of the deepest collision; the largest turn of a joint, radians; and RMS angular
    jerk below 6 Hz over the whole clip of the joint that was turned most, as a multiple of the clip's."""
    real = slice(old.source.lead, None)
    a, b = old.rotations[real], new.rotations[real]
    frames = np.any(a != b, axis=(1, 2)) | np.any(old.root[real] != new.root[real], axis=1)
    turned = rot.angle_between(a, b)
    ends = [old.character.role(r) for r in _ENDS if r in old.character.roles]
    away = np.linalg.norm((new.positions() - old.positions())[real][:, ends], axis=-1)
    deepest = max((c.depth_m or 0.0 for c in plan.collisions), default=0.0)
    j = int(np.argmax(turned.sum(axis=0)))
    was, now = (rms_jerk(q[:, j], old.fps) for q in (a, b))
    return {
        "frames": round(float(frames.mean()), 3),
        "away_m": round(float(away.max(initial=0.0)), 3),
        "away_of_depth": round(float(away.max(initial=0.0) / max(deepest, 0.01)), 2),
        "turned_rad": round(float(turned.max(initial=0.0)), 3),
        "jerk_of_clip": round(float(now / max(was, 1e-9)), 3),
    }


def change_summary(found: list[dict[str, float]]) -> dict[str, list[float]]:
    """Median and 90th percentile of each figure of change."""
    return {
        key: [round(float(np.percentile([c[key] for c in found], p)), 3) for p in (50, 90)]
        for key in (found[0] if found else ())
    }


def _pop(old: Clip, new: Clip) -> float:
    """The largest acceleration that a change adds where a joint leaves the recording or joins it, rad/s²."""
    added = np.linalg.norm(np.diff(_turns(new) - _turns(old), axis=0), axis=-1) * old.fps
    off = np.any(old.rotations != new.rotations, axis=-1)
    # at frame k, 1 to T - 2: it is as it was, and one of its neighbours is not; artificial frames are nobody's
    edge = ~off[1:-1] & (off[:-2] | off[2:])
    edge[: old.source.lead] = False
    return float(added[edge].max(initial=0.0))


def _intervals(clip: Clip, plan: Plan) -> list[tuple[int, int]]:
    """First and last frame of each repaired interval; plans that overlap are one, as each has bounds of its own."""
    spans = merged([p.during for p in plan.edits], 0.0)
    return [(round((begin - clip.start) * clip.fps), round((end - clip.start) * clip.fps)) for begin, end in spans]


def _turns(clip: Clip) -> Array:
    """Angular velocity of each joint from frame to frame, (T - 1, J, 3)."""
    return rot.log(rot.multiply(rot.conjugate(clip.rotations[:-1]), clip.rotations[1:])) * clip.fps
