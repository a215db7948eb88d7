"""Scene on the page: floor, objects, characters, and a ghost of the previous motion."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import viser
from viser import _messages

from elbowroom.character.body import Body, Skin
from elbowroom.character.visual import shapes_skin, visible
from elbowroom.files.text import accepted_names
from elbowroom.files.viser_nodes import SkinNode, add_mesh, add_skin
from elbowroom.geometry.mesh import Mesh, cut_open
from elbowroom.geometry.rotations import Array, from_matrix
from elbowroom.geometry.transforms import inverse
from elbowroom.studio.page_gizmo import Mark
from elbowroom.studio.places import ScenePlace
from elbowroom.world.extent import FURNITURE, box_corners
from elbowroom.world.world import World

# Unused skins that are cached, a megabyte or two each: an undo needs them again.
_MOST_SPARE = 12


class Skins:
    """All skins of a scene by appearance. `clicked` is called with the name that a skin was taken for."""

    def __init__(self, server: viser.ViserServer, clicked: Callable[[str], None], root: str = "/skins") -> None:
        self._server, self._clicked, self._root = server, clicked, root
        self._spare: list[SkinNode] = []  # the one returned last is last
        self._keys: dict[SkinNode, bytes] = {}
        self._names: dict[SkinNode, str] = {}
        self._made = 0

    @property
    def made(self) -> int:
        """Number of skins ever made."""
        return self._made

    @property
    def kept(self) -> int:
        """Number of skins that the server keeps."""
        return len(self._keys)

    def take(self, kind: str, skin: Skin, T: Array, name: str = "", **look: Any) -> SkinNode:
        """Take a hidden skin of a kind; with a name it can be clicked."""
        key = _key(kind, skin)
        node = next((node for node in self._spare if self._keys[node] == key), None)
        if node is not None:
            self._spare.remove(node)
        else:
            node = add_skin(self._server.scene, f"{self._root}/{self._made}", skin, T, visible=False, **look)
            self._made += 1
            self._keys[node] = key
            for part in node.parts if name else ():
                part.on_click(lambda event, node=node: self._clicked(self._names.get(node, "")))  # type: ignore[misc]
        self._names[node] = name
        return node

    def give_back(self, node: SkinNode) -> None:
        """Hide a skin and return it to the pool."""
        node.show(False)
        self._spare.append(node)
        while len(self._spare) > _MOST_SPARE:
            self._forget(self._spare.pop(0))

    def _forget(self, node: SkinNode) -> None:
        """Forget a skin on the server; pages keep it hidden and get no message, which would break them."""
        del self._keys[node], self._names[node]
        if not node.parts:
            return
        root = node.parts[0].name.rpartition("/")[0]
        names = {root, *(part.name for part in node.parts)}
        buffer = self._server._websock_server.get_message_buffer()
        with self._server.atomic():  # nothing is sent meanwhile
            handle = self._server.scene.get_handle_by_name(root)
            assert handle is not None
            handle.remove()
            buffer.remove_from_buffer(lambda m: isinstance(m, _messages.RemoveSceneNodeMessage) and m.name in names)


def _key(kind: str, skin: Skin) -> bytes:
    """Key shared by skins that look alike."""
    digest = hashlib.blake2b(f"{kind} {skin.color}".encode(), digest_size=16)
    for array in (skin.vertices, skin.faces, skin.joints, skin.weights, skin.inverse_bind, skin.colors):
        digest.update(b"-" if array is None else array.tobytes())
    return digest.digest()


GHOST = (88, 120, 150)
SHAPES = (226, 128, 40)
_GHOSTLY: dict[str, Any] = {
    "color": GHOST,
    "opacity": 0.4,
    "side": "front",
    "cast_shadow": False,
    "receive_shadow": False,
}
# The ghost of an object is shown where any corner of its bounds is farther than this from where it was, metres.
_DIFFERS = 0.01
# The same for the joints of a limb, and by how much its ghost is thinner, metres.
_LIMB_DIFFERS, _THINNER = 0.03, 0.006
# Colours of the floor: cells, sections, the plane.
_DARK = ((122, 126, 131), (134, 138, 143), (112, 116, 121))
_LIGHT = ((216, 218, 221), (190, 193, 197), (226, 228, 230))
# Height above the floor below which large meshes are never cut open, metres: floors, thresholds.
_THRESHOLD = 0.1
# Times at which motions are compared.
_SAMPLES = 48


class SceneView:
    """Nodes of one world and of its previous motion. `clicked` is called with the name of an object."""

    def __init__(self, server: viser.ViserServer, clicked: Callable[[str], None], *, shadows: bool = True) -> None:
        self._server, self._clicked = server, clicked
        self._look: dict[str, Any] = {} if shadows else {"cast_shadow": False, "receive_shadow": False}
        self._skins = Skins(server, clicked)
        self._roots: list[Any] = []
        self._people: dict[str, SkinNode] = {}
        self._ghosts: dict[str, SkinNode] = {}
        self._ghostly: dict[str, frozenset[int]] = {}  # joints whose skin the ghost has
        self._shapes: dict[str, SkinNode] = {}
        self._frames: dict[str, viser.FrameHandle] = {}
        self._thing_ghosts: dict[str, viser.FrameHandle] = {}
        self._bounds: dict[str, Array] = {}
        self._static: set[str] = set()
        self._walls: dict[str, tuple[Mesh, str, Array, list[Any]]] = {}  # mesh in the world, node, place, what is shown
        self._mark, self._marked = Mark(server), ""
        self.hidden: set[str] = set()  # present but hidden
        self._floor: float | None = None
        self._ground: viser.GridHandle | None = None
        self.dark = False
        self.ghost = True
        self.shapes = False

    def build(self, world: World, places: Mapping[str, ScenePlace]) -> None:
        """Replace the world shown."""
        scene = self._server.scene
        with self._server.atomic():
            self.clear()
            record = world.record([world.span[0]])
            self._floor = world.floor
            self.lay_floor()
            for name, node in zip(world.static, accepted_names(world.static), strict=True):
                T, mesh = places[name].T if name in places else np.eye(4), world.static[name]
                parts = self._thing(name, f"/scene/{node}", mesh.moved(inverse(T)), T)
                if np.linalg.norm(np.ptp(mesh.bounds, axis=0)) >= FURNITURE:
                    self._walls[name] = mesh, f"/scene/{node}", T, parts
            self._static = set(world.static)
            for name, node in zip(world.things, accepted_names(world.things), strict=True):
                self._thing(name, f"/things/{node}", world.things[name].mesh, record.things[name][0])
                ghost = scene.add_frame(f"/ghosts/things/{node}", show_axes=False, visible=False)
                plain = Mesh(world.things[name].mesh.vertices, world.things[name].mesh.faces)
                add_mesh(scene, f"/ghosts/things/{node}", plain, **_GHOSTLY)
                self._thing_ghosts[name] = ghost
                self._roots.append(ghost)
            for name in world.characters:
                self._person(name, world, record.joints[name][0])
            self.hidden &= {*self._frames, *self._people, *places}
            for name in self.hidden:
                self.hide(name, True)
            self.mark(self._marked)

    def hide(self, name: str, hidden: bool) -> None:
        """Hide an object, or show it again."""
        (self.hidden.add if hidden else self.hidden.discard)(name)
        if name in self._people:
            self._people[name].show(not hidden)
            return
        for part, frame in self._frames.items():  # the name of a whole room is the prefix of its parts' names
            if part == name or (name not in self._frames and part.startswith(f"{name}.") and part not in self.hidden):
                frame.visible = not hidden

    def mark(self, name: str | None) -> None:
        """Mark the selected object, or none."""
        self._marked = name or ""
        self._mark.remove()
        if name in self._frames and name in self._bounds:
            self._mark.about(self._frames[name].name, self._bounds[name])

    def lay_floor(self) -> None:
        """Show the floor, light or dark."""
        if self._ground is not None:
            self._ground.remove()
        self._ground = None if self._floor is None else _floor(self._server.scene, self._floor, dark=self.dark)

    def cut_open(self, normal: Array, limit: float) -> None:
        """Cut meshes larger than furniture open in front of the plane `normal` (3,) · p = `limit`."""
        foot = (self._floor or 0.0) + _THRESHOLD
        with self._server.atomic():
            for name, (mesh, node, T, parts) in self._walls.items():
                for part in parts:
                    part.remove()
                shown = cut_open(mesh, normal, limit, foot).moved(inverse(T))
                self._walls[name] = mesh, node, T, self._add(name, node, shown)

    def _thing(self, name: str, node: str, mesh: Any, T: Array) -> list[Any]:
        scene = self._server.scene
        frame = scene.add_frame(node, show_axes=False, position=T[:3, 3], wxyz=from_matrix(T[:3, :3]))
        self._frames[name], self._bounds[name] = frame, mesh.bounds
        self._roots.append(frame)
        return self._add(name, node, mesh)

    def _add(self, name: str, node: str, mesh: Mesh) -> list[Any]:
        parts = add_mesh(self._server.scene, node, mesh, **self._look)
        for part in parts:
            part.on_click(lambda event, name=name: self._clicked(name))  # type: ignore[misc]
        return list(parts)

    def _person(self, name: str, world: World, T: Array) -> None:
        body = world.body(name)
        person = self._skins.take("person", visible(body), T, name, **self._look)
        self._people[name] = person

        if self.shapes:
            self._add_shapes(name, world, T)
        person.pose_joints(T)
        person.show(True)

    def fit_ghosts(self, world: World, original: World) -> None:
        """Show ghosts of the limbs that now move differently; a ghost of the whole body would hide the character."""
        begin, end = original.span
        times = np.linspace(begin, min(end, world.span[1]), _SAMPLES)
        now, then = world.record(times), original.record(times)
        for name in world.characters:
            if name not in self._people:
                continue
            apart = np.linalg.norm(now.joints[name][..., :3, 3] - then.joints[name][..., :3, 3], axis=-1).max(axis=0)
            body = world.body(name)
            joints = _limbs(body, np.flatnonzero(apart > _LIMB_DIFFERS).tolist())
            if joints == self._ghostly.get(name, frozenset()):
                continue
            self._ghostly[name] = joints
            old = self._ghosts.pop(name, None)
            if old is not None:
                self._skins.give_back(old)
            part = _part(visible(body), joints)
            if len(part.faces):
                T = then.joints[name][0]
                self._ghosts[name] = self._skins.take("ghost", part, T, **_GHOSTLY)

    def _add_shapes(self, name: str, world: World, T: Array) -> None:
        look: dict[str, Any] = {"color": SHAPES, "wireframe": True, "cast_shadow": False}
        body = world.body(name)
        node = self._skins.take("shapes", shapes_skin(body), T, **look)
        node.pose_joints(T)
        node.show(True)
        self._shapes[name] = node

    def show_shapes(self, shown: bool, world: World, t: float) -> None:
        """Show or hide collision shapes."""
        self.shapes = shown
        for shape in self._shapes.values():
            self._skins.give_back(shape)
        self._shapes = {}
        if shown:
            record = world.record([t])
            for name in world.characters:
                self._add_shapes(name, world, record.joints[name][0])

    def pose(self, world: World, original: World, t: float) -> None:
        """Pose the scene at a time. Characters no longer in the world are about to be removed."""
        now, then = world.record([t]), original.record([min(t, original.span[1])])
        with self._server.atomic():
            for name, node in self._people.items():
                if name not in now.joints or name not in then.joints:
                    continue
                T = now.joints[name][0]
                node.pose_joints(T)
                if name in self._shapes:
                    self._shapes[name].pose_joints(T)
                before = then.joints[name][0]
                apart = float(np.max(np.linalg.norm(T[:, :3, 3] - before[:, :3, 3], axis=-1)))
                ghost = self._ghosts.get(name)
                shown = self.ghost and apart > _LIMB_DIFFERS and name not in self.hidden
                if ghost is not None:
                    ghost.show(shown)
                    if shown:
                        ghost.pose_joints(before)
                if name == self._marked:
                    self._mark.at_feet(np.array([*T[0, :2, 3], (self._floor or 0.0) + 0.005]))
            for name, T_thing in now.things.items():
                self.put(name, T_thing[0])
                if name in then.things:
                    self._pose_ghost(name, T_thing[0], then.things[name][0])

    def _pose_ghost(self, name: str, T: Array, before: Array) -> None:
        """Show the previous position of an object, if different."""
        ghost = self._thing_ghosts.get(name)
        if ghost is None:
            return
        apart = T - before
        corners = box_corners(self._bounds[name]) @ apart[:3, :3].T + apart[:3, 3]  # a tilt moves its far end alone
        shown = self.ghost and name not in self.hidden and float(np.linalg.norm(corners, axis=1).max()) > _DIFFERS
        if ghost.visible != shown:
            ghost.visible = shown
        if shown:
            _place(ghost, before)

    def put(self, name: str, T: Array) -> None:
        """Move the node of an object."""
        frame = self._frames.get(name)
        if frame is not None:
            _place(frame, T)

    def put_static(self, places: Mapping[str, ScenePlace]) -> None:
        """Move all static meshes to their positions."""
        for name in self._static:
            if name in places:
                self.put(name, places[name].T)

    def clear(self) -> None:
        """Remove all nodes."""
        self._mark.remove()
        for skin in (*self._people.values(), *self._ghosts.values(), *self._shapes.values()):
            self._skins.give_back(skin)
        for node in self._roots:
            node.remove()
        self._people, self._ghosts, self._shapes, self._frames, self._roots = {}, {}, {}, {}, []
        self._thing_ghosts, self._ghostly, self._bounds, self._walls = {}, {}, {}, {}


def _limbs(body: Body, joints: list[int]) -> frozenset[int]:
    """All joints of limbs that contain any of some joints: ghosts are whole limbs, so there are few kinds."""
    out = set()
    for chain in body.chains.values():
        ends = chain.kind in ("arm", "leg")
        members = set(body.subtree(chain.joints[0])) if ends else {int(j) for j in chain.joints}
        out |= members if members & set(joints) else set()
    return frozenset(out)


def _part(skin: Skin, joints: frozenset[int]) -> Skin:
    """Part of a skin that moves with some joints, in one colour and a little thinner: where nothing has moved it is
    hidden in the body, and no patches of it show through."""
    mine = np.isin(skin.owner[skin.faces], list(joints)).all(axis=1)
    corners = skin.vertices[skin.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = np.zeros_like(skin.vertices)
    for k in range(3):
        np.add.at(normals, skin.faces[:, k], across)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    return replace(skin, vertices=skin.vertices - _THINNER * normals, faces=skin.faces[mine], colors=None, paint=None)


def _place(frame: viser.FrameHandle, T: Array) -> None:
    frame.position, frame.wxyz = T[:3, 3], from_matrix(T[:3, :3])


def _floor(scene: viser.SceneApi, height: float, *, dark: bool) -> viser.GridHandle:
    cell, section, plane = _DARK if dark else _LIGHT
    return scene.add_grid(
        "/floor",
        infinite_grid=True,
        fade_distance=40.0,
        cell_size=0.5,
        section_size=1.0,
        position=(0.0, 0.0, height - 0.002),
        cell_color=cell,
        section_color=section,
        plane_color=plane,
        plane_opacity=1.0,
        shadow_opacity=0.3,
    )
