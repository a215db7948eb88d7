"""Motion in a limb's space: points for distances, parts moved by joints, parts that move past the limb."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.world.fast import LimbCheck


def places_of(check: LimbCheck) -> NDArray[np.int64]:
    """Joints of the limb, as the check counts them, that are searched, (n,)."""
    return np.array([np.flatnonzero(check.limb.source == k)[0] for k in range(len(check.joints))], np.int64)


def moves_of(check: LimbCheck) -> NDArray[np.bool_]:
    """Return whether searched joints move pieces, (E, n)."""
    out = np.zeros((len(check.limb.joint), len(check.joints)), dtype=bool)
    for e, joint in enumerate(check.limb.joint):
        while joint >= 0:
            if check.limb.source[joint] >= 0:
                out[e, check.limb.source[joint]] = True
            joint = check.limb.parent[joint]
    return out


def marks_of(check: LimbCheck) -> tuple[NDArray[np.int64], Array]:
    """Marks of a limb: where its joints are but the first, the end of the last one's pieces, and their side.

    Without the side a turn of the palm would be no way at all.
    """
    searched = places_of(check).tolist()
    joints, places = [], []
    for i in searched[1:]:
        joints.append(i)
        places.append(np.zeros(3))
    end = searched[-1]
    carried = [e for e, j in enumerate(check.limb.joint) if j == end]
    if not carried:
        return np.array(joints or [end], np.int64), np.array(places or [np.zeros(3)])
    balls = check.limb.sphere[carried]
    far = np.linalg.norm(balls[:, :3], axis=1)
    center, radius = balls[np.argmax(far), :3], float(balls[np.argmax(far), 3])
    along = center / np.linalg.norm(center) if np.linalg.norm(center) > 1e-6 else np.array([1.0, 0.0, 0.0])
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    joints += [end, end]
    places += [center + radius * along, center + radius * across / np.linalg.norm(across)]
    return np.array(joints, np.int64), np.array(places)


def fastest(check: LimbCheck) -> float:
    """Most metres a second that the limb is carried."""
    carried, times = check.tables.travelled, check.tables.times
    return float((np.diff(carried) / np.diff(times)).max()) if len(times) > 1 else 0.0


def stirred(check: LimbCheck) -> Array:
    """Metres (S,) that things within reach have moved past the limb's base since the first row, where they are faster
    than what carries it: how far points of them come nearer, on top of the limb's own way."""
    tables = check.tables
    rows = len(tables.times)
    if rows < 2 or not tables.placed.shape[1]:
        return np.zeros(rows)
    turn, at = tables.base[:, :, :3], tables.base[:, :, 3]
    center = np.einsum("sji,smj->smi", turn, tables.center - at[:, None])
    turned = np.einsum("smij,sjk->smik", tables.placed[..., :3], turn)
    bound = check.around.bound[: center.shape[1]]
    step = np.linalg.norm(np.diff(center, axis=0), axis=2)
    step += np.linalg.norm(np.diff(turned, axis=0), axis=(2, 3)) * bound
    near = np.arange(center.shape[1]) < tables.near_count[:-1, None]
    steps = np.where(near, np.take_along_axis(step, tables.near[:-1].astype(np.int64), axis=1), 0.0).max(axis=1)
    return np.concatenate([[0.0], np.cumsum(np.maximum(steps - np.diff(tables.travelled), 0.0))])
