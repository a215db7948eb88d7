"""Feet: how far supporting feet slide, float above the ground, or sink into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy

from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import Contacts, FootStep, steps
from elbowroom.motion.soles import SIDES
from elbowroom.motion.stance import slid_so_far, slide_ways
from elbowroom.report.bearing import Gaps
from elbowroom.report.parts import Light, Measure, Moment, light_of, listed, scaled_limits, worst
from elbowroom.report.people import Subject

# How far a foot may slide in one step, metres: good up to, worth a look up to. A step of 68 recorded clips as they were
# captured slides by 23 mm in the median, the worst step of 17 clips in 20 by less than the second.
SLIDE = (0.010, 0.070)
# Time within which a foot that slides further than the second is bad, seconds: feet of people who sit or push for long
# creep as far unseen.
_STEP_S = 3.0
# Dots of the way that a foot has slid in a picture, at most.
_DOTS = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class FootSliding(Measure):
    """Steps with their slide distances (S,), metres.

    `contacts` has the bearing points over time; `drift` (T, 2) the distances that the left and right foot have slid
    since touchdown, NaN in the air. `size` is that of the body against an adult's, by which thresholds grow.
    """

    times: Array
    contacts: Contacts
    steps: tuple[FootStep, ...]
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


def feet_of_person(subject: Subject) -> FootSliding:
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
        return FootSliding(light="none", says=says, headline="never on the ground", **common)
    k = int(np.argmax(slides))
    green, amber = (s * subject.size for s in SLIDE)
    fast = max(float(_slid_within(way, round(_STEP_S * subject.clip.fps))) for way in ways)
    light = worst(light_of(float(slides[k]), green, np.inf), light_of(fast, green, amber))
    figures = {"steps": str(len(found)), "median sliding": f"{1000 * float(np.median(slides)):.1f} mm"}
    return FootSliding(
        light=light,
        says=_sentence(found[k].side, float(slides[k]), light),
        headline=f"{1000 * float(slides[k]):.1f} mm of sliding at most",
        moments=_moments(subject, contacts, found, slides, ways),
        figures=figures | scaled_limits(SLIDE, subject.size, "mm"),
        **common,
    )


def _slid_within(way: Array, frames: int) -> float:
    """Greatest distance, metres, that a foot gets on its way (N, 2) within some frames."""
    lags = {max(1, round(share * frames)) for share in (0.25, 0.5, 0.75, 1.0)} | {len(way) - 1}
    return max(
        (float(np.linalg.norm(way[n:] - way[:-n], axis=-1).max()) for n in lags if 0 < n <= min(frames, len(way) - 1)),
        default=0.0,
    )


def _sentence(side: str, slid: float, light: Light) -> str:
    if light == "good":
        return f"No visible foot sliding: {1000 * slid:.1f} mm at most."
    where = "as in raw recordings; fix it before a close-up" if light == "look" else "which is clearly visible"
    return f"The {side} foot slides {1000 * slid:.0f} mm while it carries the body, {where}."


def _moments(
    subject: Subject, contacts: Contacts, found: tuple[FootStep, ...], slides: Array, ways: list[Array]
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


# How far a foot may float over what it stands on, metres: good up to, worth a look up to. Floors of recorded clips lean
# by as much as the first in both directions, some by as much as the second.
FLOAT = (0.030, 0.060)
# How far a sole may be in what it stands on or in the floor, metres: good up to, worth a look up to.
SINK = (0.030, 0.060)
# Shortest event that is judged, seconds: toes of recorded feet dip for less when they push off, which is worth a look.
_LASTS = 0.2
# Longest event that counts as a jump of the motion, seconds.
_SHORT = 0.04


@dataclass(frozen=True, eq=False, kw_only=True)
class FootHeights(Measure):
    """Distances of feet from the ground, metres: `off` (T, 2) above or below it for left and right, NaN where not
    judged; `most` the largest that counts; `size` that of the body against an adult's, by which thresholds grow;
    `deepest` what feet sink by for a moment."""

    times: Array
    off: Array
    most: float
    limits: tuple[float, float]
    name: Literal["float", "sink"]
    size: float = 1.0
    deepest: float | None = None

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        short = {} if self.deepest is None else {"deepest_m": round(self.deepest, 5)}
        return super().facts() | {f"{self.name}_m": round(self.most, 5)} | short

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        named = {f"{side}_{self.name}_m": listed(self.off[:, k]) for k, side in enumerate(SIDES)}
        return {"times_s": listed(self.times)} | named


def floating_of(subject: Subject, gaps: Gaps) -> FootHeights:
    """Measure how far supporting feet float above the ground."""
    off = np.where(gaps.stance, np.maximum(gaps.gap, 0.0), np.nan)
    common: dict[str, Any] = {"times": subject.times, "off": off, "limits": FLOAT, "name": "float"}
    if not np.isfinite(gaps.over).any():
        return FootHeights(light="none", says=_why(gaps), most=0.0, **common)
    k = int(np.nanargmax(gaps.over))
    most = max(float(gaps.over[k]), 0.0)
    step = gaps.steps[k]
    light = light_of(most, *(limit * subject.size for limit in FLOAT))
    on_plane = max(
        float(over - np.median(gaps.leaning[s.first : s.last + 1, SIDES.index(s.side)]))
        for s, over in zip(gaps.steps, gaps.over, strict=True)
    )
    own = ""
    if light == "bad" and light_of(on_plane, *(limit * subject.size for limit in FLOAT)) != "bad":
        light, own = "look", f", but {1000 * max(on_plane, 0.0):.0f} mm above the recording's own floor"
    much = f"the {step.side} foot is {1000 * most:.0f} mm above the ground while it carries the body"
    says = {
        "good": "Supporting feet are on the ground.",
        "look": f"Feet float a little: {much}{own or ', as in raw recordings'}.",
        "bad": f"Feet float: {much}.",
    }[light]
    return FootHeights(
        light=light,
        says=says,
        headline=f"{1000 * most:.0f} mm at most",
        moments=(_moment(subject, (step.first + step.last) // 2, step.side, "above the ground", most, FLOAT),),
        figures=_figures(gaps) | scaled_limits(FLOAT, subject.size, "mm"),
        most=most,
        size=subject.size,
        **common,
    )


def sinking_of(subject: Subject, gaps: Gaps) -> FootHeights:
    """Measure how far soles sink into the ground or the floor."""
    deep = np.maximum(-gaps.gap, 0.0)
    common: dict[str, Any] = {"times": subject.times, "off": deep, "limits": SINK, "name": "sink"}
    if not np.isfinite(deep).any():
        return FootHeights(light="none", says=_why(gaps), most=0.0, **common)
    frame, side, most = _deepest(deep, _LASTS * subject.clip.fps)
    dips, which, deepest = _deepest(deep, _SHORT * subject.clip.fps)
    green, amber = (limit * subject.size for limit in SINK)
    light = worst(light_of(most, green, amber), "look" if deepest > green else "good")
    *_, on_plane = _deepest(np.maximum(gaps.leaning - gaps.firm, 0.0), _LASTS * subject.clip.fps)
    own = ""
    if light == "bad" and light_of(on_plane, green, amber) != "bad":
        light, own = "look", f", but without the toes {1000 * on_plane:.0f} mm in the floor that the steps stand on"
    where = "the ground" if gaps.stance[frame, side] else "the floor"
    much = f"the {SIDES[side]} sole is {1000 * most:.0f} mm in {where}"
    moment = _moment(subject, frame, SIDES[side], f"in {where}", most, SINK)
    headline = f"{1000 * most:.0f} mm at most"
    if light == "good":
        says = "Soles stay above the floor and other ground."
    elif most <= green:
        says = f"The {SIDES[which]} sole dips into the ground by {1000 * deepest:.0f} mm for a moment."
        headline = f"{1000 * deepest:.0f} mm for a moment"
        moment = _moment(subject, dips, SIDES[which], "in the ground for a moment", deepest, SINK)
    elif light == "look":
        says = f"Soles sink slightly into the ground: {much}{own or ', as in raw recordings'}."
    else:
        says = f"Feet sink into the ground: {much}."
    return FootHeights(
        light=light,
        says=says,
        headline=headline,
        moments=(moment,),
        figures=_figures(gaps) | {"for a moment": f"{1000 * deepest:.0f} mm"} | scaled_limits(SINK, subject.size, "mm"),
        most=most,
        size=subject.size,
        deepest=deepest,
        **common,
    )


def _deepest(deep: Array, frames: float) -> tuple[int, int, float]:
    """Frame, foot and depth (metres) of the greatest depth (T, 2) sustained for some frames."""
    lasting = scipy.ndimage.minimum_filter1d(np.nan_to_num(deep), max(1, round(frames)), axis=0, mode="nearest")
    frame, side = (int(i) for i in np.unravel_index(int(np.argmax(lasting)), lasting.shape))
    return frame, side, float(lasting[frame, side])


def _moment(subject: Subject, frame: int, side: str, where: str, much: float, limits: tuple[float, float]) -> Moment:
    text = f"{side} foot {1000 * much:.0f} mm {where}"
    bad = much / (limits[0] * subject.size)
    part = f"{subject.name}.{side}_foot"
    return Moment(float(subject.times[frame]), text, subject.name, bad, part, 0.6 * subject.size)


def _figures(gaps: Gaps) -> dict[str, str]:
    """Figures on the heights of feet above the ground in all steps."""
    over = gaps.over[np.isfinite(gaps.over)]
    if not len(over):
        return {}
    low, high = (f"{round(1000 * float(v)):+d}".replace("-", "−").replace("+0", "0") for v in (over.min(), over.max()))
    leans = {"slope of the recorded floor": f"{np.degrees(gaps.lean):.1f}°"} if gaps.leaning.any() else {}
    return {"height of steps above the ground": f"{low} to {high} mm"} | leans


def _why(gaps: Gaps) -> str:
    """Reason why nothing was measured."""
    if not gaps.steps:
        return "No foot ever carries the body."
    return "There is no floor and nothing else to stand on."
