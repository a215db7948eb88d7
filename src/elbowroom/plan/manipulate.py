"""Tasks of hands and feet, planned one after another (K8, K9, S5, S7)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from elbowroom.errors import BadValue
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.places import moves, moving_until
from elbowroom.plan.footing import finished, on_footing
from elbowroom.plan.order import BLOCKED, layers, ordered
from elbowroom.plan.reasons import remedy, start_failure, target_failure
from elbowroom.plan.repair.in_turn import ORDERS, repaired
from elbowroom.plan.state.actor import stands
from elbowroom.plan.state.result import Plan, PlanningFailure, Status, tried
from elbowroom.plan.state.settings import USUAL, Settings
from elbowroom.plan.state.take import Take
from elbowroom.plan.steps import acting
from elbowroom.plan.steps.director import ESCALATES, MOST_FAILED_WALKS, Director, PlanMode
from elbowroom.plan.steps.give_way import proven
from elbowroom.plan.tasks import Repair, Rest, Task
from elbowroom.stopping import OutOfTime, deadline, report
from elbowroom.world.world import World

# Attempts at all tasks, each with other random samples.
_ATTEMPTS = 3
# Grasps of one object that are tried when a later task fails with the first.
_REGRASPS = 4

# Largest distance out of reach that another grasp may make up for, metres: more than a hand's length.
_OTHER_GRASP_M = 0.25


def plan_tasks(
    world: World, tasks: Sequence[Task], settings: Settings = USUAL, *, fps: float = 60.0, budget: float | None = None
) -> Plan:
    """Plan tasks one after another, by priority; at the end hands return to the base motion.

    A character blocked by those planned before is planned before them; the world's notes say so. The same seed gives
    the same motion. `fps` is the frame rate of motions that are not clips. Invalid names and numbers raise; the status
    says whether a motion was found. After `budget` seconds of wall-clock time, proof included, the status is
    'budget-spent'; a motion found within the budget is the same as without one.
    """
    world, tasks = _placed(world, [step for task in tasks for step in task.steps()])
    with deadline(budget):
        plan, failed = _in_orders(world, tasks, settings, fps)
        if plan.found or plan.status == "budget-spent":
            return plan
        try:
            on_repaired = _over_repaired(world, tasks, settings, fps, failed)
        except OutOfTime as spent:
            return plan.with_(status="budget-spent", why=f"{plan.why}; then {spent}")
        if on_repaired is not None:
            return on_repaired
        # each of them would take as long again
        long = (
            failed.failed_walks >= MOST_FAILED_WALKS
            or (failed.task and failed.task.planner == "whole-body")
            or any(task.object_leads and task.walks for task in tasks)
        )
        few = replace(settings, probes=min(settings.probes, 1)) if long else settings
        try:
            known = remedy(world, tasks, few, failed, partial(_probed, fps))
        except OutOfTime:  # the cause of the failure is known all the same
            known = ""
        return plan.with_(verified=known, usual=failed.usual_advice)


def _placed(world: World, tasks: Sequence[Task]) -> tuple[World, Sequence[Task]]:
    """Tasks with places that they leave open, where these have to be known before an object is taken."""
    placed = []
    for task in tasks:
        world, task = task.placed(world)
        placed.append(task)
    return world, placed


def _over_repaired(
    world: World, tasks: Sequence[Task], settings: Settings, fps: float, failed: PlanningFailure
) -> Plan | None:
    """Plan tasks over a repaired motion, where they failed because a character's own walk collides."""
    motion = world.characters.get(failed.who)
    moves = isinstance(motion, Clip) and not stands(motion)
    if not moves or failed.status not in ("target-in-collision", "no-path", "not-certified") or settings.tier != "auto":
        return None
    walk = repaired(world, [Repair(who=failed.who)], settings)
    if not (walk.found and walk.edits):
        return None
    plan = _in_orders(walk.world, tasks, settings, fps)[0]
    return walk.then(plan) if plan.found else None


def _probed(fps: float, world: World, tasks: Sequence[Task], settings: Settings) -> Plan:
    """One brief attempt at tasks, to find out whether a change helps."""
    d = Director(world, settings, fps, 0, PlanMode(brief=True))
    return _planned(d, ordered(world, tasks))[0]


def preview_tasks(world: World, tasks: Sequence[Task], settings: Settings, *, fps: float = 60.0) -> Plan:
    """Carry out tasks once, in order, without a proof, for previews while dragging. `why` names a failure."""
    steps = ordered(world, [step for task in tasks for step in task.steps()])
    d = Director(world, settings, fps, 0)
    try:
        blocked = tried(lambda: _do_all(d, steps))
    except BadValue as wrong:  # such as a goal that is dragged into a wall
        return Plan("target-in-collision", world, why=str(wrong))
    if blocked is not None:
        return Plan(blocked.status, world, why=blocked.why)
    moved = finished(d)
    base, edits = d.take.layers(moved)
    return Plan("not-certified", moved, edits, base=base)


def _in_orders(world: World, tasks: Sequence[Task], settings: Settings, fps: float) -> tuple[Plan, PlanningFailure]:
    """Try orders of characters, then other samples, until a plan is found or nothing is left to try."""
    people = list(dict.fromkeys(who for task in tasks for who in task.people))
    try:
        start = None if settings.tier == "ik" else start_failure(world, people) or target_failure(world, tasks)
    except OutOfTime as spent:
        plan = Plan("budget-spent", world, why=f"the check of the start: {spent}")
        return plan, _failure(plan, people)
    if start is not None:
        return Plan(start.status, world, why=start.why), start
    orders = [ordered(world, tasks)]
    leading: tuple[str, ...] = ()
    notes: list[str] = []
    plans: list[Plan] = []
    failures: list[PlanningFailure] = []
    attempt = walks = 0
    while attempt < _ATTEMPTS and walks < MOST_FAILED_WALKS:
        order = ordered(world, tasks, leading)
        careful = any(plan.status == "not-certified" for plan in plans)
        director = Director(world, settings, fps, attempt, PlanMode(careful=careful))
        plan, failed = _planned(director, order)
        blocked = failed.who
        walks += director.spent.walks
        failed.failed_walks = walks
        failures.append(failed)
        plans.append(plan.with_(world=plan.world.with_(notes=(*plan.world.notes, *notes))))
        if plan.found or plan.status == "budget-spent":
            break
        leading = (blocked, *(who for who in leading if who != blocked)) if plan.status in BLOCKED else ()
        other = ordered(world, tasks, leading)
        if other not in orders and len(orders) < ORDERS:
            orders.append(other)
            notes.append(f"{blocked} was planned before the others because they blocked it ({plan.why})")
            continue
        # Other samples may help where a proof or a search failed, and so may a later task. A move has tried other
        # samples by itself.
        again = plan.status in ("not-certified", "no-path", "start-in-collision") and not (
            failed.task and failed.task.object_leads
        )
        if not (again or (plan.status == "target-in-collision" and plan.edits)):
            break
        attempt, leading = attempt + 1, ()
        notes.clear()
    if walks < MOST_FAILED_WALKS and _escalates(director, plans[-1], failures[0]):
        director = Director(world, settings, fps, 0, PlanMode(escalates=True))
        plan, failed = _planned(director, ordered(world, tasks))
        if plan.found:
            return plan, failed
    # If time ran out in a later attempt, report the failure of the first.
    if len(plans) > 1 and plans[-1].status == "budget-spent":
        return plans[0].with_(status="budget-spent", why=f"{plans[0].why}; then {plans[-1].why}"), failures[0]
    chosen = -1 if plans[-1].found else 0
    return plans[chosen], failures[chosen]


def _escalates(d: Director, plan: Plan, failed: PlanningFailure) -> bool:
    """Return whether planning whole bodies may succeed where limbs failed: standing characters, times not given."""
    if plan.status not in ESCALATES or d.settings.tier != "auto" or failed.missing > _OTHER_GRASP_M or failed.anywhere:
        return False
    if failed.task is not None and (failed.task.planner == "whole-body" or d.walled_off(failed.task)):
        return False
    # bodies that an object leads follow it by themselves; only hands that come and go may need more
    if failed.task and failed.task.object_leads and not failed.task.walks:
        return failed.by_limbs
    return failed.task is None or (failed.task.at is None and not failed.task.walks)


def _planned(d: Director, tasks: Sequence[Task]) -> tuple[Plan, PlanningFailure]:
    """Attempt all tasks once; also return the task that failed, if any."""
    begun = time.perf_counter()
    people = list(dict.fromkeys(who for task in tasks for who in task.people))
    try:
        for number, layer in enumerate(layers(d.world, tasks)):
            if number > 0:
                d.on_top(finished(d))
            _do_all(d, layer)
            moved = dict.fromkeys(who for task in layer for who in task.people)
            _do_all(d, [Rest(who=who) for who in moved if who in d.actors])  # robots have already folded their arms
        planned = time.perf_counter()
        d.doing = "the proof"
        report(d.doing)
        plan = proven(d, finished(d), people)
    except PlanningFailure as blocked:
        return _ended(d, blocked.status, blocked.why, begun), blocked
    except OutOfTime as spent:
        plan = _ended(d, "budget-spent", f"{d.doing}: {spent}", begun)
        return plan, _failure(plan, people)
    seconds = {"plan": planned - begun, "certify": time.perf_counter() - planned}
    plan = plan.with_(seconds=seconds, collisions=())
    if plan.status == "partial":
        plan = plan.with_(status="not-certified")
    return plan, _failure(plan, people)


def _failure(plan: Plan, people: Sequence[str]) -> PlanningFailure:
    """Failure of a plan for which no single task is to blame, and which of some people must be re-planned."""
    failed = PlanningFailure(plan.status, plan.why)
    left = () if plan.certificate is None else plan.certificate.collisions
    blamed = [who for who in people if left and who in left[0].who]
    failed.who = (blamed or people)[-1]
    return failed


def _ended(d: Director, status: Status, why: str, begun: float) -> Plan:
    """Plan of what was done before a failure."""
    base, edits = d.take.layers(d.world)
    return Plan(status, d.world, edits, why, seconds={"plan": time.perf_counter() - begun}, base=base)


def _do_all(d: Director, tasks: Sequence[Task]) -> None:
    """Carry out tasks in order; an object that cannot be put or given as it was grasped is grasped differently."""
    taken: list[tuple[int, str, Take]] = []  # by task index: the object it took, and the state before
    done: list[float] = []  # time at which each task ended
    settings, k = d.settings, 0
    while k < len(tasks):
        task, thing = tasks[k], tasks[k].thing or ""
        d.coming, d.doing = tasks[k + 1 :], f"{task.verb} {thing}".strip()
        report(f"{task.who}, {d.doing}", k / len(tasks))
        d.settings = settings if task.style is None else replace(settings, style=task.style)
        d.whole_body = "at once" if task.planner == "whole-body" else "last" if d.mode.escalates else "never"
        if task.grasps and all(number != k for number, *_ in taken):
            taken.append((k, thing, d.take))
            if task.takes:
                d.spent.refused.pop(thing, None)
                d.spent.choosy.add(thing)
        do = partial(_do, d, task, tasks[:k], done)
        blocked = tried(do if task.walks else partial(on_footing, d, task, do))
        if blocked is None:
            done.append(max(d.actors[who].now for who in task.people if who in d.actors))
            k += 1
            continue
        blocked.who, blocked.task = task.who, task
        taken = [t for t in taken if t[0] < k + task.takes]
        before = next((t for t in reversed(taken) if t[1] == thing), None)
        grip = d.take.grips.get(thing) if task.held_before else None
        refused = d.spent.refused.setdefault(thing, set())
        far = blocked.status == "target-out-of-reach" and blocked.missing > _OTHER_GRASP_M
        enough = len(refused) >= _REGRASPS or (task.takes and len(refused) > 0)
        if before is not None and enough and thing in d.spent.choosy:  # none is easy to put down: the best at length
            d.spent.choosy.remove(thing)
            refused.clear()
        elif before is None or grip is None or far or enough:
            raise blocked
        else:
            refused.add(grip.grasp)
        k = before[0]
        d.take = before[2]
        del done[k:]
    d.settings = settings


def _do(d: Director, task: Task, earlier: Sequence[Task], done: Sequence[float]) -> None:
    """Carry out one task after earlier ones, which ended at times `done`."""
    _wait_for(d, task, earlier, done)
    if d.mode.careful and task.who in d.actors and d.actors[task.who].stands and not task.rests:
        from elbowroom.plan.verbs.carry import lower_idle_hands

        lower_idle_hands(d, d.actors[task.who])  # as the trunk bends, they would be pressed into what they let go of
    task = task.fitted(d)
    actor = d.actors.get(task.who)
    bears = actor is not None and (actor.support, actor.knee) != (None, None)
    if task.support is not None or bears or d.whole_body != "never":
        from elbowroom.plan.verbs.supports import supported, waiting

        supported(d, task, partial(waiting, d, do=lambda one: one.carry_out(d)))
    else:
        task.carry_out(d)
    _back_by(d, task)


def _wait_for(d: Director, task: Task, earlier: Sequence[Task], done: Sequence[float]) -> None:
    """Let an actor without a scheduled time wait until earlier users of the object have finished, at times `done`.

    A standing actor whose task has a start time waits until then, one who moves an object until that has come to rest.
    """
    thing = task.thing
    actor = d.actor(task.who)
    d.at_once = actor.stands and task.begin is not None
    if d.at_once and task.begin is not None:
        if actor.frame(task.begin) < actor.k:
            late = actor.now - task.begin
            raise PlanningFailure(
                "too-little-time", f"{task.verb}: {task.begin:g} s is {late:.2f} s before the previous task ends"
            )
        acting.wait(d, actor, actor.frame(task.begin) - actor.k)
    if task.at is not None or thing is None:
        return
    if task.object_leads and thing in d.world.objects:  # both hands wait until a belt has stopped
        until = moving_until(d.world, thing)
        if until > actor.now and moves(d.world, thing, np.linspace(actor.now, until, 65)):
            acting.wait(d, actor, actor.frame(until) + 1 - actor.k)
    others = [t for e, t in zip(earlier, done, strict=True) if e.thing == thing and task.who not in e.people]
    if others and max(others) > actor.now:
        acting.wait(d, actor, actor.frame(max(others)) - actor.k)


def _back_by(d: Director, task: Task) -> None:
    """Return a standing actor to its base at once if the task says by when; raises `PlanningFailure` if that is too
    late.
    """
    actor = d.actor(task.who)
    if task.back is None or not actor.stands:
        return
    Rest(who=task.who, hand=task.hand).perform(d)
    late = actor.now - task.back
    if late > 1.5 / actor.base.fps:
        raise PlanningFailure("too-little-time", f"{task.verb}: {late:.2f} s too late to be back by {task.back:g} s")
