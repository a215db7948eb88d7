"""Read AMC, the motion of Acclaim's pair of formats, on the skeleton of its ASF file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.errors import BadFile
from elbowroom.files import conventions as conv
from elbowroom.files.asf import AsfSkeleton, parse_asf, read_asf
from elbowroom.files.text import numbers, read_lines, shown
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import MOST_FRAMES, Clip, Source
from elbowroom.motion.retarget import retarget

__all__ = ["find_asf", "read_amc", "read_asf"]

# The files do not state their rate; CMU's are at 120.
_USUAL_FPS = 120.0


def read_amc(
    path: str | Path,
    asf: str | Path | None = None,
    character: Character | None = None,
    *,
    units: float | None = None,
    up: str | None = None,
    fps: float | None = None,
) -> Clip:
    """An AMC file as a clip on the skeleton of its ASF, or retargeted to `character`.

    `asf` is looked for beside the motion where not given. units: metres per file unit; up: 'Y' or 'Z'; fps:
    frames per second. Missing values are assumed, with a note in `clip.source.notes`.
    """
    skeleton_path = find_asf(path) if asf is None else Path(asf)
    asf_file = parse_asf(skeleton_path, units=units, up=up)
    notes = [f"Skeleton from {skeleton_path.name}.", *asf_file.notes]
    channels = {"root": asf_file.root_channels} | {b.name: b.dofs for b in asf_file.bones.values() if b.dofs}
    tracks, degrees = _frames(path, channels, asf_file.degrees)
    notes += _remarks(tracks, channels)
    skeleton = asf_file.skeleton
    q = _rotations(asf_file, tracks, degrees)
    count = len(tracks["root"])
    root = np.zeros((count, 3)) + asf_file.root_place
    for k, channel in enumerate(asf_file.root_channels):
        if channel[0] == "t":
            root[:, "xyz".index(channel[1])] += tracks["root"][:, k]
    root, q = conv.turned_points(root * asf_file.units, asf_file.up), conv.turned_rotations(q, asf_file.up)

    if fps is None:
        notes.append(f"Rate assumed: {_USUAL_FPS:g} fps, since AMC files state none (option: fps).")
    rate = _USUAL_FPS if fps is None else conv.checked_fps(fps)
    some = np.unique(np.linspace(0, count - 1, 64).astype(int))
    own = as_character(skeleton, name=skeleton_path.stem, poses=q[some])
    clip = Clip(own, rate, root, q, name=Path(path).stem)
    if fps is None and (note := conv.rate_note_of(clip)):
        notes.append(note)
    clip = clip.with_(source=Source(str(path), "amc", asf_file.units, asf_file.up, notes=tuple(notes)))
    return clip if character is None else retarget(clip, character)


def find_asf(path: str | Path) -> Path:
    """The skeleton beside a motion: the ASF whose name the motion's begins with, else the only one there."""
    motion = Path(path)
    if not motion.exists():
        raise BadFile(motion, "does not exist")
    near = sorted(p for p in motion.parent.iterdir() if p.suffix.lower() == ".asf")
    fitting = [p for p in near if motion.stem == p.stem or motion.stem.startswith(f"{p.stem}_")]
    if fitting:
        return max(fitting, key=lambda p: len(p.stem))
    if len(near) == 1:
        return near[0]
    found = "several skeletons (.asf) are" if near else "no skeleton (.asf) is"
    raise BadFile(motion, f"{found} in its folder", would_do="give its skeleton (option: asf)")


def _frames(path: str | Path, channels: dict[str, tuple[str, ...]], degrees: bool) -> tuple[dict[str, Array], bool]:
    """Values (T, dofs) of each bone that has some, and whether angles are in degrees."""
    values: dict[str, list[str]] = {name: [] for name in channels}
    seen: dict[str, int] = dict.fromkeys(channels, 0)  # frames so far, by bone
    count = 0
    width = {name: len(dofs) for name, dofs in channels.items()}
    lines = read_lines(path, "AMC")
    for k, line in enumerate(lines):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        name, at = words[0], f"line {k + 1}"
        if name.startswith(":"):
            degrees = {":DEGREES": True, ":RADIANS": False}.get(name.upper(), degrees)
        elif len(words) == 1 and name.isascii() and name.isdigit():
            _complete(path, seen, count, at)
            count += 1
            if count > MOST_FRAMES:
                raise BadFile(path, f"has more than {MOST_FRAMES:,} frames", at)
        elif name not in width:
            raise BadFile(
                path,
                f"bone '{shown(name)}' has no degrees of freedom in the skeleton",
                at,
                "the ASF may belong to another subject",
            )
        elif len(words) - 1 != width[name]:
            what = f"has {len(words) - 1} values for '{name}' where the skeleton declares {width[name]}"
            raise BadFile(path, what, at, "the ASF may belong to another subject, or the file may be truncated")
        elif seen[name] != count - 1 or count == 0:
            raise BadFile(path, _misplaced(name, seen[name], count), at, "each frame needs the same bones once")
        else:
            seen[name] = count
            values[name] += words[1:]
    if count == 0:
        raise BadFile(path, "contains no frames", would_do="each begins with its number on a line of its own")
    _complete(path, seen, count, "last frame")
    if not seen["root"]:
        raise BadFile(path, "has no data for the root", would_do="each frame needs a line for it")
    try:
        return {name: numbers(path, words, "").reshape(count, -1) for name, words in values.items() if words}, degrees
    except BadFile:
        for k, line in enumerate(lines):
            if (words := line.split()) and words[0] in width:
                numbers(path, words[1:], f"line {k + 1}")
        raise


def _misplaced(name: str, last: int, count: int) -> str:
    if count == 0:
        return f"'{name}' comes before a frame's number"
    return f"'{name}' comes twice in a frame" if last == count else f"frame {last + 1} lacks '{name}'"


def _complete(path: str | Path, seen: dict[str, int], count: int, where: str) -> None:
    """Every bone that moves in the first frame must move in each."""
    if count == 0:
        return
    here = [name for name, last in seen.items() if last == count]
    odd = [name for name, last in seen.items() if 0 < last < count]
    if odd or not here:
        what = f"frame {count} lacks '{odd[0]}'" if odd else f"frame {count} is empty"
        raise BadFile(path, what, where, "each frame needs the same bones")


def _remarks(tracks: dict[str, Array], channels: dict[str, tuple[str, ...]]) -> list[str]:
    notes = []
    still = [name for name in channels if name not in tracks]
    if still:
        notes.append(f"No motion for {', '.join(still)}; kept at rest.")
    stretched = [name for name, dofs in channels.items() if name != "root" and any(d[0] != "r" for d in dofs)]
    if stretched:
        notes.append(f"Bones are assumed rigid: length changes of {', '.join(stretched)} were ignored.")
    return notes


def _rotations(asf: AsfSkeleton, tracks: dict[str, Array], degrees: bool) -> Array:
    """Local rotations (T, J, 4) in the file's axes."""
    count = len(tracks["root"])
    q = np.tile(rot.IDENTITY, (count, len(asf.skeleton), 1))
    for name, values in tracks.items():
        dofs = asf.root_channels if name == "root" else asf.bones[name].dofs
        order = asf.root_rotations if name == "root" else dofs
        turns = [d for d in order if d[0] == "r" and d in dofs]
        axes = asf.root_axes if name == "root" else asf.bones[name].axes
        angles: NDArray = values[:, [dofs.index(d) for d in reversed(turns)]]
        # the first listed turn is applied first, so it stands last in the product
        own = conv.euler_to_quaternions(
            ["xyz".index(d[1]) for d in reversed(turns)], angles if degrees else np.degrees(angles)
        )
        q[:, asf.skeleton.index(name)] = rot.multiply(rot.multiply(axes, own), rot.conjugate(axes))
    return q
