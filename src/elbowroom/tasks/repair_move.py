"""The last rung of the ladder: the whole clip moved aside or begun later, within bounds that the user sets (X8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import place, without_lead
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World

# Shares of the bounds that are tried, directions of a shift, and how many ways are followed up.
_SHARES, _DIRECTIONS, _FOLLOWED = (0.25, 0.5, 1.0), 8, 4
# Looks a second.
_LOOKS = 8.0


@dataclass(frozen=True, eq=False)
class Moved:
    """A world with someone's clip moved by `shift` (2,) metres on the floor and begun `delay` seconds later."""

    world: World
    shift: tuple[float, float]
    delay: float

    @property
    def told(self) -> str:
        """In words."""
        told = []
        if any(self.shift):
            told.append(f"moved by {100 * np.hypot(*self.shift):.0f} cm")
        if self.delay:
            told.append(f"begun {self.delay:.2f} s later")
        return " and ".join(told)


def moved_ways(world: World, who: str, max_shift: float, max_delay: float) -> list[Moved]:
    """Ways to move someone's clip within bounds, those with the fewest hits first, small moves before large ones."""
    found = []
    for k, way in enumerate(_ways(world, who, max_shift, max_delay)):
        clip = way.world.motion(who)
        assert isinstance(clip, Clip)
        found.append((hits(way.world, who, _looks(clip)), k, way))
    return [way for _, _, way in sorted(found, key=lambda f: f[:2])[:_FOLLOWED]]


def _ways(world: World, who: str, max_shift: float, max_delay: float) -> Iterator[Moved]:
    clip = world.motion(who)
    assert isinstance(clip, Clip)
    for share in _SHARES:
        if max_delay > 0.0:
            delay = share * max_delay
            yield Moved(world.with_character(who, clip.with_(start=clip.start + delay)), (0.0, 0.0), delay)
        for angle in np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS) if max_shift > 0.0 else ():
            shift = (share * max_shift * float(np.cos(angle)), share * max_shift * float(np.sin(angle)))
            yield Moved(world.with_character(who, place(clip, shift)), shift, 0.0)


def hits(world: World, who: str, times: Array) -> int:
    """How many pairs of someone, or what they hold, with others are hit, over looks at times (T,)."""
    exact = ExactWorld(world)
    mine = {who, *(hold.object for hold in world.holds if hold.by == who)}
    pairs = [[exact.parts[int(i)] for i in row] for row in exact.index]
    outer = [sum(p.owner in mine for p in pair) == 1 and pair[1].kind != "floor" for pair in pairs]
    among, count = np.flatnonzero(outer), 0
    record = world.record(times)
    for k in range(len(record)):
        exact.place_snapshot(record[k])
        count += sum(exact.hit(int(i)) for i in exact.near(0.0, among))
    return count


def _looks(clip: Clip) -> Array:
    """When a whole clip is looked at."""
    begin, end = without_lead(clip).span
    return np.arange(begin, end + 1e-9, 1.0 / _LOOKS)
