"""Standing postures: feet in place, the centre of mass over them, by the least change (P2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.masses import heavy_joints
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.kernels import component as kernels
from elbowroom.posing.balance import hull_of
from elbowroom.posing.whole_body import Load, WholeBody, support_of

# Excess of leg joints over their limits, radians: rounding.
_BEYOND_RAD = 0.02


class Balancer:
    """Keeps feet in place and the centre of mass over them, by the least change that the whole-body solver finds.

    `margin_m` is the distance of the centre of mass from the edge of the support; `others` (K, 2) are further
    supporting points, such as a hand on a table, and `pinned` the transforms (4, 4) of such hands by name; `load` gives
    what is carried in a posture.
    """

    def __init__(
        self,
        body: Character,
        floor: float,
        margin_m: float,
        others: Array | None = None,
        load: Callable[[Array], Load | None] | None = None,
        pinned: Mapping[str, Array] | None = None,
        wanted: bool = True,
    ) -> None:
        self.body, self.floor, self.margin_m, self.load, self.wanted = body, floor, margin_m, load, wanted
        self.others = np.zeros((0, 2)) if others is None else others
        self.pinned = dict(pinned or {})
        self.solver = WholeBody(body)
        self._supports: dict[bytes, Array | None] = {}
        self._masses: kernels.Masses | None = None
        if body.masses is not None:
            joints, skeleton = len(body.skeleton), body.skeleton
            self._masses = kernels.Masses(
                skeleton.parents, skeleton.offsets, *heavy_joints(body), np.zeros((1, joints, 4, 4)), np.zeros((1, 3))
            )

    def support(self, pose: Pose, feet: Mapping[str, Array]) -> Array | None:
        """Corners (K, 2) of the area for the centre of mass, feet at transforms (4, 4) as in a nearby posture."""
        if not self.wanted:
            return None
        key = np.round(np.concatenate([T[:3].ravel() for T in feet.values()]), 4).tobytes()
        if key not in self._supports:
            self._supports[key] = self._corners(pose)
        return self._supports[key]

    def _corners(self, pose: Pose) -> Array | None:
        corners = np.concatenate([support_of(self.body, pose, self.floor), self.others])
        if len(corners) < 3:
            return None
        return shrunk(corners, self.margin_m)

    def margin(self, pose: Pose, corners: Array | None) -> float:
        """Distance of the centre of mass, with the load, inside the corners (K, 2), metres; inf without any."""
        if corners is None or self._masses is None:
            return float(np.inf)
        held = np.zeros(4)
        if self.load is not None and (load := self.load(self.body.skeleton.at(pose))) is not None:
            assert self.body.masses is not None
            held[0], held[1:] = load.mass / self.body.masses.total, load.center
        root, rotations = np.array(pose.root)[None], np.array(pose.rotations)[None]
        return float(kernels.support_margin(self._masses, root, rotations, held, corners))

    def closed(self, pose: Pose, feet: Mapping[str, Array], like: Pose) -> Pose | None:
        """A posture with feet and pinned hands in place by their limbs alone, if balanced, else `projected`."""
        return self.by_limbs(pose, feet, like) or self.projected(pose, feet, like)

    def by_limbs(self, pose: Pose, feet: Mapping[str, Array], like: Pose) -> Pose | None:
        """A posture with feet and pinned hands in place by their limbs alone; None out of reach or balance."""
        T = self.body.skeleton.at(pose)  # none of these limbs carries another
        for end, T_end in {**self.pinned, **feet}.items():
            limb = self.solver.limb(end)
            described = limb.describe(T[limb.parent], pose.rotations[list(limb.joints)])
            solved = limb.solve(T[limb.parent], T_end, *described)
            if not solved.reached.all() or float(solved.excess.max()) > _BEYOND_RAD:
                return None
            pose = limb.posed(pose, solved)
        return pose if self.margin(pose, self.support(like, feet)) >= 0.0 else None

    def projected(self, pose: Pose, feet: Mapping[str, Array], like: Pose) -> Pose | None:
        """The balanced posture nearest to one, feet in place; None where the solver finds none.

        `like` is a posture with the feet there, which gives the support.
        """
        corners = self.support(like, feet)
        load = None
        if corners is not None and self.load is not None:
            load = self.load(self.body.skeleton.at(pose))
        found = self.solver.solve(pose, {**self.pinned, **feet}, support=corners, load=load)
        return found.pose if found.found else None


def shrunk(points: Array, by_m: float) -> Array:
    """Hull (K, 2) of points scaled about its middle so that its nearest edge moves in by `by_m`."""
    corners = hull_of(points)
    if not len(corners):
        return corners
    middle = corners.mean(axis=0)
    edge = np.roll(corners, -1, axis=0) - corners
    normal = np.stack([-edge[:, 1], edge[:, 0]], axis=1) / np.linalg.norm(edge, axis=1, keepdims=True)
    inner = float(((middle - corners) * normal).sum(axis=1).min())
    return np.asarray(middle + max(1.0 - by_m / inner, 0.05) * (corners - middle))
