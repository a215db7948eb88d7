"""Drag of a task target or a character: the motion moves along and a hand follows, without planning."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import inverse
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.hands import shifted
from elbowroom.plan.checks.places import surface_at
from elbowroom.plan.state.edit import changed_by, laid_in_turn
from elbowroom.plan.state.result import Plan
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.studio.document import Document, speaks_of
from elbowroom.studio.edits import tasks_of
from elbowroom.studio.messages import seconds
from elbowroom.studio.places import entry_names, moved_world, places_of, with_place
from elbowroom.studio.preview import Carrying, Reacher
from elbowroom.studio.task_targets import TaskTarget, targets_about
from elbowroom.world.certificate import Changed, certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import Snapshot, World

# Displacement for which the motion is kept, and change of the feet, metres; and factor on the speed of a hand.
_ALONG, _FEET, _FASTER = 0.15, 0.003, 1.15


@dataclass(frozen=True, eq=False)
class Shown:
    """Preview during a drag: an unproven motion, and why a hand does not reach its target."""

    plan: Plan
    why: str = ""


class Reaching:
    """Target or character being dragged, with the document, storyboard and motion at the start of the drag.

    `t` is the time shown. If the motion does not have its hand at the target (`exact` is false), the reach is computed
    again.
    """

    def __init__(
        self, name: str, document: Document, board: Storyboard, plan: Plan | None, t: float, *, exact: bool = True
    ) -> None:
        self.name, self.document, self.board, self.plan = name, document, board, plan
        self.place = places_of(document, board)[name]
        self.names = entry_names(board, name)
        world = board.world if plan is None else plan.world
        self._moving = replace(board, world=world)
        about = targets_about(document, plan, name)
        self.task = min(about, key=lambda e: abs(t - e.at) if e.at is not None else 0.0, default=None)
        self._others = len(about) > 1
        self._exact = exact and self.task is not None and self.task.hand is not None
        self._reacher: Reacher | Carrying | None = None
        if self.task is not None and plan is not None and self.task.verb == "move":
            self._reacher = Carrying(plan, self.task)
        elif self.task is not None:
            self._reacher = Reacher(world, board.world, self.task, t if self.task.at is None else float(self.task.at))

    @property
    def at(self) -> float | None:
        """Time at which to show the drag; None if any time will do."""
        task = self.task
        return None if task is None or self.place.kind == "character" else task.at

    def follow(self, T: Array) -> Shown:
        """Motion with the object at `T` (4, 4), and the hand as close to it as possible."""
        why = ""
        own = self.task is not None and self.task.who == self.name
        board = self._moving
        if own:  # she reaches in her own frame, and everything is moved afterwards
            reached, why = self._reached(board.world, T, self._D(T))
            board = replace(board, world=reached)
        moved = moved_world(self.document, board, self.name, T, self.place)
        if self.task is not None and not own:
            moved, why = self._reached(moved, T, np.eye(4))
        if self.place.kind == "character":
            why = why or self._collisions.first(self._D(T))
        plan = self.plan or Plan("not-certified", moved)
        return Shown(plan.with_(status="not-certified", world=moved, certificate=None, why=""), why)

    def _D(self, T: Array) -> Array:
        """Displacement of the dragged object at `T`, (4, 4) in the world."""
        return np.asarray(T @ inverse(self.place.T))

    @cached_property
    def _collisions(self) -> DragCollisions:
        """Collision test of a dragged character, without hand tasks, which are re-planned."""
        verbs = [verb for verb, args in tasks_of(self.document) if args.get("who") == self.name]
        hands = bool(verbs) and "repair" not in verbs
        return DragCollisions(self.board.world if hands else self._moving.world, self.name)

    def _reached(self, world: World, T: Array, D: Array) -> tuple[World, str]:
        """World with the task's hand at its target, for a character that is still to be moved by `D` (4, 4)."""
        reacher, task = self._reacher, self.task
        assert reacher is not None and task is not None
        if isinstance(reacher, Carrying):
            return reacher.over(world, self._D(T))
        to = T[:3, 3].tolist() if self.place.kind == "target" else task.place
        goals = reacher.goals(world, to, inverse(D))
        try:
            if self._exact:
                goal = reacher.planned(inverse(D) @ self._hand(world, T, task))
                return reacher.over(world, goal, goals if task.verb in ("grab", "open", "close") else ())
            first = next(goals, None)
            if first is None:
                return world, f"{task.who} has no grasp for {task.what}."
            return reacher.over(world, first, goals)
        except ElbowroomError as error:  # such as a place on a table that is no longer above it
            return world, str(error)

    def _hand(self, world: World, T: Array, task: TaskTarget) -> Array:
        """Transform `T_world_hand` (4, 4) of the task with the dragged object at `T`."""
        assert task.hand is not None and task.at is not None
        was = self._moving.world.hand(task.who, task.hand, task.at)
        if self.place.kind == "target":
            return shifted(was, T[:3, 3] - self.place.T[:3, 3])
        if self.name == task.who:  # her target stays
            return was
        if task.verb in ("put", "drop") and speaks_of(task.place, self.name):
            places = [self._surface(w, task) for w in (self._moving.world, world)]
            return shifted(was, places[1] - places[0])
        return np.asarray(self._D(T) @ was)

    def _surface(self, world: World, task: TaskTarget) -> Array:
        """Point (3,) in a world that an object is put onto or dropped over."""
        assert task.hand is not None and task.at is not None
        near = world.hand(task.who, task.hand, task.at)[:3, 3]
        return surface_at(world, str(task.place), task.at, task.args.get("to"), near)

    def kept(self, T: Array, shown: Shown) -> Plan | None:
        """Preview at `T`, proven, if it is as good as a new plan; else None.

        The hand must be at the object as planned, no other task may involve it, feet must stay, and hands must not be
        faster. Rotated or distant objects, drops, and fixtures are re-planned.
        """
        task, before, by = self.task, self.plan, self._D(T)
        if task is None or before is None or not before.found or not self._exact or self._others:
            return None
        still = self.place.kind == "object" and isinstance(self.board.world.objects[self.name].path, Still)
        suits = still or self.place.kind == "target"
        near = float(np.linalg.norm(by[:3, 3])) <= _ALONG and np.allclose(by[:3, :3], np.eye(3), atol=1e-4)
        if not (suits and near) or task.verb not in ("grab", "reach", "touch", "put"):
            return None
        assert task.hand is not None and task.at is not None
        world = shown.plan.world
        if not np.allclose(world.hand(task.who, task.hand, task.at), self._hand(world, T, task), atol=1e-6):
            return None
        if not _as_smooth(before.world, world, task):
            return None
        whole = Changed(task.who, tuple(range(len(world.body(task.who).parents))), task.during)
        changed = [*changed_by(before.edits), whole]
        if not certify(world, changed=changed, during=task.during, clearance=False, contacts="never").free:
            return None
        proof = certify(world, changed=changed)
        if not (proof.free and proof.continuous):
            return None
        edits = [replace(edit, trees=()) for edit in before.edits]  # nothing was searched
        below, clip = before.base[task.who], world.motion(task.who)
        assert isinstance(below, Clip) and isinstance(clip, Clip)
        own = iter(laid_in_turn([edit for edit in edits if edit.who == task.who], below, clip))
        edits = [next(own) if edit.who == task.who else edit for edit in edits]
        return before.with_(world=world, certificate=proof, edits=tuple(edits))

    def let_go(self, T: Array) -> Document:
        """Document with the object at `T`."""
        return with_place(self.document, self.board, self.name, T)

    def things_at(self, T: Array, t: float) -> dict[str, Array]:
        """Positions at a time of objects that move along with the dragged one at `T`, except those in hands."""
        D, world = self._D(T), self._moving.world
        if self.place.kind == "static":
            return dict.fromkeys(self.names, T)
        if self.name not in world.objects:
            return {}
        riders = [n for n, entry in self.document.values.get("objects", {}).items() if entry.get("on") == self.name]
        loose = [n for n in (self.name, *riders) if not any(h.object == n and h.during[0] <= t for h in world.holds)]
        return {n: D @ np.asarray(world.objects[n].path(t)) for n in loose}


def _as_smooth(before: World, after: World, task: TaskTarget) -> bool:
    """Return whether feet stay during a task, and the top speed of its hand hardly rises."""
    body = after.body(task.who)
    times = np.arange(*task.during, 1.0 / 60.0)
    was, now = (w.motion(task.who).body.transforms(*w.motion(task.who).sample(times)) for w in (before, after))
    feet = [body.roles[role] for side in ("left", "right") if (role := f"{side}_toes") in body.roles]
    stray = np.linalg.norm(now[:, feet, :3, 3] - was[:, feet, :3, 3], axis=-1).max(initial=0.0)
    joint = body.hand(str(task.hand))[0]
    old, new = (np.linalg.norm(np.diff(T[:, joint, :3, 3], axis=0), axis=1).max(initial=0.0) for T in (was, now))
    return bool(stray <= _FEET and new <= _FASTER * old)


# Sampled times.
_SAMPLES = 32


class DragCollisions:
    """Collision test for a character moved as a whole, with the objects it holds."""

    def __init__(self, world: World, who: str) -> None:
        self._who = who
        self._holds = [hold for hold in world.holds if hold.by == who]
        self._mine = {who, *(hold.object for hold in self._holds)}
        self._exact = ExactWorld(world)
        parts = self._exact.parts
        ends = ((parts[a], parts[b]) for a, b in self._exact.index)
        self._pairs = np.flatnonzero(
            [(p.owner in self._mine) != (q.owner in self._mine) and "floor" not in (p.kind, q.kind) for p, q in ends]
        )
        self._record = world.record(np.linspace(*world.span, _SAMPLES))

    def first(self, D: Array) -> str:
        """Sentence on the first collision of the character moved by `D` (4, 4); empty if none is found."""
        exact = self._exact
        for k in range(len(self._record)):
            exact.place_snapshot(self._moved(self._record[k], D))
            for pair in exact.near(0.0, self._pairs).tolist():
                if exact.collides(pair):
                    a, b = (exact.parts[i] for i in exact.index[pair])
                    other = b if a.owner in self._mine else a
                    return f"{self._who} would collide with {other.owner} at {seconds(exact.time)}."
        return ""

    def _moved(self, snapshot: Snapshot, D: Array) -> Snapshot:
        """Snapshot with the character and the objects it holds moved by `D`."""
        t = snapshot.time
        held = {h.object: D @ snapshot.things[h.object] for h in self._holds if h.during[0] <= t < h.during[1]}
        joints = {**snapshot.joints, self._who: D @ snapshot.joints[self._who]}
        return Snapshot(t, joints, {**snapshot.things, **held})
