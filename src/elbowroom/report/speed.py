"""Speed and jerk of the parts that one looks at: head, hips, hands and feet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.quality import peak_jerk
from elbowroom.report.parts import Measure, Moment, light_of, listed
from elbowroom.report.people import Subject
from elbowroom.report.smooth import derivative, judged

# Parts by role, as people call them, and the jerk (m/s³) below 6 Hz that is good up to and worth a look up to. Feet
# strike the ground, and hands are thrown about; heads are not.
JERK = {
    "head": ("head", 200.0, 600.0),
    "pelvis": ("hips", 200.0, 600.0),
    "left_hand": ("left hand", 500.0, 1500.0),
    "right_hand": ("right hand", 500.0, 1500.0),
    "left_foot": ("left foot", 800.0, 2000.0),
    "right_foot": ("right foot", 800.0, 2000.0),
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Speed(Measure):
    """Speed (T, P) in m/s and jerk (T, P) in m/s³ of each part; `limits` (P, 2) of its jerk; `counts` (T,) is judged.

    `turning` is the largest angular jerk of any joint, rad/s³.
    """

    times: Array
    parts: tuple[str, ...]
    speed: Array
    jerk: Array
    limits: Array
    counts: NDArray[np.bool_]
    turning: float

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        speed, jerk = (x[self.counts].max(axis=0, initial=0.0) for x in (self.speed, self.jerk))
        return super().facts() | {
            "peak_speed_m_s": {p: round(float(v), 3) for p, v in zip(self.parts, speed, strict=True)},
            "peak_jerk_m_s3": {p: round(float(v), 1) for p, v in zip(self.parts, jerk, strict=True)},
            "peak_jerk": round(self.turning, 1),
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        named = enumerate(self.parts)
        both = {p: (listed(self.speed[:, k], 3), listed(self.jerk[:, k], 1)) for k, p in named}
        return {
            "times": listed(self.times),
            "speed_m_s": {p: v for p, (v, _) in both.items()},
            "jerk_m_s3": {p: j for p, (_, j) in both.items()},
        }


def speed_of(subject: Subject) -> Speed:
    """Measure speed and jerk below 6 Hz."""
    roles = [role for role in JERK if role in subject.character.roles]
    rows = [subject.character.roles[role] for role in roles]
    names = tuple(JERK[role][0] for role in roles)
    fps = subject.clip.fps
    at = subject.T_smooth[..., :3, 3][:, rows]
    speed = np.linalg.norm(derivative(at, fps), axis=-1)
    jerk = np.linalg.norm(derivative(at, fps, 3), axis=-1)
    # what is larger falls slower: lengths grow with size, times with its root (Froude)
    limits = np.array([JERK[role][1:] for role in roles]).reshape(-1, 2) / np.sqrt(subject.size)
    counts = judged(len(at), fps)
    common: dict[str, Any] = {
        "times": subject.times,
        "parts": names,
        "speed": speed,
        "jerk": jerk,
        "limits": limits,
        "counts": counts,
    }
    if not counts.any() or not rows:
        says = "The clip is too short to tell speeds." if rows else "The rig has no known parts to follow."
        return Speed(light="none", says=says, turning=0.0, **common)
    rough = np.where(counts[:, None], jerk / limits[:, 0], 0.0)
    frame, part = np.unravel_index(int(np.argmax(rough)), rough.shape)
    peak = float(jerk[frame, part])
    light = light_of(peak, *limits[part])
    turning = peak_jerk(subject.clip)
    fastest = np.where(counts[:, None], speed, 0.0)
    quick, who = np.unravel_index(int(np.argmax(fastest)), fastest.shape)
    most = f"the {names[part]} jerks most, {peak:.0f} m/s³"
    says = {
        "good": f"The motion flows: {most}, which is usual for people.",
        "look": f"Something is abrupt: {most}; strikes and throws do that, reaches do not.",
        "bad": f"The motion jolts: {most}, which looks like a pop or a glitch.",
    }[light]
    return Speed(
        light=light,
        says=says,
        headline=f"{fastest[quick, who]:.1f} m/s, {names[who]}",
        moments=_moments(subject, names, rough, jerk, (int(quick), int(who)), speed),
        figures={
            "fastest": f"{fastest[quick, who]:.2f} m/s ({names[who]})",
            "most jerk": f"{peak:.0f} m/s³ ({names[part]})",
            "most angular jerk of a joint": f"{turning:,.0f} rad/s³",
        },
        turning=turning,
        **common,
    )


def _moments(
    subject: Subject,
    names: tuple[str, ...],
    rough: Array,
    jerk: Array,
    quickest: tuple[int, int],
    speed: Array,
) -> tuple[Moment, ...]:
    frame, part = (int(i) for i in np.unravel_index(int(np.argmax(rough)), rough.shape))
    fast, who = quickest
    return (
        Moment(
            float(subject.times[frame]),
            f"{names[part]} jerks with {jerk[frame, part]:.0f} m/s³",
            subject.name,
            float(rough[frame, part]),
        ),
        Moment(
            float(subject.times[fast]),
            f"{names[who]} moves at {speed[fast, who]:.1f} m/s",
            subject.name,
        ),
    )
