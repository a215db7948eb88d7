"""Scenes for the benchmark and the tests of fast validity, and postures in them.

Six of them make up the benchmark; 'sheets' is one of those again with open surfaces in both hands, which balls cannot
prove to cross: it shows how much is left to the exact test at worst.

A person visits stations within half a metre of geometry, trunk and legs free of it, and sways, turns and bends there
for a moment. Postures of the limb are uniform within the joints' limits, at times within a station.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.human import human
from elbowroom.character.limits import sample_pose
from elbowroom.files.meshes import read_meshes
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, cylinder, lathe, merge, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed
from elbowroom.world.scene_floor import scene_floor
from elbowroom.world.world import Snapshot, World

# Seconds at a station, frames a second of the clip.
STAY, FPS = 0.5, 30.0


@dataclass(frozen=True, eq=False)
class Scene:
    """A world, whose limb is asked about, and the times (K, 2) between which stations are visited."""

    name: str
    world: World
    who: str
    limb: str | tuple[str, ...]
    stays: Array


def person() -> Character:
    """The person of all scenes."""
    return human(skin=False)


def scenes(data: Path | None, stations: int = 60, seed: int = 0) -> dict[str, Callable[[], Scene]]:
    """All by name, made when called; the two from files only where the data folder is there."""
    made: dict[str, Callable[[], Scene]] = {
        "fans": lambda: fans(stations, seed),
        "traffic": lambda: traffic(stations, seed),
        "burdens": lambda: burdens(stations, seed),
        "sheets": lambda: burdens(stations, seed, sheet=True),
        "two people": lambda: two_people(stations, seed),
    }
    if data is not None:
        files = {"house": "small_house", "bookstore": "bookstore"}
        real = {
            n: (lambda n=n, f=f: from_file(n, data / "scenes" / f"{f}.glb", stations, seed)) for n, f in files.items()
        }
        made = {**real, **made}
    return made


def from_file(name: str, path: Path, stations: int, seed: int) -> Scene:
    """A scene as it was scanned or built, nothing but the person moving."""
    meshes = dict(read_meshes(path).meshes)
    return visited(name, World(static=meshes, floor=scene_floor(meshes).height), stations, seed)


def room() -> dict[str, Mesh]:
    """A table, shelves and a wall."""
    shelves = [box((1.2, 0.3, 0.02), (1.0, -0.6, 0.4 + 0.35 * k)) for k in range(4)]
    legs = [box((0.05, 0.05, 0.7), (x, y, 0.35)) for x in (-0.6, 0.6) for y in (0.5, 1.1)]
    return {
        "table": merge([box((1.4, 0.8, 0.03), (0.0, 0.8, 0.72)), *legs]),
        "shelves": merge(shelves),
        "wall": box((4.0, 0.1, 2.4), (0.0, -1.2, 1.2)),
        "post": cylinder(0.05, 2.2, (-1.2, 0.0, 1.1)),
    }


def fan() -> Mesh:
    """A hub with three thin blades."""
    blades = [
        box((0.7, 0.12, 0.008), (0.4, 0.0, 0.0)).moved(transform(np.zeros(3), rot.about([0, 0, 1.0], 2.1 * k)))
        for k in range(3)
    ]
    return merge([cylinder(0.06, 0.08), *blades])


def fans(stations: int, seed: int) -> Scene:
    """Fans that turn at head and waist height, one upright."""
    times = np.arange(0.0, stations * STAY + 0.1, 0.05)
    world = World(static=room())
    places = [(-0.6, 0.2, 1.0, (0, 0, 1.0)), (0.5, -0.2, 1.5, (0, 1.0, 0)), (1.2, 0.4, 1.2, (1.0, 0.2, 0))]
    for k, (x, y, z, axis) in enumerate(places):
        turn = rot.about(rot.normalize(axis), (2.0 + k) * times)
        at = np.tile([x, y, z], (len(times), 1))
        world = world.with_object(f"fan{k}", fan(), Keyed(times, at, turn))
    return visited("fans", world, stations, seed)


def traffic(stations: int, seed: int) -> Scene:
    """Crates, balls and rings that fly through the room."""
    rng = np.random.default_rng(seed + 11)
    times = np.arange(0.0, stations * STAY + 0.25, 0.25)
    world = World(static=room())
    ring = lathe([(0.25, -0.03), (0.32, -0.03), (0.32, 0.03), (0.25, 0.03), (0.25, -0.03)])
    crate = merge([box((0.4, 0.3, 0.02)), *(box((0.4, 0.02, 0.25), (0, s * 0.14, 0.12)) for s in (-1, 1))])
    for k in range(9):
        mesh = (crate, sphere(0.12), ring)[k % 3]
        path = np.cumsum(rng.normal(0.0, 0.15, (len(times), 3)), axis=0)
        path = np.array([0.0, 0.2, 1.1]) + [1.4, 1.0, 0.6] * np.sin(path + rng.uniform(0, 6, 3))
        turn = rot.exp(np.cumsum(rng.normal(0.0, 0.25, (len(times), 3)), axis=0))
        world = world.with_object(f"flier{k}", mesh, Keyed(times, path, turn))
    return visited("traffic", world, stations, seed)


def umbrella(sheet: bool = False) -> Mesh:
    """A canopy on a thin stick: a closed shell a centimetre thick, or one open sheet."""
    profile = [(0.02, 0.0), (0.25, -0.06), (0.45, -0.18)]
    if not sheet:
        profile += [(0.44, -0.19), (0.24, -0.07), (0.02, -0.01), (0.02, 0.0)]
    return merge([cylinder(0.008, 0.85, (0, 0, 0.38)), lathe(profile, (0, 0, 0.8))])


def ladder() -> Mesh:
    """Two rails and rungs."""
    rails = [box((0.03, 0.05, 1.6), (x, 0.0, 0.0)) for x in (-0.18, 0.18)]
    return merge([*rails, *(cylinder(0.012, 0.36, (0, 0, 0)).moved(_lying(z)) for z in np.arange(-0.7, 0.71, 0.28))])


def _lying(z: float) -> Array:
    return transform([0.0, 0.0, z], rot.about([0, 1.0, 0], np.pi / 2))


def burdens(stations: int, seed: int, sheet: bool = False) -> Scene:
    """An umbrella in the right hand, then a ladder; another umbrella in the left all the time."""
    end = stations * STAY
    world = World(static=room()).with_object("ladder", ladder(), lambda t: transform([0.0, 2.0, 1.0]))
    for name in ("umbrella", "parasol"):
        world = world.with_object(name, umbrella(sheet), lambda t: transform([0.0, 3.0, 1.0]))
    scene = visited("burdens", world, stations, seed, limb="right_arm")
    across = rot.about([1.0, 0, 0], np.pi / 2)  # along the palm's width
    grip, rail = transform([-0.08, 0.1, -0.04], across), transform([-0.26, 0.0, -0.06], across)
    held = (
        scene.world.with_hold("umbrella", "ann", "right", (-1.0, 0.5 * end), grip)
        .with_hold("ladder", "ann", "right", (0.5 * end, end + 1.0), rail)
        .with_hold("parasol", "ann", "left", (-1.0, end + 1.0), transform([0.08, 0.1, -0.04], across))
    )
    return Scene("burdens", held, "ann", "right_arm", scene.stays)


def two_people(stations: int, seed: int) -> Scene:
    """Two people who dodge each other; both arms of one are asked about."""
    body = person()
    other = _swaying(body, stations, lambda rng: (rng.normal(0.0, 0.3, 2), rng.uniform(0, 6.3)), seed + 5)
    world = World(static=room()).with_character("ben", other)
    scene = visited("two people", world, stations, seed)
    return Scene("two people", scene.world, "ann", ("right_arm", "left_arm"), scene.stays)


def visited(
    name: str,
    world: World,
    stations: int,
    seed: int,
    limb: str | tuple[str, ...] = "right_arm",
    body: Character | None = None,
) -> Scene:
    """The world with a person at stations where trunk, head and legs are free."""
    body = body or person()
    rng = np.random.default_rng(seed)
    corners = [m.vertices[m.faces[rng.integers(len(m.faces), size=200)]].mean(axis=1) for m in world.static.values()]
    sizes = np.array([np.prod(np.ptp(m.bounds, axis=0)[:2]) + 0.3 for m in world.static.values()])
    floor = 0.0 if world.floor is None else world.floor
    alone = world.with_character("ann", body)
    exact = ExactWorld(alone)
    core = [k for k, (a, b) in enumerate(exact.index) if _trunk(exact, int(a)) and exact.parts[b].kind == "static"]

    def station(rng: np.random.Generator) -> tuple[Array, float]:
        for _ in range(3000):
            near = corners[rng.choice(len(corners), p=sizes / sizes.sum())]
            at = near[rng.integers(len(near))]
            if not floor + 0.2 < at[2] < floor + 1.8:
                continue
            spot, heading = at[:2] + rng.normal(0.0, 0.35, 2), float(rng.uniform(0, 2 * np.pi))
            pose = transform([*spot, floor], rot.about([0, 0, 1.0], heading))
            joints = {"ann": pose @ body.skeleton.T_rest}
            snapshot = alone.at(0.0)
            exact.place_snapshot(Snapshot(0.0, {**snapshot.joints, **joints}, snapshot.things))
            gaps = exact.gaps()
            if not any(exact.hit(k) for k in core if gaps[k] <= 0.0):
                return spot, heading
        raise RuntimeError("no free station was found")

    clip = _swaying(body, stations, station, seed, floor)
    stays = np.arange(stations)[:, None] * STAY + [0.0, STAY - 1.0 / FPS - 1e-6]
    return Scene(name, world.with_character("ann", clip), "ann", limb, stays)


def _trunk(exact: ExactWorld, i: int) -> bool:
    role = exact.parts[i].role
    return exact.parts[i].owner == "ann" and any(
        w in role for w in ("pelvis", "spine", "chest", "head", "thigh", "shin")
    )


def _swaying(
    body: Character,
    stations: int,
    station: Callable[[np.random.Generator], tuple[Array, float]],
    seed: int,
    floor: float = 0.0,
) -> Clip:
    """A clip that stays at each station for a moment, swaying, turning and bending."""
    rng = np.random.default_rng(seed)
    frames = int(STAY * FPS)
    roots, rotations = [], []
    skeleton = body.skeleton
    tops = [body.role(n) for n in ("spine1", "spine2", "chest")]
    left = list(body.chain("left_arm").joints)
    s = np.linspace(0.0, 1.0, frames)[:, None]
    for _ in range(stations):
        spot, heading = station(rng)
        q = np.tile(rot.IDENTITY, (frames, len(skeleton), 1))
        sway = rng.normal(0.0, 0.06, 2)
        root = np.column_stack([spot + s * sway, np.full(frames, floor)]) + skeleton.T_rest[0, :3, 3]
        q[:, 0] = rot.about([0, 0, 1.0], heading + rng.normal(0.0, 0.4) * s[:, 0])
        for j in tops:
            q[:, j] = rot.exp(s * rng.normal(0.0, 0.12, 3))
        a, b = sample_pose(body.limits, rng, 2)
        q[:, left] = rot.slerp(a[left][None], rot.slerp(a[left], b[left], 0.3)[None], s)
        roots.append(root)
        rotations.append(q)
    return Clip(body, FPS, np.concatenate(roots), np.concatenate(rotations))


def postures(scene: Scene, count: int, seed: int = 1) -> tuple[Array, Array]:
    """Postures (N, n, 4) of the limb, uniform within limits, and times (N,) at stations."""
    body = scene.world.body(scene.who)
    assert isinstance(body, Character)
    names = (scene.limb,) if isinstance(scene.limb, str) else scene.limb
    joints = [j for n in names for j in body.chain(n).joints]
    rng = np.random.default_rng(seed)
    q = sample_pose([body.limits[j] for j in joints], rng, count)
    stay = scene.stays[rng.integers(len(scene.stays), size=count)]
    return np.ascontiguousarray(q), rng.uniform(stay[:, 0], stay[:, 1])
