"""Joint positions over time, (T, 22, 3) in an NPY file, as HumanML3D and motion generators have them: read and written.

The joints are those of SMPL's body. A skeleton is fitted to them: bones as long as they are on average, rotations by
which it follows the positions; elbows and knees bend about their anatomical axes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile
from elbowroom.files.atomic import writing
from elbowroom.files.conventions import (
    body_height,
    checked_fps,
    checked_units,
    checked_up,
    file_points,
    guess_units,
    guess_up,
    turned_points,
)
from elbowroom.files.npz_arrays import DAMAGED
from elbowroom.files.smpl import LAYOUTS, layout_skeleton
from elbowroom.files.text import check_regular
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import MOST_FRAMES, Clip, Source

FORMAT = "joint positions"
_JOINTS = 22
_DEFAULT_FPS = 20.0  # HumanML3D
_WANTED = "expected positions (T, 22, 3) of SMPL's joints"
# Sine of the bend of an elbow or knee from which its plane is trusted.
_BENT = 0.17
# Rounds in which joints with several children and their offsets are fitted to each other; the third changes nothing.
_ROUNDS = 4
# A bone this much shorter than the longest has no length; these joints may be at the place of their parents, as in the
# skeletons of CMU.
_SAME = 1e-4
_LOOSE = 0.01  # weight of what is beyond such a joint, which moves against it, in the rotation of its parent
_MAY_COINCIDE = ("spine1", "spine2", "spine3", "neck", "left_collar", "right_collar")
# Distance from the given positions that is worth a note, metres.
_OFF_M = 0.005


def read_joint_positions(
    path: str | Path, *, units: float | None = None, up: str | None = None, fps: float | None = None
) -> Clip:
    """Read joint positions as a clip of a skeleton that is fitted to them.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'; frame rate 20 per second, as in HumanML3D, unless given.
    """
    path = Path(path)
    points = _points(path)
    names = tuple(name for name, _, _ in LAYOUTS[_JOINTS])
    notes: list[str] = []
    if fps is None:
        notes.append(f"Frame rate assumed: {_DEFAULT_FPS:g} per second, as in HumanML3D (option: fps).")
    if up is None:
        up, note = guess_up(names, points)
        notes.append(note)
    axis = checked_up(up)
    flat = layout_skeleton(_JOINTS)
    lengths = _lengths(flat, points)
    same = [name for name, at in zip(names, _at_parent(lengths), strict=True) if at and name not in _MAY_COINCIDE]
    if same or not lengths.any():
        text = f"has joints at the same position as their parents: {', '.join(same or names[1:])}"
        raise BadFile(path, text, would_do=_WANTED)
    if units is None:
        units, note = guess_units(body_height(flat.parents, lengths[:, None] * [1.0, 0.0, 0.0]), ("metres", 1.0))
        notes.append(note)
    places = turned_points(points, axis) * checked_units(units)
    skeleton, q = _fitted(flat, places)
    off = float(np.linalg.norm(skeleton.forward(places[:, 0], q)[..., :3, 3] - places, axis=-1).max())
    if off > _OFF_M:
        notes.append(f"Bone lengths change in the file; joints are up to {1000 * off:.0f} mm off.")
    character = as_character(skeleton, name=path.stem, poses=q[:: max(1, len(q) // 200)])
    source = Source(str(path), FORMAT, float(units), axis, notes=tuple(notes))
    rate = _DEFAULT_FPS if fps is None else checked_fps(fps)
    return Clip(character, rate, places[:, 0], q, name=path.stem, source=source)


def write_joint_positions(path: str | Path, clip: Clip, source: Source | None = None) -> None:
    """Write the positions (T, 22, 3) of a clip's joints, in the units and axes of the source if it was such a file.

    Otherwise metres and Y up. Raises `BadFile` if the body lacks one of the joints.
    """
    roles = clip.character.roles
    lacking = [role for _, _, role in LAYOUTS[_JOINTS] if role not in roles]
    if lacking:
        raise BadFile(path, f"needs joints that the body lacks: {', '.join(lacking)}", would_do="write .glb or .npz")
    units, up = (source.units, source.up) if source is not None and source.format == FORMAT else (1.0, "Y")
    places = clip.positions()[:, [roles[role] for _, _, role in LAYOUTS[_JOINTS]]]
    with writing(path) as (stand_in,), open(stand_in, "wb") as file:
        np.save(file, (file_points(places, up) / units).astype(np.float32))


def _points(path: Path) -> Array:
    """Numbers (T, 22, 3) of a file, checked before memory is taken for them."""
    size = check_regular(path)
    try:
        with open(path, "rb") as file:
            version = npy.read_magic(file)
            read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, dtype = read_header(file)
            if dtype.hasobject or dtype.kind not in "iuf":
                raise BadFile(path, f"holds '{dtype}' in place of numbers", would_do=_WANTED)
            if int(np.prod([int(n) for n in shape], dtype=object)) * dtype.itemsize > size:
                raise BadFile(path, f"claims the shape {shape} in {size} bytes", would_do="it may be truncated")
            file.seek(0)
            array = npy.read_array(file, allow_pickle=False)
    except DAMAGED as error:
        text = str(error).split("\n")[0][:80]
        raise BadFile(path, f"is not an NPY file of numbers ({text})", would_do=_WANTED) from None
    if array.ndim == 2 and array.shape[1] == 3 * _JOINTS:
        array = array.reshape(-1, _JOINTS, 3)
    if array.ndim == 2 and array.shape[1] == 263:
        raise BadFile(path, "holds HumanML3D's features of 263 numbers", would_do="give the joint positions instead")
    if array.ndim != 3 or array.shape[1:] != (_JOINTS, 3):
        raise BadFile(path, f"has the shape {array.shape}", would_do=_WANTED)
    if not 0 < len(array) <= MOST_FRAMES:
        raise BadFile(path, f"has {len(array):,} frames", would_do=f"1 to {MOST_FRAMES:,} are read")
    if not np.all(np.abs(array.astype(float)) < 1e6):  # false for NaN, too
        raise BadFile(path, "contains numbers that are too large or not finite")
    return array.astype(float)


def _lengths(skeleton: Skeleton, points: Array) -> Array:
    """Median distance (J,) of each joint from its parent."""
    away = np.linalg.norm(points - points[:, skeleton.parents], axis=-1)
    return np.concatenate([[0.0], np.median(away[:, 1:], axis=0)])


def _at_parent(lengths: Array) -> NDArray[np.bool_]:
    """Mask of joints (J,) that, with bones of these lengths, are at the place of their parents; never the root."""
    return np.concatenate([[False], lengths[1:] < _SAME * lengths.max()])


def _fitted(flat: Skeleton, places: Array) -> tuple[Skeleton, Array]:
    """Skeleton with the bones of the positions (T, J, 3), and local rotations (T, J, 4) that follow them."""
    lengths = _lengths(flat, places)
    # a joint at the place of its parent hands on the next one, `ends`, which keeps its direction from where both are
    merged, ends, above = _at_parent(lengths), np.arange(len(lengths)), np.array(flat.parents)
    for j in range(1, len(lengths)):
        above[j] = above[above[j]] if merged[above[j]] else above[j]
    for j in reversed(np.flatnonzero(merged)):
        ends[j] = ends[flat.children[j][0]]
    rest = flat.T_rest[:, :3, 3]
    offsets = np.array(flat.offsets)
    offsets[1:] = rot.normalize(rest[1:] - rest[above[1:]]) * np.where(merged, 0.0, lengths)[1:, None]
    W = np.tile(rot.IDENTITY, (*places.shape[:2], 1))
    for j, children in enumerate(flat.children):
        turned = W[:, flat.parents[j]] if j else W[:, 0]
        if len(children) > 1:
            ahead, rigid = ends[list(children)], ~merged[list(children)]
            weight = np.where(rigid, 1.0, _LOOSE)[:, None]
            W[:, j], fitted = _branching(weight * offsets[ahead], weight * (places[:, ahead] - places[:, [j]]))
            offsets[ahead[rigid]] = fitted[rigid]
        elif children:
            child = ends[children[0]]
            bone = places[:, child] - places[:, j]
            W[:, j] = rot.multiply(rot.arc(rot.rotate(turned, offsets[child]), bone), turned)
            grandchild = next(iter(flat.children[child]), -1)
            axis = _HINGES.get(flat.names[child])
            if axis is not None and grandchild >= 0:
                after = places[:, grandchild] - places[:, child]
                W[:, j] = _about_hinge(W[:, j], bone, after, np.array(axis))
        else:
            W[:, j] = turned
    low = Skeleton(flat.names, flat.parents, offsets).T_rest[:, 2, 3].min()
    offsets[0, 2] -= low
    skeleton = Skeleton(flat.names, flat.parents, offsets)
    return skeleton, skeleton.local(W)


# Axis about which the joint bends in the T pose: the bone after it turns from the bone before it by a positive angle.
_HINGES = {
    "left_knee": (-1.0, 0.0, 0.0),
    "right_knee": (-1.0, 0.0, 0.0),
    "left_elbow": (0.0, 0.0, -1.0),
    "right_elbow": (0.0, 0.0, 1.0),
}


def _branching(offsets: Array, vectors: Array) -> tuple[Array, Array]:
    """World rotations (T, 4) of a joint with several children, and their offsets (C, 3), from vectors (T, C, 3)."""
    q = np.tile(rot.IDENTITY, (len(vectors), 1))
    for _ in range(_ROUNDS):
        u, _s, vt = np.linalg.svd(np.einsum("tci,cj->tij", vectors, offsets))
        flip = np.sign(np.linalg.det(u @ vt))
        u[:, :, 2] *= flip[:, None]
        R = u @ vt
        offsets = np.einsum("tij,tci->cj", R, vectors) / len(vectors)
        q = rot.from_matrix(R)
    return q, offsets


def _about_hinge(W: Array, bone: Array, after: Array, axis: Array) -> Array:
    """World rotations (T, 4) turned about the bone (T, 3) so that the next (T, 3) bends about the hinge's axis (3,).

    Where the limb is nearly straight, the turn is that of the frames around.
    """
    along = rot.normalize(bone)
    bend = np.cross(along, rot.normalize(after))
    sine = np.linalg.norm(bend, axis=-1)
    trusted = np.flatnonzero(sine > _BENT)
    if not len(trusted):
        return W
    hinge = rot.rotate(W, axis)
    hinge = rot.normalize(hinge - along * np.sum(hinge * along, axis=-1, keepdims=True))
    turn = np.arctan2(np.sum(np.cross(hinge, bend) * along, axis=-1), np.sum(hinge * bend, axis=-1))
    turn = np.interp(np.arange(len(W)), trusted, np.unwrap(turn[trusted]))
    return rot.multiply(rot.exp(along * turn[:, None]), W)
