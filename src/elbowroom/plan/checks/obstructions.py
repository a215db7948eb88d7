"""Obstructions: targets and objects inside meshes of the scene, found before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.plan.checks.places import alone, inside_of, place_for, turned
from elbowroom.plan.tasks import PlacingTask
from elbowroom.world.certificate_findings import Collision
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import Snapshot, World

# A point deeper than this in a solid cannot be held, metres: fingers do not close around so much.
IN_HAND_M = 0.05
# A point to touch may be this deep in something, metres: what is touched is the surface before it.
BEHIND_M = 0.05
# An object deeper than this in a wall does not stand there, metres.
_PRESSED_M = 0.02
# Lengths of shifts that part an object from what it stands in, as shares of the deepest contact.
_SHARES = np.array([1.0, 0.4, 0.2, 0.1, 0.04])
# Distances that such an object is raised, metres, to see whether it is free there.
_RISES_M = np.arange(1, 11) / 100.0
# Lengths below this are told in millimetres, metres.
_SHORT_M = 0.02


def inside(world: World, at: Any, deepest: float) -> tuple[str, float] | None:
    """Description and depth in metres of the solid around a point (3,) deeper in it than `deepest`; None for others."""
    if np.shape(at) != (3,) or not np.isfinite(np.asarray(at, dtype=float)).all():
        return None
    found = inside_of(world, np.asarray(at, dtype=float), deepest)
    return None if found is None else (inside_text(*found), found[1])


def wedged(world: World, name: str) -> tuple[str, float] | None:
    """Description and depth in metres of an object that is stuck in a mesh of the scene, deeper than any contact
    may be; None if it is not."""
    thing = world.objects.get(name)
    if thing is None or not isinstance(thing.path, Still) or any(hold.object == name for hold in world.holds):
        return None
    exact, places = alone(world, name, world.span[0])
    exact.place_snapshot(Snapshot(world.span[0], {}, places))
    for k in exact.near(0.0).tolist():
        solid = next(iter({*exact.pairs[k]} - {name}))
        if name not in exact.pairs[k] or solid not in world.static or not exact.hit(k):
            continue
        shifts = world.caps.contact * _SHARES
        if not any(np.isfinite(exact.separation(k, float(most))) for most in shifts):
            depth = -(exact.overlap(k) or 0.0)
            rise = _rise_out(exact, name, places)
            where = f"{inside_text(solid, depth)}; move it out"
            where = where if rise is None else f"inside {solid}: raise it by {100.0 * rise:.0f} cm"
            return f"grab {name}: it starts {where}", depth
    return None


def _rise_out(exact: ExactWorld, thing: str, places: Mapping[str, Array]) -> float | None:
    """Distance in metres by which an object among things at placements (4, 4) has to rise to be free of all of them;
    None where a few centimetres do not suffice."""
    for rise in _RISES_M.tolist():
        raised = {**places, thing: transform([0.0, 0.0, rise]) @ places[thing]}
        exact.place_snapshot(Snapshot(0.0, {}, raised))
        if not any(thing in exact.pairs[k] and exact.hit(k) for k in exact.near(0.0).tolist()):
            return float(rise)
    return None


def goal_filled(world: World, task: PlacingTask) -> tuple[str, float] | None:
    """Reason why an object cannot be at the goal of a task, and its depth in a mesh of the scene there, metres."""
    held = {hold.object for hold in world.holds}
    if task.onto is not None or task.object not in world.objects or task.object in held:
        return None
    if task.to is None or np.shape(task.to) != (3,) or not np.isfinite(task.to).all():
        return None
    exact, places = alone(world, task.object, world.span[0])
    goal = place_for(world, task, places[task.object], world.span[0])
    met: tuple[str, float] | None = None
    for place in [goal] if task.turn is not None else turned(goal, goal[:3, 3]):
        exact.place_snapshot(Snapshot(world.span[0], {}, {**places, task.object: place}))
        near = [k for k in exact.near(0.0).tolist() if task.object in exact.pairs[k] and exact.hit(k)]
        pairs = [(-(exact.overlap(k) or 0.0), next(n for n in exact.pairs[k] if n != task.object)) for k in near]
        deepest = max([pair for pair in pairs if pair[1] in world.static], default=(0.0, ""))
        if deepest[0] <= _PRESSED_M:
            return None
        depth, name = deepest
        met = met or (f"put {task.object}: at its goal it is {length_text(depth)} inside {name}", depth)
    return met


def inside_text(name: str, depth: float) -> str:
    """Depth in a solid in words."""
    return f"{length_text(depth)} inside {name}"


def length_text(metres: float) -> str:
    """A length in words."""
    return f"{1000.0 * metres:.0f} mm" if metres < _SHORT_M else f"{100.0 * metres:.0f} cm"


def collision_text(collision: Collision) -> str:
    """A collision of a motion in a sentence."""
    a, b = collision.pair
    deep = "" if collision.depth_m is None else f" by {length_text(collision.depth_m)}"
    return f"{a} and {b} overlap{deep} at {collision.during[0]:.2f}–{collision.during[1]:.2f} s"
