"""Read and write BVH: hierarchy and motion of any dialect become a clip in metres, Z up.

Treatment of the format's oddities:
- Position channels are absolute: the joint's OFFSET is not added to them. On joints below the root they are
  taken as bone vectors of constant length; the largest deviation is noted.
- A root that only carries a moving hips joint (a 'reference' node) is folded into it.
- End Sites carry the length of the last bone. They become leaf joints named '<joint>_end', without motion of
  their own: so toes, head and fingers keep their length in every format that is written, and Blender draws
  them.
- Artificial first frames (T poses) stay in the clip and are counted in `Source.lead`.
- The 2010 conversion of CMU's library dropped the length of the bones that branch; `fix_rig` puts it back.

A clip that came from a BVH file keeps the file's unit, up axis, bone frames and rotation orders. Any other
is written in centimetres, Y up, order Z X Y. BVH has no rest rotations, so its zero pose is made the rest
pose: joint frames are taken as aligned with the world then, whatever frames the rig (from a GLB file, say)
has; joint positions are the same in every frame. Leaf joints named '<joint>_end' become End Sites; other
leaves get an End Site half as long as the bone before them, since many readers insist on one. The root's
OFFSET is zero: its channels are absolute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile
from elbowroom.files import conventions as conv
from elbowroom.files.atomic import writing
from elbowroom.files.bvh_text import DEFAULT_ORDER, RawBvh, RawJoint, parse_bvh
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.retarget import retarget

__all__ = ["read_bvh", "write_bvh"]


def read_bvh(
    path: str | Path,
    character: Character | None = None,
    *,
    units: float | None = None,
    up: str | None = None,
    fps: float | None = None,
    fix_rig: bool = False,
) -> Clip:
    """A BVH file as a clip on its own skeleton, or retargeted to `character`.

    units: metres per file unit; up: 'Y' or 'Z'; fps: frames per second. Missing values are guessed and
    noted in `clip.source.notes`. `fix_rig` puts back bone lengths that the CMU conversion is known to have
    dropped.
    """
    raw = parse_bvh(path)
    notes = list(raw.notes)
    names = _unique_names(raw.joints, notes)
    parents, offsets, root, q = _tracks(path, raw, notes)
    names = names[len(names) - len(parents) :]
    euler = {n: _order(j) for n, j in zip(names, raw.joints[-len(names) :], strict=True) if not j.is_end}

    lead = lead_frames(raw)
    if lead:
        frames = (
            "The first frame is an artificial pose" if lead == 1 else f"The first {lead} frames are artificial poses"
        )
        notes.append(f"{frames}, not motion; kept in place.")

    cmu = is_cmu_conversion(names, offsets)
    likely = ("the unit of CMU's skeletons, recognized by joint names and size", conv.CMU_UNIT) if cmu else None
    if units is None:
        units, note = conv.guess_units(conv.body_height(parents, offsets), likely)
        notes.append(note)
    units = conv.checked_units(units)
    offsets, root = offsets * units, root * units
    conv.check_bones(path, names, offsets)

    if cmu:
        offsets, note = restored_lengths(names, offsets, fix_rig)
        notes.append(note)
    if up is None:
        some = np.unique(np.linspace(lead, len(root) - 1, 60).astype(int))
        up, note = conv.guess_up(
            names, Skeleton(tuple(names), parents, offsets).forward(root[some], q[some])[..., :3, 3]
        )
        notes.append(note)
    up = conv.checked_up(up)
    offsets, root, q = (
        conv.turned_points(offsets, up),
        conv.turned_points(root, up),
        conv.turned_rotations(q, up),
    )

    rate = conv.rate_of(raw.frame_time) if fps is None else conv.checked_fps(fps)
    skeleton = Skeleton(tuple(names), parents, offsets)
    some = np.unique(np.linspace(lead, len(root) - 1, 64).astype(int))
    own = as_character(skeleton, name=Path(path).stem, poses=q[some])
    source = Source(str(path), "bvh", units, up, lead, euler)
    clip = Clip(own, rate, root, q, name=Path(path).stem, source=source)
    notes.append(_rate_note(raw.frame_time, rate, fps))
    if fps is None and (rate_note := conv.rate_note_of(clip)):
        notes.append(rate_note)
    clip = clip.with_(source=replace(source, notes=tuple(notes)))
    return clip if character is None else retarget(clip, character)


def _rate_note(frame_time: str, rate: float, override: float | None) -> str:
    if override is not None:
        return f"The file has a frame time of {frame_time} s; overridden with {rate:g} fps."
    return f"Rate: {rate:g} fps, from a frame time of {frame_time} s."


def _unique_names(joints: list[RawJoint], notes: list[str]) -> list[str]:
    """Joint names that differ; a name that comes again gets a number."""
    taken: set[str] = set()
    out: list[str] = []
    again: list[str] = []
    for joint in joints:
        name, k = joint.name, 1
        while name in taken:
            k += 1
            name = f"{joint.name}_{k}"
        if k > 1 and not joint.is_end:
            again.append(f"'{joint.name}' -> '{name}'")
        taken.add(name)
        out.append(name)
    if again:
        notes.append(f"Duplicate joint names were numbered: {', '.join(again[:10])}.")
    return out


def _order(joint: RawJoint) -> str:
    """Rotation order of three letters; axes without a channel come last, where they stay zero."""
    given = "".join("XYZ"[axis] for _, axis in joint.rotations)
    return given + "".join(a for a in DEFAULT_ORDER if a not in given)


def _tracks(path: str | Path, raw: RawBvh, notes: list[str]) -> tuple[NDArray[np.int32], Array, Array, Array]:
    """Parents, offsets (J, 3), root (T, 3), local rotations (T, J, 4) in the file's units and axes."""
    joints, motion = raw.joints, raw.motion
    parents = np.array([j.parent for j in joints], dtype=np.int32)
    offsets = np.array([j.offset for j in joints], dtype=float)
    q = np.zeros((len(motion), len(joints), 4))
    for k, joint in enumerate(joints):
        q[:, k] = conv.euler_to_quaternions([a for _, a in joint.rotations], motion[:, [c for c, _ in joint.rotations]])
    root = _places(joints[0], motion)

    while _only_carries(joints, parents, motion):
        notes.append(f"Root '{joints[0].name}' only carries '{joints[1].name}' and was merged into it.")
        root = root + rot.rotate(q[:, 0], _places(joints[1], motion))
        q[:, 1] = rot.multiply(q[:, 0], q[:, 1])
        joints, parents, offsets, q = joints[1:], parents[1:] - 1, offsets[1:], q[:, 1:]
    offsets[0] = 0.0

    worst, where = 0.0, ""
    for k, joint in enumerate(joints[1:], start=1):
        if joint.positions:
            track = _places(joint, motion)
            offsets[k] = np.median(track, axis=0)
            off = float(np.linalg.norm(track - offsets[k], axis=1).max())
            if not where or off > worst:
                worst, where = off, joint.name
    if where:
        notes.append(
            "Joints below the root have position channels; bones are assumed rigid, with each channel's "
            f"median (largest deviation {worst:.3g} file units, at '{where}')."
        )
    if len(joints) < 2:
        raise BadFile(path, "has a root and no other joint", would_do="a character needs limbs")
    return parents, offsets, root, q


def _places(joint: RawJoint, motion: Array) -> Array:
    """Position of a joint in its parent's frame, (T, 3): its channels, or OFFSET for an axis without one.

    Some writers put zeros into the channels and mean the OFFSET: then it is used.
    """
    assert joint.offset is not None  # the parser lets none through
    out = np.tile(joint.offset, (len(motion), 1))
    columns = [c for c, _ in joint.positions]
    if joint.parent < 0 or np.any(motion[:, columns]):
        for column, axis in joint.positions:
            out[:, axis] = motion[:, column]
    return out


def _only_carries(joints: list[RawJoint], parents: NDArray[np.int32], motion: Array) -> bool:
    """Return whether the root's only child carries the translation."""
    if len(joints) < 3 or np.count_nonzero(parents == 0) != 1 or not joints[1].positions:
        return False
    moves = np.ptp(_places(joints[1], motion), axis=0).max()
    return bool(moves > max(np.ptp(_places(joints[0], motion), axis=0).max(), 1e-3))


def lead_frames(raw: RawBvh) -> int:
    """Number of artificial frames at the start: whole degrees, mostly zero, then a jump."""
    columns = [c for joint in raw.joints for c, _ in joint.rotations]
    angles = raw.motion[:, columns]
    if len(angles) < 3 or not columns:
        return 0
    first = angles[:10]
    whole = np.all(np.abs(first - np.round(first)) < 1e-4, axis=1) & (np.mean(np.abs(first) < 1e-4, axis=1) > 0.6)
    lead = int(np.argmin(whole)) if not whole.all() else 0
    if lead == 0 or lead >= len(angles) - 1:
        return 0
    turn = np.abs((angles[1:] - angles[:-1] + 180.0) % 360.0 - 180.0).max(axis=1)
    return lead if turn[lead - 1] > max(5.0, 2.0 * float(np.median(turn[lead:]))) else 0


_THORAX_PER_SPINE = 1.01
_THORAX_FORWARD = np.array([0.0, 0.0, 0.04])
_WRIST_PER_FOREARM = 0.5
_ON_THORAX = ("Neck", "LeftShoulder", "RightShoulder")
_ON_WRIST = {"LeftHand": ("LeftFingerBase", "LThumb"), "RightHand": ("RightFingerBase", "RThumb")}


def is_cmu_conversion(names: Sequence[str], offsets: Array) -> bool:
    """Return whether a skeleton is that of the conversion, by joint names and CMU's size (offsets in file units)."""
    known = {"Hips", "LHipJoint", "RHipJoint", "LowerBack", "Spine", "Spine1", *_ON_THORAX, *_ON_WRIST}
    if not known <= set(names):
        return False
    return 1.0 < float(np.linalg.norm(offsets[list(names).index("Spine1")])) < 3.0


def restored_lengths(names: Sequence[str], offsets: Array, fix: bool) -> tuple[Array, str]:
    """Offsets (J, 3) in metres, Y up, with the dropped lengths put back if `fix`; and the sentence on it."""
    index = {n: j for j, n in enumerate(names)}
    spine = offsets[index["Spine1"]]
    thorax = _THORAX_PER_SPINE * spine + _THORAX_FORWARD * np.linalg.norm(spine)
    missing = dict.fromkeys(_empty(index, offsets, _ON_THORAX), thorax)
    for hand, ends in _ON_WRIST.items():
        missing |= dict.fromkeys(_empty(index, offsets, ends), _WRIST_PER_FOREARM * offsets[index[hand]])
    if not missing:
        return offsets, "The rig is that of the CMU conversion, with thorax and wrist lengths in place."
    if not fix:
        return offsets, (
            "The CMU conversion dropped the lengths of thorax and wrists: arms and head sit 11 to 13 cm too "
            "low, hands 10 cm too close to the elbow (option to restore them: fix-rig)."
        )
    out = offsets.copy()
    for j, vector in missing.items():
        out[j] = vector
    length = float(np.linalg.norm(out[index["Neck"]]))
    return (
        out,
        f"Thorax ({100 * length:.1f} cm) and wrist lengths that the CMU conversion dropped were restored.",
    )


def _empty(index: dict[str, int], offsets: Array, names: Sequence[str]) -> list[int]:
    return [index[n] for n in names if n in index and not np.any(offsets[index[n]])]


# Positions are written to this, metres; angles to 1e-6 degrees, which is 2e-8 m at a metre's distance.
_FINEST = 1e-8
# Below this cosine of the middle angle the outer two angles turn about one line.
_GIMBAL = 1e-6


def write_bvh(path: str | Path, clip: Clip) -> None:
    """Write a clip; all or nothing."""
    with writing(path) as (stand_in,):
        stand_in.write_text(bvh_text(clip), encoding="utf-8", newline="\n")


def bvh_text(clip: Clip) -> str:
    """The text of a BVH file."""
    skeleton, source = clip.character.skeleton, clip.source
    ends = end_sites(skeleton)
    # joints in the order in which a hierarchy names them; a skeleton's own order may mix branches
    order: list[int] = []
    todo = [0]
    while todo:
        order.append(todo.pop())
        todo += reversed(skeleton.children[order[-1]])
    moving = [j for j in order if j not in ends]  # columns follow the hierarchy's text
    from_bvh = source.format == "bvh" and all(skeleton.names[j] in source.euler for j in moving)
    units, up = (source.units, source.up) if from_bvh else (0.01, "Y")
    offsets, q = (skeleton.offsets, clip.rotations) if from_bvh else _in_rest_frames(clip)
    offsets = conv.file_points(offsets, up) / units
    digits = max(math.ceil(math.log10(units / _FINEST)), 2)

    orders = [source.euler.get(skeleton.names[j], DEFAULT_ORDER) if from_bvh else DEFAULT_ORDER for j in moving]
    columns = [conv.file_points(clip.root, up) / units]
    local = conv.file_rotations(q, up)
    columns += [np.degrees(continuous_euler(order, local[:, j])) for j, order in zip(moving, orders, strict=True)]
    row = " ".join([f"%.{digits}f"] * 3 + ["%.6f"] * (3 * len(moving)))
    table = np.concatenate(columns, axis=1)
    table[np.abs(table) < 0.5 * 10.0 ** -max(digits, 6)] = 0.0  # no '-0.000000'
    lines = _hierarchy(skeleton, offsets, dict(zip(moving, orders, strict=True)), ends, digits)
    lines += ["MOTION", f"Frames: {len(clip)}", f"Frame Time: {1.0 / clip.fps:.10f}"]
    lines += [row % tuple(values) for values in table.tolist()]
    return "\n".join(lines) + "\n"


def end_sites(skeleton: Skeleton) -> frozenset[int]:
    """Leaf joints that stand for End Sites: named after their parent, with '_end'."""
    return frozenset(
        j
        for j, (name, p) in enumerate(zip(skeleton.names, skeleton.parents, strict=True))
        if p >= 0 and not skeleton.children[j] and name.startswith(f"{skeleton.names[p]}_end")
    )


def _in_rest_frames(clip: Clip) -> tuple[Array, Array]:
    """Offsets (J, 3) and rotations (T, J, 4) for joint frames that are world-aligned in the rest pose.

    With W the world orientation at rest: offset' = W_parent offset, q' = W_parent q W^-1.
    """
    skeleton = clip.character.skeleton
    W = rot.from_matrix(skeleton.T_rest[:, :3, :3])
    W_parent = W[np.maximum(skeleton.parents, 0)].copy()
    W_parent[0] = rot.IDENTITY
    offsets = rot.rotate(W_parent, skeleton.offsets)
    return offsets, rot.multiply(rot.multiply(W_parent, clip.rotations), rot.conjugate(W))


def _hierarchy(
    skeleton: Skeleton, offsets: Array, orders: dict[int, str], ends: frozenset[int], digits: int
) -> list[str]:
    lines = ["HIERARCHY"]
    todo: list[tuple[int, int]] = [(0, 0)]  # joint, or -1 to close a brace; depth
    while todo:
        j, depth = todo.pop()
        tab = "\t" * depth
        if j < 0:
            lines.append(f"{tab}}}")
            continue
        here = np.zeros(3) if j == 0 else offsets[j]
        if j in ends:
            lines += _end_site(tab, here, digits)
            continue
        channels = "".join(f" {a}rotation" for a in orders[j])
        lines += [
            f"{tab}{'JOINT' if j else 'ROOT'} {skeleton.names[j]}",
            f"{tab}{{",
            f"{tab}\t{_offset(here, digits)}",
        ]
        if j == 0:
            lines.append(f"{tab}\tCHANNELS 6 Xposition Yposition Zposition{channels}")
        else:
            lines.append(f"{tab}\tCHANNELS 3{channels}")
        if not skeleton.children[j]:
            lines += _end_site(f"{tab}\t", 0.5 * here, digits)
        todo.append((-1, depth))
        todo += [(child, depth + 1) for child in reversed(skeleton.children[j])]
    return lines


def _end_site(tab: str, offset: Array, digits: int) -> list[str]:
    return [f"{tab}End Site", f"{tab}{{", f"{tab}\t{_offset(offset, digits)}", f"{tab}}}"]


def _offset(offset: Array, digits: int) -> str:
    return "OFFSET " + " ".join(f"{v + 0.0:.{digits}f}" for v in offset)


def continuous_euler(order: str, q: Array) -> Array:
    """Intrinsic Euler angles (T, 3), radians, of rotations (T, 4), without jumps from frame to frame.

    Of the two ways to write a rotation each frame takes the one nearer to the frame before, whole turns
    included. Where the middle angle is a right angle only a sum of the outer two is fixed: the first one is
    held then.
    """
    angles = rot.to_euler(order, q)
    unwrapped = np.unwrap(angles, axis=0)
    locked = np.abs(np.cos(angles[:, 1])) < _GIMBAL
    if len(angles) < 2 or (not locked.any() and np.abs(np.diff(unwrapped, axis=0)).max() < np.pi / 3):
        return unwrapped  # the other way to write each frame is farther off
    parity = 1.0 if order in ("XYZ", "YZX", "ZXY") else -1.0
    turn = 2.0 * np.pi
    for k in range(1, len(angles)):
        before, now = angles[k - 1], angles[k]
        if locked[k]:
            shift = before[0] - now[0]
            now = now + np.array([shift, 0.0, -parity * np.sign(np.sin(now[1])) * shift])
        other = np.array([now[0] + np.pi, np.pi - now[1], now[2] + np.pi])
        ways = np.stack([now, other])
        ways -= turn * np.round((ways - before) / turn)
        angles[k] = ways[np.argmin(np.abs(ways - before).sum(axis=1))]
    return angles
