"""The ladder of repairs (X8): a limb alone, with shoulder and spine, a foot elsewhere, the body aside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from elbowroom.plan.edit import edit_between
from elbowroom.plan.repair.allowed import FeetFree, feet_free, hands_free
from elbowroom.plan.repair.cost import LARGE, SMALL, cost
from elbowroom.plan.repair.detours import postures, sways
from elbowroom.plan.repair.find import CollisionEpisode, Linkage, clip_of, linkages
from elbowroom.plan.repair.limb import Replanned, hopeless, leaned, searched, spliced, stepped
from elbowroom.plan.repair.options import TIGHT, RepairOptions
from elbowroom.plan.repair.pelvis import BodyDetour
from elbowroom.plan.repair.stretch import GROWTHS, Job, Stretch, stance, stretches
from elbowroom.plan.repair.whole_clip import retimed
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.edit import Edit
from elbowroom.world.world import World

# How often limbs are tried again, with other seeds, nearer to things.
_AGAIN = 3
# Share of the depth in things that a body may leave to its limbs when it goes aside, if there are other ways.
_LITTLE = 0.1
# Seconds before and after an episode in which a body is on its way aside and back.
_SWAYS_S = 1.5
# Stretches that are tried for a repair that is to change less than one that was found, or that is to be quick.
_STRETCHES = 2
# Linkages that are leaned in a quick repair, without searches: the limb, and the next larger one. All of them took up
# to 30 s for one arm, where another path of the walk is free.
_QUICK_LINKAGES = 2


@dataclass(frozen=True, eq=False)
class RepairResult:
    """The world after an episode was repaired, and the edits that were made."""

    world: World
    edits: tuple[Edit, ...]


def repair_episode(world: World, episode: CollisionEpisode, options: RepairOptions) -> tuple[RepairResult | None, str]:
    """Go up the ladder for one episode: the limb in growing linkages, or lower or turned with the whole body, whichever
    changes the clip least; the body aside; and the limb again nearer to things than usual. Leans come before searches.
    None, and why, where nothing does."""
    reason = f"{episode.limb or 'that part'} is not a limb that can be re-planned"
    seed, rungs = options.seed, len(_ladder(world, episode, options))
    if options.apart:
        done, _ = by_limbs(world, episode, options)
        if done is not None:
            return done, ""
        options = replace(options, apart={})
    # a body that ducks or turns keeps its arms as they are, in no style
    bodies = options.style is CLOSE and not _pinned(episode, options)
    done, told = by_limbs(world, episode, options, searches=options.searches, bodies=bodies)
    if not options.searches:
        return done, told or reason
    if done is None and options.style is not CLOSE:
        # a style is a wish: what cannot keep to it is mended all the same, and says so
        done, told = repair_episode(world, episode, replace(options, style=CLOSE))
        told_so = [replace(e, reason=f"{e.reason}, not in the style asked for") for e in done.edits] if done else ()
        return (replace(done, edits=tuple(told_so)) if done else None), told
    if done is None:
        reason = told or reason
        done = None if _pinned(episode, options) else _aside(world, episode, replace(options, seed=seed + rungs))
    for again in range(_AGAIN):
        if done is None:
            near = replace(options, margin=TIGHT, seed=seed + (2 + again) * rungs)
            done, _ = by_limbs(world, episode, near, searches=again == 0)
    return done, reason


def repair_gap(
    world: World, arms: tuple[CollisionEpisode, CollisionEpisode], options: RepairOptions
) -> RepairResult | None:
    """Get somebody through between things that both arms meet: with turned shoulders, or by one arm after the other,
    whichever changes the clip less. None where shoulders leave more than a little to the arms: each arm by itself then.
    """
    who = arms[0].who
    source, before = options.sources[who], arms[0].during
    if options.style is not CLOSE or options.apart or any(_pinned(episode, options) for episode in arms):
        return None
    joints, during = arms[0].joints | arms[1].joints, (before[0], max(before[1], arms[1].during[1]))
    both = replace(arms[0], during=during, pairs=arms[0].pairs + arms[1].pairs, joints=joints)
    turned = next((body for body in postures(world, both, options) if body.leaves <= _LITTLE), None)
    if turned is None:
        return None
    done = RepairResult(world, ())
    for episode in arms:
        one, _ = repair_episode(done.world, episode, options)
        if one is None:
            return RepairResult(turned.world, (_noted(world, turned, both),))
        done = RepairResult(one.world, (*done.edits, *one.edits))
    by_arms = cost(source, clip_of(done.world, who))
    by_body = cost(source, clip_of(turned.world, who)) + turned.leaves * by_arms
    return done if by_arms < by_body else RepairResult(turned.world, (_noted(world, turned, both),))


def _ladder(world: World, episode: CollisionEpisode, options: RepairOptions) -> list[Linkage]:
    """Linkages that may get a limb out of collision: none of a leg that is planted, none with a trunk that stays."""
    if episode.limb.endswith("_leg") and episode.who in options.planted:
        return []
    body = clip_of(world, episode.who).character
    held = () if options.trunk or "spine" not in body.chains else body.chains["spine"].joints
    return [one for one in linkages(body, episode.limb, episode.joints) if set(held).isdisjoint(one.joints)]


def _pinned(episode: CollisionEpisode, options: RepairOptions) -> bool:
    """Return whether the feet, or a hand about the time of an episode, have to stay, so that the body cannot go
    aside."""
    begin, end = episode.during[0] - _SWAYS_S, episode.during[1] + _SWAYS_S
    return episode.who in options.planted or any(
        pin.who == episode.who and pin.during[0] < end and begin < pin.during[1] for pin in options.pins
    )


def _aside(world: World, episode: CollisionEpisode, options: RepairOptions) -> RepairResult | None:
    """The body goes aside, and limbs do what is left to do; where that is much, a way farther aside may leave less."""
    tried = []
    for sway in _ways_aside(world, episode, options):
        if options.clocks.late:
            return None
        if sway.leaves <= _LITTLE:
            done = _after(world, sway, episode, options)
            if done is not None:
                return done
        else:
            tried.append(sway)
    followed = (_after(world, sway, episode, options) for sway in tried if not options.clocks.late)
    return next((done for done in followed if done is not None), None)


def _ways_aside(world: World, episode: CollisionEpisode, options: RepairOptions) -> Iterator[BodyDetour]:
    """Over the feet and in steps, then sooner or later, then round things."""
    yield from sways(world, episode, options, far=False)
    yield from retimed(world, episode, options.clocks)
    yield from sways(world, episode, options, far=True)


def _after(world: World, sway: BodyDetour, episode: CollisionEpisode, options: RepairOptions) -> RepairResult | None:
    """Repair by limbs once the body has gone aside; None where they cannot."""
    edit = _noted(world, sway, episode)
    if sway.leaves == 0.0:
        return RepairResult(sway.world, (edit,))
    more, _ = by_limbs(sway.world, episode, options, searches=False)
    return None if more is None else RepairResult(more.world, (edit, *more.edits))


def _noted(world: World, sway: BodyDetour, episode: CollisionEpisode) -> Edit:
    """The edit of a body that has gone aside."""
    told = f"{sway.text}, clear of {_others(sway.world, episode)}"
    noted = Edit(
        episode.who,
        sway.name,
        told,
        sway.changed.during,
        "avoid",
        checks=sway.checks,
        replanned=sway.changed.joints,
        contacts=sway.contacts,
    )
    return edit_between(world, sway.world, noted)


def by_limbs(
    world: World, episode: CollisionEpisode, options: RepairOptions, *, searches: bool = True, bodies: bool = False
) -> tuple[RepairResult | None, str]:
    """Go up the first rungs alone, which are quick: the limb in growing linkages.

    The repair that changes the clip least of the first lean of each linkage, and of `bodies` that are lower, leaned or
    turned; the first that changes it little is taken at once. Where all of them change it much a limb is searched, too,
    which may go far round. None, and why, where there is nothing.
    """
    reasons = [""]
    found: list[tuple[float, RepairResult]] = []
    unsolved: list[_Unsolved] = []
    source = options.sources[episode.who]
    before = 0.0 if options.clocks.hurried else cost(source, clip_of(world, episode.who))
    ways = _each_linkage(world, episode, options, found, reasons, unsolved)
    more = _each_body(world, episode, options) if bodies else iter(())
    for done in chain(ways, more, _each_search(unsolved, found) if searches else ()):
        if options.clocks.hurried:
            return done, ""
        found.append((cost(source, clip_of(done.world, episode.who)) - before, done))
        if found[-1][0] <= SMALL:
            break
    if not found:
        return None, reasons[-1]
    return min(found, key=lambda f: f[0])[1], ""


# A linkage that no lean brings out of collision: its name, job, the stretches that were tried, and a seed.
_Unsolved = tuple[str, Job, list[Stretch], int]


def _each_linkage(
    world: World,
    episode: CollisionEpisode,
    options: RepairOptions,
    found: list[tuple[float, RepairResult]],
    reasons: list[str],
    unsolved: list[_Unsolved],
) -> Iterator[RepairResult]:
    """The first lean of each linkage, for legs of one choice of times after another; `reasons` say why there is none,
    and `unsolved` are those that may be searched."""
    clip = clip_of(world, episode.who)
    quick = not options.searches
    rungs = islice(_ladder(world, episode, options), _QUICK_LINKAGES if quick else None)
    for number, linkage in enumerate(rungs):
        bounds = hands_free(world, clip, episode.who, linkage.joints, episode.during, options.pins)
        if bounds is None:
            reasons.append("a hand takes, leaves or touches something just then, or a limb is to be kept")
            continue
        for free in feet_free(clip, episode):
            if options.clocks.late:
                reasons.append("there was no time left to look")
                return
            free = replace(free, low=max(free.low, bounds[0]), high=min(free.high, bounds[1]))
            job = Job(world, episode, options, (*linkage.joints, *linkage.hang), linkage.hang, free.low, free.high)
            most = _STRETCHES if found or quick else len(GROWTHS)
            done, tried, reason = _leaned(job, free, linkage.name, options.seed + number, most)
            reasons.append(reason)
            if done is not None:
                yield _told(linkage.name, job, done)
                break
            unsolved.append((linkage.name, job, tried, options.seed + number))


def _each_body(world: World, episode: CollisionEpisode, options: RepairOptions) -> Iterator[RepairResult]:
    """Repairs with the whole body lower, leaned or turned over its feet, and limbs that do the rest."""
    for sway in postures(world, episode, options):
        done = _after(world, sway, episode, options)
        if done is not None:
            yield done


def _each_search(unsolved: list[_Unsolved], found: list[tuple[float, RepairResult]]) -> Iterator[RepairResult]:
    """The first search that finds something, linkage by linkage; none where something was `found` that is not large."""
    if any(changed <= LARGE for changed, _ in found):
        return
    for name, job, tried, seed in unsolved:
        done = _searched(job, tried, seed)
        if done is not None:
            yield _told(name, job, done)
            return


def replanned(job: Job, free: FeetFree, name: str, seed: int, searches: bool) -> Replanned | None:
    """New frames for one linkage, leaned or, if it `searches`, searched; None where there are none."""
    done, tried, _ = _leaned(job, free, name, seed, len(GROWTHS))
    return _searched(job, tried, seed) if done is None and searches else done


def _leaned(job: Job, free: FeetFree, name: str, seed: int, most: int) -> tuple[Replanned | None, list[Stretch], str]:
    """New frames for one linkage without a search, in so many stretches at the `most`; stretches in which one may be
    tried, and why there are no frames."""
    if free.stands is not None:
        aside = stepped(job, stance(job, *free.stands), seed, "elsewhere")
        return aside, [], "the foot stands then, and no other place for it is free"
    if free.knee:
        tries = (stepped(job, stretch, seed, "knee") for stretch in stretches(job))
        return next((done for done in tries if done is not None), None), [], "the knee cannot give way"
    tried: list[Stretch] = []
    for stretch in islice(stretches(job), most):
        if job.options.clocks.late:
            break
        if not tried and hopeless(job, stretch, seed):
            return None, [], f"an object that {name.replace('_', ' ')} carry collides in every posture"
        tried.append(stretch)
        done = leaned(job, stretch, seed)
        if done is None and job.limb == job.joints and free.leg:
            done = stepped(job, stretch, seed, "lifted")
        if done is not None:
            return done, [], ""
    why = "no free motion was found, with spine and shoulder neither"
    return None, tried, why if tried else "there is too little time to leave the clip and to return to it"


def _searched(job: Job, tried: list[Stretch], seed: int) -> Replanned | None:
    """New frames for one linkage by a search in the stretches that were tried, those that depart least."""
    clocks = job.options.clocks
    found: list[Replanned] = []
    # a search wants time: the shortest stretch comes last
    for stretch in (*tried[1:], *tried[:1]):
        if clocks.late or (found and clocks.hurried):
            break
        done = searched(job, stretch, seed)
        found += [] if done is None else [done]
    return min(found, key=lambda one: one.departure, default=None)


def _told(name: str, job: Job, done: Replanned) -> RepairResult:
    span, reason = (done.stretch.core.first, done.stretch.core.last), f"clear of {_others(job.world, job.episode)}"
    noted = Edit(
        job.episode.who,
        name,
        f"{reason}{_at_the_ends(done.stretch)}",
        span,
        *done.way.cost,
        replanned=job.joints,
        contacts=done.stretch.contacts,
    )
    world = spliced(job, done)
    return RepairResult(world, (edit_between(job.world, world, noted),))


def _at_the_ends(stretch: Stretch) -> str:
    """Tell that a clip begins or ends in collision, so that there was nothing to leave or return to."""
    core = stretch.core
    told = ["from the first frame on"] if core.begin <= core.first else []
    told += ["to the last frame"] if core.end >= core.last else []
    return "".join(f", {one}" for one in told)


def _others(world: World, episode: CollisionEpisode) -> str:
    """Return what someone has to get clear of, in words."""
    mine = {hold.object for hold in world.holds if hold.by == episode.who}
    names = [name for pair in episode.pairs for name in pair]
    others = [n for n in dict.fromkeys(names) if n not in mine and not n.startswith(f"{episode.who}.")]
    return " and ".join(others[:2]) or "the body itself"
