"""Reaching with the whole body: spine, shoulder girdle and legs help the arm, depending on distance (Kallmann 2005).

The body helps along one line of effort, from its posture to the farthest: the spine turns and leans, the clavicle
follows, knees bend over fixed feet for low targets, heels lift for high ones, and the pelvis moves so that the centre
of mass stays over the feet. The effort is the least at which the arm is not stretched more than the style says, so a
small change of the target changes the posture a little. The arm is then solved exactly, at an orbit angle within its
limits and free of collisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Character
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import Array
from elbowroom.posing.limb_ik import EASY_ORBIT, LimbIK, Solution, checked, numbers
from elbowroom.posing.orbit import PAPER, Orbit, OrbitRange, search_orbit_of_each
from elbowroom.posing.reach_help import Reached, ReachStatus, ReachStyle, direction_to
from elbowroom.posing.reach_parts import parts_of, start_of
from elbowroom.posing.reach_search import TINY, Choice, ReachSearch

__all__ = ["ReachStyle", "Reached", "reach"]

Valid = Callable[[Pose], bool]

STYLE = ReachStyle()

# Elbows of raised or backward arms may be anywhere; the number of postures tried with all elbow angles.
_ANYWHERE, _FEW = OrbitRange(-np.pi, np.pi), 8

# Farthest reach of a body without balance, share of the arm's length.
_LEANING = 0.5


def reach(
    body: Character,
    pose: Pose,
    hand: str,
    T_world_hand: ArrayLike,
    *,
    style: ReachStyle = STYLE,
    floor: float = 0.0,
    valid: Valid | None = None,
    orbit: float | None = None,
) -> Reached:
    """A posture of the whole body with a hand's joint at T_world_hand (4, 4); feet stay where `pose` has them.

    `hand` is 'left' or 'right'; `floor` the height of the ground under the feet, metres. `valid` returns whether a
    posture within joint limits is free of collisions; where it is not, other elbow angles are tried, then a little more
    or less help. `orbit` is the initial elbow angle, radians.
    """
    target = checked("T_world_hand", T_world_hand)
    if target.shape != (4, 4):
        raise BadValue(f"T_world_hand is one transform of shape (4, 4), not {target.shape}.")
    height = float(numbers("floor", floor))
    first = EASY_ORBIT if orbit is None else float(numbers("orbit", orbit))
    parts = parts_of(body, hand, pose)
    start = start_of(parts, pose, height)
    search = ReachSearch(start, direction_to(start, target[:3, 3], style), target[:3, 3], style)
    choice = search.choose()
    if choice.missing > TINY or search.wrong(choice.rows)[0] > 0.0:
        return _unreached(search, choice, target, first)
    refused: tuple[Choice, Orbit] | None = None
    for some, angles in _attempts(search, choice):
        for posture, found in zip(some, _arms(search, some, target, first, valid, angles), strict=True):
            if found.found:
                return _reached("found", search, posture, found)
            if refused is None or (found.status == "blocked" and refused[1].status != "blocked"):
                refused = posture, found
    assert refused is not None
    if refused[1].status == "blocked":
        return _reached("blocked", search, *refused, why="every posture that reaches the target collides.")
    over = float(np.degrees(refused[1].solution.excess.max()))
    return _reached("limits", search, *refused, why=f"the arm would exceed its joint limits by {over:.0f} degrees.")


def _attempts(search: ReachSearch, choice: Choice) -> Iterator[tuple[list[Choice], OrbitRange]]:
    """Postures and orbit ranges to try: usual elbow angles, then, for the first few, all that shoulders allow."""
    tried: list[Choice] = []
    for some in chain(([choice],), search.variations(choice) if search.style.thorough else ()):
        tried += some
        yield some, PAPER
    yield tried[:_FEW], _ANYWHERE


def _arms(
    search: ReachSearch, some: list[Choice], target: Array, first: float, valid: Valid | None, angles: OrbitRange
) -> Iterator[Orbit]:
    """The arm in each of some postures of the body."""
    arm = search.start.parts.arm

    def free(n: int, rotations: Array) -> bool:
        return valid is None or valid(_posed(arm, some[n], rotations))

    if not some:
        return iter(())
    bases, limits = np.stack([choice.rows.T[0, arm.parent] for choice in some]), search.style.limits
    return search_orbit_of_each(arm, bases, target, start=first, valid=free, limits=limits, angles=angles)


def _posed(arm: LimbIK, choice: Choice, rotations: Array) -> Pose:
    whole = np.array(choice.rows.rotations[0])
    whole[list(arm.joints)] = rotations
    return Pose.of(choice.rows.root[0], whole)


def _reached(
    status: ReachStatus, search: ReachSearch, choice: Choice, found: Orbit, missing: float = 0.0, why: str = ""
) -> Reached:
    pose = _posed(search.start.parts.arm, choice, found.solution.rotations)
    return Reached(status, pose, missing, choice.used, found.angle, why)


def _unreached(search: ReachSearch, choice: Choice, target: Array, first: float) -> Reached:
    """Reason why a target was not reached: too far, or only out of balance."""
    arm = search.start.parts.arm
    angles = PAPER.angles(first)
    every = arm.solve(choice.rows.T[0, arm.parent], target, angles)
    k = int(np.argmin(every.excess.max(axis=-1)))
    found = Orbit("out of reach", float(angles[k]), Solution(every.rotations[k], every.gap[k], every.excess[k]), k + 1)
    leans = choice.missing < _LEANING * search.start.length and search.style.thorough
    if leans and search.style.balance and np.isfinite(search.need):
        falling = ReachSearch(search.start, search.direction, search.target, replace(search.style, balance=False))
        other = falling.choose()
        if other.missing <= TINY and falling.wrong(other.rows)[0] <= 0.0:
            why = f"{choice.missing:.3f} m out of reach unless the body loses its balance."
            return _reached("out-of-balance", search, choice, found, choice.missing, why)
    why = f"{choice.missing:.3f} m out of reach, even with the help of the body."
    return _reached("out-of-reach", search, choice, found, choice.missing, why)
