"""Clip libraries and posture databases from recordings, and libraries as NPZ files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.markers import MARKERS, marker_positions
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.files.c3d import Markers
from elbowroom.files.npz_arrays import NpzArrays
from elbowroom.files.open import ImportHints, open_file
from elbowroom.locomotion.cycles import MODES, Cycle, cycles_of
from elbowroom.locomotion.library import ClipLibrary, thinned
from elbowroom.locomotion.library_arrays import FORMAT, arrays_of, library_of, shapes
from elbowroom.motion.contacts import estimate_floor
from elbowroom.motion.edit import without_lead
from elbowroom.motion.marker_poses import MarkerTake
from elbowroom.motion.posture_constraints import HandSide
from elbowroom.motion.posture_db import THRESHOLD_M, PostureDatabase, build
from elbowroom.motion.retarget_pose import has_feet

_LIBRARY = "give a library written by elbowroom library"
_MOST_CYCLES = 100_000


def clip_library(
    files: Sequence[str | Path],
    *,
    name: str = "library",
    source: str = "",
    hints: ImportHints | None = None,
    progress: Callable[[str], None] | None = None,
) -> ClipLibrary:
    """Build a library of gait cycles from recordings: BVH, AMC, FBX, GLB and NPZ clips, markers of C3D files.

    hints: how files are read (`open_file`), with known faults of CMU's BVH rigs fixed where not given; source: where
    the recordings are from; progress: called with the name of each file before it is read.
    """
    if not len(files):
        raise BadValue("a clip library needs recordings: give two or more files with walks.")
    found = []
    for path in map(Path, files):
        if progress is not None:
            progress(path.name)
        found += _cycles(path, hints or ImportHints(fix_rig=True))
    if not found:
        names = ", ".join(Path(f).name for f in list(files)[:6])
        raise BadValue(
            f"no gait cycles were found in {names}: nobody in them takes three even steps whose contacts with the "
            "floor can be detected; give clips in which people walk."
        )
    return ClipLibrary(thinned(found), name, source or ", ".join(dict.fromkeys(c.source for c in found)))


def _cycles(path: Path, hints: ImportHints) -> list[Cycle]:
    try:
        opened = open_file(path, hints).with_solved_markers()
    except BadValue as wrong:
        raise BadFile(path, str(wrong).rstrip(".")) from wrong
    if not opened.clips:
        raise BadFile(
            path, "contains no motion", would_do="give a .bvh, .amc, .c3d, .fbx, .glb or .npz file with a walk"
        )
    out = []
    for name, clip in opened.clips.items():
        if not has_feet(clip.character):
            raise BadFile(path, "has a rig without feet, so no steps can be detected", would_do="give a whole person")
        out += cycles_of(clip, path.stem if len(opened.clips) == 1 else f"{path.stem}/{name}")
    return out


def write_clip_library(path: str | Path, library: ClipLibrary) -> None:
    """Write a library as an NPZ file."""
    with writing(path) as (stand_in,), said_of(path), stand_in.open("wb") as file:
        np.savez_compressed(file, **arrays_of(library))  # type: ignore[arg-type]


def read_clip_library(path: str | Path) -> ClipLibrary:
    """Read a library that `write_clip_library` or `elbowroom library` wrote."""
    path = Path(path)
    with NpzArrays(path) as file:
        if "library_format" not in file:
            raise BadFile(path, "is not a clip library", would_do=_LIBRARY)
        if int(file.get("library_format", 0)) != FORMAT:
            raise BadFile(path, "is a clip library of another version", would_do="build it again")
        modes = file.get("modes", 1)
        expected = shapes(len(modes))
        if not len(modes) <= _MOST_CYCLES or (len(modes) and modes.max() >= len(MODES)):
            raise BadFile(path, "has cycles of unknown modes", where="array 'modes'", would_do=_LIBRARY)

        def get(key: str) -> NDArray:
            if key in expected:
                return file.get(key, len(expected[key]), expected[key])
            if key == "modes":
                return modes
            return file.get(key, 1, (len(modes),), kind="U") if key == "clips" else file.get(key, 0, kind="U")

        return library_of(get)


def posture_database(
    files: Sequence[str | Path],
    *,
    name: str = "postures",
    threshold: float = THRESHOLD_M,
    hands: tuple[HandSide, ...] | None = None,
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
    clip = without_lead(opened.clip())
    missing = [label for label in MARKERS if label not in clip.character.markers]
    if missing:
        few = ", ".join(missing[:6])
        raise BadFile(path, f"has a rig without parts for the markers {few}", would_do="give a whole person")
    points = marker_positions(clip.character, clip.world())
    return MarkerTake(path.stem, points - [0.0, 0.0, estimate_floor(clip)], clip.fps)


def _of_markers(path: Path, markers: Markers) -> MarkerTake:
    if markers.absent:
        few = ", ".join(markers.absent[:6])
        raise BadFile(path, f"lacks markers of the 41: {few}", would_do="label them as Plug-in Gait does")
    return MarkerTake(path.stem, np.stack([markers.track(label) for label in MARKERS], axis=1), markers.fps)
