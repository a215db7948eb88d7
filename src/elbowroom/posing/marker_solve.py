"""Recorded markers to a motion of the person who wore them: fitted body, gaps filled, feet on the floor.

The body is fitted first (`fit_subject`); then each frame is solved from the one before it by whole-body inverse
kinematics with markers only. Invisible markers do not count; a limb with too few of them is interpolated between the
frames that show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.anthropometry import HEIGHT_RANGE, SCALE_RANGE, Scales, proportions
from elbowroom.character.body import Character, Marker
from elbowroom.character.human import human
from elbowroom.character.human_joints import human_skeleton
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.kernels import pose as pose_kernels
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.contacts import foot_contacts, runs
from elbowroom.motion.retarget import HeldFeet, held_feet, without_jolts
from elbowroom.motion.retarget_pose import is_finger, relaxed
from elbowroom.posing.whole_body import WholeBody

# Sizes that are fitted; hands, feet and head have too few markers to fit their size.
_FITTED = ("leg", "arm", "trunk", "shoulder", "hip")

# Distances of markers on one bone, which give a first estimate of a person's size.
_SPANS = (("LKNE", "LANK"), ("RKNE", "RANK"), ("LELB", "LWRA"), ("RELB", "RWRA"), ("LSHO", "RSHO"), ("LTHI", "LKNE"))

# Markers of the trunk, by which a body is first placed; and how many of all must be visible for a frame to be used.
TRUNK = ("LFWT", "RFWT", "LBWT", "RBWT", "C7", "T10", "CLAV", "STRN")
LEAST_TRUNK, LEAST_MARKERS = 4, 18

# Frames that the body is fitted to, and iterations; tuned on ACCAD: more change residuals by less than 0.2 mm.
_FRAMES, _ROUNDS = 40, 6
# Weight of a marker's usual position on the body, and of usual proportions, against that of one frame.
_USUAL_PLACE, _USUAL_SIZE = 2.0, 0.05
# A marker this far off counts half, metres: some jump or are swapped.
_FAR_M = 0.04
_STEP = 1e-4
# Weight of the previous frame, against that of the markers: enough for what they do not determine.
_STAY = 0.05


@dataclass(frozen=True, eq=False)
class MarkerSubject:
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
    """An initial posture: arms hanging, the trunk at its markers (41, 3)."""
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
    """Mask (...) of visible markers among (..., 3)."""
    return np.asarray(np.isfinite(markers).all(axis=-1))


def usable(markers: Array) -> NDArray[np.bool_]:
    """Frames (T,) of markers (T, 41, 3) in which enough are visible to place the body."""
    seen = seen_in(markers)
    trunk = seen[:, [MARKERS.index(label) for label in TRUNK]].sum(axis=1)
    return np.asarray((trunk >= LEAST_TRUNK) & (seen.sum(axis=1) >= LEAST_MARKERS))


def fit_subject(markers: Array) -> MarkerSubject:
    """Body of the person who wore the markers (T, 41, 3), metres, NaN where invisible."""
    frames = np.flatnonzero(usable(markers))
    if not len(frames):
        raise BadValue(
            f"no frame shows {LEAST_MARKERS} of the 41 markers with {LEAST_TRUNK} of the trunk; "
            "fitting a body needs that many."
        )
    frames = frames[np.unique(np.linspace(0, len(frames) - 1, _FRAMES).round().astype(int))]
    chosen = markers[frames]
    height = float(np.clip(_size(chosen), *HEIGHT_RANGE))
    subject = MarkerSubject(height, Scales(), _offsets(_human(height, Scales())))
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
    """Height of a person from distances of markers on one bone, metres."""
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
    """A posture moved to the trunk's markers."""
    placed = first_pose(body, markers)
    rotations = np.array(pose.rotations)
    rotations[0] = placed.rotations[0]
    return Pose.of(placed.root, rotations)


def _refined(subject: MarkerSubject, markers: Array, poses: list[Pose]) -> MarkerSubject:
    """Sizes and marker offsets by least squares, for fixed postures."""
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
    # the root's position does not matter: everything is relative to the mean of a frame
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
    return MarkerSubject(
        height, replace(subject.scales, **scales), subject.offsets + step[1 + len(_FITTED) :].reshape(-1, 3)
    )


def _by_size(subject: MarkerSubject, body: Character, rotations: Array, joints: list[int]) -> Array:
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


# Parts whose joints are interpolated where too few of their markers are visible: joints, markers and how many are
# enough.
_PARTS = {
    "arm": (("clavicle", "upper_arm", "forearm", "hand"), ("UPA", "ELB", "FRM", "WRA", "WRB", "FIN"), 3),
    "leg": (("thigh", "shin", "foot"), ("THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5"), 4),
    "head": (("neck", "head"), ("LFHD", "RFHD", "LBHD", "RBHD"), 2),
}


@dataclass(frozen=True, eq=False)
class SolvedMarkers:
    """A motion from markers.

    clip: on the subject's own body, feet on the floor at z = 0. residual (T, 41): metres between each marker and its
    position on the body, NaN where invisible. subject: sizes and marker offsets. notes: what was filled or left out.
    """

    clip: Clip
    residual: Array
    subject: MarkerSubject
    notes: tuple[str, ...]

    @property
    def median_residual(self) -> float:
        """Median over all markers and frames, metres."""
        return float(np.nanmedian(self.residual))


def solve_markers(
    labels: Sequence[str], points: ArrayLike, fps: float, *, name: str = "markers", subject: MarkerSubject | None = None
) -> SolvedMarkers:
    """Motion of the person who wore markers: labels (M,) of `MARKERS`, points (T, M, 3) in metres, NaN where invisible.

    `subject` is the body from another recording of the same person; fitted to this one by default.
    """
    markers = _in_order(labels, np.asarray(points, dtype=float))
    wearer = subject or fit_subject(markers)
    good = np.flatnonzero(usable(markers))
    if not len(good):
        raise BadValue(f"'{name}' has no frame with enough markers to place a body.")
    first, last = int(good[0]), int(good[-1])
    notes = [] if subject is not None else [f"Fitted a body of {wearer.height:.2f} m to the markers."]
    if last - first + 1 < len(markers):
        notes.append(
            f"Kept {first / fps:.2f} to {last / fps:.2f} s of {(len(markers) - 1) / fps:.2f} s: "
            "outside that interval too few markers were seen."
        )
    markers = markers[first : last + 1]
    body = wearer.body(name)
    clip = _solved(body, markers, fps, name)
    clip, counted = _evenly(clip, markers, notes)
    clip, jumps = without_jolts(clip)
    if jumps:
        notes.append(f"Interpolated {jumps} frames in which the body jumped and came back.")
    contacts = foot_contacts(clip)
    held = held_feet(clip, contacts, clip.world())
    wearer = replace(wearer, offsets=_worn_on_legs(wearer, _at_feet(clip, counted, held, []), markers))
    body = wearer.body(name)
    planted = _at_feet(clip.with_(character=body), counted, held, notes)
    planted, _ = _evenly(planted, markers, [], ("arm", "head"))
    lowered = planted.with_(root=planted.root - [0.0, 0.0, contacts.floor])
    if abs(contacts.floor) > 0.005:
        notes.append(f"Moved by {-1000.0 * contacts.floor:.0f} mm along the vertical to put the feet at z = 0.")
    residual = np.linalg.norm(marker_positions(body, planted.world()) - markers, axis=-1)
    notes += _gap_notes(markers, fps)
    notes.append(
        f"Markers are {1000.0 * np.nanmedian(residual):.0f} mm off the body in the median, "
        f"{1000.0 * np.nanpercentile(residual, 95):.0f} mm at the 95th percentile."
    )
    done = lowered.with_(source=replace(lowered.source, notes=tuple(notes)))
    return SolvedMarkers(done, residual, wearer, tuple(notes))


def _in_order(labels: Sequence[str], points: Array) -> Array:
    """Markers (T, 41, 3) in the order of `MARKERS`, NaN for missing ones."""
    if points.ndim != 3 or points.shape[1:] != (len(labels), 3):
        raise BadValue(f"points of {len(labels)} markers are (T, {len(labels)}, 3), not {points.shape}.")
    out = np.full((len(points), len(MARKERS), 3), np.nan)
    for k, label in enumerate(labels):
        if label in MARKERS:
            out[:, MARKERS.index(label)] = points[:, k]
    return out


def _solved(body: Character, markers: Array, fps: float, name: str) -> Clip:
    """Each frame solved from the one before it; frames that cannot be placed are interpolated."""
    solver = marker_solver(body)
    good = usable(markers)
    pose = solver.solve(first_pose(body, markers[0]), {}, markers[0]).pose
    root, rotations = np.zeros((len(markers), 3)), np.zeros((len(markers), len(body.skeleton), 4))
    for k, places in enumerate(markers):
        if good[k]:
            pose = solver.solve(pose, {}, places).pose
        root[k], rotations[k] = pose.root, pose.rotations
    for gap, before, after, share in _gaps(~good):
        root[gap] = root[before] + share * (root[after] - root[before])
        rotations[gap] = rot.slerp(rotations[before], rotations[after], share)
    return Clip(body, fps, root, rotations, name=name, source=Source(format="C3D"))


def _evenly(clip: Clip, markers: Array, notes: list[str], parts: Sequence[str] = tuple(_PARTS)) -> tuple[Clip, Array]:
    """The clip with limbs interpolated where too few of their markers are visible, and the markers without those
    few.
    """
    seen, q, counted = seen_in(markers), np.array(clip.rotations), np.array(markers)
    for part in parts:
        joints, labels, enough = _PARTS[part]
        for side in ("",) if part == "head" else ("left", "right"):
            rows = [MARKERS.index(side[:1].upper() + label) for label in labels]
            missing: NDArray[np.bool_] = seen[:, rows].sum(axis=1) < enough
            if not missing.any() or missing.all():
                continue
            turned = [clip.character.role(f"{side}_{joint}" if side else joint) for joint in joints]
            for gap, before, after, share in _gaps(missing):
                q[gap, turned] = rot.slerp(q[before, turned], q[after, turned], share)
            rows += [MARKERS.index(side[:1].upper() + "SHO")] if part == "arm" else []
            counted[np.ix_(np.flatnonzero(missing), np.array(rows))] = np.nan
            what = f"{side} {part}".strip()
            notes.append(f"Interpolated the {what} over {missing.sum() / clip.fps:.2f} s with too few markers.")
    return clip.with_(rotations=q), counted


def _at_feet(clip: Clip, markers: Array, held: HeldFeet, notes: list[str]) -> Clip:
    """The clip with its feet held and everything else solved for the markers again."""
    solver = marker_solver(clip.character)
    root, q = np.array(clip.root), np.array(clip.rotations)
    for joint, turns in held.toes.items():
        q[:, joint] = turns
    failed = 0
    for k, places in enumerate(markers):
        feet = {f"{side}_foot": T[k] for side, T in held.feet.items()}
        solution = solver.solve(Pose.of(root[k], q[k]), feet, places)
        failed += not solution.found
        root[k], q[k] = solution.pose.root, solution.pose.rotations
    if failed:
        notes.append(f"In {failed} of {len(q)} frames a foot could not be held on the floor.")
    return clip.with_(root=root, rotations=q)


def _worn_on_legs(subject: MarkerSubject, clip: Clip, markers: Array) -> Array:
    """Marker offsets (41, 3), those of the legs from frames in which the feet stand on the floor."""
    body, T = clip.character, clip.world()
    out = np.array(subject.offsets)
    for k, label in enumerate(MARKERS):
        joint = body.markers[label].joint
        if label[1:] in _PARTS["leg"][1] and seen_in(markers[:, k]).any():
            away = markers[:, k] - T[:, joint, :3, 3]
            out[k] = np.nanmedian(np.einsum("tba,tb->ta", T[:, joint, :3, :3], away), axis=0)
    return out


def _gaps(missing: NDArray[np.bool_]) -> Iterator[tuple[slice, int, int, Array]]:
    """Frames of each gap, the frames before and after it, and shares (n, 1) of the way; ends are held."""
    for first, last in runs(missing):
        before, after = first - 1, last + 1
        if before < 0:
            before = after
        if after == len(missing):
            after = before
        yield slice(first, last + 1), before, after, np.arange(1, last - first + 2)[:, None] / (last - first + 2)


def _gap_notes(markers: Array, fps: float) -> list[str]:
    """Sentences on invisible markers."""
    unseen = ~seen_in(markers)
    never = [label for k, label in enumerate(MARKERS) if unseen[:, k].all()]
    out = [f"Never seen: {', '.join(never)}."] if never else []
    seen_once = [(k, label) for k, label in enumerate(MARKERS) if label not in never]
    gaps = [(last - first + 1, label) for k, label in seen_once for first, last in runs(unseen[:, k])]
    if gaps:
        longest, label = max(gaps)
        out.append(
            f"Filled {len(gaps)} gaps, {100.0 * unseen.mean():.1f} % of all marker positions; "
            f"the longest is {longest / fps:.2f} s of {label}."
        )
    return out
