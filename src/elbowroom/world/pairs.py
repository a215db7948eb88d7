"""The parts of a world by name, and which pairs of them must not meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Body, Character
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.world.paths import Keyed, KeyedState, Still
from elbowroom.world.things import Fixture, Thing
from elbowroom.world.world import World

FLOOR = "floor"

# Two joints apart: an upper arm and the chest overlap whatever one does.
_KIN = 2

# How far an arm is lowered from sideways in the pose that everybody stands in, radians of shoulder swing.
_HANGING = np.radians(80.0)

_FINGERS = ("thumb", "index", "middle", "ring", "little")
_ONE_TRUNK = ("spine2", "chest", "left_clavicle", "right_clavicle")
_TRUNK = ("pelvis", "spine1", "spine2", "chest", "neck", "head")

# How often a fixture is looked at over the span of a world to see whether it moves.
_LOOKS = 65


class Pair(NamedTuple):
    """Two parts by name: 'ann.right_hand', 'post', 'floor'."""

    a: str
    b: str


@dataclass(frozen=True, eq=False)
class Part:
    """One rigid piece of a world that can hit something.

    `owner` is the name of a character or thing, or of the static mesh itself; `joint` and `shape` are set for pieces of
    characters, `mesh` for the others (None for the floor).
    """

    name: str
    kind: Literal["body", "thing", "static", "floor"]
    owner: str
    joint: int = -1
    shape: Shape | None = None
    mesh: Mesh | None = None
    role: str = ""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Parts and pairs (P, 2) of their indices that count.

    `off` has, for pairs that are switched off for a time, the intervals in seconds: an object and the hand that holds
    it. `ignored` are pairs of one body that overlap in easy poses, by name.
    """

    parts: tuple[Part, ...]
    index: NDArray[np.int32]
    off: dict[int, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    ignored: tuple[Pair, ...] = ()

    def names(self, k: int) -> Pair:
        """The names of a pair."""
        a, b = self.index[k]
        return Pair(self.parts[a].name, self.parts[b].name)


def parts_of(world: World) -> tuple[Part, ...]:
    """All parts of a world; eyes are left out, they sit inside of heads."""
    parts: list[Part] = []
    for name in world.characters:
        body = world.body(name)
        roles = _segment_roles(body)
        for shape in body.shapes:
            role = roles[shape.joint]
            if not role.endswith("_eye"):
                parts.append(Part(f"{name}.{shape.name}", "body", name, shape.joint, shape, role=role))
    parts += [Part(name, "thing", name, mesh=thing.mesh) for name, thing in world.things.items()]
    parts += [Part(name, "static", name, mesh=mesh) for name, mesh in world.static.items()]
    if world.floor is not None:
        parts.append(Part(FLOOR, "floor", FLOOR))
    return tuple(parts)


def pairs_of(world: World, parts: tuple[Part, ...], kin_overlap: set[tuple[int, int]]) -> Pairs:
    """Pairs that count. `kin_overlap` are pairs (a < b) of one body's parts that overlap in easy poses."""
    moving = {name for name, thing in world.things.items() if moves(world, name, thing)}
    kin = {name: _steps_apart(world.body(name)) for name in world.characters}
    wanted: list[tuple[int, int]] = []
    ignored: list[Pair] = []
    movers = sum(p.kind in ("body", "thing") for p in parts)  # they come first
    for a, b in combinations(range(len(parts)), 2):
        if a >= movers:
            break
        p, q = parts[a], parts[b]
        if not _can_meet(p, q, moving):
            continue
        if p.kind == q.kind == "body" and p.owner == q.owner:
            near = kin[p.owner][p.joint, q.joint] <= _KIN and not never_ignored(p.role, q.role)
            if near and (a, b) in kin_overlap:
                ignored.append(Pair(p.name, q.name))
                continue
        wanted.append((a, b))
    index = np.array(wanted, dtype=np.int32).reshape(-1, 2)
    off: dict[int, tuple[tuple[float, float], ...]] = {}
    holding = {(h.by, h.hand): _hand_joints(world.body(h.by), h.hand) for h in world.holds}
    for k, (a, b) in enumerate(wanted):
        if "thing" in (parts[a].kind, parts[b].kind) and "body" in (parts[a].kind, parts[b].kind):
            body, thing = (parts[a], parts[b]) if parts[a].kind == "body" else (parts[b], parts[a])
            held = tuple(
                h.during
                for h in world.holds
                if h.object == thing.owner and h.by == body.owner and body.joint in holding[h.by, h.hand]
            )
            if held:
                off[k] = held
    return Pairs(parts, index, off, tuple(ignored))


def kin_candidates(world: World, parts: tuple[Part, ...]) -> Iterator[tuple[int, int]]:
    """Pairs of one body's parts that may be switched off if they overlap in an easy pose."""
    kin = {name: _steps_apart(world.body(name)) for name in world.characters}
    for a, b in combinations([i for i, p in enumerate(parts) if p.kind == "body"], 2):
        p, q = parts[a], parts[b]
        meet = p.owner == q.owner and _can_meet(p, q, set()) and not never_ignored(p.role, q.role)
        if meet and kin[p.owner][p.joint, q.joint] <= _KIN:
            yield a, b


def easy_poses(body: Body) -> Iterator[Array]:
    """Joint transforms (J, 4, 4) of poses that are free whatever the shapes say: at rest, a person's arms hanging."""
    yield body.T_rest
    if not isinstance(body, Character):
        return
    skeleton = body.skeleton
    q = skeleton.rest.copy()
    for part in ("left_upper_arm", "right_upper_arm"):
        joint = body.roles.get(part, -1)
        limit = body.limits[joint] if 0 <= joint < len(body.limits) else None
        if limit is not None:
            q[joint] = limit.rotation([_HANGING, 0.0, 0.0])
    yield skeleton.forward(skeleton.offsets[0], q)


def moves(world: World, name: str, thing: Thing) -> bool:
    """Whether a thing moves or is held at any time; a path that cannot be looked into counts as moving."""
    if any(h.object == name for h in world.holds):
        return True
    if isinstance(thing, Fixture):
        if isinstance(thing.state, KeyedState):
            return bool(np.ptp(thing.state.values) > 0.0)
        states = [thing.state(float(t)) for t in np.linspace(*world.span, _LOOKS)]
        return bool(np.ptp(states) > 0.0)
    if isinstance(thing.path, Keyed):
        return bool(np.ptp(thing.path.positions, axis=0).any() or np.ptp(thing.path.quaternions, axis=0).any())
    return not isinstance(thing.path, Still)


def hand_of(role: str) -> str:
    """'left' or 'right' for a hand and its fingers, '' for other parts."""
    side, _, what = role.partition("_")
    if side in ("left", "right") and (what == "hand" or what.rstrip("0123456789") in _FINGERS):
        return side
    return ""


def never_ignored(one: str, other: str) -> bool:
    """Whether two segments, by role, always count: a forearm or hand against trunk, head, thigh or the other arm."""
    return _guards(one, other) or _guards(other, one)


def _guards(arm: str, other: str) -> bool:
    side = arm.partition("_")[0]
    if not (hand_of(arm) or arm.endswith("_forearm")):
        return False
    other_side, _, what = other.partition("_")
    far = other_side in ("left", "right") and other_side != side
    own = other in _TRUNK or what in ("clavicle", "thigh")
    return own or (far and (bool(hand_of(other)) or what in ("forearm", "upper_arm")))


def _can_meet(p: Part, q: Part, moving: set[str]) -> bool:
    kinds = {p.kind, q.kind}
    if kinds == {"body"} and p.owner == q.owner:
        same_hand = hand_of(p.role) and hand_of(p.role) == hand_of(q.role)
        return p.joint != q.joint and not same_hand
    if "body" in kinds:
        return True
    return (p.kind == "thing" and p.owner in moving) or (q.kind == "thing" and q.owner in moving)


def _hand_joints(body: Body, hand: str) -> frozenset[int]:
    """Joints of what takes things, its fingers included."""
    return frozenset(body.subtree(body.hand(hand)[0]))


def _segment_roles(body: Body) -> list[str]:
    """Role of each joint: its own, else that of the nearest joint above it that has one."""
    own = {joint: role for role, joint in body.roles.items()}
    roles: list[str] = []
    for j, parent in enumerate(body.parents):
        roles.append(own.get(j, roles[parent] if parent >= 0 else ""))
    return roles


def _steps_apart(body: Body) -> NDArray[np.int32]:
    """How many joints apart two joints are, (J, J).

    Joints that carry no shape are no step of their own, nor are those within the trunk: a hanging arm rests against
    the ribs however many vertebrae a rig has.
    """
    parents = body.parents
    carries = np.zeros(len(parents), dtype=bool)
    carries[[s.joint for s in body.shapes]] = True
    carries[[body.roles[part] for part in _ONE_TRUNK if part in body.roles]] = False
    apart = np.zeros((len(parents), len(parents)), dtype=np.int32)
    for j in range(1, len(parents)):
        apart[j, :j] = apart[parents[j], :j] + int(carries[j])
        apart[:j, j] = apart[j, :j]
    return apart
