"""Joint limits of any rig in anatomical terms, and poses expressed in these terms.

The zero of a joint is the same for every rig: the rest pose with every bone turned by the smallest rotation
to its canonical direction (arms straight out, legs straight down, spine up), then twisted so that elbow
pits face the front, palms face down and knees bend straight back. So arms at 45 degrees, legs spread by 20
degrees or elbows bent at rest change nothing.

Signs of `JointLimit.coordinates` (x, y, z), right-handed, so y and z are mirrored between the sides:

- spine, neck, head: x bends forwards, y to the left, z turns to the left.
- clavicle, upper arm: x lowers (90 degrees is the hanging arm), y moves backwards on the left side and
  forwards on the right, z turns inwards on the left and outwards on the right.
- forearm: x flexes (from the outstretched arm the hand comes to the front), z pronates on the left and
  supinates on the right; 0 is the palm facing down with the arm outstretched, which is half way between the
  two.
- hand, fingers: x flexes towards the palm, y goes to the little finger's side on the left, to the thumb's
  on the right.
- thigh: x flexes (knee to the front), y moves to the right, z turns the toes to the right.
- shin: x flexes (heel to the back), z turns the toes to the right.
- foot: x lifts the toes, y turns the sole to the right, z turns the toes to the right (z points down to the
  sole).
- toes: x bends down. Eyes: x looks down, y to the left. Thumb: x bends towards palm and little finger.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.anatomy_rest import Zero, anatomical_zero, bone_end, carries_twist, thumb_side
from elbowroom.character.body import Character
from elbowroom.character.fit_shapes import stature
from elbowroom.character.limits import JointLimit
from elbowroom.character.range_of_motion import (
    CARRYING_ANGLE,
    CLAVICLE_LENGTH,
    FOOT_TURN,
    HIP_POLYGON,
    RANGES,
    RECORDED_ERROR,
    RECORDED_SLACK,
    SHOULDER_POLYGON,
    TOES_OBLIQUE,
    WRIST_IN_TURN,
    Range,
)
from elbowroom.character.rig_geometry import between
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue
from elbowroom.geometry.rotations import IDENTITY, Array, angle_between, conjugate, multiply

SwingShape = Literal["ellipse", "polygon"]

_BALL_FIELDS = ("bends", "straightens", "out", "back_in", "turns_out", "turns_in")

# A joint that turns by less than this in all samples is still.
_STILL = float(np.radians(1.0))

# A collar bone shorter than this share of a person's says no more about where the shoulder goes.
_STUB_GAINS = 1.8

_GROUPS = (("spine1", "spine2", "chest"), ("neck", "head"))


def limits_for(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    front: ArrayLike,
    *,
    swing: SwingShape = "ellipse",
    recorded: bool = False,
    poses: Array | None = None,
) -> tuple[JointLimit | None, ...]:
    """A limit for each joint that plays a part, None for the others, the root and digits that are one joint
    only.

    front (3,) is the direction faced in the rest pose; `swing` says how shoulders and hips are bounded. `recorded`
    is for rigs of motion capture and games: hinges get a little slack off their axis, and hands and feet
    get the twist of the bone above them if sample `poses` (N, J, 4) show it there, or if there are none to
    tell. The poses also show the true axes of elbows and knees.
    """
    front = np.asarray(front, dtype=float)
    twisting: set[str] = set()
    if recorded:
        for ends in (("left_hand", "right_hand"), ("left_foot", "right_foot")):
            if carries_twist(skeleton, roles, ends, poses) and not _turned_before(skeleton, roles, ends[0]):
                twisting |= set(ends)
    zero = anatomical_zero(skeleton, roles, front, poses, "left_hand" in twisting)
    limits: list[JointLimit | None] = [None] * len(skeleton)
    for part, j in roles.items():
        row = range_of(part)
        if row is None or part not in zero.frames or _whole_digit(part, roles):
            continue
        row = _shared_out(part, row, roles)
        if recorded:
            row = _taken_over(part, row, roles, poses)
            if part.endswith("_clavicle"):
                row = _on_a_stub(row, skeleton, roles, part)
            if part.endswith("_hand") and thumb_side(skeleton, roles, part.removesuffix("_hand")) is None:
                row = _any_way(row)
            row = _with_slack(part, row, part in twisting)
        parent = zero.world[skeleton.parents[j]] if skeleton.parents[j] >= 0 else IDENTITY
        pre = multiply(conjugate(parent), zero.frames[part])
        post = multiply(conjugate(zero.frames[part]), zero.world[j])
        limits[j] = _limit(part, row, pre, post, swing)
        if part.endswith("_hand"):
            _turning_joints(skeleton, roles, part, zero, limits)
    return tuple(limits)


def _turning_joints(
    skeleton: Skeleton, roles: Mapping[str, int], hand: str, zero: Zero, limits: list[JointLimit | None]
) -> None:
    """Joints between elbow and wrist turn the palm as the forearm can, and hardly do anything else."""
    fore = hand.replace("hand", "forearm")
    slack = float(np.radians(RECORDED_SLACK))
    for j in between(skeleton, roles, fore, hand):
        pre = multiply(conjugate(zero.world[skeleton.parents[j]]), zero.frames[fore])
        post = multiply(conjugate(zero.frames[fore]), zero.world[j])
        whole = _limit(fore, _with_slack(fore, RANGES["forearm"], False), pre, post, "ellipse")
        limits[j] = replace(whole, flexion=(-slack, slack))


def _turned_before(skeleton: Skeleton, roles: Mapping[str, int], hand: str) -> bool:
    """Return whether a rig has joints of their own between elbow and wrist for turning the palm."""
    return hand.endswith("_hand") and bool(between(skeleton, roles, hand.replace("hand", "forearm"), hand))


def range_of(part: str) -> Range | None:
    """The published range of a part, None for the pelvis, which moves freely."""
    plain = part.removeprefix("left_").removeprefix("right_")
    if plain in RANGES:
        return RANGES[plain]
    return RANGES.get("finger" + plain[-1]) if plain[-1] in "123" and part != plain else None


def _whole_digit(part: str, roles: Mapping[str, int]) -> bool:
    """Return whether one joint stands for a whole finger or thumb (CMU): nothing is measured there."""
    return part[-1:] == "1" and part.startswith(("left_", "right_")) and part[:-1] + "2" not in roles


def _shared_out(part: str, row: Range, roles: Mapping[str, int]) -> Range:
    """A rig with fewer joints in trunk or neck gets the whole range on those that it has."""
    for group in _GROUPS:
        if part in group:
            for f in _BALL_FIELDS:
                whole = sum(getattr(RANGES[p], f) for p in group)
                here = sum(getattr(RANGES[p], f) for p in group if p in roles)
                row = replace(row, **{f: getattr(row, f) * whole / here})
    return row


def _taken_over(part: str, row: Range, roles: Mapping[str, int], poses: Array | None) -> Range:
    """The range of a joint of trunk or neck together with those below it that never move in sample poses (N, J, 4)."""
    group = next((g for g in _GROUPS if part in g), ())
    if poses is None or len(poses) < 2 or part not in group:
        return row
    for below in reversed(group[: group.index(part)]):
        if below not in roles or np.any(angle_between(poses[:, roles[below]], poses[0, roles[below]]) > _STILL):
            break
        row = replace(row, **{f: getattr(row, f) + getattr(RANGES[below], f) for f in _BALL_FIELDS})
    return row


def _on_a_stub(row: Range, skeleton: Skeleton, roles: Mapping[str, int], part: str) -> Range:
    """The range of a collar bone that is shorter than a person's: the shoulder moves as far, by a larger angle."""
    end = bone_end(skeleton, roles, part)
    length = 0.0 if end is None else float(np.linalg.norm(end))
    factor = np.clip(CLAVICLE_LENGTH * stature(skeleton, roles) / max(length, 1e-6), 1.0, _STUB_GAINS)
    return replace(row, **{f: getattr(row, f) * factor for f in _BALL_FIELDS[:4]})


def _any_way(row: Range) -> Range:
    """The range of a wrist without fingers, where the direction of the palm is unknown.

    One marker on the hand and two at the wrist leave that open by 60 degrees in CMU's recordings: the hand may bend to
    all sides as far as it can to the palm.
    """
    return replace(row, straightens=row.bends, out=row.bends, back_in=row.bends)


def _with_slack(part: str, row: Range, twists: bool) -> Range:
    """The range for a recorded rig: room for its errors, and the twist of the bone above if it is here."""
    wider = {f: getattr(row, f) + RECORDED_ERROR for f in ("bends", "straightens")}
    if row.kind == "hinge":
        wider |= {f: max(getattr(row, f), RECORDED_SLACK) for f in ("off_axis", "turns_out", "turns_in")}
        if part.endswith("_forearm"):
            wider["off_axis"] = CARRYING_ANGLE + RECORDED_ERROR
        elif part.endswith("_toes"):
            wider |= dict.fromkeys(("off_axis", "turns_out", "turns_in"), TOES_OBLIQUE)
        return replace(row, **wider)
    wider |= {f: getattr(row, f) + RECORDED_ERROR for f in ("out", "back_in", "turns_out", "turns_in")}
    if row.kind == "ball":
        return replace(row, **wider)
    if part.endswith("_hand") and twists:
        wider |= {f: getattr(RANGES["forearm"], f) + RECORDED_ERROR for f in ("turns_out", "turns_in")}
    elif part.endswith("_foot") and twists:
        wider |= {f: getattr(RANGES["shin"], f) + FOOT_TURN for f in ("turns_out", "turns_in")}
    else:
        known = {"hand": WRIST_IN_TURN + RECORDED_ERROR, "foot": FOOT_TURN}
        slack = known.get(part.rpartition("_")[2], RECORDED_SLACK)
        wider |= dict.fromkeys(("turns_out", "turns_in"), slack)
    return replace(row, kind="ball", **wider)


def _limit(part: str, row: Range, pre: Array, post: Array, swing: SwingShape) -> JointLimit:
    bends, straightens, out, back_in, turns_out, turns_in, off_axis = (
        float(np.radians(v))
        for v in (
            *(row.bends, row.straightens, row.out, row.back_in),
            *(row.turns_out, row.turns_in, row.off_axis),
        )
    )
    right = part.startswith("right_")
    # Outward turns are negative on the left (z out along the arm, or down the leg) and positive on the
    # right and for the trunk, whose sides are alike.
    twist = (-turns_in, turns_out) if right else (-turns_out, turns_in)
    if row.kind == "hinge":
        return JointLimit("hinge", pre, post, flexion=(-straightens, bends), twist=twist, off_axis=off_axis)
    # +y leads backwards for the left arm and to the body's right for legs.
    out_is_plus = right if part.endswith(("_thigh", "_foot")) else not right
    y = (back_in, out) if out_is_plus else (out, back_in)
    polygon = None
    if swing == "polygon" and part.endswith("_upper_arm"):
        polygon = np.radians(SHOULDER_POLYGON) * [1.0, 1.0 if right else -1.0]
    elif swing == "polygon" and part.endswith("_thigh"):
        polygon = np.radians(HIP_POLYGON) * [1.0, 1.0 if right else -1.0]
    return JointLimit(row.kind, pre, post, swing=(straightens, bends, *y), twist=twist, polygon=polygon)


def coordinates(character: Character, rotations: ArrayLike) -> dict[str, Array]:
    """Poses (..., J, 4) in anatomical terms: part -> (..., 3) radians, where limited; signs as above."""
    q = np.asarray(rotations, dtype=float)
    out = {}
    for part, j in character.roles.items():
        limit = character.limits[j] if character.limits else None
        if limit is not None:
            out[part] = limit.coordinates(q[..., j, :])
    return out


def rotations(character: Character, terms: Mapping[str, ArrayLike], base: ArrayLike | None = None) -> Array:
    """Local rotations (..., J, 4) from anatomical terms; other joints keep `base` (default: rest)."""
    start = np.asarray(character.skeleton.rest if base is None else base, dtype=float)
    lead = np.broadcast_shapes(start.shape[:-2], *(np.shape(c)[:-1] for c in terms.values()))
    out = np.array(np.broadcast_to(start, (*lead, *start.shape[-2:])))
    for part, c in terms.items():
        j = character.role(part)
        limit = character.limits[j] if character.limits else None
        if limit is None:
            raise BadValue(f"'{part}' of {character.name} has no joint limits, which define its coordinates.")
        out[..., j, :] = limit.rotation(c)
    return out
