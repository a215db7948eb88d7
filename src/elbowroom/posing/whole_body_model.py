"""A character as the compiled whole-body solver takes it: moving pieces, variables, scratch memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit, stacked
from elbowroom.character.markers import MARKERS
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import IDENTITY
from elbowroom.kernels import whole_body as kernels
from elbowroom.kernels.limb_ik import Geometry
from elbowroom.posing.limb_ik import LimbIK

SPINE = ("spine1", "spine2", "chest")
CLAVICLES = ("left_clavicle", "right_clavicle")
HEAD = ("neck", "head")

# Weights of staying at the initial posture, per radian of each part and metre of the root, against 1 for a metre of a
# marker; tuned on boxes so that knees and trunk share the bending.
_STAY_ROOT_M = 1.0
_STAY_ROOT = 0.15
_STAY_SPINE = 0.10
_STAY_CLAVICLE = 1.0
_STAY_HEAD = 0.10
_STAY_LIMB = 0.08

# Limits of swing and twist for a joint without its own, radians.
_ANY = 1.0


class Problem(NamedTuple):
    """First arguments of the compiled solver for one set of limbs with targets, and for one thread."""

    model: kernels.Model
    limbs: tuple[Geometry, Geometry, Geometry, Geometry]
    scratch: kernels.Scratch

    def copy(self) -> Problem:
        """A copy for another thread."""
        joints = self.model.joints._replace(q=np.zeros_like(self.model.joints.q))
        return Problem(self.model._replace(joints=joints), self.limbs, _scratch_for(self.model))


def problem_of(
    body: Character, limbs: list[LimbIK], free: list[LimbIK], spare: LimbIK | None, *, head: bool, stay: float
) -> Problem:
    """Problem of a character with targets for `limbs`, in their order.

    free: limbs that are variables; spare: any limb, for the memory of those without a target; head: whether neck and
    head move; stay: weight of the initial posture, normally 1.
    """
    terms = _moved(body, free, head)
    moved = sorted(terms)
    variables = [(0, term) for term in range(6)]
    variables += [(1 + k, term) for k, j in enumerate(moved) for term in terms[j]]
    variables += [(len(moved) + 1 + 3 * k, -1) for k in range(len(limbs))]
    joints = [0, *moved, *(j for limb in limbs for j in limb.joints)]
    piece = {j: p for p, j in enumerate(joints)}
    piece_of = np.zeros(len(body.skeleton), np.int64)
    for j in range(1, len(body.skeleton)):
        piece_of[j] = piece.get(j, piece_of[body.parents[j]])
    markers = [body.markers[label] for label in MARKERS if label in body.markers]
    masses = body.masses
    model = kernels.Model(
        parents=body.parents,
        offsets=body.skeleton.offsets,
        joint=np.array(joints, np.int64),
        above=np.array([-1, *(piece_of[body.parents[j]] for j in joints[1:])], np.int64),
        piece_of=piece_of,
        joints=stacked([range_of(body, j) for j in joints]),
        moved=len(moved),
        limbs=len(limbs),
        variable_piece=np.array([p for p, _ in variables], np.int64),
        variable_term=np.array([term for _, term in variables], np.int64),
        stay=stay * np.array([_stay(body.roles, j) for j in joints]),
        stay_root=stay * _STAY_ROOT_M,
        point_joint=np.array([m.joint for m in markers], np.int64),
        point=np.array([m.offset for m in markers]).reshape(-1, 3),
        mass=frozen(np.zeros(len(body.skeleton)) if masses is None else masses.mass),
        center=frozen(np.zeros((len(body.skeleton), 3)) if masses is None else masses.center),
    )
    filled = [limb.geometry for limb in limbs] or ([spare.geometry] if spare is not None else [])
    if not filled:
        raise BadValue(f"{body.name} has no arm or leg of three joints; it needs one.")
    filled += [filled[0]] * (kernels.LIMBS - len(filled))
    return Problem(model, (filled[0], filled[1], filled[2], filled[3]), _scratch_for(model))


def _moved(body: Character, free: list[LimbIK], head: bool) -> dict[int, tuple[int, ...]]:
    """Joints that are variables, each with its free coordinates."""
    roles = body.roles
    terms: dict[int, tuple[int, ...]] = {
        roles[role]: (0, 1, 2) for role in (*SPINE, *(HEAD if head else ())) if role in roles
    }
    terms |= {roles[role]: (0, 1) for role in CLAVICLES if role in roles}
    for limb in free:
        first, middle, last = limb.joints
        terms |= {first: (0, 1, 2), middle: (0, 2), last: (0, 1, 2) if limb.geometry.end_turns else (0, 1)}
    terms.pop(0, None)
    return terms


def _stay(roles: Mapping[str, int], joint: int) -> float:
    """Weight per radian of a joint's staying where it was."""
    if joint == 0:
        return _STAY_ROOT
    names = {role for role, j in roles.items() if j == joint}
    for parts, weight in ((SPINE, _STAY_SPINE), (CLAVICLES, _STAY_CLAVICLE), (HEAD, _STAY_HEAD)):
        if names & set(parts):
            return weight
    return _STAY_LIMB


def range_of(body: Character, joint: int) -> JointLimit:
    """Limits of a joint, wide for one that has none of its own."""
    limit = body.limits[joint] if body.limits else None
    if limit is not None:
        return limit
    return JointLimit("ball", IDENTITY, IDENTITY, (_ANY, _ANY, _ANY, _ANY), (-_ANY, _ANY))


def _scratch_for(model: kernels.Model) -> kernels.Scratch:
    """Scratch memory for one thread."""
    joints, pieces, cells, points = len(model.parents), len(model.joint), len(model.variable_piece), len(model.point)
    most = kernels.ROWS_OF_ROOT + kernels.ROWS_OF_JOINT * model.moved + kernels.ROWS_OF_LIMB * model.limbs
    most += kernels.MOST_CORNERS + 3 * points
    limbs = kernels.LIMBS
    return kernels.Scratch(
        T=np.zeros((1, joints, 4, 4)),
        root=np.zeros((2, 7)),
        terms=np.zeros((2, pieces, 3)),
        lines=np.zeros((2, limbs, 6)),
        kept=np.zeros((limbs, 2)),
        twist=np.zeros(limbs),
        lead=np.zeros((pieces, 4)),
        offset=np.zeros((pieces, 3)),
        mass=np.zeros(pieces),
        center=np.zeros((pieces, 3)),
        point=np.zeros((points, 3)),
        turn=np.zeros((pieces, 4)),
        place=np.zeros((pieces, 3)),
        before=np.zeros((pieces, 4)),
        origin=np.zeros(7),
        first=np.zeros((pieces, 3)),
        gap=np.zeros(limbs),
        excess=np.zeros(limbs),
        com=np.zeros(3),
        margin=np.zeros(1),
        rows=np.zeros(most),
        slopes=np.zeros((limbs, 7, 34)),
        moves=np.zeros((pieces, 6, cells)),
        base_moves=np.zeros((6, cells)),
        jacobian=np.zeros((most, cells)),
        normal=np.zeros((cells, cells)),
        pivot=np.zeros(cells),
        pull=np.zeros(cells),
        step=np.zeros(cells),
        spare=np.zeros((6, 4)),
        spare_rows=np.zeros(kernels.ROWS_OF_LIMB),
        spare_line=np.zeros(6),
    )
