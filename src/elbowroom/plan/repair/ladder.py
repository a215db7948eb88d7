"""The ladder of repairs (X8): a limb alone, with shoulder and spine, a foot moved, the body displaced, all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import FeetFree, feet_free, hands_free
from elbowroom.plan.checks.episodes import CollisionEpisode, Linkage, clip_of, linkages
from elbowroom.plan.checks.margins import TIGHT_M
from elbowroom.plan.repair.cost import LARGE, SMALL, cost
from elbowroom.plan.repair.detours import pelvis_detours, postures
from elbowroom.plan.repair.limb import Replanned, by_foot, by_offset, by_search, hopeless, spliced
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.pelvis import BodyDetour
from elbowroom.plan.repair.stretch import GROWTHS, Job, Stretch, stance, stretches
from elbowroom.plan.repair.whole_body import by_whole_body
from elbowroom.plan.repair.whole_clip import retimed
from elbowroom.plan.state.edit import laid
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.edit import Edit
from elbowroom.world.world import World

# Retries of limbs with other seeds and smaller margins.
_AGAIN = 3
# Share of the collision depth that a detour may leave to the limbs while there are other detours.
_LITTLE = 0.1
# Seconds before and after an episode in which a body leaves and returns.
_DETOUR_S = 1.5
# Stretches that are tried for a repair that should change less than the one found, or that is to be quick.
_STRETCHES = 2
# Linkages that are leaned in a quick repair, without searches: the limb, and the next larger one. All of them took up
# to 30 s for one arm, where another path of the walk is free.
_QUICK_LINKAGES = 2


@dataclass(frozen=True, eq=False)
class RepairResult:
    """The world after an episode was repaired, and the new edits."""

    world: World
    edits: tuple[Edit, ...]


def repair_episode(world: World, episode: CollisionEpisode, options: RepairOptions) -> tuple[RepairResult | None, str]:
    """Climb the ladder for one episode; None and the reason where everything fails.

    First the limb in growing linkages, or an adjusted body, whichever changes the clip least; then detours of the body;
    then the limb again with less clearance; then the whole body, while both feet stand. Offsets come before searches.
    """
    reason = f"{episode.limb or 'that part'} is not a limb that can be re-planned"
    seed, rungs = options.seed, len(_ladder(world, episode, options))
    if options.apart:
        done, _ = by_limbs(world, episode, options)
        if done is not None:
            return done, ""
        options = replace(options, apart={})
    # a body that ducks or turns keeps its arms as they are, in no style
    bodies = options.style is CLOSE and not _pinned(episode, options)
    done, last = by_limbs(world, episode, options, searches=options.searches, bodies=bodies)
    if not options.searches:
        return done, last or reason
    if done is None and options.style is not CLOSE:
        # a style is a preference: a repair that cannot keep to it is made without, and noted
        done, last = repair_episode(world, episode, replace(options, style=CLOSE))
        noted = [replace(e, reason=f"{e.reason}, not in the requested style") for e in done.edits] if done else ()
        return (replace(done, edits=tuple(noted)) if done else None), last
    if done is None:
        reason = last or reason
        done = None if _pinned(episode, options) else _by_detour(world, episode, replace(options, seed=seed + rungs))
    for again in range(_AGAIN):
        if done is None:
            near = replace(options, margin=TIGHT_M, seed=seed + (2 + again) * rungs)
            done, _ = by_limbs(world, episode, near, searches=again == 0)
    if done is None and not _pinned(episode, options):
        whole = by_whole_body(world, episode, replace(options, seed=seed), _others(world, episode))
        done = None if whole is None else RepairResult(whole[0], whole[1:])
    return done, reason


def repair_gap(
    world: World, arms: tuple[CollisionEpisode, CollisionEpisode], options: RepairOptions
) -> RepairResult | None:
    """Pass between obstacles that both arms hit: turn the shoulders, or repair one arm after the other.

    The smaller change wins. None where turned shoulders leave too much to the arms: then each arm is an episode of its
    own.
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
    """Linkages that may resolve an episode: none with a trunk that must stay."""
    body = clip_of(world, episode.who).character
    held = () if options.trunk or "spine" not in body.chains else body.chains["spine"].joints
    return [one for one in linkages(body, episode.limb, episode.joints) if set(held).isdisjoint(one.joints)]


def _feet_free(clip: Clip, episode: CollisionEpisode, options: RepairOptions) -> list[FeetFree]:
    """Choices of frames and legs that may be changed; of a planted leg its knee alone."""
    planted = episode.limb.endswith("_leg") and episode.who in options.planted
    return [free for free in feet_free(clip, options.sources[episode.who], episode) if free.knee or not planted]


def _pinned(episode: CollisionEpisode, options: RepairOptions) -> bool:
    """Return whether pinned feet or hands prevent a displacement of the body around an episode."""
    begin, end = episode.during[0] - _DETOUR_S, episode.during[1] + _DETOUR_S
    return episode.who in options.planted or any(
        pin.who == episode.who and pin.during[0] < end and begin < pin.during[1] for pin in options.pins
    )


def _by_detour(world: World, episode: CollisionEpisode, options: RepairOptions) -> RepairResult | None:
    """Displace the body and repair the limbs afterwards; if that leaves much, a wider detour may leave less."""
    tried = []
    for detour in _detours(world, episode, options):
        if options.clocks.late:
            return None
        if detour.leaves <= _LITTLE:
            done = _after(world, detour, episode, options)
            if done is not None:
                return done
        else:
            tried.append(detour)
    followed = (_after(world, detour, episode, options) for detour in tried if not options.clocks.late)
    return next((done for done in followed if done is not None), None)


def _detours(world: World, episode: CollisionEpisode, options: RepairOptions) -> Iterator[BodyDetour]:
    """Detours over the feet and in steps, then re-timings, then walks around."""
    yield from pelvis_detours(world, episode, options, far=False)
    yield from retimed(world, episode, options.clocks)
    yield from pelvis_detours(world, episode, options, far=True)


def _after(world: World, detour: BodyDetour, episode: CollisionEpisode, options: RepairOptions) -> RepairResult | None:
    """Repair limbs after a detour of the body; None where they fail."""
    edit = _noted(world, detour, episode)
    if detour.leaves == 0.0:
        return RepairResult(detour.world, (edit,))
    more, _ = by_limbs(detour.world, episode, options, searches=False)
    return None if more is None else RepairResult(more.world, (edit, *more.edits))


def _noted(world: World, detour: BodyDetour, episode: CollisionEpisode) -> Edit:
    """The edit of a detour of the body."""
    text = f"{detour.text}, clear of {_others(detour.world, episode)}"
    noted = Edit(
        episode.who,
        detour.name,
        text,
        detour.changed.during,
        "avoid",
        checks=detour.checks,
        replanned=detour.changed.joints,
        contacts=detour.contacts,
    )
    return laid(noted, clip_of(world, episode.who), clip_of(detour.world, episode.who))


def by_limbs(
    world: World, episode: CollisionEpisode, options: RepairOptions, *, searches: bool = True, bodies: bool = False
) -> tuple[RepairResult | None, str]:
    """Try the first, quick strategies alone: the limb in growing linkages.

    Returns the repair with the smallest change among the first offset of each linkage and adjusted `bodies`, at once if
    it is small. If all changes are large, the limb is searched as well. None and the reason where nothing works.
    """
    reasons = [""]
    found: list[tuple[float, RepairResult]] = []
    unsolved: list[_Unsolved] = []
    source = options.sources[episode.who]
    before = 0.0 if options.clocks.hurried else cost(source, clip_of(world, episode.who))
    offsets = _each_linkage(world, episode, options, found, reasons, unsolved)
    more = _each_body(world, episode, options) if bodies else iter(())
    for done in chain(offsets, more, _each_search(unsolved, found) if searches else ()):
        if options.clocks.hurried:
            return done, ""
        found.append((cost(source, clip_of(done.world, episode.who)) - before, done))
        if found[-1][0] <= SMALL:
            break
    if not found:
        return None, reasons[-1]
    return min(found, key=lambda f: f[0])[1], ""


# A linkage without a working offset: its name, job, the stretches that were tried, and a seed.
_Unsolved = tuple[str, Job, list[Stretch], int]


def _each_linkage(
    world: World,
    episode: CollisionEpisode,
    options: RepairOptions,
    found: list[tuple[float, RepairResult]],
    reasons: list[str],
    unsolved: list[_Unsolved],
) -> Iterator[RepairResult]:
    """Yield the first offset of each linkage, for legs with one choice of times after another.

    Collects `reasons` of failures, and linkages to search in `unsolved`.
    """
    clip = clip_of(world, episode.who)
    quick = not options.searches
    rungs = islice(_ladder(world, episode, options), _QUICK_LINKAGES if quick else None)
    for number, linkage in enumerate(rungs):
        bounds = hands_free(world, clip, episode.who, linkage.joints, episode.during, options.pins)
        if bounds is None:
            reasons.append("a hand grasps, releases or touches something then, or a limb is kept")
            continue
        for free in _feet_free(clip, episode, options):
            if options.clocks.late:
                reasons.append("no time was left to search")
                return
            free = replace(free, low=max(free.low, bounds[0]), high=min(free.high, bounds[1]))
            job = Job(world, episode, options, (*linkage.joints, *linkage.hang), linkage.hang, free.low, free.high)
            most = _STRETCHES if found or quick else len(GROWTHS)
            done, tried, reason = _by_offset(job, free, linkage.name, options.seed + number, most)
            reasons.append(reason)
            if done is not None:
                yield _edit(linkage.name, job, done)
                break
            unsolved.append((linkage.name, job, tried, options.seed + number))


def _each_body(world: World, episode: CollisionEpisode, options: RepairOptions) -> Iterator[RepairResult]:
    """Yield repairs with the body lowered, leaned or turned over its feet, completed by limbs."""
    for detour in postures(world, episode, options):
        done = _after(world, detour, episode, options)
        if done is not None:
            yield done


def _each_search(unsolved: list[_Unsolved], found: list[tuple[float, RepairResult]]) -> Iterator[RepairResult]:
    """Yield the first successful search, linkage by linkage; nothing if a repair of moderate size was `found`."""
    if any(changed <= LARGE for changed, _ in found):
        return
    for name, job, tried, seed in unsolved:
        done = _by_search(job, tried, seed)
        if done is not None:
            yield _edit(name, job, done)
            return


def replanned(job: Job, free: FeetFree, name: str, seed: int, searches: bool) -> Replanned | None:
    """New frames for one linkage by offsets or, with `searches`, by search; None where there are none."""
    done, tried, _ = _by_offset(job, free, name, seed, len(GROWTHS))
    return _by_search(job, tried, seed) if done is None and searches else done


def _by_offset(
    job: Job, free: FeetFree, name: str, seed: int, most: int
) -> tuple[Replanned | None, list[Stretch], str]:
    """New frames for one linkage by offsets, in `most` stretches; also stretches worth a search, and the reason for
    failure.
    """
    if free.stands is not None:
        aside = by_foot(job, stance(job, *free.stands), seed, "elsewhere")
        return aside, [], "the foot is planted then, and no other place for it is free"
    if free.knee:
        tries = (by_foot(job, stretch, seed, "knee") for stretch in stretches(job))
        return next((done for done in tries if done is not None), None), [], "moving the knee does not help"
    tried: list[Stretch] = []
    for stretch in islice(stretches(job), most):
        if job.options.clocks.late:
            break
        if not tried and hopeless(job, stretch, seed):
            return None, [], f"the body collides in every posture of {name.replace('_', ' ')} that was tried"
        tried.append(stretch)
        done = by_offset(job, stretch, seed)
        if done is None and job.limb == job.joints and free.leg:
            done = by_foot(job, stretch, seed, "lifted")
        if done is not None:
            return done, [], ""
    why = "no collision-free motion was found, even with spine and shoulder"
    return None, tried, why if tried else "there is too little time to depart from the clip and return to it"


def _by_search(job: Job, tried: list[Stretch], seed: int) -> Replanned | None:
    """New frames for one linkage by search in the tried stretches; the smallest departure from the clip wins."""
    clocks = job.options.clocks
    found: list[Replanned] = []
    # searches need time, so the shortest stretch comes last
    for stretch in (*tried[1:], *tried[:1]):
        if clocks.late or (found and clocks.hurried):
            break
        done = by_search(job, stretch, seed)
        found += [] if done is None else [done]
    return min(found, key=lambda one: one.departure, default=None)


def _edit(name: str, job: Job, done: Replanned) -> RepairResult:
    span, reason = (done.stretch.core.first, done.stretch.core.last), f"clear of {_others(job.world, job.episode)}"
    noted = Edit(
        job.episode.who,
        name,
        f"{reason}{_at_the_ends(done.stretch)}",
        span,
        *done.trajectory.cost,
        replanned=job.joints,
        contacts=done.stretch.contacts,
    )
    world = spliced(job, done)
    return RepairResult(world, (laid(noted, job.clip, clip_of(world, noted.who), job.joints),))


def _at_the_ends(stretch: Stretch) -> str:
    """Note that a clip begins or ends in collision, so that there was nothing to leave or return to."""
    core = stretch.core
    texts = ["from the first frame on"] if core.begin <= core.first else []
    texts += ["to the last frame"] if core.end >= core.last else []
    return "".join(f", {one}" for one in texts)


def _others(world: World, episode: CollisionEpisode) -> str:
    """Name the obstacles of an episode."""
    mine = {hold.object for hold in world.holds if hold.by == episode.who}
    names = [name for pair in episode.pairs for name in pair]
    others = [n for n in dict.fromkeys(names) if n not in mine and not n.startswith(f"{episode.who}.")]
    return " and ".join(others[:2]) or "the body itself"
