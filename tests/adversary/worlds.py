"""Random small worlds that try to get a wrong 'free': one whole number makes one world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from adversary import makers as make
from elbowroom.character.human import human
from elbowroom.files.far import near_origin
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip, Motion
from elbowroom.motion.edit import cut
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.extent import frame_times
from elbowroom.world.paths import Fall, Keyed, KeyedState, Still
from elbowroom.world.played import played
from elbowroom.world.robots import robots_as_things
from elbowroom.world.things import Fixture, Hold, Joint
from elbowroom.world.world import World

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Case:
    """A world, the frame rate it is asked to be written at (None: its own), and a format that it goes through first.

    With `as_glb`, what a GLB of it plays is judged, rather than an NPZ.
    """

    seed: int
    kind: str
    world: World
    fps: float | None = None
    through: str = ""
    as_glb: bool = False


def case(seed: int, kind: str = "") -> Case:
    """The case of a seed, of any kind or of one that is named."""
    rng = np.random.default_rng([11, seed])
    kind = kind or str(rng.choice(list(KINDS), p=_SHARES))
    world = KINDS[kind](rng)
    fps = make.frame_rate(rng) if rng.random() < 0.25 and kind != "far away" else None
    through = str(rng.choice(["", "glb", "npz"], p=[0.9, 0.05, 0.05]))
    return Case(seed, kind, world, fps, through, kind == "far away" or rng.random() < 0.05)


def span(rng: Rng) -> float:
    """Seconds that a clip lasts; now and then a frame or two."""
    return float(rng.uniform(0.1, 0.7)) if rng.random() < 0.97 else 0.01


def somebody(rng: Rng) -> Motion:
    """A ball, an arm or a figure that flies, its start on or off the grid."""
    bodies = (make.ball(), make.ball(0.01), make.kite(), make.arm(), make.figure())
    body = bodies[int(rng.choice(5, p=[0.35, 0.05, 0.05, 0.3, 0.25]))]
    start = float(rng.choice([0.0, 0.0, rng.uniform(-1.0, 1.0)]))
    fastest = 20.0 if len(body.shapes) == 1 else 4.0
    return make.flight(rng, body, span(rng), make.frame_rate(rng), fastest, start=start)


def moment(rng: Rng, motion: Motion) -> float:
    """A time within a motion, mostly between frames."""
    begin, end = motion.span
    return float(rng.uniform(begin, end))


def written(motion: Motion, fps: float) -> Clip:
    """A person's motion as frames at a rate have it."""
    times = frame_times(motion.span, fps)
    return Clip(motion.body, fps, *motion.sample(times), start=float(times[0]))  # type: ignore[arg-type]


def passing(rng: Rng, T: Array, velocity: Array, t: float, during: tuple[float, float], keys: int = 0) -> Keyed:
    """A straight path through a place (4, 4) at a time, turning or not, with some keys of its own at any times."""
    times = np.unique(np.concatenate([during, rng.uniform(*during, keys)]))
    spin = rng.normal(size=3) * rng.choice([0.0, 0.0, 3.0, 30.0])
    q = rot.multiply(rot.exp((times - t)[:, None] * spin), rot.from_matrix(T[:3, :3]))
    return Keyed(times, T[:3, 3] + (times - t)[:, None] * velocity, q)


# ---------------------------------------------------------------- kinds


def standing_thing(rng: Rng) -> World:
    """A body passes something thin that stands still."""
    motion = somebody(rng)
    world = World(floor=None).with_character("ann", motion)
    for i in range(int(rng.integers(1, 3))):
        mesh = make.thin(rng)
        T, _, _ = make.beside(rng, motion, moment(rng, motion), mesh, make.gap(rng))
        world = world.with_static(f"thing{i}", mesh.moved(T))
    return world


def bullet(rng: Rng) -> World:
    """Something thin passes a body, slow or at up to 60 m/s, with keys off the frame grid."""
    motion = somebody(rng)
    t, mesh = moment(rng, motion), make.thin(rng)
    T, way, velocity = make.beside(rng, motion, t, mesh, make.gap(rng))
    own = velocity + make.direction(rng, way) * make.speed(rng)
    path = passing(rng, T, own, t, motion.span, int(rng.integers(0, 4)))
    return World(floor=None).with_character("ann", motion).with_object("bullet", mesh, path)


def detour(rng: Rng) -> World:
    """An object goes round a body by keys between frames, which a file on the grid would cut short."""
    motion = make.flight(rng, make.ball(), span(rng), float(rng.choice([10.0, 12.0, 24.0, 30.0])))
    t = moment(rng, motion)
    at = make.pose_of(motion, t)[0, :3, 3]
    way = make.direction(rng)
    side = make.direction(rng, way)
    out, far = 0.1 + 0.02 + make.gap(rng, 0.01), float(rng.uniform(0.2, 0.5))
    half = float(rng.uniform(0.2, 1.5)) / motion.fps
    times = np.array([t - half, t, t + half])
    reach = [at - far * way, at + out * side, at + far * way]
    mesh = box([0.02, 0.02, 0.02])
    return World(floor=None).with_character("ann", motion).with_object("saw", mesh, Keyed.along(times, reach))


def function_path(rng: Rng) -> World:
    """An object whose place is a function of time circles or swings past a body."""
    motion = somebody(rng)
    t, mesh = moment(rng, motion), make.thin(rng)
    T, way, _ = make.beside(rng, motion, t, mesh, make.gap(rng))
    radius, pace = float(rng.uniform(0.1, 0.6)), make.speed(rng, 0.5, 40.0)
    along = make.direction(rng, way)
    swings = rng.random() < 0.5

    def path(x: float) -> Array:
        angle = pace / radius * (x - t)
        aside = radius * (np.sin(angle) * along + (0.0 if swings else 1.0 - np.cos(angle)) * way)
        moved = np.array(T)
        moved[:3, 3] += aside
        return moved

    return World(floor=None).with_character("ann", motion).with_object("swing", mesh, path)


def several_people(rng: Rng) -> World:
    """People with frame rates and start times of their own pass each other."""
    world, motion = World(floor=None), somebody(rng)
    world = world.with_character("ann", motion)
    for name in ("bob", "cid")[: int(rng.integers(1, 3))]:
        other = somebody(rng)
        t = moment(rng, motion)
        shape = other.body.shapes[int(rng.integers(len(other.body.shapes)))]
        mine = motion.body.shapes[int(rng.integers(len(motion.body.shapes)))]
        way = make.direction(rng)
        here = make.edge_of(mine, make.pose_of(motion, t)[mine.joint], way)
        there = make.edge_of(shape, make.pose_of(other, t)[shape.joint], -way)
        assert isinstance(other, Clip)
        other = other.with_(root=other.root + (here - there + make.gap(rng) * way))
        world = world.with_character(name, other)
    return world


def fixture(rng: Rng) -> World:
    """A door or drawer moves past somebody; its hinge may be anywhere, its state keyed off the grid or a function."""
    motion = somebody(rng)
    t, mesh = moment(rng, motion), make.thin(rng)
    T, _, _ = make.beside(rng, motion, t, mesh, make.gap(rng))
    slides = rng.random() < 0.4
    origin = rng.normal(size=3) * rng.choice([0.0, 0.5])
    axis = make.direction(rng)
    begin, end = motion.span
    rate = make.speed(rng, 0.1, 8.0)
    keys = np.unique(np.concatenate([[begin, end], rng.uniform(begin, end, int(rng.integers(0, 3)))]))
    joint = Joint("slides" if slides else "turns", axis, (-3.0, 3.0), origin)
    now = joint.moved(0.0 if rng.random() < 0.5 else float(rng.uniform(-1.0, 1.0)))
    state = KeyedState(keys, rate * (keys - t))
    told = state if rng.random() < 0.6 else (lambda x: float(rate * (x - t)))
    return (
        World(floor=None)
        .with_character("ann", motion)
        .with_fixture("door", Fixture.at(mesh, joint, T @ inverse(now), told))
    )


def held(rng: Rng) -> World:
    """A rod in a hand, or on the chest, pelvis or head, near other parts of the body or near something else."""
    motion = make.flight(rng, make.figure(), span(rng), make.frame_rate(rng))
    by = str(rng.choice(["left", "right", "chest", "pelvis", "head", "left_forearm", "right_thigh"]))
    joint, _ = motion.body.hand(by)
    rod = box([float(rng.uniform(0.2, 1.6)), 0.012, 0.012])
    T_hand = transform(rng.normal(size=3) * 0.08, make.turn(rng))
    if rng.random() < 0.5:  # along the arms, as one holds a pole
        T_hand = transform([0.0, float(rng.uniform(-0.2, 0.0)), float(rng.uniform(0.0, 0.25))], rot.IDENTITY)
    begin, end = motion.span
    during = (begin, end) if rng.random() < 0.5 else tuple(sorted(rng.uniform(begin, end, 2)))
    if during[1] - during[0] < 1e-3:
        during = (begin, end)
    place = make.pose_of(motion, during[0])[joint] @ T_hand
    world = World(floor=None).with_character("ann", motion).with_object("rod", rod, Still(place))
    world = world.with_hold("rod", "ann", by, during, T_hand if rng.random() < 0.5 else None)
    if rng.random() < 0.6:
        mesh, t = make.thin(rng), moment(rng, motion)
        T, _, _ = make.beside(rng, motion, t, mesh, make.gap(rng))
        world = world.with_static("thing", mesh.moved(T))
    return world


def leap(rng: Rng) -> World:
    """An object jumps into a hand, perhaps through a wall."""
    motion = make.flight(rng, make.ball(0.03), span(rng), make.frame_rate(rng))
    begin, end = motion.span
    t = float(rng.uniform(begin, end))
    away = make.pose_of(motion, t)[0] @ transform(make.direction(rng) * rng.uniform(0.3, 1.0))
    world = World(floor=None).with_character("ann", motion).with_object("cup", box([0.03] * 3), Still(away))
    world = world.with_hold("cup", "ann", "right", (t, end + 1.0), transform([0.0, 0.0, 0.05]))
    middle = 0.5 * (away[:3, 3] + make.pose_of(motion, t)[0, :3, 3])
    turned = rot.arc([0.0, 0.0, 1.0], away[:3, 3] - middle)
    wall = make.sheet(0.3, 0.3) if rng.random() < 0.5 else box([0.3, 0.3, 0.002])
    return world.with_static("wall", wall.moved(transform(middle + rng.normal(size=3) * 0.15, turned)))


def falling(rng: Rng) -> World:
    """A thing is let go and falls past or onto something, keys of its fall off the grid."""
    motion = make.flight(rng, make.ball(0.03), span(rng), make.frame_rate(rng), 0.5)
    begin, end = motion.span
    let_go = float(rng.uniform(begin, 0.5 * (begin + end)))
    card = box([0.09, 0.06, float(rng.choice([0.001, 0.01]))])
    at = make.pose_of(motion, begin)[0] @ transform([0.0, 0.0, -0.05])
    times = np.sort(rng.uniform(let_go, end, 4))
    times = np.unique(np.concatenate([[let_go], times]))
    offsets = np.column_stack([np.zeros((len(times), 2)), -4.9 * (times - let_go) ** 2])
    hold = Hold("card", "ann", "right", (begin - 1.0, let_go), None, Fall(times, offsets))
    world = World(floor=None).with_character("ann", motion).with_object("card", card, Still(at))
    world = replace(world, holds=(hold,))
    drop = float(rng.uniform(0.3, 1.2)) * -offsets[-1, 2]
    spot = world.things["card"].path(let_go)[:3, 3] - [0.0, 0.0, drop + make.gap(rng)]
    table = make.sheet(0.5, 0.5) if rng.random() < 0.4 else box([0.5, 0.5, float(rng.choice([0.002, 0.02]))])
    world = world.with_static("table", table.moved(transform(spot)))
    if rng.random() < 0.5:
        depth = float(rng.choice([0.003, 0.005, 0.02, 1.0]))
        world = world.with_contact(Contact("card", "table", (let_go, np.inf), "support", depth))
    return world


def on_the_floor(rng: Rng) -> World:
    """Feet just above a floor of any height with something low on it, parts of the ground in the scene, too."""
    height = float(rng.choice([0.0, 0.19, -1.3, rng.uniform(-2.0, 2.0)]))
    motion = make.upright(
        rng, span(rng), make.frame_rate(rng), height + float(rng.choice([0.0, -0.008, make.gap(rng)]))
    )
    if rng.random() < 0.3:
        motion = make.recorded(motion)
    world = World(floor=height).with_character("ann", motion)
    if rng.random() < 0.7:
        tall = float(rng.choice([0.001, 0.004, 0.006, 0.015, 0.019, 0.03]))
        spot = np.array(motion.root[int(rng.integers(len(motion)))]) * [1.0, 1.0, 0.0] + [
            rng.normal() * 0.1,
            rng.normal() * 0.1,
            height,
        ]
        low = box([0.6, 0.03, tall], at=[0.0, 0.0, 0.5 * tall])
        if rng.random() < 0.3:
            low = make.sheet(0.6, 0.1).moved(
                transform([0.0, 0.0, tall], rot.about([1.0, 0.0, 0.0], rng.choice([0.0, 0.2])))
            )
        world = world.with_static("sill", low.moved(transform(spot, rot.about([0.0, 0.0, 1.0], rng.uniform(0.0, 6.0)))))
    if rng.random() < 0.5:
        ground = make.sheet(9.0, 9.0) if rng.random() < 0.5 else box([9.0, 9.0, 0.2], at=[0.0, 0.0, -0.1])
        world = world.with_static(
            "ground", ground.moved(transform([0.0, 0.0, height + float(rng.choice([0.0, 0.003, -0.01]))]))
        )
    return world


def handed_over(rng: Rng) -> World:
    """A thing goes from one hand to another, at a time between frames, past something thin."""
    fps = make.frame_rate(rng)
    seconds = span(rng)
    one = make.flight(rng, make.ball(0.03), seconds, fps, 1.0)
    begin, end = one.span
    t = float(rng.uniform(begin, end))
    other = make.flight(rng, make.ball(0.03), seconds, make.frame_rate(rng), 1.0)
    here, there = make.pose_of(one, t)[0, :3, 3], make.pose_of(other, t)[0, :3, 3]
    other = other.with_(root=other.root + here - there + [0.1, 0.0, 0.0])
    cup = box([0.02, 0.02, float(rng.choice([0.02, 0.2]))])
    at = make.pose_of(one, begin)[0] @ transform([0.05, 0.0, 0.0])
    world = World(floor=None).with_character("ann", one).with_character("bob", other).with_object("cup", cup, Still(at))
    early = (begin, t) if t > begin else (begin, end)
    world = world.with_hold("cup", "ann", "right", early)
    if end > t + 1e-3:
        late = float(rng.choice([0.0, rng.uniform(0.0, 0.5)])) * (end - t)
        world = world.with_hold("cup", "bob", "right", (t + late, end + 1.0))
    mesh = make.thin(rng)
    T, _, _ = make.beside(rng, one, moment(rng, one), mesh, 0.02 + make.gap(rng))
    return world.with_static("thing", mesh.moved(T))


def recorded_clip(rng: Rng) -> World:
    """A recorded clip that touches itself and sinks, within the caps or far beyond, perhaps with a T pose before it."""
    height = float(rng.choice([0.0, -0.03, -0.049, -0.051, -0.3, -2.5]))
    clip = make.upright(rng, span(rng), make.frame_rate(rng), height)
    q = np.array(clip.rotations)
    fold = float(rng.uniform(0.8, 1.6))
    q[:, 3] = rot.about([0.0, 1.0, 0.0], np.full(len(q), fold))
    q[:, 4] = rot.about([0.0, 0.0, 1.0], np.linspace(-0.5, -0.5 - float(rng.uniform(0.0, 2.0)), len(q)))
    clip = make.recorded(clip.with_(rotations=q), lead=int(rng.random() < 0.3 and len(clip) > 3))
    world = World(floor=0.0).with_character("ann", clip)
    if rng.random() < 0.4:
        mesh = make.thin(rng)
        T, _, _ = make.beside(rng, clip, moment(rng, clip), mesh, make.gap(rng))
        world = world.with_static("thing", mesh.moved(T))
    return world


def told_contacts(rng: Rng) -> World:
    """Things set down onto tables with fins, thin ones, boards above them; contacts told sensibly and not."""
    fps, seconds = make.frame_rate(rng), span(rng)
    motion = make.flight(rng, make.ball(), seconds, fps)
    motion = motion.with_(root=np.full_like(motion.root, 3.0))
    thick = float(rng.choice([0.001, 0.01, 0.03]))
    top = float(rng.choice([0.001, 0.02]))
    tray = box([0.3, 0.2, thick]) if rng.random() < 0.8 else make.thin(rng)
    parts = [box([1.0, 1.0, top], at=[0.0, 0.0, -0.5 * top])]
    if rng.random() < 0.4:
        parts.append(box([0.1, 0.003, 0.05], at=[*rng.uniform(-0.2, 0.2, 2), 0.025]))
    if rng.random() < 0.4:
        parts.append(box([1.0, 1.0, 0.01], at=[0.0, 0.0, thick + 0.005 + float(rng.uniform(-0.003, 0.02))]))
    low = float(tray.vertices[:, 2].min())
    end = -low + float(rng.choice([make.gap(rng), -0.002, -0.02, -0.3]))
    begin = end if rng.random() < 0.5 else end + float(rng.uniform(0.0, 0.4))
    path = Keyed.along(
        motion.span, [[float(rng.uniform(-0.3, 0.0)) * (rng.random() < 0.3), 0.0, begin], [0.0, 0.0, end]]
    )
    depth = float(rng.choice([0.001, 0.003, 0.005, 0.02, 1.0]))
    during = (-np.inf, np.inf) if rng.random() < 0.5 else (float(rng.uniform(*motion.span)), np.inf)
    on = str(rng.choice(["table", "table", "table", "tab", "tray"]))
    world = World(floor=None).with_character("ann", motion).with_object("tray", tray, path)
    if rng.random() < 0.3:
        world = world.with_object(
            "tray.001", box([0.1, 0.1, 0.01]), Keyed.along(motion.span, [[0.3, 0.3, 0.2], [0.3, 0.3, -0.001]])
        )
    contact = Contact("tray", on, during, "support", depth)
    if rng.random() < 0.2:  # somebody claims to know what proves it
        contact = replace(contact, shift=tuple(float(x) for x in make.direction(rng) * rng.choice([0.001, 0.004, 0.1])))
    if rng.random() < 0.1:
        world = replace(world, caps=Caps(contact=0.03))
    return world.with_static("table", merge(parts)).with_contact(contact)


def pressed(rng: Rng) -> World:
    """Somebody who may touch something thin or another person, to a depth that is told."""
    motion = somebody(rng)
    mesh = make.thin(rng) if rng.random() < 0.6 else make.solid(rng)
    depth = float(rng.choice([0.002, 0.005, 0.02, 0.5]))
    T, _, _ = make.beside(
        rng, motion, moment(rng, motion), mesh, float(rng.choice([-depth, -0.004, 0.001])) + float(rng.normal() * 0.001)
    )
    world = World(floor=None).with_character("ann", motion)
    who = "ann" if rng.random() < 0.5 else f"ann.{motion.body.shapes[0].name}"
    if rng.random() < 0.5:
        world = world.with_static("thing", mesh.moved(T))
    else:
        world = world.with_object(
            "thing", mesh, passing(rng, T, rng.normal(size=3) * 0.02, sum(motion.span) / 2, motion.span)
        )
    return world.with_contact(Contact(who, "thing", (-np.inf, np.inf), "touch", depth))


def inside(rng: Rng) -> World:
    """Somebody in, or just outside of, a closed block as files bring them."""
    mesh = make.solid(rng)
    motion = make.flight(rng, make.ball(float(rng.choice([0.02, 0.1]))), span(rng), make.frame_rate(rng))
    still = motion.with_(root=np.zeros_like(motion.root) + 0.01 * (motion.root - motion.root[0]))
    T = transform(rng.uniform(-0.15, 0.15, 3), make.turn(rng))
    if rng.random() < 0.5:
        T, _, _ = make.beside(rng, still, moment(rng, still), mesh, make.gap(rng))
    world = World(floor=None).with_character("ann", still)
    if rng.random() < 0.5:
        return world.with_static("block", mesh.moved(T))
    return world.with_object("block", mesh, passing(rng, T, rng.normal(size=3) * 0.1, sum(still.span) / 2, still.span))


def two_objects(rng: Rng) -> World:
    """Thin things pass each other and what stands, without anybody near; with or without a character's frames."""
    seconds = span(rng)
    world = World(floor=None if rng.random() < 0.8 else -0.5)
    if rng.random() < 0.6:
        away = make.flight(rng, make.ball(), seconds, make.frame_rate(rng))
        world = world.with_character("ann", away.with_(root=np.full_like(away.root, 7.0)))
    one, other = make.thin(rng), make.thin(rng) if rng.random() < 0.7 else make.solid(rng)
    if rng.random() < 0.3:
        one = make.blemished(rng, one)
    t, way = float(rng.uniform(0.0, seconds)), make.direction(rng)
    q, p = make.turn(rng), make.turn(rng)
    a, b = rot.rotate(q, one.vertices[np.unique(one.faces)]), rot.rotate(p, other.vertices)
    place = a[int(np.argmax(a @ way))] + make.gap(rng) * way - b[int(np.argmin(b @ way))]
    v = make.direction(rng, way) * make.speed(rng, 0.05, 30.0)
    path = passing(rng, transform(place, p), v, t, (0.0, seconds), int(rng.integers(0, 4)))
    world = world.with_object("other", other, path)
    if rng.random() < 0.5:
        return world.with_static("one", one.moved(transform(np.zeros(3), q)))
    turning = passing(rng, transform(np.zeros(3), q), np.zeros(3), t, (0.0, seconds))
    return world.with_object("one", one, turning)


def machine(rng: Rng) -> World:
    """A robot passes something thin, or somebody."""
    robot = make.robot()
    seconds = span(rng)
    times = np.unique(np.concatenate([[0.0, seconds], rng.uniform(0.0, seconds, int(rng.integers(0, 3)))]))
    q = np.tile(robot.rest.q, (len(times), 1))
    q[:, 4] = rng.uniform(-2.5, 2.5, len(times))
    q[:, 5] = rng.uniform(0.0, 0.4, len(times))
    motion = RobotClip(robot, times, np.zeros((len(times), 3)), q)
    world = World(floor=float(rng.choice([-0.2, -0.01]))).with_character("picker", motion)
    t, mesh = moment(rng, motion), make.thin(rng)
    T, way, velocity = make.beside(rng, motion, t, mesh, make.gap(rng))
    if rng.random() < 0.5:
        world = world.with_static("thing", mesh.moved(T))
    else:
        world = world.with_object(
            "thing",
            mesh,
            passing(rng, T, velocity + make.direction(rng, way) * make.speed(rng, 0.05, 20.0), t, (0.0, seconds)),
        )
    if rng.random() < 0.3:
        world = world.with_character("ann", make.flight(rng, make.ball(), seconds, make.frame_rate(rng)))
    return world


def loaded_machine(rng: Rng) -> World:
    """A robot that turns with a box, a rod or a sheet in its gripper, past something thin or into its own boom."""
    robot = make.robot()
    seconds = span(rng)
    times = np.unique(np.concatenate([[0.0, seconds], rng.uniform(0.0, seconds, int(rng.integers(0, 3)))]))
    q = np.tile(robot.rest.q, (len(times), 1))
    q[:, 4] = rng.uniform(-2.5, 2.5, len(times))
    q[:, 5] = rng.uniform(0.0, 0.4, len(times))
    motion = RobotClip(robot, times, np.zeros((len(times), 3)), q)
    world = World(floor=float(rng.choice([-0.2, -0.01]))).with_character("picker", motion)
    loads = (box([0.1, 0.1, 0.1]), box([float(rng.uniform(0.2, 1.2)), 0.01, 0.01]), make.sheet(0.3, 0.3))
    load = loads[int(rng.integers(len(loads)))]
    begin, end = motion.span
    during = (begin, end) if rng.random() < 0.5 else tuple(sorted(rng.uniform(begin, end, 2)))
    if during[1] - during[0] < 1e-3:
        during = (begin, end)
    hand = make.pose_of(motion, during[0])[2]
    place = hand @ transform([0.0, 0.0, 0.2 + float(rng.choice([0.05, 0.0, rng.uniform(-0.3, 0.3)]))], make.turn(rng))
    world = world.with_object("load", load, Still(place)).with_hold("load", "picker", "finger", during)
    if rng.random() < 0.7:
        mesh, t = make.thin(rng), moment(rng, motion)
        T, _, _ = make.beside(rng, motion, t, mesh, make.gap(rng))
        world = world.with_static("thing", mesh.moved(T))
    return world


def far_away(rng: Rng) -> World:
    """A world of another kind, 1 to 6,000 km from the origin."""
    kinds = [kind for kind in KINDS if kind not in ("far away", "built-in person")]
    on = played(KINDS[str(rng.choice(kinds))](rng), make.frame_rate(rng))
    way = make.direction(rng) * [1.0, 1.0, 0.0] * make.speed(rng, 1e3, 6e6)
    up = 0.0 if on.floor is None else float(rng.choice([0.0, rng.uniform(-400.0, 4000.0)]))
    whole = robots_as_things(on)
    return near_origin(whole, on.times, -np.array([way[0], way[1], up]))


def built_in(rng: Rng) -> World:
    """The built-in person walks a few steps past something thin."""
    seconds = float(rng.uniform(0.2, 0.6))
    motion = cut(walk(human(height=1.7), speed=1.2, seconds=2.0), 0.5, 0.5 + seconds)
    world = World(floor=0.0).with_character("ann", motion)
    t, mesh = moment(rng, motion), make.thin(rng)
    T, way, velocity = make.beside(rng, motion, t, mesh, make.gap(rng))
    if rng.random() < 0.5:
        return world.with_static("thing", mesh.moved(T))
    own = velocity + make.direction(rng, way) * make.speed(rng)
    return world.with_object("thing", mesh, passing(rng, T, own, t, motion.span))


def resampled(rng: Rng) -> World:
    """A quick turn that other frame rates cut short: something is where only the written motion comes by."""
    motion = make.flight(rng, make.arm(), span(rng), 240.0)
    mesh, fps = make.thin(rng), make.frame_rate(rng)
    file = written(motion, fps)
    T, _, _ = make.beside(rng, file if rng.random() < 0.5 else motion, moment(rng, file), mesh, make.gap(rng, 0.01))
    first = make.flight(rng, make.ball(), 0.1, fps)
    first = first.with_(root=np.full_like(first.root, 9.0))
    # the file has the rate of the first character
    world = World(floor=None).with_character("first", first).with_character("ann", motion)
    return world.with_static("thing", mesh.moved(T))


KINDS: dict[str, Callable[[Rng], World]] = {
    "standing thing": standing_thing,
    "bullet": bullet,
    "detour": detour,
    "function": function_path,
    "several people": several_people,
    "fixture": fixture,
    "held": held,
    "leap": leap,
    "falling": falling,
    "handed over": handed_over,
    "floor": on_the_floor,
    "recorded": recorded_clip,
    "contacts": told_contacts,
    "pressed": pressed,
    "inside": inside,
    "two objects": two_objects,
    "robot": machine,
    "resampled": resampled,
    "loaded robot": loaded_machine,
    "far away": far_away,
    "built-in person": built_in,
}
_WEIGHTS = np.array([2, 2, 1, 1, 1, 1, 1, 0.7, 0.8, 0.6, 1, 0.8, 1.5, 1, 0.8, 1, 0.8, 1, 0.8, 1, 0.15])
_SHARES = _WEIGHTS / _WEIGHTS.sum()
