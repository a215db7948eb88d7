"""Reasons why there is no motion, and one change that was tried and works."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from elbowroom.errors import ElbowroomError
from elbowroom.geometry.rotations import normalize
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import apply
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.edit import place
from elbowroom.plan.checks.hands import shifted
from elbowroom.plan.checks.obstructions import length_text
from elbowroom.plan.checks.places import resting, target_of
from elbowroom.plan.state.result import Folded, NoCommonGrip, Plan, PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Hand, Task
from elbowroom.stopping import report
from elbowroom.world.allowances import allow, is_foot, recorded_people, supports
from elbowroom.world.exact import ExactWorld, Hit
from elbowroom.world.pairs import FLOOR
from elbowroom.world.paths import Still
from elbowroom.world.world import World

# Distance by which a character is moved, beyond what is missing, towards a target or out of an obstacle, metres.
_NEARER_M = (0.1, 0.3)
_AWAY_M = (0.1, 0.2, 0.3, 0.45)
# Feet deeper than this in the floor stand below it, metres.
_BELOW_M = 0.02
# Obstacles that are removed to see whether they are to blame.
_OBSTACLES = 2
# Heights of a block under an object that nobody can bend down to, and its distance from the object, metres.
_RAISED_M = (0.2, 0.4)
_GAP_M = 5e-4
# Shares of the mass of an object that is too heavy.
_LIGHTER = (0.4, 0.15)
# Delays that are tried for a given time, seconds.
_LATER_S = (1.0, 2.0)


@dataclass(frozen=True)
class Probe:
    """One change to the problem: its description, and the changed problem."""

    text: str
    world: World
    tasks: Sequence[Task]
    settings: Settings


def start_failure(world: World, people: Iterable[str]) -> PlanningFailure | None:
    """Deepest collision of characters in the first frame of their motion; None where they are free."""
    exact = ExactWorld(world.with_(contacts=(*world.contacts, *supports(world))))
    allow(exact, recorded_people(world))
    for who in people:
        held = {hold.object for hold in world.holds if hold.by == who}
        owners = {part.name: part.owner for part in exact.parts}
        hits = [
            hit
            for hit in exact.collisions(_first_frame(world.motion(who)))
            if any(owners[name] == who or owners[name] in held for name in hit.pair)
        ]
        if hits:
            failed = PlanningFailure("start-in-collision", _overlap(exact, who, hits), missing=hits[0].depth or 0.0)
            failed.who = who
            return failed
    return _things_overlap(world, exact)


def _things_overlap(world: World, exact: ExactWorld) -> PlanningFailure | None:
    """Deepest collision at the start of an object on a path with another one, which nobody can resolve."""
    loose = {name for name in world.objects if all(hold.object != name for hold in world.holds)}
    on_paths = {name for name in loose if not isinstance(world.objects[name].path, Still)}
    for hit in exact.collisions(world.span[0]):
        a, b = hit.pair
        if {a, b} <= loose and {a, b} & on_paths:
            deep = "" if hit.depth is None else f" by {length_text(hit.depth)}"
            why = f"{a} and {b} overlap at the start{deep}: move one of them, or change its path"
            return PlanningFailure("start-in-collision", why, missing=hit.depth or 0.0)
    return None


def target_failure(world: World, tasks: Sequence[Task]) -> PlanningFailure | None:
    """Failure for a target that lies inside static geometry; None where there is none."""
    for task in tasks:
        met = task.obstruction(world)
        if met is not None:
            why, depth = met
            failed = PlanningFailure("target-in-collision", why, missing=depth)
            failed.who, failed.task = task.who, task
            return failed
    return None


def _first_frame(motion: Motion) -> float:
    """Time of the first real frame of a motion: some recordings begin with a T pose."""
    return motion.start + motion.source.lead / motion.fps if isinstance(motion, Clip) else motion.span[0]


def _overlap(exact: ExactWorld, who: str, hits: Sequence[Hit]) -> str:
    """Describe the overlap of a character at the start in a sentence."""
    feet = {part.name for part in exact.parts if is_foot(part) and part.owner == who}
    sunk = [hit.depth for hit in hits if FLOOR in hit.pair and feet & set(hit.pair) and hit.depth is not None]
    if sunk and max(sunk) > _BELOW_M:
        return f"{who} stands {length_text(max(sunk))} below the floor at the start"
    (a, b), depth = hits[0].pair, hits[0].depth
    if not a.startswith(f"{who}."):
        a, b = b, a
    deep = "" if depth is None else f" by {length_text(depth)}"
    more = f", and {len(hits) - 1} more pairs" if len(hits) > 1 else ""
    if b.startswith(f"{who}."):
        return f"{a} and {b} already overlap at the start{deep}{more}"
    return f"{a} is already inside {b} at the start{deep}{more}"


def remedy(
    world: World,
    tasks: Sequence[Task],
    settings: Settings,
    failed: PlanningFailure,
    attempt: Callable[[World, Sequence[Task], Settings], Plan],
) -> str:
    """Describe one change with which `attempt` finds a proven motion; empty where none of a few does."""
    once = replace(settings, probes=0)
    for probe in islice(_probes(world, tasks, once, failed), settings.probes):
        if start_failure(probe.world, [task.who for task in tasks]) is not None:
            continue
        report(f"failed; trying {probe.text}")
        try:
            done = attempt(probe.world, probe.tasks, probe.settings)
        except ElbowroomError:  # the change does not apply here: a missing hand, an object that is needed
            continue
        if done.found:
            return f"{probe.text} works (verified)"
    return ""


def _probes(world: World, tasks: Sequence[Task], settings: Settings, failed: PlanningFailure) -> Iterator[Probe]:
    """Changes that may help with a failure, the smallest first."""
    task = failed.task
    if failed.status == "start-in-collision" and task is None:
        if failed.who == "":
            return  # the reason says which objects to move
        yield from _out_of_it(world, tasks, settings, failed)
        return
    if task is None:
        yield from _other_things(world, tasks, settings, failed)
        return
    if failed.missing > 0.0 and failed.status == "target-in-collision" and task.meets_surface:
        return  # the reason says what to move
    in_place = task.object_leads and not task.walks
    if failed.status == "too-little-time" and task.at is not None:
        for later in _LATER_S:
            given = {name: t + later for name in ("at", "back") if (t := getattr(task, name)) is not None}
            changed = [replace(one, **given) if one is task else one for one in tasks]
            yield Probe(f"doing it {later:g} s later", world, changed, settings)
    if failed.status == "out-of-balance" and not in_place:  # bodies fall over with either hand
        yield from _nearer(world, tasks, settings, failed, task)
    yield from _other_hand(world, tasks, settings, task, alone=failed.status != "too-heavy")
    if failed.status == "too-heavy" and not (task.object_leads and task.walks):
        yield from _lighter(world, tasks, settings, task)
        return
    if failed.status in ("target-out-of-reach", "out-of-balance"):
        yield from _swapped(world, tasks, settings, task, task.relaxed())
    if isinstance(failed, Folded | NoCommonGrip) and in_place and task.thing is not None:
        yield from _raised(world, tasks, settings, task.thing)
        return
    if failed.status == "target-out-of-reach" or (failed.status == "out-of-balance" and in_place):
        yield from _nearer(world, tasks, settings, failed, task)
    if failed.status in ("target-in-collision", "target-out-of-reach", "no-path"):
        yield from _swapped(world, tasks, settings, task, task.instead(world))
    if failed.status in ("target-in-collision", "no-path", "not-certified", "start-in-collision"):
        yield from _other_things(world, tasks, settings, failed)


def _nearer(
    world: World, tasks: Sequence[Task], settings: Settings, failed: PlanningFailure, task: Task
) -> Iterator[Probe]:
    """Probe with the character nearer to the target."""
    found = target_of(world, task, world.span[0])
    clip = world.motion(task.who)
    if found is None or not isinstance(clip, Clip):
        return
    name, point = found
    towards = (point - clip.root[0]) * [1.0, 1.0, 0.0]
    for more in _NEARER_M:
        far = round(float(np.ceil(10.0 * (failed.missing + more))) / 10.0, 1)
        if far < float(np.linalg.norm(towards)):
            moved = world.with_character(task.who, place(clip, far * normalize(towards)[:2]))
            yield Probe(f"moving {task.who} {far:.1f} m towards {name}", moved, tasks, settings)


def _raised(world: World, tasks: Sequence[Task], settings: Settings, name: str) -> Iterator[Probe]:
    """Probes with the object on a block, so nobody has to bend down as far."""
    thing, T = world.objects[name], world.frame(name, world.span[0])
    corners = apply(T, thing.mesh.vertices)
    low, high = corners.min(axis=0), corners.max(axis=0)
    for up in _RAISED_M:
        block = box((*(high - low)[:2], up), (*0.5 * (low + high)[:2], low[2] + 0.5 * up))
        raised = replace(thing, path=Still(shifted(T, np.array([0.0, 0.0, up + _GAP_M]))))
        higher = world.with_(objects={**world.objects, name: raised}).with_static("a block", block)
        yield Probe(f"putting {name} on something {up:.1f} m high", higher, tasks, settings)


def _swapped(
    world: World, tasks: Sequence[Task], settings: Settings, task: Task, others: Iterable[tuple[str, Task]]
) -> Iterator[Probe]:
    """Probes with other tasks, described in words, in place of one."""
    for text, other in others:
        yield Probe(text, world, [other if one is task else one for one in tasks], settings)


def _lighter(world: World, tasks: Sequence[Task], settings: Settings, task: Task) -> Iterator[Probe]:
    """Probes with less mass."""
    name = getattr(task, "object", None)
    thing = world.objects.get(name or "")
    if name is None or thing is None or not thing.mass:
        return
    for share in _LIGHTER:
        mass = float(f"{share * thing.mass:.1g}")
        lighter = world.with_(objects={**world.objects, name: replace(thing, mass=mass)})
        yield Probe(f"a mass of {mass:g} kg", lighter, tasks, settings)


def _other_hand(world: World, tasks: Sequence[Task], settings: Settings, task: Task, *, alone: bool) -> Iterator[Probe]:
    """Probe with the other hand, if one was given, otherwise both were tried.

    A move is also tried with both at once, and with the other one only where that may help `alone`.
    """
    yield from _swapped(world, tasks, settings, task, task.with_other_hands(alone))
    if task.hand is None:
        return
    other: Hand = "left" if task.hand == "right" else "right"
    changed = [replace(one, hand=other) if one.who == task.who and one.hand == task.hand else one for one in tasks]
    yield Probe(f"the {other} hand", world, changed, settings)


def _other_things(world: World, tasks: Sequence[Task], settings: Settings, failed: PlanningFailure) -> Iterator[Probe]:
    """Probes without the named obstacles, then with other samples."""
    needed = {name for one in tasks for name in vars(one).values() if isinstance(name, str)}
    needed |= {hold.object for hold in world.holds}
    begin = world.span[0]
    needed |= {under for name in needed & set(world.things) for under in resting(world, name, begin)}
    words = set(re.findall(r"[\w-]+", failed.why))
    for name in [n for n in world.static if n in words and n not in needed][:_OBSTACLES]:
        rest = {n: mesh for n, mesh in world.static.items() if n != name}
        yield Probe(f"removing {name}", world.with_(static=rest), tasks, settings)
    for name in [n for n in world.objects if n in words and n not in needed][:_OBSTACLES]:
        things = {n: thing for n, thing in world.objects.items() if n != name}
        yield Probe(f"removing {name}", world.with_(objects=things), tasks, settings)
    if failed.missing == 0.0:  # other samples do not help a target inside a solid
        seed = settings.seed + 1
        yield Probe(f"another seed ({seed})", world, tasks, replace(settings, seed=seed))


def _out_of_it(world: World, tasks: Sequence[Task], settings: Settings, failed: PlanningFailure) -> Iterator[Probe]:
    """Probes with another start: on the floor, or a little away from the obstacle."""
    who, clip = failed.who, world.motion(failed.who)
    if not isinstance(clip, Clip):
        return
    if "below the floor" in failed.why:
        up = failed.missing
        yield Probe(f"lifting {who} by {up:.2f} m", world.with_character(who, place(clip, lift=up)), tasks, settings)
        return
    found = next(
        (t for one in tasks if one.who == who and (t := target_of(world, one, world.span[0])) is not None), None
    )
    toward = np.zeros(2) if found is None else found[1][:2] - clip.root[0, :2]
    directions = [np.array([np.cos(a), np.sin(a)]) for a in np.arange(8) * np.pi / 4.0]
    for far in _AWAY_M:
        for direction in sorted(directions, key=lambda direction: -float(direction @ toward)):
            moved = world.with_character(who, place(clip, far * direction))
            if start_failure(moved, [who]) is None:
                x, y = far * direction
                yield Probe(f"moving {who} by ({x:+.2f}, {y:+.2f}) m", moved, tasks, settings)
                break
