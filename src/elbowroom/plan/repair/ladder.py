"""Repair of collisions by the least change of a motion: limbs alone, the whole body, other footholds, a wait."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.accept import Apart, Smooth, hits
from elbowroom.plan.checks.allowed import with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of, collision_episodes
from elbowroom.plan.optimise import seeds
from elbowroom.plan.optimise.exact import frames_of
from elbowroom.plan.optimise.solve import Answer, WindowSeed, optimise
from elbowroom.plan.optimise.window import Window
from elbowroom.plan.repair.cost import SMALL, cost
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.problem import limb_seeds, pinned_frames, still, window_about, with_more_room
from elbowroom.plan.repair.stretch import touches_in
from elbowroom.plan.repair.whole_clip import retimed
from elbowroom.plan.state.edit import laid
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.world import World

# Seconds before and after a collision in which a limb leaves its motion and returns, tried in turn, and a body.
_LIMB_S, BODY_S = (0.35, 0.7), (0.7, 1.2, 2.0)
# The shortest of these, for a part of a group that cannot be cleared as a whole.
ALONE_S = BODY_S[:1]
# Windows from which on feet may stand elsewhere: shorter ones have no whole stance.
_STEPS_S = 1.2
# How much more accelerations count where a motion is too rough, and ranges where joints leave them.
_CALMER, _FIRMER = 5.0, 10.0
# What a part may lack by its balls, which stand out from it, and a proof is still tried, metres.
_TRIED_M = 0.02
# What the limbs lack where more time would not help, metres; and ways to push a body that are tried in longer windows:
# those that lacked least in the window before.
_FAR_M, _NEAREST = 0.05, 3
# The same of a whole body that has stepped aside, too, metres; and answers from which feet are let go.
_FAR_BODY_M, _LOOSE = 0.1, 2
# How often an answer is solved again with what the proof has found.
_AGAIN = 4
# Cost up to which a neck does alone what a body could do: people duck with their knees where a nod will not do.
_NOD = 0.1
# Answers of one window that are proven at most.
_PROVEN = 4
# Share of its cost that each joint adds which an answer may turn: what an arm alone can do is left to it, although
# three more joints would turn a little less in all.
_PER_JOINT = 0.15


@dataclass(frozen=True, eq=False)
class RepairResult:
    """The world after episodes were repaired, and the new edits."""

    world: World
    edits: tuple[Edit, ...]


# A repair with what it costs.
Costed = tuple[float, RepairResult]


def repaired(
    world: World, group: Sequence[CollisionEpisode], options: RepairOptions, pads_s: Sequence[float] = BODY_S
) -> tuple[RepairResult | None, str]:
    """The world after a group of collisions of one character is cleared; None and the reason where that fails.

    The whole body may leave its motion for `pads_s` before and after the group, tried in turn.
    """
    if not clip_of(world, group[0].who).character.limits:
        return None, f"{group[0].who} has no joint ranges"
    if options.apart:
        done = cleared(world, group, options, pads_s)
        if done is not None:
            return done, ""
        options = replace(options, apart={})
    done = cleared(world, group, options, pads_s)
    if done is None and options.style is not CLOSE:
        # a style is a preference: a repair that cannot keep to it is made without, and noted
        done, why = repaired(world, group, replace(options, style=CLOSE), pads_s)
        noted = [replace(e, reason=f"{e.reason}, not in the requested style") for e in done.edits] if done else ()
        return (replace(done, edits=tuple(noted)) if done else None), why
    if done is None and options.searches:
        done = next(_waits(world, group, options), None)
    return done, "" if done else _reason(world, group, options)


def _reason(world: World, group: Sequence[CollisionEpisode], options: RepairOptions) -> str:
    """Why a group of collisions cannot be cleared."""
    clip, during = clip_of(world, group[0].who), group[0].during
    pinned = pinned_frames(world, clip, group[0].who, options)
    amid = (clip.times >= during[0]) & (clip.times <= during[1])
    ends = [c.end for c in clip.character.chains.values() if c.kind == "arm" and set(c.joints) & set(group[0].joints)]
    if any(pinned[end][amid].any() for end in ends if end in pinned) or still(world, clip, group[0].who, options):
        return "a hand grasps, releases or touches something then, or a limb is kept"
    return "no free motion was found by its limbs, the whole body, a step aside or a wait"


def cleared(
    world: World, group: Sequence[CollisionEpisode], options: RepairOptions, pads_s: Sequence[float] = BODY_S
) -> RepairResult | None:
    """The least change found that clears a group of collisions, by limbs alone without `pads_s`; None without any."""
    who = group[0].who
    clip = clip_of(world, who)
    best: Costed | None = None
    ducks = any(episode.limb == "neck" for episode in group)
    small = _NOD if ducks else SMALL
    for pad in _LIMB_S:
        window = window_about(world, clip, group, options, pad)
        if window is None or options.clocks.late:
            return None if best is None else best[1]
        best, answers = _cheapest(window, limb_seeds(window, group, options), group, options, best)
        if best is not None and (best[0] <= small or options.clocks.hurried):
            return best[1]
        if best is None and min((answer.lack for answer in answers), default=0.0) > _FAR_M:
            break
    if not (options.trunk and options.style is CLOSE) or still(world, clip, who, options):
        return None if best is None else best[1]
    ways: Sequence[tuple[int, int, int]] = seeds.WAYS
    for pad in pads_s:
        window = window_about(world, clip, group, options, pad)
        if window is None or options.clocks.late:
            break
        steps = pad >= _STEPS_S and options.searches
        tried = [seeds.unpushed(window), *(seeds.ducking(window) if ducks else ())]
        best, answers = _cheapest(window, tried, group, options, best, ways, steps=steps)
        if best is not None:
            break
        if steps and min(answer.lack for answer in answers) > _FAR_BODY_M:
            break
        pushed = dict(zip(ways, answers[len(tried) :], strict=False))
        ways = sorted(pushed, key=lambda way: pushed[way].lack)[:_NEAREST]
    return None if best is None else best[1]


def _cheapest(
    window: Window,
    tried: Sequence[WindowSeed],
    group: Sequence[CollisionEpisode],
    options: RepairOptions,
    best: Costed | None,
    ways: Sequence[tuple[int, int, int]] = seeds.WAYS,
    *,
    steps: bool = False,
) -> tuple[Costed | None, list[Answer]]:
    """The cheapest proven repair of a window from some seeds, or the best so far; and all answers, as they were found.

    Seeds that do not clear the window are pushed in some `ways`; with `steps`, feet may stand elsewhere.
    """
    source = options.sources[window.who]
    before = cost(source, window.clip)
    answers = [optimise(window, seed) for seed in tried]
    apart = bool(options.apart.get(window.who))
    blocked = [one for one in answers if one.seed.start is None and (one.lack > _TRIED_M or apart)]
    answers += [optimise(window, way) for answer in blocked for way in seeds.pushed(window, answer.seed, ways)]
    if steps:
        answers += list(_in_other_footholds(window, answers))
        answers += [optimise(window, seed) for seed in seeds.sidesteps(window, options.max_aside)]
    found = []
    for answer in answers:
        made = frames_of(window, answer) if answer.lack <= _TRIED_M else None
        if made is not None and _fits(window, answer, made, options):
            found.append((cost(source, window.spliced(made)) - before, answer))
    found.sort(key=lambda one: one[0] * (1.0 + _PER_JOINT * len(one[1].seed.joints)))
    for costs, answer in found[:_PROVEN]:
        if options.clocks.late or (best is not None and best[0] <= costs):
            break
        done = _proven(window, answer, group, options)
        if done is not None:
            return (cost(source, clip_of(done.world, window.who)) - before, done), answers
    return best, answers


def _fits(window: Window, answer: Answer, made: tuple[Array, Array], options: RepairOptions) -> bool:
    """Return whether frames are near enough to the clip, unlike other repairs, and in the style."""
    away = made[0] - window.clip.root[window.first : window.last + 1]
    if np.linalg.norm(away[:, :2], axis=1).max() > options.max_aside:
        return False
    joints = list(answer.seed.joints)
    others = Apart(options.apart.get(window.who, ()), window.clip, joints, window.first, window.last)
    return not others.lack(made[1][None, :, joints])[0] > 0.0 and window.in_style(joints, made[1])


def _in_other_footholds(window: Window, tried: Sequence[Answer]) -> Iterator[Answer]:
    """Answers in which stances are moved: where feet go that need not stand where they did."""
    for answer in sorted(tried, key=lambda a: (a.lack > _TRIED_M, a.cost))[:_LOOSE]:
        free = optimise(window, seeds.footloose(window, answer.seed))
        seed = seeds.stepped(window, free) if free.lack <= _TRIED_M else None
        if seed is not None:
            yield optimise(window, seed)


def _waits(world: World, group: Sequence[CollisionEpisode], options: RepairOptions) -> Iterator[RepairResult]:
    """The clip a little later or sooner, where what it meets moves."""
    during = (min(episode.during[0] for episode in group), max(episode.during[1] for episode in group))
    pairs = tuple(dict.fromkeys(pair for episode in group for pair in episode.pairs))
    for late in retimed(world, replace(group[0], during=during, pairs=pairs), options.clocks):
        who, span = group[0].who, late.changed.during
        text = f"{late.text}, clear of {_others(world, group)}"
        noted = Edit(who, late.name, text, span, "avoid", checks=late.checks, replanned=late.changed.joints)
        done = RepairResult(late.world, (laid(noted, clip_of(world, who), clip_of(late.world, who)),))
        left = [hit for hit in hits(late.world, span) if who in hit.who]
        rest = collision_episodes(ExactWorld(late.world), who, left)
        more = cleared(late.world, rest, options) if rest else None
        if more is not None:
            yield RepairResult(more.world, (*done.edits, *more.edits))
        elif not rest:
            yield done


def _proven(
    window: Window, answer: Answer, group: Sequence[CollisionEpisode], options: RepairOptions
) -> RepairResult | None:
    """The repair of an answer that the gate and the proof accept; what they reject gets more room, some times."""
    for again in range(_AGAIN):
        begun = time.perf_counter()
        made = frames_of(window, answer)
        if made is None or not _fits(window, answer, made, options):
            return None
        joints, seed = _ranged(window, answer), answer.seed
        pace = Smooth(options.sources[window.who], window.clip, joints, window.first, window.last)
        frames = made[1][:, list(joints)]
        if not pace.in_range(frames):
            seed = replace(seed, firm=_FIRMER * seed.firm)
        elif not pace.rough(frames[None])[0] <= 1.0:
            seed = replace(seed, calm=_CALMER * seed.calm)
        else:
            done, left = _tried(window, answer, made, group, options)
            if done is not None:
                return done
            window = with_more_room(window, left)
        if again == _AGAIN - 1:
            return None
        answer = _again(window, replace(seed, start=answer.x, way=(0.0, 0.0, 0.0)))
        options.clocks.add("plan", begun)
        if answer.lack > _TRIED_M:
            return None
    return None


def _again(window: Window, seed: WindowSeed) -> Answer:
    """The answer of a seed in a window that has changed; feet that stand elsewhere may stand elsewhere once more."""
    if seed.shifts and not seed.stepping:
        free = optimise(window, seeds.footloose(window, seed))
        moved = seeds.stepped(window, free)
        if moved is not None:
            seed = replace(moved, calm=seed.calm, firm=seed.firm)
    return optimise(window, seed)


def _ranged(window: Window, answer: Answer) -> tuple[int, ...]:
    """Joints that an answer moves, those that keep feet and hands in place included."""
    body = window.clip.character
    ends = [c.joints for c in body.chains.values() if c.end in window.pinned] if answer.seed.rooted else []
    joints = {*answer.seed.joints, *(j for some in ends for j in some)}
    return tuple(sorted(j for j in joints if body.limits[j] is not None))


def _tried(
    window: Window,
    answer: Answer,
    made: tuple[Array, Array],
    group: Sequence[CollisionEpisode],
    options: RepairOptions,
) -> tuple[RepairResult | None, list[Finding]]:
    """The repair with these frames if it is free; else what is left."""
    edit, new = edit_of(window, answer, made, group, options)
    who, world = window.who, window.world
    there = world.with_character(who, new)
    start = time.perf_counter()
    mine = {who, *(hold.object for hold in world.holds if hold.by == who)}
    found = hits(with_contacts(there, edit.contacts), edit.during)
    left = [hit for hit in found if mine & {*hit.who, *hit.pair}]
    options.clocks.add("certify", start)
    return (None, left) if left else (RepairResult(there, (edit,)), [])


def edit_of(
    window: Window,
    answer: Answer,
    made: tuple[Array, Array],
    group: Sequence[CollisionEpisode],
    options: RepairOptions,
) -> tuple[Edit, Clip]:
    """The edit with these frames, with contacts that recorded people may have with themselves; and the new clip."""
    clip, who, world, body = window.clip, window.who, window.world, window.clip.character
    first, last = window.first, window.last
    span = (float(clip.times[first]), float(clip.times[last]))
    new = window.spliced(made)
    own = None if answer.seed.rooted else _ranged(window, answer)
    joints = tuple(range(len(body.parents))) if own is None else own
    contacts: tuple[Contact, ...] = ()
    if options.recorded(who):
        contacts = touches_in(world, who, joints, (first, last), span)[1]
        if own is None:
            contacts = (*contacts, *tissue_contacts(body, who, span, world.caps.tissue, body.transforms(*made)))
    text = f"clear of {_others(world, group)}{_at_the_ends(window)}"
    noted = Edit(who, answer.seed.name, text, span, "avoid", replanned=joints, contacts=contacts)
    return laid(noted, clip, new, own), new


def _at_the_ends(window: Window) -> str:
    """Note that a clip begins or ends amid a change, so that there was nothing to leave or return to."""
    free = window.free
    return f"{', from the first frame on' if free[0] else ''}{', to the last frame' if free[1] else ''}"


def _others(world: World, group: Sequence[CollisionEpisode]) -> str:
    """Name the obstacles of a group."""
    who = group[0].who
    mine = {hold.object for hold in world.holds if hold.by == who}
    names = [name for episode in group for pair in episode.pairs for name in pair]
    others = [n for n in dict.fromkeys(names) if n not in mine and not n.startswith(f"{who}.")]
    return " and ".join(others[:2]) or "the body itself"
