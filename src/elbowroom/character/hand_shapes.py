"""Named hand shapes, in coordinates that fit either hand of any rig with fingers.

A shape has the bend of each joint of each finger, in the coordinates of `character.limits.JointLimit` about a zero that
all rigs share: fingers straight, thumb as it stands off the built-in person's hand. Spread and twist are written for
the left hand; the right one gets their mirror image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.anatomy_rest import frame
from elbowroom.character.body import Body, Character
from elbowroom.character.hands import BONES, FINGERS, HAND_LENGTH, finger_direction, finger_names, grip_frame
from elbowroom.character.limits import JointLimit
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import frozen
from elbowroom.geometry.rotations import IDENTITY, Array, about, conjugate, multiply

# Signs of mirrored joint coordinates: bends stay, turns to a side and twists change sign.
_MIRROR = np.array([1.0, -1.0, -1.0])

# Widths that a hand of that length takes between fingers and thumb, metres.
WIDEST_POWER, WIDEST_PINCH = 0.095, 0.085

# Half the thickness of a finger, and how far behind the knuckles the middle of a held rod lies, shares of hand length.
_FINGER_RADIUS = 0.045
_ROD_BEHIND_KNUCKLES = 0.06


@dataclass(frozen=True, eq=False)
class HandShape:
    """Bend of a hand's fingers: `coordinates` (5, 3, 3) radians, by finger (thumb first), joint, coordinate.

    Terms are bend towards the palm, turn to the little finger's side, and twist, as of the left hand.
    """

    name: str
    coordinates: Array

    def __post_init__(self) -> None:
        coordinates = frozen(self.coordinates)
        if coordinates.shape != (5, 3, 3) or not np.all(np.isfinite(coordinates)):
            raise BadValue(f"the hand shape '{self.name}' needs 5 fingers of 3 joints with 3 finite coordinates each.")
        object.__setattr__(self, "coordinates", coordinates)


Row = tuple[float, float, float, float]


def _shape(name: str, thumb: tuple[float, float, float, float, float], *fingers: Row) -> HandShape:
    """Coordinates from degrees: thumb (bend, turn, twist, bend, bend); others (bend, turn, bend, bend), to the tip."""
    coordinates = np.zeros((5, 3, 3))
    coordinates[0, 0], coordinates[0, 1:, 0] = thumb[:3], thumb[3:]
    for i, (bend, aside, middle, tip) in enumerate(fingers, start=1):
        coordinates[i, 0, :2], coordinates[i, 1:, 0] = (bend, aside), (middle, tip)
    return HandShape(name, np.radians(coordinates))


# Spreads of a loose hand: index, middle, ring, little finger.
REST = _shape("rest", (18, 6, 0, 12, 18), (18, -1, 26, 14), (24, 0, 32, 17), (28, 1, 36, 19), (30, 2, 36, 20))
FLAT = _shape("flat", (-4, 14, 0, 2, 4), (2, -3, 4, 2), (2, 0, 4, 2), (2, 3, 4, 2), (2, 7, 4, 2))
POINT = _shape("point", (36, 6, 12, 30, 40), (4, 0, 4, 2), (76, 0, 96, 56), (80, 0, 98, 58), (82, 0, 96, 58))
HOOK = _shape("hook", (4, 12, 0, 12, 14), (14, -1, 84, 44), (14, 0, 86, 46), (16, 1, 86, 46), (18, 2, 84, 44))
FIST = _shape("fist", (40, 8, 12, 36, 52), (84, -1, 102, 66), (86, 0, 104, 68), (88, 1, 104, 68), (88, 2, 102, 66))
PINCH = _shape("pinch", (34, 4, 14, 10, 20), (58, 0, 46, 24), (60, 0, 46, 24), (60, 1, 52, 28), (58, 2, 54, 30))
# Ready to take something: thumb well apart from fingers that are hardly bent.
OPEN = _shape("open", (20, -26, 8, 0, 4), (18, -3, 12, 6), (18, 0, 12, 6), (20, 3, 12, 6), (22, 6, 12, 6))
# The thumb at rods of some widths: metres, then degrees as in `_shape`; over the fingers, then against the rod from the
# wrist's side.
_THUMB_AT_RODS = np.array(
    [
        (0.000, 40, 8, 12, 36, 52),
        (0.025, 34, 14, 15, 24, 32),
        (0.060, 30, 3, 15, 12, 16),
        (0.095, 26, -12, 15, 4, 8),
    ]
)
# Thumb opposite to straight fingers: the jaws of a pinch opened wide.
_JAWS = _shape("pinch", (40, -14, 14, 2, 6), (36, -2, 14, 8), (36, 0, 14, 8), (37, 2, 14, 8), (39, 5, 14, 8))

# Tips of thumb, index and middle finger on one plane, by the width between them: metres, then degrees, the thumb's as
# in `_shape`, then knuckle and middle joint of index and of middle finger. Least squares on the built-in hand: the tips
# are within 0.1 mm of the plane, which is turned by 70 degrees from across the fingers towards the palm.
_TIPS = np.array(
    [
        (-0.005, 45, 1, 13, -1, -2, 60, 37, 52, 52),
        (0.010, 43, -1, 13, 2, 6, 49, 42, 43, 56),
        (0.025, 42, -5, 12, 6, 12, 42, 43, 35, 57),
        (0.040, 41, -10, 10, 9, 17, 36, 43, 30, 57),
        (0.055, 41, -14, 8, 12, 18, 32, 41, 25, 55),
        (0.070, 41, -17, 4, 14, 18, 29, 37, 21, 52),
        (0.085, 41, -20, -1, 16, 15, 27, 31, 19, 48),
        (0.095, 42, -20, -7, 18, 12, 28, 24, 17, 43),
        (0.110, 33, -26, -6, 24, 21, 22, 24, 12, 39),
        (0.125, 19, -32, -14, 29, 23, 19, 16, 5, 47),
    ]
)
# How much more the ring and the little finger are bent than the middle finger then, degrees: knuckle, middle joint.
_TIPS_CURLED = ((4.0, 12.0), (6.0, 20.0))
# Distance to which tips close: past each other, so they meet on anything between them, metres.
TIPS_SHUT, WIDEST_TIPS = -0.005, 0.116

# Fingers laid along a flat thing and the thumb across from them, all shut: what `clasp` closes to.
CLASP = _shape("pinch", (28, 50, 14, 16, 22), (58, 0, 46, 24), (60, 0, 46, 24), (60, 1, 52, 28), (58, 2, 54, 30))


def _width(width: float) -> float:
    """A width that makes sense, metres."""
    if not (np.isfinite(width) and width >= 0.0):
        raise BadValue(f"the width of a grasp must be 0 m or more, not {width}.")
    return float(width)


def power(width: float) -> HandShape:
    """A hand round a rod of that diameter, metres, for a hand of `HAND_LENGTH`; 0 is the fist."""
    radius = 0.5 * _width(width) / HAND_LENGTH + _FINGER_RADIUS
    coordinates = FIST.coordinates.copy()
    for i, finger in enumerate(FINGERS[1:], start=1):
        # Bones lie as tangents round the rod: each reaches as far before its contact as the one before it behind.
        before = _ROD_BEHIND_KNUCKLES
        for k in range(3):
            bend = 2.0 * np.arctan2(before, radius)
            coordinates[i, k, 0] = min(coordinates[i, k, 0], bend)
            before = max(BONES[finger][k] - before, 0.3 * BONES[finger][k])
    thumb = np.radians([np.interp(width, _THUMB_AT_RODS[:, 0], column) for column in _THUMB_AT_RODS[:, 1:].T])
    coordinates[0, 0], coordinates[0, 1:, 0] = thumb[:3], thumb[3:]
    return HandShape("power", coordinates)


def pinch(width: float) -> HandShape:
    """Finger pads and thumb this far apart, metres, for a hand of `HAND_LENGTH`; 0 is `PINCH`."""
    return replace(mixed(PINCH, _JAWS, min(_width(width) / WIDEST_PINCH, 1.6)), name="pinch")


def clasp(bend: float, apart: float) -> HandShape:
    """Fingers along a flat object, their knuckles bent by `bend` degrees; the thumb opposite, 0 to 1 `apart`."""
    finger = (bend, 0.0, 2.0 + 0.35 * bend, 2.0 + 0.2 * bend)
    return _shape("pinch", (32.0, 34.0 - 46.0 * apart, 14.0, 0.0, 2.0), finger, finger, finger, finger)


def tips(width: float) -> HandShape:
    """Tips of thumb and fingers this far apart on one plane, metres, for a hand of `HAND_LENGTH`."""
    row = [float(np.interp(width, _TIPS[:, 0], column)) for column in _TIPS[:, 1:].T]
    (index, middle), thumb = (row[5:7], row[7:9]), row[:5]
    bends = [index, middle, *((middle[0] + k, middle[1] + m) for k, m in _TIPS_CURLED)]
    return _shape("tips", (thumb[0], thumb[1], thumb[2], thumb[3], thumb[4]), *((k, 0.0, m, 0.5 * m) for k, m in bends))


SHAPES: Mapping[str, HandShape] = MappingProxyType(
    {s.name: s for s in (REST, FLAT, POINT, HOOK, FIST, power(0.06), PINCH, OPEN)}
)


def hand_shape(name: str, width: float | None = None) -> HandShape:
    """A shape by name; 'power' and 'pinch' at a width in metres where one is given."""
    if name not in SHAPES:
        raise UnknownName("hand shape", name, SHAPES)
    if width is None:
        return SHAPES[name]
    if name not in ("power", "pinch"):
        raise BadValue(f"the hand shape '{name}' has no width; 'power' and 'pinch' do.")
    return power(width) if name == "power" else pinch(width)


def mixed(a: HandShape, b: HandShape, s: float) -> HandShape:
    """Shape interpolated by a share `s` from one to another, in joint coordinates; it has the name of the nearer."""
    return HandShape(a.name if s < 0.5 else b.name, (1.0 - s) * a.coordinates + s * b.coordinates)


def finger_joints(body: Body, hand: str) -> tuple[int, ...]:
    """Joints of the fingers that a hand ('left' or 'right') has, thumb first, knuckle to tip; may be empty."""
    return tuple(body.roles[role] for role in finger_roles(body, hand))


def finger_roles(body: Body, hand: str) -> tuple[str, ...]:
    """Roles of `finger_joints`: 'left_thumb1', …"""
    if not isinstance(body, Character) or hand not in ("left", "right") or f"{hand}_hand" not in body.roles:
        return ()
    # Some rigs hang the thumb on the forearm: it does not move with the hand and cannot close on anything.
    mine = set(body.subtree(body.roles[f"{hand}_hand"]))
    return tuple(role for role in finger_names(hand) if body.roles.get(role) in mine)


def finger_rotations(body: Body, hand: str, shape: HandShape) -> Array:
    """Local rotations (n, 4) of `finger_joints` in a shape, moved into the joints' ranges."""
    joints = [FingerJoint.of(body, hand, role) for role in finger_roles(body, hand)]
    return np.array([j.rotations(shape.coordinates[j.finger]) for j in joints]).reshape(-1, 4)


@dataclass(frozen=True, eq=False)
class FingerJoint:
    """One joint of a finger (0 is the thumb), its number in the body and along the finger, and how shapes turn it.

    `lead` (4,) comes before a thumb's own turn and leads from the rig's zero to the one that shapes are about. A joint
    without limits bends about `axis` (3,) from its `rest` (4,), by `share` of the finger's three bends.
    """

    joint: int
    finger: int
    place: int
    mirrored: bool
    limit: JointLimit | None
    lead: Array
    axis: Array
    rest: Array
    share: Array

    @staticmethod
    def of(body: Body, hand: str, role: str) -> FingerJoint:
        """The joint that plays a finger's part, such as 'left_index2'."""
        assert isinstance(body, Character)
        j = body.roles[role]
        finger, place = FINGERS.index(role.partition("_")[2][:-1]), int(role[-1]) - 1
        limit = body.limits[j] if j < len(body.limits) else None
        lead = _thumb_lead(body, hand, j) if (finger, place) == (0, 0) else IDENTITY
        # One joint for a whole finger bends by less than three would in all, so that its end comes to about the same.
        share = np.eye(3)[place] if role[:-1] + "2" in body.roles else np.full(3, 2.0 / 3.0)
        axis = np.zeros(3) if limit is not None else _bending_axis(body, hand, j)
        return FingerJoint(j, finger, place, hand == "right", limit, lead, axis, body.skeleton.rest[j], share)

    def rotations(self, coordinates: ArrayLike) -> Array:
        """Local rotations (..., 4) for coordinates (..., 3, 3) of the whole finger, moved into the joint's range."""
        whole = np.asarray(coordinates, dtype=float)
        if self.limit is None:
            angle = np.clip(whole[..., 0] @ self.share, 0.0, 0.6 * np.pi)
            return multiply(about(self.axis, angle), self.rest)
        own = whole[..., self.place, :] * (_MIRROR if self.mirrored else 1.0)
        if self.place or self.finger:
            return self.limit.rotation(self.limit.clamp_coordinates(own))
        swing = about(own * [1.0, 1.0, 0.0], np.hypot(own[..., 0], own[..., 1]))
        turn = multiply(self.lead, multiply(swing, about([0.0, 0.0, 1.0], own[..., 2])))
        return self.limit.clamp(multiply(multiply(self.limit.pre, turn), self.limit.post))


@cache
def _thumb_zero(outwards: float) -> Array:
    """The built-in person's thumb frame as seen from that of the hand; `outwards` is +1 for the left hand."""
    hand = frame(np.array([outwards, 0.0, 0.0]), np.array([0.0, 0.0, -1.0]))
    return multiply(conjugate(hand), frame(finger_direction("thumb", outwards), np.array([0.0, 1.0, -1.0])))


def _thumb_lead(body: Character, hand: str, thumb: int) -> Array:
    """Rotation from a rig's own thumb at zero to the built-in person's, in the thumb's anatomical frame."""
    wrist = body.roles[f"{hand}_hand"]
    of_hand, of_thumb = body.limits[wrist], body.limits[thumb]
    if of_hand is None or of_thumb is None:
        return IDENTITY
    between = IDENTITY
    j = int(body.parents[thumb])
    while j not in (wrist, -1):
        between = multiply(body.skeleton.rest[j], between)
        j = int(body.parents[j])
    own = multiply(multiply(of_hand.post, between), of_thumb.pre)
    return multiply(conjugate(own), _thumb_zero(1.0 if hand == "left" else -1.0))


def _bending_axis(body: Character, hand: str, joint: int) -> Array:
    """The axis (3,) about which fingers bend to the palm, in the frame of a finger joint's parent at rest."""
    palm, _, thumb = grip_frame(body, hand)[:3, :3].T
    along = np.cross(thumb, palm) if hand == "left" else np.cross(palm, thumb)
    T = body.T_rest
    wrist, parent = body.roles[f"{hand}_hand"], int(body.parents[joint])
    return T[parent, :3, :3].T @ T[wrist, :3, :3] @ np.cross(along, palm)
