"""Collision shapes: they enclose the skin of their segment, tightly; without skin they are as thick as people are."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

import elbowroom as er
from conftest import real_files
from elbowroom.character import fit_shapes_skin
from elbowroom.character.body import Character
from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.fit_shapes_skin import enclosing_shape, least_capsule, owned_points, owners, yielding
from elbowroom.character.human import human
from elbowroom.character.skeleton import Skeleton
from elbowroom.files.bvh import read_bvh
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape
from elbowroom.geometry.transforms import apply, inverse


def outside(shape: Shape, points: Array) -> float:
    """How far the outermost of points (N, 3), in the joint's frame, is outside of a shape, metres."""
    if shape.mesh is None:
        return float(shape.signed_distance(points).max())
    planes = ConvexHull(shape.mesh.vertices).equations
    return float((points @ planes[:, :3].T + planes[:, 3]).max())


def volume(shape: Shape) -> float:
    if shape.mesh is not None:
        return float(ConvexHull(shape.mesh.vertices).volume)
    r, half = shape.size[0], shape.size[1]
    return float(np.pi * r * r * (2 * half + 4 / 3 * r))


def characters() -> list[Path]:
    return real_files("characters/*.glb")


@pytest.mark.parametrize("path", characters(), ids=lambda p: p.stem)
def test_shapes_enclose_the_skin_of_their_segment(path: Path) -> None:
    for c in read_glb(path).characters.values():
        assert c.skin is not None
        at_rest = c.skin.posed(c.skeleton.T_rest)
        owner = owners(c.skeleton, c.roles, c.skin)
        pieces = owned_points(at_rest, c.skin.faces, owner, yielding(c.roles))
        by_joint = {s.joint: s for s in c.shapes}
        assert len(by_joint) == len(c.shapes)
        at_rest_only = {s.joint: s for s in fit_shapes(c.skeleton, c.roles, c.skin)}
        assert set(np.unique(owner)) == set(by_joint)
        loose = []
        for j, shape in by_joint.items():
            points = apply(inverse(c.skeleton.T_rest[j]), at_rest[owner == j])
            assert outside(shape, points) < 1e-6, shape.name
            if shape.mesh is not None:
                feet = shape.name.endswith(("_foot", "_toes"))
                assert len(shape.mesh.vertices) <= (128 if feet else 64)
                normals = np.cross(*(np.diff(shape.mesh.vertices[shape.mesh.faces], axis=1)).transpose(1, 0, 2))
                outwards = shape.mesh.vertices[shape.mesh.faces].mean(axis=1) - shape.mesh.vertices.mean(axis=0)
                assert np.all(np.einsum("ij,ij->i", normals, outwards) > -1e-12)
            every = apply(inverse(c.skeleton.T_rest[j]), pieces[j])
            assert outside(shape, every) < 1e-6, shape.name
            if at_rest_only[j].mesh is not None:
                loose.append(volume(at_rest_only[j]) / ConvexHull(every).volume)
        assert max(loose) < 1.2  # corners were dropped, yet hardly anything was added
        names = {j: part for part, j in c.roles.items()}
        assert all(s.name == names.get(s.joint, c.skeleton.names[s.joint]) for s in c.shapes)


def test_flesh_between_arm_and_chest_stays_with_the_chest() -> None:
    body = er.preset("woman")
    arm, chest = body.role("left_upper_arm"), body.role("chest")
    assert body.skin is not None
    at_rest = body.skin.posed(body.skeleton.T_rest)
    owner = owners(body.skeleton, body.roles, body.skin)
    shared = [f for f in body.skin.faces if set(owner[f]) == {arm, chest}]
    corners = at_rest[np.unique(shared)]
    shapes = {shape.joint: shape for shape in body.shapes}
    assert outside(shapes[chest], apply(inverse(body.skeleton.T_rest[chest]), corners)) < 1e-6
    own = owned_points(at_rest, body.skin.faces, owner, {})[arm]
    assert outside(shapes[arm], apply(inverse(body.skeleton.T_rest[arm]), own)) > 0.003


def test_the_whole_surface_is_covered(data: Path) -> None:
    """Points all over the triangles, not only vertices, are in some shape."""
    c = next(iter(read_glb(data / "characters/rocketbox_male_adult_01.glb").characters.values()))
    assert c.skin is not None
    at_rest = c.skin.posed(c.skeleton.T_rest)
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(3), len(c.skin.faces))
    points = np.einsum("fk,fkd->fd", weights, at_rest[c.skin.faces])
    covered = np.zeros(len(points), dtype=bool)
    for s in c.shapes:
        p = apply(inverse(c.skeleton.T_rest[s.joint]), points)
        if s.mesh is None:
            covered |= s.signed_distance(p) < 1e-6
        else:
            planes = ConvexHull(s.mesh.vertices).equations
            covered |= (p @ planes[:, :3].T + planes[:, 3]).max(axis=1) < 1e-6
    assert covered.all()


def test_a_capsule_of_points_is_found_again() -> None:
    rng = np.random.default_rng(4)
    a, b, radius = np.array([0.1, 0.2, 0.0]), np.array([0.3, 0.25, 0.5]), 0.06
    way = rng.normal(size=(4000, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    points = a + rng.uniform(0, 1, (4000, 1)) * (b - a) + radius * way
    low, high, r = least_capsule(points[ConvexHull(points).vertices])
    assert r == pytest.approx(radius, abs=0.003)
    ends = sorted([low, high], key=lambda p: float(p[2]))
    assert ends[0] == pytest.approx(a, abs=0.01) and ends[1] == pytest.approx(b, abs=0.01)
    assert enclosing_shape("x", 0, points, near=0.02).kind == "capsule"


@pytest.mark.parametrize("points", [[[0.0, 0, 0]], [[0.0, 0, 0], [1, 0, 0]], np.eye(4)[:, :3] * [1, 1, 0]])
def test_points_without_volume_get_a_shape_too(points: Array) -> None:
    p = np.asarray(points, dtype=float)
    shape = enclosing_shape("x", 0, p, near=0.005)
    assert shape.kind == "capsule" and outside(shape, p) <= 1e-9 and shape.size[0] >= 0.001


def widths(c: Character, at: Array, part: str, along: Array) -> float:
    """Extent of a part's shapes along a direction, in a pose given by joint transforms."""
    low, high = np.inf, -np.inf
    for s in c.shapes:
        if s.name == part:
            T = at[s.joint] @ s.T_joint_shape
            reach = abs(along @ T[:3, 2]) * s.size[1] + s.size[0]
            if s.kind == "box":
                reach = float(np.abs(along @ T[:3, :3]) @ s.size)
            low, high = min(low, along @ T[:3, 3] - reach), max(high, along @ T[:3, 3] + reach)
    return float(high - low)


def test_without_skin_people_are_as_wide_as_people() -> None:
    """Against the means of ANSUR II for a stature of 1.70 m, within a tenth."""
    c = human(height=1.70, skin=False)
    T = c.skeleton.T_rest
    x, y, z = np.eye(3)
    assert widths(c, T, "pelvis", x) == pytest.approx(0.348, rel=0.1)  # hip breadth
    assert widths(c, T, "chest", y) == pytest.approx(0.250, rel=0.1)  # chest depth
    assert widths(c, T, "left_thigh", y) == pytest.approx(0.197, rel=0.1)  # of a thigh 0.62 m round
    assert widths(c, T, "left_upper_arm", z) == pytest.approx(0.105, rel=0.1)
    assert widths(c, T, "left_shin", y) == pytest.approx(0.122, rel=0.1)
    whole = widths(c, T, "left_foot", y), widths(c, T, "left_toes", y)
    assert sum(whole) == pytest.approx(0.26, rel=0.1)
    assert T[c.role("left_foot"), 2, 3] - 0.039 * 1.7 == pytest.approx(0.0, abs=0.03)  # soles near the floor
    top = max((T[s.joint] @ s.T_joint_shape)[2, 3] + s.size[0] + s.size[1] for s in c.shapes if s.name == "head")
    assert top == pytest.approx(1.70, rel=0.03)


def test_cmu_feet_lie_flat_although_the_legs_are_spread(data: Path) -> None:
    c = read_bvh(data / "mocap/cmu_bvh/02_01.bvh").character
    feet = [s for s in fit_shapes(c.skeleton, c.roles) if s.name in ("left_foot", "right_foot")]
    assert [s.kind for s in feet] == ["box", "box"]
    for s in feet:
        side = "left" if s.name.startswith("left") else "right"
        leg = c.skeleton.T_rest[c.role(f"{side}_foot"), :3, 3] - c.skeleton.T_rest[c.role(f"{side}_shin"), :3, 3]
        up = (c.skeleton.T_rest[s.joint] @ s.T_joint_shape)[:3, 2]
        assert abs(up @ leg) / np.linalg.norm(leg) > 0.97  # at a right angle to the spread leg, not to the floor


def test_zero_length_bones_get_shapes() -> None:
    c = human(skin=False)
    flat = Skeleton(c.skeleton.names, c.skeleton.parents, np.zeros_like(c.skeleton.offsets))
    shapes = fit_shapes(flat, c.roles, None, 1.7)
    assert {s.name for s in shapes} >= {"pelvis", "left_thigh", "head", "right_hand"}
    assert all(np.isfinite(s.T_joint_shape).all() and s.size[0] > 0 for s in shapes)


def test_offsets_without_sense_cost_no_more_than_a_person() -> None:
    """Legs of a millimetre under a trunk of a metre gave any number of capsules."""
    person = human(skin=False)
    offsets = np.array(person.skeleton.offsets)
    for part in ("left_shin", "left_foot", "right_shin", "right_foot"):
        offsets[person.role(part)] *= 1e-3
    skeleton = Skeleton(person.skeleton.names, person.skeleton.parents, offsets)
    assert len(fit_shapes(skeleton, person.roles)) < 80
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 1e3):
        wild = Skeleton(person.skeleton.names, person.skeleton.parents, size * rng.normal(size=(len(offsets), 3)))
        shapes = fit_shapes(wild, person.roles)
        assert len(shapes) < 120 and all(np.all(np.isfinite(s.T_joint_shape)) for s in shapes)


def test_the_search_for_a_capsule_agrees_with_an_independent_one() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        points = rng.normal(size=(60, 3)) * [1.0, 0.3, 0.25] @ np.linalg.qr(rng.normal(size=(3, 3)))[0]

        def volume_of(x: Array, points: Array = points) -> float:
            line, base = x[:3] / np.linalg.norm(x[:3]), x[3:6]
            along = (points - base) @ line
            off = np.linalg.norm(points - base - np.outer(along, line), axis=1)
            r = off.max()
            reach = np.sqrt(np.maximum(r * r - off * off, 0.0))
            length = max(float((along - reach).max() - (along + reach).min()), 0.0)
            return float(np.pi * r * r * (length + 4 / 3 * r))

        axis = np.linalg.svd(points - points.mean(axis=0))[2][0]
        start = np.concatenate([axis, points.mean(axis=0)])
        best = minimize(volume_of, start, method="Powell", options={"maxfev": 20000}).fun
        a, b, r = least_capsule(points, 2000)
        assert np.pi * r * r * (np.linalg.norm(b - a) + 4 / 3 * r) < 1.03 * best


def test_a_new_person_is_made_at_once() -> None:
    human(height=1.61)  # compiles
    spent = []
    for height in (1.62, 1.63, 1.64):
        begin = time.process_time()
        human(height=height)
        spent.append(time.process_time() - begin)
    assert min(spent) < 0.6


def test_shapes_that_were_fitted_before_come_from_the_disk_bit_by_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    body = human(1.71)
    assert body.skin is not None
    fitted = fit_shapes_skin._fitted(body.skeleton, body.roles, body.skin, body.limits)
    assert {shape.kind for shape in fitted} == {"capsule", "mesh"}
    for _ in range(2):
        held = fit_shapes(body.skeleton, body.roles, body.skin, limits=body.limits)
        assert [(s.name, s.joint, s.kind) for s in held] == [(s.name, s.joint, s.kind) for s in fitted]
        for a, b in zip(held, fitted, strict=True):
            assert np.array_equal(a.size, b.size) and np.array_equal(a.T_joint_shape, b.T_joint_shape)
            if b.mesh is None:
                assert a.mesh is None
            else:
                assert a.mesh is not None and a.mesh.faces.dtype == b.mesh.faces.dtype
                assert np.array_equal(a.mesh.vertices, b.mesh.vertices)
                assert np.array_equal(a.mesh.faces, b.mesh.faces)
        monkeypatch.setattr(fit_shapes_skin, "_fitted", lambda *_: pytest.fail("fitted twice"))
