"""Collision shapes follow the skin: nearly all of it is within 5 mm of them in postures that people take."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import elbowroom as er
from conftest import real_files
from elbowroom.character.body import Character, Skin
from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.skin_cover import HELD_M, cover_of, levers, outliers, postures
from elbowroom.character.visual import seen_skin
from elbowroom.files.open import open_file
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import Shape, shape_mesh
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.kernels.skin_cover import excess


def skin_of(body: Character) -> Skin:
    skin = seen_skin(body)
    assert skin is not None
    return skin


def distance(shapes: tuple[Shape, ...], T: Array, points: Array) -> Array:
    """Distances (N,) of points in the world from the nearest shape, 0 inside, by trimesh alone."""
    out = np.full(len(points), np.inf)
    for shape in shapes:
        local = apply(inverse(T[shape.joint]), points)
        if shape.kind == "capsule":
            found = np.maximum(shape.signed_distance(local), 0.0)
        else:
            mesh = shape_mesh(shape)
            hull = trimesh.convex.convex_hull(mesh.vertices)
            found = trimesh.proximity.closest_point(hull, local)[1]
            found[hull.contains(local)] = 0.0
        out = np.minimum(out, found)
    return out


def beyond(body: Character, poses: list[Array], by: float = 0.005) -> float:
    """Share of the skin that is more than some metres outside of all shapes."""
    cover = cover_of(body.skeleton, body.shapes, skin_of(body))
    count = 0
    for T in poses:
        which, points = outliers(cover, T)
        world = np.array([apply(T[cover.joint[k]], p[None])[0] for k, p in zip(which.tolist(), points, strict=True)])
        # the points are on the way to the shape, HELD_M from the vertex
        if len(which):
            count += int((distance(body.shapes, T, world) + HELD_M > by).sum())
    return count / (len(poses) * len(skin_of(body).vertices))


def drawn(body: Character, seed: int, count: int) -> list[Array]:
    """Postures of recorded ranges that the shapes were not fitted to."""
    rng = np.random.default_rng(seed)
    known = list(postures(body.skeleton, body.roles, body.limits))
    q = np.stack([body.skeleton.local(_orientations(T)) for T in known])
    mixed = q[rng.integers(len(q), size=(count, q.shape[1])), np.arange(q.shape[1])]
    return list(body.skeleton.forward(np.zeros((count, 3)), mixed))


def _orientations(T: Array) -> Array:
    from elbowroom.geometry.rotations import from_matrix

    return from_matrix(T[:, :3, :3])


@pytest.mark.parametrize("name", ["woman", "man", "child", "clown", "gorilla"])
def test_skin_of_presets_stays_within_5_mm_of_their_shapes(name: str) -> None:
    body = er.preset(name)
    unseen = drawn(body, 7, 12)
    assert beyond(body, unseen) < 0.001  # postures that mix the ends of all ranges
    skin = skin_of(body)
    at_rest = body.with_(shapes=fit_shapes(body.skeleton, body.roles, skin))
    assert beyond(at_rest, unseen) > 5 * beyond(body, unseen)


@pytest.mark.parametrize("name", ["16_17", "115_06", "113_15"])
def test_skin_of_recorded_people_stays_within_5_mm_of_their_shapes(name: str) -> None:
    for path in real_files(f"mocap/cmu_bvh/{name}.bvh"):
        clip = er.read_bvh(path)
        for body in (clip.character, er.preset("man")):
            on = clip if body is clip.character else er.retarget(clip, body)
            rows = np.linspace(0, len(on) - 1, 15).astype(int)
            assert beyond(body, list(body.transforms(on.root[rows], on.rotations[rows]))) <= 0.0005


@pytest.mark.parametrize(
    ("name", "most"),
    [("rocketbox_male_adult_01", 0.001), ("rocketbox_male_child_01", 0.002), ("quaternius_worker", 0.001)],
)
def test_skin_of_imported_rigs_stays_within_5_mm_of_their_shapes(name: str, most: float) -> None:
    (path,) = real_files(f"characters/{name}.glb")
    (clip,) = real_files("mocap/cmu_bvh/69_70.bvh")
    body = next(iter(open_file(path).characters.values()))
    assert isinstance(body, Character)
    on = er.retarget(er.read_bvh(clip), body)
    rows = np.linspace(0, len(on) - 1, 15).astype(int)
    poses = list(body.transforms(on.root[rows], on.rotations[rows]))
    assert beyond(body, poses) <= most
    assert beyond(body.with_(shapes=fit_shapes(body.skeleton, body.roles, body.skin)), poses) > 2 * most


def test_shapes_against_the_body_itself_enclose_the_skin_at_rest_alone() -> None:
    """Hands, fingers and feet have one shape for everything: they close on things and stand on the floor."""
    body = er.preset("man")
    at_rest = {s.name: s for s in fit_shapes(body.skeleton, body.roles, body.skin)}
    twice = {s.name: s.own for s in body.shapes if s.own is not None}
    assert {"chest", "pelvis", "left_thigh", "right_upper_arm", "neck"} <= set(twice)
    assert not any(name.endswith(("hand", "foot", "toes", "1", "2", "3")) and "spine" not in name for name in twice)
    for name, own in twice.items():
        assert own is not None and own.own is None and own.name == name
        assert np.array_equal(shape_mesh(own).vertices, shape_mesh(at_rest[name]).vertices)


def test_distances_agree_with_another_library() -> None:
    body = er.preset("woman")
    cover = cover_of(body.skeleton, body.shapes, skin_of(body))
    T = drawn(body, 3, 1)[0]
    which, points = outliers(cover, T)
    world = skin_of(body).posed(T)
    far = distance(body.shapes, T, world)
    assert abs(len(which) - int((far > HELD_M).sum())) <= 2  # candidates are the shapes nearby: none is missed
    at = [apply(T[cover.joint[k]], p[None])[0] for k, p in zip(which.tolist(), points, strict=True)]
    nearest = [np.linalg.norm(world - p, axis=1).min() for p in at]
    assert np.allclose(nearest, HELD_M, atol=1e-6)


def test_bounds_hold_between_frames() -> None:
    """Vertices of a body that turns by up to 40 degrees from frame to frame, sampled in between."""
    body = er.preset("woman")
    skin, shapes = skin_of(body), body.shapes
    cover = cover_of(body.skeleton, shapes, skin)
    length = np.linalg.norm(body.skeleton.offsets, axis=1)
    rng = np.random.default_rng(1)
    rest = body.skeleton.rest
    frames = [rest.copy() for _ in range(4)]
    for role in ("spine1", "left_thigh", "left_upper_arm", "neck"):
        j = body.role(role)
        limit = body.limits[j]
        assert limit is not None
        start = limit.coordinates(rest[j])
        for q in frames:
            start = limit.clamp_coordinates(start + rng.uniform(-0.5, 0.5, 3))
            q[j] = limit.rotation(start)
    clip = er.Clip(body, 10.0, np.zeros((4, 3)), np.stack(frames))
    T = np.ascontiguousarray(body.transforms(clip.root, clip.rotations))
    turn = 2 * np.arccos(np.clip(np.abs((clip.rotations[1:] * clip.rotations[:-1]).sum(-1)), 0, 1))
    worst, many = np.zeros((4, len(shapes))), np.zeros((4, len(shapes)))
    excess(cover, T, turn, length, levers(cover, length).rise(turn), 0.0, 0.005, worst, many)
    for n in range(3):
        for share in np.linspace(0.0, 1.0, 7):
            root, q = clip.sample(np.array([(n + share) / 10.0]))
            far = distance(shapes, body.transforms(root, q)[0], skin.posed(body.transforms(root, q)[0]))
            assert far.max() <= worst[n].max() + 1e-6


def test_postures_are_mirrored_in_pairs() -> None:
    body = er.preset("man")
    T = list(postures(body.skeleton, body.roles, body.limits))
    for one, other in zip(T[::2], T[1::2], strict=True):
        left, right = body.role("left_hand"), body.role("right_hand")
        assert np.allclose(one[left, :3, 3] * [-1, 1, 1], other[right, :3, 3], atol=1e-6)
        assert np.allclose(one[body.role("head"), :3, 3] * [-1, 1, 1], other[body.role("head"), :3, 3], atol=1e-6)
