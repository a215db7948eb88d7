"""Editing of clips: cut, splice, resample, place, mirror. Every call returns a new clip.

Artificial frames at the start of a clip (`Source.lead`) are never blended with real ones, and are dropped
where they would end up inside a motion.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.easing import smoothstep
from elbowroom.geometry.rotations import UP, Array
from elbowroom.motion.clip import Clip, frames_in

# Times closer than this to a frame, in frames, are that frame.
_FRAME_TOLERANCE = 1e-6


def cut(clip: Clip, t0: float, t1: float, *, keep_time: bool = False) -> Clip:
    """The part of a clip between two times in seconds, both included, at the clip's rate.

    The result starts at time 0, or at `t0` with `keep_time`. Its first frame is exactly at `t0`.
    """
    first, last = clip.span
    slack = _FRAME_TOLERANCE / clip.fps
    if not (np.isfinite(t0) and np.isfinite(t1) and first - slack <= t0 <= t1 <= last + slack):
        raise BadValue(
            f"cannot cut from {t0} s to {t1} s: clip '{clip.name}' runs from {first:g} s to {last:g} s "
            "and the times must be inside it, in order."
        )
    frames = int(np.floor((t1 - t0) * clip.fps + _FRAME_TOLERANCE)) + 1
    start = t0 if keep_time else 0.0
    return _resampled(clip, t0 + np.arange(frames) / clip.fps, clip.fps, start)


def resample(clip: Clip, fps: float) -> Clip:
    """Resample a motion at another rate; the rest after the last whole frame is dropped."""
    return _resampled(clip, clip.start + np.arange(frames_in(clip.duration, fps)) / fps, fps, clip.start)


def without_lead(clip: Clip) -> Clip:
    """The clip without artificial frames at its start; real frames keep their times."""
    lead = clip.source.lead
    if lead == 0:
        return clip
    if lead >= len(clip):
        raise BadValue(f"clip '{clip.name}' has no frames besides its {lead} artificial ones.")
    return clip.with_(
        root=clip.root[lead:],
        rotations=clip.rotations[lead:],
        start=clip.start + lead / clip.fps,
        source=replace(clip.source, lead=0),
    )


def with_lead(clip: Clip, original: Clip) -> Clip:
    """A clip with the artificial frames of the one that it was made from before its first frame, as files want them."""
    lead = original.source.lead
    if lead == 0:
        return clip
    return clip.with_(
        root=np.concatenate([original.root[:lead], clip.root]),
        rotations=np.concatenate([original.rotations[:lead], clip.rotations]),
        start=clip.start - lead / clip.fps,
        source=original.source,
    )


def place(
    clip: Clip,
    at: ArrayLike = (0.0, 0.0),
    turn: float = 0.0,
    *,
    about: Literal["origin", "start"] = "origin",
    lift: float = 0.0,
) -> Clip:
    """Move and turn a clip on the floor.

    The clip is turned by `turn` radians (positive to the left) about its origin, or about the point below its
    first real root position with about='start'; that point comes to `at` (x, y), metres. `lift` (metres)
    raises it all.
    """
    xy = np.asarray(at, dtype=float)
    if xy.shape != (2,) or not np.all(np.isfinite([*xy, turn, lift])):
        raise BadValue(f"a clip is placed at two finite numbers x, y with a finite rotation, not at {at!r}, {turn}.")
    if about not in ("origin", "start"):
        raise BadValue(f"a clip can be placed about its 'origin' or its 'start', not about '{about}'.")
    pivot = np.zeros(3)
    if about == "start":
        pivot[:2] = clip.root[min(clip.source.lead, len(clip) - 1), :2]
    q = rot.about([0.0, 0.0, 1.0], turn)
    rotations = np.array(clip.rotations)
    rotations[:, 0] = rot.multiply(q, rotations[:, 0])
    root = rot.rotate(q, clip.root - pivot) + np.array([xy[0], xy[1], lift])
    return clip.with_(root=root, rotations=rotations)


def splice(a: Clip, b: Clip, *, at: float | None = None, blend: float = 0.3, align: bool = True) -> Clip:
    """`a` until the time `at`, then `b`, eased from one to the other over `blend` seconds, at `a`'s rate.

    `at` is in `a`'s time, by default so late that the blend ends with `a`. With `align`, `b` is moved and
    turned on the floor so that it goes on where `a` is during the blend. Artificial frames of `b` are
    dropped.
    """
    x, y = a.character.skeleton, b.character.skeleton
    if x is not y and (x.names != y.names or not np.allclose(x.offsets, y.offsets, atol=1e-6)):
        raise BadValue(f"'{a.name}' and '{b.name}' move different skeletons; retarget one of them first.")
    b = without_lead(b)
    if not (np.isfinite(blend) and blend >= 0.0):
        raise BadValue(f"a blend must take 0 s or more, not {blend}.")
    first, last = a.span
    at = last - blend if at is None else at
    slack = _FRAME_TOLERANCE / a.fps
    real = first + a.source.lead / a.fps
    if not (real - slack <= at and at + blend <= last + slack):
        raise BadValue(
            f"cannot blend from {at:g} s to {at + blend:g} s: the real frames of '{a.name}' run from "
            f"{real:g} s to {last:g} s."
        )
    if blend > b.duration + slack:
        raise BadValue(f"a blend of {blend:g} s is longer than '{b.name}', which has {b.duration:g} s.")
    b = b.with_(start=at)
    if align:
        b = _aligned(a, b, at + np.arange(0.0, blend + slack, 1.0 / a.fps))

    frames = int(np.floor((at + b.duration - a.start) * a.fps + _FRAME_TOLERANCE)) + 1
    times = a.start + np.arange(frames) / a.fps
    weight = smoothstep((times - at) / blend) if blend > 0.0 else (times >= at - slack).astype(float)
    root, q = _sample(a, times)
    root_b, q_b = _sample(b, times)
    w = weight[:, None]
    mixed = rot.slerp(q, q_b, w)
    # where only one clip counts it is copied, not computed
    mixed = np.where(w[..., None] == 0.0, q, np.where(w[..., None] == 1.0, q_b, mixed))
    return a.with_(root=(1.0 - w) * root + w * root_b, rotations=mixed)


def _aligned(a: Clip, b: Clip, times: Array) -> Clip:
    """`b` moved on the floor to where its joints are nearest to `a`'s at these times (Kovar et al. 2002)."""
    p = a.positions(times)[..., :2].reshape(-1, 2)
    q = b.positions(times)[..., :2].reshape(-1, 2)
    p0, q0 = p.mean(axis=0), q.mean(axis=0)
    u, v = q - q0, p - p0
    turn = float(np.arctan2(np.sum(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]), np.sum(u * v)))
    c, s = np.cos(turn), np.sin(turn)
    return place(b, p0 - np.array([c * q0[0] - s * q0[1], s * q0[0] + c * q0[1]]), turn)


def _sample(clip: Clip, times: Array) -> tuple[Array, Array]:
    """Like `clip.sample`, but artificial frames are held, not blended."""
    at = (times - clip.start) * clip.fps
    held = clip.start + np.floor(at + _FRAME_TOLERANCE) / clip.fps
    return clip.sample(np.where(at < clip.source.lead - _FRAME_TOLERANCE, held, times))


def _resampled(clip: Clip, times: Array, fps: float, start: float) -> Clip:
    root, q = _sample(clip, times)
    index = (times - clip.start) * clip.fps
    lead = int(np.sum(index < clip.source.lead - _FRAME_TOLERANCE))
    return clip.with_(root=root, rotations=q, fps=fps, start=start, source=replace(clip.source, lead=lead))


# Pairs of letters for the sides in names of joints without a role.
_SIDE_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"))
_SIDE_LETTERS = (("l", "r"), ("L", "R"))


def mirror(clip: Clip) -> Clip:
    """The motion seen in a mirror that stands on the origin across the character's left-right axis at rest.

    Left and right change places. Joints are compared as turns from the rest pose in the world, since frames of the two
    sides of a rig need not mirror each other. A joint without a counterpart keeps its local rotation.
    """
    character = clip.character
    skeleton = character.skeleton
    left = np.cross(UP, character.front)
    partner = counterparts(character)
    W = skeleton.orientations(clip.rotations)
    W_rest = skeleton.orientations(skeleton.rest)
    q = rot.multiply(W, rot.conjugate(W_rest))
    xyz = 2.0 * np.sum(q[..., 1:] * left, axis=-1, keepdims=True) * left - q[..., 1:]
    turned = np.concatenate([q[..., :1], xyz], axis=-1)
    W_new = np.zeros_like(W)
    q = np.zeros_like(W)
    for j, parent in enumerate(skeleton.parents):
        W_parent = rot.IDENTITY if parent < 0 else W_new[:, parent]
        if partner[j] >= 0:
            W_new[:, j] = rot.multiply(turned[:, partner[j]], W_rest[j])
            q[:, j] = rot.multiply(rot.conjugate(W_parent), W_new[:, j])
        else:
            q[:, j] = clip.rotations[:, j]
            W_new[:, j] = rot.multiply(W_parent, q[:, j])
    root = clip.root - 2.0 * np.sum(clip.root * left, axis=-1, keepdims=True) * left
    return clip.with_(root=root, rotations=q)


def counterparts(character: Character) -> Array:
    """For each joint the one on the other side, itself in the middle, -1 where there is none, (J,).

    Known parts are paired by their roles, the rest by their names, then by where they are in the rest pose.
    """
    skeleton = character.skeleton
    partner = np.full(len(skeleton), -1)
    for name, j in character.roles.items():
        other = character.roles.get(_other_side(name))
        if other is not None:
            partner[j] = other
    index = {name: j for j, name in enumerate(skeleton.names)}
    for j, name in enumerate(skeleton.names):
        if partner[j] < 0:
            # names that the joint on the other side could have
            out = [name.replace(a, b) for pair in _SIDE_WORDS for a, b in (pair, pair[::-1]) if a in name]
            for a, b in (p for pair in _SIDE_LETTERS for p in (pair, pair[::-1])):
                # a letter that stands alone ('Bip01 L Foot', 'Foot.L', 'arm_L__4_') or in front ('lhipjoint')
                out.append(re.sub(rf"(?<![A-Za-z0-9]){a}(?![A-Za-z0-9])", b, name))
                if name.startswith(a):
                    out.append(b + name[1:])
            found = (index[n] for n in [n for n in out if n != name] if n in index and partner[index[n]] < 0)
            other = next(found, None)
            if other is not None:
                partner[j], partner[other] = other, j
    _pair_by_place(character, partner)
    return partner


def _other_side(role: str) -> str:
    if role.startswith("left_"):
        return "right_" + role[5:]
    return "left_" + role[6:] if role.startswith("right_") else role


def _pair_by_place(character: Character, partner: Array) -> None:
    """Joints still alone: in the middle they are their own partners, else the nearest in the mirror."""
    left = np.cross(UP, character.front)
    p = character.skeleton.T_rest[:, :3, 3]
    aside = (p - p[0]) @ left
    size = max(float(np.ptp(p[:, 2])), 1e-6)
    near = 0.02 * size
    alone = np.flatnonzero(partner < 0)
    for j in alone:
        if partner[j] >= 0:
            continue
        if abs(aside[j]) < near:
            partner[j] = j
            continue
        image = p[j] - 2.0 * aside[j] * left
        others = [k for k in alone if partner[k] < 0 and k != j]
        if others:
            k = min(others, key=lambda k: float(np.linalg.norm(p[k] - image)))
            if np.linalg.norm(p[k] - image) < near:
                partner[j], partner[k] = k, j
