"""Placements of objects that are put down: at a point, on a surface, on a body."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

import numpy as np

from elbowroom.character.body import Character
from elbowroom.errors import BadValue, ElbowroomError
from elbowroom.geometry.mesh import Mesh, highest, level_middle
from elbowroom.geometry.rotations import UP, Array, about
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.solids import merge
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.plan.tasks import PlacingTask, Point, Task, only
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_forms import mesh_surface
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.paths import places as places_over
from elbowroom.world.things import Fixture, Joint, Thing
from elbowroom.world.world import Snapshot, World, key_times

# Gap below an object that is put down, metres.
_ABOVE = 0.0005
# A point up to this far above a surface means that surface, metres.
_BOARD_M = 0.05
# Unevenness of cushions and mattresses that is evened out below an object, metres.
_UNEVEN_M = 0.012

# States at which the travel of a fixture is checked, and the depth in a wall at which it is stuck, metres.
_SWEEP, _JAMMED_M = 13, 0.003

# Rotations of an object about the vertical that are tried, radians; it stays as level as it is.
_TURNS = np.radians([0.0, 30.0, -30.0, 60.0, -60.0, 90.0, -90.0, 120.0, -120.0, 150.0, -150.0, 180.0])


def place_for(world: World, task: PlacingTask, taken: Array, t: float) -> Array:
    """`T_world_object` (4, 4) that a task asks for, of an object that was taken from placement `taken` (4, 4)."""
    turn = taken[:3, :3] if task.turn is None else transform(np.zeros(3), about(UP, task.turn))[:3, :3]
    T = np.eye(4)
    T[:3, :3] = turn
    mesh = world.objects[task.object].mesh
    if task.onto is None:
        if task.to is None:
            raise BadValue(f"{task.verb} {task.object}: give the place with 'to' or 'onto'.")
        T[:3, 3] = task.to
        return T
    T[:3, 3] = surface_at(world, task.onto, t, task.to, taken[:3, 3])
    if task.onto == "floor" or task.onto in world.static or task.onto in world.objects:
        T[2, 3] += _ABOVE - float(apply(T, mesh.vertices)[:, 2].min() - T[2, 3])
        T = clear_of_support(world, task.object, t, T)
    return T


def surface_at(world: World, onto: str, t: float, at: Point | None, near: Array) -> Array:
    """A point (3,) on top of a mesh or object at a time, above or below point `at`; a frame or body part gives its own.

    Without `at` it is the middle of the mesh, of a static one beside it where the middle is not level, or the floor
    below the point `near` (3,). The height of `at` selects one of several surfaces.
    """
    if onto == "floor" and world.floor is not None:
        x, y = near[:2] if at is None else at[:2]
        return np.array([x, y, world.floor])
    if onto in world.static:
        ground = world.static[onto]
    elif onto in world.objects:
        ground = world.objects[onto].mesh.moved(world.frame(onto, t))
    else:
        return np.asarray(world.frame(onto, t)[:3, 3])
    xy = ground.bounds.mean(axis=0)[:2] if at is None else np.asarray(at[:2])
    if at is None and onto in world.static:
        xy = level_middle(ground, _UNEVEN_M)
    # of several boards the one at the given height
    below = np.inf if at is None or len(at) < 3 else float(at[2]) + _BOARD_M
    board = highest(ground.vertices[ground.faces], xy[None], below)
    return np.array([*xy, board if np.isfinite(board) else top_of(ground, xy, onto)])


def top_of(mesh: Mesh, xy: Array, name: str) -> float:
    """Height of the highest triangle at a position on the ground (2,), metres."""
    top = highest(mesh.vertices[mesh.faces], np.asarray(xy)[None])
    if not np.isfinite(top):
        raise BadValue(f"'{name}' has no surface at {xy[0]:g}, {xy[1]:g} to put objects on.")
    return top


def turned(T_thing: Array, point: Array) -> list[Array]:
    """Placements (4, 4) of an object at a point (3,), rotated about the vertical against its current one."""
    out = []
    for angle in _TURNS:
        T = transform(np.zeros(3), about(UP, angle)) @ T_thing
        T[:3, 3] = point
        out.append(np.asarray(T))
    return out


# An object rests on what is nearer than this, metres, and may press into it as deep.
_RESTS, _PRESS = 0.003, 0.002

# Largest depth of an object in its support at the start that counts as an imprecise height, metres.
_SUNK_M = 0.0305

# Largest height of an object above its support at the start that counts as one, metres.
_HOVERS_M = 0.052

# A face to press or a point to touch may be this deep in something, metres: in its plate, or on a curved surface.
FACE_M = 0.006

# Largest distance to the surface of a wall by which a button in it counts as imprecisely placed, in such steps, metres.
_IN_WALL_M, _OUT_STEP_M = 0.1, 0.001

# Heights to which an object that is lifted must be free, metres.
_HEADROOM = (0.06, 0.15, 0.25)


def resting(
    world: World, thing: str, t: float, T_world_thing: Array | None = None, within: float = _RESTS
) -> list[str]:
    """Names of what an object rests on or leans against at a time, at its placement or a given one (4, 4)."""
    return _beside(world, thing, t, T_world_thing, within)


def under_cover(world: World, thing: str, t: float, T_world_thing: Array) -> bool:
    """Return whether an object at a placement would collide when lifted, as on a shelf."""
    lifts = [transform([0.0, 0.0, z]) @ T_world_thing for z in _HEADROOM]
    return any(_beside(world, thing, t, T, 0.0) for T in lifts)


def supported(thing: str, on: Iterable[str], during: tuple[float, float]) -> list[Contact]:
    """Contacts of an object with its supports."""
    return [Contact(thing, other, during, "support", _PRESS, "rests on it") for other in on]


def supported_until(world: World, thing: str, on: Collection[str], t: float) -> World:
    """World in which contacts of an object with its supports end at a time at the latest, if they begin before it."""

    def ended(contact: Contact) -> Contact:
        begin, end = contact.during
        bears = contact.kind == "support" and contact.who == thing and contact.on in on and begin < t
        return replace(contact, during=(begin, min(end, t))) if bears else contact

    return world.with_(contacts=tuple(map(ended, world.contacts)))


def clear_of_support(world: World, thing: str, t: float, T_world_thing: Array) -> Array:
    """A placement (4, 4) of an object raised out of an uneven surface; unchanged if it sits deeper than unevenness
    explains.
    """
    exact, places = alone(world, thing, t)
    for raised in np.arange(0.0, _UNEVEN_M, _ABOVE):
        places[thing] = transform([0.0, 0.0, raised]) @ T_world_thing
        exact.place_snapshot(Snapshot(t, {}, places))
        if not _touched(exact, thing, 0.0):
            return np.asarray(places[thing])
    return T_world_thing


def onto_support(world: World, thing: str, t: float) -> float:
    """Metres by which a thing has to be raised, up to 3 cm, or lowered, up to 5 cm (negative), so that it stands on
    what it begins inside or just above.

    0 where it presses into its support no deeper than things do that rest on something, is as deep in it farther up, or
    has nothing below it.
    """
    exact, places = alone(world, thing, t)
    T = places[thing]

    def pressed(raised: float) -> bool:
        exact.place_snapshot(Snapshot(t, {}, {**places, thing: transform([0.0, 0.0, raised]) @ T}))
        hits = [k for k in exact.near(0.0).tolist() if thing in exact.pairs[k] and exact.hit(k)]
        return any(-(exact.overlap(k) or 0.0) > (_PRESS if raised == 0.0 else 0.0) for k in hits)

    if pressed(0.0):
        return next((float(up) for up in np.arange(_ABOVE, _SUNK_M, _ABOVE) if not pressed(float(up))), 0.0)
    down = next((float(down) for down in np.arange(_RESTS, _HOVERS_M, _RESTS) if pressed(-float(down))), None)
    if down is None or down == _RESTS:
        return 0.0
    gaps = np.arange(down - _RESTS, down, _ABOVE)
    return -next((float(gap) for gap in gaps[::-1] if not pressed(-float(gap))), 0.0)


def inside_of(world: World, points: Array, more: float) -> tuple[str, float] | None:
    """Name of a solid of the scene that a point (3,), or one of several (N, 3), is inside by more than some metres,
    and how deep.
    """
    for name, mesh in world.static.items():
        low, high = mesh.bounds
        near = [point for point in np.atleast_2d(points) if np.all((point >= low) & (point <= high))]
        solid = mesh_surface(mesh, name, world.floor).solid if near else None
        depth = 0.0 if solid is None else float(solid.depth(np.array(near)).max())
        if depth > more:
            return name, depth
    return None


def out_of_wall(world: World, name: str, t: float) -> Array:
    """Shift (3,), up to 10 cm, with which a button stands on the wall that its face begins inside, or into which it
    would be pressed.

    0 where it is free, pressed or not, or as deep in something farther out.
    """
    fixture, T = world.objects[name], world.frame(name, t)
    if "handle" not in fixture.frames or not isinstance(fixture, Fixture):
        return np.zeros(3)
    face = T @ fixture.frame("handle")
    ends = fixture.T_world_closed @ fixture.joint.moved_many(np.array(fixture.joint.range))
    corners = np.concatenate([apply(end, fixture.mesh.vertices) for end in ends])
    inside = inside_of(world, face[:3, 3], FACE_M) is not None or inside_of(world, corners, FACE_M) is not None
    for by in np.arange(_OUT_STEP_M, _IN_WALL_M, _OUT_STEP_M) if inside else ():
        if inside_of(world, corners + by * face[:3, 0], 0.0) is None:
            return np.asarray((by + _OUT_STEP_M) * face[:3, 0])
    return np.zeros(3)


def jammed_by(
    world: World, name: str, joint: Joint, ends: tuple[float, float], others: Collection[str], t: float
) -> str | None:
    """The first of some walls or objects that a fixture on a joint moves into from one state to another, as everything
    is at a time; None where it moves freely. What it is as deep in to begin with does not count.
    """
    fixture = world.objects[name]
    assert isinstance(fixture, Fixture)
    exact, places = alone(world, name, t)
    begun: set[str] | None = None
    for T in fixture.T_world_closed @ joint.moved_many(np.linspace(*ends, _SWEEP)):
        exact.place_snapshot(Snapshot(t, {}, {**places, name: T}))
        met = [int(k) for k in exact.near(0.0) if name in exact.pairs[k] and set(exact.pairs[k]) & set(others)]
        met = [k for k in met if exact.hit(k) and exact.separation(k, _JAMMED_M) > _JAMMED_M]
        deep = {other for k in met for other in exact.pairs[k]} & set(others)
        begun = deep if begun is None else begun
        if deep - begun:
            return min(deep - begun)
    return None


def shut_and_far(joint: Joint) -> tuple[float, float]:
    """States in which a fixture is shut, and farthest from that."""
    low, high = joint.range
    shut = 0.0 if low <= 0.0 <= high else low
    return shut, high if abs(high - shut) >= abs(low - shut) else low


def _beside(world: World, thing: str, t: float, T_world_thing: Array | None, within: float) -> list[str]:
    """Names of walls and objects that an object would touch, or that are within some metres."""
    exact, places = alone(world, thing, t)
    if T_world_thing is not None:
        places[thing] = T_world_thing
    exact.place_snapshot(Snapshot(t, {}, places))
    return _touched(exact, thing, within)


def _touched(exact: ExactWorld, thing: str, within: float) -> list[str]:
    """Names of what an object touches as placed, or what is within some metres."""
    limit = max(within, 1e-6)
    near = [exact.distance(int(k), limit) for k in exact.near(within) if thing in exact.pairs[k]]
    touching = [d.pair for d in near if d.value is None or d.value < limit]
    return list(dict.fromkeys(pair.b if pair.a == thing else pair.a for pair in touching))


def alone(world: World, thing: str, t: float) -> tuple[ExactWorld, dict[str, Array]]:
    """Static meshes and objects at a time without people, for one object that is moved about; and all placements."""
    places = dict(world.at(t).things)
    objects = {name: replace(o, path=Still(places[name])) for name, o in world.objects.items()}
    # pairs of static things are not tested; this object, which may be a fixture in one state, must be
    along = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    objects[thing] = Thing(mesh=objects[thing].mesh, path=along)
    return ExactWorld(World(static=world.static, objects=objects, floor=world.floor)), places


# Height above its place, along its own vertical axis, from which on a worn object may move anywhere, metres.
CLEAR_ABOVE = 0.13

# Worn objects are lowered in such steps, metres, until they collide with the body part, and end this far above it.
_LOWERED, _WORN_ABOVE = 0.002, 0.001


def worn_place(body: Character, part: str, thing: Thing, name: str) -> Array:
    """`T_part_thing` (4, 4) of an object worn on a body part: as far down as it goes, its -Y to the front.

    A frame 'worn' of the object gives instead where the part's joint belongs, in the axes of a body at rest that faces
    -Y.
    """
    joint, _ = body.hand(part)
    T_axes = np.eye(4)
    facing = np.stack([np.cross(-body.front, UP), -body.front, UP], axis=1)
    T_axes[:3, :3] = facing.T @ body.T_rest[joint, :3, :3]
    if "worn" in thing.frames:
        return np.asarray(inverse(T_axes) @ inverse(thing.frame("worn")))
    shapes = [shape_mesh(s).moved(T_axes) for s in body.shapes if s.joint == joint]
    if not shapes:
        raise BadValue(f"'{part}' of {body.name} has no surface to wear '{name}' on.")
    wearer = merge(shapes)
    top = float(wearer.bounds[1, 2])
    high = wearer.vertices[wearer.vertices[:, 2] > 0.5 * top]
    T = np.eye(4)
    T[:2, 3] = 0.5 * (high.min(axis=0) + high.max(axis=0))[:2] - thing.mesh.bounds.mean(axis=0)[:2]
    moving = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    exact = ExactWorld(World(floor=None).with_static("wearer", wearer).with_object(name, thing.mesh, moving))
    lowest = float(apply(T, thing.mesh.vertices)[:, 2].min())
    for z in np.arange(top - lowest + _LOWERED, wearer.bounds[0, 2] - lowest, -_LOWERED):
        T[2, 3] = z
        exact.place_snapshot(Snapshot(0.0, {}, {name: T}))
        if exact.hit(0):
            T[2, 3] += _LOWERED + _WORN_ABOVE
            return np.asarray(inverse(T_axes) @ T)
    raise BadValue(f"'{name}' does not stay on '{part}' of {body.name}: it is too wide.")


# Objects that move less than this count as static, metres.
_STILL = 1e-4

# The same rotations for worn objects: the right way round, or back to front.
_WORN_TURNS = (0.0, np.pi)


def frames_of(world: World, name: str, times: Array) -> Array:
    """`T_world_frame` (N, 4, 4) of an object, a frame on it, or a body part over times (N,)."""
    owner, part = world.split(name)
    if owner in world.things:
        thing = world.things[owner]
        T = places_over(thing.path, times)
        return T @ thing.frame(part) if part else T
    if owner in world.characters:
        motion = world.characters[owner]
        joint, T_joint = motion.body.frame(part) if part else (0, np.eye(4))
        return np.asarray(motion.body.transforms(*motion.sample(times))[:, joint] @ T_joint)
    return np.tile(world.frame(name, 0.0), (len(times), 1, 1))


def moves(world: World, name: str, times: Array) -> bool:
    """Return whether something moves over times (N,)."""
    T = frames_of(world, name, times)
    return bool(np.abs(T - T[0]).max() > _STILL)


def moving_until(world: World, name: str) -> float:
    """Time of the last keyframe of an object that moves, or of what carries it, seconds; 0 of everything else."""
    owner = world.split(name)[0]
    left_on = [hold.onto.base for hold in world.holds if hold.object == owner and hold.onto is not None]
    owner = next((n for n, thing in world.objects.items() if left_on and thing.path is left_on[-1]), owner)
    keys = key_times(world.objects[owner]) if owner in world.objects else None
    return 0.0 if keys is None else float(keys[-1])


def wearer_of(world: World, onto: str | None) -> tuple[str, str] | None:
    """The character and body part that an object is put on."""
    if onto is None or onto in world.objects or onto in world.static:
        return None
    owner, part = world.split(onto)
    return (owner, part) if owner in world.characters and part else None


def goals_of(world: World, task: PlacingTask, taken: Array, times: Array) -> Iterator[Array]:
    """Placements of an object (N, 4, 4) over times (N,) that meet a task, best first; it was taken from `taken` (4, 4).

    Worn objects may be rotated in several ways.
    """
    wearer = wearer_of(world, task.onto)
    if wearer is not None:
        body = world.body(wearer[0])
        assert isinstance(body, Character)
        T = worn_place(body, wearer[1], world.objects[task.object], task.object)
        for turn in _WORN_TURNS if task.turn is None else (task.turn,):
            yield frames_of(world, f"{wearer[0]}.{wearer[1]}", times) @ T @ transform(np.zeros(3), about(UP, turn))
        return
    t = float(times[0]) if task.at is None else task.at
    T_goal = place_for(world, task, taken, t)
    if task.onto in world.objects:  # the support may move, as a tray on a belt
        yield frames_of(world, str(task.onto), times) @ inverse(world.frame(str(task.onto), t)) @ T_goal
    else:
        yield np.tile(T_goal, (len(times), 1, 1))


def on_oneself(world: World, task: Task) -> bool:
    """Return whether the target of a task is on the actor's own body: no walk brings that nearer."""
    names = [getattr(task, field, None) for field in ("to", "onto", "target", "over")]
    return any(isinstance(name, str) and world.split(name)[0] == task.who for name in names)


def target_of(world: World, task: Task, t: float) -> tuple[str, Array] | None:
    """Name of the target of a task and its position at a time, (3,)."""
    for placing in only([task], PlacingTask):
        if placing.onto in world.static:
            taken = np.asarray(world.frame(placing.object, t))
            return str(placing.onto), np.asarray(place_for(world, placing, taken, t)[:3, 3])
    for field in ("to", "onto", "target", "over", "object", "fixture"):
        value = getattr(task, field, None)
        if isinstance(value, str):
            try:
                if value in world.static:  # its own frame is the world's
                    return value, surface_at(world, value, t, None, np.zeros(3))
                return value, np.asarray(world.frame(value, t)[:3, 3])
            except ElbowroomError:
                continue
        if value is not None and np.shape(value) == (3,):
            return "the target", np.asarray(value, dtype=float)
    return None
