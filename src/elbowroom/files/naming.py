"""References to other files: buffers of glTF, meshes of URDF. They are resolved, not read."""

from __future__ import annotations

from pathlib import Path

from elbowroom.files.glb_container import buffer_files
from elbowroom.files.urdf import mesh_files


def files_named_in(path: Path, packages: list[Path]) -> list[Path]:
    """Folders of files that a .gltf, .glb or .urdf file refers to; none for other formats."""
    suffix = path.suffix.lower()
    if suffix in (".gltf", ".glb"):
        return buffer_files(path)
    return mesh_files(path, packages) if suffix == ".urdf" else []
