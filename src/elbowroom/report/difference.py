"""Difference from the original clip: joint distances and posture similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import runs
from elbowroom.motion.edit import place
from elbowroom.motion.retarget import retarget
from elbowroom.report.parts import Light, Measure, Moment, listed
from elbowroom.report.people import Subject

# Parts of the body that are compared separately, by their roles.
LIMBS = {
    "trunk": ("pelvis", "spine1", "spine2", "chest"),
    "head": ("neck", "head"),
    "left arm": ("left_clavicle", "left_upper_arm", "left_forearm", "left_hand"),
    "right arm": ("right_clavicle", "right_upper_arm", "right_forearm", "right_hand"),
    "left leg": ("left_thigh", "left_shin", "left_foot"),
    "right leg": ("right_thigh", "right_shin", "right_foot"),
}
# Joint angles of a limb that differ by this much on average make it half alike, radians.
_HALF = np.radians(25.0)
# Frames count as changed where a joint is this far from where it was, metres.
CHANGED = 0.001
# Postures as alike as this on average are the same to the eye, if no limb is less alike than that.
ALIKE, ALIKE_LIMB = 0.85, 0.5
# Clips are moved onto each other only if that brings them nearer than this, metres.
_FITS = 0.02


@dataclass(frozen=True, eq=False, kw_only=True)
class Difference(Measure):
    """Distance of the furthest joint from the original (T,), metres; posture similarity of limbs (T, L), 0 to 1."""

    times: Array
    distance: Array
    limbs: tuple[str, ...]
    similarity: Array

    @property
    def changed(self) -> list[tuple[float, float]]:
        """Intervals in seconds in which any joint was moved."""
        return [(float(self.times[a]), float(self.times[b])) for a, b in runs(self.distance > CHANGED)]

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "similarity": round(float(self.similarity.mean()), 4),
            "limbs": {
                limb: round(float(s), 4) for limb, s in zip(self.limbs, self.similarity.mean(axis=0), strict=True)
            },
            "largest_m": round(float(self.distance.max()), 4),
            "changed_share": round(float(np.mean(self.distance > CHANGED)), 4),
            "mean_m": round(float(self.distance.mean()), 4),
            "changed_s": [[round(a, 4), round(b, 4)] for a, b in self.changed],
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        alike = {limb: listed(self.similarity[:, k]) for k, limb in enumerate(self.limbs)}
        return {"times_s": listed(self.times), "distance_m": listed(self.distance), "similarity": alike}


def difference_of(subject: Subject, original: Clip, meant: bool = False) -> Difference:
    """Compare a motion with another one at the same times; a clip of another rig is retargeted first.

    `meant` marks an intended change: then no difference is a fault.
    """
    notes: tuple[str, ...] = ()
    if original.character.skeleton is not subject.character.skeleton and not _same(original, subject.clip):
        original = retarget(original, subject.character)
        notes = ("the original has another rig and was retargeted to this one.",)
    original, moved = _placed(subject, original)
    notes = (*notes, moved) if moved else notes
    begin, end = original.span
    if begin > subject.times[0] + 1.0 / original.fps or end < subject.times[-1] - 1.0 / original.fps:
        notes = (
            *notes,
            f"the original lasts from {begin:.2f} to {end:.2f} s; beyond that its first or last pose is used.",
        )
    root, q = original.sample(subject.times)
    there = subject.character.skeleton.forward(root, q)[..., :3, 3]
    apart = np.linalg.norm(subject.T[..., :3, 3] - there, axis=-1)
    distance = apart.max(axis=1)
    limbs = [name for name, roles in LIMBS.items() if any(r in subject.character.roles for r in roles)]
    alike = np.stack([_alike(subject, q, LIMBS[name]) for name in limbs], axis=-1) if limbs else np.ones((len(q), 1))
    frame = int(np.argmax(distance))
    joint = int(np.argmax(apart[frame]))
    mean, share = float(alike.mean()), float(np.mean(distance > CHANGED))
    limb = int(np.argmin(alike.mean(axis=0)))
    least = float(alike[:, limb].mean())
    same = mean >= ALIKE and least >= ALIKE_LIMB
    light: Light = "good" if same or meant else "look"
    furthest = f"{100 * distance[frame]:.1f} cm at the {subject.joint(joint)}"
    return Difference(
        light=light,
        says=_sentence(share, furthest, same, meant),
        headline="unchanged" if share == 0.0 else f"up to {100 * distance[frame]:.1f} cm off, {_percent(mean)} similar",
        moments=_moment(subject, frame, joint, there[frame, joint], light),
        figures={
            "posture similarity": _percent(mean),
            "least similar": f"{_percent(least)} ({(*limbs, 'body')[limb]})",
            "frames changed": f"{100 * share:.0f} %",
            "furthest": f"{100 * distance[frame]:.1f} cm ({subject.joint(joint)})",
            "on average": f"{100 * distance.mean():.1f} cm",
        },
        notes=notes,
        times=subject.times,
        distance=distance,
        limbs=tuple(limbs) or ("body",),
        similarity=alike,
    )


def _same(a: Clip, b: Clip) -> bool:
    """Return whether two clips have the same skeleton up to rounding."""
    one, other = a.character.skeleton, b.character.skeleton
    if len(one) != len(other) or not np.array_equal(one.parents, other.parents):
        return False
    return bool(np.allclose(one.offsets, other.offsets, atol=1e-4))


def _alike(subject: Subject, original: Array, roles: tuple[str, ...]) -> Array:
    """Similarity of a limb's joint angles (T,), 1 if equal."""
    rows = [subject.character.roles[r] for r in roles if r in subject.character.roles]
    turn = rot.multiply(rot.conjugate(original[:, rows]), subject.clip.rotations[:, rows])
    body = subject.character
    if body.pelvis in rows:  # where the whole body faces is its place, not its posture
        before, now = (body.skeleton.orientations(q)[:, body.pelvis] for q in (original, subject.clip.rotations))
        # turn (T, 4) between two orientations without their headings
        up = np.array([0.0, 0.0, 1.0])
        level = [rot.multiply(rot.about(up, -rot.heading(q)), q) for q in (before, now)]
        turn[:, rows.index(body.pelvis)] = rot.multiply(rot.conjugate(level[0]), level[1])
    angle = np.sqrt(np.mean(np.linalg.norm(rot.log(turn), axis=-1) ** 2, axis=1))
    return np.asarray(0.5 ** ((angle / _HALF) ** 2))


def _placed(subject: Subject, original: Clip) -> tuple[Clip, str]:
    """Original moved to the position of this motion, which may have been placed elsewhere in a scene."""
    root, _ = original.sample(subject.times)
    mine = subject.clip.root
    if np.median(np.linalg.norm(mine - root, axis=-1)) < _FITS:
        return original, ""
    turns = rot.heading(
        rot.multiply(subject.clip.rotations[:, 0], rot.conjugate(original.sample(subject.times)[1][:, 0]))
    )
    turn = float(np.angle(np.median(np.cos(turns)) + 1j * np.median(np.sin(turns))))
    c, s = np.cos(turn), np.sin(turn)
    shift = np.median(mine - root @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]), axis=0)
    moved = place(original, (float(shift[0]), float(shift[1])), turn, lift=float(shift[2]))
    off = np.median(np.linalg.norm(mine - moved.sample(subject.times)[0], axis=-1))
    if off > 0.5 * np.median(np.linalg.norm(mine - root, axis=-1)):
        return original, ""
    far = float(np.linalg.norm(shift))
    return (
        moved,
        f"the original was moved by {far:.2f} m and rotated by {np.degrees(turn):.0f}° to align with this motion.",
    )


def _percent(share: float) -> str:
    """Text of a share, rounded down: only all of it is 100 %."""
    return f"{np.floor(1000.0 * share + 1e-9) / 10.0:.1f} %"


def _sentence(share: float, furthest: str, same: bool, meant: bool) -> str:
    if share == 0.0:
        return "Nothing was changed: every frame equals the original."
    what = f"{100 * share:.0f} % of the frames were changed, at most by {furthest}"
    if meant:
        return f"The change was requested: {what}."
    if same:
        return f"The performance is preserved: {what}."
    return f"The motion has changed considerably; check that this is intended: {what}."


def _moment(subject: Subject, frame: int, joint: int, there: Array, light: Light) -> tuple[Moment, ...]:
    """Moment at which a joint is furthest from its original position `there` (3,), with a line from there."""
    here = subject.T[frame, joint, :3, 3]
    furthest = float(np.linalg.norm(here - there))
    if furthest <= CHANGED:
        return ()
    text = f"{subject.joint(joint)} is {100 * furthest:.1f} cm from its position in the original (red)"
    bad = 0.5 if light == "good" else 1.1
    trails = (np.linspace(there, here, 8), there[None])
    return (Moment(float(subject.times[frame]), text, subject.name, bad, span=subject.size, trails=trails),)
