"""Write a world to any known format, by suffix; several files are all written or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from elbowroom.errors import BadFile
from elbowroom.files.atomic import check_writable, said_of, writing
from elbowroom.motion.clip import Clip
from elbowroom.world.world import World

# Frames a second of an HTML page: a browser shows no difference, and the page has half the size.
_PAGE_FPS = 30.0

SUFFIXES = ".glb, .bvh, .npz, .html, .usd, .usda, .usdc"


def check_outputs(paths: Sequence[str | Path]) -> list[Path]:
    """The paths, if each can be written: known suffix, writable, none named twice. Call before long work."""
    out = [Path(p) for p in paths]
    for p in out:
        if p.suffix.lower() not in _WRITERS:
            raise BadFile(p, f"has a suffix that cannot be written: '{p.suffix}'", would_do=f"these can: {SUFFIXES}")
        check_writable(p)
    if len({p.resolve() for p in out}) < len(out):
        raise BadFile(out[0], "the same output is named twice")
    return out


def check_world(paths: Sequence[str | Path], world: World) -> None:
    """Raise where a path is of a format that cannot hold the world. Call before long work."""
    for path in paths:
        if Path(path).suffix.lower() == ".bvh" and len(world.characters) != 1:
            raise BadFile(path, f"BVH holds one character, not {len(world.characters)}", would_do="write .glb or .npz")


def save(paths: Sequence[str | Path], world: World, fps: float | None = None) -> list[Path]:
    """Write the world to every path, all or none. `fps` defaults to the rate of the first clip, else 30."""
    targets = check_outputs(paths)
    check_world(targets, world)
    rate = fps or next((m.fps for m in world.characters.values() if isinstance(m, Clip)), 30.0)
    with writing(*targets) as stand_ins:
        for target, stand_in in zip(targets, stand_ins, strict=True):
            with said_of(target):
                _WRITERS[target.suffix.lower()](stand_in, world, rate)
    return targets


def _bvh(path: Path, world: World, fps: float) -> None:
    from elbowroom.files.bvh import write_bvh
    from elbowroom.motion.layers import to_clip

    motion = next(iter(world.characters.values()))
    clip = motion if isinstance(motion, Clip) and motion.fps == fps else to_clip(motion, fps)
    write_bvh(path, clip)


def _glb(path: Path, world: World, fps: float) -> None:
    from elbowroom.files.glb_write import write_glb

    write_glb(path, world, fps)


def _npz(path: Path, world: World, fps: float) -> None:
    from elbowroom.files.npz import write_npz

    write_npz(path, world, fps)


def _html(path: Path, world: World, fps: float) -> None:
    from elbowroom.files.html import write_html

    write_html(path, world, min(fps, _PAGE_FPS))


def _usd(path: Path, world: World, fps: float) -> None:
    from elbowroom.files.usd import write_usd

    write_usd(path, world, fps)


_WRITERS: dict[str, Callable[[Path, World, float], None]] = {
    ".glb": _glb,
    ".bvh": _bvh,
    ".npz": _npz,
    ".html": _html,
    ".usd": _usd,
    ".usda": _usd,
    ".usdc": _usd,
}
