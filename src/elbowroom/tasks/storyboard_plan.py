"""Planning of a storyboard: what it asks for, done and proven; several clearly different ways on request."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from elbowroom.errors import BadFile, BadValue, UnknownName
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import resample
from elbowroom.stopping import OutOfTime, deadline
from elbowroom.tasks.hands import changed_limbs
from elbowroom.tasks.plan import Plan, Status
from elbowroom.tasks.storyboard import Storyboard
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.played import played
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.spaces.styles import Wish
    from elbowroom.tasks.settings import Tier

# Two motions are the same to the eye where no joint leaves its way in the other by more than this, metres.
ALIKE = 0.05
# Seeds that are tried for each variant that is wanted, and other ways to take things at most.
_TRIES, _VARIETY = 3, 6
# Moments a second at which two motions are compared, how many at most, and how many more of them the way is made of.
_PER_SECOND, _MOST, _FINER = 60.0, 2000, 4

MOST_VARIANTS = 1000


def plan_storyboard(
    board: Storyboard,
    *,
    seed: int = 0,
    tier: Tier = "auto",
    budget: float | None = None,
    style: Wish = None,
    variety: int = 0,
) -> Plan:
    """Plan the tasks of a storyboard and prove the result; without tasks the world is proven as it stands.

    After `budget` seconds of the wall clock, proofs included, the status is 'budget-spent'; what is found within it is
    the same motion as without a budget. `style`, a `Style` or the name of one, is instead of the storyboard's own.
    `variety` is how many of the best ways to do something are left for last.
    """
    with deadline(budget):
        return _planned(board, seed, tier, style, variety)


def _planned(board: Storyboard, seed: int, tier: Tier, style: Wish, variety: int) -> Plan:
    if not board.tasks:
        return _proven(Plan("found", board.world), board.fps)
    # planners load much that a world which only needs its proof can do without
    from elbowroom.tasks.sequence import plan_in_turn
    from elbowroom.tasks.settings import Settings

    settings = Settings(tier=tier, seed=seed, style=board.style if style is None else style, variety=variety)
    try:
        plan = plan_in_turn(_at_rate(board.world, board.fps), board.tasks, settings)
    except (BadValue, UnknownName) as error:  # what only planning can tell, such as the names of proposed grasps
        raise BadFile(board.path, str(error).removesuffix(".")) from None
    return _proven(plan, board.fps) if plan.found and not _speaks_of(plan, board.fps) else plan


def _at_rate(world: World, fps: float) -> World:
    """The world with all clips at the rate that is written: what is planned is what is proven."""
    clips = {n: m for n, m in world.characters.items() if isinstance(m, Clip) and m.fps != fps and len(m) > 1}
    return world.with_(characters={**world.characters, **{n: resample(m, fps) for n, m in clips.items()}})


def _speaks_of(plan: Plan, fps: float) -> bool:
    """Whether the certificate is one of the frames that are written."""
    return plan.certificate is not None and plan.certificate.digest == played(plan.world, fps).digest


def _proven(plan: Plan, fps: float) -> Plan:
    """The plan with its certificate; where that is refused the status says so."""
    start = time.perf_counter()
    try:
        certificate = certify(plan.world, fps, changed=changed_limbs(plan.world, plan.plans))
    except OutOfTime as spent:
        return plan.with_(status="budget-spent", why=f"the proof: {spent}", certificate=None)
    seconds = {**plan.seconds, "certify": time.perf_counter() - start}
    if certificate.free:
        return plan.with_(certificate=certificate, seconds=seconds)
    status: Status = "base-in-collision" if certificate.collisions and not plan.plans else "not-certified"
    return plan.with_(status=status, why=_blame(certificate), certificate=certificate, seconds=seconds)


def _blame(certificate: Certificate) -> str:
    """What is in the way, in a sentence."""
    if certificate.collisions:
        worst = max(certificate.collisions, key=lambda c: c.depth_m or 0.0)
        a, b = worst.pair
        return f"{a} and {b} collide at {worst.during[0]:.2f}–{worst.during[1]:.2f} s"
    first = certificate.unproven[0]
    a, b = first.pair
    return f"{a} and {b} are too near to tell at {first.during[0]:.2f}–{first.during[1]:.2f} s"


@dataclass(frozen=True, eq=False)
class Variant:
    """One of several motions: its seed, and how far it leaves those before it, metres (None for the first)."""

    seed: int
    plan: Plan
    differs: float | None = None


@dataclass(frozen=True, eq=False)
class Variants:
    """Motions that differ to the eye; seeds that gave none (with why), and seeds whose motion was one of them again."""

    kept: tuple[Variant, ...]
    failed: tuple[Variant, ...] = ()
    alike: tuple[Variant, ...] = ()


def plan_variants(
    board: Storyboard,
    count: int,
    *,
    seed: int = 0,
    tier: Tier = "auto",
    budget: float | None = None,
    style: Wish = None,
    progress: Callable[[int, int], None] | None = None,
) -> Variants:
    """Several clearly different motions, from this seed on. `progress` is told the seed and how many are found.

    Straight ways are the same for all seeds: once two motions were alike, the tier 'auto' becomes 'plan', and with
    each more of them things are taken and touched in another way. `budget` is for all of them together: what was found
    when it is spent is kept.
    """
    if not 1 <= count <= MOST_VARIANTS:
        raise BadValue(f"the number of variants is between 1 and {MOST_VARIANTS}, not {count}.")
    kept: list[Variant] = []
    failed: list[Variant] = []
    alike: list[Variant] = []
    with deadline(budget):
        for s in range(seed, seed + (_TRIES * count if board.tasks else 1)):
            if progress is not None:
                progress(s, len(kept))
            variety = min(len(alike), _VARIETY)
            plan = plan_storyboard(board, seed=s, tier=tier, style=style, variety=variety)
            if not plan.found:
                failed.append(Variant(s, plan))
                if plan.status == "budget-spent":
                    break
                continue
            differs = min((difference(plan.world, v.plan.world) for v in kept), default=None)
            variant = Variant(s, plan, differs)
            if differs is None or differs > ALIKE:
                kept.append(variant)
            else:
                alike.append(variant)
                tier = "plan" if tier == "auto" else tier
            if len(kept) == count:
                break
    return Variants(tuple(kept), tuple(failed), tuple(alike))


def difference(a: World, b: World) -> float:
    """How far any joint of one motion leaves its whole way in the other, metres; when it is there does not count."""
    return max((_apart(_ways(a, name), _ways(b, name)) for name in a.characters), default=0.0)


def _ways(world: World, name: str) -> Array:
    """Joint positions (T, J, 3) of a character over all of its motion."""
    motion = world.motion(name)
    begin, end = motion.span
    count = _FINER * min(max(int((end - begin) * _PER_SECOND), 1), _MOST) + 1
    return motion.body.transforms(*motion.sample(np.linspace(begin, end, count)))[..., :3, 3]


def _apart(a: Array, b: Array) -> float:
    """The largest distance of a point of one way from the other way, over all joints (Hausdorff's distance)."""
    worst = 0.0
    for joint in range(a.shape[1]):
        for way, other in ((a[:, joint], b[:, joint]), (b[:, joint], a[:, joint])):
            worst = max(worst, float(cKDTree(other).query(way[::_FINER])[0].max()))
    return worst
