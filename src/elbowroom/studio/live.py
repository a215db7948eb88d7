"""A drag: while something is moved the motion follows, not yet proven; when it is let go the motion is proven."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.places import entry_names, moved_world, places_of, with_place
from elbowroom.tasks.plan import Plan
from elbowroom.tasks.repair import repair
from elbowroom.tasks.repair_live import LiveRepair
from elbowroom.tasks.storyboard import Storyboard
from elbowroom.tasks.verbs import Repair
from elbowroom.world.certificate import Changed, certify
from elbowroom.world.paths import Still
from elbowroom.world.world import World


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
        self._live = LiveRepair(self.board.world if self._repaired else self.plan.world)
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

    def follow(self, T: Array, *, sure: bool = False) -> Plan:
        """The motion with the thing at `T` (4, 4), not proven; only what the thing touches is done anew.

        With `sure` it is looked at more closely, so that it can be proven.
        """
        assert self._live is not None and self.plan is not None
        world = moved_world(self.document, self.board, self.name, T)
        found = self._live.again(self._loosened(world, T), self.names, sure=sure)
        if found is not None:
            plans = found.plans if self._repaired else (*self.plan.plans, *found.plans)
            characters, holds = found.world.characters, self.plan.world.holds
            return found.with_(world=world.with_(characters=characters, holds=holds, **self._kept()), plans=plans)
        return self.anew(T)

    def anew(self, T: Array) -> Plan:
        """A repair from the start, where nothing that is known will do; it is known from then on."""
        world = moved_world(self.document, self.board, self.name, T)
        assert self._live is not None and self.plan is not None
        if self._repaired:
            who = tuple(dict.fromkeys(task.who for task in self.board.tasks))
            plan = repair(world, who, seed=self.document.seed, style=self.board.style)
        else:
            below = world.with_(characters=self.plan.world.characters, holds=self.plan.world.holds, **self._kept())
            plan = repair(below, seed=self.document.seed)
            plan = plan.with_(plans=(*self.plan.plans, *plan.plans))
        self._live.learn(plan)
        return plan

    def prove(self, plan: Plan, *, clearance: bool = False) -> Plan:
        """A motion that followed, with its proof."""
        changed = [
            Changed(p.who, tuple(range(len(plan.world.body(p.who).parents))), p.during)
            for p in plan.plans
            if not p.checks
        ]
        certificate = certify(plan.world, changed=changed, clearance=clearance)
        return plan.with_(certificate=certificate, status="found" if certificate.free else "not-certified")

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
