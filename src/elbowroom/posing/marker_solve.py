"""Recorded markers to a motion of the person who wore them: fitted body, gaps filled, feet on the floor.

The body is fitted first (`posing.marker_subject`); then each frame is solved from the one before it by the whole-body
inverse kinematics with markers alone. Markers that are not seen do not count; a limb with too few of them is turned
evenly between the frames that show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Character
from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip, Source
from elbowroom.motion.contacts import foot_contacts, runs
from elbowroom.motion.retarget import HeldFeet, held_feet, without_jolts
from elbowroom.posing.marker_subject import Subject, first_pose, fit_subject, marker_solver, seen_in, usable

# Parts whose joints are turned evenly where too few of their markers are seen: joints, markers and how many are enough.
_PARTS = {
    "arm": (("clavicle", "upper_arm", "forearm", "hand"), ("UPA", "ELB", "FRM", "WRA", "WRB", "FIN"), 3),
    "leg": (("thigh", "shin", "foot"), ("THI", "KNE", "SHN", "ANK", "HEE", "TOE", "MT5"), 4),
    "head": (("neck", "head"), ("LFHD", "RFHD", "LBHD", "RBHD"), 2),
}


@dataclass(frozen=True, eq=False)
class SolvedMarkers:
    """A motion from markers.

    clip: on the subject's own body, feet on the floor at z = 0. residual (T, 41): metres between each marker and its
    place on the body, NaN where it was not seen. subject: sizes and marker offsets. notes: what was filled or left out.
    """

    clip: Clip
    residual: Array
    subject: Subject
    notes: tuple[str, ...]

    @property
    def median_residual(self) -> float:
        """Median over all markers and frames, metres."""
        return float(np.nanmedian(self.residual))


def solve_markers(
    labels: Sequence[str], points: ArrayLike, fps: float, *, name: str = "markers", subject: Subject | None = None
) -> SolvedMarkers:
    """Motion of the person who wore markers: labels (M,) of `MARKERS`, points (T, M, 3) in metres, NaN where not seen.

    `subject` is the body from another recording of the same person; fitted to this one where not given.
    """
    markers = _in_order(labels, np.asarray(points, dtype=float))
    told = subject or fit_subject(markers)
    good = np.flatnonzero(usable(markers))
    if not len(good):
        raise BadValue(f"'{name}' has no frame with enough markers to place a body.")
    first, last = int(good[0]), int(good[-1])
    notes = [] if subject is not None else [f"Fitted a body of {told.height:.2f} m to the markers."]
    if last - first + 1 < len(markers):
        notes.append(
            f"Kept {first / fps:.2f} to {last / fps:.2f} s of {(len(markers) - 1) / fps:.2f} s: "
            "outside of that too few markers were seen."
        )
    markers = markers[first : last + 1]
    body = told.body(name)
    clip = _solved(body, markers, fps, name)
    clip, counted = _evenly(clip, markers, notes)
    clip, jumps = without_jolts(clip)
    if jumps:
        notes.append(f"Interpolated {jumps} frames in which the body jumped and came back.")
    contacts = foot_contacts(clip)
    held = held_feet(clip, contacts, clip.world())
    told = replace(told, offsets=_worn_on_legs(told, _at_feet(clip, counted, held, []), markers))
    body = told.body(name)
    planted = _at_feet(clip.with_(character=body), counted, held, notes)
    planted, _ = _evenly(planted, markers, [], ("arm", "head"))
    lowered = planted.with_(root=planted.root - [0.0, 0.0, contacts.floor])
    if abs(contacts.floor) > 0.005:
        notes.append(f"Moved by {-1000.0 * contacts.floor:.0f} mm along the vertical, so that the feet stand at z = 0.")
    residual = np.linalg.norm(marker_positions(body, planted.world()) - markers, axis=-1)
    notes += _told_gaps(markers, fps)
    notes.append(
        f"Markers are {1000.0 * np.nanmedian(residual):.0f} mm off the body in the median, "
        f"{1000.0 * np.nanpercentile(residual, 95):.0f} mm at the 95th percentile."
    )
    done = lowered.with_(source=replace(lowered.source, notes=tuple(notes)))
    return SolvedMarkers(done, residual, told, tuple(notes))


def _in_order(labels: Sequence[str], points: Array) -> Array:
    """Markers (T, 41, 3) in the order of `MARKERS`, NaN for those that are not there."""
    if points.ndim != 3 or points.shape[1:] != (len(labels), 3):
        raise BadValue(f"points of {len(labels)} markers are (T, {len(labels)}, 3), not {points.shape}.")
    out = np.full((len(points), len(MARKERS), 3), np.nan)
    for k, label in enumerate(labels):
        if label in MARKERS:
            out[:, MARKERS.index(label)] = points[:, k]
    return out


def _solved(body: Character, markers: Array, fps: float, name: str) -> Clip:
    """Each frame from the one before it; frames that cannot be placed are interpolated."""
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
    """The clip with limbs turned evenly where too few of their markers are seen, and markers without those few."""
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
    """The clip with its feet held and all else at the markers again."""
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


def _worn_on_legs(subject: Subject, clip: Clip, markers: Array) -> Array:
    """Marker offsets (41, 3), those of the legs from where they are while the feet stand on the floor."""
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


def _told_gaps(markers: Array, fps: float) -> list[str]:
    """Sentences on markers that were not seen."""
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
