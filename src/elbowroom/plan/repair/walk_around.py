"""Walking round what is being moved: the way of last time is tried first, a little more or less of it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from elbowroom.motion.clip import Clip
from elbowroom.plan.edit import cut
from elbowroom.plan.repair.allowed import OwnTouches, at_work, own_touches, with_contacts
from elbowroom.plan.repair.detours import ROUND, Looks, left_of, legs_of, told_by
from elbowroom.plan.repair.find import CollisionEpisode, clip_of, collision_episodes
from elbowroom.plan.repair.pelvis import PelvisOffset, core_about
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Interval, merged
from elbowroom.world.world import World

# Metres aside that are tried in turn at first, and that are added to those of last time, with a little less tried every
# so many times.
_ASIDE, _MORE, _LESS, _EVERY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.0, 0.025, 0.05, 0.1, 0.2, 0.3), 0.025, 2
# Looks a second, and where it is to be sure.
_LOOKS, _CLOSE = 15.0, 60.0
# Seconds that episodes are apart which are walked round one by one; and to which their times are rounded, so that the
# same steps are taken for as long as a thing hardly moves.
_APART, _STEP = 1.5, 0.1
# Such steps that are kept: each has the whole motion of somebody.
_KNOWN = 4


@dataclass(eq=False)
class WalkAround:
    """Walk round what is moved: `aside` metres to the left when it was last done, 0 before that.

    `goes_on`: it was the last thing that was done. `touches` are those of a recorded clip with itself and the floor
    meanwhile.
    """

    who: str
    aside: float = 0.0
    goes_on: bool = False
    touches: OwnTouches | None = None
    _times: int = 0
    _touching: PelvisOffset | None = None
    _sways: dict[Interval, PelvisOffset] = field(default_factory=dict)

    def walked(
        self, world: World, exact: ExactWorld, during: Interval, of: str, until: float, *, sure: bool = False
    ) -> tuple[World, Edit] | None:
        """The world with somebody who is aside during some seconds, and what was planned; None where nothing does.

        `of` is what they get clear of, in words; `exact` is of the same world. No more is tried after `until`, by
        `time.perf_counter`. If it is to be `sure`, it is looked at more closely.
        """
        clip = clip_of(world, self.who)
        self.goes_on = False
        sway = self._sway(clip, during)
        left = None if sway is None else left_of(sway)
        if sway is None or left is None or at_work(world, self.who, (sway.core.first, sway.core.last)):
            return None
        if clip.source.format:
            if self._touching is not sway:
                joints = [j for ik in sway.legs for j in ik.joints]
                self.touches = own_touches(exact, self.who, joints, clip.times[sway.first : sway.last + 1 : 2])
                self._touching = sway
            assert self.touches is not None
            world = with_contacts(world, self.touches.contacts((sway.core.first, sway.core.last), planned=True))
            exact = ExactWorld(world)
        looks = Looks(
            world, CollisionEpisode(self.who, "", during, ()), sway, rate=_CLOSE if sure else _LOOKS, exact=exact
        )
        for aside in self._tries():
            moved = sway.by((aside * left[0], aside * left[1], 0.0))
            if moved is not None and looks.depth(moved.clip, (0.0, 0.0)) is not None:
                self.aside, self.goes_on = aside, True
                span = (sway.core.first, sway.core.last)
                told = f"{told_by(moved.by)}, clear of {of}"
                legs = tuple(j for ik in sway.legs for j in ik.joints)
                noted = Edit(self.who, "whole body", told, span, "avoid", checks=looks.count, replanned=legs)
                return world.with_character(self.who, moved.clip), cut(clip, moved.clip, [noted])[0]
            if time.perf_counter() > until:
                break
        return None

    def learn(self, before: Clip, after: Clip) -> None:
        """Begin with how far somebody went aside in a motion that was found already."""
        if len(before) == len(after):
            way = (after.root - before.root)[:, :2]
            k = int(np.argmax(np.linalg.norm(way, axis=1)))
            x, y = (before.root[min(k + 1, len(before) - 1)] - before.root[max(k - 1, 0)])[:2]
            self.aside = float((x * way[k, 1] - y * way[k, 0]) / max(np.hypot(x, y), 1e-9))

    def _tries(self) -> Iterator[float]:
        """Metres to the left, small ones first; at first to both sides, later on the side of last time before."""
        most = _ASIDE[-1]
        if self.aside == 0.0:
            for aside in _ASIDE:
                yield from (aside, -aside)
            return
        self._times = (self._times + 1) % _EVERY
        far = abs(self.aside)
        known = [far - _LESS] if self._times == 0 and far > 2.0 * _LESS else []
        known += [far + more for more in _MORE if far + more <= most + 1e-9]
        yield from (math.copysign(aside, self.aside) for aside in known)
        yield from (math.copysign(aside, -self.aside) for aside in _ASIDE)

    def _sway(self, clip: Clip, during: Interval) -> PelvisOffset | None:
        """Steps aside that are known for this clip and these times, or new ones."""
        times = (_STEP * math.floor(during[0] / _STEP), _STEP * math.ceil(during[1] / _STEP))
        known = self._sways.get(times)
        if known is None or known.clip is not clip:
            legs, core = legs_of(clip), core_about(clip, during, ROUND)
            if not legs or core is None:
                return None
            rounded = core_about(clip, times, ROUND) or core
            known = PelvisOffset(clip, clip, legs, rounded, stepping=True)
            self._sways = dict([*self._sways.items(), (times, known)][-_KNOWN:])
        return known


def troubled(exact: ExactWorld, who: str, found: Sequence[Collision], *, bodies: bool) -> list[Interval]:
    """Return when somebody meets something with the body itself, which no limb can get out of the way; where there is
    no such time, when limbs do, unless it is of `bodies` alone."""
    met = collision_episodes(exact, who, found)
    limbs = [name for name in exact.world.body(who).chains if name.endswith(("arm", "leg"))]
    trunk = [t.during for t in met if t.limb not in limbs]
    return merged(trunk if trunk or bodies else [t.during for t in met], _APART)
