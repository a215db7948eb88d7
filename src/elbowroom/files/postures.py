"""Posture databases and recorded speeds from files: any recordings, and the small set that ships with the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.c3d import Markers
from elbowroom.files.open import ImportHints, open_file
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import estimate_floor
from elbowroom.motion.edit import without_lead
from elbowroom.motion.marker_poses import MarkerTake
from elbowroom.motion.posture_constraints import Hand
from elbowroom.motion.posture_db import THRESHOLD_M, PostureDatabase, build


def posture_database(
    files: Sequence[str | Path],
    *,
    name: str = "postures",
    threshold: float = THRESHOLD_M,
    hands: tuple[Hand, ...] | None = None,
    hints: ImportHints | None = None,
) -> PostureDatabase:
    """Build a database of postures from recordings: C3D from their markers, BVH, AMC, FBX, GLB and NPZ from clips.

    threshold: metres between poses of which only one is kept; hands: those that hold something throughout, found out
    where not given; hints: how files are read (`open_file`), with known faults of CMU's BVH rigs fixed where not given.
    """
    if not len(files):
        raise BadValue("a posture database needs at least one recording.")
    takes = [marker_take(path, hints) for path in files]
    source = ", ".join(take.name for take in takes)
    return build(takes, name=name, threshold_m=threshold, hands=hands, source=source)


def marker_take(path: str | Path, hints: ImportHints | None = None) -> MarkerTake:
    """Markers of a recording: those of a C3D file, or on the character of a clip, above the floor."""
    path = Path(path)
    opened = open_file(path, hints or ImportHints(fix_rig=True))
    if opened.markers is not None:
        return _of_markers(path, opened.markers)
    if not opened.clips:
        raise BadFile(
            path, "contains no motion", would_do="give a .c3d, .bvh, .amc, .fbx, .glb or .npz file with a recording"
        )
    return _of_clip(path, without_lead(opened.clip()))


def _of_markers(path: Path, markers: Markers) -> MarkerTake:
    if markers.absent:
        few = ", ".join(markers.absent[:6])
        raise BadFile(path, f"lacks markers of the 41: {few}", would_do="label them as Plug-in Gait does")
    return MarkerTake(path.stem, np.stack([markers.track(label) for label in MARKERS], axis=1), markers.fps)


def _of_clip(path: Path, clip: Clip) -> MarkerTake:
    missing = [label for label in MARKERS if label not in clip.character.markers]
    if missing:
        few = ", ".join(missing[:6])
        raise BadFile(path, f"has a rig without parts for the markers {few}", would_do="give a whole person")
    points = marker_positions(clip.character, clip.world())
    return MarkerTake(path.stem, points - [0.0, 0.0, estimate_floor(clip)], clip.fps)
