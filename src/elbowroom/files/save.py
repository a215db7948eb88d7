"""Write a world to any known format, by suffix; several files are all written or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from numpy.typing import NDArray

from elbowroom.character.visual import shapes_skin
from elbowroom.errors import BadFile
from elbowroom.files.atomic import check_writable, said_of, writing
from elbowroom.files.content import ProofClaim, proof_of
from elbowroom.files.edits import Edited, edited
from elbowroom.files.far import NEAR_M, spread_m
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import with_lead
from elbowroom.world.certificate import Certificate
from elbowroom.world.edit import Edit, Motions
from elbowroom.world.played import PlayedWorld, played
from elbowroom.world.world import World

# Formats that show skins.
_DRAWN = (".glb", ".html", ".usd", ".usda", ".usdc")
SUFFIXES = ".glb, .bvh, .npz, .npy, .html, .usd, .usda, .usdc"


def check_outputs(paths: Sequence[str | Path]) -> list[Path]:
    """The paths, if each can be written: known suffix, writable, none named twice. Call before long work."""
    out = [Path(p) for p in paths]
    for p in out:
        if p.suffix.lower() not in _WRITERS:
            raise BadFile(p, f"has an unsupported suffix: '{p.suffix}'", would_do=f"supported: {SUFFIXES}")
        check_writable(p)
    if len({p.resolve() for p in out}) < len(out):
        raise BadFile(out[0], "the same output is given twice")
    return out


def check_world(paths: Sequence[str | Path], world: World) -> None:
    """Raise where a path is of a format that cannot hold the world. Call before long work."""
    for path in paths:
        kind = {".bvh": "BVH", ".npy": "NPY"}.get(Path(path).suffix.lower())
        if kind is not None and len(world.characters) != 1:
            raise BadFile(
                path, f"{kind} stores one character, not {len(world.characters)}", would_do="write .glb or .npz"
            )


def save(
    paths: Sequence[str | Path],
    world: World,
    fps: float | None = None,
    *,
    certificate: Certificate | None = None,
    seed: int | None = None,
    inputs: Iterable[str | Path] = (),
    base: Motions | None = None,
    edits: Sequence[Edit] = (),
    shapes: bool = False,
) -> list[Path]:
    """Write the world to every path, all or none. `fps` defaults to the rate of the first clip.

    Everything is put on the frames of the file first; a `certificate` of just those frames goes into GLB and NPZ with
    all that it rests on, and so do the `seed` and hashes of the `inputs`. A file of other frames says that it is
    unchecked. The `edits` of a plan, over its `base`, go into both, too, as layers beside the motion.
    With `shapes`, GLB, HTML and USD show the collision geometry of people in place of their skins.
    """
    targets = check_outputs(paths)
    check_world(targets, world)
    on = played(world, fps)
    proof = proof_of(on, certificate, seed, inputs)
    layers = edited(on, base or {}, edits)
    seen = _with_shapes(on) if shapes else on
    with writing(*targets) as stand_ins:
        for target, stand_in in zip(targets, stand_ins, strict=True):
            with said_of(target):
                drawn = target.suffix.lower() in _DRAWN
                _WRITERS[target.suffix.lower()](stand_in, world, seen if drawn else on, proof, layers)
    return targets


def _with_shapes(on: PlayedWorld) -> PlayedWorld:
    """The same with collision shapes for skins."""
    people = {
        name: motion.with_(character=motion.character.with_(skin=shapes_skin(motion.character)))
        if isinstance(motion, Clip) and motion.character.shapes
        else motion
        for name, motion in on.characters.items()
    }
    return replace(on, characters=people)


def _bvh(path: Path, world: World, on: PlayedWorld, proof: ProofClaim, layers: Edited) -> None:
    from elbowroom.files.bvh import write_bvh

    (clip,), (original,) = on.characters.values(), world.characters.values()
    if not isinstance(clip, Clip):
        raise BadFile(path, "BVH stores a character, not a robot", would_do="write .glb or .npz")
    write_bvh(path, with_lead(clip, original) if isinstance(original, Clip) else clip)


def _glb(path: Path, world: World, on: PlayedWorld, proof: ProofClaim, layers: Edited) -> None:
    from elbowroom.files.glb_write import write_glb
    from elbowroom.files.verify import proven_again

    write_glb(path, on, on.fps, proof, layers)
    # numbers of 32 bits round a wide scene by more than proofs reserve
    if proof.status == "proven" and spread_m(on) > NEAR_M and not proven_again(path):
        why = (
            f"{proof.why}; not proven for this file, whose 32-bit numbers are too coarse for a scene this wide: use NPZ"
        )
        write_glb(path, on, on.fps, replace(proof, status="not proven", why=why), layers)


def _npz(path: Path, world: World, on: PlayedWorld, proof: ProofClaim, layers: Edited) -> None:
    from elbowroom.files.npz import write_npz

    write_npz(path, on, on.fps, proof, layers, _motion_arrays(world, on))


def _motion_arrays(world: World, on: PlayedWorld) -> dict[str, NDArray]:
    """Arrays of the only character's motion as in the file it was read from, if that was of the SMPL family."""
    from elbowroom.files.smpl import smpl_arrays

    if len(on.characters) != 1:
        return {}
    (clip,), (original,) = on.characters.values(), world.characters.values()
    return smpl_arrays(clip, original) if isinstance(clip, Clip) and isinstance(original, Clip) else {}


def _npy(path: Path, world: World, on: PlayedWorld, proof: ProofClaim, layers: Edited) -> None:
    from elbowroom.files.joint_positions import write_joint_positions

    (clip,), (original,) = on.characters.values(), world.characters.values()
    if not (isinstance(clip, Clip) and isinstance(original, Clip)):
        raise BadFile(path, "joint positions are those of a character, not of a robot", would_do="write .glb or .npz")
    write_joint_positions(path, clip, original.source)


def _html(path: Path, world: World, on: PlayedWorld, proof: ProofClaim, layers: Edited) -> None:
    from elbowroom.files.html import write_html

    write_html(path, on, on.fps)


def _usd(path: Path, world: World, on: PlayedWorld, proof: ProofClaim, layers: Edited) -> None:
    from elbowroom.files.usd import write_usd

    write_usd(path, on, on.fps)


_WRITERS: dict[str, Callable[[Path, World, PlayedWorld, ProofClaim, Edited], None]] = {
    ".glb": _glb,
    ".bvh": _bvh,
    ".npz": _npz,
    ".npy": _npy,
    ".html": _html,
    ".usd": _usd,
    ".usda": _usd,
    ".usdc": _usd,
}
