"""The last rung of repairs: the whole body is planned around an episode during which both feet stand (P1, P2)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP, Array, nearest
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts, runs
from elbowroom.plan.checks.accept import Smooth, hits
from elbowroom.plan.checks.allowed import hands_free, with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.stretch import touches_in, within_reach
from elbowroom.plan.state.edit import laid
from elbowroom.plan.tight.chain import BodyPath, BodyProblem, body_path, shortened, standing_balance
from elbowroom.plan.tight.frames import frames_of
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.posing.whole_body import FEET
from elbowroom.spaces.component import PosePath
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.own_pairs import tissue_contacts
from elbowroom.world.world import World

# Effort of one search: what is found at all is mostly found with fewer checks, and refusals must not take long.
_SETTINGS = TightSettings(most_checks=3_000, searches=1)
# Seconds for leaving the clip and for returning to it, tried in turn, and the fewest that make a stretch.
_EITHER_WAY_S, _SHORTEST_S = (0.6, 1.2), 0.3
# Postures of the clip that a search follows, and the longest shortcut of what it finds, share of the path.
_FOLLOWED, _LOCAL = 25, 0.4


def by_whole_body(
    world: World, episode: CollisionEpisode, options: RepairOptions, clear_of: str
) -> tuple[World, Edit] | None:
    """The world and the edit of a whole body planned around an episode; None where feet step or no path is found.

    A search follows the clip, and keeps to it where it is free; one without it comes next.
    """
    clip = clip_of(world, episode.who)
    if not set(FEET) <= set(clip.character.roles):
        return None
    for first, last in _stretches(world, clip, episode, options):
        done = _planned(world, clip, episode, options, (first, last))
        if done is not None:
            there, path, contacts, seconds = done
            span = (float(clip.times[first]), float(clip.times[last]))
            every = tuple(range(len(clip.character.parents)))
            noted = Edit(episode.who, "whole body", f"clear of {clear_of}", span, "whole-body", *seconds,
                         path.stats.checks, path.stats.nodes, replanned=every, contacts=contacts)  # fmt: skip
            return there, laid(noted, clip, clip_of(there, episode.who))
    return None


def _stretches(
    world: World, clip: Clip, episode: CollisionEpisode, options: RepairOptions
) -> Iterator[tuple[int, int]]:
    """First and last frames around an episode between which both feet stand and hands are at no work."""
    bounds = hands_free(world, clip, episode.who, (0,), episode.during, options.pins)
    if bounds is None:
        return
    feet = foot_contacts(clip)
    begin, end = np.searchsorted(clip.times, episode.during)
    stands = [run for run in runs(feet.foot("left") & feet.foot("right")) if run[0] <= begin and end <= run[1] + 1]
    if not stands:
        return
    low, high = max(bounds[0], stands[0][0]), min(bounds[1], stands[0][1])
    known = set()
    for seconds in _EITHER_WAY_S:
        more = round(seconds * clip.fps)
        first, last = max(int(begin) - more, low), min(int(end) + more, high)
        shortest = _SHORTEST_S * clip.fps
        if (first, last) not in known and begin - first >= shortest and last - end >= shortest:
            known.add((first, last))
            yield first, last


def _planned(
    world: World, clip: Clip, episode: CollisionEpisode, options: RepairOptions, frames: tuple[int, int]
) -> tuple[World, BodyPath, tuple[Contact, ...], tuple[float, float]] | None:
    """World with planned frames, proven free; the path, contacts allowed, and seconds of search and smoothing."""
    who, body = episode.who, clip.character
    span = (float(clip.times[frames[0]]), float(clip.times[frames[1]]))
    every = tuple(range(len(body.parents)))
    planned, proven = touches_in(world, who, every, frames, span) if options.recorded(who) else ((), ())
    poses = [Pose.of(clip.root[k], clip.rotations[k]) for k in np.linspace(*frames, _FOLLOWED).astype(int)]
    check = BodyCheck(within_reach(with_contacts(world, planned), who, span), who, span[0], margin=options.margin)
    if not (check.free(poses[0]) and check.free(poses[-1])):
        return None
    balance = standing_balance(body, world.floor or 0.0, (poses[0], poses[-1]), _SETTINGS.balance)
    working = "left_arm" if episode.limb == "left_arm" else "right_arm"
    problem = BodyProblem(body, poses[0], poses[-1], check, balance, whole_body_axes(clip, frames[0]), working)
    ranged = [j for j, limit in enumerate(body.limits) if limit is not None]
    pace = Smooth(options.sources[who], clip, tuple(ranged), *frames)
    for follow in (PosePath(body, poses), None):
        begun = time.perf_counter()
        found = body_path(problem, options.seed, _SETTINGS, follow)
        searched = options.clocks.add("plan", begun)
        if found.path is None:
            continue
        begun = time.perf_counter()
        short = shortened(problem, found.path, options.seed, _SETTINGS, longest=1.0 if follow is None else _LOCAL)
        made = frames_of(problem, short, frames[1] - frames[0])
        smoothed = options.clocks.add("smooth", begun)
        if made is None or not pace.good(made[1][:, ranged]):
            continue
        soft = tissue_contacts(body, who, span, world.caps.tissue, body.transforms(*made))
        there = world.with_character(who, _spliced(clip, made, frames[0]))
        contacts = (*proven, *soft)
        # everything else was taken to be where it is at the beginning
        if not hits(with_contacts(there, contacts), span, who):
            return there, found, contacts, (searched, smoothed)
    return None


def whole_body_axes(clip: Clip, frame: int) -> Array:
    """Directions ahead, left and up, (3, 3), in columns."""
    body = clip.character
    front = body.facing(body.skeleton.at(Pose.of(clip.root[frame], clip.rotations[frame])))
    return np.stack([front, np.cross(UP, front), UP], axis=1)


def _spliced(clip: Clip, made: tuple[Array, Array], first: int) -> Clip:
    """The clip with new frames, both ends as they were; signs of quaternions as in the clip."""
    root, q = np.array(clip.root), np.array(clip.rotations)
    inner = slice(first + 1, first + len(made[0]) - 1)
    root[inner], q[inner] = made[0][1:-1], nearest(made[1][1:-1], q[inner])
    return clip.with_(root=root, rotations=q)
