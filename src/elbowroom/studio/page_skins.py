"""Skins on the page, which are hidden and used again instead of being taken away.

viser's page (1.1) fails as a whole when a skinned mesh is taken out of its scene, so none ever is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import viser

from elbowroom.character.skin import Skin
from elbowroom.files.viser_nodes import SkinNode, add_skin
from elbowroom.geometry.rotations import Array


class Skins:
    """All skins of a scene by what they show. `clicked` is called with the name that a skin was taken for."""

    def __init__(self, server: viser.ViserServer, clicked: Callable[[str], None]) -> None:
        self._server, self._clicked = server, clicked
        self._spare: dict[Hashable, list[SkinNode]] = {}
        self._keys: dict[int, Hashable] = {}
        self._names: dict[int, str] = {}
        self._owners: list[Any] = []  # what keys are made of lives on, so that they stay unique
        self._made = 0

    @property
    def made(self) -> int:
        """How many were ever made."""
        return self._made

    def take(
        self,
        kind: str,
        owner: Any,
        skin: Callable[[], Skin],
        T: Array,
        name: str = "",
        extra: Hashable = None,
        **look: Any,
    ) -> SkinNode:
        """A skin of a kind that is made of an owner, hidden; with a name it can be clicked."""
        key = (kind, id(owner), extra)
        spare = self._spare.get(key)
        if spare:
            node = spare.pop()
        else:
            node = add_skin(self._server.scene, f"/skins/{self._made}", skin(), T, visible=False, **look)
            self._made += 1
            self._owners.append(owner)
            self._keys[id(node)] = key
            for part in node.parts if name else ():
                part.on_click(lambda event, node=node: self._clicked(self._names.get(id(node), "")))  # type: ignore[misc]
        self._names[id(node)] = name
        return node

    def give_back(self, node: SkinNode) -> None:
        """A skin is not to be seen any more."""
        node.show(False)
        self._spare.setdefault(self._keys[id(node)], []).append(node)
