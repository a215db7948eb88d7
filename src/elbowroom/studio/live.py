"""A drag: while something is moved the motion follows, not yet proven; when it is let go the motion is proven."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.plan.edit import changed_by
from elbowroom.plan.repair.live import LiveRepair
from elbowroom.plan.repair.quick import near_spans
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.result import Plan
from elbowroom.plan.tasks import Repair
from elbowroom.search.birrt import keeping_trees
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.places import moved_world, places_of, with_place
from elbowroom.studio.standing import entry_names
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.certificate_findings import Interval, merged
from elbowroom.world.pairs import moves
from elbowroom.world.paths import Still
from elbowroom.world.played import played
from elbowroom.world.world import World

# Seconds in which a repair from the start is to be done, or given up; and where tasks can be planned anew instead.
_LONGEST, _SHORT = 20.0, 3.0


@dataclass(eq=False)
class Drag:
    """Something that is being moved: the document, its storyboard and its motion as they were when the drag began."""

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
        # what was repaired stays close to the motion as it came; what was planned for hands stays as it is planned
        below = self.board.world.with_(characters=self.plan.base) if self._repaired else self.plan.world
        self._live = LiveRepair(below, self.document.seed, self.board.style if self._repaired else None)
        if self._repaired:
            self._live.learn(self.plan)
        T = inverse(places_of(self.document, self.board)[self.name].T)
        static = self.board.world.static
        self._loose = {name: static[name].moved(T) for name in self.names if name in static}

    @property
    def _repaired(self) -> bool:
        """Whether all that is asked for are repairs."""
        return bool(self.board.tasks) and all(isinstance(task, Repair) for task in self.board.tasks)

    @property
    def can_follow(self) -> bool:
        """Whether the motion can follow: there is one, and no task is about what is moved."""
        kinds = places_of(self.document, self.board)
        movable = self.name in kinds and kinds[self.name].kind in ("static", "object")
        about = any(speaks_of(self.document.values.get(key, []), self.name) for key in ("tasks", "holds"))
        clips = self.plan is not None and all(isinstance(m, Clip) for m in self.plan.world.characters.values())
        return movable and not about and self.plan is not None and self.plan.status in ("found", "partial") and clips

    @property
    def names(self) -> tuple[str, ...]:
        """All things that move."""
        return entry_names(self.board, self.name)

    def follow(self, T: Array, *, sure: bool = False, seconds: float = math.inf) -> Plan:
        """The motion with the thing at `T` (4, 4), not proven; only what the thing touches is done anew.

        With `sure` it is looked at more closely, so that it can be proven. Where the thing is in the way still, or no
        way was found in so many `seconds`, the status is 'partial'.
        """
        assert self._live is not None and self.plan is not None
        world = moved_world(self.document, self.board, self.name, T)
        world = world.with_(**self._kept())
        found = self._live.again(self._loosened(world, T), self.names, sure=sure, seconds=seconds)
        characters, holds = found.world.characters, self.plan.world.holds
        found = found if self._repaired else self.plan.then(found)
        return found.with_(world=world.with_(characters=characters, holds=holds))

    @keeping_trees()
    def anew(self, T: Array) -> Plan:
        """A repair from the start, with a proof, where following does not do; tasks are planned anew if need be."""
        world = moved_world(self.document, self.board, self.name, T)
        assert self.plan is not None
        if self._repaired:
            who = tuple(dict.fromkeys(task.who for task in self.board.tasks))
            return repair(world, who, seed=self.document.seed, style=self.board.style, budget=_LONGEST)
        below = world.with_(characters=self.plan.world.characters, holds=self.plan.world.holds, **self._kept())
        plan = repair(below, seed=self.document.seed, budget=_SHORT)
        if plan.found:
            return self.plan.then(plan)
        # a hand that takes something beside it has to take it otherwise
        board = replace(self.board, world=world)
        return plan_storyboard(board, seed=self.document.seed, tier=self.document.tier)

    def prove(self, plan: Plan, T: Array, *, clearance: bool = False) -> Plan:
        """A motion that followed to `T`, with its proof; without `clearance` how near things come is left open.

        Where the motion before the drag was proven, that holds for all that has not changed since: only frames that
        differ, and times at which anybody is near the thing, are looked at then.
        """
        before = None if self.plan is None else self.plan.certificate
        assert self._live is not None
        loose = self._loosened(plan.world, T)  # what surrounds things is known then, and need not be worked out again
        loose = loose.with_(contacts=(*loose.contacts, *self._live.contacts(planned=False)))
        fps, changed = self.board.fps, changed_by(plan.edits)
        if clearance or before is None or not before.free or before.fps != fps:
            certificate = certify(loose, fps, changed=changed, clearance=clearance)
            # that world is the plan's, with what is dragged as an object in its own axes
            return _with_proof(plan, replace(certificate, digest=played(plan.world, fps).digest))
        alone = self._alone(loose)
        looks = [(loose, span) for span in self._differs(plan)]
        looks += [(alone, span) for span in near_spans(loose, self.names)]
        proven = before.continuous
        for world, span in looks:
            part = certify(world, fps, changed=changed, during=span, clearance=False)
            if not part.free:
                return _with_proof(plan, part)
            proven &= part.continuous
        # what is allowed and excused is told of the frames before: no file is to say so
        return _with_proof(plan, replace(before.unmeasured(), continuous=proven, digest=""))

    def _alone(self, world: World) -> World:
        """The world with what goes about and what is moved alone: all else is as it was before the drag."""
        objects = {n: thing for n, thing in world.objects.items() if n in self.names or moves(world, n, thing)}
        known = {"floor", *objects, *world.characters}
        contacts = tuple(c for c in world.contacts if {world.split(c.who)[0], world.split(c.on)[0]} <= known)
        return world.with_(static={}, objects=objects, floor=None, contacts=contacts)

    def _differs(self, plan: Plan) -> list[Interval]:
        """Intervals in which anybody moves otherwise than before the drag: those of edits that are new or gone."""
        assert self.plan is not None
        before, after = self.plan.edits, plan.edits
        other = [e for e in after if e not in before] + [e for e in before if e not in after]
        frames = [(e.layer.during, 1.0 / e.layer.fps) for e in other]  # up to the next frame all has changed, too
        first, last = plan.world.span
        return merged([(max(begin - frame, first), min(end + frame, last)) for (begin, end), frame in frames], 0.1)

    def let_go(self, T: Array) -> Document:
        """The document with the thing at `T`."""
        return with_place(self.document, self.board, self.name, T)

    def moved_board(self, document: Document) -> Storyboard:
        """The storyboard of the document after the drag, without building all of it anew."""
        T = places_of(document, self.board)[self.name].T
        return replace(self.board, world=moved_world(self.document, self.board, self.name, T))

    def _kept(self) -> dict[str, object]:
        """What tasks of hands have added to the world: where things are put, and what may touch."""
        assert self.plan is not None
        return {} if self._repaired else {"contacts": self.plan.world.contacts}

    def _loosened(self, world: World, T: Array) -> World:
        """The world with what is moved as objects, whose surroundings are known in their own axes."""
        static = {name: mesh for name, mesh in world.static.items() if name not in self._loose}
        loose = world.with_(static=static)
        for name, mesh in self._loose.items():
            loose = loose.with_object(name, mesh, Still(T))
        return loose


def _with_proof(plan: Plan, certificate: Certificate) -> Plan:
    return plan.with_(certificate=certificate, status="found" if certificate.free else "not-certified")
