"""Drag of the goal of a walk, or of an obstacle on it: everybody walks there, without planning of hands or proof."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.plan.result import Plan
from elbowroom.plan.tasks import Go, only
from elbowroom.storyboard.plan import preview_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document
from elbowroom.studio.entries import entry_names
from elbowroom.studio.places import moved_world, places_of, task_of, with_place
from elbowroom.studio.reaching import Shown


class Walking:
    """Goal or obstacle of planned walks being dragged, with document, storyboard and motion before."""

    at: float | None = None

    def __init__(self, name: str, document: Document, board: Storyboard, plan: Plan | None) -> None:
        self.name, self.document, self.board, self.plan = name, document, board, plan
        self.place = places_of(document, board)[name]
        self.names = entry_names(board, name) if self.place.kind == "static" else ()

    @staticmethod
    def suits(name: str, document: Document, board: Storyboard) -> bool:
        """Return whether dragging something changes where people walk: their goal, or an obstacle on the way."""
        walks = any(task.previews_walk for task in board.tasks)
        if not walks or any(task.repairs for task in board.tasks):
            return False
        number = task_of(name)
        kind = places_of(document, board)[name].kind
        return kind == "static" or (number is not None and "go" in document.values["tasks"][number])

    def follow(self, T: Array) -> Shown:
        """Motion with the goal or obstacle at `T` (4, 4), not proven, and why there is none."""
        board = self.board
        if self.place.kind == "target":
            number = task_of(self.name)
            assert number is not None
            tasks = list(board.tasks)
            (task,) = only([tasks[number]], Go)
            tasks[number] = replace(task, to=(float(T[0, 3]), float(T[1, 3])))
            board = replace(board, tasks=tuple(tasks))
        else:
            board = replace(board, world=moved_world(self.document, board, self.name, T, self.place))
        plan = preview_storyboard(board, seed=self.document.seed)
        if plan.why and self.plan is not None:  # keep the previous motion where there is no other
            return Shown(self.plan.with_(status="not-certified", certificate=None, why=""), plan.why)
        return Shown(plan.with_(why=""), plan.why)

    def kept(self, T: Array, shown: Shown) -> Plan | None:
        """Return None: everything is re-planned on release."""
        return None

    def let_go(self, T: Array) -> Document:
        """Document with the goal or obstacle at `T`."""
        return with_place(self.document, self.board, self.name, T)

    def things_at(self, T: Array, t: float) -> dict[str, Array]:
        """Positions of what is dragged to `T` (4, 4), by name."""
        return dict.fromkeys(self.names, np.asarray(T))
