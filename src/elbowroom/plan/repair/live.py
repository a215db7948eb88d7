"""Live repair while an object is dragged: known repairs are shifted in time and scaled until they are free.

Takes milliseconds instead of a second, and proves nothing. Only edits near the dragged object are checked. Where no
known repair fits, limbs are re-planned without a proof, and that repair is known from then on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.allowed import OwnTouches, at_work, freeze_grips, own_touches, with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of, collision_episodes
from elbowroom.plan.repair.detours import ROUND, CollisionSampler, left_of, legs_of, offset_text
from elbowroom.plan.repair.pelvis import PelvisOffset, core_about
from elbowroom.plan.repair.quick import (
    RATE,
    Balls,
    KnownRepair,
    balls_of,
    clearance_without,
    frames_free,
    hits,
    known_repair,
    meetings,
    repair_quickly,
)
from elbowroom.plan.state.edit import laid
from elbowroom.plan.state.result import Plan, Status
from elbowroom.spaces.styles import StyleLike
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Interval, merged
from elbowroom.world.world import World

# Sideways distances tried in turn at first, and those added to the last one, metres; a smaller one is tried once in so
# many times.
_ASIDE, _MORE, _LESS, _EVERY = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.0, 0.025, 0.05, 0.1, 0.2, 0.3), 0.025, 2
# Samples per second, and the higher rate of a `sure` check.
_SAMPLES, _SAMPLES_SURE = 15.0, 60.0
# Episodes at least this far apart are walked around one by one, seconds; and the rounding of their times, so that the
# same steps are used while an object hardly moves.
_APART, _STEP = 1.5, 0.1
# Cached sidesteps: each holds the whole motion of a character.
_ROUND_KNOWN = 4


@dataclass(eq=False)
class WalkAround:
    """Walk around a dragged object: `aside` is the last offset to the left, metres, 0 before the first.

    `continues`: it was used last. `touches` are the recorded contacts with itself and the floor meanwhile.
    """

    who: str
    aside: float = 0.0
    continues: bool = False
    touches: OwnTouches | None = None
    _times: int = 0
    _touching: PelvisOffset | None = None
    _sidesteps: dict[Interval, PelvisOffset] = field(default_factory=dict)

    def walked(
        self, world: World, exact: ExactWorld, during: Interval, of: str, until: float, *, sure: bool = False
    ) -> tuple[World, Edit] | None:
        """The world with the character displaced during an interval, and the edit; None where no offset works.

        `of` names the obstacle; `exact` belongs to the same world. Tries nothing after `until`, by `time.perf_counter`.
        `sure` samples more densely.
        """
        clip = clip_of(world, self.who)
        self.continues = False
        sidestep = self._sidestep(clip, during)
        left = None if sidestep is None else left_of(sidestep)
        if sidestep is None or left is None or at_work(world, self.who, (sidestep.core.first, sidestep.core.last)):
            return None
        if clip.source.format:
            if self._touching is not sidestep:
                joints = [j for ik in sidestep.legs for j in ik.joints]
                self.touches = own_touches(exact, self.who, joints, clip.times[sidestep.first : sidestep.last + 1 : 2])
                self._touching = sidestep
            assert self.touches is not None
            world = with_contacts(world, self.touches.contacts((sidestep.core.first, sidestep.core.last), planned=True))
            exact = ExactWorld(world)
        sampler = CollisionSampler(
            world,
            CollisionEpisode(self.who, "", during, ()),
            sidestep,
            rate=_SAMPLES_SURE if sure else _SAMPLES,
            exact=exact,
        )
        for aside in self._tries():
            moved = sidestep.by((aside * left[0], aside * left[1], 0.0))
            if moved is not None and sampler.depth(moved.clip, (0.0, 0.0)) is not None:
                self.aside, self.continues = aside, True
                span = (sidestep.core.first, sidestep.core.last)
                text = f"{offset_text(moved.by)}, clear of {of}"
                legs = tuple(j for ik in sidestep.legs for j in ik.joints)
                noted = Edit(self.who, "whole body", text, span, "avoid", checks=sampler.count, replanned=legs)
                return world.with_character(self.who, moved.clip), laid(noted, clip, moved.clip)
            if time.perf_counter() > until:
                break
        return None

    def learn(self, before: Clip, after: Clip) -> None:
        """Start from the sideways offset of a motion that was found already."""
        if len(before) == len(after):
            known = (after.root - before.root)[:, :2]
            k = int(np.argmax(np.linalg.norm(known, axis=1)))
            x, y = (before.root[min(k + 1, len(before) - 1)] - before.root[max(k - 1, 0)])[:2]
            self.aside = float((x * known[k, 1] - y * known[k, 0]) / max(np.hypot(x, y), 1e-9))

    def _tries(self) -> Iterator[float]:
        """Offsets to the left, metres, small ones first; at first to both sides, later the last side first."""
        most = _ASIDE[-1]
        if self.aside == 0.0:
            for aside in _ASIDE:
                yield from (aside, -aside)
            return
        self._times = (self._times + 1) % _EVERY
        far = abs(self.aside)
        candidates = [far - _LESS] if self._times == 0 and far > 2.0 * _LESS else []
        candidates += [far + more for more in _MORE if far + more <= most + 1e-9]
        yield from (math.copysign(aside, self.aside) for aside in candidates)
        yield from (math.copysign(aside, -self.aside) for aside in _ASIDE)

    def _sidestep(self, clip: Clip, during: Interval) -> PelvisOffset | None:
        """Cached or new sidesteps for this clip and interval."""
        times = (_STEP * math.floor(during[0] / _STEP), _STEP * math.ceil(during[1] / _STEP))
        cached = self._sidesteps.get(times)
        if cached is None or cached.clip is not clip:
            legs, core = legs_of(clip), core_about(clip, during, ROUND)
            if not legs or core is None:
                return None
            rounded = core_about(clip, times, ROUND) or core
            cached = PelvisOffset(clip, clip, legs, rounded, stepping=True)
            self._sidesteps = dict([*self._sidesteps.items(), (times, cached)][-_ROUND_KNOWN:])
        return cached


def collision_intervals(exact: ExactWorld, who: str, found: Sequence[Collision], *, bodies: bool) -> list[Interval]:
    """Interval of collisions of the body itself, which no limb can resolve; else of limbs, unless `bodies` only."""
    met = collision_episodes(exact, who, found)
    limbs = [name for name in exact.world.body(who).chains if name.endswith(("arm", "leg"))]
    trunk = [t.during for t in met if t.limb not in limbs]
    return merged(trunk if trunk or bodies else [t.during for t in met], _APART)


# Distances to a dragged object that matter, metres: for a body with an offset, and as it moves anyway.
_ROOM, _TOUCH = 0.3, 0.03
# Samples per second of the rest of the body against the dragged object, and the higher rate of a `sure` check.
_BODY_SAMPLES, _BODY_SAMPLES_SURE = 30.0, 60.0
# Known repairs that are cached; shares of the time for trying them, and until limbs are re-planned.
_KNOWN, _KNOWN_SHARE, _LIMBS_SHARE = 12, 0.2, 0.5
# Distance that an object must move before a failed search is repeated, metres: at first, and after so many failures.
_ELSEWHERE = (0.02, 0.04, 0.08, 0.16)


@dataclass(eq=False)
class LiveRepair:
    """Repairs of one world while objects in it are dragged; results stay close to the motions in `base`."""

    base: World
    seed: int = 0
    style: StyleLike = None
    _known: list[KnownRepair] = field(default_factory=list)
    _whole: dict[str, tuple[Clip, tuple[Edit, ...]]] = field(default_factory=dict)
    _rounds: dict[str, WalkAround] = field(default_factory=dict)
    _balls: dict[str, Balls] = field(default_factory=dict)
    _gave_up: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.base = freeze_grips(self.base)

    def learn(self, plan: Plan) -> None:
        """Add the repairs of a plan for the same motions. Detours of a body are stored as a whole."""
        for who in dict.fromkeys(edit.who for edit in plan.edits):
            own = tuple(edit for edit in plan.edits if edit.who == who and not edit.muted)
            repairs = [known for edit in own if (known := known_repair(self.base, edit, plan.collisions)) is not None]
            if len(repairs) == len(own):
                for known in repairs:
                    known.touches = self._touches(known)
                self._known = [*self._known, *repairs][-_KNOWN:]
            elif who in self.base.characters:
                self._whole[who] = (clip_of(plan.world, who), own)
                self._detour_of(who).learn(clip_of(self.base, who), clip_of(plan.world, who))

    def contacts(self, *, planned: bool) -> list[Contact]:
        """Contacts of recorded characters with themselves and the floor during known repairs, for plans or proofs."""
        touches = [*(known.touches for known in self._known), *(known.touches for known in self._rounds.values())]
        recorded = [own for own in touches if own is not None]
        return [c for own in recorded for c in own.contacts((own.times[0], own.times[-1]), planned=planned)]

    def again(self, world: World, moved: Sequence[str], *, sure: bool = False, seconds: float = math.inf) -> Plan:
        """A motion for a world in which objects in `moved` have moved; 'partial' where they still collide.

        `moved` names objects of the world, not meshes of its scene. With `sure`, the exact test decides all near cases.
        Tries nothing more after `seconds`.
        """
        for name in moved:
            if name not in world.objects:
                raise UnknownName("object that was moved", name, world.objects)
        start, rate = time.perf_counter(), _BODY_SAMPLES_SURE if sure else _BODY_SAMPLES
        now = with_contacts(world, self.contacts(planned=True))
        now = now.with_(characters=dict(self.base.characters), holds=self.base.holds)
        exact = ExactWorld(now)
        now, edits, lost = self._with_known(now, exact, moved, sure, start + _KNOWN_SHARE * seconds)
        asides = [edit.during for _, own in self._whole.values() for edit in own]
        found = self._meetings(now, exact, moved, edits, [*lost, *asides], rate)
        met = found  # before any detour
        if found and self._whole:
            now, edits = self._with_known_detours(now, edits)
            found = self._meetings(now, exact, moved, edits, lost, rate)
        if not found:
            self._gave_up = []
            return Plan("found", now.with_(contacts=world.contacts), tuple(edits), base=self.base.characters)
        at = np.concatenate([world.objects[name].path(0.0)[:3, 3] for name in moved])
        if not math.isfinite(seconds) or self._is_elsewhere(at):
            failed_nearby = bool(self._gave_up)  # limbs have failed near here: the body goes first
            now, edits = self._with_detours(
                now, exact, moved, edits, met, start + seconds, sure, bodies=not failed_nearby
            )
            found = self._meetings(now, exact, moved, edits, lost, rate)
            if found:
                sources = {who: clip_of(self.base, who) for who in now.characters}
                done = repair_quickly(now, found, sources, self.seed, self.style, start + _LIMBS_SHARE * seconds)
                left = self._meetings(done.world, exact, moved, [*edits, *done.edits], lost, rate)
                if not left:
                    now, edits, found = done.world, [*edits, *done.edits], left
                    self.learn(done.with_(edits=tuple(p for p in edits if p.who in {q.who for q in done.edits})))
                elif not failed_nearby:
                    now, edits = self._with_detours(now, exact, moved, edits, met, start + seconds, sure, bodies=False)
                    found = self._meetings(now, exact, moved, edits, lost, rate)
            self._gave_up = [*self._gave_up, at] if found else []
        why = "" if not found else f"{' collides with '.join(found[0].pair)} at {found[0].during[0]:.2f} s"
        status: Status = "partial" if found else "found"
        return Plan(status, now.with_(contacts=world.contacts), tuple(edits), why, base=self.base.characters)

    def _touches(self, known: KnownRepair) -> OwnTouches | None:
        """Recorded contacts of a character with itself around a repair; generated motion is allowed none."""
        clip = clip_of(self.base, known.edit.who)
        if not clip.source.format:
            return None
        low, high = known.about(clip)
        times = np.append(np.arange(clip.times[low], clip.times[high], 1.0 / RATE), clip.times[high])
        return own_touches(ExactWorld(self.base), known.edit.who, known.joints, times)

    def _is_elsewhere(self, at: Array) -> bool:
        """Return whether the object is far enough from where repair failed last; farther after each failure."""
        times = min(len(self._gave_up), len(_ELSEWHERE)) - 1
        return times < 0 or float(np.linalg.norm(at - self._gave_up[-1])) > _ELSEWHERE[times]

    def _detour_of(self, who: str) -> WalkAround:
        return self._rounds.setdefault(who, WalkAround(who))

    def _with_detours(
        self,
        world: World,
        exact: ExactWorld,
        moved: Sequence[str],
        edits: Sequence[Edit],
        met: Sequence[Collision],
        until: float,
        sure: bool,
        *,
        bodies: bool = True,
    ) -> tuple[World, list[Edit]]:
        """The world with detours around what hits `bodies`, or any limb, replacing the known repairs of these
        characters.

        A character that made a detour last time continues it.
        """
        for who in world.characters:
            for during in collision_intervals(exact, who, met, bodies=bodies and not self._detour_of(who).continues):
                below = world.with_character(who, self.base.characters[who])
                walked = self._detour_of(who).walked(below, exact, during, " and ".join(moved[:2]), until, sure=sure)
                if walked is not None:
                    world, edit = walked
                    edits = [*(e for e in edits if e.who != who), edit]
        return world, list(edits)

    def _with_known_detours(self, world: World, edits: Sequence[Edit]) -> tuple[World, list[Edit]]:
        """The world with all known detours of bodies, replacing repairs of their limbs."""
        for who, (clip, own) in self._whole.items():
            world = world.with_(characters={**world.characters, who: clip})
            edits = [*(edit for edit in edits if edit.who != who), *own]
        return world, list(edits)

    def _with_known(
        self, world: World, exact: ExactWorld, moved: Sequence[str], sure: bool, until: float
    ) -> tuple[World, list[Edit], list[Interval]]:
        """The world with the necessary known repairs, their edits, and intervals for which none works."""
        edits: list[Edit] = []
        done: set[tuple[str, tuple[int, ...]]] = set()
        lost: dict[tuple[str, tuple[int, ...]], KnownRepair] = {}
        for known in reversed(self._known):
            key = (known.edit.who, known.joints)
            if key in done or self._detour_of(known.edit.who).continues:
                continue
            late = key in lost and time.perf_counter() > until  # at least one of each kind is tried
            found = None if late else self._fitted(world, exact, known, moved, sure)
            if found is None:
                lost[key] = known
                continue
            done.add(key)
            if key in lost:  # the one that works is tried first next time
                self._known = [*(w for w in self._known if w is not known), known]
            clip, edit = found
            if edit is not None:
                world = world.with_(characters={**world.characters, edit.who: clip})
                edits.append(edit)
        return world, edits, [known.edit.during for key, known in lost.items() if key not in done]

    def _fitted(
        self, world: World, exact: ExactWorld, known: KnownRepair, moved: Sequence[str], sure: bool
    ) -> tuple[Clip, Edit | None] | None:
        """The motion with as much of a repair as needed, without an edit where none is; None where it does not work."""
        clip = clip_of(world, known.edit.who)
        low, high = known.about(clip)
        near = self._near(world, known.edit.who, moved, clip.times[low : high + 1], _ROOM)
        if not near.any():
            return known.as_planned(clip)
        rows = np.arange(low, high + 1)
        below = clip.rotations[rows][:, list(known.joints)]
        span = (clip.times[low], clip.times[high])
        if known.unavoidable is None:
            known.margin, known.unavoidable = clearance_without(world, known, below, clip.times[rows], rows, moved)
        check = self._check(world, exact, known, span, moved)
        hit = hits(check, below, clip.times[rows], np.flatnonzero(near & ~known.unavoidable))
        if not hit.any():
            return clip, None
        episode = clip.times[rows[hit]]
        later = 0 if known.steps else round((0.5 * float(episode[0] + episode[-1]) - known.middle) * clip.fps)
        shares = known.shares()
        for later, share in [*((later, share) for share in shares), *((0, share) for share in shares if later)]:
            frames = known.scaled(clip, later, share, rows)
            bent = np.any(frames != below, axis=(1, 2)) | hit
            if frames_free(check, frames[bent], clip.times[rows[bent]], sure):
                return known.applied(clip, rows, frames, later, share)
        return None

    def _check(
        self, world: World, exact: ExactWorld, known: KnownRepair, span: tuple[float, float], moved: Sequence[str]
    ) -> LimbCheck:
        """A check of a repair's joints; the last one, if only the dragged objects have moved since."""
        last = known.check
        same = last is not None and all(last.world.characters[n] is m for n, m in world.characters.items())
        if last is None or not same:
            known.check = LimbCheck(
                world, known.edit.who, known.joints, span, rate=RATE, margin=known.margin, exact=exact
            )
        else:
            known.check = last.elsewhere(world, moved, exact)
        return known.check

    def _near(self, world: World, who: str, moved: Sequence[str], times: Array, room: float) -> NDArray[np.bool_]:
        """Mask of times (T,) at which a character, without repairs, is nearer than `room` to the dragged objects."""
        if who not in self._balls:
            self._balls[who] = balls_of(self.base, who)
        return self._balls[who].near(world, moved, times, room)

    def _meetings(
        self,
        world: World,
        exact: ExactWorld,
        moved: Sequence[str],
        edits: Sequence[Edit],
        lost: Sequence[Interval],
        rate: float,
    ) -> list[Collision]:
        """Collisions of anyone with the dragged objects, and with anything in intervals whose repair was `lost`."""
        begin, end = world.span
        times = np.linspace(begin, end, max(int((end - begin) * rate), 1) + 1)
        near = np.zeros(len(times), dtype=bool)
        for who in world.characters:
            near |= self._near(world, who, moved, times, _TOUCH)
        for edit in edits:
            near |= (times >= edit.during[0]) & (times <= edit.during[1])
        found = meetings(world, exact, times[near], moved)
        inside = np.zeros(len(times), dtype=bool)
        for begin, end in lost:
            inside |= (times >= begin) & (times <= end)
        return found + meetings(world, exact, times[inside])
