"""Write BVH.

A clip that came from a BVH file keeps the file's unit, up axis, bone frames and rotation orders. Any other
is written in centimetres, Y up, order Z X Y. BVH has no rest rotations, so its zero pose is made the rest
pose: joint frames are taken as aligned with the world then, whatever frames the rig (from a GLB file, say)
has; joint positions are the same in every frame. Leaf joints named '<joint>_end' become End Sites; other
leaves get an End Site half as long as the bone before them, since many readers insist on one. The root's
OFFSET is zero: its channels are absolute.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from elbowroom.character.skeleton import Skeleton
from elbowroom.files import conventions as conv
from elbowroom.files.atomic import writing
from elbowroom.files.bvh_text import DEFAULT_ORDER
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip

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
    moving = [j for j in _depth_first(skeleton) if j not in ends]  # columns follow the hierarchy's text
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


def _depth_first(skeleton: Skeleton) -> list[int]:
    """Joints in the order in which a hierarchy names them; a skeleton's own order may mix branches."""
    order: list[int] = []
    todo = [0]
    while todo:
        order.append(todo.pop())
        todo += reversed(skeleton.children[order[-1]])
    return order


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
