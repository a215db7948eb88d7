"""Live repair while an object is dragged: the last answer of the optimiser is the seed of the next, some rounds each.

Takes milliseconds instead of a second, and proves nothing. Only motion near the dragged object is looked at.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import composed
from elbowroom.plan.checks.accept import hits
from elbowroom.plan.checks.allowed import at_work, freeze_grips, with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of, collision_episodes
from elbowroom.plan.optimise import seeds
from elbowroom.plan.optimise.balls import Nearby, measured
from elbowroom.plan.optimise.exact import frames_of
from elbowroom.plan.optimise.solve import ROUNDS, Answer, WindowSeed, optimise
from elbowroom.plan.optimise.window import Window
from elbowroom.plan.repair.ladder import edit_of
from elbowroom.plan.repair.nearness import Balls, balls_of, meetings
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.problem import limb_seeds, near_in_time, window_about, with_more_room
from elbowroom.plan.repair.repair import ASIDE, USUAL
from elbowroom.plan.state.result import Plan
from elbowroom.spaces.styles import CLOSE, StyleLike, style_of
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Interval
from elbowroom.world.world import World

# Seconds around a collision that limbs, and bodies, change, tried in turn.
_LIMB_PADS_S, _BODY_PADS_S = (0.7,), (1.2, 2.0)
# Seconds that a known answer must have before and after a collision to be gone on with.
_LEAST_S = 0.3
# Rounds of the optimiser from the last answer, at first and where these do not suffice.
_ROUNDS, _MORE_ROUNDS = 3, 8
# Rounds of a search while an object is dragged, where what it finds is gone on with; and how long such a one may take.
_SEARCH_ROUNDS, _HURRIED_S = 10, 1.0
# What a part may lack of its room, metres, by its balls, which stand out from it.
_LACK_M = 0.012
# How slowly an answer that is gone on with follows, so that it does not fall into what it avoids.
_SLOW = 1.0
# What joint ranges weigh beside what they weigh in a repair, which tries again where a joint is beyond its range.
_FIRM = 10.0
# What obstacles weigh at least and at most when an answer is gone on with, beside what they weigh at first.
_HARD = (4.0, 16.0)
# Room that parts keep of what they were given before, metres.
_MOST_MORE_M = 0.01
# The same of what a hurried search finds, which is gone on with.
_FIRST_LACK_M = 0.025
# The same of a search that has time: what is left is corrected, as in a repair.
_SURE_LACK_M = 0.02
# Rounds in which what is left gets more room, while an object moves and where it rests.
_CORRECTIONS, _CORRECTIONS_SURE = 1, 4
# Samples per second at which what is left is looked for, and where the drag has ended.
_SAMPLES, _SAMPLES_SURE = 30.0, 120.0
# Distance to a dragged object that matters, metres.
_TOUCH_M = 0.03
# Distance that an object must move before a search that failed is repeated, metres.
_ELSEWHERE_M = 0.05
# Chains of limbs that give way by themselves.
_LIMBS = ("arm", "leg")


@dataclass(frozen=True, eq=False)
class _Solved:
    """A group of collisions with the window around it and its answer."""

    group: list[CollisionEpisode]
    window: Window
    answer: Answer


@dataclass(eq=False)
class LiveRepair:
    """Repairs of one world while objects in it are dragged; results stay close to the motions in `base`."""

    base: World
    seed: int = 0
    style: StyleLike = None
    _learned: list[tuple[Edit, frozenset[str]]] = field(default_factory=list)
    _solved: list[_Solved] = field(default_factory=list)
    _balls: dict[str, Balls] = field(default_factory=dict)
    _contacts: tuple[Contact, ...] = ()
    _failed_at: Array | None = None
    _near: dict[str, Nearby] = field(default_factory=dict)
    _tried: int = 0
    _unfinished: bool = False
    _also: tuple[tuple[str, ...], bool] | None = None

    def __post_init__(self) -> None:
        self.base = freeze_grips(self.base)

    def learn(self, plan: Plan) -> None:
        """Keep the edits of a plan for the same motions, with the names of what each avoids."""
        for edit in plan.edits:
            held = {hold.object for hold in self.base.holds if hold.by == edit.who}
            near = [c for c in plan.collisions if c.during[0] <= edit.during[1] and edit.during[0] <= c.during[1]]
            names = frozenset(name for c in near if edit.who in c.who or held & {*c.pair} for name in c.pair)
            if not edit.muted and edit.who in self.base.characters:
                self._learned.append((edit, names))

    def contacts(self) -> tuple[Contact, ...]:
        """Contacts of recorded characters with themselves and the floor that the last motion may have, for proofs."""
        return self._contacts

    def again(self, world: World, moved: Sequence[str], *, sure: bool = False, seconds: float = math.inf) -> Plan:
        """A motion for a world in which objects in `moved` have moved; 'partial' where they still collide.

        `moved` names objects of the world, not meshes of its scene. With `sure`, it is sampled more densely. Nothing
        more is tried after `seconds`.
        """
        for name in moved:
            if name not in world.objects:
                raise UnknownName("object that was moved", name, world.objects)
        until = time.perf_counter() + seconds
        kept = [edit for edit, avoided in self._learned if avoided.isdisjoint(moved)]
        below = world.with_(characters=self._with(kept), holds=self.base.holds)
        found = self._meetings(below, moved, kept, sure)
        if not found and self._needed(below, moved):
            kept = [edit for edit, _ in self._learned]
            below = world.with_(characters=self._with(kept), holds=self.base.holds)
            found = self._meetings(below, moved, kept, sure)
        at = np.concatenate([world.objects[name].path(0.0)[:3, 3] for name in moved])
        now, edits = below, kept
        if not found:
            self._solved, self._failed_at, self._tried = [], None, 0
        elif self._failed_at is None or sure or float(np.linalg.norm(at - self._failed_at)) > _ELSEWHERE_M:
            now, edits, found = self._cleared(below, kept, found, moved, sure, until)
            self._failed_at = at if found and not self._unfinished else None
        self._contacts = tuple(contact for edit in edits for contact in edit.contacts)
        why = f"{' collides with '.join(found[0].pair)} at {found[0].during[0]:.2f} s" if found else ""
        result = now.with_(contacts=world.contacts)
        return Plan("partial" if found else "found", result, tuple(edits), why, base=self.base.characters)

    def _needed(self, below: World, moved: Sequence[str]) -> bool:
        """Return whether edits that avoid moved objects are necessary without these, too; found out once."""
        if self._also is None or self._also[0] != tuple(moved):
            spans = [edit.during for edit, avoided in self._learned if not avoided.isdisjoint(moved)]
            times = np.unique([t for a, b in spans for t in np.arange(a, b, 1.0 / _SAMPLES)])
            alone = below.with_(objects={name: thing for name, thing in below.objects.items() if name not in moved})
            self._also = tuple(moved), bool(spans and meetings(alone, ExactWorld(alone), times))
        return self._also[1]

    def _with(self, edits: Sequence[Edit]) -> dict[str, Clip]:
        """Motions with some edits."""
        layers = {who: [edit.layer for edit in edits if edit.who == who] for who in self.base.characters}
        clips = {who: clip_of(self.base, who) for who in layers}
        return {who: composed(clips[who], own) if own else clips[who] for who, own in layers.items()}

    @cached_property
    def _options(self) -> RepairOptions:
        sources = {who: clip_of(self.base, who) for who in self.base.characters}
        return RepairOptions(sources, self.seed, style_of(self.style, CLOSE), USUAL, False, ASIDE)

    def _cleared(
        self,
        below: World,
        kept: Sequence[Edit],
        found: list[Collision],
        moved: Sequence[str],
        sure: bool,
        until: float,
    ) -> tuple[World, list[Edit], list[Collision]]:
        """The world without collisions as far as there are answers, the edits, and what is left."""
        exact, solved = ExactWorld(below), list[_Solved]()
        for who in below.characters:
            for group in near_in_time(collision_episodes(exact, who, found)):
                one = self._on(below, group, moved) or self._anew(below, group, until)
                solved += [] if one is None else [one]
        self._solved = solved
        thorough = sure or until - time.perf_counter() > _HURRIED_S
        corrections, rounds = (_CORRECTIONS_SURE, ROUNDS) if thorough else (_CORRECTIONS, _ROUNDS)
        for correction in range(1 + corrections):
            now, edits = self._made(below, kept)
            found = self._meetings(now, moved, edits, sure)
            if sure and not found:
                found = _rejected(now, [edit for edit in edits if edit not in kept])
            if not found or not self._solved or correction == corrections:
                break
            self._solved = [_with_room(one, found, rounds) for one in self._solved]
        return now, edits, found

    def _made(self, below: World, kept: Sequence[Edit]) -> tuple[World, list[Edit]]:
        """The world with the answers, as far as limbs reach, and the edits."""
        world, edits = below, list(kept)
        for one in self._solved:
            window = replace(one.window, world=world, clip=clip_of(world, one.window.who))
            made = frames_of(one.window, one.answer)
            if made is not None:
                edit, new = edit_of(window, one.answer, made, one.group, self._options)
                world = world.with_(characters={**world.characters, window.who: new})
                edits.append(edit)
        return world, edits

    def _on(self, below: World, group: list[CollisionEpisode], moved: Sequence[str]) -> _Solved | None:
        """The answer that the last one, or a learned edit, leads to; None where it lacks room."""
        who, clip = group[0].who, clip_of(below, group[0].who)
        begin, end = min(e.during[0] for e in group), max(e.during[1] for e in group)
        for one in self._solved:
            frames = one.window.first, one.window.last
            if one.window.who == who and _around(clip, frames, one.window.free, (begin, end)):
                window = window_about(below, clip, group, self._options, 0.0, one.window)
                more = {name: min(metres, _MOST_MORE_M) for name, metres in one.window.more.items()}
                if window is not None:
                    window = replace(window, more=more).beside(one.window)
                    found = _on_from(window, group, _next(one.answer))
                    if found is not None:
                        return found
        for edit, avoided in self._learned:
            if edit.who != who or avoided.isdisjoint(moved):
                continue
            first, last = (int(np.searchsorted(clip.times, t - 1e-6)) for t in edit.during)
            whole = Window(below, who, clip, first, min(last, len(clip) - 1), {}, {}, 0.0)
            window = window_about(
                below, clip, group, self._options, 0.0, replace(whole, before=self._nearby(below, who))
            )
            if window is not None and _around(clip, (whole.first, whole.last), whole.free, (begin, end)):
                joints = tuple(j for j in window.whole if j in edit.layer.joints)
                seed = seeds.from_clip(window, edit.limb, joints, composed(clip, [edit.layer]))
                found = _on_from(window, group, _firm(seed))
                if found is not None:
                    return found
        return None

    def _anew(self, below: World, group: list[CollisionEpisode], until: float) -> _Solved | None:
        """The cheapest answer of the first window that has one: of limbs where only these collide, else of the body.

        While an object is dragged the first answer will do.
        A search that runs out of time goes on at the next call where it was.
        """
        done, hurried = 0, until - time.perf_counter() < _HURRIED_S
        rounds = _SEARCH_ROUNDS if hurried else ROUNDS
        for window, ways in self._ways(below, group, hurried):
            best: Answer | None = None
            for seed in ways:
                if time.perf_counter() > until:
                    break
                done += 1
                if done <= self._tried:
                    continue
                answer = optimise(window, _firm(seed), rounds)
                free = answer.lack <= _FIRST_LACK_M if hurried else answer.lack <= _SURE_LACK_M and answer.ranged
                if free and (best is None or answer.cost < best.cost):
                    best = answer
                if best is not None and hurried:
                    break
            self._unfinished = best is None and time.perf_counter() > until
            if best is not None or self._unfinished:
                self._tried = done if best is None else 0
                return None if best is None else _Solved(group, window, best)
        self._tried = 0
        return None

    def _window(self, below: World, group: list[CollisionEpisode], pad: float) -> Window | None:
        """The window around a group, with the distances that were measured before."""
        who, clip = group[0].who, clip_of(below, group[0].who)
        window = window_about(below, clip, group, self._options, pad)
        return None if window is None else replace(window, before=self._nearby(below, who))

    def _nearby(self, below: World, who: str) -> Nearby:
        """Distances around a character's motion, measured once."""
        if who not in self._near:
            self._near[who] = measured(below, who, clip_of(below, who).times)
        return self._near[who]

    def _ways(
        self, below: World, group: list[CollisionEpisode], hurried: bool
    ) -> Iterator[tuple[Window, Iterable[WindowSeed]]]:
        """Windows with seeds of which the cheapest answer is taken. Bodies at work stay where they are."""
        who, clip, options = group[0].who, clip_of(below, group[0].who), self._options
        chains = clip.character.chains
        alone = all(e.limb in chains and chains[e.limb].kind in _LIMBS for e in group)
        pushed: list[tuple[Window, Iterable[WindowSeed]]] = []
        limbs, bodies = (
            [(pad, whole) for pad in pads] for pads, whole in ((_LIMB_PADS_S, False), (_BODY_PADS_S, True))
        )
        for pad, whole in (*limbs, *bodies) if alone else (*bodies, *limbs):
            w = self._window(below, group, pad)
            if w is None or (whole and at_work(below, who, (float(w.times[0]), float(w.times[-1])))):
                continue
            plain = [seeds.unpushed(w)] if whole else limb_seeds(w, group, options)
            yield w, chain(seeds.sidesteps(w, options.max_aside) if whole else (), plain)
            ways = w, chain.from_iterable(seeds.pushed(w, seed) for seed in plain)
            if whole or hurried:  # of many ways that are pushed, few are free: a body may be aside in the time of two
                pushed.append(ways)
            else:
                yield ways
        yield from pushed

    def _meetings(self, world: World, moved: Sequence[str], edits: Sequence[Edit], sure: bool) -> list[Collision]:
        """Collisions of anyone with the dragged objects, and with anything during the edits."""
        (begin, end), rate = world.span, _SAMPLES_SURE if sure else _SAMPLES
        times = np.linspace(begin, end, max(int((end - begin) * rate), 1) + 1)
        near, changed = np.zeros(len(times), dtype=bool), np.zeros(len(times), dtype=bool)
        for who in world.characters:
            if who not in self._balls:
                self._balls[who] = balls_of(self.base, who)
            near |= self._balls[who].near(world, moved, times, _TOUCH_M)
        for edit in edits:
            changed |= (times >= edit.during[0]) & (times <= edit.during[1])
        contacts = tuple(contact for edit in edits for contact in edit.contacts)
        world = with_contacts(world, contacts)
        exact = ExactWorld(world)
        return meetings(world, exact, times[near & ~changed], moved) + meetings(world, exact, times[changed])


def _rejected(world: World, edits: Sequence[Edit]) -> list[Collision]:
    """Collisions of people whose motion is changed that a proof finds during edits."""
    found = []
    for edit in edits:
        mine = {edit.who, *(hold.object for hold in world.holds if hold.by == edit.who)}
        left = hits(with_contacts(world, [c for e in edits for c in e.contacts]), edit.during)
        found += [hit for hit in left if isinstance(hit, Collision) and mine & {*hit.who, *hit.pair}]
    return found


def _around(clip: Clip, frames: tuple[int, int], free: tuple[bool, bool], during: Interval) -> bool:
    """Return whether frames of a clip begin before an interval and end after it, with time to leave and return."""
    begin, end = (float(clip.times[k]) for k in frames)
    return (free[0] or begin + _LEAST_S <= during[0]) and (free[1] or during[1] <= end - _LEAST_S)


def _firm(seed: WindowSeed) -> WindowSeed:
    """The seed with firm joint ranges, unless feet that stand need their legs."""
    return seed if seed.rooted else replace(seed, firm=_FIRM)


def _next(answer: Answer) -> WindowSeed:
    """The seed that goes on from an answer."""
    hard = float(np.clip(answer.hard, *_HARD))
    return replace(answer.seed, start=answer.x, way=(0.0, 0.0, 0.0), hard=hard, slow=_SLOW, firm=_FIRM)


def _on_from(window: Window, group: list[CollisionEpisode], seed: WindowSeed) -> _Solved | None:
    """The answer that a seed leads to in a few rounds; None where it lacks room."""
    enough = _LACK_M + max((window.more.get(part.name, 0.0) for part in window.parts), default=0.0)
    for rounds in (_ROUNDS, _MORE_ROUNDS):
        answer = optimise(window, seed, rounds)
        if answer.lack <= enough:
            return _Solved(group, window, answer)
        seed = _next(answer)
    return None


def _with_room(one: _Solved, found: Sequence[Collision], rounds: int) -> _Solved:
    """The answer with more room for what is left of collisions in its window."""
    window = one.window
    begin, end = float(window.times[0]), float(window.times[-1])
    mine = {part.name for part in window.parts}
    left = [c for c in found if mine & {*c.pair} and begin <= c.during[1] and c.during[0] <= end]
    if not left:
        return one
    wider = with_more_room(window, left)
    return _Solved(one.group, wider, optimise(wider, _next(one.answer), rounds))
