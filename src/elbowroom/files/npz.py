"""NPZ: a world as plain arrays that `numpy.load` reads without pickle, to train on and to check."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character, Skin
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadFile, BadValue, ElbowroomError, UnknownName
from elbowroom.files.atomic import writing
from elbowroom.files.content import CONTENT, ProofClaim, contacts_of, npz_content, proof_of
from elbowroom.files.edits import Edited, npz_arrays, read_npz_edits
from elbowroom.files.glb_nodes import distinct
from elbowroom.files.npz_arrays import NpzArrays
from elbowroom.files.npz_skin import read_skin, skin_arrays
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, folded, unfolded
from elbowroom.motion.clip import MOST_FRAMES, Clip, Motion, Source
from elbowroom.world.certificate_findings import Allowed
from elbowroom.world.contacts import DECLARED
from elbowroom.world.evidence import Excused, dropped_mask
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import Keyed, places
from elbowroom.world.played import PlayedWorld, played
from elbowroom.world.robots import of_one_robot, robots_as_things
from elbowroom.world.things import Hold, Linked, Thing
from elbowroom.world.world import World

_KINDS = ("capsule", "sphere", "box", "mesh")
# Characters in a file.
_MOST_CHARACTERS = 200


def write_npz(
    path: str | Path,
    world: World,
    fps: float = 30.0,
    proof: ProofClaim | None = None,
    edited: Edited | None = None,
    further: Mapping[str, NDArray] | None = None,
) -> None:
    """Write a world on frames, `fps` a second, with its proof, its edits on the same frames, and further arrays.

    `floor` is NaN where there is none; '/' in names becomes '_'.
    """
    on = played(world, fps)
    proof = proof_of(on) if proof is None else proof
    world, times = robots_as_things(on), on.times
    plain = _Plain(world)
    arrays: dict[str, NDArray] = {
        "times": times,
        "fps": np.array(on.fps),
        "floor": np.array(np.nan if world.floor is None else float(world.floor)),
        "allowed_pair": plain.pairs(a.pair for a in proof.allowed),
        "allowed_depth": np.array([a.depth_m for a in proof.allowed], float),
        "allowed_during": np.array([a.during for a in proof.allowed], float).reshape(-1, 2),
        "allowed_why": np.array([a.why for a in proof.allowed], np.str_),
        "allowed_shift": np.array([a.shift or (np.nan,) * 3 for a in proof.allowed], float).reshape(-1, 3),
        "excused_pair": plain.pairs(e.pair for e in proof.excused),
        "excused_during": np.array([e.during for e in proof.excused], float).reshape(-1, 2),
        "ignored_pair": plain.pairs(proof.ignored),
        "linked_pair": plain.pairs((link.a, link.b) for link in world.linked),
        "linked_during": np.array([link.during for link in world.linked], float).reshape(-1, 2),
    }
    for i, hold in enumerate(world.holds):
        arrays |= {f"hold/{i}/object": np.array(plain(hold.object)), f"hold/{i}/by": np.array(plain(hold.by))}
        arrays |= {f"hold/{i}/hand": np.array(hold.hand), f"hold/{i}/during": np.array(hold.during, float)}
        arrays[f"hold/{i}/leads"] = np.array(hold.leads)
    for name, motion in world.characters.items():
        arrays |= {f"char/{plain(name)}/{key}": value for key, value in _character(name, motion, times).items()}
    arrays |= skin_arrays(
        {plain(name): m.body for name, m in world.characters.items() if isinstance(m.body, Character)}
    )
    for name, mesh in world.static.items():
        at = f"static/{plain(name)}"
        arrays |= {f"{at}/vertices": mesh.vertices, f"{at}/faces": mesh.faces}
        arrays[f"{at}/dropped"] = dropped_mask(mesh, name, world.floor)
    for name, thing in world.things.items():
        at = f"object/{plain(name)}"
        arrays |= {f"{at}/vertices": thing.mesh.vertices, f"{at}/faces": thing.mesh.faces}
        arrays[f"{at}/T_world_object"] = places(thing.path, times)
    if edited is not None:
        arrays |= npz_arrays(edited, plain)
    arrays = {**(further or {}), **arrays}
    evidence = proof.evidence()
    evidence[CONTENT] = npz_content(arrays, evidence)
    arrays["evidence"] = np.array(json.dumps(evidence))
    with writing(path) as (stand_in,), open(stand_in, "wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


class _Plain:
    """Names as they are in the file: without '/', still different from each other, the same in pairs and in keys."""

    def __init__(self, world: World) -> None:
        self._world = world
        names = [*world.characters, *world.static, *world.things]
        self._of = dict(zip(names, distinct(name.replace("/", "_") for name in names), strict=True))

    def __call__(self, name: str) -> str:
        owner, part = self._world.split(name)
        plain = self._of.get(owner, owner.replace("/", "_"))
        return f"{plain}.{part.replace('/', '_')}" if part else plain

    def pairs(self, pairs: Iterable[tuple[str, str]]) -> NDArray:
        """Pairs of names (K, 2)."""
        return np.array([(self(a), self(b)) for a, b in pairs], np.str_).reshape(-1, 2)


def _character(name: str, motion: Motion, times: Array) -> dict[str, NDArray]:
    body = motion.body
    if not isinstance(body, Character):
        raise BadValue(f"'{name}' is not a character and cannot be written to NPZ.")
    skeleton, (shapes, own) = body.skeleton, unfolded(body.shapes)
    root, q = motion.sample(times)
    out: dict[str, NDArray] = {
        "joint_names": np.array(skeleton.names, dtype=np.str_),
        "parents": skeleton.parents,
        "offsets": skeleton.offsets,
        "rest": skeleton.rest,
        "rotations": q,
        "root": root,
        "T_world_joint": skeleton.forward(root, q),
        "role_names": np.array(list(body.roles), dtype=np.str_),
        "role_joints": np.array(list(body.roles.values()), dtype=np.int32),
        "shape_names": np.array([s.name.replace("/", "_") for s in shapes], dtype=np.str_),
        "shape_joint": np.array([s.joint for s in shapes], dtype=np.int32),
        "shape_kind": np.array([s.kind for s in shapes], dtype=np.str_),
        "shape_size": np.array([s.size for s in shapes]).reshape(-1, 3),
        "T_joint_shape": np.array([s.T_joint_shape for s in shapes]).reshape(-1, 4, 4),
        "shape_own": own,
    }
    for i, shape in enumerate(shapes):
        if shape.mesh is not None:
            out[f"mesh/{i}/vertices"], out[f"mesh/{i}/faces"] = shape.mesh.vertices, shape.mesh.faces
    return out


def read_edited_npz(path: str | Path) -> tuple[World, Edited]:
    """Read what `write_npz` wrote, and the edits that its motions have."""
    with NpzArrays(Path(path)) as file:
        world = _world(file, _proof(file))
        return world.riding(), read_npz_edits(file, world.characters)


def read_npz(path: str | Path) -> World:
    """Read what `write_npz` wrote: characters with clips, static meshes, objects that move with hands."""
    return read_played_npz(path)[0].riding()


def read_played_npz(path: str | Path) -> tuple[PlayedWorld, ProofClaim]:
    """Read a world exactly as the file plays it, and the proof that it carries."""
    with NpzArrays(Path(path)) as file:
        proof = _proof(file)
        return _world(file, proof), proof


def _world(file: NpzArrays, proof: ProofClaim) -> PlayedWorld:
    times = file.get("times", 1)
    fps = float(file.get("fps", 0))
    floor = float(file.get("floor", 0))
    if len(times) > MOST_FRAMES:
        raise BadFile(file.path, f"has {len(times):,} frames", "times", f"at most {MOST_FRAMES:,} are read")
    if not len(times) or not (0 < fps < np.inf) or not np.allclose(np.diff(times), 1.0 / fps, rtol=1e-3, atol=0.0):
        raise BadFile(file.path, "needs increasing times, 1 / fps apart", where="times, fps")
    if len(file.names("char")) > _MOST_CHARACTERS:
        raise BadFile(file.path, f"contains more than {_MOST_CHARACTERS} characters")
    skins: dict[str, Skin] = {}
    characters = {name: _clip(file, name, fps, times, skins) for name in file.names("char")}
    static = {name: file.mesh(f"static/{name}") for name in file.names("static")}
    objects = {}
    for name in file.names("object"):
        T = file.get(f"object/{name}/T_world_object", 3, (len(times), 4, 4))
        turn = T[:, :3, :3]
        if np.abs(turn @ turn.swapaxes(1, 2) - np.eye(3)).max() > 1e-3 or np.linalg.det(turn).min() < 0:
            raise BadFile(file.path, "contains transforms that are not rigid", where=f"object '{name}'")
        path = Keyed(times, T[:, :3, 3], rot.from_matrix(turn))
        objects[name] = Thing(mesh=file.mesh(f"object/{name}"), path=path)
    world = PlayedWorld(
        characters,
        static,
        objects,
        None if np.isnan(floor) else floor,
        contacts=contacts_of(proof.allowed),
        linked=tuple(filter(of_one_robot, (Linked(a, b, during) for (a, b), during in _rows(file, "linked")))),
        fps=fps,
        times=frozen(times),
    )
    return _with_holds(file, world)


def _proof(file: NpzArrays) -> ProofClaim:
    """Read the proof that the file carries."""
    rows = _rows(file, "allowed")
    depths = file.get("allowed_depth", 1, (len(rows),)) if rows else ()
    if np.any(np.asarray(depths) < 0.0):
        raise BadFile(file.path, "needs depths of zero or more", where="allowed_depth")
    stored = "allowed_why" in file and "allowed_shift" in file
    whys = [str(w) for w in file.get("allowed_why", 1, (len(rows),), "U")] if stored else [DECLARED] * len(rows)
    shifts = file.get("allowed_shift", 2, (len(rows), 3)) if stored else np.full((len(rows), 3), np.nan)
    allowed = []
    for (pair, during), depth, why, (x, y, z) in zip(rows, depths, whys, shifts.tolist(), strict=True):
        shift = (x, y, z) if np.isfinite([x, y, z]).all() else None
        allowed.append(Allowed(pair, float(depth), during, why, shift=shift))
    excused = [Excused(pair, during) for pair, during in _rows(file, "excused")]
    never = file.get("ignored_pair", 2, kind="U") if "ignored_pair" in file else np.zeros((0, 2), np.str_)
    if never.shape[1] != 2:
        raise BadFile(file.path, "needs pairs", where="ignored_pair")
    ignored = [Pair(str(a), str(b)) for a, b in never]
    facts: dict[str, Any] = {}
    if "evidence" in file:
        try:
            facts = json.loads(str(file.get("evidence", 0, kind="U")))
        except (ValueError, RecursionError):
            raise BadFile(file.path, "is not JSON", where="array 'evidence'") from None
        facts = facts if isinstance(facts, dict) else {}
    status, why = (str(facts.pop(key, "")) for key in ("status", "why"))
    return ProofClaim(status or "unchecked", why, tuple(allowed), tuple(excused), tuple(ignored), facts)


def _rows(file: NpzArrays, what: str) -> list[tuple[Pair, tuple[float, float]]]:
    """Pairs with their intervals."""
    if f"{what}_pair" not in file:
        return []
    pairs = file.get(f"{what}_pair", 2, kind="U")
    during = file.get(f"{what}_during", 2, (len(pairs), 2))
    if pairs.shape[1] != 2 or np.any(during[:, 0] > during[:, 1]):
        raise BadFile(file.path, "needs pairs and intervals", where=f"{what}_pair")
    return [(Pair(str(a), str(b)), (float(t), float(u))) for (a, b), (t, u) in zip(pairs, during, strict=True)]


def _with_holds(file: NpzArrays, world: PlayedWorld) -> PlayedWorld:
    """Holds as the file has them; whatever is held exists."""
    holds = []
    for i in file.names("hold"):
        object, by, hand = (str(file.get(f"hold/{i}/{key}", 0, kind="U")) for key in ("object", "by", "hand"))
        begin, end = file.get(f"hold/{i}/during", 1, (2,))
        try:
            world.body(by).hand(hand)
            if object not in world.objects:
                raise UnknownName("object", object, world.objects)
            key = f"hold/{i}/leads"
            leads = bool(file.get(key, 0, kind="b")) if key in file else True
            holds.append(Hold(object, by, hand, (float(begin), float(end)), leads=leads))
        except ElbowroomError as error:
            raise BadFile(file.path, str(error).rstrip("."), where=f"hold {i}") from None
    return replace(world, holds=tuple(holds))


def _clip(file: NpzArrays, name: str, fps: float, times: Array, skins: dict[str, Skin]) -> Clip:
    at = f"char/{name}"
    names = [str(n) for n in file.get(f"{at}/joint_names", 1, kind="U")]
    count = len(names)
    rest = file.get(f"{at}/rest", 2, (count, 4)) if f"{at}/rest" in file else None
    rotations = file.get(f"{at}/rotations", 3, (len(times), count, 4))
    parents, offsets = file.get(f"{at}/parents", 1, (count,), "iu"), file.get(f"{at}/offsets", 2, (count, 3))
    try:
        skeleton = Skeleton(tuple(names), parents, offsets, rest)  # type: ignore[arg-type]
    except ElbowroomError as error:
        raise BadFile(file.path, str(error).rstrip("."), where=f"character '{name}'") from None
    character = as_character(skeleton, name=name)
    shapes = _shapes(file, at, count)
    # limits are found anew, but the skeleton, the shapes, the skin and what is a hand are the file's own
    roles = _roles(file, at, count) or character.roles
    character = character.with_(skeleton=skeleton, shapes=shapes, roles=roles, skin=read_skin(file, name, count, skins))
    root = file.get(f"{at}/root", 2, (len(times), 3))
    source = Source(path=str(file.path), format="NPZ")
    return Clip(character, fps, root, rotations, float(times[0]), name, source)


def _roles(file: NpzArrays, at: str, joints: int) -> dict[str, int]:
    """Joints by role; empty if the file does not store them."""
    if f"{at}/role_names" not in file:
        return {}
    names = file.get(f"{at}/role_names", 1, kind="U")
    numbers = file.get(f"{at}/role_joints", 1, (len(names),), "iu")
    if len(names) and not 0 <= int(numbers.min()) <= int(numbers.max()) < joints:
        raise BadFile(file.path, "refers to joints that do not exist", where=f"{at}/role_joints")
    return {str(name): int(joint) for name, joint in zip(names, numbers, strict=True)}


def _shapes(file: NpzArrays, at: str, joints: int) -> tuple[Shape, ...]:
    names = file.get(f"{at}/shape_names", 1, kind="U")
    count = len(names)
    joint = file.get(f"{at}/shape_joint", 1, (count,), "iu")
    kinds = [str(k) for k in file.get(f"{at}/shape_kind", 1, (count,), "U")]
    size, T = file.get(f"{at}/shape_size", 2, (count, 3)), file.get(f"{at}/T_joint_shape", 3, (count, 4, 4))
    if not set(kinds) <= set(_KINDS) or (count and not 0 <= int(joint.min()) <= int(joint.max()) < joints):
        raise BadFile(file.path, "refers to unknown kinds or joints", where=f"{at}/shape_kind, shape_joint")
    own = np.full(count, -1)  # as in files of versions that had one set of shapes
    if f"{at}/shape_own" in file:
        own = file.get(f"{at}/shape_own", 1, (count,), "iu").astype(int)
    has, slim = np.flatnonzero(own != -1), own[own != -1]
    once = len(np.unique(slim)) == len(slim) and not np.isin(slim, has).any()
    if not (once and np.isin(slim, np.arange(count)).all() and (joint[has] == joint[slim]).all()):
        raise BadFile(file.path, "has slimmer shapes that stand for none of their joint", where=f"{at}/shape_own")
    rows = [
        Shape(
            str(names[i]),
            int(joint[i]),
            kinds[i],  # type: ignore[arg-type]
            size[i],
            T[i],
            file.mesh(f"{at}/mesh/{i}") if kinds[i] == "mesh" else None,
        )
        for i in range(count)
    ]
    return folded(rows, own)
