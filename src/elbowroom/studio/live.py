"""A drag: while something is moved the motion follows, not yet proven; when it is let go the motion is proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

from elbowroom.geometry.rotations import Array
from elbowroom.studio.document import Document
from elbowroom.studio.places import entry_names, moved_world, places_of, with_place
from elbowroom.tasks.plan import Plan
from elbowroom.tasks.repair import repair
from elbowroom.tasks.storyboard import Storyboard
from elbowroom.tasks.verbs import Repair


def can_follow(board: Storyboard) -> bool:
    """Whether the motion can follow a drag: all that is asked for are repairs."""
    return bool(board.tasks) and all(isinstance(task, Repair) for task in board.tasks)


@dataclass(frozen=True, eq=False)
class Drag:
    """Something that is being moved: the document and its storyboard as they were when the drag began."""

    name: str
    document: Document
    board: Storyboard

    @property
    def names(self) -> tuple[str, ...]:
        """All things that move."""
        return entry_names(self.board, self.name)

    def follow(self, T: Array, before: Plan, *, certify: bool = False) -> Plan:
        """The motion with the thing at `T` (4, 4), made from the one before; only what it touches is done anew."""
        world = moved_world(self.document, self.board, self.name, T)
        return repair(world, tuple(dict.fromkeys(task.who for task in self.board.tasks)), seed=self.document.seed)

    def let_go(self, T: Array) -> Document:
        """The document with the thing at `T`."""
        return with_place(self.document, self.board, self.name, T)

    def moved_board(self, document: Document) -> Storyboard:
        """The storyboard of the document after the drag, without building all of it anew."""
        T = places_of(document, self.board)[self.name].T
        return replace(self.board, world=moved_world(self.document, self.board, self.name, T))
