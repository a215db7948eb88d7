"""Live repair while an object is dragged: the last answer of the optimiser is the seed of the next, some rounds each.

Takes milliseconds instead of a second, and proves nothing. Only motion near the dragged object is looked at.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from elbowroom.errors import UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.layers import composed
from elbowroom.plan.checks.allowed import freeze_grips, with_contacts
from elbowroom.plan.checks.episodes import CollisionEpisode, clip_of, collision_episodes
from elbowroom.plan.optimise import seeds
from elbowroom.plan.optimise.exact import frames_of
from elbowroom.plan.optimise.solve import Answer, WindowSeed, optimise
from elbowroom.plan.optimise.window import Window
from elbowroom.plan.repair.ladder import edit_of
from elbowroom.plan.repair.nearness import Balls, balls_of, meetings
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.problem import limb_seeds, near_in_time, window_about
from elbowroom.plan.repair.repair import ASIDE, USUAL
from elbowroom.plan.state.result import Plan
from elbowroom.spaces.styles import CLOSE, StyleLike, style_of
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.contacts import Contact
from elbowroom.world.edit import Edit
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World

# Seconds around a collision that are changed, tried in turn.
_PADS_S = (0.7, 1.2, 2.0)
# Rounds of the optimiser from the last answer, at first and where these do not suffice.
_ROUNDS, _MORE_ROUNDS = 3, 8
# What a part may lack of its room, metres, by its balls, which stand out from it.
_LACK_M = 0.012
# Samples per second at which what is left is looked for, and where the drag has ended.
_SAMPLES, _SAMPLES_SURE = 30.0, 60.0
# Distance to a dragged object that matters, metres.
_TOUCH_M = 0.03
# Distance that an object must move before a search that failed is repeated, metres.
_ELSEWHERE_M = 0.05


# A window and its answer.
Solved = tuple[Window, Answer]


@dataclass(eq=False)
class LiveRepair:
    """Repairs of one world while objects in it are dragged; results stay close to the motions in `base`."""

    base: World
    seed: int = 0
    style: StyleLike = None
    _learned: list[tuple[Edit, frozenset[str]]] = field(default_factory=list)
    _answers: dict[str, list[Solved]] = field(default_factory=dict)
    _balls: dict[str, Balls] = field(default_factory=dict)
    _contacts: tuple[Contact, ...] = ()
    _failed_at: Array | None = None

    def __post_init__(self) -> None:
        self.base = freeze_grips(self.base)

    def learn(self, plan: Plan) -> None:
        """Keep the edits of a plan for the same motions, with the names of what each avoids."""
        for edit in plan.edits:
            near = [c for c in plan.collisions if c.during[0] <= edit.during[1] and edit.during[0] <= c.during[1]]
            names = frozenset(name for c in near if edit.who in c.who for name in c.pair)
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
        rate = _SAMPLES_SURE if sure else _SAMPLES
        edits = [edit for edit, avoided in self._learned if avoided.isdisjoint(moved)]
        now = world.with_(characters=self._with(edits), holds=self.base.holds)
        found = self._meetings(now, moved, edits, rate)
        if not found:
            self._answers, self._failed_at = {}, None
        at = np.concatenate([world.objects[name].path(0.0)[:3, 3] for name in moved])
        tried = self._failed_at is None or sure or float(np.linalg.norm(at - self._failed_at)) > _ELSEWHERE_M
        if found and tried:
            now, more = self._cleared(now, found, until)
            edits += more
            found = self._meetings(now, moved, edits, rate)
        self._failed_at = at if found and tried else self._failed_at if found else None
        self._contacts = tuple(contact for edit in edits for contact in edit.contacts)
        why = f"{' collides with '.join(found[0].pair)} at {found[0].during[0]:.2f} s" if found else ""
        result = now.with_(contacts=world.contacts)
        return Plan("partial" if found else "found", result, tuple(edits), why, base=self.base.characters)

    def _with(self, edits: Sequence[Edit]) -> dict[str, Clip]:
        """Motions with some edits."""
        layers = {who: [edit.layer for edit in edits if edit.who == who] for who in self.base.characters}
        return {who: composed(clip_of(self.base, who), own) for who, own in layers.items()}

    def _options(self) -> RepairOptions:
        sources = {who: clip_of(self.base, who) for who in self.base.characters}
        return RepairOptions(sources, self.seed, style_of(self.style, CLOSE), USUAL, False, ASIDE)

    def _cleared(self, world: World, found: Sequence[Collision], until: float) -> tuple[World, list[Edit]]:
        """The world without collisions as far as there are answers, and the edits."""
        exact, before, edits = ExactWorld(world), self._answers, []
        self._answers = {}
        for who in world.characters:
            for group in near_in_time(collision_episodes(exact, who, found)):
                solved = self._again(world, group, before.get(who, ())) or self._anew(world, group, until)
                made = None if solved is None else frames_of(*solved)
                if solved is not None and made is not None:
                    self._answers.setdefault(who, []).append(solved)
                    edit, new = edit_of(*solved, made, group, self._options())
                    world = world.with_(characters={**world.characters, who: new})
                    edits.append(edit)
        return world, edits

    def _again(self, below: World, group: list[CollisionEpisode], before: Sequence[Solved]) -> Solved | None:
        """The answer that the last one leads to; None where it lacks room."""
        begin, end = min(e.during[0] for e in group), max(e.during[1] for e in group)
        clip = clip_of(below, group[0].who)
        for window, answer in before:
            inside = clip.times[window.first] < begin and end < clip.times[window.last]
            now = window_about(below, clip, group, self._options(), 0.0, window) if inside else None
            for rounds in (_ROUNDS, _MORE_ROUNDS) if now is not None else ():
                assert now is not None
                answer = optimise(now, replace(answer.seed, start=answer.x, way=(0.0, 0.0, 0.0)), rounds)
                if answer.lack <= _LACK_M:
                    return now, answer
        return None

    def _anew(self, below: World, group: list[CollisionEpisode], until: float) -> Solved | None:
        """The cheapest answer of the shortest window that has one."""
        options = self._options()
        for pad in _PADS_S:
            window = window_about(below, clip_of(below, group[0].who), group, options, pad)
            if window is None:
                continue
            plain = [*limb_seeds(window, group, options), seeds.unpushed(window)]
            pushed = (way for seed in plain for way in seeds.pushed(window, seed))
            aside = seeds.sidesteps(window, ASIDE) if pad > _PADS_S[0] else ()
            for ways in (plain, pushed, aside):
                best = self._cheapest(window, ways, until)
                if best is not None or time.perf_counter() > until:
                    return None if best is None else (window, best)
        return None

    def _cheapest(self, window: Window, ways: Iterable[WindowSeed], until: float) -> Answer | None:
        """The cheapest answer of some seeds."""
        best: Answer | None = None
        for seed in ways:
            answer = optimise(window, seed)
            if answer.lack <= _LACK_M and (best is None or answer.cost < best.cost):
                best = answer
            if time.perf_counter() > until:
                break
        return best

    def _meetings(self, world: World, moved: Sequence[str], edits: Sequence[Edit], rate: float) -> list[Collision]:
        """Collisions of anyone with the dragged objects, and with anything during the edits."""
        begin, end = world.span
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
        return meetings(world, exact, times[near | changed], moved) + meetings(world, exact, times[changed])
