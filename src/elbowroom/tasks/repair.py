"""Repair: a clip that runs into things is planned anew where it does, limb by limb (S4), with a ladder (X8)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from elbowroom.errors import BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE, Style, Wish, style_of
from elbowroom.tasks.plan import Plan, Planned, Status
from elbowroom.tasks.repair_balance import balance
from elbowroom.tasks.repair_feet import FeetFree, feet_free
from elbowroom.tasks.repair_find import Trouble, linkages, troubles
from elbowroom.tasks.repair_limb import Replanned, hopeless, leaned, searched, spliced, stepped
from elbowroom.tasks.repair_move import moved_ways
from elbowroom.tasks.repair_stretch import Clocks, Job, Stretch, stance, stretches
from elbowroom.world.carried import Carried
from elbowroom.world.certificate import Certificate, Changed, certify
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.things import Hold
from elbowroom.world.world import World

# How often what a repair brings about is repaired in turn.
_ROUNDS = 6
# How often the whole ladder is gone up, with other seeds.
_TRIES = 2
# Checks that one search may make.
USUAL = Budget(checks=60_000)


@dataclass
class _Work:
    """A repair under way: the world as it is, what was changed, and what could not be done."""

    world: World
    seed: int
    style: Style
    budget: Budget
    fix_self: bool
    clocks: Clocks = field(default_factory=Clocks)
    plans: list[Planned] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    failed: dict[tuple[str, str, int], str] = field(default_factory=dict)

    def certified(self) -> Certificate:
        """Proof of the world as it is."""
        start = time.perf_counter()
        told = self.world.with_(contacts=(*self.world.contacts, *self.contacts))
        found = certify(told, own_contacts=not self.fix_self, changed=self.changed)
        self.clocks.add("certify", start)
        return found


def repair(
    world: World,
    who: str | Sequence[str] | None = None,
    *,
    seed: int = 0,
    style: Wish = None,
    budget: Budget = USUAL,
    fix_self: bool = False,
    max_shift: float = 0.0,
    max_delay: float = 0.0,
) -> Plan:
    """Bring clips of characters out of what they run into; `who` is by default everybody with a clip, one by one.

    Limbs to blame are planned anew for as long as need be and stay close to the clip; all other frames stay as they
    are. `style`, a `Style` or the name of one, is by default 'close': as near to the clip as will do. With `fix_self`, contacts of a recorded clip with itself and
    the floor count, too. Where limbs cannot do it, a whole clip may be moved on the floor by `max_shift` metres, or
    begin `max_delay` seconds later, at most. The same seed gives the same motion. Where something is left, the status
    is 'partial', the world has the best repair, and `why` says what is left and why.
    """
    chosen = style_of(style, CLOSE)
    plan = _by_limbs(world, who, seed, chosen, budget, fix_self)
    for name in _people(world, who) if max_shift > 0.0 or max_delay > 0.0 else ():
        if plan.found:
            break
        for way in moved_ways(world, name, max_shift, max_delay):
            other = _by_limbs(way.world, who, seed, chosen, budget, fix_self)
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


def _by_limbs(
    world: World, who: str | Sequence[str] | None, seed: int, style: Style, budget: Budget, fix_self: bool
) -> Plan:
    """Repair by limbs alone."""
    work = _Work(_holding_fast(world), seed, style, budget, fix_self)
    people = _people(world, who)
    before = after = work.certified()
    for name in people:
        for _ in range(_ROUNDS):
            found = _open(work, name, after)
            if not found or not _treat(work, found):
                break
            after = work.certified()
    seconds = {stage: round(s, 4) for stage, s in work.clocks.seconds.items()}
    notes = balance(world, work.world, [c.who for c in work.changed])
    result = replace(work.world, holds=world.holds, notes=(*world.notes, *notes))
    status: Status = "found" if after.free else "partial"
    why = "" if after.free else _left(work, people, before, after)
    return Plan(status, result, tuple(work.plans), why, after, seconds, before.collisions)


def _people(world: World, who: str | Sequence[str] | None) -> list[str]:
    clips = [name for name, motion in world.characters.items() if isinstance(motion, Clip)]
    wanted = clips if who is None else [who] if isinstance(who, str) else list(who)
    for name in wanted:
        if name not in world.characters:
            raise UnknownName("character", name, world.characters)
        if name not in clips:
            raise BadValue(f"the motion of '{name}' is not made of frames: only clips are repaired.")
    return wanted


def _holding_fast(world: World) -> World:
    """What is held is held as it is now, whatever becomes of the hand's motion."""
    holds = []
    for hold in world.holds:
        path = world.things[hold.object].path
        assert isinstance(path, Carried)
        holds.append(Hold(hold.object, hold.by, hold.hand, hold.during, path.grip(hold)))
    return replace(world, holds=tuple(holds))


def _open(work: _Work, who: str, certificate: Certificate) -> list[Trouble]:
    """What is left to do for someone: the troubles that were not given up, of what is moved first alone."""
    exact = ExactWorld(work.world)
    found = troubles(exact, who, [*certificate.collisions, *certificate.unproven])
    found = [t for t in found if _key(t) not in work.failed]
    trunk = [t for t in found if t.limb in ("spine", "neck")]
    return trunk[:1] or found


def _treat(work: _Work, found: Sequence[Trouble]) -> bool:
    """Treat troubles; whether any was mended."""
    mended = False
    for trouble in found:
        if _mend(work, trouble):
            mended = True
    return mended


def _mend(work: _Work, trouble: Trouble) -> bool:
    """Go up the ladder for one trouble: limb, limb and shoulder, limb and spine; lean first, then search."""
    clip = work.world.motion(trouble.who)
    assert isinstance(clip, Clip)
    reason = f"{trouble.limb or 'that part'} is no limb that can give way"
    ladder = linkages(clip.character, trouble.limb, trouble.joints)
    for number, linkage in enumerate(ladder * _TRIES):
        for free in feet_free(clip, trouble):
            job = Job(
                work.world,
                trouble.who,
                (*linkage.joints, *linkage.hang),
                clip.character.chain(trouble.limb).joints,
                linkage.hang,
                trouble.during,
                free.low,
                free.high,
                bool(clip.source.format) and not work.fix_self,
            )
            done, reason = _replanned(work, job, free, linkage.name, work.seed + number)
            if done is not None:
                return _accept(work, trouble, linkage.name, job, done)
    work.failed[_key(trouble)] = reason
    return False


def _replanned(work: _Work, job: Job, free: FeetFree, name: str, seed: int) -> tuple[Replanned | None, str]:
    """New frames for one linkage, or why there are none."""
    clocks = work.clocks
    if free.stands is not None:
        aside = stepped(job, stance(job, *free.stands, clocks), seed, clocks, lifted=False)
        return aside, "the foot stands then, and no other place for it is free"
    tried: list[Stretch] = []
    for stretch in stretches(job, clocks):
        if not tried and hopeless(job, stretch, seed, clocks):
            return None, f"whatever {name.replace('_', ' ')} do, something that they carry stays in the way"
        tried.append(stretch)
        done = leaned(job, stretch, seed, work.style, clocks)
        if done is None and job.limb == job.joints and free.leg:
            done = stepped(job, stretch, seed, clocks, lifted=True)
        if done is not None:
            return done, ""
    # a search wants time: the shortest stretch comes last
    for stretch in (*tried[1:], *tried[:1]):
        done = searched(job, stretch, seed, work.style, work.budget, clocks)
        if done is not None:
            return done, ""
    found = "no free motion was found, with spine and shoulder neither"
    return None, found if tried else "there is too little time to leave the clip and to return to it"


def _accept(work: _Work, trouble: Trouble, name: str, job: Job, done: Replanned) -> bool:
    span = (done.stretch.core.first, done.stretch.core.last)
    work.world = spliced(job, done)
    work.changed.append(Changed(trouble.who, job.joints, span))
    work.contacts += done.stretch.contacts
    way = done.way
    mine = {hold.object for hold in work.world.holds if hold.by == trouble.who}
    names = [name for pair in trouble.pairs for name in pair]
    others = [n for n in dict.fromkeys(names) if n not in mine and not n.startswith(f"{trouble.who}.")]
    what = "clear of " + (" and ".join(others[:2]) or "the body itself")
    work.plans.append(
        Planned(
            trouble.who,
            name,
            what,
            span,
            way.tier,
            way.first_solution_s,
            way.smooth_s,
            way.stats.checks,
            way.stats.nodes,
        )
    )
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
