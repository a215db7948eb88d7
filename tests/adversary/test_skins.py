"""Random people among random things: the skin that is seen is in nothing by more than the certificate says."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.range_of_motion import used_range
from elbowroom.character.rig import as_character
from elbowroom.character.skin_cover import cover_of
from elbowroom.character.visual import seen_skin
from elbowroom.geometry.solids import sphere
from elbowroom.kernels.skin_cover import outliers
from elbowroom.motion.clip import Clip
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.skin_excess import LISTED_M
from elbowroom.world.world import World

FRAMES, FPS, BETWEEN = 4, 15.0, 3


def moving(body: Character, rng: np.random.Generator) -> Clip:
    """A body that goes from one random posture of recorded ranges to another, some joints beyond them."""
    q = np.tile(body.skeleton.rest, (2, 1, 1))
    for role, joint in body.roles.items():
        span, limit = used_range(role), body.limits[joint]
        if span is None or limit is None:
            continue
        for row in q:
            angles = rng.uniform(span[0], span[1]) * (1.3 if rng.random() < 0.1 else 1.0)
            row[joint] = limit.rotation(limit.clamp_coordinates(angles * ((1, -1, -1) if "right" in role else 1)))
    ends = Clip(body, FPS / (FRAMES - 1), np.tile(body.skeleton.offsets[0], (2, 1)), q)
    root, rotations = ends.sample(np.linspace(0.0, (FRAMES - 1) / FPS, FRAMES))
    return Clip(body, FPS, root, rotations)


def among(clip: Clip, rng: np.random.Generator, least_m: float) -> World:
    """A world with small things at skin that leaves the shapes around it by some metres, in some frame."""
    body = clip.character
    skin = seen_skin(body)
    assert skin is not None
    cover = cover_of(body.skeleton, body.shapes, skin)
    static = {}
    count = len(cover.joints)
    which, place, way = np.zeros(count, np.int64), np.zeros((count, 3)), np.zeros((count, 3))
    for k in range(4):
        frame = int(rng.integers(len(clip)))
        T = np.ascontiguousarray(body.skeleton.forward(clip.root[frame], clip.rotations[frame]))
        n = outliers(cover, T, least_m, which, place, way)
        if n:
            v = int(rng.integers(n))
            joint = T[cover.joint[which[v]]]
            size = rng.uniform(0.005, 0.03)
            outwards = joint[:3, :3] @ way[v] / np.linalg.norm(way[v])
            at = joint[:3, :3] @ place[v] + joint[:3, 3] + outwards * (size - rng.uniform(0.0, 0.006))
            static[f"thing {k}"] = sphere(size, at)
    return World(static=static, floor=None).with_character("ann", clip)


def deepest(world: World, clip: Clip) -> dict[str, float]:
    """Depth of the deepest vertex of the skin in each thing, metres, at and between frames, by trimesh alone."""
    body = clip.character
    skin = seen_skin(body)
    assert skin is not None
    times = np.linspace(clip.span[0], clip.span[1], BETWEEN * (FRAMES - 1) + 1)
    root, q = clip.sample(times)
    out: dict[str, float] = {}
    for name, mesh in world.static.items():
        solid = trimesh.Trimesh(mesh.vertices, mesh.faces)
        low, high = solid.bounds
        for T in body.transforms(root, q):
            points = skin.posed(np.ascontiguousarray(T))
            points = points[((points > low) & (points < high)).all(axis=1)]
            if len(points):
                depth = trimesh.proximity.signed_distance(solid, points)
                out[name] = max(out.get(name, 0.0), float(depth.max()))
    return out


def told(found: Certificate, thing: str) -> float:
    """Depth to which the certificate says that skin may be in a thing, metres."""
    assert found.evidence.skin is not None
    return max([LISTED_M, *(dict(part.enters).get(thing, 0.0) for part in found.evidence.skin.parts)])


def bodies() -> dict[str, Character]:
    woman = er.preset("woman")
    at_rest = woman.with_(shapes=fit_shapes(woman.skeleton, woman.roles, woman.skin))
    return {"woman": woman, "bare": as_character(woman.skeleton, name="bare"), "at rest": at_rest}


@pytest.mark.parametrize("name", ["woman", "bare", "at rest"])
def test_no_skin_is_deeper_in_a_thing_than_a_certificate_says(name: str) -> None:
    body, free, deep = bodies()[name], 0, 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        clip = moving(body, rng)
        world = among(clip, rng, 0.006 if name == "at rest" else 0.002)
        found = certify(world, own_contacts=False)
        hit = {thing for c in found.collisions for thing in c.pair if thing.startswith("thing")}
        for thing, depth in deepest(world, clip).items():
            if thing not in hit:
                free += 1
                deep += depth > LISTED_M
                assert depth <= told(found, thing) + 1e-6, (seed, thing, depth, told(found, thing))
    assert free, "nothing is touched by skin alone"
    assert deep or name != "at rest", "no skin is in things that the shapes clear: the check cannot fail"
