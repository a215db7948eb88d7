"""Bodies, motions and thin things for random small worlds, and how to put a thing so that it just passes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import trimesh

from elbowroom.character.body import Character
from elbowroom.character.robot import Robot
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.urdf import read_urdf
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, capsule
from elbowroom.geometry.solids import box, cylinder, merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip, Motion, Source

RATES = (10.0, 12.0, 24.0, 25.0, 29.97, 30.0, 48.0, 59.94, 60.0, 90.0, 120.0, 240.0)
NEAR_M = 0.004  # a near miss is no farther from touching than this, either way


def frame_rate(rng: np.random.Generator) -> float:
    """A frame rate: a usual one, or any from 10 to 240 a second."""
    return float(rng.choice(RATES)) if rng.random() < 0.8 else float(rng.uniform(10.0, 240.0))


def gap(rng: np.random.Generator, near: float = NEAR_M) -> float:
    """Metres between two things where they pass: half of the time nearly nothing, either way; now and then just 0."""
    if rng.random() < 0.03:
        return 0.0
    return float(rng.uniform(-near, near)) if rng.random() < 0.55 else float(rng.uniform(-0.03, 0.08))


def direction(rng: np.random.Generator, across: Array | None = None) -> Array:
    """A random direction (3,), across a vector where one is given and has a length."""
    v = rng.normal(size=3)
    if across is not None and (length := float(np.linalg.norm(across))) > 1e-9:
        v -= across * (v @ across) / length**2
    return v / np.linalg.norm(v)


def speed(rng: np.random.Generator, low: float = 0.05, high: float = 60.0) -> float:
    """Metres a second, from slow to a bullet's, as many of each order."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def turn(rng: np.random.Generator) -> Array:
    """A random rotation as a quaternion (4,)."""
    return rot.normalize(rng.normal(size=4))


# ---------------------------------------------------------------- thin things


def sheet(width: float, length: float) -> Mesh:
    """A rectangle without thickness across z."""
    x, y = 0.5 * width, 0.5 * length
    return Mesh(np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]]), np.array([[0, 1, 2], [0, 2, 3]]))


def spike(height: float, radius: float) -> Mesh:
    """A cone whose tip is at its top, its middle at the origin."""
    cone = trimesh.creation.cone(radius, height, sections=6)
    return Mesh(np.asarray(cone.vertices) - [0.0, 0.0, 0.5 * height], np.asarray(cone.faces))


def thin(rng: np.random.Generator) -> Mesh:
    """A thin thing about the origin."""
    thick, long = float(rng.choice([0.0005, 0.001, 0.002, 0.003])), float(rng.uniform(0.05, 0.6))
    what = rng.integers(6)
    if what == 0:
        return box([long, rng.uniform(0.05, 0.5), thick])
    if what == 1:
        return sheet(long, float(rng.uniform(0.05, 0.5)))
    if what == 2:
        return box([thick, thick, long])
    if what == 3:
        return spike(long, float(rng.uniform(0.002, 0.02)))
    if what == 4:
        return merge([box([long, 0.1, thick]), box([thick, 0.1, 0.1], at=[0.2 * long, 0.0, 0.05])])
    return Mesh(*_tube(0.5 * thick, long))


def _tube(radius: float, length: float) -> tuple[Array, Array]:
    found = trimesh.creation.cylinder(radius, length, sections=5)
    return np.asarray(found.vertices), np.asarray(found.faces)


def blemished(rng: np.random.Generator, mesh: Mesh) -> Mesh:
    """The mesh with triangles of no area, faces twice, or vertices that nothing uses and that are not finite."""
    how = rng.integers(4)
    faces = np.asarray(mesh.faces)
    if how == 0:
        return Mesh(mesh.vertices, np.concatenate([faces, faces[:, [0, 0, 1]], faces[:1, [2, 2, 2]]]))
    if how == 1:
        return Mesh(mesh.vertices, np.concatenate([faces, faces[:, ::-1]]))
    if how == 2:
        return Mesh(mesh.vertices, np.concatenate([faces, faces[: len(faces) // 2]]))
    return Mesh(np.concatenate([mesh.vertices, np.full((2, 3), np.nan)]), faces)


def solid(rng: np.random.Generator) -> Mesh:
    """A closed block of about half a metre, as files bring them: turned faces, inner walls, loose sheets."""
    size = rng.uniform(0.3, 0.9, 3)
    block = box(size)
    how = rng.integers(7)
    faces = np.array(block.faces)
    if how == 1:
        return Mesh(block.vertices, faces[:, ::-1])
    if how == 2:
        pick = rng.random(len(faces)) < 0.4
        faces[pick] = faces[pick][:, ::-1]
        return Mesh(block.vertices, faces)
    if how == 3:
        return inner_wall(size)
    if how == 4:
        fin = sheet(0.2, 0.2).moved(transform([0.5 * size[0] + 0.1, 0.0, 0.0]))
        return merge([block, fin])
    if how == 5:
        return Mesh(block.vertices[faces].reshape(-1, 3), np.arange(len(faces) * 3).reshape(-1, 3))
    if how == 6:
        return cylinder(0.5 * float(size[0]), float(size[2]))
    return block


def inner_wall(size: Array) -> Mesh:
    """A closed box of full extents (3,) with one wall across its middle that shares its edges."""
    half = np.array([0.5 * size[0], size[1], size[2]])
    both = merge([box(half, at=[-0.5 * half[0], 0, 0]), box(half, at=[0.5 * half[0], 0, 0])])
    cut = trimesh.Trimesh(both.vertices, both.faces, process=False)
    cut.merge_vertices()
    return Mesh(np.asarray(cut.vertices), np.asarray(cut.faces)[cut.unique_faces()])


# ---------------------------------------------------------------- bodies

# name, parent, place in the parent's frame, end of its capsule in its own frame, radius; metres
_FIGURE = (
    ("pelvis", -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.12), 0.10),
    ("chest", 0, (0.0, 0.0, 0.25), (0.0, 0.0, 0.15), 0.11),
    ("head", 1, (0.0, 0.0, 0.32), (0.0, 0.0, 0.10), 0.09),
    ("left_upper_arm", 1, (0.20, 0.0, 0.17), (0.25, 0.0, 0.0), 0.045),
    ("left_forearm", 3, (0.27, 0.0, 0.0), (0.22, 0.0, 0.0), 0.04),
    ("left_hand", 4, (0.25, 0.0, 0.0), (0.10, 0.0, 0.0), 0.025),
    ("right_upper_arm", 1, (-0.20, 0.0, 0.17), (-0.25, 0.0, 0.0), 0.045),
    ("right_forearm", 6, (-0.27, 0.0, 0.0), (-0.22, 0.0, 0.0), 0.04),
    ("right_hand", 7, (-0.25, 0.0, 0.0), (-0.10, 0.0, 0.0), 0.025),
    ("left_thigh", 0, (0.10, 0.0, -0.03), (0.0, 0.0, -0.38), 0.07),
    ("left_shin", 9, (0.0, 0.0, -0.42), (0.0, 0.0, -0.36), 0.05),
    ("left_foot", 10, (0.0, 0.0, -0.42), (0.0, -0.15, -0.02), 0.04),
    ("right_thigh", 0, (-0.10, 0.0, -0.03), (0.0, 0.0, -0.38), 0.07),
    ("right_shin", 12, (0.0, 0.0, -0.42), (0.0, 0.0, -0.36), 0.05),
    ("right_foot", 13, (0.0, 0.0, -0.42), (0.0, -0.15, -0.02), 0.04),
    ("left_index1", 5, (0.12, 0.0, 0.0), (0.06, 0.0, 0.0), 0.009),
    ("right_index1", 8, (-0.12, 0.0, 0.0), (-0.06, 0.0, 0.0), 0.009),
)
SOLE_M = 0.93  # from the pelvis down to the soles of a figure at rest


@cache
def figure() -> Character:
    """Somebody of seventeen capsules, boxes and hulls, in a T pose, facing -Y."""
    names, parents, offsets, ends, radii = zip(*_FIGURE, strict=True)
    shapes = [capsule(n, j, [0, 0, 0], e, r) for j, (n, e, r) in enumerate(zip(names, ends, radii, strict=True))]
    for j in (names.index("chest"), names.index("left_foot"), names.index("right_foot")):
        reach = np.abs(ends[j]) * 0.5 + radii[j] * np.array([1.0, 0.8, 0.7])
        middle = transform(0.5 * np.asarray(ends[j]))
        if names[j] == "chest":
            shapes[j] = Shape(names[j], j, "mesh", np.zeros(3), middle, mesh=box(2.0 * reach))
        else:
            shapes[j] = Shape(names[j], j, "box", reach, middle)
    skeleton = Skeleton(names, np.array(parents), np.array(offsets))
    return Character(name="figure", skeleton=skeleton, shapes=tuple(shapes), roles={n: j for j, n in enumerate(names)})


@cache
def ball(radius: float = 0.1) -> Character:
    """A body that is nothing but a ball and can hold things."""
    shape = Shape("right_hand", 0, "sphere", np.array([radius, 0.0, 0.0]))
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    return Character(name="ball", skeleton=skeleton, shapes=(shape,), roles={"right_hand": 0})


@cache
def kite() -> Character:
    """A flat body: a square without thickness whose hull has no volume."""
    shape = Shape("right_hand", 0, "mesh", np.zeros(3), mesh=sheet(0.2, 0.2))
    skeleton = Skeleton(("root",), np.array([-1]), np.zeros((1, 3)))
    return Character(name="kite", skeleton=skeleton, shapes=(shape,), roles={"right_hand": 0})


@cache
def arm() -> Character:
    """A hub, an upper arm along x and a thin forearm."""
    skeleton = Skeleton(("hub", "upper", "fore"), np.array([-1, 0, 1]), np.array([[0, 0, 0], [0.1, 0, 0], [0.4, 0, 0]]))
    shapes = (
        Shape("hub", 0, "box", np.array([0.08, 0.06, 0.05])),
        capsule("upper", 1, [0, 0, 0], [0.35, 0, 0], 0.04),
        capsule("right_hand", 2, [0.05, 0, 0], [0.4, 0, 0], 0.02),
    )
    roles = {"pelvis": 0, "right_upper_arm": 1, "right_hand": 2}
    return Character(name="arm", skeleton=skeleton, shapes=shapes, roles=roles)


_URDF = """<robot name="picker"><link name="base"><collision><origin xyz="0 0 0.1"/><geometry><box size="0.3 0.3 0.2"/>
</geometry></collision></link><link name="boom"><collision><origin xyz="0.3 0 0"/><geometry><box size="0.5 0.05 0.05"/>
</geometry></collision></link><link name="finger"><collision><origin xyz="0.1 0 0"/><geometry>
<cylinder radius="0.02" length="0.2"/></geometry></collision></link>
<joint name="pan" type="revolute"><parent link="base"/><child link="boom"/><origin xyz="0 0 0.3"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/></joint>
<joint name="reach" type="prismatic"><parent link="boom"/><child link="finger"/><origin xyz="0.6 0 0" rpy="0 1.57 0"/>
<axis xyz="0 0 1"/><limit lower="0" upper="0.4" effort="9" velocity="9"/></joint></robot>"""


@cache
def robot() -> Robot:
    """A base with a boom that turns and a finger that slides out of it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picker.urdf"
        path.write_text(_URDF)
        return read_urdf(path)


# ---------------------------------------------------------------- motions


def flight(
    rng: np.random.Generator, body: Character, seconds: float, fps: float, fastest: float = 4.0, **more: object
) -> Clip:
    """A clip of a body whose root goes straight, at up to so many metres a second, and whose joints turn at random."""
    count = max(round(seconds * fps) + 1, 2)
    t = np.arange(count)[:, None] / fps
    root = rng.normal(size=3) * 0.1 + t * direction(rng) * speed(rng, 0.05, fastest)
    # a figure that turns all of its joints at random hits itself
    swing = rng.normal(size=(len(body.parents), 3)) * rng.choice(
        [0.0, 0.15, 0.4] if len(body.parents) > 3 else [0.0, 1.0]
    )
    wave = np.sin(2.0 * np.pi * rng.uniform(0.3, 2.5) * t + rng.uniform(0.0, 6.0))
    q = rot.exp(swing[None] * wave[..., None] * 0.5)
    return Clip(body, fps, root, q, **more)  # type: ignore[arg-type]


def upright(rng: np.random.Generator, seconds: float, fps: float, height: float, **more: object) -> Clip:
    """A figure that glides along with its soles at a height, arms and legs hardly moving."""
    clip = flight(rng, figure(), seconds, fps, **more)
    root = np.array(clip.root) * [1.0, 1.0, 0.0] + [0.0, 0.0, height + SOLE_M]
    small = rot.slerp(np.broadcast_to(rot.IDENTITY, clip.rotations.shape), clip.rotations, np.array(0.1))
    return clip.with_(root=root, rotations=small)


def recorded(clip: Clip, lead: int = 0) -> Clip:
    """The clip as if a file had brought it."""
    return clip.with_(source=Source(path="made.bvh", format="bvh", lead=lead))


# ---------------------------------------------------------------- so that it just passes


def pose_of(motion: Motion, t: float) -> Array:
    """World transforms (J, 4, 4) of a body's joints at a time."""
    return motion.body.transforms(*motion.sample(np.array([t])))[0]


def edge_of(shape: Shape, T: Array, way: Array) -> Array:
    """The point (3,) of a shape, whose joint is at T (4, 4), that lies farthest in a direction."""
    T = T @ shape.T_joint_shape
    local = T[:3, :3].T @ way
    if shape.kind == "mesh":
        assert shape.mesh is not None
        point = shape.mesh.vertices[int(np.argmax(shape.mesh.vertices @ local))]
    elif shape.kind == "box":
        point = shape.size * np.where(local >= 0.0, 1.0, -1.0)
    else:
        half = shape.size[1] if shape.kind == "capsule" else 0.0
        point = np.array([0.0, 0.0, half * (1.0 if local[2] >= 0.0 else -1.0)]) + shape.size[0] * local
    return T[:3, :3] @ point + T[:3, 3]


def beside(rng: np.random.Generator, motion: Motion, t: float, mesh: Mesh, apart: float) -> tuple[Array, Array, Array]:
    """Place (4, 4) of a mesh that is so many metres apart from some part of a body at a time, seen across its way.

    Also the direction (3,) from the body to the mesh, and the velocity (3,) of the body's point there.
    """
    shape = motion.body.shapes[int(rng.integers(len(motion.body.shapes)))]
    T, later = (pose_of(motion, x)[shape.joint] for x in (t, t + 1e-4))
    way = direction(rng)
    velocity = (edge_of(shape, later, way) - edge_of(shape, T, way)) / 1e-4
    way = direction(rng, velocity)
    point = edge_of(shape, T, way)
    q = turn(rng)
    if rng.random() < 0.5:  # its flat side, or its tip, looks at the body
        q = rot.multiply(
            rot.arc([0.0, 0.0, 1.0], way * rng.choice([-1.0, 1.0])), rot.about([0.0, 0.0, 1.0], rng.uniform(0, 6))
        )
    corners = rot.rotate(q, mesh.vertices)
    nearest = corners[int(np.argmin(corners @ way))]
    return transform(point + apart * way - nearest, q), way, velocity
