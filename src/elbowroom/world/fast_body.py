"""Fast collision check of whole postures at one time, root included; never free where the exact test hits.

It is the check of a limb (`world.fast`) whose joints are all of the body's and whose base is the world; parts may be
left out, so that a planner can check a body that has only some of its limbs yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_world
from elbowroom.kernels.fields import FREE
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.own_pairs import folds, tissue_contacts, tissue_depths
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World

# Steps of soft tissue depth, shares of the largest: between them a fold counts as the lesser one.
_TISSUE_SHARES = (0.25, 0.5, 0.75, 1.0)

# Sides of a body in the order of tables by side.
_SIDES = ("left", "right")

# Makes a check with the first call, and returns the same one with the next.
_Made = Callable[[], LimbCheck]


class BodyCheck:
    """Validity of whole postures of a person at one time, everything else as in a world; for one thread.

    Fingers stay as in the world, or with `fingers` are those of each posture; held objects move with their hands.
    `margin` is a clearance in metres. Belly and thighs may press each other as deep as soft tissue of a body folded
    that far. With others (`with_others`), a posture is free if it is free in all of them as well.
    """

    def __init__(self, world: World, who: str, t: float, *, margin: float = 0.0, fingers: bool = False) -> None:
        body = world.body(who)
        assert isinstance(body, Character), "people have postures"
        self.body, self.who, self.time, self.margin = body, who, t, margin
        rides = set() if fingers else {j for hand in ("left", "right") for j in finger_joints(body, hand)}
        eyes = {body.roles[role] for role in ("left_eye", "right_eye") if role in body.roles}
        self.joints = tuple(j for j in range(len(body.parents)) if j not in rides | eyes)
        self._rows = list(self.joints)
        self._least_tissue: Array = np.zeros(2)
        self._depths = [0.0]
        self._others: list[BodyCheck] = []
        soft: list[Sequence[Contact]] = [()]
        for share in _TISSUE_SHARES:
            found = tissue_contacts(body, who, (-np.inf, np.inf), share * world.caps.tissue)
            if found:
                self._depths.append(share * world.caps.tissue)
                soft.append(found)
        # one check for each depth on the left and on the right, made when it is needed: many bodies never fold so far
        levels = range(len(soft))
        self._checks: dict[tuple[int, int], _Made] = {
            both: cache(partial(self._made, world, soft, both)) for both in product(levels, levels)
        }

    def _made(self, world: World, soft: Sequence[Sequence[Contact]], levels: tuple[int, int]) -> LimbCheck:
        when = (self.time, self.time)
        for side, level in zip(_SIDES, levels, strict=True):
            thigh = f"{self.who}.{_thigh(self.body, side)}"
            world = world.with_(contacts=(*world.contacts, *(c for c in soft[level] if c.on == thigh)))
        check = LimbCheck(world, self.who, self.joints, when, margin=self.margin, exact=ExactWorld(world))
        items = check.around.near.shape[1]
        # a moving root comes near to everything
        near = np.ascontiguousarray(np.arange(items, dtype=np.int32)[None])
        check.around = check.around._replace(near=near, near_count=np.full(1, items, np.int32))
        return check

    def with_others(self, others: Sequence[BodyCheck]) -> BodyCheck:
        """The same check together with others of the same body, as at other times."""
        other = copy(self)
        other._others = list(others)
        return other

    def with_parts(self, joints: Collection[int]) -> BodyCheck:
        """The same check for a body that has only the parts of some joints, and what they carry."""
        other = self.with_others([one.with_parts(joints) for one in self._others])
        other._checks = {k: cache(partial(_with_parts, made, joints)) for k, made in self._checks.items()}
        return other

    def with_margin(self, margin: float) -> BodyCheck:
        """The same check with a clearance of no more than this one's, metres; others keep theirs."""
        other = self.with_others(self._others)
        other.margin = margin
        other._checks = {k: cache(partial(_with_margin, made, margin)) for k, made in self._checks.items()}
        return other

    def with_folds(self, T: Array) -> BodyCheck:
        """The same check with soft tissue as in the most folded of joints at T (N, J, 4, 4), as certificates allow."""
        other = self.with_margin(self.margin)
        if len(self._checks) > 1:
            other._least_tissue = _given_way(self.body, T)
        return other

    def blame(self, pose: Pose) -> Pair | None:
        """A pair that collides in a posture, by name; None where it is free."""
        q = np.ascontiguousarray(pose.rotations[self._rows])
        for check in self._of(pose):
            check.limb.offset[0] = pose.root
            pair = check.blame(q, self.time)
            if pair is None:
                break
        return pair or next((found for one in self._others if (found := one.blame(pose)) is not None), None)

    def free(self, pose: Pose, *, exact: bool = True) -> bool:
        """Return whether a posture is free; the exact test decides doubts (exact=False: not free)."""
        q = np.ascontiguousarray(pose.rotations[self._rows])
        for check in self._of(pose):
            check.limb.offset[0] = pose.root
            if check.free(q, self.time, exact):
                break
        else:
            return False
        for k, one in enumerate(self._others):
            if not one.free(pose, exact=exact):
                self._others.insert(0, self._others.pop(k))  # the next posture is in the way of the same
                return False
        return True

    def free_share(self, root: Array, rotations: Array) -> float:
        """Share of postures of one root (3,) and rotations (N, J, 4) that are free for certain, without exact tests."""
        if self._others:
            return float(np.mean([self.free(Pose.of(root, q), exact=False) for q in rotations]))
        q, free = np.ascontiguousarray(rotations[:, self._rows]), np.zeros(len(rotations), bool)
        rest, levels = np.arange(len(q)), np.zeros((len(q), 2), np.int64)
        for soft in (False, True):
            if soft:
                rest = np.flatnonzero(~free)
                levels[rest] = self._levels_of(np.repeat(root[None], len(rest), axis=0), rotations[rest])
                rest = rest[levels[rest].any(axis=1)]
            for left, right in np.unique(levels[rest], axis=0).tolist():
                check, own = self._checks[left, right](), rest[(levels[rest] == (left, right)).all(axis=1)]
                check.limb.offset[0] = root
                free[own] = check.batch(q[own], self.time) == FREE
        return float(free.mean())

    def first_hit(self, root: Array, rotations: Array) -> int | None:
        """Index of a colliding posture of roots (N, 3) and rotations (N, J, 4), None where all are free.

        The middle comes first, then quarters: obstacles of a path are mostly in its middle.
        """
        return next((int(k) for k in _spread(len(root)) if not self.free(Pose.of(root[k], rotations[k]))), None)

    def _of(self, pose: Pose) -> Iterator[LimbCheck]:
        """The strict check, then that of the deepest soft tissue which gives way in a posture."""
        yield self._checks[0, 0]()
        if len(self._checks) > 1 and (levels := self._levels(pose)) != (0, 0):
            yield self._checks[levels]()

    def _levels(self, pose: Pose) -> tuple[int, int]:
        """Numbers of the depths to which soft tissue gives way in a posture, on the left and on the right."""
        left, right = self._levels_of(pose.root[None], pose.rotations[None])[0].tolist()
        return left, right

    def _levels_of(self, root: Array, rotations: Array) -> NDArray[np.int64]:
        """The same (N, 2) of postures, roots (N, 3) and rotations (N, J, 4)."""
        if len(self._checks) == 1 or not len(root):
            return np.zeros((len(root), 2), np.int64)
        fold = folds(self.body, self.body.transforms(root, rotations))
        given = np.stack([tissue_depths(fold[side]) for side in _SIDES], axis=1)
        return np.searchsorted(self._depths, np.maximum(self._least_tissue, given), side="right") - 1


def _with_margin(made: _Made, margin: float) -> LimbCheck:
    """A check with another clearance."""
    return made().with_margin(margin)


def _with_parts(made: _Made, joints: Collection[int]) -> LimbCheck:
    """A check of the parts of some joints only, and of what they carry."""
    check = made()
    carriers = [check._joints.body[i] for i in check.limb.joint]
    own = [check._joints.body[i] for i in check.around.own_joint]
    one = check.with_margin(check.margin)
    one.around = one.around._replace(
        on=_present(check.around.on, carriers, joints), own_on=_present(check.around.own_on, own, joints)
    )
    return one


def _given_way(body: Character, T: Array) -> Array:
    """Depths (2,) to which soft tissue gives way with joints at T (..., J, 4, 4), the most folded, left and right."""
    fold = folds(body, T)
    return np.array([tissue_depths(np.min(fold[side])) for side in _SIDES])


def _thigh(body: Character, side: str) -> str:
    """Name of the shape of a thigh."""
    return next((shape.name for shape in body.shapes if shape.joint == body.roles.get(f"{side}_thigh")), "")


def _present(on: NDArray[np.uint8], carriers: list[int], joints: Collection[int]) -> NDArray[np.uint8]:
    """Presence (1, E) of what rides on carriers (E,), without what rides on other joints than some."""
    return np.where([j in joints for j in carriers], on, np.uint8(limb_world.AWAY)).astype(np.uint8)


def _spread(count: int) -> list[int]:
    """Numbers below `count`, the middle first, then quarters, ...: each once."""
    stride = 1
    while 2 * stride < count:
        stride *= 2
    out = []
    while stride >= 1:
        out += list(range(stride, count, 2 * stride))
        stride //= 2
    return [*out, 0] if count else []
