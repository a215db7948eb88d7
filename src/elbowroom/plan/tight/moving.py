"""Whole bodies among things that move on known trajectories: timings of a path, and paths clear of all that is swept.

A path is searched without them first. Along it, place on the path and time make a grid in which a timing is searched:
later, slower, or with stops where it has to be. Where there is none, a path is searched that stays clear of every place
that they pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from elbowroom.geometry.easing import smootherstep
from elbowroom.geometry.rotations import Array
from elbowroom.plan.checks.margins import BETWEEN_M
from elbowroom.plan.checks.places import moves
from elbowroom.spaces.component import PosePath
from elbowroom.stopping import may_stop_here
from elbowroom.world.fast_body import BodyCheck
from elbowroom.world.world import World

# Seconds between samples of a moving scene, the longest wait in it, and how long a body has to stay free at its goal.
_SAMPLE_S = 0.05
_WAIT_S = 6.0
_STAYS_S = 0.5
# People whose joints stay within this distance stand still, and those farther away count for nothing, metres.
_SWAY_M, _FAR_M = 0.03, 3.0
# Timings of a kind that are tried where the proof refuses the one before: frames are rounded, and things move between
# samples; and seconds by which they differ.
_TIMINGS, _APART_S = 3, 0.3
# Places of a path in the grid; delays, seconds, and slower paces that are tried before stops on the way.
_PLACES = 40
_DELAYS_S, _SLOWER = np.arange(0.0, _WAIT_S, 0.2), (1.0, 1.5, 2.2)
# Places beside one, and samples before and after it, that are free as well where there are stops: timings are evened.
_ABOUT = (2, 5)
# Half-width over which a timing with stops is evened, seconds, and how much faster than usual it may be in between.
_EVENED_S, _FASTER = 0.3, 1.6
# Seconds between samples of what is swept.
_SWEPT_S = 0.25


class MovingScene:
    """Moving obstacles during a whole-body motion from a time on, which takes some seconds without waiting.

    `rest` is the world without them.
    """

    def __init__(self, world: World, who: str, begin: float, seconds: float, names: Collection[str]) -> None:
        self.who, self.begin, self.seconds = who, begin, seconds
        self.rest = _with_only(world, [n for n in (*world.objects, *world.characters) if n not in names])
        own = [h.object for h in world.holds if h.by == who]
        self._lone = _with_only(world, [who, *own, *names]).with_(static={}, floor=None)
        self.check = cache(self._check)

    @staticmethod
    def around(world: World, who: str, begin: float, seconds: float) -> MovingScene | None:
        """The moving scene around a character from a time on; None where nothing near moves."""
        times = np.arange(begin, begin + seconds + _WAIT_S, _SAMPLE_S)
        here = world.motion(who).sample([begin])[0][0]
        held = {h.object for h in world.holds if h.by == who and h.during[0] <= begin < h.during[1]}
        names = [name for name in world.objects if name not in held and moves(world, name, times)]
        for name in (name for name in world.characters if name != who):
            root, q = world.motion(name).sample(times)
            joints = world.body(name).transforms(root, q)[..., :3, 3]
            if np.linalg.norm(root - here, axis=1).min() < _FAR_M and np.ptp(joints, axis=0).max() > _SWAY_M:
                names.append(name)
        return MovingScene(world, who, begin, seconds, names) if names else None

    def _check(self, sample: int) -> BodyCheck:
        """Check of the body against what moves at the sample of a number."""
        may_stop_here()
        return BodyCheck(self._lone, self.who, self.begin + _SAMPLE_S * sample, margin=BETWEEN_M)

    def swept(self, check: BodyCheck) -> BodyCheck:
        """A check in which everything is at all places that it passes."""
        every = range(0, int((self.seconds + _WAIT_S) / _SAMPLE_S), round(_SWEPT_S / _SAMPLE_S))
        return check.with_others([self.check(k) for k in every])

    def timings(self, path: PosePath, fps: float, count: int) -> Iterator[Array]:
        """Shares (N,) of a path at frames, slow at both ends, at which the body meets nothing that moves.

        `count` is the usual number of frames. Those that start later or go slower come first, then one with stops.
        """
        table = _Table(self, path)
        usual = count / fps
        pairs = [(delay + usual * (slower - 1.0), delay, slower) for delay in _DELAYS_S for slower in _SLOWER]
        tried: list[float] = []
        for cost, delay, slower in sorted(pairs):
            if tried and cost < tried[-1] + _APART_S:
                continue
            frames = int(np.ceil((delay + usual * slower) * fps)) + 1
            share = smootherstep(np.clip((np.arange(frames) / fps - delay) / (usual * slower), 0.0, 1.0))
            if table.free(share, fps):
                tried.append(cost)
                yield share
            if len(tried) == _TIMINGS:
                return
        stops = table.with_stops(usual)
        if stops is not None:
            share = _evened(stops, fps)
            if table.free(share, fps):
                yield share


class _Table:
    """Freedom of the body at places of a path and times, each checked once."""

    def __init__(self, scene: MovingScene, path: PosePath) -> None:
        self._scene, self._poses = scene, [path.at(s) for s in np.linspace(0.0, 1.0, _PLACES + 1)]
        self._at = cache(self._looked)

    def _looked(self, place: int, sample: int) -> bool:
        return self._scene.check(sample).free(self._poses[place])

    def free(self, share: Array, fps: float) -> bool:
        """Return whether a timing, shares (N,) of the path at frames, is free, and its end for a while."""
        last = int(np.ceil(((len(share) - 1) / fps + _STAYS_S) / _SAMPLE_S))
        at = np.interp(_SAMPLE_S * np.arange(last + 1), np.arange(len(share)) / fps, share) * _PLACES
        at = np.clip(at, 0.0, _PLACES)
        # between two places both have to be free
        return all(self._at(int(k), j) for j, s in enumerate(at) for k in {np.floor(s), np.ceil(s)})

    def _roomy(self, place: int, sample: int, most: int) -> bool:
        """Return whether a place is free for a while before and after a sample, and so are those beside it."""
        about = range(max(sample - _ABOUT[1], 0), min(sample + _ABOUT[1], most) + 1)
        beside = range(max(place - _ABOUT[0], 0), min(place + _ABOUT[0], _PLACES) + 1)
        return (
            self._at(place, sample)
            and all(self._at(place, j) for j in about)
            and all(self._at(k, sample) for k in beside)
        )

    def with_stops(self, usual: float) -> Array | None:
        """Places (N,) on the path at samples by which the goal is reached soonest, with stops and ways back."""
        most = int((usual + _WAIT_S) / _SAMPLE_S)
        step = max(int(np.ceil(_FASTER * _PLACES * _SAMPLE_S / usual)), 1)
        reached = np.zeros((most + 1, _PLACES + 1), bool)
        reached[0, 0] = True
        for j in range(1, most + 1):
            for k in range(_PLACES + 1 if j * _SAMPLE_S > _EVENED_S else 1):  # it begins at rest
                near = reached[j - 1, max(k - step, 0) : k + step + 1]
                reached[j, k] = bool(near.any()) and self._roomy(k, j, most)
            if reached[j, -1]:
                return _back_from(reached[: j + 1], step)
            if not reached[j].any():
                return None
        return None


def _back_from(reached: NDArray[np.bool_], step: int) -> Array:
    """Places (N,) from the first to the last of a grid of reached ones (N, K), as late as possible on the way."""
    place = reached.shape[1] - 1
    out = [place]
    for row in reached[-2::-1]:
        low = max(place - step, 0)
        place = low + int(np.flatnonzero(row[low : place + step + 1])[0])
        out.append(place)
    return np.asarray(np.array(out[::-1]) / (reached.shape[1] - 1))


def _evened(stops: Array, fps: float) -> Array:
    """Shares (N,) at frames of a timing with stops at samples, without corners, at rest at both ends."""
    half = round(_EVENED_S * fps)
    frames = int(np.ceil(len(stops) * _SAMPLE_S * fps))
    share = np.interp(np.arange(frames) / fps, _SAMPLE_S * np.arange(len(stops)), stops)
    weight = np.hanning(2 * half + 3)[1:-1]
    padded = np.concatenate([np.zeros(half), share, np.ones(2 * half)])
    out = np.convolve(padded, weight / weight.sum(), "valid")
    out[[0, -1]] = 0.0, 1.0
    return np.clip(out, 0.0, 1.0)


def _with_only(world: World, names: Collection[str]) -> World:
    """A world with only some of its objects and characters."""
    return world.with_(
        objects={n: o for n, o in world.objects.items() if n in names},
        characters={n: c for n, c in world.characters.items() if n in names},
        holds=tuple(h for h in world.holds if h.by in names and h.object in names),
    )
