"""Read ASF, the skeleton of Acclaim's pair of formats.

A bone becomes the joint at its start, under the bone's name; its children sit at its end. Bones that end the
tree get a leaf joint '<bone>_end'. Joint frames are world-aligned in the zero pose: a bone's own axes C only
say about which lines its angles turn, so a frame's rotation is C M C^-1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile
from elbowroom.files import conventions as conv
from elbowroom.files.bvh_text import MOST_JOINTS
from elbowroom.files.text import numbers, read_lines, shown
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array

_SECTIONS = ("version", "name", "units", "documentation", "root", "bonedata", "hierarchy", "skin")


@dataclass
class Bone:
    """One bone in the file's units; `axes` turns its own frame to the world's; `dofs` are like rx, ry, rz."""

    name: str
    line: int
    direction: Array = field(default_factory=lambda: np.zeros(3))
    length: float = 0.0
    axes: Array = field(default_factory=lambda: rot.IDENTITY)
    dofs: tuple[str, ...] = ()
    parent: str = ""

    @property
    def vector(self) -> Array:
        """Vector from the bone's start to its end."""
        return self.direction * self.length


@dataclass(frozen=True)
class AsfSkeleton:
    """Skeleton in metres, Z up, its bones, and the data needed to read a motion for it."""

    skeleton: Skeleton
    bones: dict[str, Bone]
    root_place: Array  # (3,), file units and axes
    root_axes: Array  # (4,)
    root_channels: tuple[str, ...]
    root_rotations: tuple[str, ...]  # in the order in which they are applied
    degrees: bool
    units: float
    up: str
    notes: tuple[str, ...]


def read_asf(path: str | Path, *, units: float | None = None, up: str | None = None) -> Character:
    """The character of an ASF file. units: metres per file unit; up: 'Y' (assumed) or 'Z'."""
    asf = parse_asf(path, units=units, up=up)
    return as_character(asf.skeleton, name=Path(path).stem, notes=asf.notes)


def parse_asf(path: str | Path, *, units: float | None = None, up: str | None = None) -> AsfSkeleton:
    """Parse an ASF file; raises `BadFile` with a line number."""
    sections = dict(_sections(path, read_lines(path, "ASF")))
    for needed in ("root", "bonedata", "hierarchy"):
        if needed not in sections:
            raise BadFile(path, f"has no :{needed} section", would_do=f"known are :{', :'.join(_SECTIONS)}")
    settings = {words[0].lower(): (line, words[1:]) for line, words in sections.get("units", []) if words[1:]}
    degrees = settings.get("angle", (0, ["deg"]))[1][0].lower().startswith("deg")
    place, axes, channels, order = _root(path, sections["root"], degrees)
    bones = _bones(path, sections["bonedata"], degrees)
    children = _hierarchy(path, sections["hierarchy"], bones)
    names, parents, offsets = _joints(path, bones, children)

    notes: list[str] = []
    if units is None:
        line, words = settings.get("length", (0, ["1"]))
        length = float(numbers(path, words[:1], f"line {line}")[0])
        if length <= 0:
            raise BadFile(path, f"length unit {length:g} is not positive", f"line {line}", "CMU uses 0.45")
        likely = (f"inches times {length:g}, from the length unit in the file", conv.INCH / length)
        units, note = conv.guess_units(conv.body_height(parents, offsets), likely)
        notes.append(note)
    units = conv.checked_units(units)
    conv.check_bones(path, names, offsets * units)
    if up is None:
        notes.append("Up axis assumed: Y, the usual convention (option: up).")
    up = conv.checked_up(up or "Y")
    skeleton = Skeleton(tuple(names), np.array(parents, np.int32), conv.turned_points(offsets * units, up))
    return AsfSkeleton(skeleton, bones, place, axes, channels, order, degrees, units, up, tuple(notes))


Lines = list[tuple[int, list[str]]]


def _sections(path: str | Path, lines: list[str]) -> Iterator[tuple[str, Lines]]:
    """Sections by name, each as its lines' numbers and words."""
    name, content = "", Lines()
    for k, line in enumerate(lines):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0].startswith(":"):
            if name:
                yield name, content
            name, content = words[0][1:].lower(), Lines()
            words = words[1:]
            if name not in _SECTIONS:
                raise BadFile(
                    path,
                    f"section ':{shown(name)}' is unknown",
                    f"line {k + 1}",
                    f"known are :{', :'.join(_SECTIONS)}",
                )
        elif not name:
            raise BadFile(
                path,
                f"'{shown(words[0])}' comes before any section",
                f"line {k + 1}",
                "an ASF file begins with :version",
            )
        if words:
            content.append((k + 1, words))
    if name:
        yield name, content


def _euler(path: str | Path, words: list[str], line: int, degrees: bool) -> Array:
    """A rotation from three angles and an order such as XYZ: the first letter's turn is applied first."""
    order = words[3].upper() if len(words) > 3 else "XYZ"
    if len(words) < 3 or sorted(order) != ["X", "Y", "Z"]:
        raise BadFile(path, "an axis needs three angles and an order such as XYZ", f"line {line}")
    angles = dict(zip("XYZ", numbers(path, words[:3], f"line {line}"), strict=True))
    turned = np.array([angles[a] for a in reversed(order)])
    return rot.from_euler(order[::-1], np.radians(turned) if degrees else turned)


def _root(path: str | Path, lines: Lines, degrees: bool) -> tuple[Array, Array, tuple[str, ...], tuple[str, ...]]:
    """Place and axes of the root at rest, its channels, and the order of its rotations."""
    entries = {words[0].lower(): (line, words[1:]) for line, words in lines}
    line, channels = entries.get("order", (0, ["TX", "TY", "TZ", "RX", "RY", "RZ"]))
    names = tuple(c.lower() for c in channels)
    if len(set(names)) != len(names) or not set(names) <= {"tx", "ty", "tz", "rx", "ry", "rz"}:
        raise BadFile(
            path,
            f"root order '{shown(' '.join(channels))}' is unknown",
            f"line {line}",
            "expected TX TY TZ RX RY RZ",
        )
    line, axis = entries.get("axis", (0, ["XYZ"]))
    order = (axis or [""])[0].upper()
    if sorted(order) != ["X", "Y", "Z"]:
        raise BadFile(path, f"root axis '{shown(order)}' is not an order of X, Y, Z", f"line {line}")
    line, words = entries.get("position", (0, ["0", "0", "0"]))
    place = numbers(path, words[:3], f"line {line}")
    if len(place) < 3:
        raise BadFile(path, "root position needs three numbers", f"line {line}")
    line, words = entries.get("orientation", (0, ["0", "0", "0"]))
    return (
        place,
        _euler(path, [*words[:3], order], line, degrees),
        names,
        tuple(f"r{a.lower()}" for a in order),
    )


def _bones(path: str | Path, lines: Lines, degrees: bool) -> dict[str, Bone]:
    bones: dict[str, Bone] = {}
    bone: Bone | None = None
    for line, words in lines:
        at = f"line {line}"
        key = words[0].lower()
        if key == "begin":
            if bone is not None:
                raise BadFile(path, "'begin' comes before the last bone's 'end'", at)
            bone = Bone("", line)
        elif bone is None:
            raise BadFile(path, f"'{shown(words[0])}' is outside begin and end", at)
        elif key == "end":
            if not bone.name or bone.name in bones or bone.name == "root" or len(bones) >= MOST_JOINTS:
                raise BadFile(path, f"bone '{shown(bone.name)}' has no unique name", at)
            bones[bone.name], bone = bone, None
        elif key == "name":
            bone.name = " ".join(words[1:])
        elif key == "direction":
            bone.direction = numbers(path, words[1:4], at)
            if len(bone.direction) < 3:
                raise BadFile(path, "direction needs three numbers", at)
        elif key == "length":
            bone.length = float(numbers(path, words[1:2] or [""], at)[0])
        elif key == "axis":
            bone.axes = _euler(path, words[1:], line, degrees)
        elif key == "dof":
            bone.dofs = tuple(w.lower() for w in words[1:])
            if len(set(bone.dofs)) < len(bone.dofs) or not set(bone.dofs) <= {
                "rx",
                "ry",
                "rz",
                "tx",
                "ty",
                "tz",
                "l",
            }:
                raise BadFile(path, f"dof '{shown(' '.join(words[1:]))}' is unknown", at, "expected rx, ry, rz")
        elif key not in ("id", "limits", "bodymass", "cofmass") and not key.startswith(("(", "-", "+")):
            raise BadFile(path, f"'{shown(words[0])}' is unknown within a bone", at)
    if bone is not None:
        raise BadFile(path, f"bone '{shown(bone.name)}' has no 'end'", f"line {bone.line}", "the end may be missing")
    return bones


def _hierarchy(path: str | Path, lines: Lines, bones: dict[str, Bone]) -> dict[str, list[str]]:
    """Children by name; sets each bone's parent. The bones must form a tree below the root."""
    children: dict[str, list[str]] = {}
    closed = False
    for line, words in lines:
        at = f"line {line}"
        if words[0].lower() in ("begin", "end"):
            closed = words[0].lower() == "end"
            continue
        for name in words:
            if name != "root" and name not in bones:
                raise BadFile(path, f"bone '{shown(name)}' is not in :bonedata", at)
        for name in words[1:]:
            if name == "root" or bones[name].parent:
                raise BadFile(path, f"bone '{shown(name)}' gets a second parent", at, "bones must form a tree")
            bones[name].parent = words[0]
            children.setdefault(words[0], []).append(name)
    if not closed:
        raise BadFile(path, "the hierarchy has no 'end'", would_do="the end of the file may be missing")
    return children


def _joints(
    path: str | Path, bones: dict[str, Bone], children: dict[str, list[str]]
) -> tuple[list[str], list[int], Array]:
    """Joint names, parents and offsets (J, 3) in file units and axes, depth first from the root."""
    names: list[str] = []
    parents: list[int] = []
    offsets: list[Array] = []
    todo: list[tuple[str, int, Array]] = [("root", -1, np.zeros(3))]
    while todo:
        name, parent, offset = todo.pop()
        here = len(names)
        names.append(name)
        parents.append(parent)
        offsets.append(offset)
        end = bones[name].vector if name in bones else np.zeros(3)
        todo += [(child, here, end) for child in reversed(children.get(name, []))]
        if name in bones and name not in children:
            todo.append((f"{name}_end", here, end))
    loose = [name for name in bones if name not in set(names)]
    if loose:
        what = f"bone '{shown(loose[0])}' is not connected to the root (a cycle, or it is missing from :hierarchy)"
        raise BadFile(path, what, f"line {bones[loose[0]].line}", "bones must form a tree")
    if len(names) < 2:
        raise BadFile(path, "has a root and no bones", would_do="a character needs limbs")
    return names, parents, np.array(offsets)
