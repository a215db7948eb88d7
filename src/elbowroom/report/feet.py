"""Feet: how far planted feet slide along the floor, and how far they float over it or sink into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import Contacts, Step, foot_slide, runs, steps
from elbowroom.motion.soles import SIDES, soles
from elbowroom.report.parts import Measure, Moment, light_of, listed, told_limits, worst
from elbowroom.report.people import Subject

# How far a planted foot may slide in one step, metres: good up to, worth a look up to. A step of 68 recorded clips as
# they were captured slides by 25 mm in the median, the worst step of four clips in five by less than the second.
SLIDE = (0.010, 0.060)
# How far planted feet may be over or in the floor, metres.
FLOAT = (0.030, 0.060)
# Surfaces up to this far above a planted foot are what it stands on and has sunk into, metres.
_ABOVE = 0.08


@dataclass(frozen=True, eq=False, kw_only=True)
class Feet(Measure):
    """Steps with how far each slides (S,), and how far the middle of its planted points is over the floor (S,), metres.

    `contacts` has which points are planted when; `drift` (T, 2) how far the left and the right foot have slid since
    they were planted, NaN in the air. `size` is that of the body against an adult's, by which thresholds grow.
    """

    times: Array
    contacts: Contacts
    steps: tuple[Step, ...]
    slides: Array
    heights: Array
    drift: Array
    size: float = 1.0

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        rows = zip(self.steps, self.slides, self.heights, strict=True)
        return super().facts() | {
            "foot_slide_m": round(float(np.max(self.slides, initial=0.0)), 5),
            "median_slide_m": round(float(np.median(self.slides)), 5) if len(self.slides) else 0.0,
            "off_floor_m": round(off_floor(self.heights), 5),
            "steps": [
                {
                    "foot": step.side,
                    "during_s": [round(step.strike, 4), round(step.off, 4)],
                    "slide_m": round(float(slide), 5),
                    "over_floor_m": round(float(height), 5) if np.isfinite(height) else None,
                }
                for step, slide, height in rows
            ],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "left_drift_m": listed(self.drift[:, 0]),
            "right_drift_m": listed(self.drift[:, 1]),
        }


def feet_of_person(subject: Subject, floor: float | None, static: Iterable[Mesh] = ()) -> Feet:
    """Measure the feet of a person on a floor (metres, or None where there is none) and on what stands on it."""
    contacts = subject.contacts
    assert contacts is not None
    found = steps(contacts)
    slides = foot_slide(subject.clip, contacts)
    drift = _drift(subject, contacts, found)
    meshes = list(static)
    heights = np.array([_height(contacts, step, floor, meshes) for step in found])
    common: dict[str, Any] = {
        "times": subject.times,
        "contacts": contacts,
        "drift": drift,
        "steps": found,
        "slides": slides,
        "size": subject.size,
    }
    if not found:
        says = "No foot is planted at any time, so none can slide."
        return Feet(light="none", says=says, headline="never on the ground", heights=heights, **common)
    k = int(np.argmax(slides))
    slid, light = float(slides[k]), light_of(float(slides[k]), *(s * subject.size for s in SLIDE))
    off = off_floor(heights)
    floating = light_of(off, *(f * subject.size for f in FLOAT))
    says = _sentence(found[k].side, slid, light, off, floating)
    figures = {"steps": str(len(found)), "median slide": f"{1000 * float(np.median(slides)):.1f} mm"}
    figures |= told_limits(SLIDE, subject.size, "mm")
    if np.isfinite(heights).any():
        figures["planted feet over the floor"] = (
            f"{round(1000 * np.nanmin(heights))} to {round(1000 * np.nanmax(heights))} mm"
        )
    return Feet(
        light=worst(light, floating),
        says=says,
        headline=f"{1000 * slid:.1f} mm slide at most",
        moments=_moments(subject, found, slides, heights, drift),
        figures=figures,
        heights=heights,
        **common,
    )


def off_floor(heights: Array) -> float:
    """How far planted feet (S,) are over or in what they stand on at most, metres; 0 where there is no floor."""
    return float(np.nanmax(np.abs(heights), initial=0.0)) if np.isfinite(heights).any() else 0.0


def _drift(subject: Subject, contacts: Contacts, found: tuple[Step, ...]) -> Array:
    """How far each foot has slid since it was planted, (T, 2), metres; heel and front as `foot_slide` has them."""
    out = np.full((len(contacts.on), 2), np.nan)
    tips = [sole.tips(subject.T) for sole in soles(subject.character)]
    for step in found:
        side = SIDES.index(step.side)
        for point, others in ((2 * side, ()), (2 * side + 1, (tips[side],))):
            for first, last in runs(contacts.on[step.first : step.last + 1, point]):
                inside = slice(step.first + first, step.first + last + 1)
                slid = [_so_far(way[inside, :2]) for way in (contacts.points[:, point], *others)]
                out[inside, side] = np.fmax(out[inside, side], min(slid, key=lambda way: way[-1]))
    return out


def _so_far(places: Array) -> Array:
    """Greatest distance between two of the places (N, 2) up to each of them, (N,), metres; of many some do."""
    some = np.arange(0, len(places), max(1, len(places) // 200))
    apart = np.linalg.norm(places[some][:, None] - places[some][None], axis=-1)
    return np.interp(np.arange(len(places)), some, np.maximum.accumulate(np.tril(apart).max(axis=1)))


def _height(contacts: Contacts, step: Step, floor: float | None, static: list[Mesh]) -> float:
    """How far the planted points of a step are over what they stand on, metres, in the middle of it."""
    if floor is None:
        return float("nan")
    columns = [0, 1] if step.side == "left" else [2, 3]
    inside = slice(step.first, step.last + 1)
    planted = contacts.points[inside][:, columns][contacts.on[inside][:, columns]]
    at = np.median(planted, axis=0)
    return float(at[2] - ground_under(at, floor, static))


def ground_under(at: Array, floor: float, static: list[Mesh]) -> float:
    """Height of the floor, or of the highest surface of meshes under a place (3,) and at most a little above it."""
    highest = floor
    for mesh in static:
        low, high = mesh.bounds
        if np.all(at[:2] >= low[:2]) and np.all(at[:2] <= high[:2]) and low[2] <= at[2] + _ABOVE:
            corners = mesh.vertices[mesh.faces]
            a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
            area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
            flat = np.abs(area) > 1e-12  # what stands upright has no height at a place
            to = at[:2] - a[flat, :2]
            s = (to[:, 0] * v[flat, 1] - to[:, 1] * v[flat, 0]) / area[flat]
            t = (to[:, 1] * u[flat, 0] - to[:, 0] * u[flat, 1]) / area[flat]
            z = (a[flat, 2] + s * u[flat, 2] + t * v[flat, 2])[(s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)]
            highest = max(highest, float(z[z <= at[2] + _ABOVE].max(initial=highest)))
    return highest


def _sentence(side: str, slid: float, light: str, off: float, floating: str) -> str:
    if light == "good":
        says = f"Planted feet stay where they are: they slide {1000 * slid:.1f} mm at most, too little to be seen"
    else:
        where = "as in raw recordings; mend it before a close-up" if light == "look" else "which is seen at once"
        says = f"The {side} foot slides {1000 * slid:.0f} mm while it stands, {where}"
    return f"{says}." if floating == "good" else f"{says}; planted feet are up to {1000 * off:.0f} mm off the floor."


def _moments(
    subject: Subject, found: tuple[Step, ...], slides: Array, heights: Array, drift: Array
) -> tuple[Moment, ...]:
    out = []
    for k in np.argsort(-slides)[:2]:
        step = found[k]
        side = SIDES.index(step.side)
        inside = drift[step.first : step.last + 1, side]
        frame = step.first + (int(np.nanargmax(inside)) if np.isfinite(inside).any() else 0)
        told = f"{step.side} foot has slid {1000 * slides[k]:.1f} mm in its step"
        bad = float(slides[k]) / (SLIDE[0] * subject.size)
        part = f"{subject.name}.{step.side}_foot"
        out.append(Moment(float(subject.times[frame]), told, subject.name, bad, part, 0.6 * subject.size))
    return tuple(out)
