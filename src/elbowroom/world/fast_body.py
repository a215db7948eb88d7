"""Fast collision check of whole postures at one time, root included; never free where the exact test hits.

It is the check of a limb (`world.fast`) whose joints are all of the body's and whose base is the world; parts may be
left out, so that a planner can check a body that has only some of its limbs yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.hand_shapes import finger_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import limb_world
from elbowroom.kernels.fields import FREE
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.own_pairs import folds, tissue_contacts, tissue_depth
from elbowroom.world.pairs import Pair
from elbowroom.world.world import World


class BodyCheck:
    """Validity of whole postures of a person at one time, everything else as in a world; for one thread.

    Fingers stay as in the world, or with `fingers` are those of each posture; held objects move with their hands.
    `margin` is a clearance in metres. Belly and thighs may press each other as deep as soft tissue of a body folded
    that far.
    """

    def __init__(self, world: World, who: str, t: float, *, margin: float = 0.0, fingers: bool = False) -> None:
        body = world.body(who)
        assert isinstance(body, Character), "people have postures"
        self.body, self.who, self.time, self.margin = body, who, t, margin
        rides = set() if fingers else {j for hand in ("left", "right") for j in finger_joints(body, hand)}
        eyes = {body.roles[role] for role in ("left_eye", "right_eye") if role in body.roles}
        self.joints = tuple(j for j in range(len(body.parents)) if j not in rides | eyes)
        self._rows = list(self.joints)
        soft = tissue_contacts(body, who, (-np.inf, np.inf), world.caps.tissue)
        self._most_tissue = world.caps.tissue
        worlds = [world.with_(contacts=(*world.contacts, *some)) for some in ([], soft)] if soft else [world]
        self._checks = [self._made(one, margin) for one in worlds]

    def _made(self, world: World, margin: float) -> LimbCheck:
        check = LimbCheck(world, self.who, self.joints, (self.time, self.time), margin=margin, exact=ExactWorld(world))
        items = check.around.near.shape[1]
        # a moving root comes near to everything
        near = np.ascontiguousarray(np.arange(items, dtype=np.int32)[None])
        check.around = check.around._replace(near=near, near_count=np.full(1, items, np.int32))
        return check

    def with_parts(self, joints: Collection[int]) -> BodyCheck:
        """The same check for a body that has only the parts of some joints, and what they carry."""
        other = object.__new__(BodyCheck)
        vars(other).update(vars(self))
        other._checks = []
        for check in self._checks:
            carriers = [check._joints.body[i] for i in check.limb.joint]
            own = [check._joints.body[i] for i in check.around.own_joint]
            one = check.with_margin(check.margin)
            one.around = one.around._replace(
                on=_present(check.around.on, carriers, joints), own_on=_present(check.around.own_on, own, joints)
            )
            other._checks.append(one)
        return other

    def with_margin(self, margin: float) -> BodyCheck:
        """The same check with a clearance of no more than this one's, metres."""
        other = object.__new__(BodyCheck)
        vars(other).update(vars(self))
        other.margin, other._checks = margin, [check.with_margin(margin) for check in self._checks]
        return other

    def blame(self, pose: Pose) -> Pair | None:
        """A pair that collides in a posture, by name; None where it is free."""
        pair = None
        for check, q in self._placed(pose):
            pair = check.blame(q, self.time)
            if pair is None:
                break
        return pair

    def free(self, pose: Pose, *, exact: bool = True) -> bool:
        """Return whether a posture is free; the exact test decides doubts (exact=False: not free)."""
        q = np.ascontiguousarray(pose.rotations[self._rows])
        for soft, check in enumerate(self._checks):
            check.limb.offset[0] = pose.root
            if check.free(q, self.time, exact) and (not soft or self._folded(pose)):
                return True
        return False

    def free_share(self, root: Array, rotations: Array) -> float:
        """Share of postures of one root (3,) and rotations (N, J, 4) that are free for certain, without exact tests."""
        q, free = np.ascontiguousarray(rotations[:, self._rows]), np.zeros(len(rotations), bool)
        for soft, check in enumerate(self._checks):
            check.limb.offset[0] = root
            for k in np.flatnonzero(~free & (check.batch(q, self.time) == FREE)):
                free[k] = not soft or self._folded(Pose.of(root, rotations[k]))
        return float(free.mean())

    def first_hit(self, root: Array, rotations: Array) -> int | None:
        """Index of a colliding posture of roots (N, 3) and rotations (N, J, 4), None where all are free.

        The middle comes first, then quarters: obstacles of a path are mostly in its middle.
        """
        return next((int(k) for k in _spread(len(root)) if not self.free(Pose.of(root[k], rotations[k]))), None)

    def _placed(self, pose: Pose) -> Iterator[tuple[LimbCheck, Array]]:
        """Checks for a posture, the strict one first, with its root in them, and the rotations that they take."""
        q = np.ascontiguousarray(pose.rotations[self._rows])
        for soft, check in enumerate(self._checks):
            if soft and not self._folded(pose):
                return
            check.limb.offset[0] = pose.root
            yield check, q

    def _folded(self, pose: Pose) -> bool:
        """Return whether a body is folded so far that soft tissue gives way by the largest amount."""
        fold = folds(self.body, self.body.skeleton.at(pose))
        return max(tissue_depth(float(angle)) for angle in fold.values()) >= self._most_tissue


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
