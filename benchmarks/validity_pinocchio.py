"""The same limb, shapes and pairs in Pinocchio with Coal, and the scene in which both are timed."""

from __future__ import annotations

from pathlib import Path

import coal
import numpy as np
import pinocchio as pin

from elbowroom.character.body import Character
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, hull_of, shape_mesh
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import inverse
from elbowroom.world.exact_forms import Surface
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Keyed
from elbowroom.world.scene_floor import scene_floor
from elbowroom.world.world import World
from validity_scenes import STAY, Scene, person, visited

TRIANGLES = 30_000


def gloved() -> Character:
    """The person with each hand and its fingers as one convex hull, as robots' hands are modelled."""
    body = person()
    T = body.skeleton.T_rest
    shapes = []
    hands = [body.role(f"{side}_hand") for side in ("left", "right")]
    fingers = {j: hand for hand in hands for j in body.subtree(hand)}
    for hand in hands:
        parts = [
            shape_mesh(s).moved(inverse(T[hand]) @ T[s.joint]) for s in body.shapes if fingers.get(s.joint) == hand
        ]
        name = next(s.name for s in body.shapes if s.joint == hand)
        shapes.append(Shape(name, hand, "mesh", np.zeros(3), mesh=hull_of(merge(parts))))
    eyes = [body.roles.get(f"{side}_eye") for side in ("left", "right")]
    return body.with_(
        shapes=tuple(s for s in body.shapes if s.joint not in fingers and s.joint not in eyes) + tuple(shapes)
    )


def speed_scene(data: Path, stations: int) -> Scene:
    """A part of the house of about 30K triangles, and ten boxes that fly about in it."""
    meshes = dict(read_meshes(data / "scenes" / "small_house.glb").meshes)
    floor = scene_floor(meshes).height
    static: dict[str, Mesh] = {}
    for name in sorted(meshes, key=lambda n: len(meshes[n].faces)):
        if sum(len(m.faces) for m in static.values()) + len(meshes[name].faces) <= TRIANGLES:
            static[name] = meshes[name]
    world = World(static=static, floor=floor)
    scene = visited("speed", world, stations, 4, body=gloved())
    rng = np.random.default_rng(8)
    times = np.arange(0.0, stations * STAY + 0.25, 0.25)
    root = scene.world.characters["ann"].sample(times)[0]
    for k in range(10):
        path = (
            root * [1, 1, 0]
            + [0, 0, floor + 1.1]
            + 0.9 * np.sin(np.cumsum(rng.normal(0, 0.2, (len(times), 3)), 0) + 6 * k)
        )
        turn = rot.exp(np.cumsum(rng.normal(0.0, 0.2, (len(times), 3)), axis=0))
        world = scene.world.with_object(f"flier{k}", box(rng.uniform(0.08, 0.3, 3)), Keyed(times, path, turn))
        scene = Scene("speed", world, "ann", scene.limb, scene.stays)
    return scene


class Rival:
    """A limb with three ball joints on a base, everything else placed for one time; one call asks about a posture."""

    def __init__(self, check: LimbCheck, scene: Scene) -> None:
        self.exact, self.world, self.who = check.exact, scene.world, scene.who
        body = self.world.body(self.who)
        self._joints = list(check.joints)
        self.pin_model = pin.Model()
        parent = 0
        rest = body.T_rest
        for j in self._joints:
            offset = inverse(rest[int(body.parents[j])]) @ rest[j]
            parent = self.pin_model.addJoint(
                parent, pin.JointModelSpherical(), pin.SE3(np.eye(3), offset[:3, 3]), str(j)
            )
        self.data = self.pin_model.createData()
        self.model = pin.GeometryModel()
        self._base, self._offset = int(body.parents[self._joints[0]]), rest[self._joints[0]]
        carried = {j: i + 1 for i, j in enumerate(self._joints)}
        parts = self.exact.parts
        self._static = [i for i, p in enumerate(parts) if p.kind == "static"]
        number: dict[int, int] = {}
        self._moved: list[tuple[int, int]] = []
        for i, p in enumerate(parts):
            if p.kind == "static":
                continue
            joint = carried.get(p.joint, 0) if p.owner == self.who else 0
            place = pin.SE3(p.shape.T_joint_shape) if joint and p.shape is not None else pin.SE3.Identity()
            number[i] = self.model.addGeometryObject(pin.GeometryObject(str(i), joint, 0, place, self._shape(i)))
            if not joint and p.kind != "floor":
                self._moved.append((i, number[i]))
        scene_number = self.model.addGeometryObject(
            pin.GeometryObject("scene", 0, 0, pin.SE3.Identity(), self._scene())
        )
        limb = {i for i, p in enumerate(parts) if p.owner == self.who and p.joint in carried}
        pairs = set()
        for a, b in self.exact.index.tolist():
            if a in limb or b in limb:
                pairs.add(tuple(sorted(scene_number if x in self._static else number[x] for x in (a, b))))
        self._order(sorted(pairs))

    def _order(self, pairs: list[tuple[int, int]]) -> None:
        self.pairs = pairs
        self.model.removeAllCollisionPairs()
        for a, b in pairs:
            self.model.addCollisionPair(pin.CollisionPair(a, b))
        self.geometry = pin.GeometryData(self.model)

    def tune(self, sets: list[tuple[Array, float]]) -> None:
        """Put the pairs first that are hit most often in sets of postures (N, n, 4) at times: its quickest order."""
        hits = np.zeros(len(self.pairs))
        for q, t in sets:
            self.place(t)
            for row in self.rows(q):
                pin.computeCollisions(self.pin_model, self.data, self.model, self.geometry, row, False)
                hits += [result.isCollision() for result in self.geometry.collisionResults]
        self._order([self.pairs[k] for k in np.argsort(-hits, kind="stable")])

    def place(self, t: float) -> None:
        """Move everything but the limb to where it is at a time."""
        snapshot = self.world.at(t)
        T = snapshot.joints[self.who][self._base]
        body = self.world.body(self.who)
        rest = body.T_rest
        first = self._joints[0]
        offset = (inverse(rest[int(body.parents[first])]) @ rest[first])[:3, 3]
        self.pin_model.jointPlacements[1] = pin.SE3(T[:3, :3], T[:3, :3] @ offset + T[:3, 3])
        for i, k in self._moved:
            p = self.exact.parts[i]
            at = (
                snapshot.things[p.owner]
                if p.shape is None
                else snapshot.joints[p.owner][p.joint] @ p.shape.T_joint_shape
            )
            self.model.geometryObjects[k].placement = pin.SE3(at)

    @staticmethod
    def rows(q: Array) -> list[Array]:
        """Postures (N, n, 4) as Pinocchio takes them."""
        return list(np.ascontiguousarray(q[:, :, [1, 2, 3, 0]].reshape(len(q), -1)))

    def hits(self, row: Array) -> bool:
        """Whether a posture collides; the first hit ends it."""
        return bool(pin.computeCollisions(self.pin_model, self.data, self.model, self.geometry, row, True))

    def _shape(self, i: int) -> coal.CollisionGeometry:
        part = self.exact.parts[i]
        if part.kind == "floor":
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), float(self.world.floor or 0.0))
        form = self.exact.placed.forms[i]
        if isinstance(form, Surface):  # the fliers are boxes
            return coal.Box(*np.ptp(form.bounds, axis=0).tolist())
        return form.geometry

    def _scene(self) -> coal.CollisionGeometry:
        meshes = [self.exact.placed.forms[i].mesh for i in self._static]
        first = np.cumsum([0, *(len(m.vertices) for m in meshes)])
        vertices = np.concatenate([m.vertices for m in meshes])
        faces = np.concatenate([m.faces + o for m, o in zip(meshes, first[:-1], strict=True)])
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(faces), len(vertices))
        model.addVertices(np.ascontiguousarray(vertices))
        model.addTriangles(np.ascontiguousarray(faces, dtype=np.int64))
        model.endModel()
        return model
