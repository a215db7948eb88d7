"""The text of a BVH file as plain arrays in the file's own units, axes and degrees."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from elbowroom.errors import BadFile
from elbowroom.files.text import numbers, read_lines, shown
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import MOST_FRAMES

# A person with every finger, eye and lock of hair has a few hundred; past this the nesting is damage.
MOST_JOINTS = 2000
# Rotation order for joints whose file states none, and for clips that no BVH file brought.
DEFAULT_ORDER = "ZXY"

_CHANNELS = {f"{axis}{kind}": (kind[0], k) for kind in ("position", "rotation") for k, axis in enumerate("xyz")}


@dataclass
class RawJoint:
    """One ROOT, JOINT or End Site. Channels are (column, axis 0..2) in the file's order."""

    name: str
    parent: int
    line: int
    is_end: bool = False
    offset: Array | None = None
    positions: list[tuple[int, int]] = field(default_factory=list)
    rotations: list[tuple[int, int]] = field(default_factory=list)
    channels_line: int = 0


@dataclass(frozen=True)
class RawBvh:
    """Hierarchy (parent-first), motion table (T, channels) and the text after 'Frame Time:'."""

    joints: list[RawJoint]
    motion: Array
    frame_time: str
    notes: tuple[str, ...]


def parse_bvh(path: str | Path) -> RawBvh:
    """Read the text of a BVH file; raises `BadFile` with a line number."""
    lines = read_lines(path, "BVH")
    joints, columns, k = _hierarchy(path, lines)
    count, frame_time, k = _motion_head(path, lines, k)
    motion, notes = _motion(path, lines, k, count, columns)
    return RawBvh(joints, motion, frame_time, notes)


def _hierarchy(path: str | Path, lines: list[str]) -> tuple[list[RawJoint], int, int]:
    """Joints, number of channels, and the index of the line after MOTION."""
    joints: list[RawJoint] = []
    open_joints: list[int] = []  # braces that are open, innermost last
    waiting = False  # a joint was named and its brace has not come yet
    columns = 0
    begun = False
    for k, line in enumerate(lines):
        words = line.replace("{", " { ").replace("}", " } ").split()
        at = f"line {k + 1}"
        while words:
            key = words[0].upper()
            if not begun:
                if key != "HIERARCHY":
                    raise BadFile(
                        path, f"found '{shown(words[0])}' instead of HIERARCHY", at, "a BVH file begins with it"
                    )
                begun = True
                words = words[1:]
            elif key == "{":
                if not waiting:
                    raise BadFile(path, "'{' opens without ROOT, JOINT or End Site before it", at)
                waiting = False
                open_joints.append(len(joints) - 1)
                words = words[1:]
            elif waiting:
                raise BadFile(path, f"found '{shown(words[0])}' instead of '{{'", at)
            elif key == "}":
                if not open_joints:
                    raise BadFile(path, "'}' without an opening '{'", at)
                closed = joints[open_joints.pop()]
                if closed.offset is None:
                    raise BadFile(path, f"joint '{shown(closed.name)}' has no OFFSET", at)
                words = words[1:]
            elif key in ("ROOT", "JOINT", "END"):
                stop = words.index("{") if "{" in words else len(words)
                joints.append(_joint(path, key, words[1:stop], joints, open_joints, k + 1))
                waiting = True
                words = words[stop:]
            elif key == "OFFSET":
                values = numbers(path, words[1:4], at)
                if not open_joints or len(values) < 3:
                    raise BadFile(path, "OFFSET needs three numbers within a joint", at)
                joints[open_joints[-1]].offset = values
                words = words[4:]
            elif key == "CHANNELS":
                if not open_joints:
                    raise BadFile(path, "CHANNELS is outside a joint", at)
                columns, used = _channels(path, words, joints[open_joints[-1]], columns, k + 1)
                words = words[used:]
            elif key == "MOTION":
                if open_joints:
                    raise BadFile(path, f"{len(open_joints)} braces are still open at MOTION", at)
                if not joints:
                    raise BadFile(path, "MOTION comes before any ROOT", at)
                return joints, columns, k + 1
            else:
                known = "ROOT, JOINT, End Site, OFFSET, CHANNELS, MOTION and braces"
                raise BadFile(path, f"'{shown(words[0])}' is unknown here", at, f"known are {known}")
    raise BadFile(path, "ends before MOTION" if begun else "has no HIERARCHY", f"line {len(lines)}")


def _joint(
    path: str | Path, key: str, words: list[str], joints: list[RawJoint], open_joints: list[int], line: int
) -> RawJoint:
    at = f"line {line}"
    if len(joints) >= MOST_JOINTS:
        raise BadFile(path, f"has more than {MOST_JOINTS} joints", at, "characters have fewer")
    if key == "ROOT":
        if open_joints:
            raise BadFile(path, "ROOT is inside another joint", at)
        if joints:
            raise BadFile(path, "has a second ROOT", at, "only one character per file is supported")
        return RawJoint(" ".join(words) or "root", -1, line)
    if not open_joints:
        raise BadFile(path, f"{key.title()} is outside ROOT", at)
    parent = open_joints[-1]
    if joints[parent].is_end:
        raise BadFile(path, f"{key.title()} is inside an End Site", at)
    if key == "END":
        return RawJoint(f"{joints[parent].name}_end", parent, line, is_end=True)
    return RawJoint(" ".join(words) or f"joint{len(joints)}", parent, line)


def _channels(path: str | Path, words: list[str], joint: RawJoint, columns: int, line: int) -> tuple[int, int]:
    """Add a CHANNELS line to a joint; gives the number of columns so far and how many words it took."""
    at = f"line {line}"
    if joint.is_end or joint.channels_line:
        raise BadFile(
            path,
            f"CHANNELS of '{shown(joint.name)}' are not allowed here",
            at,
            "one such line per joint is allowed",
        )
    joint.channels_line = line
    count = words[1] if len(words) > 1 else "nothing"
    if not (count.isascii() and count.isdigit() and int(count) <= 6):
        raise BadFile(path, f"CHANNELS '{shown(count)}' is not a number from 0 to 6", at)
    names = words[2 : 2 + int(count)]
    if len(names) < int(count):
        raise BadFile(path, f"CHANNELS declares {count} channels and names {len(names)}", at)
    for name in names:
        known = _CHANNELS.get(name.lower())
        if known is None:
            raise BadFile(path, f"channel '{shown(name)}' is unknown", at, "known are X, Y, Z position and rotation")
        kind, axis = known
        mine = joint.positions if kind == "p" else joint.rotations
        if axis in (a for _, a in mine):
            raise BadFile(path, f"channel '{name}' is listed twice", at)
        mine.append((columns, axis))
        columns += 1
    return columns, 2 + int(count)


def _motion_head(path: str | Path, lines: list[str], k: int) -> tuple[int, str, int]:
    """Frame count, text of the frame time, and the index of the first line of data."""
    count = -1
    frame_time = ""
    while k < len(lines) and (count < 0 or not frame_time):
        words = lines[k].replace(":", ": ").split()
        at = f"line {k + 1}"
        k += 1
        if not words:
            continue
        head = " ".join(words[:-1]).lower().replace(" ", "")
        if head == "frames:":
            if not (words[-1].isascii() and words[-1].isdigit() and int(words[-1][:18]) > 0):
                raise BadFile(path, f"'Frames: {shown(words[-1])}' is not a positive whole number", at)
            count = int(words[-1][:18])
            if count > MOST_FRAMES:
                raise BadFile(path, f"declares {count:,} frames", at, f"at most {MOST_FRAMES:,} are read")
        elif head == "frametime:":
            frame_time = words[-1]
            seconds = numbers(path, [frame_time], at)[0]
            if not 1e-5 <= seconds <= 10.0:
                raise BadFile(path, f"frame time {frame_time} is not usable", at, "0.00001 to 10 s are, e.g. 0.033333")
        else:
            raise BadFile(
                path,
                f"'{shown(lines[k - 1].strip())}' is unknown here",
                at,
                "Frames: and Frame Time: come first",
            )
    if count < 0 or not frame_time:
        raise BadFile(path, "ends before Frames: and Frame Time: were given", f"line {len(lines)}")
    return count, frame_time, k


def _motion(path: str | Path, lines: list[str], start: int, count: int, columns: int) -> tuple[Array, tuple[str, ...]]:
    """The table (T, columns); rows may be wrapped over lines as long as the number of values is right."""
    if columns == 0:
        raise BadFile(path, "declares no channels", would_do="at least the root needs CHANNELS")
    words = " ".join(lines[start:]).split()
    rows, rest = divmod(len(words), columns)
    if rest or rows < count:
        raise _wrong_count(path, lines, start, count, columns, rows)
    notes: tuple[str, ...] = ()
    if rows > count:
        notes = (f"The file declares {count} frames and has {rows}; the first {count} are used.",)
        words = words[: count * columns]
    try:
        values = numbers(path, words, "")
    except BadFile:
        for k in range(start, len(lines)):
            numbers(path, lines[k].split(), f"line {k + 1}")
        raise
    return np.ascontiguousarray(values.reshape(count, columns)), notes


def _wrong_count(path: str | Path, lines: list[str], start: int, count: int, columns: int, rows: int) -> BadFile:
    """The most helpful sentence about a table of the wrong size."""
    for k in range(start, len(lines)):
        n = len(lines[k].split())
        if n and n != columns:
            what = f"has {n} values where the hierarchy declares {columns} channels"
            return BadFile(path, what, f"line {k + 1}", "each frame needs one value per channel")
    return BadFile(path, f"declares {count} frames and has {rows}", f"line {len(lines)}", "the file may be truncated")
