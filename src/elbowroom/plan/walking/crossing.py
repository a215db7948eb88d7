"""People who cross a path: whom a walk meets, where they are then, and timings that pass them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.locomotion.course import Course, from_rest_to_rest, route
from elbowroom.locomotion.departure import stance_of
from elbowroom.locomotion.envelope import envelope
from elbowroom.locomotion.walk import STANDS_S
from elbowroom.plan.state.actor import Actor
from elbowroom.plan.walking.along import manners_along
from elbowroom.plan.walking.paths import Disc, WalkPath
from elbowroom.world.certificate_findings import Finding
from elbowroom.world.world import World

# Distance between two people who pass each other, and half the width of a person without a gait of its own, metres.
_PASSING_M, _HALF_WIDTH_M = 0.06, 0.35
# Seconds before and after a meeting that count as passing.
_PASSING_S = np.linspace(-0.9, 0.9, 7)
# Seconds around a time for measuring speed, and the speed of a walker, m/s.
_MOMENT_S, _UNDER_WAY_M_S = 0.3, 0.2
# Delays and speed factors that are compared, seconds between samples, and those after arrival.
_DELAYS_S, _SLOWER = np.arange(0.0, 8.1, 0.2), (1.0, 0.8, 0.6)
_LOOKS_S, _ARRIVED_S = 0.1, 1.0
# Distance from which on a person is under way, metres.
_STAYS_M = 0.2
# Seconds that a metre of missing distance costs, and a metre of detour: people rather wait a while.
_MISSING_S_M, _DETOUR_S_M = 30.0, 1.0


def met(world: World, found: Iterable[Finding], who: str) -> tuple[list[Finding], list[Finding]]:
    """Collisions of a character: with other people who walk, and with everything else, the earliest first."""
    found = sorted(found, key=lambda hit: hit.during)
    people = [c for c in found if any(under_way(world, name, c.during[0]) for name in c.who if name != who)]
    return people, [c for c in found if c not in people]


def under_way(world: World, who: str, t: float) -> bool:
    """Return whether a character walks at a time."""
    before, after = world.motion(who).sample([t - _MOMENT_S, t + _MOMENT_S])[0][:, :2]
    return float(np.linalg.norm(after - before)) > 2.0 * _MOMENT_S * _UNDER_WAY_M_S


def discs_of(world: World, actor: Actor, other: str, t: float) -> list[Disc]:
    """Discs that a walker avoids to pass another person around a time, the middle one at that time."""
    radius = _half_width(world, other) + _half_width(world, actor.who) + _PASSING_M
    return [Disc(place, radius) for place in world.motion(other).sample(t + _PASSING_S)[0][:, :2]]


def discs_at_rest(world: World, actor: Actor) -> list[Disc]:
    """Discs around the positions where other people come to rest, as wide as in `discs_of`."""
    others = [name for name in world.characters if name != actor.who]
    return [discs_of(world, actor, name, world.motion(name).span[1] - _PASSING_S[0])[0] for name in others]


def _half_width(world: World, who: str) -> float:
    body = world.body(who)
    return 0.5 * envelope(body, "forward").width if isinstance(body, Character) else _HALF_WIDTH_M


def past_people(
    world: World, actor: Actor, paths: Sequence[WalkPath], speed: float
) -> Iterator[tuple[WalkPath, float, float]]:
    """Paths with a speed, m/s, and a delay, seconds, that keep discs around people apart: those that arrive soon and
    are short first.

    Where none does, those with the smallest shortfall come first.
    """
    now = actor.now
    others = [name for name in world.characters if name != actor.who]
    apart = np.array([_half_width(world, name) + _half_width(world, actor.who) + _PASSING_M for name in others])
    longest = max(_course(actor, path, min(_SLOWER) * speed).times[-1] for path in paths) + float(_DELAYS_S[-1])
    times = np.arange(0.0, longest + STANDS_S + _ARRIVED_S, _LOOKS_S)
    places = np.stack([world.motion(name).sample(now + times)[0][:, :2] for name in others])
    shortest = min(path.length for path in paths)
    found = []
    for number, path in enumerate(paths):
        for share in _SLOWER:
            course = _course(actor, path, share * speed)
            took = float(course.times[-1])
            for delay in _DELAYS_S:
                mine = course.curve.at(course.along(times - delay - STANDS_S))
                looked = times < delay + STANDS_S + took + _ARRIVED_S
                missing = _missing(places[:, looked], mine[looked, None], apart[:, None])
                cost = delay + took + _DETOUR_S_M * (path.length - shortest)
                found.append((cost + _MISSING_S_M * missing, number, share, float(delay)))
    for _, number, share, delay in sorted(found):
        yield paths[number], share * speed, delay


def delay_past_people(
    world: World, team: Sequence[str], now: float, places: Callable[[Array], Array], radii: Array,
    took: tuple[float, float],
) -> float:  # fmt: skip
    """Delay, seconds, with which points of a team keep off people who walk, the shortest of those that do so best.

    `places` gives the points (T, K, 2) at times (T,) after departure, at rest before; `radii` (K,) is their clearance,
    `took` the shortest delay and the duration up to when others may pass again, seconds.
    """
    times = np.arange(0.0, took[0] + float(_DELAYS_S[-1]) + took[1], _LOOKS_S)
    rows = {name: world.motion(name).sample(now + times)[0][:, :2] for name in world.characters if name not in team}
    walkers = {name: at for name, at in rows.items() if np.ptp(at, axis=0).max() > _STAYS_M}
    if not walkers:
        return took[0]
    others = np.stack(list(walkers.values()))
    apart = np.array([_half_width(world, name) + _PASSING_M for name in walkers])[:, None] + radii

    def cost(delay: float) -> float:
        looked = times < delay + took[1]
        return delay + _MISSING_S_M * _missing(others[:, looked], places(times[looked] - delay), apart)

    return min((took[0] + float(delay) for delay in _DELAYS_S), key=cost)


def _missing(others: Array, mine: Array, apart: Array) -> float:
    """Largest distance, metres, that M people at (M, T, 2) and points at (T, K, 2) lack to be (M, K) apart."""
    near = np.linalg.norm(others[:, :, None] - mine, axis=3).min(axis=1)
    return max(float((apart - near).max()), 0.0)


def _course(actor: Actor, path: WalkPath, speed: float) -> Course:
    """Course of an actor along a path from rest to rest, as a walk of that speed, m/s, takes it."""
    _, heading = stance_of(actor.body, actor.pose)
    return from_rest_to_rest(route(path.points, heading, None, manners_along(path)), speed, 1.0 / _LOOKS_S, 0.0)
