"""Torque at the main joints, relative to human strength."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.dynamics import STRENGTH, strength_of
from elbowroom.geometry.rotations import Array
from elbowroom.motion.smooth import derivative, judged
from elbowroom.report.forces import Forces
from elbowroom.report.parts import Measure, Moment, light_of, listed
from elbowroom.report.people import Subject, words_for

# Shares of a joint's strength: good up to, worth a look up to. Recorded walks come to the first at the ankle, runs and
# squats of 108 recordings to 2.05 at knees and hips: muscles that give way bear more than they push with, and the point
# of the ground reaction is known to a few centimetres.
EFFORT = (1.0, 2.1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Torque(Measure):
    """Size of the torque (T, K) at each joint, Nm; `strength` (K,) that of a healthy adult; `change` (K,) the root mean
    square of how quickly it changes, Nm a second. `counts` (T,) marks the frames that are judged."""

    times: Array
    joints: tuple[str, ...]
    torque: Array
    strength: Array
    change: Array
    counts: NDArray[np.bool_]

    @property
    def effort(self) -> Array:
        """Torque as a share of strength, (T, K)."""
        return self.torque / self.strength

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        judged_torque = np.where(self.counts[:, None], self.torque, 0.0)
        rows = []
        for k, joint in enumerate(self.joints):
            frame, strength = int(np.argmax(judged_torque[:, k])), float(self.strength[k])
            peak = float(judged_torque[frame, k])
            rows.append(
                {
                    "joint": joint,
                    "peak_nm": round(peak, 2),
                    "at_s": round(float(self.times[frame]), 4),
                    "strength_nm": round(strength, 1),
                    "effort_share": round(peak / strength, 4) if strength > 0.0 else None,
                    "change_nm_per_s": round(float(self.change[k]), 1),
                }
            )
        return super().facts() | {"joints": rows}

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        named = {joint: listed(self.torque[:, k], 2) for k, joint in enumerate(self.joints)}
        return {"times_s": listed(self.times), "torque_nm": named}


def torque_of(subject: Subject, forces: Forces, notes: tuple[str, ...] = ()) -> Torque:
    """Measure the torques of a body that has masses."""
    roles = [role for role in STRENGTH if subject.character.roles.get(role, 0) > 0]
    rows = [subject.character.roles[role] for role in roles]
    masses = subject.character.masses
    assert masses is not None
    strength = np.array([strength_of(subject.character, role) for role in roles])
    torque = np.linalg.norm(forces.torque[:, rows], axis=-1)
    change = derivative(forces.torque[:, rows], subject.clip.fps)
    counts = judged(len(torque), subject.clip.fps)
    rate = np.sqrt(np.mean(np.sum(change[counts] ** 2, axis=-1), axis=0)) if counts.any() else np.zeros(len(rows))
    names = tuple(words_for(role) for role in roles)
    hanging = float(np.mean(forces.rest[counts] > 0.5 * forces.weight)) if counts.any() else 0.0
    if hanging > 0.02:
        text = f"in {100 * hanging:.0f} % of the time no foot is planted: legs then count as hanging."
        notes = (*notes, text)
    common: dict[str, Any] = {"times": subject.times, "joints": names, "torque": torque, "strength": strength}
    if not counts.any() or not rows:
        says = "The clip is too short to compute forces." if rows else "The rig has no known joints to judge."
        return Torque(light="none", says=says, change=rate, counts=counts, notes=notes, **common)
    effort = np.where(counts[:, None], torque / strength, 0.0)
    frame, joint = np.unravel_index(int(np.argmax(effort)), effort.shape)
    peak = float(effort[frame, joint])
    light = light_of(peak, *EFFORT)
    most = f"the {names[joint]} exerts {torque[frame, joint]:.0f} Nm, {100 * peak:.0f} % of an adult's strength"
    says = {
        "good": f"Easy for an average adult: at most {most}.",
        "look": f"Strenuous for an average adult: {most}.",
        "bad": f"Beyond human strength: {most}.",
    }[light]
    return Torque(
        light=light,
        says=says,
        headline=f"{100 * peak:.0f} % of strength, {names[joint]}",
        moments=_peaks(subject, names, rows, torque, effort),
        figures={"maximum effort": f"{100 * peak:.0f} % ({names[joint]})", "fastest change": _quickest(names, rate)},
        notes=notes,
        change=rate,
        counts=counts,
        **common,
    )


def _peaks(
    subject: Subject, names: tuple[str, ...], rows: list[int], torque: Array, effort: Array
) -> tuple[Moment, ...]:
    """Moments of the two most loaded joints."""
    out = []
    for k in np.argsort(-effort.max(axis=0))[:2]:
        frame = int(np.argmax(effort[:, k]))
        text = f"{names[k]} exerts {torque[frame, k]:.0f} Nm, {100 * effort[frame, k]:.0f} % of its strength"
        bad = float(effort[frame, k]) / EFFORT[0]
        part = f"{subject.name}.{subject.character.skeleton.names[rows[k]]}"
        out.append(Moment(float(subject.times[frame]), text, subject.name, bad, part, 1.2 * subject.size))
    return tuple(out)


def _quickest(names: tuple[str, ...], rate: Array) -> str:
    k = int(np.argmax(rate))
    return f"{rate[k]:.0f} Nm/s ({names[k]}, root mean square)"
