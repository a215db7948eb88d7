"""Pool of skins on the page, which are hidden and reused instead of being removed.

viser's page (1.1) fails as a whole when a skinned mesh is removed from its scene, so none ever is. The server keeps a
few of the unused ones; others it forgets, and pages that are loaded later do not get them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import viser
from viser import _messages

from elbowroom.character.body import Skin
from elbowroom.files.viser_nodes import SkinNode, add_skin
from elbowroom.geometry.rotations import Array

# Skins that are kept for later though nobody uses them, a megabyte or two each: an undo wants them back.
_MOST_SPARE = 12


class Skins:
    """All skins of a scene by appearance. `clicked` is called with the name that a skin was taken for."""

    def __init__(self, server: viser.ViserServer, clicked: Callable[[str], None]) -> None:
        self._server, self._clicked = server, clicked
        self._spare: list[SkinNode] = []  # the one that was given back last is last
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
            node = add_skin(self._server.scene, f"/skins/{self._made}", skin, T, visible=False, **look)
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
