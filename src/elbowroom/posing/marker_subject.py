"""The body of a person who wore markers: its size, bone lengths and where the markers sat, from a recording.

Postures and body are found in turns. With postures given, marker positions are linear in bone lengths and in marker
offsets, and least squares give both; bodies are those of `human`, so that lengths stay constant and symmetric.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.anthropometry import HEIGHT_RANGE, SCALE_RANGE, Scales, proportions
from elbowroom.character.body import Character, Marker
from elbowroom.character.human import human
from elbowroom.character.human_joints import human_skeleton
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.kernels import pose as pose_kernels
from elbowroom.motion.retarget_pose import is_finger, relaxed
from elbowroom.posing.whole_body import WholeBody

# Sizes that are fitted; hands, feet and head have too few markers to tell their size.
_FITTED = ("leg", "arm", "trunk", "shoulder", "hip")

# Distances of markers on one bone, which tell a person's size before anything else is known.
_SPANS = (("LKNE", "LANK"), ("RKNE", "RANK"), ("LELB", "LWRA"), ("RELB", "RWRA"), ("LSHO", "RSHO"), ("LTHI", "LKNE"))

# Markers of the trunk, by which a body is first put in place; and how many of all must be seen for a frame to be used.
TRUNK = ("LFWT", "RFWT", "LBWT", "RBWT", "C7", "T10", "CLAV", "STRN")
LEAST_TRUNK, LEAST_MARKERS = 4, 18

# Frames that the body is fitted to, and how often; tuned on ACCAD: more change residuals by less than 0.2 mm.
_FRAMES, _ROUNDS = 40, 6
# Weight of a marker's usual place on the body, and of usual proportions, against that of one frame.
_USUAL_PLACE, _USUAL_SIZE = 2.0, 0.05
# A marker this far off counts half, metres: some jump or are swapped.
_FAR_M = 0.04
_STEP = 1e-4
# Weight of the frame before, against that of the markers: enough for what they do not tell.
_STAY = 0.05


@dataclass(frozen=True, eq=False)
class Subject:
    """A person as `human` makes them: height (m), scales, and marker offsets (41, 3) in the frames of their joints."""

    height: float
    scales: Scales
    offsets: Array

    def body(self, name: str = "subject", skin: bool = True) -> Character:
        """The character, with the markers where the person wore them."""
        plain = _human(self.height, self.scales, name, skin)
        worn = {label: Marker(plain.markers[label].joint, frozen(self.offsets[k])) for k, label in enumerate(MARKERS)}
        return plain.with_(markers=worn)


def marker_solver(body: Character) -> WholeBody:
    """Inverse kinematics in which all limbs and the head follow markers."""
    ends = tuple(WholeBody(body).ends)
    return WholeBody(body, (), free=ends, head=True, stay=_STAY)


def first_pose(body: Character, markers: Array) -> Pose:
    """A posture to start from: arms hanging, the trunk where its markers (41, 3) are."""
    rotations = np.array(body.skeleton.rest)
    for role, j in body.roles.items():
        limit = body.limits[j]
        if is_finger(role):
            rotations[j] = relaxed(body, role)
        elif role.endswith("_upper_arm") and limit is not None:
            rotations[j] = limit.rotation([np.radians(75.0), 0.0, 0.0])
    mine = marker_positions(body, body.T_rest)
    rows = [k for k in (MARKERS.index(label) for label in TRUNK) if bool(np.isfinite(markers[k]).all())]
    a, b = mine[rows], markers[rows]
    u, _, vt = np.linalg.svd((a - a.mean(axis=0)).T @ (b - b.mean(axis=0)))
    turn = vt.T @ np.diag([1.0, 1.0, np.sign(np.linalg.det(vt.T @ u.T))]) @ u.T
    rotations[0] = from_matrix(turn @ body.T_rest[0, :3, :3])
    return Pose.of(b.mean(axis=0) + turn @ (body.T_rest[0, :3, 3] - a.mean(axis=0)), rotations)


def seen_in(markers: Array) -> NDArray[np.bool_]:
    """Which of the markers (..., 3) are seen, (...)."""
    return np.asarray(np.isfinite(markers).all(axis=-1))


def usable(markers: Array) -> NDArray[np.bool_]:
    """Frames (T,) of markers (T, 41, 3) in which enough are seen to place the body."""
    seen = seen_in(markers)
    trunk = seen[:, [MARKERS.index(label) for label in TRUNK]].sum(axis=1)
    return np.asarray((trunk >= LEAST_TRUNK) & (seen.sum(axis=1) >= LEAST_MARKERS))


def fit_subject(markers: Array) -> Subject:
    """Body of the person who wore the markers (T, 41, 3), metres, NaN where they were not seen."""
    frames = np.flatnonzero(usable(markers))
    if not len(frames):
        raise BadValue(
            f"no frame shows {LEAST_MARKERS} of the 41 markers with {LEAST_TRUNK} of the trunk; "
            "a body needs that many to be placed."
        )
    frames = frames[np.unique(np.linspace(0, len(frames) - 1, _FRAMES).round().astype(int))]
    chosen = markers[frames]
    height = float(np.clip(_size(chosen), *HEIGHT_RANGE))
    subject = Subject(height, Scales(), _offsets(_human(height, Scales())))
    poses: list[Pose] = []
    for _ in range(_ROUNDS):
        poses = _posed(subject.body(skin=False), chosen, poses)
        subject = _refined(subject, chosen, poses)
    return subject


def _human(height: float, scales: Scales, name: str = "subject", skin: bool = False) -> Character:
    sizes = {f"{part}_scale": getattr(scales, part) for part in _FITTED}
    return human(height, name=name, skin=skin, **sizes)  # type: ignore[arg-type]


def _offsets(body: Character) -> Array:
    return np.array([body.markers[label].offset for label in MARKERS])


def _size(markers: Array) -> float:
    """Height of a person by distances of markers on one bone, metres."""
    body = human(1.7, skin=False)
    mine = marker_positions(body, body.T_rest)
    ratios = []
    for one, other in _SPANS:
        a, b = MARKERS.index(one), MARKERS.index(other)
        spans = np.linalg.norm(markers[:, a] - markers[:, b], axis=-1)
        if np.isfinite(spans).any():
            ratios.append(float(np.nanmedian(spans)) / float(np.linalg.norm(mine[a] - mine[b])))
    return 1.7 * float(np.median(ratios)) if ratios else 1.7


def _posed(body: Character, markers: Array, before: list[Pose]) -> list[Pose]:
    """Postures of the body at the markers (K, 41, 3), each from the one before it or from an earlier one."""
    solver = marker_solver(body)
    out: list[Pose] = []
    for k, places in enumerate(markers):
        start = before[k] if before else (first_pose(body, places) if not out else _moved(body, out[-1], places))
        out.append(solver.solve(start, {}, places).pose)
    return out


def _moved(body: Character, pose: Pose, markers: Array) -> Pose:
    """A posture put where the trunk's markers are."""
    placed = first_pose(body, markers)
    rotations = np.array(pose.rotations)
    rotations[0] = placed.rotations[0]
    return Pose.of(placed.root, rotations)


def _refined(subject: Subject, markers: Array, poses: list[Pose]) -> Subject:
    """Sizes and marker offsets by least squares, for postures as they are."""
    body = subject.body(skin=False)
    root, rotations = np.stack([p.root for p in poses]), np.stack([p.rotations for p in poses])
    T = body.skeleton.forward(root, rotations)
    joints = [body.markers[label].joint for label in MARKERS]
    off = markers - marker_positions(body, T)
    seen = seen_in(off)
    off = np.where(seen[..., None], off, 0.0)
    weight = seen / np.sqrt(1.0 + (np.linalg.norm(off, axis=-1) / _FAR_M) ** 2)
    count, cells = len(off), 1 + len(_FITTED) + 3 * len(MARKERS)
    slopes = np.zeros((count, len(MARKERS), 3, cells))
    slopes[..., : 1 + len(_FITTED)] = _by_size(subject, body, rotations, joints)
    for m, j in enumerate(joints):
        first = 1 + len(_FITTED) + 3 * m
        slopes[:, m, :, first : first + 3] = T[:, j, :3, :3]
    # where the root is does not matter: all is taken against the mean of a frame
    share = (weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-9))[..., None]
    off = off - (share * off).sum(axis=1, keepdims=True)
    slopes = slopes - (share[..., None] * slopes).sum(axis=1, keepdims=True)
    rows = (weight[..., None, None] * slopes).reshape(-1, cells)
    normal, pull = rows.T @ rows, rows.T @ (weight[..., None] * off).reshape(-1)
    usual = np.full(cells, _USUAL_PLACE)
    usual[: 1 + len(_FITTED)] = _USUAL_SIZE * count
    wished = np.zeros(cells)
    wished[1 : 1 + len(_FITTED)] = [1.0 - getattr(subject.scales, part) for part in _FITTED]
    usual[0] = 0.0
    wished[1 + len(_FITTED) :] = (_offsets(_human(subject.height, subject.scales)) - subject.offsets).reshape(-1)
    step = np.linalg.solve(normal + np.diag(usual + 1e-9), pull + usual * wished)
    scales = {
        part: float(np.clip(getattr(subject.scales, part) + step[1 + k], *SCALE_RANGE))
        for k, part in enumerate(_FITTED)
    }
    height = float(np.clip(subject.height + step[0], *HEIGHT_RANGE))
    return Subject(height, replace(subject.scales, **scales), subject.offsets + step[1 + len(_FITTED) :].reshape(-1, 3))


def _by_size(subject: Subject, body: Character, rotations: Array, joints: list[int]) -> Array:
    """Derivatives of the joints' positions by height and scales, (K, 41, 3, 6)."""
    zero = np.zeros((len(rotations), 3))
    out = []
    for part in ("height", *_FITTED):
        height = subject.height + (_STEP if part == "height" else 0.0)
        changed = {} if part == "height" else {part: getattr(subject.scales, part) + _STEP}
        longer = human_skeleton(proportions(height, scales=replace(subject.scales, **changed))).offsets
        slope = frozen((longer - body.skeleton.offsets) / _STEP * np.array([[0.0]] + [[1.0]] * (len(longer) - 1)))
        T = np.zeros((*rotations.shape[:2], 4, 4))
        pose_kernels.forward(body.parents, slope, zero, np.ascontiguousarray(rotations), T)
        out.append(T[:, joints][..., :3, 3])
    return np.stack(out, axis=-1)
