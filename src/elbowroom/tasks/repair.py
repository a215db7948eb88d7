"""Repair: a clip that runs into things is planned anew where it does, limb by limb (S4), with a ladder (X8)."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE, Wish, style_of
from elbowroom.tasks.plan import Plan, Planned, Status
from elbowroom.tasks.repair_balance import balance
from elbowroom.tasks.repair_find import Trouble, troubles
from elbowroom.tasks.repair_ladder import Wishes, mended
from elbowroom.tasks.repair_move import moved_ways
from elbowroom.tasks.repair_stretch import Clocks
from elbowroom.world.carried import Carried
from elbowroom.world.certificate import Certificate, Changed, certify
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World

# How often what a repair brings about is repaired in turn.
_ROUNDS = 6
# Checks that one search may make.
USUAL = Budget(checks=60_000)
# Metres that a body may go aside for a while.
ASIDE = 0.6


@dataclass
class _Work:
    """A repair under way: the world as it is, what was changed, and what could not be done."""

    world: World
    wishes: Wishes
    plans: list[Planned] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    failed: dict[tuple[str, str, int], str] = field(default_factory=dict)

    def certified(self) -> Certificate:
        """Proof of the world as it is."""
        start = time.perf_counter()
        told = self.world.with_(contacts=(*self.world.contacts, *self.contacts))
        found = certify(told, own_contacts=not self.wishes.fix_self, changed=self.changed)
        self.wishes.clocks.add("certify", start)
        return found


def repair(
    world: World,
    who: str | Sequence[str] | None = None,
    *,
    seed: int = 0,
    style: Wish = None,
    budget: Budget = USUAL,
    fix_self: bool = False,
    max_aside: float = ASIDE,
    max_shift: float = 0.0,
    max_delay: float = 0.0,
    apart: Sequence[World] = (),
    progress: Callable[[str], None] | None = None,
    seconds: float = math.inf,
) -> Plan:
    """Bring clips of characters out of what they run into; `who` is by default everybody with a clip, one by one.

    Limbs to blame are planned anew for as long as need be and stay close to the clip; all other frames stay as they
    are. `style`, a `Style` or the name of one, is by default 'close': as near to the clip as will do; what cannot keep
    to it goes without. With `fix_self`, contacts of a recorded clip with itself and the floor count, too. Where limbs
    cannot do it, a body goes aside for a while by `max_aside` metres at most, over its feet or in steps; then a whole
    clip may be moved on the floor by `max_shift` metres, or begin `max_delay` seconds later, at most. The same seed
    gives the same motion. Where something is left, the status is 'partial', the world has the best repair, and `why`
    says what is left and why. `apart` are other repairs of the same world that this one is to look different from,
    where it can. After some `seconds` nothing more is tried: then the status is 'budget-spent'.
    """
    until = time.perf_counter() + seconds
    others = {name: tuple(_clips(other)[name] for other in apart) for name in _people(world, who)} if apart else {}
    wishes = Wishes(
        _clips(world),
        seed,
        style_of(style, CLOSE),
        budget,
        fix_self,
        max_aside,
        others,
        progress,
        clocks=Clocks(until=until),
    )
    plan = _by_limbs(world, who, wishes, until)
    for name in _people(world, who) if max_shift > 0.0 or max_delay > 0.0 else ():
        if plan.found or plan.status == "budget-spent":
            break
        for way in moved_ways(world, name, max_shift, max_delay):
            moved = replace(wishes, sources=_clips(way.world), clocks=Clocks(until=until))
            other = _by_limbs(way.world, who, moved, until)
            if _better(other, plan):
                whole = Planned(name, "whole body", way.told, way.world.motion(name).span, "avoid")
                spent = {k: round(plan.seconds.get(k, 0.0) + s, 4) for k, s in other.seconds.items()}
                plan = other.with_(plans=(whole, *other.plans), seconds=spent, collisions=plan.collisions)
            if plan.found:
                break
    return plan


def _better(a: Plan, b: Plan) -> bool:
    """Whether a repair leaves less than another."""
    if a.found or a.certificate is None or b.certificate is None:
        return a.found
    return len(a.certificate.collisions) < len(b.certificate.collisions)


def _clips(world: World) -> dict[str, Clip]:
    return {name: motion for name, motion in world.characters.items() if isinstance(motion, Clip)}


def _by_limbs(world: World, who: str | Sequence[str] | None, wishes: Wishes, until: float) -> Plan:
    """Repair within a clip: by limbs, and by going aside for a while; `until` is by `time.perf_counter`."""
    work = _Work(holding_fast(world), wishes)
    people = _people(world, who)
    before = after = work.certified()
    # all of them between two proofs, which take long: that way repairs grow with the number of people, not its square
    for _ in range(_ROUNDS + len(people) - 1):
        exact, moved = ExactWorld(work.world), set[str]()
        for name in people:
            found = [t for t in _open(work, exact, name, after) if not moved & _owners(exact, t)]
            if found and _treat(work, found, until):
                moved.add(name)
        if not moved:
            break
        after = work.certified()
    seconds = {stage: round(s, 4) for stage, s in work.wishes.clocks.seconds.items()}
    notes = balance(world, work.world, [c.who for c in work.changed])
    result = replace(work.world, holds=world.holds, notes=(*world.notes, *notes))
    late = time.perf_counter() >= until
    status: Status = "found" if after.free else "budget-spent" if late else "partial"
    why = "" if after.free else _left(work, people, before, after)
    return Plan(status, result, tuple(work.plans), why, after, seconds, before.collisions)


def _people(world: World, who: str | Sequence[str] | None) -> list[str]:
    clips = list(_clips(world))
    wanted = clips if who is None else [who] if isinstance(who, str) else list(who)
    for name in wanted:
        if name not in world.characters:
            raise UnknownName("character", name, world.characters)
        if name not in clips:
            raise BadValue(f"the motion of '{name}' is not made of frames: only clips are repaired.")
    return wanted


def holding_fast(world: World) -> World:
    """What is held is held as it is now, whatever becomes of the hand's motion."""
    holds = []
    for hold in world.holds:
        path = world.things[hold.object].path
        assert isinstance(path, Carried)
        holds.append(replace(hold, T_hand_object=path.grip(hold)))
    return replace(world, holds=tuple(holds))


def _open(work: _Work, exact: ExactWorld, who: str, certificate: Certificate) -> list[Trouble]:
    """What is left to do for someone: the troubles that were not given up, of what is moved first alone."""
    found = troubles(exact, who, [*certificate.collisions, *certificate.unproven])
    found = [t for t in found if _key(t) not in work.failed]
    trunk = [t for t in found if t.limb in ("spine", "neck")]
    return trunk[:1] or found


def _owners(exact: ExactWorld, trouble: Trouble) -> set[str]:
    """Who meets whom in a trouble, by name; whose things are held, too."""
    named = {name for pair in trouble.pairs for name in pair}
    owners = {part.owner for part in exact.parts if part.name in named}
    return owners | {hold.by for hold in exact.world.holds if hold.object in owners}


def _treat(work: _Work, found: Sequence[Trouble], until: float) -> bool:
    """Treat troubles until a time; whether any was mended."""
    mended = False
    for trouble in found:
        if work.wishes.progress is not None:
            work.wishes.progress(f"repairing: {trouble.told}")
        if time.perf_counter() < until and _mend(work, trouble):
            mended = True
    return mended


def _mend(work: _Work, trouble: Trouble) -> bool:
    """Go up the ladder for one trouble; whether it was mended."""
    done, reason = mended(work.world, trouble, work.wishes)
    if done is None:
        work.failed[_key(trouble)] = reason
        return False
    work.world = done.world
    work.plans += done.plans
    work.changed += done.changed
    work.contacts += done.contacts
    return True


def _key(trouble: Trouble) -> tuple[str, str, int]:
    """The same trouble, whatever was changed around it."""
    return trouble.who, trouble.limb, round(0.5 * sum(trouble.during) * 4.0)


def _left(work: _Work, people: Sequence[str], before: Certificate, after: Certificate) -> str:
    """One sentence on what is left."""
    exact = ExactWorld(work.world)
    left = [t for name in people for t in troubles(exact, name, [*after.collisions, *after.unproven])]
    if not left:
        return "somebody who was not to be repaired runs into something"
    first = left[0]
    why: Mapping[tuple[str, str, int], str] = work.failed
    reason = why.get(_key(first), "rounds of repair were used up")
    more = f", and {len(left) - 1} more" if len(left) > 1 else ""
    return f"{first.told} ({reason}){more}; {len(before.collisions)} collisions before, {len(after.collisions)} now"
