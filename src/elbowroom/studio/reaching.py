"""A drag of what tasks are about, or of a person: the motion goes along and a hand follows; it is not planned yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.plan.edit import changed_by, cut
from elbowroom.plan.hands import shifted
from elbowroom.plan.places import surface_at
from elbowroom.plan.result import Plan
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.bumps import Bumps
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.edits import tasks_of
from elbowroom.studio.errands import Errand, errands_about
from elbowroom.studio.places import moved_world, places_of, with_place
from elbowroom.studio.preview import Reacher
from elbowroom.studio.standing import entry_names
from elbowroom.world.certificate import Changed, certify
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# Metres by which something may be moved for the motion to be kept, and by which feet may differ; how much faster a
# hand may be.
_ALONG, _FEET, _FASTER = 0.15, 0.003, 1.15


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown while something is dragged: a motion that is not proven, and why a hand does not get there."""

    plan: Plan
    why: str = ""


class Reaching:
    """Something that is being moved: the document, its storyboard and its motion as they were when the drag began.

    `t` is the time that is looked at. Where a motion does not have its hand at what it goes to (`exact` is false), the
    hand is brought there anew.
    """

    def __init__(
        self, name: str, document: Document, board: Storyboard, plan: Plan | None, t: float, *, exact: bool = True
    ) -> None:
        self.name, self.document, self.board, self.plan = name, document, board, plan
        self.place = places_of(document, board)[name]
        self.names = entry_names(board, name)
        world = board.world if plan is None else plan.world
        self._moving = replace(board, world=world)
        about = errands_about(document, plan, name)
        self.errand = min(about, key=lambda e: abs(t - e.at) if e.at is not None else 0.0, default=None)
        self._others = len(about) > 1
        self._exact = exact and self.errand is not None and self.errand.hand is not None
        self._reacher = None if self.errand is None else Reacher(world, board.world, self.errand, self._when(t))

    def _when(self, t: float) -> float:
        assert self.errand is not None
        return t if self.errand.at is None else float(self.errand.at)

    @property
    def at(self) -> float | None:
        """The time at which what is dragged is to be looked at; None where that is no matter of the drag."""
        errand = self.errand
        return None if errand is None or self.place.kind == "character" else errand.at

    def follow(self, T: Array) -> Shown:
        """The motion with the thing at `T` (4, 4), a hand at it as well as it can."""
        why = ""
        own = self.errand is not None and self.errand.who == self.name
        board = self._moving
        if own:  # she reaches as seen by herself, and all of it is moved then
            reached, why = self._reached(board.world, T, self._D(T))
            board = replace(board, world=reached)
        moved = moved_world(self.document, board, self.name, T, self.place)
        if self.errand is not None and not own:
            moved, why = self._reached(moved, T, np.eye(4))
        if self.place.kind == "character":
            why = why or self._bumps.first(self._D(T))
        plan = self.plan or Plan("not-certified", moved)
        return Shown(plan.with_(status="not-certified", world=moved, certificate=None, why=""), why)

    def _D(self, T: Array) -> Array:
        """How what is dragged to `T` was moved, (4, 4) in the world."""
        return np.asarray(T @ inverse(self.place.T))

    @cached_property
    def _bumps(self) -> Bumps:
        """What a person who is dragged runs into: hands are planned again, so without what they do."""
        verbs = [verb for verb, told in tasks_of(self.document) if told.get("who") == self.name]
        hands = bool(verbs) and "repair" not in verbs
        return Bumps(self.board.world if hands else self._moving.world, self.name)

    def _reached(self, world: World, T: Array, D: Array) -> tuple[World, str]:
        """A world with the errand's hand where it has to go, by somebody who is yet to be moved by `D` (4, 4)."""
        reacher, errand = self._reacher, self.errand
        assert reacher is not None and errand is not None
        to = T[:3, 3].tolist() if self.place.kind == "target" else errand.place
        goals = reacher.goals(world, to, inverse(D))
        try:
            if self._exact:
                goal = reacher.planned(inverse(D) @ self._hand(world, T, errand))
                return reacher.over(world, goal, goals if errand.verb in ("grab", "open", "close") else ())
            first = next(goals, None)
            if first is None:
                return world, f"{errand.who} knows no way to take {errand.what}."
            return reacher.over(world, first, goals)
        except ElbowroomError as error:  # such as a place on a table that is no longer above it
            return world, str(error)

    def _hand(self, world: World, T: Array, errand: Errand) -> Array:
        """`T_world_hand` (4, 4) that the errand asks for with what is dragged at `T`."""
        assert errand.hand is not None and errand.at is not None
        was = self._moving.world.hand(errand.who, errand.hand, errand.at)
        if self.place.kind == "target":
            return shifted(was, T[:3, 3] - self.place.T[:3, 3])
        if self.name == errand.who:  # what she goes to stays
            return was
        if errand.verb in ("put", "drop") and speaks_of(errand.place, self.name):
            places = [self._surface(w, errand) for w in (self._moving.world, world)]
            return shifted(was, places[1] - places[0])
        return np.asarray(self._D(T) @ was)

    def _surface(self, world: World, errand: Errand) -> Array:
        """Where something is put onto or dropped over in a world, (3,)."""
        assert errand.hand is not None and errand.at is not None
        near = world.hand(errand.who, errand.hand, errand.at)[:3, 3]
        return surface_at(world, str(errand.place), errand.at, errand.told.get("to"), near)

    def kept(self, T: Array, shown: Shown) -> Plan | None:
        """The motion that went along to `T`, proven, where that is as good as one planned anew; None where it is not.

        The hand has to be at the thing as it was planned, no other task may be about it, feet stay, and hands are not
        hurried. What was turned or is far from where it was, what falls, and what a hand moves along a joint is planned
        anew.
        """
        errand, before, by = self.errand, self.plan, self._D(T)
        if errand is None or before is None or not before.found or not self._exact or self._others:
            return None
        still = self.place.kind == "object" and isinstance(self.board.world.objects[self.name].path, Still)
        suits = still or self.place.kind == "target"
        near = float(np.linalg.norm(by[:3, 3])) <= _ALONG and np.allclose(by[:3, :3], np.eye(3), atol=1e-4)
        if not (suits and near) or errand.verb not in ("grab", "reach", "touch", "put"):
            return None
        assert errand.hand is not None and errand.at is not None
        world = shown.plan.world
        if not np.allclose(world.hand(errand.who, errand.hand, errand.at), self._hand(world, T, errand), atol=1e-6):
            return None
        if not _as_calm(before.world, world, errand):
            return None
        whole = Changed(errand.who, tuple(range(len(world.body(errand.who).parents))), errand.during)
        changed = [*changed_by(before.edits), whole]
        if not certify(world, changed=changed, during=errand.during, clearance=False).free:
            return None
        proof = certify(world, changed=changed)
        if not (proof.free and proof.continuous):
            return None
        edits = [replace(edit, trees=()) for edit in before.edits]  # nothing was searched for
        below, clip = before.base[errand.who], world.motion(errand.who)
        assert isinstance(below, Clip) and isinstance(clip, Clip)
        own = iter(cut(below, clip, [edit for edit in edits if edit.who == errand.who]))
        edits = [next(own) if edit.who == errand.who else edit for edit in edits]
        return before.with_(world=world, certificate=proof, edits=tuple(edits))

    def let_go(self, T: Array) -> Document:
        """The document with the thing at `T`."""
        return with_place(self.document, self.board, self.name, T)

    def things_at(self, T: Array, t: float) -> dict[str, Array]:
        """Where things that go along are at a time with what is dragged at `T`; not those that hands have then."""
        D, world = self._D(T), self._moving.world
        if self.place.kind == "static":
            return dict.fromkeys(self.names, T)
        if self.name not in world.objects:
            return {}
        riders = [n for n, entry in self.document.values.get("objects", {}).items() if entry.get("on") == self.name]
        loose = [n for n in (self.name, *riders) if not any(h.object == n and h.during[0] <= t for h in world.holds)]
        return {n: D @ np.asarray(world.objects[n].path(t)) for n in loose}


def _as_calm(before: World, after: World, errand: Errand) -> bool:
    """Whether feet stand as before during an errand, and its hand is hardly faster anywhere than it was somewhere."""
    body = after.body(errand.who)
    times = np.arange(*errand.during, 1.0 / 60.0)
    was, now = (w.motion(errand.who).body.transforms(*w.motion(errand.who).sample(times)) for w in (before, after))
    feet = [body.roles[role] for side in ("left", "right") if (role := f"{side}_toes") in body.roles]
    stray = np.linalg.norm(now[:, feet, :3, 3] - was[:, feet, :3, 3], axis=-1).max(initial=0.0)
    joint = body.hand(str(errand.hand))[0]
    old, new = (np.linalg.norm(np.diff(T[:, joint, :3, 3], axis=0), axis=1).max(initial=0.0) for T in (was, now))
    return bool(stray <= _FEET and new <= _FASTER * old)
