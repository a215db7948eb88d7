"""Joint tree and poses of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import Array, conjugate, multiply, normalize
from elbowroom.kernels import pose as pose_kernels


@dataclass(frozen=True, eq=False)
class Pose:
    """Pose of a body: `root` (3,) in metres and one flat row `q` of everything else.

    The first four numbers of `q` are always the root's orientation, so people and robots are placed alike. For a
    character `q` is all joint quaternions one after another (`rotations` is a view of it); a robot has joint
    values behind the first four.
    """

    root: Array  # (3,)
    q: Array  # (n,)

    @property
    def rotations(self) -> Array:
        """Local joint quaternions of a character, (J, 4), a view."""
        return self.q.reshape(-1, 4)

    @staticmethod
    def of(root: ArrayLike, rotations: ArrayLike) -> Pose:
        """Pose of a character from a position (3,) and local quaternions (J, 4)."""
        return Pose(frozen(root), frozen(rotations).reshape(-1))


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints in parent-first order; joint 0 is the root.

    A joint's frame sits at `offsets[j]` in its parent's frame and is turned by its local quaternion. `rest` is a
    pose with a meaning (standing, facing `front`), not the file's zero pose: `offsets[0]` is where the root is then.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int32]  # (J,), -1 for the root
    offsets: Array  # (J, 3)
    rest: Array = field(default=None)  # type: ignore[arg-type]  # (J, 4), identity where not given

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        n = len(self.names)
        parents = frozen(self.parents, np.int32)
        if n == 0 or len(set(self.names)) != n:
            raise BadValue("a skeleton needs at least one joint and unique joint names.")
        if parents.shape != (n,) or parents[0] != -1 or np.any(parents[1:] < 0) or np.any(parents >= np.arange(n)):
            raise BadValue("a skeleton needs one root and its joints in parent-first order.")
        rest = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)) if self.rest is None else normalize(self.rest)
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "offsets", frozen(self.offsets).reshape(n, 3))
        object.__setattr__(self, "rest", frozen(rest).reshape(n, 4))

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Index of a joint by name."""
        try:
            return self._index[name]
        except KeyError:
            raise UnknownName("joint", name, self.names) from None

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Child joints of each joint."""
        kids: list[list[int]] = [[] for _ in self.names]
        for j, p in enumerate(self.parents):
            if p >= 0:
                kids[p].append(j)
        return tuple(tuple(k) for k in kids)

    def subtree(self, joint: int) -> tuple[int, ...]:
        """A joint and everything that hangs on it."""
        return subtree(self.parents, joint)

    @cached_property
    def rest_pose(self) -> Pose:
        """The rest pose."""
        return Pose.of(self.offsets[0], self.rest)

    @cached_property
    def T_rest(self) -> Array:
        """World transforms of all joints in the rest pose, (J, 4, 4)."""
        return frozen(self.forward(self.offsets[0], self.rest))

    def forward(self, root: ArrayLike, rotations: ArrayLike, out: Array | None = None) -> Array:
        """World transforms of all joints.

        root (3,) or (N, 3); rotations (J, 4) or (N, J, 4). Returns (J, 4, 4) or (N, J, 4, 4); a float64 `out` of
        that shape is filled and returned instead of a new array.
        """
        q = np.ascontiguousarray(rotations, dtype=float)
        p = np.ascontiguousarray(root, dtype=float)
        if out is None:
            out = np.zeros((*q.shape[:-1], 4, 4))
        n, j = (1 if q.ndim == 2 else len(q)), len(self)
        pose_kernels.forward(self.parents, self.offsets, p.reshape(n, 3), q.reshape(n, j, 4), out.reshape(n, j, 4, 4))
        return out

    def orientations(self, rotations: ArrayLike) -> Array:
        """World rotations of all joints (..., J, 4) from local ones of the same shape."""
        q = np.asarray(rotations, dtype=float)
        out = np.array(q)
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                out[..., j, :] = multiply(out[..., parent, :], q[..., j, :])
        return out

    def local(self, orientations: ArrayLike) -> Array:
        """Local rotations of all joints (..., J, 4) from world ones: the inverse of `orientations`."""
        W = np.asarray(orientations, dtype=float)
        out = np.array(W)
        out[..., 1:, :] = multiply(conjugate(W[..., self.parents[1:], :]), W[..., 1:, :])
        return out

    def at(self, pose: Pose) -> Array:
        """World transforms of all joints in a pose, (J, 4, 4)."""
        return self.forward(pose.root, pose.rotations)


def subtree(parents: NDArray[np.int32], joint: int) -> tuple[int, ...]:
    """A joint and everything that hangs on it, in a parent-first tree (J,)."""
    inside = {joint}
    for j, parent in enumerate(parents.tolist()):
        if parent in inside:
            inside.add(j)
    return tuple(sorted(inside))


def parent_first(names: Sequence[str], parents: Sequence[int]) -> list[int]:
    """An order of joints in which every parent comes before its children, keeping the given order where it can.

    Raises `BadValue` with the joint's name when the parents form a cycle or point nowhere.
    """
    n = len(names)
    order: list[int] = []
    placed = [False] * n
    for start in range(n):
        branch: list[int] = []
        j = start
        while j >= 0 and not placed[j]:
            if len(branch) > n:
                raise BadValue(f"the joint tree has a cycle through '{names[start]}'.")
            branch.append(j)
            j = parents[j]
            if j >= n:
                raise BadValue(f"the parent of joint '{names[branch[-1]]}' does not exist.")
        for j in reversed(branch):
            placed[j] = True
            order.append(j)
    return order
