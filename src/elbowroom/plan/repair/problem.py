"""Windows around collisions: what is to be cleared and what stays as it is, and the limbs that may do it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import planted, works
from elbowroom.plan.checks.episodes import CollisionEpisode
from elbowroom.plan.optimise import seeds
from elbowroom.plan.optimise.solve import WindowSeed
from elbowroom.plan.optimise.window import Window
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.world.certificate_findings import Collision, Finding
from elbowroom.world.pairs import FLOOR
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

# Collisions less than this apart are cleared together, seconds.
_TOGETHER_S = 0.6
# Room that is added about a part that the proof rejects, metres, beyond its depth up to the second figure.
_MORE_M, _DEEP_M = 0.003, 0.03
# Share of the depth allowed to own parts of recorded people that a repair leaves them.
_OF_CAP = 0.9
# Frames that a change needs to leave the motion and return.
_LEAST_FRAMES = 4
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


def by_limb(group: Sequence[CollisionEpisode]) -> list[list[CollisionEpisode]]:
    """Parts of a group that one limb each is to blame for; nothing where that is the whole group."""
    parts = [[e for e in group if e.limb == limb] for limb in dict.fromkeys(e.limb for e in group)]
    return parts if len(parts) > 1 else []


def window_about(
    world: World,
    clip: Clip,
    group: Sequence[CollisionEpisode],
    options: RepairOptions,
    pad: float,
    known: Window | None = None,
) -> Window | None:
    """The window around a group; None where there is no time to leave and return.

    One that is `known` of the same motion in another world has its frames and pins, and what it knows of what is there.
    """
    who = group[0].who
    begin, end = min(e.during[0] for e in group), max(e.during[1] for e in group)
    first = max(int(np.searchsorted(clip.times, begin - pad)), clip.source.lead)
    last = min(int(np.searchsorted(clip.times, end + pad)), len(clip) - 1)
    if known is not None:
        first, last = known.first, known.last
    if last - first < _LEAST_FRAMES:
        return None
    pinned = known.pinned if known is not None and known.pinned else pinned_frames(world, clip, who, options)
    blame: dict[str, list[Interval]] = {}
    floored: set[str] = set()
    for episode in group:
        for pair in episode.pairs:
            _blame(world, who, pair, episode.during, blame, floored)
    deep = _OF_CAP * world.caps.own if options.recorded(who) else 0.0
    window = Window(
        world,
        who,
        clip,
        first,
        last,
        blame,
        pinned,
        options.margin,
        frozenset(floored),
        style=options.style,
        deep_m=deep,
    )
    return window if known is None else window.beside(known)


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


def pinned_frames(world: World, clip: Clip, who: str, options: RepairOptions) -> dict[int, NDArray[np.bool_]]:
    """Frames (T,) at which feet stand and hands are at work or pinned, by joint."""
    body, source = clip.character, options.sources[who]
    out: dict[int, NDArray[np.bool_]] = {}
    if {"left_foot", "right_foot"} <= set(body.roles):
        for side in ("left", "right"):
            stands = np.full(len(clip), True) if who in options.planted else planted(clip, source, side)
            out[body.role(f"{side}_foot")] = stands
    ends = {chain.end for chain in body.chains.values() if chain.kind in ("arm", "leg")}
    spans = [(end, span) for end in sorted(ends) for span in works(world, who, (end,))]
    spans += [(pin.joint(body), pin.during) for pin in options.pins if pin.who == who]
    for joint, (begin, end) in spans:
        if joint not in ends:
            continue
        more = _MOMENT_S if begin == end else 0.0
        mask = (begin - more <= clip.times) & (clip.times <= end + more)
        out[joint] = out.get(joint, np.zeros(len(clip), bool)) | mask
    return out


def limb_seeds(window: Window, group: Sequence[CollisionEpisode], options: RepairOptions) -> list[WindowSeed]:
    """Seeds of the limbs to blame, of all of them at once; without the trunk where it must stay."""
    alone = [seeds.limbs(window, episode) for episode in group]
    kept = still(window.world, window.clip, window.who, options)
    found = alone[0] if len({episode.limb for episode in group}) == 1 else seeds.both(window, group)
    body = window.clip.character
    trunk = set() if options.trunk or "spine" not in body.chains else set(body.chains["spine"].joints)
    moved = [(seed, {k for j in seed.joints for k in body.subtree(j)}) for seed in found]
    return [seed for seed, all_moved in moved if all_moved and not all_moved & kept and trunk.isdisjoint(seed.joints)]


def still(world: World, clip: Clip, who: str, options: RepairOptions) -> set[int]:
    """Joints, other than of hands and feet, that are pinned."""
    joints = {pin.joint(clip.character) for pin in options.pins if pin.who == who}
    return joints - {chain.end for chain in clip.character.chains.values() if chain.kind in ("arm", "leg")}


def with_more_room(window: Window, left: Sequence[Finding]) -> Window:
    """The window with more room for what a proof has found."""
    blame = {name: list(spans) for name, spans in window.blame.items()}
    floored, more = set(window.floored), dict(window.more)
    for hit in left:
        _blame(window.world, window.who, hit.pair, hit.during, blame, floored)
        deep = hit.depth_m if isinstance(hit, Collision) and hit.depth_m is not None else 0.0
        for name in hit.pair:
            more[name] = more.get(name, 0.0) + min(deep, _DEEP_M) + _MORE_M
    return window.with_room(blame, frozenset(floored), more)
