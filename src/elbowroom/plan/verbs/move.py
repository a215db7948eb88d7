"""People move an object that leads their whole bodies, feet in place (Y1 to Y6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, product

from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.plan.checks.hands import arms_of, held_by
from elbowroom.plan.checks.margins import STEPS_M
from elbowroom.plan.checks.places import resting
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.steps.director import Director
from elbowroom.plan.steps.give_way import require_free
from elbowroom.plan.tasks import Carry, Move
from elbowroom.plan.verbs.carrier import Carrier, Option
from elbowroom.plan.verbs.carry_path import CarriedFrames, carried
from elbowroom.plan.verbs.detours import require_way
from elbowroom.search.birrt import Budget
from elbowroom.world.things import Fixture

# Limits of a search for one arm on its way to the object: both arms are searched, for several grips.
_REACHES = Budget(checks=5_000)
# Whole-body paths to and from the object that are searched for all grips together: refusals must not take long.
_BODIES = 2
# Options without a way that are tried before one is searched: of benchmarks/object_moves.py, no fifth one found one.
_AT_ONCE = 4
# Ways to hold the object of each of several people that are combined.
_OF_EACH = 2

# One option per person.
Options = tuple[Option, ...]


def move(d: Director, task: Move) -> None:
    """Take an object, carry it to its goal, set it down, and release it, alone or with helpers."""
    what = f"move {task.object}"
    actors = crew_of(d, task, what)
    hands = [free_hands(d, actor, task.hands, what) for actor in actors]
    settings = d.settings
    d.settings = replace(settings, search_budget=_REACHES)
    d.spent.paths_left = min(d.spent.paths_left, _BODIES)
    try:
        Crew(d, [Carrier(d, actor, task, what, len(actors)) for actor in actors], hands).move()
    finally:
        d.settings = settings


def crew_of(d: Director, task: Move | Carry, what: str) -> list[Actor]:
    """Everyone who takes an object together, the leader first; raises for an invalid task."""
    if task.object not in d.world.objects:
        raise UnknownName("object", task.object, d.world.objects)
    if isinstance(d.world.objects[task.object], Fixture):
        raise BadValue(f"{what}: a fixture can be opened and closed, but not carried.")
    if any(given is not None for given in (task.at, task.begin, task.back, task.hand)):
        raise BadValue(f"{what}: the planner chooses the times; omit 'hand', 'at', 'begin' and 'back'.")
    names = (task.who, *task.helpers)
    if len(set(names)) < len(names):
        raise BadValue(f"{what}: name each character once.")
    actors = [d.actor(name) for name in names]
    if len({actor.base.fps for actor in actors}) > 1:
        raise BadValue(f"{what}: the motions of {' and '.join(names)} need the same frame rate.")
    return actors


def free_hands(d: Director, actor: Actor, hands: str, what: str) -> list[str]:
    """Hands, 'both' or one, with which an actor takes an object; raises where they are not free, or the actor does not
    stand.
    """
    wanted = arms_of(actor, None) if hands == "both" else arms_of(actor, hands)
    busy = [h for h in wanted if held_by(d.world, actor.who, h, actor.now) is not None]
    if busy or (hands == "both" and len(wanted) < 2):
        why = f"the {busy[0]} hand of {actor.who} is busy" if busy else f"{actor.who} has only one arm"
        many = "both hands" if hands == "both" else f"the {hands} hand"
        raise PlanningFailure("hand-not-free", f"{what}: {why}, and it needs {many}")
    if not actor.stands:
        raise PlanningFailure("no-path", f"{what}: {actor.who} is walking; move needs a standing character")
    return wanted


class Crew:
    """The carriers of one object, the leader first; `follow` lets robots hold it until a time, and `slower` is the
    factor by which placements (N, 4, 4) of it are too fast for them.
    """

    def __init__(
        self,
        d: Director,
        carriers: list[Carrier],
        hands: list[list[str]],
        follow: Callable[[float], None] | None = None,
        slower: Callable[[Array], float] | None = None,
    ) -> None:
        self.d, self.carriers, self.hands, self.follow, self.slower = d, carriers, hands, follow, slower

    def move(self) -> None:
        """Move the object with the first options that do without a search; else search, with another guide and less
        room to all else the second time."""
        looked_at: list[Options] = []

        def at_once(options: Options) -> None:
            looked_at.append(options)
            self.do(options, searched=False, rooms=STEPS_M[:1])

        options = self.options()
        easiest = next(options)
        if len(self.carriers) == 1:
            require_way(self.carriers[0])
        stuck = self.d.attempt(lambda: self.d.first(chain([easiest], options), at_once, _AT_ONCE))
        if stuck is None:
            return
        if not looked_at:
            raise stuck
        guides = dict.fromkeys(options[0].guided for options in looked_at)
        firsts = [next(options for options in looked_at if options[0].guided == guided) for guided in guides]

        def search(turn: tuple[Options, float]) -> None:
            self.do(turn[0], searched=True, rooms=turn[1:])

        self.d.first(zip(firsts, STEPS_M, strict=False), search)

    def options(self) -> Iterator[Options]:
        """Options of all carriers to hold the object, the easiest first."""
        each = [carrier.options(hands) for carrier, hands in zip(self.carriers, self.hands, strict=True)]
        if len(each) == 1:
            return ((option,) for option in each[0])
        return product(*(list(islice(options, _OF_EACH)) for options in each))

    def do(self, options: Options, *, searched: bool, rooms: Sequence[float]) -> None:
        """Reach, take, carry, set down, let go, and go back; cheap checks come first."""
        paths = self._paths(options, searched=searched, rooms=rooms)
        afters = self._afters(options, paths)
        first = [carrier.actor.k for carrier in self.carriers]
        for carrier, option in self._crew(options):
            carrier.approach(option)
        self._taken(options)
        self._played(options, paths)
        self._left(options, afters)
        self._checked(first)

    def lift(self) -> Options:
        """Reach, take, and lift the object into everybody's hands; return their options.

        Each carrier has the first option with which it could reach and lift the object alone.
        """
        chosen: list[Option] = []
        first = [carrier.actor.k for carrier in self.carriers]

        def reached(carrier: Carrier, option: Option) -> None:
            Crew(self.d, [carrier], [])._paths((option,), searched=False)
            carrier.approach(option)
            chosen.append(option)

        for carrier, hands in zip(self.carriers, self.hands, strict=True):
            self.d.first(carrier.options(hands), partial(reached, carrier))
        options = tuple(chosen)
        paths = self._paths(options, searched=False)
        self._taken(options)
        self._played(options, paths)
        self._checked(first)
        return options

    def set_down(self, options: Options) -> None:
        """Carry the object in everybody's hands, feet in place, to its goal, release it, and return."""
        paths = self._paths(options, searched=False)
        afters = self._afters(options, paths)
        first = [carrier.actor.k for carrier in self.carriers]
        self._played(options, paths)
        self._left(options, afters)
        self._checked(first)

    def _crew(self, options: Options) -> list[tuple[Carrier, Option]]:
        return list(zip(self.carriers, options, strict=True))

    def _paths(self, options: Options, *, searched: bool, rooms: Sequence[float] = STEPS_M) -> list[CarriedFrames]:
        for carrier, option in self._crew(options):
            carrier.guided = option.guided
        team = [(carrier, option.grips) for carrier, option in self._crew(options)]
        ends = [(option.start, option.goal) for option in options]
        return carried(team, ends, searched=searched, rooms=rooms, slower=self.slower)

    def _afters(self, options: Options, paths: list[CarriedFrames]) -> list[Pose]:
        return [c.after(option, path.last) for (c, option), path in zip(self._crew(options), paths, strict=True)]

    def _taken(self, options: Options) -> None:
        self._in_step()
        for carrier, option in self._crew(options):
            carrier.take(option)
        for carrier, option in self._crew(options):
            carrier.hold(option.grips)

    def _played(self, options: Options, paths: list[CarriedFrames]) -> None:
        for (carrier, option), path in zip(self._crew(options), paths, strict=True):
            carrier.play(option.grips, path)

    def _left(self, options: Options, afters: list[Pose]) -> None:
        lead = self.carriers[0]
        under = resting(self.d.world, lead.thing, lead.actor.now)
        for carrier, option in self._crew(options):
            carrier.let_go(option.grips, under)
        for (carrier, option), after in zip(self._crew(options), afters, strict=True):
            carrier.leave(option.grips, after)
            carrier.say_fit(option.grips)

    def _checked(self, first: list[int]) -> None:
        for carrier, began in zip(self.carriers, first, strict=True):
            carrier.allow_folds(began)
        begin = min(carrier.actor.time(k) for carrier, k in zip(self.carriers, first, strict=True))
        end = max(carrier.actor.now for carrier in self.carriers)
        if self.follow is not None:
            self.follow(end)
        require_free(self.d, (begin, end), self.carriers[0].what)

    def _in_step(self) -> None:
        """Let those that are ready first wait for the others."""
        latest = max(carrier.actor.now for carrier in self.carriers)
        for carrier in self.carriers:
            carrier.wait(carrier.actor.frame(latest))
