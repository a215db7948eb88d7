"""Planning of a storyboard's tasks with a proof, optionally in several clearly different variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from elbowroom.errors import BadFile, BadValue, UnknownName
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import resample
from elbowroom.plan.prove import changed_edits, prove
from elbowroom.plan.state.edit import numbers_of
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import USUAL, Settings, Tier
from elbowroom.plan.tasks import Task
from elbowroom.spaces.styles import StyleLike
from elbowroom.stopping import deadline
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.played import played
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.plan.variants import Variants

# Largest number of the best grasps or touches that are kept for last.
_VARIETY = 6


def plan_storyboard(
    board: Storyboard,
    *,
    seed: int = 0,
    tier: Tier = "auto",
    budget: float | None = None,
    style: StyleLike = None,
    variety: int = 0,
    probes: int = 3,
) -> Plan:
    """Plan the tasks of a storyboard and prove the result; without tasks the world is only certified.

    After `budget` seconds of the wall clock, proofs included, the status is 'budget-spent'; a motion found within it is
    the same as without a budget. `style`, a `Style` or the name of one, replaces that of the storyboard.
    `variety` is how many of the best candidates for an action are tried last, `probes` how many changes are tried
    where no motion is found, to name one that would help.
    """
    with deadline(budget):
        return _planned(board, seed, tier, style, (variety, probes))


def _planned(board: Storyboard, seed: int, tier: Tier, style: StyleLike, counts: tuple[int, int]) -> Plan:
    if not board.tasks:
        return prove(Plan("found", board.world), board.fps)
    variety, probes = counts
    wanted = board.style if style is None else style
    settings = Settings(
        tier=tier, seed=seed, style=wanted, variety=variety, probes=probes, gaits=board.gaits, capture=board.capture
    )
    try:
        plan = plan_in_turn(_at_rate(board.world, board.fps), board.tasks, settings)
    except (BadValue, UnknownName) as error:  # faults found only in planning, such as names of proposed grasps
        raise BadFile(board.path, str(error).removesuffix(".")) from None
    plan = prove(plan, board.fps) if plan.found and not _speaks_of(plan, board.fps) else plan
    for change in board.edits if plan.found else ():  # others may have fewer
        try:
            numbers_of(plan.edits, change.which)
        except UnknownName as error:
            raise BadFile(board.path, str(error).removesuffix("."), where=change.where) from None
    return changed_edits(plan, board.edits, board.fps) if plan.found else plan


def _kind(task: Task) -> tuple[bool, StyleLike]:
    """Key of tasks that are planned together: tasks of hands, and repairs of one style."""
    return (True, task.style) if task.repairs else (False, None)


def plan_in_turn(
    world: World, tasks: Sequence[Task], settings: Settings = USUAL, *, budget: float | None = None
) -> Plan:
    """Plan tasks in order; a repair works on the motion that the tasks before it leave.

    Stops at the first failure; edits, times and collisions are those of all tasks until then. `budget` is that of
    `plan_tasks` and `repair`, for all of them together.
    """
    from elbowroom.plan.repair.in_turn import repaired

    plan = Plan("found", world)
    with deadline(budget):
        for (repairs, style), some in groupby(tasks, _kind):
            now = replace(settings, style=style or settings.style)
            done = (repaired if repairs else _plan_tasks)(plan.world, list(some), now)
            seconds = {stage: plan.seconds.get(stage, 0.0) + done.seconds.get(stage, 0.0) for stage in
                       dict.fromkeys((*plan.seconds, *done.seconds))}  # fmt: skip
            collisions = (*plan.collisions, *done.collisions)
            plan = plan.then(done).with_(seconds=seconds, collisions=collisions)
            if not plan.found:
                break
    return plan


def _plan_tasks(world: World, tasks: Sequence[Task], settings: Settings) -> Plan:
    """Plan tasks of hands and feet, for which much is loaded that repairs do without."""
    from elbowroom.plan.manipulate import plan_tasks

    return plan_tasks(world, tasks, settings)


def preview_storyboard(board: Storyboard, *, seed: int = 0) -> Plan:
    """Motion of a storyboard's tasks, hands straight to their targets, walks along their paths, nothing proven.

    Where there is none, the plan has the world as it was and `why`.
    """
    from elbowroom.plan.manipulate import preview_tasks

    settings = Settings(tier="ik", seed=seed, style=board.style, gaits=board.gaits)
    return preview_tasks(_at_rate(board.world, board.fps), board.tasks, settings)


def _at_rate(world: World, fps: float) -> World:
    """World with all clips at the output frame rate, so that the planned motion is the one proven."""
    clips = {n: m for n, m in world.characters.items() if isinstance(m, Clip) and m.fps != fps and len(m) > 1}
    return world.with_(characters={**world.characters, **{n: resample(m, fps) for n, m in clips.items()}})


def _speaks_of(plan: Plan, fps: float) -> bool:
    """Return whether the certificate covers the frames that are written."""
    return plan.certificate is not None and plan.certificate.digest == played(plan.world, fps).digest


def plan_variants(
    board: Storyboard,
    count: int,
    *,
    seed: int = 0,
    tier: Tier = "auto",
    budget: float | None = None,
    style: StyleLike = None,
    progress: Callable[[int, int], None] | None = None,
) -> Variants:
    """Find several clearly different motions. `progress` gets the seed and how many are found.

    Straight paths are the same for all seeds: after the first duplicate the tier 'auto' becomes 'plan', and each
    further duplicate moves on to other grasps and contacts. `budget` is for all motions together: those found by then
    are kept.
    """

    from elbowroom.plan.variants import find_variants

    def attempt(s: int, found: Variants) -> Plan:
        others = len(found.alike)
        searched: Tier = "plan" if tier == "auto" and others else tier
        return plan_storyboard(board, seed=s, tier=searched, style=style, variety=min(others, _VARIETY), probes=0)

    seeds = None if board.tasks else 1
    return find_variants(attempt, count, seed=seed, seeds=seeds, budget=budget, progress=progress)
