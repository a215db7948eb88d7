"""Repair by the optimiser: the least change of a whole body, or of one limb, that clears a group of collisions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.accept import Smooth, hits
from elbowroom.plan.checks.allowed import planted, with_contacts, works
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of
from elbowroom.plan.optimise import seeds
from elbowroom.plan.optimise.exact import frames_of
from elbowroom.plan.optimise.solve import Answer, Seed, optimise
from elbowroom.plan.optimise.window import Window
from elbowroom.plan.repair.cost import SMALL, cost
from elbowroom.plan.repair.ladder import RepairResult
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.stretch import touches_in
from elbowroom.plan.state.edit import laid
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.certificate_findings import Collision, Finding
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.pairs import FLOOR
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

# Seconds before and after a collision in which a limb leaves its motion and returns, tried in turn, and a body.
_LIMB_PADS_S, _BODY_PADS_S = (0.35, 0.7), (0.7, 1.2, 2.0)
# Windows from which on feet may stand elsewhere: shorter ones have no whole stance.
_STEPS_S = 1.2
# Collisions less than this apart are cleared together, seconds.
_TOGETHER_S = 0.6
# Room that is added about a part that the proof rejects, metres, beyond its depth up to the second figure; and how often.
_MORE_M, _DEEP_M, _AGAIN = 0.003, 0.03, 4
# How much more accelerations count where a motion is too rough.
_CALMER = 5.0
# What a part may lack by its balls, which stand out from it, and a proof is still tried, metres.
_TRIED_M = 0.02
# Answers of one window that are proven at most.
_PROVEN = 4
# Seconds around the moment at which something is taken or left in which the hand stays.
_MOMENT_S = 0.1


def near_in_time(found: Sequence[CollisionEpisode]) -> list[list[CollisionEpisode]]:
    """Episodes of one character in groups that are cleared together."""
    groups: list[list[CollisionEpisode]] = []
    for episode in sorted(found, key=lambda e: e.during):
        if groups and episode.during[0] - max(e.during[1] for e in groups[-1]) < _TOGETHER_S:
            groups[-1].append(episode)
        else:
            groups.append([episode])
    return groups


def cleared(world: World, group: Sequence[CollisionEpisode], options: RepairOptions) -> RepairResult | None:
    """The world after a group of collisions of one character is cleared; None where that fails or is not asked for."""
    who = group[0].who
    clip = clip_of(world, who)
    if options.style is not CLOSE or options.apart or not options.trunk or not clip.character.limits:
        return None
    best: Costed | None = None
    for pad in _LIMB_PADS_S:
        window = _window(world, clip, group, options, pad)
        if window is None:
            return None
        alone = [seeds.limbs(window, episode) for episode in group]
        found = alone[0] if len({episode.limb for episode in group}) == 1 else seeds.both(window, group)
        best = _cheapest(window, found, group, options, best)
        if best is not None and best[0] <= SMALL:
            return best[1]
    for pad in _BODY_PADS_S:
        window = _window(world, clip, group, options, pad)
        if window is None or options.clocks.late:
            break
        best = _cheapest(window, [seeds.unpushed(window)], group, options, best, steps=pad >= _STEPS_S)
        if best is not None:
            break
    return None if best is None else best[1]


# A repair with what it costs.
Costed = tuple[float, RepairResult]


def _cheapest(
    window: Window,
    tried: Sequence[Seed],
    group: Sequence[CollisionEpisode],
    options: RepairOptions,
    best: Costed | None,
    *,
    steps: bool = False,
) -> Costed | None:
    """The cheapest proven repair of a window from some seeds, pushed where they do not clear it, or the best so far."""
    source = options.sources[window.who]
    before = cost(source, window.clip)
    answers = [optimise(window, seed) for seed in tried]
    answers += [optimise(window, way) for a in answers if a.lack > _TRIED_M for way in seeds.pushed(window, a.seed)]
    if steps:
        answers += list(_in_other_footholds(window, answers))
        answers += [optimise(window, seed) for seed in seeds.sidesteps(window, options.max_aside)]
    found = []
    for answer in answers:
        made = frames_of(window, answer) if answer.lack <= _TRIED_M else None
        if made is not None:
            found.append((cost(source, _spliced(window, made)) - before, answer))
    found.sort(key=lambda one: one[0])
    for costs, answer in found[:_PROVEN]:
        if options.clocks.late or (best is not None and best[0] <= costs):
            break
        done = _proven(window, answer, group, options)
        if done is not None:
            new = clip_of(done.world, window.who)
            return (cost(source, new) - before, done)
    return best


def _spliced(window: Window, made: tuple[Array, Array]) -> Clip:
    """The clip with roots and rotations of all frames of a window."""
    root, q = np.array(window.clip.root), np.array(window.clip.rotations)
    root[window.first : window.last + 1], q[window.first : window.last + 1] = made
    return window.clip.with_(root=root, rotations=q)


def _window(
    world: World, clip: Clip, group: Sequence[CollisionEpisode], options: RepairOptions, pad: float
) -> Window | None:
    """The window around a group; None where a pin is not of a hand or foot, or there is no time to leave and return."""
    who, body = group[0].who, clip.character
    begin, end = min(e.during[0] for e in group), max(e.during[1] for e in group)
    first = max(int(np.searchsorted(clip.times, begin - pad)), clip.source.lead)
    last = min(int(np.searchsorted(clip.times, end + pad)), len(clip) - 1)
    if last - first < 4:
        return None
    pinned = _pinned(world, clip, who, options)
    if pinned is None:
        return None
    blame: dict[str, list[Interval]] = {}
    floored: set[str] = set()
    for episode in group:
        for pair in episode.pairs:
            _blame(world, who, pair, episode.during, blame, floored)
    return Window(world, who, clip, first, last, blame, pinned, options.margin, frozenset(floored))


def _blame(
    world: World, who: str, pair: tuple[str, str], during: Interval, blame: dict[str, list[Interval]], floored: set[str]
) -> None:
    """Note the parts of a character, or what it holds, that collide."""
    holding = {hold.object for hold in world.holds if hold.by == who}
    mine = [name for name in pair if name.startswith(f"{who}.") or name in holding]
    if len(mine) == 2:
        blame.setdefault("|".join(mine), []).append(during)
    elif mine:
        blame.setdefault(mine[0], []).append(during)
        if FLOOR in pair:
            floored.add(mine[0])


def _pinned(world: World, clip: Clip, who: str, options: RepairOptions) -> dict[int, NDArray[np.bool_]] | None:
    """Frames (T,) at which feet stand and hands are at work or pinned, by joint; None where something else is pinned."""
    body, source = clip.character, options.sources[who]
    out: dict[int, NDArray[np.bool_]] = {}
    if {"left_foot", "right_foot"} <= set(body.roles):
        for side in ("left", "right"):
            stands = np.full(len(clip), True) if who in options.planted else planted(clip, source, side)
            out[body.role(f"{side}_foot")] = stands
    spans: list[tuple[int, Interval]] = []
    for chain in body.chains.values():
        if chain.kind in ("arm", "leg"):
            spans += [(chain.end, span) for span in works(world, who, (chain.end,))]
    for pin in options.pins:
        if pin.who == who:
            spans.append((pin.joint(body), pin.during))
    ends = {chain.end for chain in body.chains.values() if chain.kind in ("arm", "leg")}
    for joint, (begin, end) in spans:
        if joint not in ends:
            return None
        more = _MOMENT_S if begin == end else 0.0
        mask = (begin - more <= clip.times) & (clip.times <= end + more)
        out[joint] = out.get(joint, np.zeros(len(clip), bool)) | mask
    return out


def _in_other_footholds(window: Window, tried: Sequence[Answer]) -> Iterator[Answer]:
    """Answers in which stances are moved: where feet go that need not stand where they did."""
    for answer in sorted(tried, key=lambda a: (a.lack > _TRIED_M, a.cost))[:4]:
        free = optimise(window, seeds.footloose(window, answer.seed))
        seed = seeds.stepped(window, free) if free.lack <= _TRIED_M else None
        if seed is not None:
            yield optimise(window, seed)


def _proven(
    window: Window, answer: Answer, group: Sequence[CollisionEpisode], options: RepairOptions
) -> RepairResult | None:
    """The repair of an answer that the gate and the proof accept; what they reject gets more room, some times."""
    for again in range(_AGAIN):
        begun = time.perf_counter()
        made = frames_of(window, answer)
        if made is None:
            return None
        joints = _ranged(window, answer)
        pace = Smooth(options.sources[window.who], window.clip, joints, window.first, window.last)
        if _aside(window, made[0]) > options.max_aside:
            return None
        calm = answer.seed.calm
        if pace.good(made[1][:, list(joints)]):
            done, left = _tried(window, answer, made, group, options)
            if done is not None:
                return done
            window = _with_more_room(window, left)
        else:
            calm *= _CALMER
        if again == _AGAIN - 1:
            return None
        answer = _again(window, replace(answer.seed, start=answer.x, way=(0.0, 0.0, 0.0), calm=calm))
        options.clocks.add("plan", begun)
        if answer.lack > _TRIED_M:
            return None
    return None


def _again(window: Window, seed: Seed) -> Answer:
    """The answer of a seed in a window that has changed; feet that stand elsewhere may stand elsewhere once more."""
    if seed.shifts:
        free = optimise(window, seeds.footloose(window, seed))
        moved = seeds.stepped(window, free)
        if moved is not None:
            seed = replace(moved, calm=seed.calm)
    return optimise(window, seed)


def _ranged(window: Window, answer: Answer) -> tuple[int, ...]:
    """Joints that an answer moves, those that keep feet and hands in place included."""
    body = window.clip.character
    ends = [c.joints for c in body.chains.values() if c.end in window.pinned] if answer.seed.rooted else []
    joints = {*answer.seed.joints, *(j for some in ends for j in some)}
    return tuple(sorted(j for j in joints if body.limits[j] is not None))


def _aside(window: Window, root: Array) -> float:
    away = root - window.clip.root[window.first : window.last + 1]
    return float(np.linalg.norm(away[:, :2], axis=1).max())


def _tried(
    window: Window,
    answer: Answer,
    made: tuple[Array, Array],
    group: Sequence[CollisionEpisode],
    options: RepairOptions,
) -> tuple[RepairResult | None, list[Finding]]:
    """The repair with these frames if it is free; else what is left."""
    clip, who, world = window.clip, window.who, window.world
    first, last = window.first, window.last
    span = (float(clip.times[first]), float(clip.times[last]))
    new = _spliced(window, made)
    limb = answer.seed.name if not answer.seed.rooted else "whole body"
    joints = _ranged(window, answer) if not answer.seed.rooted else tuple(range(len(clip.character.parents)))
    contacts: tuple[Contact, ...] = ()
    if options.recorded(who):
        contacts = touches_in(world, who, joints, (first, last), span)[1]
        body = clip.character
        if answer.seed.rooted:
            contacts = (*contacts, *tissue_contacts(body, who, span, world.caps.tissue, body.transforms(*made)))
    there = world.with_character(who, new)
    start = time.perf_counter()
    mine = {who, *(hold.object for hold in world.holds if hold.by == who)}
    left = [hit for hit in hits(with_contacts(there, contacts), span) if mine & {*hit.who, *hit.pair}]
    options.clocks.add("certify", start)
    if left:
        return None, left
    clear_of = " and ".join(dict.fromkeys(_other(who, episode) for episode in group))
    noted = Edit(who, limb, f"clear of {clear_of}", span, "avoid", replanned=joints, contacts=contacts)
    own = None if answer.seed.rooted else joints
    return RepairResult(there, (laid(noted, clip, new, own),)), []


def _other(who: str, episode: CollisionEpisode) -> str:
    a, b = episode.pairs[0]
    return b if a.startswith(f"{who}.") else a


def _with_more_room(window: Window, left: Sequence[Finding]) -> Window:
    """The window with more room for what a proof has found."""
    blame = {name: list(spans) for name, spans in window.blame.items()}
    floored, more = set(window.floored), dict(window.more)
    for hit in left:
        _blame(window.world, window.who, hit.pair, hit.during, blame, floored)
        deep = hit.depth_m if isinstance(hit, Collision) and hit.depth_m is not None else 0.0
        for name in hit.pair:
            more[name] = more.get(name, 0.0) + min(deep, _DEEP_M) + _MORE_M
    out = replace(window, blame=blame, floored=frozenset(floored), more=more)
    for name in ("rows", "times", "record", "parts", "around", "_base"):
        if name in window.__dict__:
            out.__dict__[name] = window.__dict__[name]
    return out
