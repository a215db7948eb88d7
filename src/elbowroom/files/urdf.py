"""Reading robots from URDF, through Pinocchio."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np

from elbowroom.character.body import SegmentMasses
from elbowroom.character.robot import JointKind, Robot, RobotJoints, robot_chains, with_grip
from elbowroom.errors import BadFile, MissingExtra
from elbowroom.files.text import check_regular, numbers, read_bytes, shown
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.solids import cylinder

_LARGEST = 16 * 1024**2  # bytes
_LARGEST_MESH = 64 * 1024**2  # bytes of one mesh file; those of robots have one or two megabytes
_MESHES = (".stl", ".dae", ".obj", ".ply")  # others that Pinocchio knows name further files, as glTF does
_MOST_LINKS = 200  # a humanoid with hands has 50 to 120; Pinocchio's time grows with their cube: 0.5 s for 200
_NAMED = 6  # links that a note names
_MOST_SHAPES = 2000  # collision shapes of all links
_SIDES = 32  # of the polygon that stands for a circle
_FARTHEST = 1e6  # metres
# Shapes of collisions, with what each needs.
_SHAPES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "mesh": ("filename",)}
# How many numbers attributes have, by the element that they stand in.
_NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "mesh": {"scale": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1),
    "limit": dict.fromkeys(("lower", "upper", "effort", "velocity"), 1),
}
_JOINTS = ("revolute", "continuous", "prismatic", "fixed")


def read_urdf(
    path: str | Path,
    *,
    packages: Sequence[str | Path] = (),
    base: Literal["fixed", "wheels", "free"] = "fixed",
) -> Robot:
    """Read a robot from a URDF file.

    Mesh files are looked up beside the file; `package://NAME/…` in `packages` (folders that hold a folder NAME, or are
    called so) and in the folders above the file. `base` says how the robot as a whole moves: not at all, rolling on the
    floor, or freely. Cylinders become convex meshes around them, meshes count as their convex hulls. A link without a
    collision shape has its visual one, with a note. On wheels, an arm of six joints or more without a link `grip` gets
    one at the tip of its tool (`character.gripper`).
    """
    path = Path(path)
    tree, seen = _parsed(path)
    folders = [Path(p) for p in packages]
    for link in tree.findall("link"):
        for mesh in link.iter("mesh"):
            file = _resolved(mesh.get("filename", ""), path, folders, f"link '{shown(link.get('name', ''))}'")
            mesh.set("filename", str(file))
    _check_joints(tree, path)
    _check_shapes(tree, path, seen)
    robot = _robot(path, ElementTree.tostring(tree, encoding="unicode"), tree.get("name") or path.stem, base)
    if seen:
        named = ", ".join(f"'{shown(name)}'" for name in seen[:_NAMED]) + (", …" if len(seen) > _NAMED else "")
        have = "1 link has" if len(seen) == 1 else f"{len(seen)} links have"
        note = f"{have} no collision shape in {path.name}; the visual shape is used: {named}."
        robot = replace(robot, notes=(*robot.notes, note))
    return with_grip(robot) if base == "wheels" else robot


def mesh_files(path: Path, packages: Sequence[Path] = ()) -> list[Path]:
    """Files of meshes that a URDF file needs; they are not read."""
    links = _parsed(path)[0].findall("link")
    return [_resolved(mesh.get("filename", ""), path, list(packages)) for link in links for mesh in link.iter("mesh")]


def _parsed(path: Path) -> tuple[ElementTree.Element, list[str]]:
    """A <robot> without visual shapes, and the names of links that have no others: theirs become collision shapes."""
    raw = read_bytes(path, _LARGEST)
    try:
        tree = ElementTree.fromstring(raw)
    except (ElementTree.ParseError, ValueError) as error:
        line = getattr(error, "position", (0, 0))[0]
        raise BadFile(path, f"is not valid XML ({error})", f"line {line}" if line else "") from None
    if tree.tag != "robot":
        raise BadFile(path, f"describes a <{tree.tag}>", would_do="a URDF describes a <robot>")
    seen = []
    for link in tree.findall("link"):
        visuals, alone = link.findall("visual"), link.find("collision") is None
        for visual in visuals:
            link.remove(visual)  # beside collision shapes, their files need not exist
            if alone:
                shape = ElementTree.SubElement(link, "collision")
                shape.extend(part for part in visual if part.tag in ("origin", "geometry"))
        if visuals and alone:
            seen.append(link.get("name", ""))
    return tree, seen


def _resolved(name: str, path: Path, packages: list[Path], where: str = "") -> Path:
    """The file that a mesh's name means, of the link `where`."""
    tried = name.removeprefix("file://")
    if name.startswith(("package://", "model://")):
        package, _, rest = name.partition("://")[2].partition("/")
        above = [*packages, *path.resolve().parents]
        places = [folder / package / rest for folder in above] + [f / rest for f in above if f.name == package]
    else:
        places = [path.parent / tried]
    for place in places:
        if place.exists():
            check_regular(place, _LARGEST_MESH)
            if place.suffix.lower() not in _MESHES:
                kinds = f"{', '.join(_MESHES)} are read"
                raise BadFile(path, f"the mesh '{shown(name, 200)}' has an unsupported format", where, kinds)
            return place.resolve()
    raise BadFile(path, f"the mesh '{shown(name, 200)}' was not found", where, "put it there, or give packages")


def _check_joints(tree: ElementTree.Element, path: Path) -> None:
    """Check that joints of known kinds connect all links to one tree; Pinocchio drops unconnected links."""
    links = len(tree.findall("link"))
    if links > _MOST_LINKS or len(tree.findall(".//collision")) > _MOST_SHAPES:
        raise BadFile(path, f"has {links} links", would_do=f"at most {_MOST_LINKS} with {_MOST_SHAPES} shapes are read")
    for joint in tree.findall("joint"):
        kind = joint.get("type", "")
        if kind not in _JOINTS:
            raise BadFile(
                path,
                f"is of type '{kind}'",
                f"joint '{joint.get('name', '')}'",
                f"expected {', '.join(_JOINTS)}; give base for a robot that moves as a whole",
            )
    above: dict[str, str] = {}
    for joint in tree.findall("joint"):
        parent, child = (_link_of(joint, end) for end in ("parent", "child"))
        if child in above:
            raise BadFile(
                path, f"is a child of both '{above[child]}' and '{parent}'", f"link '{child}'", "expected one"
            )
        above[child] = parent
    roots = [name for link in tree.findall("link") if (name := link.get("name", "")) not in above]
    if len(roots) != 1:
        raise BadFile(path, f"has {len(roots)} links without a parent", would_do="expected one, the base")
    for name in above:
        steps, link = 0, name
        while link in above and steps <= len(above):
            link, steps = above[link], steps + 1
        if link != roots[0]:
            raise BadFile(path, f"is not connected to '{roots[0]}'", f"link '{name}'")


def _check_shapes(tree: ElementTree.Element, path: Path, seen: Sequence[str]) -> None:
    """One shape of a known kind with all its numbers in every collision, and finite numbers everywhere.

    The parser below Pinocchio leaves out a collision that it cannot read and prints a line: nothing would touch it.
    """
    for link in tree.findall("link"):
        where = f"link '{shown(link.get('name', ''))}'"
        for collision in link.findall("collision"):
            shapes = [shape for geometry in collision.findall("geometry") for shape in geometry]
            if len(shapes) != 1 or shapes[0].tag not in _SHAPES:
                kinds = ", ".join(_SHAPES)
                kind = "visual" if link.get("name", "") in seen else "collision"
                raise BadFile(path, f"has a {kind} without one shape", where, f"expected one of {kinds}")
            lacking = [key for key in _SHAPES[shapes[0].tag] if key not in shapes[0].attrib]
            if lacking:
                raise BadFile(path, f"has a {shapes[0].tag} without '{lacking[0]}'", where)
        for inertial in link.findall("inertial"):
            for tag in ("mass", "inertia"):
                part = inertial.find(tag)
                if part is None or not set(_NUMBERS[tag]) <= set(part.attrib):
                    needed = ", ".join(_NUMBERS[tag])
                    raise BadFile(path, f"has an inertial part without a complete {tag}", where, f"it needs {needed}")
    for element in tree.iter():
        for key, count in _NUMBERS.get(element.tag, {}).items():
            if key in element.attrib:
                words = element.attrib[key].split()
                found = numbers(path, words, f"{element.tag} {key}")
                if len(found) != count:
                    where = f"{element.tag} {key}"
                    raise BadFile(path, f"has {len(found)} numbers", where, f"expected {count}")
                if key in ("size", "radius", "length") and not np.all(found > 0.0):
                    raise BadFile(path, f"'{shown(element.attrib[key])}' is not a size", f"{element.tag} {key}")


def _link_of(joint: ElementTree.Element, end: str) -> str:
    found = joint.find(end)
    return "" if found is None else found.get("link", "")


def _robot(path: Path, text: str, name: str, base: Literal["fixed", "wheels", "free"]) -> Robot:
    try:
        import pinocchio as pin
    except ImportError:
        raise MissingExtra("reading a URDF", "pip install pin") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pin.buildModelFromXML(text)
            found = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.COLLISION).geometryObjects
            joints = _joints(pin, model)
    except (ValueError, RuntimeError, IndexError) as error:
        raise BadFile(path, f"is not a valid URDF ({str(error).splitlines()[0][:120]})") from None
    frames = [f for f in model.frames if f.type == pin.FrameType.BODY]
    shapes = [_shape(g, model.frames[g.parentFrame].name, path) for g in found]
    every = [joints.T_parent_joint, joints.axes, *(s.T_joint_shape for s in shapes), *(s.size for s in shapes)]
    if not all(np.all(np.isfinite(a)) for a in every):
        raise BadFile(path, "has numbers that are not finite")
    return Robot(
        name=name,
        joints=joints,
        links={f.name: (int(f.parentJoint), _matrix(f.placement)) for f in frames},
        chains=robot_chains(joints),
        shapes=tuple(shapes),
        masses=_masses(model),
        base=base,
        notes=() if shapes else (f"{name} has no collision shapes: it cannot collide.",),
    )


def _joints(pin: Any, model: Any) -> RobotJoints:
    count = model.njoints
    kinds: list[JointKind] = ["base"]
    axes = np.zeros((count, 3))
    lower, upper, speed = np.full(count, -np.inf), np.full(count, np.inf), np.full(count, np.inf)
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    for j in range(1, count):
        joint = model.joints[j]
        subspace = np.asarray(data.joints[j].S).reshape(6)  # linear, then angular
        turns = np.linalg.norm(subspace[3:]) > 0.5
        kinds.append("turns" if turns else "slides")
        axes[j] = subspace[3:] if turns else subspace[:3]
        if joint.nq == 1:  # continuous joints have two numbers, and no limits
            lower[j], upper[j] = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
        speed[j] = model.velocityLimit[joint.idx_v]
    first = next((f.name for f in model.frames if f.type == pin.FrameType.BODY), "base")
    return RobotJoints(
        names=(first, *(model.names[j] for j in range(1, count))),
        parents=np.array([-1, *(model.parents[j] for j in range(1, count))]),
        kinds=tuple(kinds),
        T_parent_joint=np.stack([np.eye(4), *(_matrix(model.jointPlacements[j]) for j in range(1, count))]),
        axes=axes,
        lower=lower,
        upper=upper,
        speed=speed,
    )


def _masses(model: Any) -> SegmentMasses:
    every = list(model.inertias)
    return SegmentMasses(
        np.array([i.mass for i in every]),
        np.array([np.asarray(i.lever).reshape(3) for i in every]),
        np.array([np.asarray(i.inertia) for i in every]),
    )


def _shape(found: Any, link: str, path: Path) -> Shape:
    """A link's collision shape; a cylinder is enclosed by a prism, so that nothing passes by its being thin."""
    geometry, joint, T = found.geometry, int(found.parentJoint), _matrix(found.placement)
    kind = type(geometry).__name__
    if kind == "Box":
        return Shape(link, joint, "box", np.asarray(geometry.halfSide), T)
    if kind == "Sphere":
        return Shape(link, joint, "sphere", np.array([geometry.radius, 0.0, 0.0]), T)
    if kind == "Capsule":
        return Shape(link, joint, "capsule", np.array([geometry.radius, geometry.halfLength, 0.0]), T)
    if kind == "Cylinder":
        radius = geometry.radius / np.cos(np.pi / _SIDES)
        mesh = cylinder(radius, 2.0 * geometry.halfLength)
    elif kind == "Convex" or hasattr(geometry, "tri_indices"):
        # triangles of Coal's mesh or convex hull, with the scale in the file
        if type(geometry).__name__ == "Convex":
            points, corners, count = geometry.points(), geometry.polygons, geometry.num_polygons
        else:
            points, corners, count = geometry.vertices(), geometry.tri_indices, geometry.num_tris
        triangles = [[t[0], t[1], t[2]] for t in map(corners, range(count))]
        mesh = Mesh(np.asarray(points).reshape(-1, 3), np.array(triangles))
        if not np.all(np.abs(mesh.vertices) < _FARTHEST):
            raise BadFile(path, "has a mesh with invalid vertices", f"link '{link}'")
    else:
        raise BadFile(path, f"has the shape '{kind}'", f"link '{link}'", "expected box, sphere, cylinder or mesh")
    return Shape(link, joint, "mesh", np.zeros(3), T, mesh)


def _matrix(placement: Any) -> Array:
    return np.array(placement.homogeneous)
