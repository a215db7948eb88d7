"""Cases of the regression net by name, and the figures of one: `regression_net.py` records and compares them.

Names are `kind/case` or `kind/case/seed`: gallery scenarios with three seeds, random tasks, storyboards of new users,
repairs (one made obstacle, or a placement in a scanned room), carries by teams, and tight scenes. Storyboards, clips
and scenes that need the data folder (ELBOWROOM_DATA) are left out without it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import carry_cases
import carry_teams
import newcomers
import repair as placed_repairs
import repair_made
import tight
from elbowroom.errors import ElbowroomError
from elbowroom.gallery.scenes import scenario, scenarios
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.motion.quality import joint_jerks, worst_quality
from elbowroom.plan.manipulate import plan_tasks
from elbowroom.plan.repair.repair import repair
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Carry
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.edit import Motions
from elbowroom.world.world import World
from gallery import hand_gap, off
from planning_time import counted
from random_tasks_make import task
from repair_clips import DATA
from repair_placements import Placement
from repair_quality import measured

Row = dict[str, Any]

KINDS = ("gallery", "random", "newcomers", "repair", "carry", "tight")
SEEDS, RANDOM = 3, 60
# Placements drawn by `repair.py --sample 40 --seed 11 --placements FILE`.
PLACEMENTS = Path(__file__).resolve().parent / "net" / "placements.json"
# Doorways, metres, that a team passes with its plank level, and with leave to tilt it.
LEVEL_M, TILTED_M = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4), (0.7, 0.8, 1.0, 1.2)
# Scenes after those used for tuning; two of them have no free posture at one end.
TIGHT = (*range(230, 252),)
# Planned before anything is measured, so that compiled code is loaded: repair, grab, run, handover, feet, carry.
WARM = ("umbrella", "jar", "ring-run", "handover", "step-over", "door", "workout")


class LeftOut(Exception):
    """Raised for a case that cannot be made here, with the reason."""


@dataclass(frozen=True)
class Problem:
    """What a case plans: the call that is measured, the storyboard, if any, and the wanted status.

    `before` are the motions that are changed, where the plan has no base of its own; `repaired` is the character whose
    recorded clip is repaired.
    """

    plan: Callable[[], Plan]
    board: Storyboard | None = None
    before: Motions | None = None
    repaired: str = ""
    wanted: str = "found"


@dataclass(frozen=True)
class Case:
    """A case by name, and the call that makes its problem; raises `LeftOut`."""

    name: str
    make: Callable[[], Problem]

    @property
    def kind(self) -> str:
        """First part of the name."""
        return self.name.partition("/")[0]


def cases() -> Iterator[Case]:
    """All cases, cheap to list: seed 0 of the gallery first."""
    for seed in range(SEEDS):
        for name in scenarios():
            yield Case(f"gallery/{name}/{seed}", partial(_gallery, name, seed))
    for index in range(RANDOM):
        yield Case(f"random/{index}", partial(_random, index))
    for path in sorted(newcomers.BOARDS.glob("*.yaml"), key=newcomers.number):
        yield Case(f"newcomers/{path.stem}", partial(_newcomer, path))
    made = repair_made.draws()
    for number in range(len(made)):
        yield Case(f"repair/made-{number}", partial(_made, number))
    for row in json.loads(PLACEMENTS.read_text()):
        yield Case(f"repair/placed-{row['number']}", partial(_placed, row))
    for path in sorted((Path(__file__).resolve().parent / "carry").glob("*.yaml")):
        yield Case(f"carry/{path.stem}", partial(_newcomer, path))
    for count in carry_teams.COUNTS:
        yield Case(f"carry/team-of-{count}", partial(_team, count))
    for level, widths in ((True, LEVEL_M), (False, TILTED_M)):
        for width in widths:
            yield Case(f"carry/doorway-{width}-{'level' if level else 'tilted'}", partial(_doorway, width, level))
    for number in TIGHT:
        yield Case(f"tight/{number}", partial(_tight, number))


def _gallery(name: str, seed: int) -> Problem:
    board = scenario(name).board()
    return Problem(partial(plan_storyboard, board, seed=seed), board)


def _random(index: int) -> Problem:
    board = task(index)
    if board is None:
        raise LeftOut("its rig is not in the data folder")
    return Problem(partial(plan_storyboard, board), board)


def _newcomer(path: Path) -> Problem:
    if absent := [p.name for p in newcomers.needed(path) if not p.exists()]:
        raise LeftOut(f"without {', '.join(absent)}")
    board = newcomers.board(path)
    return Problem(partial(plan_storyboard, board), board, wanted=newcomers.INFEASIBLE.get(path.stem, "found"))


def _recorded(path: str) -> None:
    if not (DATA / "mocap" / path).exists():
        raise LeftOut(f"without {path}")


def _made(number: int) -> Problem:
    drawn = repair_made.draws()[number]
    _recorded(drawn.path)
    case = repair_made.made(drawn)
    if case is None:
        raise LeftOut("its clip collides with more than the obstacle")
    return Problem(partial(repair, case.world, repair_made.WHO), before=case.world.characters, repaired=repair_made.WHO)


def _placed(row: Row) -> Problem:
    _recorded(row["clip"])
    if not (DATA / "scenes" / f"{row['scene']}.glb").exists():
        raise LeftOut(f"without {row['scene']}.glb")
    place = Placement(tuple(row["at"]), row["turn"])
    world = place.world(placed_repairs.scene_of(row["scene"]), placed_repairs.read(row["clip"]))
    return Problem(partial(repair, world, placed_repairs.WHO), before=world.characters, repaired=placed_repairs.WHO)


def _carried(world: World, carry: Carry) -> Problem:
    return Problem(partial(plan_tasks, world, [carry], Settings(probes=0), fps=30.0))


def _team(count: int) -> Problem:
    return _carried(carry_teams.scene(count), carry_teams.carry(count))


def _doorway(width: float, level: bool) -> Problem:
    return _carried(carry_cases.scene(width), carry_cases.task(level))


def _tight(number: int) -> Problem:
    scene = tight.scene(number)
    if scene is None:
        raise LeftOut("a posture at one of its ends is not free")

    def plan() -> Plan:
        done = tight.planned(scene, 0, TightSettings())[1]
        if done.frames is None:
            return Plan("no-path", scene.world, why=str(done.blocked))
        world, certificate = tight.certified(scene, done.frames, clearance=True)
        return Plan("found" if certificate.free else "not-certified", world, certificate=certificate)

    return Problem(plan, before=scene.world.characters)


def row(case: Case) -> Row:
    """Figures of a case, rounded to what matters; an error of the planner is a status of its own."""
    try:
        problem = case.make()
    except LeftOut as why:
        return {"status": "left out", "why": str(why)}
    except ElbowroomError as error:
        return {"status": "bad input", "why": str(error)}
    with counted() as counts:
        begun = time.process_time()
        try:
            plan = problem.plan()
        except Exception as error:
            seconds = round(time.process_time() - begun, 2)
            return {"status": "crashed", "why": f"{type(error).__name__}: {error}", "cpu_s": seconds}
        seconds = round(time.process_time() - begun, 2)
    facts = {"status": plan.status, "cpu_s": seconds, "checks": counts["postures"] + counts["searched"]}
    if plan.status != problem.wanted:
        facts["why"] = plan.why
    elif not plan.found:
        facts["wanted"] = problem.wanted
    return facts | (_quality(problem, plan) if plan.found else {})


def _quality(problem: Problem, plan: Plan) -> Row:
    """Figures of a motion that was found."""
    assert plan.certificate is not None
    found, gap, clearance = worst_quality(plan.world.characters.values()), hand_gap(plan.world), None
    if plan.certificate.clearance_m is not None:
        clearance = round(1000 * plan.certificate.clearance_m, 2)
    jerk, slide = found.peak_jerk, found.foot_slide_m
    if problem.repaired:
        old, new = (motions[problem.repaired] for motions in (problem.before or {}, plan.world.characters))
        assert isinstance(old, Clip) and isinstance(new, Clip)
        now, was = (joint_jerks(without_lead(clip).rotations, clip.fps) for clip in (new, old))
        jerk, slide = float(np.max(now - was, initial=0.0)), measured(old, new, plan)["feet_slide_more_m"]
    return {
        "proven": plan.certificate.free and plan.certificate.continuous,
        "clearance_mm": clearance,
        "jerk": round(jerk),
        "slide_mm": round(1000 * slide, 1),
        "grip_mm": None if gap is None else round(1000 * abs(gap), 1),
        "off_mm": None if problem.board is None else round(1000 * off(problem.board, plan.world), 1),
        "changed": changed(problem.before or plan.base, plan.world.characters),
        "motion": motion_digest(plan.world.characters),
    }


def motion_digest(motions: Motions) -> str:
    """Digest of all frames of clips: equal only where two motions are the same bit by bit."""
    digest = hashlib.sha1(usedforsecurity=False)
    for name in sorted(motions):
        clip = motions[name]
        if isinstance(clip, Clip):
            for frames in (clip.root, clip.rotations):
                digest.update(np.ascontiguousarray(frames).tobytes())
    return digest.hexdigest()[:12]


def changed(before: Motions, after: Motions) -> int:
    """Frames of clips, summed over characters, whose root or a joint differs; added frames count as changed."""
    count = 0
    for name, new in after.items():
        old = before.get(name)
        if not isinstance(new, Clip):
            continue
        if not isinstance(old, Clip) or old.body is not new.body:
            count += len(new)
            continue
        n = min(len(old), len(new))
        moved = np.any(old.rotations[:n] != new.rotations[:n], axis=(1, 2))
        count += int((moved | np.any(old.root[:n] != new.root[:n], axis=1)).sum()) + abs(len(new) - len(old))
    return count


def chosen(kinds: list[str] | None, only: list[str] | None, part: tuple[int, int]) -> list[Case]:
    """Cases of some kinds whose names match a pattern; every `part[1]`-th of them from number `part[0]`."""
    listed = [c for c in cases() if kinds is None or c.kind in kinds]
    listed = [c for c in listed if only is None or any(fnmatch(c.name, p) or fnmatch(c.name, f"{p}/*") for p in only)]
    return list(islice(listed, part[0] - 1, None, part[1]))
