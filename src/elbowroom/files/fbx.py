"""Reading FBX: skeletons, skins, takes, units and axes, as Mixamo, Rocketbox, Blender and others write them.

The file is opened by the package `ufbx` in a process of its own (`fbx_scene`), which hands over a glTF document and
sampled takes; the rest is as for glTF.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.files.glb_animation import KeyTrack, Tracks
from elbowroom.files.glb_container import Container
from elbowroom.files.glb_nodes import Nodes, distinct, sane
from elbowroom.files.glb_read import GlbFile, read_document, read_glb
from elbowroom.files.text import check_regular
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array

_LONGEST_S = 300.0  # no real file takes a tenth of it
_PATHS = {"move": "translation", "turn": "rotation", "scale": "scale"}

# Module that is run to read a file.
READER = "elbowroom.files.fbx_scene"

RIGGED = (".glb", ".gltf", ".fbx")


def read_rigged(path: Path, *, units: float | None = None, up: str | None = None) -> GlbFile:
    """Read a file of characters, clips and meshes: glTF or FBX, by its suffix."""
    return (read_fbx if path.suffix.lower() == ".fbx" else read_glb)(path, units=units, up=up)


def read_fbx(path: str | Path, *, units: float | None = None, up: str | None = None) -> GlbFile:
    """Read an .fbx file; units and axes as stored in it, unless overridden.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'.
    """
    path = Path(path)
    check_regular(path)
    parts = _opened(path, units is not None, up is not None)
    container = Container(path, parts["glb"].tobytes())
    facts = json.loads(str(parts["facts"]))
    takes = _takes(path, facts["takes"], Nodes(container), parts)
    return read_document(container, units, up, format="FBX", takes=takes, fps=facts["fps"], notes=facts["notes"])


def _opened(path: Path, keep_units: bool, keep_axes: bool) -> dict[str, Array]:
    """Arrays that the reading process hands over; raises `BadFile` with its sentence, or if it crashed."""
    from elbowroom.files.fbx_scene import REFUSED

    command = [sys.executable, "-m", READER, str(path.absolute())]
    command += [str(int(keep_units)), str(int(keep_axes))]
    try:
        run = subprocess.run(command, capture_output=True, timeout=_LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise BadFile(path, f"cannot be read within {_LONGEST_S:g} s", would_do="export it again") from None
    if run.returncode == REFUSED:
        raise BadFile(path, run.stdout.decode("utf-8", "replace"))
    if run.returncode != 0:
        raise BadFile(path, "is damaged: the reader of FBX files crashed on it", would_do="export it again")
    with np.load(io.BytesIO(run.stdout), allow_pickle=False) as loaded:
        return dict(loaded)


def _takes(path: Path, names: list[str], nodes: Nodes, parts: dict[str, Array]) -> dict[str, Tracks]:
    """Takes by name, as tracks of nodes."""
    out: dict[str, Tracks] = {}
    for k, name in enumerate(distinct(name.strip() or f"clip {i}" for i, name in enumerate(names))):
        times = parts[f"{k}.times"]
        tracks: Tracks = {}
        for row, node in enumerate(parts[f"{k}.nodes"]):
            of = {}
            for short, long in _PATHS.items():
                values = sane(parts[f"{k}.{short}"][row], path, f"keys of '{nodes.name(int(node))}'")
                turns = short == "turn"
                of[long] = KeyTrack(times, rot.continuous(rot.normalize(values)) if turns else values, "LINEAR", turns)
            tracks[int(node)] = of
        out[name] = tracks
    return out
