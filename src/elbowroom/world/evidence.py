"""Evidence for the file: everything that was allowed, excused, ignored or left out of a proof, with its bound; and the
digest of everything that a proof depends on: two worlds with the same digest play alike and allow the same.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.character.robot import Robot
from elbowroom.geometry.kept import contents
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.solidity import Demoted
from elbowroom.world.contacts import DECLARED, Caps
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_forms import mesh_surface
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import Interval, places
from elbowroom.world.scene_floor import FLUSH_M, Dropped
from elbowroom.world.skin_excess import SkinExcess
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.world.played import PlayedWorld

# Middles of triangles nearer than this are the same, metres.
_WELD_M = 1e-5


@dataclass(frozen=True)
class Flat:
    """Triangles (faces) of a mesh that have no area: lines and points, which nothing can hit."""

    name: str
    faces: int


@dataclass(frozen=True)
class LeftOut:
    """Geometry that a proof does not check, or not in full.

    dropped: triangles that the floor replaces; demoted: parts that count as surfaces without an inside; flat: triangles
    without an area.
    """

    dropped: tuple[Dropped, ...]
    demoted: tuple[Demoted, ...]
    flat: tuple[Flat, ...]

    @property
    def above_floor_m(self) -> float:
        """Metres above the floor up to which something was dropped; 0 where nothing was."""
        return max((d.above_floor_m for d in self.dropped), default=0.0)

    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """Plain data for JSON and files."""
        return {key: [asdict(entry) for entry in getattr(self, key)] for key in ("dropped", "demoted", "flat")}


def left_out(world: World) -> LeftOut:
    """Account for all static meshes and things of a world, in their order."""
    forms = {name: mesh_surface(mesh, name, world.floor) for name, mesh in world.static.items()}
    forms |= {name: mesh_surface(thing.mesh, name) for name, thing in world.objects.items()}
    # a mesh may have several names and keeps the entry of the first
    return LeftOut(
        tuple(replace(form.dropped, name=name) for name, form in forms.items() if form.dropped is not None),
        tuple(replace(part, name=name) for name, form in forms.items() for part in form.demoted),
        tuple(Flat(name, form.flat) for name, form in forms.items() if form.flat),
    )


def dropped_mask(mesh: Mesh, name: str, floor: float | None) -> NDArray[np.bool_]:
    """Mask (F,) of faces of a static mesh, as given, that the floor replaces."""
    form = mesh_surface(mesh, name, floor)
    if floor is None or form.dropped is None:
        return np.zeros(len(mesh.faces), dtype=bool)
    corners = mesh.vertices[mesh.faces]
    low = corners[:, :, 2].max(axis=1) <= floor + FLUSH_M + _WELD_M
    left = {tuple(c) for c in np.round(form.mesh.vertices[form.mesh.faces].mean(axis=1) / _WELD_M).astype(int).tolist()}
    middles = np.round(corners[low].mean(axis=1) / _WELD_M).astype(int).tolist()
    low[low] = [tuple(c) not in left for c in middles]
    return low


@dataclass(frozen=True)
class Excused:
    """Two objects that were declared to be joined for a time, and do not count as a collision meanwhile."""

    pair: Pair
    during: Interval


@dataclass(frozen=True, eq=False)
class Evidence:
    """Geometry and pairs that were not checked, or not in full.

    `ignored` are neighbours in one body that never count; `excused` are objects joined for a time. `caps` are
    the deepest overlaps that could have been allowed, `floor` the height of the ground, metres. `scene` says whether
    there is anything to meet but the floor and oneself; `left_out` is what was dropped from meshes, and what has no
    inside; `skin` is the skin outside the proven shapes, None where it was not measured or none is shown.
    """

    ignored: tuple[Pair, ...] = ()
    excused: tuple[Excused, ...] = ()
    caps: Caps = field(default_factory=Caps)
    floor: float | None = None
    scene: bool = True
    left_out: LeftOut = field(default_factory=lambda: LeftOut((), (), ()))
    skin: SkinExcess | None = None

    def facts(self) -> Mapping[str, Any]:
        """Plain data for JSON and files."""
        return {
            "floor_m": self.floor,
            "caps_m": self.caps.facts(),
            "ignored": [list(p) for p in self.ignored],
            "excused": [{"pair": list(e.pair), "during": _ends(e.during)} for e in self.excused],
            "skin": None if self.skin is None else self.skin.facts(),
            **self.left_out.facts(),
        }


def evidence_of(exact: ExactWorld, skin: SkinExcess | None = None) -> Evidence:
    """Exclusions of a proof in a world, and the skin that was measured for it."""
    world = exact.world
    off = [Excused(exact.pairs[k], during) for k, spans in sorted(exact.off.items()) for during in spans]
    excused = [e for e in off if np.isfinite(e.during).any()]
    joined = [e.pair for e in off if e not in excused]  # links of a robot that a file has as objects
    return Evidence(
        (*exact.ignored, *joined),
        tuple(dict.fromkeys(excused)),
        world.caps,
        world.floor,
        bool(world.triangles) or len(world.characters) > 1,
        left_out(world),
        skin,
    )


def _ends(during: Interval) -> list[float | None]:
    """An interval for JSON, which has no infinity."""
    return [t if math.isfinite(t) else None for t in during]


def digest_of(world: PlayedWorld) -> str:
    """SHA-256 over frames, bodies, skins, meshes, floor, holds, declared contacts and caps; looks and masses do not
    count.
    """
    sha = hashlib.sha256()
    times = world.times
    people = [(name, *m.sample(times), _body(m.body)) for name, m in world.characters.items()]
    things = [(name, _mesh(thing.mesh), places(thing.path, times)) for name, thing in world.objects.items()]
    static = [(name, _mesh(mesh)) for name, mesh in world.static.items()]
    holds = [(h.object, h.by, h.hand, h.during) for h in world.holds]
    # contacts of edits come with the proof, which lists what it used of them
    declared = [contact for contact in world.contacts if contact.why == DECLARED]
    allowed = (world.floor, world.caps, declared, world.linked)
    for part in contents((world.fps, times, people, things, static, holds, allowed)):
        if isinstance(part, np.ndarray):
            sha.update(f"array {part.dtype.str} {part.shape};".encode())
            sha.update(np.ascontiguousarray(part).tobytes())
        else:
            sha.update(f"{part!r};".encode())
    return sha.hexdigest()


def _body(body: Body) -> tuple[Any, ...]:
    """Everything of a body that decides where its parts are and which of them may touch."""
    parts = tuple(_shape(shape) for shape in body.shapes), body.roles
    if isinstance(body, Robot):
        return (*parts, body.joints, body.links)
    if not isinstance(body, Character):
        return (*parts, body.joint_names, body.parents, body.T_rest)
    s = body.skin
    skin = None if s is None else (s.vertices, s.faces, s.joints, s.weights, s.inverse_bind)
    return (*parts, body.skeleton, body.limits, skin)


def _shape(shape: Shape) -> tuple[Any, ...]:
    mesh = None if shape.mesh is None else _mesh(shape.mesh)
    own = None if shape.own is None else _shape(shape.own)
    return shape.name, shape.joint, shape.kind, shape.size, shape.T_joint_shape, mesh, own


def _mesh(mesh: Mesh) -> tuple[Any, ...]:
    return mesh.vertices, mesh.faces
