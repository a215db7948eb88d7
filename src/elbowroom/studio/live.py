"""Drag of an obstacle, which the motion follows without proof until release; and of the goal of a walk."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.plan.repair.live import LiveRepair
from elbowroom.plan.repair.nearness import near_spans
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.edit import changed_by
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Go, Repair, only
from elbowroom.search.birrt import keeping_trees
from elbowroom.storyboard.plan import plan_storyboard, preview_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.places import entry_names, moved_world, places_of, task_of, with_place
from elbowroom.studio.reaching import Shown
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.certificate_findings import Interval, merged
from elbowroom.world.pairs import moves
from elbowroom.world.paths import Still
from elbowroom.world.played import played
from elbowroom.world.world import World

# Time limit of a repair from scratch, seconds; and the one if tasks can be re-planned instead.
_LONGEST, _SHORT = 20.0, 3.0


@dataclass(eq=False)
class Drag:
    """Obstacle being dragged, with the document, storyboard and motion at the start of the drag."""

    name: str
    document: Document
    board: Storyboard
    plan: Plan | None
    _live: LiveRepair | None = None
    _loose: dict[str, Mesh] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.can_follow:
            return
        assert self.plan is not None
        # repairs stay close to the imported motion; planned hands stay as planned
        below = self.board.world.with_(characters=self.plan.base) if self._repaired else self.plan.world
        self._live = LiveRepair(below, self.document.seed, self.board.style if self._repaired else None)
        if self._repaired:
            self._live.learn(self.plan)
        T = inverse(places_of(self.document, self.board)[self.name].T)
        static = self.board.world.static
        self._loose = {name: static[name].moved(T) for name in self.names if name in static}

    @property
    def _repaired(self) -> bool:
        """Return whether all tasks are repairs."""
        return bool(self.board.tasks) and all(task.repairs for task in self.board.tasks)

    @property
    def can_follow(self) -> bool:
        """Return whether the motion can follow: there is one, and no task involves the dragged object."""
        kinds = places_of(self.document, self.board)
        movable = self.name in kinds and kinds[self.name].kind in ("static", "object")
        about = any(speaks_of(self.document.values.get(key, []), self.name) for key in ("tasks", "holds"))
        clips = self.plan is not None and all(isinstance(m, Clip) for m in self.plan.world.characters.values())
        # live repair supports neither kept limbs nor a limit on detours
        bound = any(task.keep or task.aside is not None for task in only(self.board.tasks, Repair))
        return (
            movable
            and not about
            and not bound
            and self.plan is not None
            and self.plan.status in ("found", "partial")
            and clips
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all meshes that move."""
        return entry_names(self.board, self.name)

    def follow(self, T: Array, *, sure: bool = False, seconds: float = math.inf) -> Plan:
        """Motion with the object at `T` (4, 4), not proven; only what collides with the object is re-planned.

        With `sure` it is checked more closely, so that it can be proven. If the object still blocks the motion, or no
        path was found within `seconds`, the status is 'partial'.
        """
        assert self._live is not None and self.plan is not None
        world = moved_world(self.document, self.board, self.name, T)
        world = world.with_(**self._kept())
        found = self._live.again(self._loosened(world, T), self.names, sure=sure, seconds=seconds)
        characters, holds = found.world.characters, self.plan.world.holds
        found = found if self._repaired else self.plan.then(found)
        return found.with_(world=world.with_(characters=characters, holds=holds))

    @keeping_trees()
    def repair_from_scratch(self, T: Array) -> Plan:
        """Repair from scratch, with a proof, if following fails; tasks are re-planned if necessary."""
        world = moved_world(self.document, self.board, self.name, T)
        assert self.plan is not None
        if self._repaired:
            who = tuple(dict.fromkeys(task.who for task in self.board.tasks))
            return repair(world, who, seed=self.document.seed, style=self.board.style, budget=_LONGEST)
        below = world.with_(characters=self.plan.world.characters, holds=self.plan.world.holds, **self._kept())
        plan = repair(below, seed=self.document.seed, budget=_SHORT)
        if plan.found:
            return self.plan.then(plan)
        # a hand that takes something beside it needs another plan
        board = replace(self.board, world=world)
        return plan_storyboard(board, seed=self.document.seed, tier=self.document.tier)

    def prove(self, plan: Plan, T: Array, *, clearance: bool = False) -> Plan:
        """Motion that followed to `T`, with its proof; without `clearance` the minimum clearance is not measured.

        If the motion before the drag was proven, that holds for everything unchanged: only frames that differ, and
        times at which a character is near the object, are checked.
        """
        before = None if self.plan is None else self.plan.certificate
        assert self._live is not None
        loose = self._loosened(plan.world, T)  # reuses the known distance fields
        loose = loose.with_(contacts=(*loose.contacts, *self._live.contacts()))
        fps, changed = self.board.fps, changed_by(plan.edits)
        if clearance or before is None or not before.free or before.fps != fps:
            certificate = certify(loose, fps, changed=changed, clearance=clearance)
            # that world is the plan's, with the dragged object in its own axes
            return _with_proof(plan, replace(certificate, digest=played(plan.world, fps).digest))
        # world with moving bodies and the dragged object only: all else is as before the drag
        objects = {n: thing for n, thing in loose.objects.items() if n in self.names or moves(loose, n, thing)}
        known = {"floor", *objects, *loose.characters}
        contacts = tuple(c for c in loose.contacts if {loose.split(c.who)[0], loose.split(c.on)[0]} <= known)
        alone = loose.with_(static={}, objects=objects, floor=None, contacts=contacts)
        looks = [(loose, span) for span in self._differs(plan)]
        looks += [(alone, span) for span in near_spans(loose, self.names)]
        proven = before.continuous
        for world, span in looks:
            part = certify(world, fps, changed=changed, during=span, clearance=False, contacts="never")
            if not part.free:
                return _with_proof(plan, part)
            proven &= part.continuous
        # the allowances are those of the frames before: no file may contain them
        return _with_proof(plan, replace(before.unmeasured(), continuous=proven, digest=""))

    def _differs(self, plan: Plan) -> list[Interval]:
        """Intervals in which motion differs from before the drag: those of edits that are new or gone."""
        assert self.plan is not None
        before, after = self.plan.edits, plan.edits
        other = [e for e in after if e not in before] + [e for e in before if e not in after]
        frames = [(e.layer.during, 1.0 / e.layer.fps) for e in other]  # changed up to the next frame
        first, last = plan.world.span
        return merged([(max(begin - frame, first), min(end + frame, last)) for (begin, end), frame in frames], 0.1)

    def let_go(self, T: Array) -> Document:
        """Document with the object at `T`."""
        return with_place(self.document, self.board, self.name, T)

    def moved_board(self, document: Document) -> Storyboard:
        """Storyboard after the drag, without rebuilding all of it."""
        T = places_of(document, self.board)[self.name].T
        return replace(self.board, world=moved_world(self.document, self.board, self.name, T))

    def _kept(self) -> dict[str, object]:
        """Additions of hand tasks to the world: paths of objects and allowed contacts."""
        assert self.plan is not None
        return {} if self._repaired else {"contacts": self.plan.world.contacts}

    def _loosened(self, world: World, T: Array) -> World:
        """World with the dragged meshes as objects, whose distance fields are in their own axes."""
        static = {name: mesh for name, mesh in world.static.items() if name not in self._loose}
        loose = world.with_(static=static)
        for name, mesh in self._loose.items():
            loose = loose.with_object(name, mesh, Still(T))
        return loose


def _with_proof(plan: Plan, certificate: Certificate) -> Plan:
    return plan.with_(certificate=certificate, status="found" if certificate.free else "not-certified")


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
