"""Grasps of a hand on an object, marked on it or proposed from its mesh (K1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import count
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from elbowroom.character.body import Body, Character
from elbowroom.character.hand_shapes import HandShape, finger_roles, hand_shape
from elbowroom.character.hands import grip_frame, hand_size
from elbowroom.character.human import human
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.kept import Arrays, contents, kept, package_sources, remembered
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array, about, normalize, rotate
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.posing.fingers import TOUCH, Closed, close_fingers
from elbowroom.posing.fingers_model import HandAtThing, hand_model
from elbowroom.posing.grasps_form import GraspForm, form_of, part_near
from elbowroom.posing.grasps_lying import Lying
from elbowroom.posing.grasps_make import GraspMaker
from elbowroom.posing.grasps_seats import Seats, hand_seats
from elbowroom.posing.grasps_settle import BACK, MARGIN, MOST, Grasp, RestPlane, marked, settled
from elbowroom.world.things import Fixture, GraspMark, Thing
from elbowroom.world.world import World

# Radius around its frame in which a handle is searched, metres, fingers that must touch it; and grasps of one that are
# enough.
_HANDLE_REACH, _HANDLE_FINGERS, _HANDLE_MOST = 0.20, 3, 16
_MISSING_FINGER = 0.15

# Cost per metre of holding an object farther out than proposed.
_DRAWN_BACK = 5.0

# Costs of an object in the hand whose z axis points away from the thumb's side, as a share of 1 - cosine, and per metre
# between hand and the frame 'grip'; half the width of a palm at scale 1, metres.
_NOT_BY_THUMB, _OFF_GRIP, _HALF_PALM_M = 0.3, 5.0, 0.04
# Slope of a hand that sets an upright object down on a table, radians: a forearm slopes as much and wrists hardly bend
# that way, so that a level hand takes a deep bow. Cost of another slope, as a share of 1 - cosine.
_SLOPE_RAD, _NOT_SLOPING = np.radians(60.0), 1.0

_UP = np.array([0.0, 0.0, 1.0])


def propose_grasps(
    body: Body,
    hand: str,
    mesh: Mesh,
    *,
    frames: Mapping[str, Array] | None = None,
    up: ArrayLike = (0.0, 0.0, 1.0),
    lying: bool = False,
) -> list[Grasp]:
    """Grasps of a hand ('left' or 'right') on a mesh, the best first; empty where there is none.

    Balls, round objects, boxes and, with frames 'handle' or 'handle_…' among `frames` (`T_thing_frame`, (4, 4)), bars
    are recognised from the mesh; anything else counts as its bounding box. `up` (3,) is the vertical in the object's
    frame. On something `lying` the hand stays above its support: a plane through its lowest point.
    """
    upwards = normalize(up)
    first, *others = handles_of(frames or {}).items() or [("", None)]
    grasps = _known_or_made(body, hand, mesh, first[1], upwards, lying)
    for name, handle in others:
        more = _known_or_made(body, hand, mesh, handle, upwards, lying)
        grasps += [replace(g, name=f"{g.name}_{name}", frame=name) for g in more if g.frame]
    return grasps


def handles_of(frames: Mapping[str, Array]) -> dict[str, Array]:
    """Handles among the frames of an object, by name: a door has one on either side."""
    return {name: T for name, T in sorted(frames.items()) if name == "handle" or name.startswith("handle_")}


def _known_or_made(body: Body, hand: str, mesh: Mesh, handle: Array | None, upwards: Array, lying: bool) -> list[Grasp]:
    """Proposed grasps, of a handle or of the whole mesh, cached."""
    at = None if handle is None else np.asarray(handle).tobytes()
    key = (hand, tuple(np.round(upwards, 2).tolist()), at, lying)
    known = _KNOWN.setdefault(mesh, WeakKeyDictionary()).setdefault(body, {})
    if key not in known:
        known[key] = _remembered(body, hand, mesh, handle, upwards, lying)
    return list(known[key])


_KNOWN: WeakKeyDictionary[Mesh, WeakKeyDictionary[Body, dict[tuple, list[Grasp]]]] = WeakKeyDictionary()


def _remembered(body: Body, hand: str, mesh: Mesh, handle: Array | None, up: Array, lying: bool) -> list[Grasp]:
    """Proposed grasps with their names, from the disk cache for the same hand and mesh."""

    def make() -> list[Grasp]:
        return _named(_proposed(body, hand, mesh, handle, up, lying), "low_" if lying else "")

    if not isinstance(body, Character):
        return make()
    made_of = (body.skeleton, body.shapes, body.limits, body.roles, body.height, mesh.vertices, mesh.faces)
    key = (package_sources(), hand, handle, up, lying, *contents(made_of))
    held = remembered("grasps", key, lambda: _as_arrays(make()))
    shapes = [HandShape(name, turns) for name, turns in zip(held["shapes"].tolist(), held["turns"], strict=True)]
    return [
        Grasp(str(name), hand, T, shapes[opened], shapes[closed], approach, float(cost), str(frame))
        for name, T, (opened, closed), approach, cost, frame in zip(
            *(held[key] for key in ("names", "places", "shaped", "approaches", "costs", "frames")), strict=True
        )
    ]


def _as_arrays(grasps: list[Grasp]) -> Arrays:
    """Grasps of one hand as arrays by name; each hand shape once."""
    shapes = list(dict.fromkeys(shape for g in grasps for shape in (g.open, g.shape)))
    return {
        "names": np.array([g.name for g in grasps], str),
        "places": np.array([g.T_thing_hand for g in grasps]).reshape(-1, 4, 4),
        "approaches": np.array([g.approach for g in grasps]).reshape(-1, 3),
        "costs": np.array([g.cost for g in grasps], float),
        "frames": np.array([g.frame for g in grasps], str),
        "shaped": np.array([[shapes.index(s) for s in (g.open, g.shape)] for g in grasps], np.int64).reshape(-1, 2),
        "shapes": np.array([shape.name for shape in shapes], str),
        "turns": np.array([shape.coordinates for shape in shapes]).reshape(-1, 5, 3, 3),
    }


def grasps_of(world: World, who: str, hand: str, thing: str, t: float, *, lying: bool = False) -> list[Grasp]:
    """Grasps of a character's hand on an object or fixture at a time: marked ones, then proposed ones.

    See `propose_grasps` for those of something `lying`.
    """
    if thing not in world.things:
        raise UnknownName("object", thing, world.things)
    body, what = world.body(who), world.things[thing]
    if not isinstance(body, Character) or hand not in ("left", "right") or f"{hand}_hand" not in body.roles:
        return []
    up = np.asarray(world.frame(thing, t))[:3, :3].T @ _UP
    given = [marked(body, name, mark, what.mesh) for name, mark in what.grasps.items() if mark.hand == hand]
    frames = what.frames if isinstance(what, Fixture) or handles_of(what.frames) else None
    return given + propose_grasps(body, hand, what.mesh, frames=frames, up=up, lying=lying)


def press_target(body: Body, hand: str, T_world_spot: ArrayLike, shape: str = "point") -> list[Grasp]:
    """Hand transforms that touch a spot (4, 4), x out of the surface, with the index fingertip or, 'flat', the
    fingertips.

    They are in the frame of the spot, the approach is against x; the easiest first: finger slanting down to the spot,
    then other slants and rolls.
    """
    if not (isinstance(body, Character) and f"{hand}_hand" in body.roles):
        raise BadValue(f"{body.name} has no '{hand}' hand.")
    spot = np.asarray(T_world_spot, dtype=float)
    if spot.shape != (4, 4) or not np.all(np.isfinite(spot)):
        raise BadValue("a spot to touch must be a finite transform (4, 4).")
    fingers = hand_shape(shape)
    tip, along, palm = _pointer(body, hand, fingers)
    out = normalize(spot[:3, 0])
    grasps = []
    for n, (slant, roll) in enumerate(_PRESSES):
        R = _pressing(out, slant, roll) @ np.stack([along, palm, np.cross(along, palm)], axis=1).T
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = R, spot[:3, 3] + MARGIN * out - R @ tip
        cost = 0.1 * n
        grasps.append(Grasp(f"{shape}{n + 1}", hand, T, fingers, fingers, -out, cost, "spot"))
    return grasps


# Slants of the finger from the surface's normal and rolls about the normal that are tried, radians.
_PRESSES = tuple(
    (np.radians(slant), np.radians(roll)) for roll in (0, 30, -30, 60, -60, 90, -90, 180) for slant in (35, 10, 60)
)


def closed_on(body: Body, mesh: Mesh, grasp: Grasp) -> Closed:
    """Fingers of a grasp closed on the mesh that it was made for; cached."""
    T_hand_thing = inverse(grasp.T_thing_hand)
    return kept(grasp, "closed", lambda: close_fingers(body, grasp.hand, T_hand_thing, mesh, grasp.open, grasp.shape))


def opposed(body: Body, thing: Thing | Fixture, grasp: Grasp) -> bool:
    """Return whether closed fingers hold an object against thumb or palm, as far as a hand has fingers.

    Grasps marked on the object are accepted as they are.
    """
    if grasp.name in thing.grasps:
        return True
    if grasp.open.name == "flat":
        return False
    return not closes(body, grasp.hand) or closed_on(body, thing.mesh, grasp).holds


def held_grasp(body: Body, hand: str, thing: Thing, *, released: bool) -> Grasp | None:
    """Grasp by which a hand has an object from the start, wherever the arm is; cached.

    At its frame 'grip'; otherwise as marked on it, at its handle, at its origin if that is far enough from both ends,
    or as proposed, with its z axis towards the thumb's side, and for one that is to be `released` towards the wrist as
    well: it is upright while the forearm slopes down. None where closed fingers would not hold it, or would be inside
    it.
    """
    if not isinstance(body, Character) or hand not in ("left", "right"):
        return None
    scene = HandAtThing(hand_model(body, hand), thing.mesh)
    ground = RestPlane(_UP, float(thing.mesh.bounds[0, 2]))

    def holds(grasp: Grasp) -> bool:
        scene.put_thing(inverse(grasp.T_thing_hand))
        scene.put_hand(scene.model.places(closed_on(body, thing.mesh, grasp).shape))
        return scene.clear and opposed(body, thing, grasp)

    def stands_free(grasp: Grasp) -> bool:
        shapes = (grasp.open, closed_on(body, thing.mesh, grasp).shape)
        return all(ground.back(scene, grasp.T_thing_hand, shape, _UP) == 0.0 for shape in shapes)

    def best() -> Grasp | None:
        first = None
        for grasp in filter(holds, _for_holding(body, hand, thing, released)):
            if not released or stands_free(grasp):
                return grasp
            first = first or grasp
        return first

    return kept(thing, ("held", body, hand, released), best)


def _for_holding(body: Character, hand: str, thing: Thing, released: bool) -> Iterator[Grasp]:
    """Grasps for an object in the hand from the start, in the order in which `held_grasp` prefers them."""
    slope, weight = (_SLOPE_RAD, _NOT_SLOPING) if released else (0.0, _NOT_BY_THUMB)
    up = np.array([0.0, np.sin(slope) if hand == "right" else -np.sin(slope), np.cos(slope)])  # y is along the hand
    T_hand_grip, T_thing_grip = grip_frame(body, hand), thing.frames.get("grip")
    low, high = thing.mesh.bounds[:, 2] / (_HALF_PALM_M * hand_size(body, hand))
    around_origin = low <= -1.0 and high >= 1.0 and not handles_of(thing.frames)
    marks = {} if T_thing_grip is not None else {n: m for n, m in thing.grasps.items() if m.hand == hand}
    if T_thing_grip is not None or (around_origin and not marks):
        T = np.eye(4) if T_thing_grip is None else T_thing_grip
        marks = {"grip": GraspMark(hand=hand, T_thing_grip=T)}  # type: ignore[arg-type]
    yield from (marked(body, name, mark, thing.mesh) for name, mark in marks.items())

    def cost(grasp: Grasp) -> float:
        T = grasp.T_thing_hand @ T_hand_grip
        off = 0.0 if T_thing_grip is None else float(np.linalg.norm(T[:3, 3] - T_thing_grip[:3, 3]))
        return grasp.cost + weight * (1.0 - float(T[2, :3] @ up)) + _OFF_GRIP * off

    kinds = (False, True) if released else (False,)
    proposed = [g for lying in kinds for g in propose_grasps(body, hand, thing.mesh, frames=thing.frames, lying=lying)]
    yield from sorted(proposed, key=cost)


def drawn_back(grasp: Grasp, by: float) -> Grasp:
    """The grasp `by` metres back along its approach, at a cost; cached."""
    T = grasp.T_thing_hand.copy()
    T[:3, 3] -= by * grasp.approach
    return kept(grasp, ("back", by), lambda: replace(grasp, T_thing_hand=T, cost=grasp.cost + _DRAWN_BACK * by))


def _pressing(out: Array, slant: float, roll: float) -> Array:
    """Axes (3, 3) as columns: along the finger, out of the palm, and the third, for a finger at a surface.

    Unrolled, the finger comes from above or, at a horizontal surface, from where the surface's first side points.
    """
    high = _UP - (_UP @ out) * out
    if np.linalg.norm(high) < 0.2:
        high = np.eye(3)[1] - out[1] * out
    high = rotate(about(out, roll), normalize(high))
    along = normalize(-np.cos(slant) * out - np.sin(slant) * high)
    palm = normalize(-high - (-high @ along) * along)
    return np.stack([along, palm, np.cross(along, palm)], axis=1)


def _pointer(body: Character, hand: str, shape: HandShape) -> tuple[Array, Array, Array]:
    """Touching tip (3,), its pointing direction, and the facing direction of the palm, in the hand's frame."""
    palm, side, _ = grip_frame(body, hand)[:3, :3].T
    along = side if hand == "left" else -side
    model = hand_model(body, hand)
    by_number = {f.number: f for f in model.fingers}
    finger = by_number.get(1 if shape.name == "point" else 2, by_number.get(2, by_number.get(1)))
    if finger is None:
        points = [apply(s.T_joint_shape, s.mesh.vertices) for s in model.shapes if s.mesh is not None]
        reach = max((float((p @ along).max()) for p in points), default=0.18 * hand_size(body, hand))
        return along * reach, along, palm
    last = model.joints(shape)[finger.rows[-1], :3, 3]
    tip = model.tip(finger, shape)
    way = normalize(tip - last)
    return tip, way, normalize(palm - (palm @ way) * way)


def _proposed(body: Body, hand: str, mesh: Mesh, handle: Array | None, up: Array, lying: bool) -> list[Grasp]:
    if not closes(body, hand):
        stiff = HandAtThing(hand_model(body, hand), mesh)
        frames = None if handle is None else {"handle": handle}
        lent = propose_grasps(lender(body), hand, mesh, frames=frames, up=up, lying=lying)
        return [] if stiff.empty else borrowed(body, hand, lent, stiff)
    seats = hand_seats(body, hand)
    scene = HandAtThing(seats.model, mesh)
    if scene.empty:
        return []
    if handle is not None and not lying:
        found = _at_handle(body, hand, mesh, np.asarray(handle), seats, scene, up)
        if found:
            return found
    form = form_of(mesh)
    if form is None:
        return []
    maker = GraspMaker(seats, form, _turned(form, up))
    if not lying:
        return settled(hand, maker.all(), form, scene)
    lies = Lying(maker)
    ground = RestPlane(up, lies.ground + float(form.T_thing_form[:3, 3] @ up))
    # each kind separately: a can has so many grasps from its sides that none from above would be among the first
    kinds = ((maker.all(), MOST // 2), (list(lies.from_above()), MOST // 4), (list(lies.walls()), MOST // 4))
    lists = (settled(hand, made, form, scene, ground=ground, most=most) for made, most in kinds)
    return sorted((grasp for some in lists for grasp in some), key=lambda g: g.cost)


def edge_grasps(body: Body, hand: str, mesh: Mesh, out: ArrayLike, up: ArrayLike) -> list[Grasp]:
    """Grasps on the part of a flat mesh that stands out farthest along `out` (3,), the best first.

    `up` (3,) is the vertical; both are in the frame of the object as it lies.
    """
    form = form_of(mesh)
    if form is None or not closes(body, hand):
        return []
    seats, R = hand_seats(body, hand), form.T_thing_form[:3, :3].T
    candidates = GraspMaker(seats, form, R @ normalize(up)).edge(R @ normalize(out))
    return _named(settled(hand, candidates, form, HandAtThing(seats.model, mesh)), "edge_")


def _at_handle(
    body: Body, hand: str, mesh: Mesh, handle: Array, seats: Seats, scene: HandAtThing, up: Array
) -> list[Grasp]:
    """Grasps of the part of a mesh at its handle's frame that fingers actually close on."""
    part = part_near(mesh, handle[:3, 3], _HANDLE_REACH)
    form = None if part is None else form_of(part)
    if part is None or form is None:
        return []
    bar = HandAtThing(seats.model, part)
    maker = GraspMaker(seats, form, _turned(form, up))
    made = maker.bar(apply(inverse(form.T_thing_form), handle[None, :3, 3])[0])
    found = []
    for grasp in settled(hand, maker.all() if made is None else made, form, scene, forearm=True):
        closed = close_fingers(body, hand, inverse(grasp.T_thing_hand), mesh, grasp.open, grasp.shape)
        # fingers on the door behind a bar do not hold the bar
        bar.put_thing(inverse(grasp.T_thing_hand))
        bar.put_hand(seats.model.places(closed.shape))
        on = [f for f in seats.model.fingers if bar.gap(f.beyond[0], limit=TOUCH) < TOUCH]
        if sum(f.number > 0 for f in on) >= min(_HANDLE_FINGERS, len(closed.gaps)):
            cost = grasp.cost + _MISSING_FINGER * (len(closed.gaps) - len(on))
            found.append(replace(grasp, cost=cost, frame="handle"))
        if len(found) == _HANDLE_MOST:
            break
    return sorted(found, key=lambda g: g.cost)


def _turned(form: GraspForm, up: Array) -> Array:
    return form.T_thing_form[:3, :3].T @ up


def _named(grasps: list[Grasp], prefix: str) -> list[Grasp]:
    """The grasps with distinct names: by kind, counted from the best."""
    numbers = {g.name: count(1) for g in grasps}
    return [replace(g, name=f"{prefix}{g.name}{next(numbers[g.name])}") for g in grasps]


# Largest advance of a stiff hand towards an object from where the person's hand is, metres.
_AHEAD = 0.03

# Heights of people whose hands are borrowed, metres.
_HEIGHTS = (1.0, 2.2)


def closes(body: Body, hand: str) -> bool:
    """Return whether a hand has a thumb and another finger to hold things between."""
    roles = finger_roles(body, hand)
    return any("thumb" in role for role in roles) and any("thumb" not in role for role in roles)


@lru_cache(maxsize=8)
def _person(height: float) -> Character:
    return human(height=height)


def lender(body: Body) -> Character:
    """The person whose hands are borrowed."""
    height = body.height if isinstance(body, Character) else _HEIGHTS[0]
    return _person(round(float(np.clip(height, *_HEIGHTS)), 2))


def borrowed(body: Body, hand: str, grasps: list[Grasp], scene: HandAtThing) -> list[Grasp]:
    """Grasps of the lender as grasps of a stiff hand: palm in the same place, moved until it touches."""
    model = hand_model(body, hand)
    T_lent = grip_frame(lender(body), hand) @ inverse(grip_frame(body, hand))
    out = []
    for grasp in grasps:
        T = grasp.T_thing_hand @ T_lent
        scene.put_hand(model.places(grasp.open))
        way = scene.slid(T, grasp.approach, BACK, _AHEAD, MARGIN)
        if np.isfinite(way):
            T[:3, 3] += way * grasp.approach
            out.append(replace(grasp, T_thing_hand=T))
    return out
