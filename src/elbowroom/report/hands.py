"""Hands: their paths, and whether their speed profiles are human-like.

A human reach follows a nearly straight path with a single bell-shaped speed peak (Morasso 1981; Flash and Hogan 1985).
Movements are detected relative to the body, so that walking does not count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import runs
from elbowroom.motion.smooth import derivative
from elbowroom.report.parts import Light, Measure, Moment, counted, light_of, listed, worst
from elbowroom.report.people import Subject

# A hand moves while it is faster than this against the body, m/s; shorter ways are no movements, metres.
_MOVES, _WAY = 0.08, 0.10
# A peak of speed counts if it stands out by this share of the movement's highest.
_STANDS_OUT = 0.15
# Peaks of speed in one movement, or a second of it: good up to, worth a look up to. Around an obstacle two or three are
# usual, a recorded hand that hammers comes to six, and one that trembles to more than the second.
PEAKS = (3, 8)


@dataclass(frozen=True, eq=False)
class Movement:
    """One movement of a hand: interval (seconds), path length and straight distance (metres), top speed (m/s), and
    number of speed peaks; a smooth reach has one."""

    hand: str
    during: tuple[float, float]
    way: float
    straight: float
    fastest: float
    peaks: int


@dataclass(frozen=True, eq=False, kw_only=True)
class HandMotion(Measure):
    """Paths (T, 3) of hands in the world, their speeds (T,) there and relative to the body, by 'left' and 'right'."""

    times: Array
    paths: dict[str, Array]
    speeds: dict[str, Array]
    relative: dict[str, Array]
    movements: tuple[Movement, ...]

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "hands": {
                hand: {"way_m": round(self.way(hand), 4), "fastest_m_s": round(float(speed.max()), 3)}
                for hand, speed in self.speeds.items()
            },
            "movements": [
                {
                    "hand": m.hand,
                    "during_s": [round(t, 4) for t in m.during],
                    "way_m": round(m.way, 4),
                    "straight_m": round(m.straight, 4),
                    "fastest_m_s": round(m.fastest, 3),
                    "peaks": m.peaks,
                }
                for m in self.movements
            ],
        }

    def way(self, hand: str) -> float:
        """Length of a hand's path in the world, metres."""
        return float(np.sum(np.linalg.norm(np.diff(self.paths[hand], axis=0), axis=-1)))

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        out: dict[str, Any] = {"times_s": listed(self.times)}
        for hand, path in self.paths.items():
            out |= {f"{hand}_m": listed(path), f"{hand}_speed_m_s": listed(self.speeds[hand], 3)}
        return out


def hands_of(subject: Subject) -> HandMotion:
    """Measure the paths of the hands of a rig."""
    character, fps = subject.character, subject.clip.fps
    T, paths, speeds, relative = subject.T_smooth, {}, {}, {}
    movements: list[Movement] = []
    body = _body_frame(subject)
    for hand in ("left", "right"):
        if f"{hand}_hand" not in character.roles:
            continue
        at = T[:, character.role(f"{hand}_hand"), :3, 3]
        seen = rot.rotate(rot.conjugate(body[1]), at - body[0])
        paths[hand], speeds[hand] = at, np.linalg.norm(derivative(at, fps), axis=-1)
        relative[hand] = np.linalg.norm(derivative(seen, fps), axis=-1)
        movements += _movements(subject, hand, seen, relative[hand])
    common: dict[str, Any] = {"times": subject.times, "paths": paths, "speeds": speeds, "relative": relative}
    if not paths or len(T) < 3:
        says = "The clip is too short to measure hands." if paths else "The rig has no hands."
        return HandMotion(light="none", says=says, movements=(), **common)
    light, says = _verdict(movements)
    found = HandMotion(
        light=light,
        says=says,
        headline=_headline(movements, max(float(v.max()) for v in speeds.values())),
        moments=_moments(subject, movements),
        movements=tuple(movements),
        **common,
    )
    figures = {f"{h} hand": f"{found.way(h):.2f} m path, up to {v.max():.2f} m/s" for h, v in speeds.items()}
    return replace(found, figures={"movements": str(len(movements))} | figures)


def _headline(movements: list[Movement], fastest: float) -> str:
    return f"{counted(len(movements), 'movement')}, up to {fastest:.1f} m/s" if movements else "at rest"


def _body_frame(subject: Subject) -> tuple[Array, Array]:
    """Position (T, 3) and heading (T, 4) of the chest, or of the root if there is none."""
    joint = subject.character.roles.get("chest", 0)
    T = subject.T_smooth[:, joint]
    rest = rot.from_matrix(subject.character.skeleton.T_rest[joint, :3, :3])
    turn = rot.multiply(rot.from_matrix(T[:, :3, :3]), rot.conjugate(rest))
    return T[:, :3, 3], rot.about(np.array([0.0, 0.0, 1.0]), rot.heading(turn))


def _movements(subject: Subject, hand: str, seen: Array, speed: Array) -> list[Movement]:
    times, size = subject.times, subject.size
    out = []
    for first, last in runs(speed > _MOVES * np.sqrt(size)):
        inside = slice(first, last + 1)
        steps = np.linalg.norm(np.diff(seen[inside], axis=0), axis=-1)
        way = float(steps.sum())
        if way < _WAY * size or last - first < 3:
            continue
        top = float(speed[inside].max())
        # what is cut off at the clip's ends still has its highest value there
        padded = np.concatenate([[0.0], speed[inside], [0.0]])
        peaks = len(scipy.signal.find_peaks(padded, prominence=_STANDS_OUT * top)[0])
        straight = float(np.linalg.norm(seen[last] - seen[first]))
        out.append(Movement(hand, (float(times[first]), float(times[last])), way, straight, top, max(peaks, 1)))
    return out


def _verdict(movements: list[Movement]) -> tuple[Light, str]:
    if not movements:
        return "good", "The hands do not move relative to the body: nothing to judge."
    lights = [light_of(m.peaks / max(m.during[1] - m.during[0], 1.0), *PEAKS) for m in movements]
    light = worst(*lights)
    single = sum(m.peaks == 1 for m in movements)
    share = f"one speed peak in {single} of {counted(len(movements), 'movement')}"
    if single < len(movements):
        share += f", at most {max(m.peaks for m in movements)} in the others"
    restless = max(movements, key=lambda m: m.peaks / max(m.during[1] - m.during[0], 1.0))
    if light == "good":
        return light, f"Hand speed profiles are human-like: {share}."
    text = f"the {restless.hand} hand at {restless.during[0]:.1f} s speeds up and slows down {restless.peaks} times"
    return light, f"Hands hesitate or shake: {text}."


def _moments(subject: Subject, movements: list[Movement]) -> tuple[Moment, ...]:
    """Moment of the movement with the most peaks for its duration, at its middle."""
    restless = max(movements, key=lambda m: m.peaks / max(m.during[1] - m.during[0], 1.0), default=None)
    if restless is None:
        return ()
    middle = 0.5 * (restless.during[0] + restless.during[1])
    frame = int(np.argmin(np.abs(subject.times - middle)))
    peaks = "one peak" if restless.peaks == 1 else f"{restless.peaks} peaks"
    text = f"{restless.hand} hand: {100 * restless.way:.0f} cm path with {peaks} of speed"
    bad = restless.peaks / max(restless.during[1] - restless.during[0], 1.0) / PEAKS[0]
    # path of a movement (N, 3), in about fifty points
    first, last = (int(np.argmin(np.abs(subject.times - t))) for t in restless.during)
    joint = subject.character.role(f"{restless.hand}_hand")
    way = np.asarray(subject.T_smooth[first : last + 1 : max(1, (last - first) // 50), joint, :3, 3])
    return (Moment(float(subject.times[frame]), text, subject.name, bad, span=subject.size, trails=(way,)),)
