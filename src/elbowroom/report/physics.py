"""Physics: whether pushes of the ground and other supports, with the friction of a floor, could produce a motion.

For each frame, inverse dynamics yields the force and moment that the world must supply. They are compared with the
nearest that forces at the bearing points can give, each within its friction cone, by non-negative least squares. What
no such forces can give is missing help: the force that a string or a hidden hand would have to add.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import runs
from elbowroom.motion.smooth import judged
from elbowroom.report.bearing import Bearing, Gaps
from elbowroom.report.forces import Forces
from elbowroom.report.parts import Measure, Moment, light_of, listed, worst
from elbowroom.report.people import Subject

# Friction between sole and floor: rubber on a dry floor, 0.6 to 1.0, from memory.
FRICTION = 0.8
# Least friction of a sole that slides on a dry floor: below this a floor counts as slippery, from memory.
SLIDING_FRICTION = 0.4
# A sole that is faster than this slides, m/s: feet of recorded steps creep by less.
SLIDES_M_S = 0.3
# Missing force, as a share of the weight, up to which a frame is feasible: nearly all frames of recorded walks are
# below it (`benchmarks/report_physics.py`).
HELP = 0.08
# Lever at which a missing moment counts as a force, metres for an adult: about the radius of gyration of a trunk.
LEVER_M = 0.3
# Share of the change of the needed force within the blur that is allowed besides: contacts change within a frame, and
# forces below 6 Hz do not.
_CHANGE = 0.05
# Most that the ground pushes, as a multiple of the weight: landings from a jump come to five or six, from memory.
MOST_WEIGHTS = 6.0
# Height of a foot up to which it presses, metres: over its usual height in a step, and over the ground.
_LIFTED_M, _HIGHEST_M = 0.03, 0.07
# Longest time that is not feasible, seconds: good up to, worth a look up to. In 91 of 108 recordings it is below the
# first; above the second are two that sit on nothing, two that push a box, and one whose feet leave the floor.
LONGEST_S = (0.12, 0.30)
# Shares of frames that are not feasible: good up to, worth a look up to. Recorded runs come to 0.3.
SHARES = (0.15, 0.40)
# Length of the line of a force in pictures, metres for each weight.
_ARROW_M = 0.5
# Intervals that are shown as moments.
_LISTED = 2
# Frames that are solved each second: forces below 6 Hz change slowly.
_PER_S = 30.0
# Directions of friction at a point.
_SIDES = 8
# Forces below 6 Hz pass from foot to foot over this time, seconds, while contacts change within a frame.
_BLUR_S = 0.08
# Multiples of friction that are tried where it does not suffice.
_MORE = (1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Physics(Measure):
    """Forces that could produce a motion, at `frames` (N,) of its frames and their `times` (N,), seconds.

    `help` (N,) is the least force that is missing, as a share of the weight, and `allowed` (N,) what of it is within
    the accuracy of the forces; `bears` (N,) the vertical force that the ground must supply, in weights; `why` (N,) says
    what is wrong in a frame, '' where nothing is. `push` (N, P, 3) are the forces found at the points of `bearing`, and
    `weight` is that of the body, newtons.
    """

    times: Array
    frames: NDArray[np.int64]
    help: Array
    allowed: Array
    bears: Array
    push: Array
    weight: float
    why: tuple[str, ...]
    bearing: Bearing | None = field(default=None, repr=False)

    @property
    def feasible(self) -> NDArray[np.bool_]:
        """Mask (N,) of the frames that forces could produce."""
        return np.array([not why for why in self.why], dtype=bool)

    @property
    def share(self) -> float:
        """Share of the frames that forces could produce."""
        return float(np.mean(self.feasible)) if len(self.why) else 0.0

    def spans(self) -> list[tuple[tuple[float, float], str]]:
        """Intervals in seconds that are not feasible, each with the reason of its worst frame."""
        half = 0.5 * float(self.times[1] - self.times[0]) if len(self.times) > 1 else 0.0
        out = []
        for first, last in runs(~self.feasible):
            most = first + int(np.argmax(self.help[first : last + 1]))
            out.append(((float(self.times[first]) - half, float(self.times[last]) + half), self.why[most]))
        return out

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "feasible_share": round(self.share, 4),
            "most_help_weights": round(float(np.max(self.help, initial=0.0)), 4),
            "infeasible": [{"during_s": [round(t, 4) for t in span], "why": why} for span, why in self.spans()],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "help_weights": listed(self.help),
            "ground_weights": listed(self.bears),
            "why": list(self.why),
        }


def physics_of(subject: Subject, forces: Forces, bearing: Bearing, gaps: Gaps | None = None) -> Physics:
    """Find forces of the ground that produce a motion, or what is missing; feet that `gaps` says float bear nothing."""
    fps = subject.clip.fps
    frames = np.flatnonzero(judged(len(subject.times), fps))[:: max(1, round(fps / _PER_S))]
    common: dict[str, Any] = {
        "times": subject.times[frames],
        "frames": frames,
        "bearing": bearing,
        "weight": forces.weight,
    }
    if not len(frames):
        says = "The clip is too short to compute forces."
        none = np.zeros(0)
        return Physics(
            light="none", says=says, help=none, allowed=none, bears=none, push=np.zeros((0, 0, 3)), why=(), **common
        )
    presses, slides = _pressing(bearing, subject, gaps)
    push = np.zeros((len(frames), bearing.points.shape[1], 3))
    help_, why = np.zeros(len(frames)), []
    lever = LEVER_M * subject.size
    wrench = np.concatenate([forces.ground, forces.moment / lever], axis=1) / forces.weight
    # largest change of the wrench within some frames before and after
    width = (2 * round(_BLUR_S * fps) + 1, 1)
    high, low = (f(wrench, width, mode="nearest") for f in (scipy.ndimage.maximum_filter, scipy.ndimage.minimum_filter))
    allowed = HELP + _CHANGE * np.asarray(np.linalg.norm(high - low, axis=1))[frames]
    for n, k in enumerate(frames.tolist()):
        on = presses[k]
        needed = _Needed(wrench[k], (bearing.points[k, on] - forces.com[k]) / lever, slides[k, on], allowed[n])
        found = needed.solved()
        help_[n] = found.missing
        push[n, on] = found.push * forces.weight
        why.append(needed.why(found))
    bears = forces.ground[frames, 2] / forces.weight
    made = Physics(light="none", says="", help=help_, allowed=allowed, bears=bears, push=push, why=tuple(why), **common)
    return replace(made, **_verdict(subject, made))


def _pressing(bearing: Bearing, subject: Subject, gaps: Gaps | None) -> tuple[NDArray[np.bool_], Array]:
    """Points that press at or near a frame (T, P), and their velocities along the ground then (T, P, 2)."""
    on = bearing.on.copy()
    if gaps is not None:
        for step, over in zip(gaps.steps, gaps.over, strict=True):
            inside, left = slice(step.first, step.last + 1), step.side == "left"
            most = min(max(over, 0.0) + _LIFTED_M * subject.size, _HIGHEST_M * subject.size)
            low = gaps.gap[inside, 0 if left else 1] <= most
            columns = slice(0, bearing.of_left) if left else slice(bearing.of_left, bearing.of_feet)
            on[inside, columns] &= low[:, None]
    if not on.any():
        return on, bearing.slides
    far = np.full(on.shape, np.inf)
    nearest = np.zeros(on.shape, dtype=np.int64)
    for p in np.flatnonzero(on.any(axis=0)):
        far[:, p], rows = scipy.ndimage.distance_transform_edt(~on[:, p], return_indices=True)
        nearest[:, p] = rows[0]
    slides = np.take_along_axis(bearing.slides, nearest[..., None], axis=0)
    return far <= round(_BLUR_S * subject.clip.fps), slides


@dataclass(frozen=True)
class _Pushes:
    """Forces (P, 3) at the points, in weights, and the size of what they leave, in weights."""

    push: Array
    missing: float


@dataclass(frozen=True)
class _Needed:
    """Wrench that the world must supply in a frame: force and moment about the centre of mass (6,), in weights.

    `arms` (P, 3) are the levers of the points that can supply it and `slides` (P, 2) their velocities, m/s; `allowed`
    is what may be missing.
    """

    wrench: Array
    arms: Array
    slides: Array
    allowed: float

    def solved(self, friction: float = FRICTION, still: bool = False) -> _Pushes:
        """Forces at the points that come nearest; those that slide push against their motion, unless `still`."""
        if not len(self.arms):
            return _Pushes(np.zeros((0, 3)), float(np.linalg.norm(self.wrench)))
        # edges (P, 8, 3) of the friction cones; those of points that slide (P, 2), m/s, are against that
        slides = np.zeros_like(self.slides) if still else self.slides
        angle = np.arange(_SIDES) * 2.0 * np.pi / _SIDES
        edges = np.column_stack([friction * np.cos(angle), friction * np.sin(angle), np.ones(_SIDES)])
        rays = np.repeat(edges[None], len(slides), axis=0)
        speed = np.linalg.norm(slides, axis=-1)
        moves = speed > SLIDES_M_S
        share = np.linspace(min(SLIDING_FRICTION, friction), friction, _SIDES)
        against = -slides[moves] / speed[moves, None]
        rays[moves, :, :2] = share[None, :, None] * against[:, None]
        columns = np.concatenate([rays, np.cross(self.arms[:, None], rays)], axis=-1).reshape(-1, 6)
        amounts, missing = scipy.optimize.nnls(columns.T, self.wrench)
        return _Pushes((amounts.reshape(len(self.arms), -1, 1) * rays).sum(axis=1), float(missing))

    def why(self, found: _Pushes) -> str:
        """Reason why a frame is not feasible; '' if it is."""
        up = float(self.wrench[2])
        if up > MOST_WEIGHTS:
            return f"the ground would have to push with {up:.1f} times the weight"
        if found.missing <= self.allowed:
            return ""
        if up < -self.allowed:
            return f"it needs a pull from the floor of {-up:.1f} times the weight"
        if not len(self.arms):
            return f"nothing touches the ground, but it must bear {up:.1f} times the weight"
        if self.solved(still=True).missing <= self.allowed:
            return "supporting feet slide, but friction does not slow the body"
        for more in _MORE:
            if self.solved(more * FRICTION, still=True).missing <= self.allowed:
                return f"it needs {more:g} times the friction of a dry floor"
        return f"it would tip over: a sideways force of {found.missing:.2f} times the weight is missing"


def _verdict(subject: Subject, found: Physics) -> dict[str, Any]:
    """Light, sentence, headline, moments and figures."""
    spans = sorted(found.spans(), key=lambda s: s[0][0] - s[0][1])
    longest = spans[0][0][1] - spans[0][0][0] if spans else 0.0
    light = worst(light_of(longest, *LONGEST_S), light_of(1.0 - found.share, *SHARES))
    share = f"{100 * found.share:.0f} % of the frames"
    if light == "good":
        says = f"Pushes of the ground could produce the motion: {share} are feasible"
        says += ", the others only for moments, as in recordings." if spans else "."
    else:
        (begin, end), why = spans[0]
        could = "could hardly" if light == "look" else "could not"
        says = f"Pushes of the ground {could} produce the motion ({share} are feasible):"
        says += f" from {begin:.2f} to {end:.2f} s {why}."
    return {
        "light": light,
        "says": says,
        "headline": f"feasible in {share}",
        "moments": _moments(subject, found),
        "figures": {
            "longest infeasible interval": f"{longest:.2f} s",
            "most that is missing": f"{100 * float(found.help.max()):.0f} % of the weight",
            "hardest push of the ground": f"{float(found.bears.max()):.1f} times the weight",
        },
    }


def _moments(subject: Subject, found: Physics) -> tuple[Moment, ...]:
    """Worst frames of the two longest infeasible intervals, with the forces that come nearest."""
    out = []
    for (begin, end), why in sorted(found.spans(), key=lambda s: s[0][0] - s[0][1])[:_LISTED]:
        inside = np.flatnonzero((found.times >= begin) & (found.times <= end))
        n = int(inside[np.argmax(found.help[inside])])
        bad = (end - begin) / LONGEST_S[0]
        moment = Moment(float(found.times[n]), why, subject.name, bad, span=subject.size)
        out.append(replace(moment, trails=tuple(_arrows(subject, found, n))))
    return tuple(out)


def _arrows(subject: Subject, found: Physics, n: int) -> list[Array]:
    """Lines (10, 3) along the sum of the forces at each joint, from where they press."""
    assert found.bearing is not None
    out = []
    for joint in np.unique(found.bearing.joints):
        mine = found.bearing.joints == joint
        size = np.linalg.norm(found.push[n, mine], axis=-1)
        if size.sum() > 0.0:
            at = np.average(found.bearing.points[found.frames[n], mine], axis=0, weights=size)
            out.append(
                at
                + np.outer(
                    np.linspace(0.0, _ARROW_M * subject.size, 10), found.push[n, mine].sum(axis=0) / found.weight
                )
            )
    return out
