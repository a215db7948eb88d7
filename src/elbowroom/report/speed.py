"""Speed and jerk of the most visible parts: head, hips, hands and feet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import runs
from elbowroom.motion.quality import peak_jerk
from elbowroom.motion.smooth import derivative, judged
from elbowroom.report.parts import Light, Measure, Moment, light_of, listed, worst
from elbowroom.report.people import Subject

# Parts by role, as people call them, and the jerk (m/s³) below 6 Hz that is good up to and worth a look up to. Feet
# strike the ground, and hands are thrown about; heads are not. The second are the highest of 108 recordings, of a heavy
# box, a run and a quick stop, apart from one with markers that leap.
JERK = {
    "head": ("head", 200.0, 700.0),
    "pelvis": ("hips", 200.0, 700.0),
    "left_hand": ("left hand", 500.0, 2200.0),
    "right_hand": ("right hand", 500.0, 2200.0),
    "left_foot": ("left foot", 800.0, 3000.0),
    "right_foot": ("right foot", 800.0, 3000.0),
}
# A part pops where it leaves its way within a frame: by more than people can accelerate (m/s², trunk and limbs), and by
# more than a recording's noise (metres). Three times that is bad.
_TRUNK, _LIMBS, _NOISE, _BAD = 60.0, 150.0, 0.010, 3.0
# Seconds before and after a moment in which the way of its part is drawn, and dots of it at most.
_AROUND, _DOTS = 0.25, 40


@dataclass(frozen=True)
class Pop:
    """Jump of a part within a frame: time, part, distance from the mean of the adjacent frames (metres), and ratio to
    what a person could do."""

    time: float
    part: str
    leap: float
    times_too_far: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Speed(Measure):
    """Speed (T, P) in m/s and jerk (T, P) in m/s³ of each part; `limits` (P, 2) of its jerk; `counts` (T,) is judged.

    `turning` is the largest angular jerk of any joint, rad/s³; `pops` are jumps of the unfiltered motion.
    """

    times: Array
    parts: tuple[str, ...]
    speed: Array
    jerk: Array
    limits: Array
    counts: NDArray[np.bool_]
    turning: float
    pops: tuple[Pop, ...] = ()

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        speed, jerk = (x[self.counts].max(axis=0, initial=0.0) for x in (self.speed, self.jerk))
        return super().facts() | {
            "peak_speed_m_s": {p: round(float(v), 3) for p, v in zip(self.parts, speed, strict=True)},
            "peak_jerk_m_s3": {p: round(float(v), 1) for p, v in zip(self.parts, jerk, strict=True)},
            "peak_angular_jerk_rad_s3": round(self.turning, 1),
            "pops": [_pop_facts(p) for p in self.pops],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        named = enumerate(self.parts)
        both = {p: (listed(self.speed[:, k], 3), listed(self.jerk[:, k], 1)) for k, p in named}
        return {
            "times_s": listed(self.times),
            "speed_m_s": {p: v for p, (v, _) in both.items()},
            "jerk_m_s3": {p: j for p, (_, j) in both.items()},
        }


def _pop_facts(p: Pop) -> dict[str, Any]:
    far = round(p.times_too_far, 2)
    return {"at_s": round(p.time, 4), "part": p.part, "leap_m": round(p.leap, 4), "times_too_far": far}


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
        says = "The clip is too short to measure speeds." if rows else "The rig has no known parts to measure."
        return Speed(light="none", says=says, turning=0.0, **common)
    rough = np.where(counts[:, None], jerk / limits[:, 0], 0.0)
    frame, part = np.unravel_index(int(np.argmax(rough)), rough.shape)
    peak = float(jerk[frame, part])
    pops = _pops(subject, roles)
    light = worst(light_of(peak, *limits[part]), _light_of_pops(pops))
    turning = peak_jerk(subject.clip)
    fastest = np.where(counts[:, None], speed, 0.0)
    quick, who = np.unravel_index(int(np.argmax(fastest)), fastest.shape)
    most = f"maximum jerk at the {names[part]}, {peak:.0f} m/s³"
    says = {
        "good": f"The motion is smooth: {most}, which is normal for people.",
        "look": f"The motion is abrupt: {most}; normal for strikes and throws, but not for reaches.",
        "bad": f"The motion jerks: {most}.",
    }[light]
    if pops:
        first = max(pops, key=lambda p: p.times_too_far)
        leap = f"{first.part} by {100 * first.leap:.1f} cm within a frame at {first.time:.2f} s"
        says = f"The motion pops {_times(len(pops))}: worst, {leap}."
    return Speed(
        light=light,
        says=says,
        headline=_headline(pops, float(fastest[quick, who]), names[who], light, peak),
        moments=(*_pop_moments(subject, pops), *_moments(subject, names, rough, jerk, (int(quick), int(who)), speed)),
        figures={
            "fastest": f"{fastest[quick, who]:.2f} m/s ({names[who]})",
            "maximum jerk": f"{peak:.0f} m/s³ ({names[part]})",
            "maximum angular jerk of a joint": f"{turning:,.0f} rad/s³",
            "pops": str(len(pops)),
        },
        turning=turning,
        pops=pops,
        **common,
    )


def _pops(subject: Subject, roles: list[str]) -> tuple[Pop, ...]:
    """Jumps of parts within a frame, one for each run of frames, in order of time."""
    fps, found = subject.clip.fps, []
    for role in roles:
        at = subject.T[:, subject.character.roles[role], :3, 3]
        leap = np.zeros(len(at))
        leap[1:-1] = 0.5 * np.linalg.norm(at[:-2] - 2.0 * at[1:-1] + at[2:], axis=-1)
        able = _TRUNK if role in ("head", "pelvis") else _LIMBS
        allowed = max(_NOISE * subject.size, 0.5 * able / fps**2)
        for first, last in runs(leap > allowed):
            frame = first + int(np.argmax(leap[first : last + 1]))
            time, far = float(subject.times[frame]), float(leap[frame])
            found.append(Pop(time, JERK[role][0], far, far / allowed))
    return tuple(sorted(found, key=lambda p: (p.time, p.part)))


def _headline(pops: tuple[Pop, ...], fastest: float, who: str, light: Light, peak: float) -> str:
    if pops:
        return "1 pop" if len(pops) == 1 else f"{len(pops)} pops"
    return f"up to {fastest:.1f} m/s, {who}" if light == "good" else f"jerk {peak:.0f} m/s³"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _light_of_pops(pops: tuple[Pop, ...]) -> Light:
    return light_of(max((p.times_too_far for p in pops), default=0.0), 1.0, _BAD)


def _pop_moments(subject: Subject, pops: tuple[Pop, ...]) -> tuple[Moment, ...]:
    """The two worst pops."""
    worst_two = sorted(pops, key=lambda p: -p.times_too_far)[:2]
    return tuple(
        _moment(subject, p.part, p.time, f"a jump of {100 * p.leap:.1f} cm within a frame", p.times_too_far)
        for p in worst_two
    )


def _moment(subject: Subject, part: str, time: float, what: str, bad: float = 0.0) -> Moment:
    """Moment of a part, with its path around that time."""
    joint = subject.character.roles[next(role for role, (name, *_) in JERK.items() if name == part)]
    near = np.flatnonzero(np.abs(subject.times - time) <= _AROUND)
    way = subject.T[near[:: max(1, len(near) // _DOTS)], joint, :3, 3]
    return Moment(time, f"{part}: {what}", subject.name, bad, span=subject.size, trails=(way,) if bad > 0.0 else ())


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
    what, bad = f"jerk of {jerk[frame, part]:.0f} m/s³", float(rough[frame, part])
    return (
        _moment(subject, names[part], float(subject.times[frame]), what, bad),
        _moment(subject, names[who], float(subject.times[fast]), f"{speed[fast, who]:.1f} m/s"),
    )
