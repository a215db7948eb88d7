"""Changes of a clip that keep every pose: re-timed, raised out of the floor, moved, delayed (X8)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from elbowroom.finish.nudge import Core
from elbowroom.geometry.easing import covering
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import Flags, runs
from elbowroom.motion.edit import place, without_lead
from elbowroom.motion.retarget_pose import has_feet
from elbowroom.motion.soles import soles
from elbowroom.plan.checks.allowed import at_work
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of
from elbowroom.plan.checks.ground import LOW_M, Ground
from elbowroom.plan.repair.options import Clocks
from elbowroom.world.allowances import Changed, is_foot
from elbowroom.world.certificate_findings import Collision, Finding
from elbowroom.world.exact import ExactWorld
from elbowroom.world.pairs import FLOOR, Part, moves, parts_of
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

# Seconds around an episode at full effect, and the shortest time to leave and to return.
_PAD, _LEAST = 0.15, 0.3
# Seconds later or earlier that are tried in turn, and those for either way.
_LATER, _EITHER_WAY_S = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 2.5
# Share of the collisions that the best of them may leave to limbs.
_LEFT = 0.05
# Range of playback speed.
_SLOWEST, _FASTEST = 0.55, 1.45
# Samples per second.
_SAMPLES_PER_S = 30.0


@dataclass(frozen=True, eq=False)
class BodyDetour:
    """A world with a displaced character: `name` is the part that is moved, `text` describes it.

    `changed` are the joints and their interval, `checks` the samples that were looked at.
    """

    world: World
    name: str
    text: str
    changed: Changed
    checks: int


def core_about(clip: Clip, during: Interval, seconds: float) -> Core | None:
    """Frames of departure and return of a displacement, with `seconds` for either; None where time is too short."""
    low, high = (float(clip.times[k]) for k in (clip.source.lead, -1))
    begin, end = during[0] - _PAD, during[1] + _PAD
    first, last = max(begin - seconds, low), min(end + seconds, high)
    begin, end = max(begin, first + _LEAST), min(end, last - _LEAST)
    if begin > during[0] or end < during[1]:
        return None
    return Core(first, begin, end, last)


def retimed(world: World, episode: CollisionEpisode, clocks: Clocks) -> Iterator[BodyDetour]:
    """Smallest re-timing that avoids a moving obstacle, or the one that leaves least where none is free."""
    start = time.perf_counter()
    clip = clip_of(world, episode.who)
    core = core_about(clip, episode.during, _EITHER_WAY_S)
    if core is None or not _comes_by(world, episode) or at_work(world, episode.who, (core.first, core.last)):
        return
    times = np.arange(core.first, core.last, 1.0 / _SAMPLES_PER_S)
    best: tuple[int, BodyDetour] | None = None
    for number, later in enumerate(sign * by for by in _LATER for sign in (1.0, -1.0)):
        new = later_by(clip, core, later)
        if clocks.late:
            break
        if new is None:
            continue
        left = hits(there := world.with_character(episode.who, new), episode.who, times)
        if best is None or left < best[0]:
            text = f"{abs(later):.1f} s {'later' if later > 0.0 else 'sooner'}"
            changed = Changed(episode.who, (), (core.first, core.last))
            best = left, BodyDetour(there, "whole body", text, changed, (number + 1) * len(times))
        if left == 0:
            break
    clocks.add("plan", start)
    if best is not None and best[0] <= _LEFT * hits(world, episode.who, times):
        yield best[1]


def later_by(clip: Clip, core: Core, later: float) -> Clip | None:
    """A clip that is `later` by some seconds during a core (earlier if negative), slower before and faster after it.

    None where that were too slow or too fast.
    """
    wanted = clip.times - later * core.weights(clip.times)
    pace = np.diff(wanted) * clip.fps
    if pace.min() < _SLOWEST or pace.max() > _FASTEST:
        return None
    rows = np.flatnonzero(core.weights(clip.times) > 0.0)
    root, rotations = (np.array(part) for part in (clip.root, clip.rotations))
    root[rows], rotations[rows] = clip.sample(wanted[rows])
    return clip.with_(root=root, rotations=rotations)


def _comes_by(world: World, episode: CollisionEpisode) -> bool:
    """Return whether the obstacle moves on its own path, so it is elsewhere at another time."""
    mine = {hold.object for hold in world.holds if hold.by == episode.who}
    names = {name for pair in episode.pairs for name in pair} - mine
    others = {world.split(name)[0] for name in names} - {episode.who}
    return any(n in world.characters or (n in world.things and moves(world, n, world.things[n])) for n in others)


# Extra height beyond the depth, metres: for what is between frames, and for the proof's tolerance.
_RAISED_MARGIN_M = 0.003
# Vertical acceleration that raising adds at most, m/s²: half of that of a pelvis in a walk. And the time between two
# raises, seconds, below which the body stays up: about one step.
_RAISED_M_S2, _STAYS_UP_S = 1.5, 0.6


def raised(world: World, who: str, found: Iterable[Finding]) -> BodyDetour | None:
    """Raise a recorded clip where its feet or shins are deeper in the floor than the caps of the world allow, and onto
    carpets and sills that feet are in.

    All poses stay as recorded and the root gains height smoothly, so contacts with the floor only become shallower.
    `found` are collisions of the world's certificate; None where no leg is too deep.
    """
    clip = clip_of(world, who)
    caps = {p.name: world.caps.feet if is_foot(p) else world.caps.body for p in parts_of(world) if _on_leg(p, who)}
    need, frame, in_low = np.zeros(len(clip)), 1.0 / clip.fps, np.zeros(len(clip), dtype=bool)
    found = list(found)
    high = {n for one in found if isinstance(one, Collision) and (one.depth_m or 0.0) > LOW_M for n in one.pair}
    for one in found:
        leg = next((name for name in one.pair if name in caps), None)
        rows = slice(*np.searchsorted(clip.times, (one.during[0] - frame, one.during[1] + frame)))
        if leg is not None and FLOOR in one.pair:
            deeper = one.depth_m - caps[leg] if isinstance(one, Collision) and one.depth_m is not None else 0.0
            need[rows] = np.maximum(need[rows], max(deeper, 0.0) + _RAISED_MARGIN_M)
        elif leg is not None and not high & set(one.pair) - {leg}:
            in_low[rows] = True
    out_of_floor = bool(need.any())
    if in_low.any():
        need[in_low] = np.maximum(need[in_low], _below_low_ground(world, clip, in_low))
    lead = clip.source.lead
    rise = _rise(need[lead:], clip.fps)
    moving = clip.times[lead:][rise > 0.0]
    if not len(moving) or at_work(world, who, (moving[0], moving[-1])):
        return None
    root = np.array(clip.root)
    root[lead:, 2] += rise
    there = world.with_character(who, clip.with_(root=root))
    reasons = ["legs out of the floor"] * out_of_floor + ["onto low ground"] * bool(in_low.any())
    text = f"raised by up to {1000 * rise.max():.0f} mm, {' and '.join(reasons)}"
    changed = Changed(who, (), (float(moving[0]), float(moving[-1])))
    return BodyDetour(there, "whole body", text, changed, 0)


def _rise(need: Array, fps: float) -> Array:
    """Smooth height (T,) nowhere below `need` (T,), metres, in no more frames than the acceleration requires."""
    need = scipy.ndimage.grey_closing(need, 2 * round(0.5 * _STAYS_UP_S * fps) + 1, mode="nearest")
    rise = np.zeros(len(need))
    for first, last in sorted(runs(need > 0.0), key=lambda run: -need[run[0] : run[1] + 1].max()):
        left = np.zeros(len(need))
        left[first : last + 1] = np.maximum(need - rise, 0.0)[first : last + 1]
        # a rise by h in t seconds has an acceleration of 2 pi h / t²
        seconds = np.sqrt(2.0 * np.pi * left.max() / _RAISED_M_S2)
        rise += covering(left, 2 * int(np.ceil(0.5 * seconds * fps)) + 1)
    return rise


def _below_low_ground(world: World, clip: Clip, rows: Flags) -> Array:
    """Height (N,) by which soles in some frames (T,) have to be raised onto carpets and sills, metres; 0 where there
    are none, and where feet are too far in them to be raised without floating.
    """
    character, T = clip.character, clip.world(clip.times[rows])
    if not has_feet(character):
        return np.zeros(len(T))
    points = []
    for sole in soles(character):
        toes = sole.toes if sole.toes >= 0 else sole.foot
        points += [apply(T[:, sole.foot], sole.outline), apply(T[:, toes], np.vstack([sole.toe_outline, sole.tip]))]
    at = np.concatenate(points, axis=1)
    ground = Ground(world, float(clip.times[rows][0]), 1.0, at[..., :2].reshape(-1, 2))
    high = ground.along(at[..., :2])
    floor = 0.0 if world.floor is None else world.floor
    below = np.where(high > 0.0, floor + high - at[..., 2], 0.0).max(axis=1)
    return np.where((below > 0.0) & (below <= LOW_M), below + _RAISED_MARGIN_M, 0.0)


def _on_leg(part: Part, who: str) -> bool:
    return part.owner == who and part.kind == "body" and part.role.endswith(("_shin", "_foot", "_toes"))


# Shares of the bounds that are tried, directions of a shift, and candidates that are followed up.
_SHARES, _DIRECTIONS, _FOLLOWED = (0.25, 0.5, 1.0), 8, 4
# Samples per second.
_SHIFTED_SAMPLES_PER_S = 8.0


@dataclass(frozen=True, eq=False)
class ShiftedClip:
    """A world with a character's clip moved by `shift` (2,) metres on the floor and delayed by `delay` seconds."""

    world: World
    shift: tuple[float, float]
    delay: float

    @property
    def text(self) -> str:
        """Description."""
        texts = []
        if any(self.shift):
            texts.append(f"moved by {100 * np.hypot(*self.shift):.0f} cm")
        if self.delay:
            texts.append(f"begun {self.delay:.2f} s later")
        return " and ".join(texts)


def shifted_clips(world: World, who: str, max_shift: float, max_delay: float) -> list[ShiftedClip]:
    """Shifts of a character's clip within bounds, those with the fewest hits first, small before large."""
    found = []
    for k, shifted in enumerate(_shifts(world, who, max_shift, max_delay)):
        found.append((hits(shifted.world, who, _sample_times(clip_of(shifted.world, who))), k, shifted))
    return [shifted for _, _, shifted in sorted(found, key=lambda f: f[:2])[:_FOLLOWED]]


def _shifts(world: World, who: str, max_shift: float, max_delay: float) -> Iterator[ShiftedClip]:
    clip = clip_of(world, who)
    for share in _SHARES:
        frames = int(share * max_delay * clip.fps + 1e-6)
        if frames > 0:
            later = world.with_character(who, begun_later(clip, frames))
            yield ShiftedClip(later, (0.0, 0.0), frames / clip.fps)
        for angle in np.arange(_DIRECTIONS) * (2.0 * np.pi / _DIRECTIONS) if max_shift > 0.0 else ():
            shift = (share * max_shift * float(np.cos(angle)), share * max_shift * float(np.sin(angle)))
            yield ShiftedClip(world.with_character(who, place(clip, shift)), shift, 0.0)


def begun_later(clip: Clip, frames: int) -> Clip:
    """A clip that stands still for some frames at first; artificial frames before its beginning stay there."""
    lead = min(clip.source.lead, len(clip) - 1)
    rows = np.arange(len(clip) + frames)
    rows = np.where(rows < lead, rows, np.maximum(rows - frames, lead))
    return clip.with_(root=clip.root[rows], rotations=clip.rotations[rows])


def hits(world: World, who: str, times: Array) -> int:
    """Number of colliding pairs of a character, or what it holds, with others, over times (T,)."""
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


def _sample_times(clip: Clip) -> Array:
    """Sample times of a whole clip."""
    begin, end = without_lead(clip).span
    return np.arange(begin, end + 1e-9, 1.0 / _SHIFTED_SAMPLES_PER_S)
