"""Joint limits of any rig in anatomical terms, and poses expressed in these terms.

The zero of a joint is the same for every rig: the rest pose with every bone turned by the smallest rotation to its
canonical direction (arms straight out, legs straight down, spine up), then twisted so that elbow pits face the
front and knees bend straight back. So an A pose, legs spread by 20 degrees or a bent elbow at rest change nothing.

Signs, in radians, per part (x, y, z of `JointLimit.coordinates`):

- spine, neck, head: x bends forwards, y to the left, z turns to the left.
- upper arm: x lowers (90 degrees is the hanging arm), y moves backwards on the left side and forwards on the right
  (a right-handed frame cannot have both), z twists about the arm. Clavicle alike: x lowers, y as the arm.
- forearm: x flexes (from the outstretched arm the hand comes to the front), z twists (0 is palms down there).
- hand, fingers: x flexes towards the palm; y goes to the little finger's side on the left, to the thumb's on the right.
- thigh: x flexes (knee to the front), y moves to the right; shin: x flexes (heel back); foot: x lifts the toes,
  y rolls the sole to the right... all about a z that points down. Toes: x bends them down.
- eyes: x looks down, y to the right seen from the person's left eye's frame: z is the gaze.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.anatomy_frames import anatomical_zero
from elbowroom.character.body import Character
from elbowroom.character.limits import JointLimit
from elbowroom.character.range_of_motion import RANGES, SHOULDER_POLYGON, Range
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import Array, conjugate, multiply

SwingShape = Literal["ellipse", "polygon"]


def limits_for(
    skeleton: Skeleton,
    roles: Mapping[str, int],
    front: ArrayLike,
    *,
    swing: SwingShape = "ellipse",
    poses: Array | None = None,
) -> tuple[JointLimit | None, ...]:
    """A limit for each joint that plays a part, None for the others and for the root.

    front (3,) is the direction faced in the rest pose; `swing` says how the shoulder is bounded. `poses` (N, J, 4),
    where given, show the true axes of elbows and knees and where the forearm's twist is carried.
    """
    limits: list[JointLimit | None] = [None] * len(skeleton)
    zero = anatomical_zero(skeleton, roles, np.asarray(front, dtype=float), poses)
    for part, j in roles.items():
        row = range_of(part)
        if row is None or part not in zero.frames:
            continue
        parent = zero.world[skeleton.parents[j]] if skeleton.parents[j] >= 0 else np.array([1.0, 0, 0, 0])
        pre = multiply(conjugate(parent), zero.frames[part])
        post = multiply(conjugate(zero.frames[part]), zero.world[j])
        limits[j] = _limit(part, _shared_out(part, row, roles, zero.twist_on_hand), pre, post, swing)
    return tuple(limits)


def range_of(part: str) -> Range | None:
    """The published range of a part, None for the pelvis, which moves freely."""
    plain = part.removeprefix("left_").removeprefix("right_")
    if plain in RANGES:
        return RANGES[plain]
    return RANGES.get("finger" + plain[-1]) if plain[-1:] in "123" and part != plain else None


def _shared_out(part: str, row: Range, roles: Mapping[str, int], twist_on_hand: bool) -> Range:
    """A rig without some part of the trunk gets its range on the parts that it has; so does a wrist that must twist."""
    from dataclasses import replace

    for group in (("spine1", "spine2", "chest"), ("neck", "head")):
        if part in group:
            have = [p for p in group if p in roles]
            scale = {
                f: sum(getattr(RANGES[p], f) for p in group) / sum(getattr(RANGES[p], f) for p in have)
                for f in ("bends", "straightens", "out", "back_in", "turns_out", "turns_in")
            }
            return replace(row, **{f: s * getattr(row, f) for f, s in scale.items()})
    if part.endswith("_hand") and twist_on_hand:
        fore = RANGES["forearm"]
        return replace(row, kind="ball", turns_out=fore.turns_out, turns_in=fore.turns_in)
    return row


def _limit(part: str, row: Range, pre: Array, post: Array, swing: SwingShape) -> JointLimit:
    a, b, o, i, to, ti = np.radians(
        [row.bends, row.straightens, row.out, row.back_in, row.turns_out, row.turns_in]
    )
    y = _y_range(part, o, i)
    twist = _twist_range(part, to, ti)
    if row.kind == "hinge":
        return JointLimit(
            "hinge", pre, post, flexion=(-b, a), twist=twist, off_axis=float(np.radians(row.off_axis))
        )
    polygon = None
    if swing == "polygon" and part.endswith("_upper_arm"):
        polygon = np.radians(SHOULDER_POLYGON) * [1.0, -1.0 if part.startswith("left") else 1.0]
    return JointLimit(row.kind, pre, post, swing=(b, a, *y), twist=twist, polygon=polygon)


def _y_range(part: str, out: float, back_in: float) -> tuple[float, float]:
    """Half axes towards -y and +y of a swing."""
    left = part.startswith("left")
    if part.endswith(("_thigh", "_foot", "_eye")):
        # +y leads to the body's right, with z down or to the front
        return (out, back_in) if left else (back_in, out)
    if part.startswith(("left", "right")):
        # arm and hand: out = backwards / little finger's side, which is +y on the left
        return (back_in, out) if left else (out, back_in)
    return (back_in, out)


def _twist_range(part: str, turns_out: float, turns_in: float) -> tuple[float, float]:
    """Twist bounds about z, given outward and inward rotation."""
    left = part.startswith("left")
    if part.endswith(("_thigh", "_shin")):
        # z points down: outward rotation of the left leg is negative
        return (-turns_out, turns_in) if left else (-turns_in, turns_out)
    if part.startswith(("left", "right")):
        # z points out along the arm: outward rotation (elbow pit or palm upwards) is positive on the left... see tests
        return (-turns_in, turns_out) if left else (-turns_out, turns_in)
    return (-turns_in, turns_out)


def coordinates(character: Character, rotations: ArrayLike) -> dict[str, Array]:
    """Poses (..., J, 4) in anatomical terms: part -> (..., 3) radians, for parts with limits. See the signs above."""
    q = np.asarray(rotations, dtype=float)
    out = {}
    for part, j in character.roles.items():
        limit = character.limits[j] if character.limits else None
        if limit is not None:
            out[part] = limit.coordinates(q[..., j, :])
    return out


def rotations(character: Character, terms: Mapping[str, ArrayLike], base: ArrayLike | None = None) -> Array:
    """Local rotations (..., J, 4) from anatomical terms; joints not named keep `base` (default: the rest pose)."""
    lead = np.broadcast_shapes(*(np.shape(c)[:-1] for c in terms.values())) if terms else ()
    start = character.skeleton.rest if base is None else np.asarray(base, dtype=float)
    lead = np.broadcast_shapes(lead, start.shape[:-2])
    out = np.array(np.broadcast_to(start, (*lead, *start.shape[-2:])))
    for part, c in terms.items():
        j = character.role(part)
        limit = character.limits[j]
        if limit is None:
            raise ValueError(f"'{part}' has no limits to express it in")
        out[..., j, :] = limit.rotation(c)
    return out
