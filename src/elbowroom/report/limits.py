"""Joint limits: joints that leave their range, when and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from elbowroom.character.limits import pose_excess
from elbowroom.character.range_of_motion import RANGES
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.quality import BEYOND
from elbowroom.report.parts import Measure, Moment, light_of, listed, worst
from elbowroom.report.people import Subject

# How far a joint may be past its published range, radians: good up to, worth a look up to. People differ by the first;
# collarbones of recorded people who lift a box over their heads are past it by 16 degrees.
PAST = (float(np.radians(5.0)), float(np.radians(20.0)))
# A joint that is further past its range for less than this is worth a look, seconds: markers leap for as long.
_LASTS_S = 0.1
_LISTED = 4
# Turn of the chest against the hips, radians: that of all joints of the trunk together.
_WAIST_RAD = float(np.radians(sum(RANGES[part].turns_out for part in ("spine1", "spine2", "chest"))))
# Turn of two joints that share the skin of the hips, radians: that of the lowest joint of the spine.
_HIPS_RAD = float(np.radians(RANGES["spine1"].turns_out))


@dataclass(frozen=True, eq=False, kw_only=True)
class Limits(Measure):
    """Excess of each limited joint over its range, radians (T, K), 0 within."""

    times: Array
    joints: tuple[str, ...]
    excess: Array

    @property
    def frames_past(self) -> int:
        """Number of frames with any joint out of range, as `motion.quality` counts them."""
        return int(np.sum(self.excess.max(axis=1, initial=0.0) > BEYOND))

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        worst = np.degrees(self.excess.max(axis=0, initial=0.0))
        past = {
            joint: round(float(w), 2) for joint, w in zip(self.joints, worst, strict=True) if w > np.degrees(BEYOND)
        }
        return super().facts() | {
            "frames_past": self.frames_past,
            "past_share": round(self.frames_past / max(len(self.times), 1), 4),
            "past_deg": past,
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        rows = {
            joint: listed(np.degrees(self.excess[:, k]), 2)
            for k, joint in enumerate(self.joints)
            if self.excess[:, k].max() > BEYOND
        }
        return {"times_s": listed(self.times), "past_deg": rows}


def limits_of(subject: Subject) -> Limits:
    """Measure violations of joint limits, and of the turn of hips and trunk against each other."""
    limits = subject.character.limits
    rows = [j for j, limit in enumerate(limits) if limit is not None]
    excess = pose_excess(limits, subject.clip.rotations)[:, rows] if rows else np.zeros((len(subject.clip), 0))
    names, known = tuple(subject.joint(j) for j in rows), bool(rows)
    if "chest" in subject.character.roles:
        rows, names = [*rows, subject.character.pelvis], (*names, "waist")
        excess = np.column_stack([excess, waist_excess(subject)])
    common: dict[str, Any] = {"times": subject.times, "joints": names, "excess": excess}
    if not known and excess.max(initial=0.0) <= BEYOND:
        return Limits(light="none", says="No joint ranges are known for this rig.", **common)
    frame, joint = np.unravel_index(int(np.argmax(excess)), excess.shape)
    peak = float(excess[frame, joint])
    frames = min(max(1, round(_LASTS_S * subject.clip.fps)), len(excess))
    lasting = float(scipy.ndimage.minimum_filter1d(excess, frames, axis=0).max())
    light = worst(light_of(lasting, *PAST), light_of(peak, PAST[0], np.inf))
    share = float(np.mean(excess.max(axis=1) > BEYOND))
    are, their = ("are", "their") if names[joint].endswith("toes") else ("is", "its")
    most = f"the {names[joint]} {are} {np.degrees(peak):.1f}° past {their} range"
    if peak <= BEYOND:
        says = "Every joint stays within the human range of motion."
    elif light == "good":
        says = f"All joints stay within or close to their range: at most {most}."
    elif light == "look" and peak > PAST[1]:
        says = f"Joints leave the human range for a moment: {most}."
    elif light == "look":
        says = f"Possible for a flexible person: at most {most}."
    else:
        says = f"Joints bend beyond the human range: {most}."
    return Limits(
        light=light,
        says=says,
        headline="all within range" if peak <= BEYOND else f"{np.degrees(peak):.1f}° past, {names[joint]}",
        moments=_moments(subject, rows, names, excess),
        figures={"frames with a joint out of range": f"{100 * share:.0f} %"},
        **common,
    )


def waist_excess(subject: Subject) -> Array:
    """Turn of the chest against the hips, and of joints that share the hips, beyond what spines do, radians (T,).

    It sees joints without a limit of their own: a spine of many bones, or a rig whose root carries part of the hips.
    """
    body = subject.character
    chest = body.roles["chest"]
    carrying = {shape.joint for shape in body.shapes}
    rest = rot.from_matrix(body.T_rest[:, :3, :3])

    def turn(joint: int) -> Array:
        return rot.multiply(rot.from_matrix(subject.T[:, joint, :3, :3]), rot.conjugate(rest[joint]))

    back = rot.conjugate(turn(body.pelvis))
    over = [np.abs(rot.heading(rot.multiply(back, turn(chest)))) - _WAIST_RAD]
    for joint in carrying.intersection(body.stem) - {body.pelvis}:
        over.append(np.abs(rot.heading(rot.multiply(back, turn(joint)))) - _HIPS_RAD)
    return np.maximum(np.max(over, axis=0), 0.0)


def _moments(subject: Subject, rows: list[int], names: tuple[str, ...], excess: Array) -> tuple[Moment, ...]:
    """Moments of the joints that are furthest out of range."""
    out = []
    for k in np.argsort(-excess.max(axis=0))[:_LISTED]:
        frame = int(np.argmax(excess[:, k]))
        if excess[frame, k] > BEYOND:
            text = f"{names[k]} {np.degrees(excess[frame, k]):.1f}° past its range"
            bad = float(excess[frame, k]) / PAST[0]
            part = f"{subject.name}.{subject.character.skeleton.names[rows[k]]}"
            out.append(Moment(float(subject.times[frame]), text, subject.name, bad, part, 0.9 * subject.size))
    return tuple(out)
