"""The ladder of repairs (X8): a limb alone, with shoulder and spine, a foot elsewhere, the body aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from elbowroom.motion.clip import Clip
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE, Style
from elbowroom.tasks.plan import Planned
from elbowroom.tasks.repair_aside import Aside
from elbowroom.tasks.repair_feet import FeetFree, feet_free
from elbowroom.tasks.repair_find import Linkage, Trouble, linkages
from elbowroom.tasks.repair_hands import hands_free
from elbowroom.tasks.repair_limb import Replanned, hopeless, leaned, searched, spliced, stepped
from elbowroom.tasks.repair_pelvis import sways
from elbowroom.tasks.repair_stretch import MARGIN, TIGHT, Clocks, Job, Stretch, stance, stretches
from elbowroom.tasks.repair_time import retimed
from elbowroom.world.allowances import Changed
from elbowroom.world.contacts import Contact
from elbowroom.world.world import World

# How often limbs are tried again, with other seeds, nearer to things.
_AGAIN = 3
# Share of the depth in things that a body may leave to its limbs when it goes aside, if there are other ways.
_LITTLE = 0.1


@dataclass(frozen=True, eq=False)
class Wishes:
    """How clips are repaired.

    `sources` are the clips that came, by who plays them; `max_aside` is how far a body may go aside for a while,
    metres; `apart` are other repairs that these are to differ from where they can; `progress` is told what is done;
    `margin` metres are kept off everything.
    """

    sources: Mapping[str, Clip]
    seed: int
    style: Style
    budget: Budget
    fix_self: bool
    max_aside: float
    apart: Mapping[str, tuple[Clip, ...]] = field(default_factory=dict)
    progress: Callable[[str], None] | None = None
    margin: float = MARGIN
    clocks: Clocks = field(default_factory=Clocks)

    def recorded(self, who: str) -> bool:
        """Whether someone's clip may touch itself as it does."""
        return bool(self.sources[who].source.format) and not self.fix_self


@dataclass(frozen=True, eq=False)
class Mended:
    """The world after a trouble was mended, what was planned, changed, and may touch."""

    world: World
    plans: tuple[Planned, ...]
    changed: tuple[Changed, ...]
    contacts: tuple[Contact, ...]


def mended(world: World, trouble: Trouble, wishes: Wishes) -> tuple[Mended | None, str]:
    """Go up the ladder for one trouble: the limb in growing linkages, the body aside, and the limb again nearer to
    things than usual; leans before searches. None, and why, where nothing does."""
    clip = world.motion(trouble.who)
    assert isinstance(clip, Clip)
    ladder = linkages(clip.character, trouble.limb, trouble.joints)
    reason = f"{trouble.limb or 'that part'} is no limb that can give way"
    seed = wishes.seed
    if wishes.apart:
        done, _ = _by_linkages(world, trouble, ladder, wishes, seed)
        if done is not None:
            return done, ""
        wishes = replace(wishes, apart={})
    done, told = _by_linkages(world, trouble, ladder, wishes, seed)
    if done is None and wishes.style is not CLOSE:
        # a style is a wish: what cannot keep to it is mended all the same, and says so
        done, told = mended(world, trouble, replace(wishes, style=CLOSE))
        told_so = [replace(p, what=f"{p.what}, not in the style asked for") for p in done.plans] if done else ()
        return (replace(done, plans=tuple(told_so)) if done else None), told
    if done is None:
        reason = told or reason
        done = _aside(world, trouble, ladder, wishes, seed + len(ladder))
    for again in range(_AGAIN):
        if done is None:
            near, other = replace(wishes, margin=TIGHT), seed + (2 + again) * len(ladder)
            done, _ = _by_linkages(world, trouble, ladder, near, other, searches=again == 0)
    return done, reason


def by_limbs(world: World, trouble: Trouble, wishes: Wishes) -> tuple[Mended | None, str]:
    """The first rungs alone, which are quick: the limb in growing linkages. None, and why, where none does."""
    clip = world.motion(trouble.who)
    assert isinstance(clip, Clip)
    ladder = linkages(clip.character, trouble.limb, trouble.joints)
    return _by_linkages(world, trouble, ladder, wishes, wishes.seed)


def _aside(world: World, trouble: Trouble, ladder: list[Linkage], wishes: Wishes, seed: int) -> Mended | None:
    """The body goes aside, and limbs do what is left to do; where that is much, a way farther aside may leave less."""
    tried = []
    for sway in _ways_aside(world, trouble, wishes):
        if wishes.clocks.late:
            return None
        if sway.leaves <= _LITTLE:
            done = _after(sway, trouble, ladder, wishes, seed)
            if done is not None:
                return done
        else:
            tried.append(sway)
    followed = (_after(sway, trouble, ladder, wishes, seed) for sway in tried if not wishes.clocks.late)
    return next((done for done in followed if done is not None), None)


def _ways_aside(world: World, trouble: Trouble, wishes: Wishes) -> Iterator[Aside]:
    """Over the feet and in steps, then sooner or later, then round things."""
    of = (world, wishes.sources[trouble.who], trouble, wishes.recorded(trouble.who), wishes.max_aside, wishes.clocks)
    yield from sways(*of, far=False)
    yield from retimed(world, trouble, wishes.clocks)
    yield from sways(*of, far=True)


def _after(sway: Aside, trouble: Trouble, ladder: list[Linkage], wishes: Wishes, seed: int) -> Mended | None:
    """What limbs do once the body has gone aside; None where they cannot."""
    told = f"{sway.told}, clear of {_others(sway.world, trouble)}"
    planned = Planned(trouble.who, sway.name, told, sway.changed.during, "avoid", checks=sway.checks)
    if sway.leaves == 0.0:
        return Mended(sway.world, (planned,), (sway.changed,), sway.contacts)
    more, _ = _by_linkages(sway.world, trouble, ladder, wishes, seed, searches=False)
    if more is None:
        return None
    plans, changed = (planned, *more.plans), (sway.changed, *more.changed)
    return Mended(more.world, plans, changed, (*sway.contacts, *more.contacts))


def _by_linkages(
    world: World, trouble: Trouble, ladder: list[Linkage], wishes: Wishes, seed: int, *, searches: bool = True
) -> tuple[Mended | None, str]:
    """One linkage after another, and for legs one choice of times after another."""
    clip = world.motion(trouble.who)
    assert isinstance(clip, Clip)
    reason = ""
    for number, linkage in enumerate(ladder):
        bounds = hands_free(world, clip, trouble.who, linkage.joints, trouble.during)
        if bounds is None:
            reason = "a hand takes, leaves or touches something just then"
            continue
        for free in feet_free(clip, trouble):
            if wishes.clocks.late:
                return None, "there was no time left to look"
            free = replace(free, low=max(free.low, bounds[0]), high=min(free.high, bounds[1]))
            job = _job(world, trouble, wishes, linkage, free)
            done, reason = _replanned(job, free, linkage.name, wishes, seed + number, searches)
            if done is not None:
                return _told(trouble, linkage.name, job, done), ""
    return None, reason


def _job(world: World, trouble: Trouble, wishes: Wishes, linkage: Linkage, free: FeetFree) -> Job:
    source = wishes.sources[trouble.who]
    chain = source.character.chains.get(trouble.limb)
    return Job(
        world,
        source,
        trouble.who,
        (*linkage.joints, *linkage.hang),
        () if chain is None else chain.joints,
        linkage.hang,
        trouble.during,
        free.low,
        free.high,
        wishes.recorded(trouble.who),
        wishes.margin,
        wishes.apart.get(trouble.who, ()),
    )


def _replanned(
    job: Job, free: FeetFree, name: str, wishes: Wishes, seed: int, searches: bool
) -> tuple[Replanned | None, str]:
    """New frames for one linkage, or why there are none."""
    clocks = wishes.clocks
    if free.stands is not None:
        aside = stepped(job, stance(job, *free.stands, clocks), seed, clocks, "elsewhere")
        return aside, "the foot stands then, and no other place for it is free"
    if free.knee:
        tries = (stepped(job, stretch, seed, clocks, "knee") for stretch in stretches(job, clocks))
        return next((done for done in tries if done is not None), None), "the knee cannot give way"
    tried: list[Stretch] = []
    for stretch in stretches(job, clocks):
        if clocks.late:
            break
        if not tried and hopeless(job, stretch, seed, clocks):
            return None, f"whatever {name.replace('_', ' ')} do, something that they carry stays in the way"
        tried.append(stretch)
        done = leaned(job, stretch, seed, wishes.style, clocks)
        if done is None and job.limb == job.joints and free.leg:
            done = stepped(job, stretch, seed, clocks, "lifted")
        if done is not None:
            return done, ""
    # a search wants time: the shortest stretch comes last
    for stretch in (*tried[1:], *tried[:1]) if searches else ():
        if clocks.late:
            break
        done = searched(job, stretch, seed, wishes.style, wishes.budget, clocks)
        if done is not None:
            return done, ""
    found = "no free motion was found, with spine and shoulder neither"
    return None, found if tried else "there is too little time to leave the clip and to return to it"


def _told(trouble: Trouble, name: str, job: Job, done: Replanned) -> Mended:
    span = (done.stretch.core.first, done.stretch.core.last)
    way = done.way
    planned = Planned(
        trouble.who,
        name,
        f"clear of {_others(job.world, trouble)}{_at_the_ends(done.stretch)}",
        span,
        way.tier,
        way.first_solution_s,
        way.smooth_s,
        way.stats.checks,
        way.stats.nodes,
        way.trees,
    )
    changed = Changed(trouble.who, job.joints, span)
    return Mended(spliced(job, done), (planned,), (changed,), done.stretch.contacts)


def _at_the_ends(stretch: Stretch) -> str:
    """That a clip begins or ends in trouble, so that there was nothing to leave or return to."""
    core = stretch.core
    told = ["from the first frame on"] if core.begin <= core.first else []
    told += ["to the last frame"] if core.end >= core.last else []
    return "".join(f", {one}" for one in told)


def _others(world: World, trouble: Trouble) -> str:
    """What someone has to get clear of, in words."""
    mine = {hold.object for hold in world.holds if hold.by == trouble.who}
    names = [name for pair in trouble.pairs for name in pair]
    others = [n for n in dict.fromkeys(names) if n not in mine and not n.startswith(f"{trouble.who}.")]
    return " and ".join(others[:2]) or "the body itself"
