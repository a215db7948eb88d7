"""Foot sliding: distance that feet slide along the floor while they carry the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import Contacts, Step, steps
from elbowroom.motion.soles import SIDES
from elbowroom.motion.stance import slid_so_far, slide_ways
from elbowroom.report.parts import Light, Measure, Moment, light_of, listed, scaled_limits
from elbowroom.report.people import Subject

# How far a foot may slide in one step, metres: good up to, worth a look up to. A step of 68 recorded clips as they were
# captured slides by 23 mm in the median, the worst step of 17 clips in 20 by less than the second.
SLIDE = (0.010, 0.070)
# Dots of the way that a foot has slid in a picture, at most.
_DOTS = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class Feet(Measure):
    """Steps with their slide distances (S,), metres.

    `contacts` has the bearing points over time; `drift` (T, 2) the distances that the left and right foot have slid
    since touchdown, NaN in the air. `size` is that of the body against an adult's, by which thresholds grow.
    """

    times: Array
    contacts: Contacts
    steps: tuple[Step, ...]
    slides: Array
    drift: Array
    size: float = 1.0

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "foot_slide_m": round(float(np.max(self.slides, initial=0.0)), 5),
            "median_slide_m": round(float(np.median(self.slides)), 5) if len(self.slides) else 0.0,
            "steps": [
                {
                    "foot": step.side,
                    "during_s": [round(step.strike, 4), round(step.off, 4)],
                    "slide_m": round(float(slide), 5),
                }
                for step, slide in zip(self.steps, self.slides, strict=True)
            ],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "left_drift_m": listed(self.drift[:, 0]),
            "right_drift_m": listed(self.drift[:, 1]),
        }


def feet_of_person(subject: Subject) -> Feet:
    """Measure foot sliding."""
    contacts = subject.contacts
    assert contacts is not None
    found = steps(contacts)
    ways = slide_ways(subject.clip, contacts)
    slid = [slid_so_far(way) for way in ways]
    slides = np.array([s[-1] for s in slid])
    drift = np.full((len(contacts.on), 2), np.nan)
    for step, so_far in zip(found, slid, strict=True):
        drift[step.first : step.last + 1, SIDES.index(step.side)] = so_far
    common: dict[str, Any] = {
        "times": subject.times,
        "contacts": contacts,
        "drift": drift,
        "steps": found,
        "slides": slides,
        "size": subject.size,
    }
    if not found:
        says = "No foot ever carries the body, so none can slide."
        return Feet(light="none", says=says, headline="never on the ground", **common)
    k = int(np.argmax(slides))
    light = light_of(float(slides[k]), *(s * subject.size for s in SLIDE))
    figures = {"steps": str(len(found)), "median sliding": f"{1000 * float(np.median(slides)):.1f} mm"}
    return Feet(
        light=light,
        says=_sentence(found[k].side, float(slides[k]), light),
        headline=f"{1000 * float(slides[k]):.1f} mm of sliding at most",
        moments=_moments(subject, contacts, found, slides, ways),
        figures=figures | scaled_limits(SLIDE, subject.size, "mm"),
        **common,
    )


def _sentence(side: str, slid: float, light: Light) -> str:
    if light == "good":
        return f"No visible foot sliding: {1000 * slid:.1f} mm at most."
    where = "as in raw recordings; fix it before a close-up" if light == "look" else "which is clearly visible"
    return f"The {side} foot slides {1000 * slid:.0f} mm while it carries the body, {where}."


def _moments(
    subject: Subject, contacts: Contacts, found: tuple[Step, ...], slides: Array, ways: list[Array]
) -> tuple[Moment, ...]:
    """Ends of the two steps that slide furthest, with the path of the slide."""
    out = []
    for k in np.argsort(-slides)[:2]:
        step = found[k]
        text = f"{step.side} foot has slid {1000 * slides[k]:.1f} mm in its step"
        bad = float(slides[k]) / (SLIDE[0] * subject.size)
        part = f"{subject.name}.{step.side}_foot"
        ball = contacts.points[step.last, 2 * SIDES.index(step.side) + 1]
        trail = ball + np.column_stack([ways[k] - ways[k][-1], np.zeros(len(ways[k]))])
        trails = (trail[:: max(1, len(trail) // _DOTS)],) if bad > 1.0 else ()
        time = float(subject.times[step.last])
        out.append(Moment(time, text, subject.name, bad, part, 0.6 * subject.size, trails))
    return tuple(out)
