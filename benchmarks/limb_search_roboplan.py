"""roboplan's RRT-Connect on problems of `limb_search`.

It gets the arm as URDF: seven hinges, shapes as capsules and convex meshes, the shelf's triangles. Its shoulder turns
about three axes in turn, its wrist about two, with ranges that hold all of ours; problems are such that their ends are
free either way. Contact alone counts: no clearance is asked of it, which ours keeps.
"""

from __future__ import annotations

import time
from pathlib import Path as File
from typing import Any

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from elbowroom.character.limits import sample_pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.transforms import transform
from elbowroom.spaces.limb import LimbSearchSpace
from limb_search_ompl import moved


def seven(space: LimbSearchSpace, q: Array) -> Array:
    """Angles (..., 7) of postures (..., n, 4): shoulder about x, y, z, elbow about x, z, wrist about x, y."""
    shoulder = space.limits[0]
    a = rot.multiply(rot.multiply(rot.conjugate(shoulder.pre), q[..., 0, :]), rot.conjugate(shoulder.post))
    angles = Rotation.from_quat(np.roll(a.reshape(-1, 4), -1, axis=1)).as_euler("XYZ").reshape(*a.shape[:-1], 3)
    elbow, wrist = space.limits[1].coordinates(q[..., 1, :]), space.limits[2].coordinates(q[..., 2, :])
    return np.concatenate([angles, elbow[..., [0, 2]], wrist[..., :2]], axis=-1)


def postures(space: LimbSearchSpace, angles: Array) -> Array:
    """Postures (..., n, 4) that seven angles (..., 7) give this arm."""
    x, y, z = np.eye(3)
    parts = [((x, 0), (y, 1), (z, 2)), ((x, 3), (z, 4)), ((x, 5), (y, 6))]
    out = []
    for limit, turns in zip(space.limits, parts, strict=True):
        a = np.broadcast_to([1.0, 0, 0, 0], (*angles.shape[:-1], 4))
        for axis, k in turns:
            a = rot.multiply(a, rot.about(axis, angles[..., k]))
        out.append(rot.multiply(rot.multiply(np.broadcast_to(limit.pre, a.shape), a), limit.post))
    return np.stack(out, axis=-2)


def _origin(T: Array) -> str:
    rpy = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
    return f'<origin xyz="{" ".join(map(str, T[:3, 3]))}" rpy="{" ".join(map(str, rpy))}"/>'


def _link(name: str, T: Array, geometry: str, kind: str = "") -> str:
    tag = f'<collision_checking><{kind} name="{name}"/></collision_checking>' if kind else ""
    shape = f'<collision name="{name}">{_origin(T)}<geometry>{geometry}</geometry></collision>'
    return f'<link name="{name}">{shape}{tag}</link>'


def _joint(kind: str, name: str, parent: str, child: str, T: Array, more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{_origin(T)}{more}</joint>'
    )


def urdf(space: LimbSearchSpace, folder: File) -> tuple[str, dict[int, str]]:
    """The arm, the body and the scene as one URDF, and the names of their links by number of the exact test's part."""
    check = space.check
    exact, limb = check.exact, moved(check)
    exact.place(0.0)
    turned = seven(space, sample_pose(space.limits, np.random.default_rng(0), 100_000))
    low, high = turned.min(axis=0) - 1e-3, turned.max(axis=0) + 1e-3
    text, parent = ['<robot name="arm"><link name="world"/>'], "world"
    base = np.vstack([check.around.base[0], [0, 0, 0, 1.0]])
    k, carriers = 0, []
    for j, axes in enumerate(("xyz", "xz", "xy")):
        limit = space.limits[j]
        T = (base if j == 0 else np.eye(4)) @ transform(check.limb.offset[j], limit.pre)
        for axis in axes:
            text.append(f'<link name="link{k}"/>')
            vector = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}[axis]
            more = f'<axis xyz="{vector}"/><limit lower="{low[k]}" upper="{high[k]}" effort="1" velocity="3"/>'
            text.append(_joint("revolute", f"turn{k}", parent, f"link{k}", T, more))
            parent, T, k = f"link{k}", np.eye(4), k + 1
        text.append(
            f'<link name="limb{j}"/>'
            + _joint("fixed", f"after{j}", parent, f"limb{j}", transform([0, 0, 0], limit.post))
        )
        parent = f"limb{j}"
        carriers.append(parent)
    names = {}
    for i, part in enumerate(exact.parts):
        name = f"part{i}"
        carrier, T = limb.get(i, (-1, exact.placed.T[i]))
        T = np.vstack([T, [0, 0, 0, 1.0]]) if len(T) == 3 else T
        shape = part.shape
        if part.kind == "floor":
            T = transform([0, 0, float(check.world.floor or 0.0) - 0.05], [1.0, 0, 0, 0])
            text.append(_link(name, np.eye(4), '<box size="8 8 0.1"/>'))
        elif shape is not None and shape.kind == "sphere":
            text.append(_link(name, np.eye(4), f'<sphere radius="{shape.size[0]}"/>'))
        elif shape is not None and shape.kind == "box":
            size = " ".join(str(2.0 * x) for x in shape.size)
            text.append(_link(name, np.eye(4), f'<box size="{size}"/>'))
        elif shape is not None and shape.kind == "capsule":
            radius, half = shape.size[0], shape.size[1]
            text.append(_link(name, np.eye(4), f'<cylinder radius="{radius}" length="{2 * half}"/>', "capsule"))
        else:
            mesh = shape.mesh if shape is not None else check.world.static[part.owner]
            file = folder / f"{name}.stl"
            solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
            (solid.convex_hull if shape is not None else solid).export(file)
            kind = "convex" if shape is not None else ""
            text.append(_link(name, np.eye(4), f'<mesh filename="file://{file}"/>', kind))
        holder = carriers[carrier] if carrier >= 0 else "world"
        text.append(_joint("fixed", f"on{i}", holder, name, T))
        names[i] = name
    return "".join(text) + "</robot>", names


def plan_all(
    space: LimbSearchSpace, pairs: list[tuple[Array, Array]], looks: list[int], seconds: float, folder: File
) -> dict[str, Any]:
    """Times (s) of problems, None where not solved; and µs of a single check from Python.

    looks: how many our search takes on the straight way of each problem; roboplan's look as far apart in the median.
    """
    from roboplan.core import JointConfiguration, Scene, loadUrdfSceneDescriptionFromXml
    from roboplan.rrt import RRT, RRTOptions

    exact, limb = space.check.exact, moved(space.check)
    text, names = urdf(space, folder)
    scene = Scene("shelf", loadUrdfSceneDescriptionFromXml(text, []))
    wanted = {frozenset((int(a), int(b))) for a, b in exact.index if (a in limb) or (b in limb)}
    every = [(a, b) for a in names for b in names if a < b]
    scene.setCollisions([(names[a], names[b]) for a, b in every if frozenset((a, b)) not in wanted], False)
    scene.setCollisions([(names[a], names[b]) for a, b in every if frozenset((a, b)) in wanted], True)
    joints = [f"turn{k}" for k in range(7)]
    scene.addGroup("arm", joints)
    ends = [[np.ascontiguousarray(seven(space, q)) for q in pair] for pair in pairs]
    if any(_far(scene, space, x) for pair in ends for x in pair):
        raise RuntimeError("the URDF is not this arm")
    disagree = sum(scene.hasCollisions(x) for pair in ends for x in pair)
    step = float(np.median([scene.configurationDistance(a, b) / n for (a, b), n in zip(ends, looks, strict=True)]))
    q = ends[0][0]
    t0 = time.process_time()
    for _ in range(200):
        scene.hasCollisions(q)
    each = (time.process_time() - t0) / 200
    times: list[float | None] = []
    for k, (a, b) in enumerate(ends):
        options = RRTOptions(
            group_name="arm",
            max_nodes=200_000,
            collision_check_step_size=step,
            max_planning_time=seconds,
            rrt_connect=True,
        )
        planner = RRT(scene, options)
        planner.setRngSeed(k)
        start, goal = JointConfiguration(joints, a), JointConfiguration(joints, b)
        t0 = time.process_time()
        try:
            path = planner.plan(start, goal)
            found = len(path.positions) > 0
        except RuntimeError:
            found = False
        spent = time.process_time() - t0
        times.append(spent if found else None)
    return {"times": times, "us per check": round(1e6 * each, 1), "ends in collision there": int(disagree)}


def _far(scene: Any, space: LimbSearchSpace, angles: Array) -> bool:
    """Whether the URDF puts the hand elsewhere than this arm has it, by more than a micrometre."""
    there = scene.forwardKinematics(angles, "limb2")[:3, 3]
    here = space.marks(space.state(postures(space, angles)))[1]
    return bool(np.linalg.norm(there - here) > 1e-6)
