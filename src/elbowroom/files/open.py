"""Open any supported file by its suffix, or a scene file as a world; and list the files that it refers to."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadFile, BadValue, UnknownName
from elbowroom.files.c3d import Markers
from elbowroom.files.edits import Edited, glb_edits
from elbowroom.files.fbx import RIGGED, read_rigged
from elbowroom.files.glb_container import buffer_files
from elbowroom.files.glb_nodes import check_sizes, distinct
from elbowroom.files.glb_read import GlbFile
from elbowroom.files.text import check_regular, shown
from elbowroom.files.urdf import mesh_files
from elbowroom.geometry.mesh import Mesh
from elbowroom.motion.clip import Clip, still_clip
from elbowroom.world.scene_floor import foot_places, scene_floor
from elbowroom.world.things import Thing
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.posing.marker_solve import SolvedMarkers

# No real clip, rig or scene comes near this; a larger file is a mistake that would fill the memory.
LARGEST = 2 * 1024**3


@dataclass(frozen=True)
class ImportHints:
    """User's hints on a file, which override guesses.

    units: metres per file unit; up: 'Y' or 'Z'; fps: frames per second; fix_rig: fix known faults of a rig;
    asf: the skeleton of an AMC file; body_model: NPZ file of a body model for motion of the SMPL family.
    """

    units: float | None = None
    up: str | None = None
    fps: float | None = None
    fix_rig: bool = False
    asf: Path | None = None
    body_model: Path | None = None

    def __post_init__(self) -> None:
        if self.up is not None and self.up.upper() not in ("Y", "Z"):
            raise BadValue(f"the up axis must be Y or Z, not '{self.up}'.")
        for what, value in (("units", self.units), ("fps", self.fps)):
            if value is not None and not 0 < value < float("inf"):
                raise BadValue(f"{what} must be a positive number, not {value}.")


@dataclass(frozen=True, eq=False)
class Opened:
    """Contents of a file in elbowroom's own terms. `meshes` are static, `objects` are animated by the file.

    `whole` is the world of a file that stores one, with its floor, holds and contacts. `floor` is the stored height,
    metres, None for no floor; 'auto' if there is none stored. `edited` are the edits of its motions.
    """

    path: Path
    format: str
    characters: Mapping[str, Character] = field(default_factory=dict)
    clips: Mapping[str, Clip] = field(default_factory=dict)
    meshes: Mapping[str, Mesh] = field(default_factory=dict)
    objects: Mapping[str, Thing] = field(default_factory=dict)
    markers: Markers | None = None
    notes: tuple[str, ...] = ()
    whole: World | None = None
    floor: float | Literal["auto"] | None = "auto"
    edited: Edited = field(default_factory=Edited)

    def clip(self, name: str | None = None) -> Clip:
        """A clip by name; the only or first one without a name; the rest pose as one frame if there is none.

        Markers become the clip of a body that is fitted to them.
        """
        if name is not None:
            if name not in self.clips:
                raise UnknownName(f"clip in {self.path}", name, self.clips)
            return self.clips[name]
        if self.clips:
            return next(iter(self.clips.values()))
        if self.characters:
            return still_clip(next(iter(self.characters.values())))
        if self.markers is not None:
            return self.with_solved_markers().clip()
        raise BadFile(self.path, "contains neither a clip nor a character", would_do=CLIP_FORMATS)

    def with_solved_markers(self) -> Opened:
        """The same with the markers made into a clip on the body of the person who wore them; see `marker_solve`."""
        if self.markers is None or self.clips:
            return self
        name = self.path.stem
        solved = _solved(self.markers, name)
        notes = (*self.notes, *solved.notes)
        return replace(self, characters={name: solved.clip.character}, clips={name: solved.clip}, notes=notes)

    def world(self, clip: str | None = None) -> World:
        """World of the file: the chosen clip on its character, other characters at rest, objects."""
        if clip is not None:
            self.clip(clip)
        elif self.whole is not None:
            return self.whole
        world = World(static=dict(self.meshes), objects=dict(self.objects))
        for name, character in self.characters.items():
            own = {n: c for n, c in self.clips.items() if c.character is character}
            motion = own.get(clip) if clip in own else next(iter(own.values()), None)
            free = distinct(["floor", *world.static, *world.objects, name])[-1]
            world = world.with_character(free, motion or still_clip(character))
        return world


CLIP_FORMATS = "give a .bvh, .amc, .c3d, .fbx, .glb, .npz or .npy file"
SUFFIXES = ".bvh, .asf, .amc, .c3d, .fbx, .glb, .gltf, .npz, .npy, .obj, .stl, .ply"


def open_file(path: str | Path, hints: ImportHints | None = None) -> Opened:
    """Read a file of any known kind; raises `BadFile` with one sentence where that fails."""
    path = Path(path)
    reader = _READERS.get(path.suffix.lower())
    size = check_regular(path, LARGEST, f"give a file: {SUFFIXES}")
    if reader is None:
        raise BadFile(path, f"has an unknown suffix: '{path.suffix}'", would_do=f"supported: {SUFFIXES}")
    if size == 0:
        raise BadFile(path, "is empty")
    try:
        return reader(path, hints or ImportHints())
    except OSError as error:
        raise BadFile(path, f"cannot be read ({error.strerror or error})") from None


def _one_clip(clip: Clip, path: Path, format: str) -> Opened:
    notes = (*clip.source.notes, *clip.character.notes)
    return Opened(path, format, {clip.character.name: clip.character}, {clip.name: clip}, notes=notes)


def _bvh(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.bvh import read_bvh

    clip = read_bvh(path, units=hints.units, up=hints.up, fps=hints.fps, fix_rig=hints.fix_rig)
    return _one_clip(clip, path, "BVH")


def _amc(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.asf_amc import read_amc

    clip = read_amc(path, hints.asf, units=hints.units, up=hints.up, fps=hints.fps)
    return _one_clip(clip, path, "AMC")


def _asf(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.asf_amc import read_asf

    character = read_asf(path, units=hints.units, up=hints.up)
    return Opened(path, "ASF", {character.name: character}, notes=character.notes)


# Markers that were solved, by their content: a studio builds its storyboard again with every edit.
_MOST_SOLVED = 4
_solved_before: dict[bytes, SolvedMarkers] = {}


def _solved(markers: Markers, name: str) -> SolvedMarkers:
    """Motion of a body fitted to markers; seconds for each second of a recording, unless it was solved before."""
    from elbowroom.posing.marker_solve import solve_markers

    content = repr((name, markers.labels, markers.fps)).encode() + np.ascontiguousarray(markers.points).tobytes()
    key = hashlib.sha256(content).digest()
    if key not in _solved_before:
        solved = solve_markers(markers.labels, markers.points, markers.fps, name=name)
        while len(_solved_before) >= _MOST_SOLVED:
            _solved_before.pop(next(iter(_solved_before)), None)
        _solved_before[key] = solved
    return _solved_before[key]


def _c3d(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.c3d import read_c3d

    markers = read_c3d(path, units=hints.units, up=hints.up, fps=hints.fps)
    return Opened(path, "C3D", markers=markers, notes=markers.notes)


def open_glb(path: Path, hints: ImportHints | None = None) -> tuple[Opened, dict[str, Any]]:
    """Open a glTF file with the extras that elbowroom stored in it."""
    from elbowroom.files.glb_read import read_glb

    hints = hints or ImportHints()
    glb = read_glb(path, units=hints.units, up=hints.up)
    return _of_document(path, glb, hints, "glTF"), dict(glb.story)


def _of_document(path: Path, glb: GlbFile, hints: ImportHints, format: str) -> Opened:
    if not (glb.characters or glb.meshes):
        raise BadFile(path, "contains no rig and no triangles")
    if not glb.characters:
        check_sizes(path, glb.meshes)
    notes = (*glb.notes, *(n for c in glb.characters.values() for n in c.notes))
    clips = {
        name: clip.with_(fps=hints.fps) if hints.fps and len(clip) > 1 else clip for name, clip in glb.clips.items()
    }
    still = {name: mesh for name, mesh in glb.meshes.items() if name not in glb.objects}
    layers = glb_edits(glb.story, glb.layers)
    return Opened(path, format, glb.characters, clips, still, glb.objects, notes=notes, edited=layers)


def _fbx(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.fbx import read_fbx

    return _of_document(path, read_fbx(path, units=hints.units, up=hints.up), hints, "FBX")


def _glb(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.glb_story import story_floor, with_story

    opened, story = open_glb(path, hints)
    if not story:
        return opened
    return replace(opened, whole=with_story(opened.world(), story), floor=story_floor(story))


def _npz(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.npz import read_edited_npz
    from elbowroom.files.npz_arrays import NpzArrays
    from elbowroom.files.smpl import FORMAT, SmplHints, is_smpl, read_smpl, stored_source

    with NpzArrays(path) as file:
        if is_smpl(file) and "times" not in file:
            clip = read_smpl(file, SmplHints(hints.fps, hints.up, hints.body_model))
            return _one_clip(clip, path, FORMAT)
        if "times" not in file:
            arrays = ", ".join(shown(key, 30) for key in file.keys[:6]) or "nothing"
            raise BadFile(
                path,
                f"is neither a world of elbowroom nor motion of the SMPL family: it contains {arrays}",
                would_do="expected 'poses' (T, 3 J) and 'trans' (T, 3)",
            )
        written_as = stored_source(file)
    world, layers = read_edited_npz(path)
    clips = {name: m for name, m in world.characters.items() if isinstance(m, Clip)}
    if len(clips) == 1 and written_as is not None:
        clips = {name: clip.with_(source=written_as) for name, clip in clips.items()}
        world = world.with_(characters=clips)
    characters = {name: clip.character for name, clip in clips.items()}
    things = (world.static, world.objects)
    return Opened(path, "NPZ", characters, clips, *things, whole=world, floor=world.floor, edited=layers)


def _npy(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.joint_positions import FORMAT, read_joint_positions

    clip = read_joint_positions(path, units=hints.units, up=hints.up, fps=hints.fps)
    return _one_clip(clip, path, FORMAT)


def _mesh(path: Path, hints: ImportHints) -> Opened:
    from elbowroom.files.meshes import read_meshes

    found = read_meshes(path, units=hints.units, up=hints.up)
    return Opened(path, path.suffix[1:].upper(), meshes=found.meshes, notes=found.notes)


_READERS: dict[str, Callable[[Path, ImportHints], Opened]] = {
    ".bvh": _bvh,
    ".amc": _amc,
    ".asf": _asf,
    ".c3d": _c3d,
    ".glb": _glb,
    ".gltf": _glb,
    ".fbx": _fbx,
    ".npz": _npz,
    ".npy": _npy,
    ".obj": _mesh,
    ".stl": _mesh,
    ".ply": _mesh,
}


def files_named_in(path: Path, packages: list[Path]) -> list[Path]:
    """Folders of files that a .gltf, .glb or .urdf file refers to; none for other formats."""
    suffix = path.suffix.lower()
    if suffix in (".gltf", ".glb"):
        return buffer_files(path)
    return mesh_files(path, packages) if suffix == ".urdf" else []


Floor = float | None | Literal["auto"]


def read_scene(path: str | Path, *, units: float | None = None, up: str | None = None, floor: Floor = "auto") -> World:
    """Read a scene from .glb, .gltf, .fbx, .obj, .stl or .ply as a world.

    `units` is metres per unit of the file, `up` is 'Y' or 'Z'; where not given they are guessed. `floor` is the height
    of the floor in metres, None for no floor, or 'auto' to find it as `scene_floor` does. Animated meshes of a glTF or
    FBX file move in the world as objects, rigged characters with their first clip. `world.notes` lists assumptions.
    """
    path = Path(path)
    if path.suffix.lower() in RIGGED:
        world = _from_rigged(path, read_rigged(path, units=units, up=up))
    else:
        from elbowroom.files.meshes import read_meshes  # a fifth of a second, for files alone

        found = read_meshes(path, units=units, up=up)
        world = World(static=found.meshes, notes=found.notes)
    return on_floor(world, floor)


def on_floor(world: World, floor: Floor) -> World:
    """The world with a floor of that height; with 'auto' it is found from static meshes and feet, and noted."""
    if floor == "auto":
        found = scene_floor(world.static, foot_places(world.characters.values()))
        return world.with_(floor=found.height, notes=(*world.notes, *([found.note] if found.note else [])))
    if floor is not None and not (isinstance(floor, int | float) and np.isfinite(floor)):
        raise BadValue(f"the floor must be a height in metres, None, or 'auto', not {floor!r}.")
    return world.with_(floor=None if floor is None else float(floor))


def _from_rigged(path: Path, found: GlbFile) -> World:
    static = {name: mesh for name, mesh in found.meshes.items() if name not in found.objects}
    notes = [*found.notes]
    motions = {}
    for name, character in found.characters.items():
        clip = next((c for c in found.clips.values() if c.character is character), None)
        free = distinct([*found.meshes, name])[-1]
        if clip is not None:
            motions[free] = clip
            notes += character.notes
        elif character.skin is not None:
            skin = character.skin
            static[free] = Mesh(skin.posed(character.T_rest), skin.faces, skin.color, skin.colors, skin.paint)
            notes.append(f"The character '{name}' does not move and was used as a mesh in its rest pose.")
    if not (static or motions or found.objects):
        raise BadFile(path, "contains no triangles")
    check_sizes(path, found.meshes)
    return World(characters=motions, static=static, objects=dict(found.objects), notes=tuple(dict.fromkeys(notes)))
