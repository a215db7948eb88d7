"""Postures with objects in the hands against those of recorded people, and how well the recordings fit (Y10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.geometry.rotations import Array
from elbowroom.motion import marker_poses as mp
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.recorded import recorded_postures
from elbowroom.report.parts import Light, Measure, listed
from elbowroom.report.people import Subject
from elbowroom.world.world import World

# Metres of the hands and feet from the nearest recorded ones, up to which the recordings say something: beyond, errors
# of left-out takes no longer grow with the distance (benchmarks/posture_database.py).
FITS_M = 0.12
# Metres that markers are off recorded postures, on average, beyond what the recordings are usually off.
OFF_M = 0.10
# Looks a second: postures change slowly.
_SAMPLES_PER_S = 10.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Recorded(Measure):
    """At times (T,): metres of hands and feet from the nearest recorded ones, metres that postures from recordings are
    usually off there, and metres that the markers of the body are off those postures, on average."""

    times: Array
    distance: Array
    expected: Array
    off: Array
    take: str

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "distance_m": round(float(self.distance.max()), 4),
            "expected_m": round(float(self.expected.max()), 4),
            "off_m": round(float(self.off.mean()), 4),
            "nearest_take": self.take,
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "distance_m": listed(self.distance),
            "expected_m": listed(self.expected),
            "off_m": listed(self.off),
        }


def recorded_of(world: World, subject: Subject) -> Recorded | None:
    """Compare postures while hands hold something over standing feet; None where they do not, or markers lack."""
    body, T = subject.character, subject.T
    feet = ("left_foot", "right_foot")
    if any(name not in body.markers for name in MARKERS) or any(foot not in body.roles for foot in feet):
        return None
    holds = [h for h in world.holds if h.by == subject.name and f"{h.hand}_hand" in body.roles]
    every = max(round(subject.clip.fps / _SAMPLES_PER_S), 1)
    points = marker_positions(body, T)
    stands = mp.feet_in_place(points, subject.clip.fps)
    database = recorded_postures().for_character(body)
    rows: list[tuple[float, float, float, float]] = []
    take = ""
    for k in np.flatnonzero(stands)[::every].tolist() if holds else ():
        t = float(subject.times[k])
        hands = {f"{h.hand}_hand" for h in holds if h.during[0] <= t <= h.during[1]}
        if not hands:
            continue
        found = database.posture(constraints_of(body, {end: T[k, body.role(end)] for end in (*feet, *sorted(hands))}))
        free = found.weights > 0.0
        off = float(np.linalg.norm(points[k] - found.markers, axis=-1)[free].mean())
        if not rows or found.distance_m > max(row[1] for row in rows):
            take = found.take
        rows.append((t, found.distance_m, found.expected_error_m, off))
    if not rows:
        return None
    times, distance, expected, off = np.array(rows).T
    light, says = _verdict(float(distance.max()), float(expected.max()), float(off.mean()), take)
    return Recorded(
        light=light,
        says=says,
        headline=f"{100 * off.mean():.0f} cm off recorded postures",
        figures={
            "hands and feet off the nearest recorded ones": f"{100 * distance.max():.0f} cm at most",
            "recorded postures are usually off there": f"{100 * expected.max():.0f} cm",
            "body off recorded postures": f"{100 * off.mean():.0f} cm on average",
        },
        times=times,
        distance=distance,
        expected=expected,
        off=off,
        take=take,
    )


def _verdict(distance: float, expected: float, off: float, take: str) -> tuple[Light, str]:
    if distance > FITS_M:
        text = f"hands and feet are up to {100 * distance:.0f} cm from those of any recorded person"
        return "good", f"Recordings say little about these postures: {text}."
    if off > expected + OFF_M:
        text = f"the body is {100 * off:.0f} cm off, where {100 * expected:.0f} cm are usual (nearest take {take})"
        return "look", f"Postures are unlike those of recorded people: {text}."
    return "good", f"Postures are like those of recorded people: {100 * off:.0f} cm off (nearest take {take})."
