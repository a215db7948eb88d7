"""Facts for `elbowroom info`, as a JSON-compatible dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.files.c3d import Markers
from elbowroom.files.open import Opened
from elbowroom.motion.clip import Clip
from elbowroom.world.paths import Keyed
from elbowroom.world.things import Thing

LIMBS = ("left_arm", "right_arm", "left_leg", "right_leg", "spine", "neck", "left_fingers", "right_fingers", "eyes")


def describe(opened: Opened) -> dict[str, Any]:
    """Contents of a file, assumptions, and missing data."""
    facts: dict[str, Any] = {"file": str(opened.path), "format": opened.format}
    if opened.characters:
        facts["characters"] = {name: _character(c) for name, c in opened.characters.items()}
    if opened.clips:
        facts["clips"] = {name: _clip(c) for name, c in opened.clips.items()}
    if opened.meshes:
        meshes = list(opened.meshes.values())
        filled = [m.bounds for m in meshes if len(m.vertices)]
        low = np.min([b[0] for b in filled], axis=0) if filled else np.zeros(3)
        high = np.max([b[1] for b in filled], axis=0) if filled else np.zeros(3)
        facts["meshes"] = {
            "count": len(meshes),
            "triangles": sum(len(m.faces) for m in meshes),
            "size_m": [round(float(v), 3) for v in high - low],
            "low_m": [round(float(v), 3) for v in low],
            "high_m": [round(float(v), 3) for v in high],
        } | {"names": list(opened.meshes)}
    if opened.objects:
        facts["objects"] = {name: _object(thing) for name, thing in opened.objects.items()}
    if opened.markers is not None:
        facts["markers"] = _markers(opened.markers)
    if opened.edited.edits:
        facts["edits"] = [edit.facts() for edit in opened.edited.edits]
    facts["notes"] = list(dict.fromkeys(opened.notes))
    return facts


def _character(character: Character) -> dict[str, Any]:
    skeleton = character.skeleton
    limbs = {name: [skeleton.names[j] for j in chain.joints] for name, chain in character.chains.items()}
    out: dict[str, Any] = {
        "joints": len(skeleton),
        "height_m": round(character.height, 3),
        "limbs": limbs,
        "missing": [name for name in LIMBS if name not in limbs],
        "joints_with_limits": sum(limit is not None for limit in character.limits),
        "shapes": len(character.shapes),
        "skin_triangles": len(character.skin.faces) if character.skin else 0,
    }
    if character.masses is not None:
        out["mass_kg"] = round(character.masses.total, 2)
    return out


def _clip(clip: Clip) -> dict[str, Any]:
    lead = min(clip.source.lead, len(clip) - 1)
    path = clip.root[lead:, :2]
    travelled = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
    seconds = (len(path) - 1) / clip.fps
    return {
        "frames": len(clip),
        "fps": round(clip.fps, 4),
        "seconds": round(clip.duration, 3),
        "artificial_first_frames": clip.source.lead,
        "units_m": clip.source.units,
        "up": clip.source.up,
        "mean_speed_m_s": round(travelled / seconds, 3) if seconds > 0 else 0.0,
        "root_height_m": [round(float(z), 3) for z in (clip.root[lead:, 2].min(), clip.root[lead:, 2].max())],
    }


def _object(thing: Thing) -> dict[str, Any]:
    low, high = thing.mesh.bounds
    out: dict[str, Any] = {
        "triangles": len(thing.mesh.faces),
        "size_m": [round(float(v), 3) for v in high - low],
    }
    if isinstance(thing.path, Keyed):
        steps = np.linalg.norm(np.diff(thing.path.positions, axis=0), axis=1)
        out |= {
            "seconds": round(float(thing.path.times[-1] - thing.path.times[0]), 3),
            "travelled_m": round(float(steps.sum()), 3),
        }
    return out


def _markers(markers: Markers) -> dict[str, Any]:
    missing = np.isnan(markers.points).any(axis=2)
    return {
        "labels": list(markers.labels),
        "frames": len(markers.points),
        "fps": round(markers.fps, 4),
        "seconds": round((len(markers.points) - 1) / markers.fps, 3),
        "missing_share": round(float(missing.mean()), 4) if missing.size else 0.0,
    }
