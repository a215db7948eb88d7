"""A hand alone: palm and fingers as collision shapes in the frame of the hand's joint."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.character.body import Body, Character
from elbowroom.character.hand_shapes import FingerJoint, HandShape, finger_roles
from elbowroom.character.hands import FINGERS
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.kept import kept
from elbowroom.geometry.mesh import Mesh, frozen
from elbowroom.geometry.rotations import Array, normalize
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.world.exact_forms import mesh_form, shape_form
from elbowroom.world.exact_placed import Placed


@dataclass(frozen=True, eq=False)
class Finger:
    """A finger of a hand: `number` among all five, its joints, knuckle first, and the shapes beyond each.

    `shapes[k]` are indices of the shapes of joint k itself, `beyond[k]` those that it moves. `reach` (m) is the largest
    distance from its first joint to its end.
    """

    name: str
    number: int
    joints: tuple[FingerJoint, ...]
    rows: NDArray[np.int64]
    shapes: tuple[tuple[int, ...], ...]
    beyond: tuple[tuple[int, ...], ...]
    reach: float


class HandModel:
    """Shapes of one hand of a body, and their transforms for any flexion of the fingers.

    `shapes` are those of the hand's joint and its descendants; `palm` has indices of those that no finger moves.
    `forearm` has the shapes behind an unbent wrist, with their transforms.
    """

    def __init__(self, body: Body, hand: str) -> None:
        if not isinstance(body, Character) or hand not in ("left", "right"):
            raise BadValue(f"{body.name} has no '{hand}' hand with fingers; people have 'left' and 'right' ones.")
        self.wrist = body.role(f"{hand}_hand")
        members = body.subtree(self.wrist)
        row = {j: n for n, j in enumerate(members)}
        parents = [-1, *(row[int(body.parents[j])] for j in members[1:])]
        offsets = np.concatenate([np.zeros((1, 3)), body.skeleton.offsets[list(members[1:])]])
        rest = np.concatenate([[[1.0, 0.0, 0.0, 0.0]], body.skeleton.rest[list(members[1:])]])
        names = tuple(body.joint_names[j] for j in members)
        self._skeleton = Skeleton(names, np.array(parents), offsets, rest)
        self.shapes: tuple[Shape, ...] = tuple(s for s in body.shapes if s.joint in row)
        self._carrier = np.array([row[s.joint] for s in self.shapes], dtype=np.int64)
        self._local = np.array([s.T_joint_shape for s in self.shapes]).reshape(-1, 4, 4)
        self._joints: WeakKeyDictionary[HandShape, Array] = WeakKeyDictionary()
        self._places: WeakKeyDictionary[HandShape, Array] = WeakKeyDictionary()
        self._outlines = [outline(s) for s in self.shapes]
        self._balls: WeakKeyDictionary[HandShape, tuple[Array, Array]] = WeakKeyDictionary()
        found = [FingerJoint.of(body, hand, role) for role in finger_roles(body, hand)]
        self.bending: tuple[FingerJoint, ...] = tuple(found)
        self.fingers: tuple[Finger, ...] = tuple(
            self._finger(body, i, row) for i in range(len(FINGERS)) if any(j.finger == i for j in found)
        )
        fore = body.roles.get(f"{hand}_forearm", -1)
        T_hand_fore = inverse(body.T_rest[self.wrist]) @ body.T_rest[fore]
        self.forearm: tuple[tuple[Shape, Array], ...] = tuple(
            (s, T_hand_fore @ s.T_joint_shape) for s in body.shapes if s.joint == fore
        )
        moved = {n for f in self.fingers for n in f.beyond[0]}
        self.palm = tuple(n for n in range(len(self.shapes)) if n not in moved)

    def _finger(self, body: Character, number: int, row: dict[int, int]) -> Finger:
        joints = tuple(j for j in self.bending if j.finger == number)
        rows = np.array([row[j.joint] for j in joints])
        trees = [{row[m] for m in body.subtree(j.joint)} for j in joints]
        beyond = tuple(tuple(n for n, c in enumerate(self._carrier) if c in tree) for tree in trees)
        further = (*beyond[1:], ())
        own = tuple(tuple(n for n in b if n not in f) for b, f in zip(beyond, further, strict=True))
        T = self._skeleton.T_rest
        corners = [apply(T[self._carrier[n]] @ self._local[n], _ends(self.shapes[n])) for n in beyond[0]]
        ends = np.concatenate([*corners, T[rows, :3, 3]])
        reach = float(np.linalg.norm(ends - T[rows[0], :3, 3], axis=1).max())
        return Finger(FINGERS[number], number, joints, rows, own, beyond, reach)

    def rotations(self, coordinates: Array) -> Array:
        """Local rotations (N, J, 4) of the hand's joint and its descendants, for finger coordinates (N, 5, 3, 3)."""
        out = np.tile(self._skeleton.rest, (len(coordinates), 1, 1))
        for finger in self.fingers:
            for row, joint in zip(finger.rows, finger.joints, strict=True):
                out[:, row] = joint.rotations(coordinates[:, finger.number])
        return out

    def joints(self, shape: HandShape) -> Array:
        """`T_hand_joint` (J, 4, 4) of the hand's joint and its descendants."""
        if shape not in self._joints:
            self._joints[shape] = frozen(
                self._skeleton.forward(np.zeros((1, 3)), self.rotations(shape.coordinates[None]))[0]
            )
        return self._joints[shape]

    def places(self, shape: HandShape) -> Array:
        """`T_hand_shape` (S, 4, 4) of all shapes."""
        if shape not in self._places:
            self._places[shape] = frozen(self.joints(shape)[self._carrier] @ self._local)
        return self._places[shape]

    def lowest(self, shape: HandShape, up: Array) -> float:
        """Smallest extent of the shaped hand along `up` (3,) in the hand's frame, metres."""
        if shape not in self._balls:
            rows = [
                (apply(T, points), radius)
                for T, (points, radius) in zip(self.places(shape), self._outlines, strict=True)
            ]
            radii = [np.full(len(points), radius) for points, radius in rows]
            self._balls[shape] = np.concatenate([p for p, _ in rows]), np.concatenate(radii)
        points, radius = self._balls[shape]
        return float((points @ up - radius).min())

    def finger_places(self, finger: Finger, coordinates: Array) -> Array:
        """`T_hand_shape` (N, K, 4, 4) of the shapes that a finger moves, for its own coordinates (N, 3, 3)."""
        q = np.tile(self._skeleton.rest, (len(coordinates), 1, 1))
        for row, joint in zip(finger.rows, finger.joints, strict=True):
            q[:, row] = joint.rotations(coordinates)
        T = self._skeleton.forward(np.zeros((len(coordinates), 3)), q)
        shapes = list(finger.beyond[0])
        return T[:, self._carrier[shapes]] @ self._local[shapes]

    def tip(self, finger: Finger, shape: HandShape) -> Array:
        """The end of a finger (3,) in the hand's frame: the point of its last shape farthest from the joint."""
        T = self.joints(shape)
        last = T[finger.rows[-1]]
        points = [apply(T[self._carrier[n]] @ self._local[n], _ends(self.shapes[n])) for n in finger.shapes[-1]]
        if not points:
            return last[:3, 3]
        every = np.concatenate(points)
        return every[int(np.argmax(np.linalg.norm(every - last[:3, 3], axis=1)))]


def outline(shape: Shape) -> tuple[Array, float]:
    """Points (K, 3) in a shape's own frame, and the radius of balls around them whose hull is the shape."""
    form = shape_form(shape)
    return form.points, form.radius


def _ends(shape: Shape) -> Array:
    """Points (K, 3) on a shape's surface, in its own frame: corners, or ends along its axis."""
    points, radius = outline(shape)
    off = np.array([0.0, 0.0, radius])
    return np.concatenate([points - off, points + off]) if radius > 0.0 else points


def hand_model(body: Body, hand: str) -> HandModel:
    """The model of a hand, cached."""
    return kept(body, ("hand model", hand), lambda: HandModel(body, hand))


# Distance beyond the nearest shape up to which others are measured while a hand is slid, metres.
_ASKED = 0.005


class HandAtThing:
    """A hand's shapes around a mesh, exactly, through Coal; in the frame of the hand's joint.

    The last part is the mesh; `empty` where it has nothing to touch.
    """

    def __init__(self, model: HandModel, mesh: Mesh) -> None:
        form = mesh_form(mesh, "thing")
        self.model = model
        self.empty = form is None
        forms = [shape_form(s) for s in (*model.shapes, *(s for s, _ in model.forearm))]
        self.placed = Placed([*forms, form] if form is not None else forms, None)
        self.thing = len(forms)
        self._all = np.arange(len(model.shapes))
        self._fore = np.arange(len(model.shapes), len(forms))
        self.put(self._fore, np.array([T for _, T in model.forearm]).reshape(-1, 4, 4))

    def put_thing(self, T_hand_thing: ArrayLike) -> None:
        """Place the mesh, (4, 4)."""
        if not self.empty:
            self.placed.T[self.thing] = T_hand_thing
            self.placed.moved(np.array([self.thing]))

    def put_hand(self, places: Array) -> None:
        """Place all shapes of the hand, (S, 4, 4)."""
        self.put(self._all, places)

    def put(self, rows: NDArray[np.int64], places: Array) -> None:
        """Place some shapes of the hand, (K, 4, 4)."""
        self.placed.T[rows] = places
        self.placed.moved(rows)

    def within(self, row: int, margin: float) -> bool:
        """Return whether a shape is within a margin of the mesh, metres."""
        return not self.empty and self.placed.within(row, self.thing, margin)

    def push(self, row: int, limit: float) -> Array | None:
        """Direction (3,) from the axis of a shape to the mesh, None where that is farther away than `limit`, metres."""
        points = None if self.empty else self.placed.distance(row, self.thing, limit=limit)[1]
        if points is None:
            return None
        T = self.placed.T[row]
        start, end = apply(T, self.placed.forms[row].points[[0, -1]])
        way = end - start
        share = np.clip((points[0] - start) @ way / max(float(way @ way), 1e-12), 0.0, 1.0)
        return normalize(points[0] - start - share * way)

    @property
    def forearm_free(self) -> bool:
        """Return whether the forearm, with the wrist unbent, is clear of the mesh."""
        return not any(self.within(row, 0.0) for row in self._fore.tolist())

    def gap(self, rows: ArrayLike, limit: float = np.inf) -> float:
        """Signed distance of the nearest of some shapes, at most `limit`; minus infinity where depth is unknown."""
        best = limit
        if self.empty:
            return best
        for row in np.asarray(rows, dtype=np.int64).tolist():
            value, _ = self.placed.distance(row, self.thing, limit=best if best > 0.0 else 0.0)
            best = min(best, -np.inf if value is None else value)
        return best

    def slid(self, T_thing_hand: Array, approach: Array, back: float, ahead: float, margin: float) -> float:
        """Travel of the shaped hand along `approach` (3,) in the object's frame until it touches, metres.

        It starts `back` behind `T_thing_hand` (4, 4) and goes no farther than `ahead` beyond; the result counts from
        `T_thing_hand`. Minus infinity where it touches at the start.
        """
        T = np.array(T_thing_hand)
        start = T[:3, 3].copy()
        at, moved = -back, 0.0
        # no part of the hand can touch the object before it has travelled their distance
        gaps = np.zeros(len(self._all))
        while at < ahead:
            T[:3, 3] = start + at * approach
            self.put_thing(inverse(T))
            gaps -= moved
            # distance of the nearest shape, at most `limit`; gaps (S,) are lower bounds for each, and become tighter
            best = ahead - at + 2.0 * margin
            for row in np.argsort(gaps, kind="stable").tolist():
                if gaps[row] >= best:
                    break
                # somewhat farther than needed, to avoid an early repetition
                gaps[row] = self.gap([row], best + _ASKED)
                best = min(best, float(gaps[row]))
                if best <= 0.0:
                    break
            moved = best - margin
            if moved <= 0.5 * margin:
                return at if at > -back else -np.inf
            at += moved
        return ahead

    def free_at(self, T_thing_hand: Array, off: Array) -> bool:
        """Return whether the shaped hand is clear of the mesh at offset `off` (3,) from a transform (4, 4) on the
        object.
        """
        T = np.array(T_thing_hand)
        T[:3, 3] += off
        self.put_thing(inverse(T))
        return self.clear

    @property
    def clear(self) -> bool:
        """Return whether the hand is clear of the mesh."""
        return not any(self.within(row, 0.0) for row in self._all.tolist())
