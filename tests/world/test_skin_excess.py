"""Certificates are about the body that is seen: skin that leaves the proven shapes is bounded and told."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import trimesh

import elbowroom as er
from elbowroom.character.fit_shapes import fit_shapes
from elbowroom.character.rig import as_character
from elbowroom.character.visual import seen_skin
from elbowroom.files.save import save
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.solids import sphere
from elbowroom.motion.clip import Clip, still_clip
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

PERSON = er.preset("woman").with_(name="ann")
AT_REST = PERSON.with_(shapes=fit_shapes(PERSON.skeleton, PERSON.roles, PERSON.skin))


def bent(degrees: float, frames: int = 3) -> Clip:
    """A woman whose head is bent to the side, far beyond what people do, with shapes around the skin at rest."""
    q = np.tile(PERSON.skeleton.rest, (frames, 1, 1))
    for role in ("neck", "head"):
        limit = PERSON.limits[PERSON.role(role)]
        assert limit is not None
        q[:, PERSON.role(role)] = limit.rotation([0.0, np.radians(degrees), 0.0])
    return Clip(AT_REST, 30.0, np.tile(PERSON.skeleton.offsets[0], (frames, 1)), q)


def seen(clip: Clip, frame: int = 0) -> np.ndarray:
    skin = seen_skin(clip.character)
    assert skin is not None
    return skin.posed(clip.character.transforms(clip.root[frame], clip.rotations[frame]))


def with_ball(clip: Clip, at: np.ndarray, radius: float) -> World:
    return World(static={"marble": sphere(radius, at)}, floor=None).with_character("ann", clip)


def test_a_ball_in_the_visible_chest_of_a_bare_rig_collides() -> None:
    """Shapes of rigs without a skin followed tables, and balls were up to 58 mm inside the skin that was shown."""
    rig = as_character(PERSON.skeleton, name="bare")
    clip = still_clip(rig)
    vertices = seen(clip)
    front = vertices[np.abs(vertices[:, 0]) < 0.1]
    chest = front[(front[:, 2] > 1.15) & (front[:, 2] < 1.3)]
    tip = chest[np.argmin(chest[:, 1])]
    for depth, free in ((0.02, False), (-0.03, True)):
        found = certify(with_ball(clip, tip + [0.0, -0.04 + depth, 0.0], 0.04))
        assert found.free == free, found.summary


def test_ordinary_postures_leave_nothing_to_tell() -> None:
    found = certify(World(floor=0.0).with_character("ann", er.idle(PERSON, seconds=1.0)))
    assert found.free and found.evidence.skin is not None
    assert found.evidence.skin.share < 1e-3
    assert "skin" in found.summary


def test_shapes_of_the_rest_pose_alone_say_how_far_the_skin_leaves_them() -> None:
    """Hanging arms leave a little of it outside."""
    man = er.preset("man")
    man = man.with_(shapes=fit_shapes(man.skeleton, man.roles, man.skin))
    found = certify(World(floor=0.0).with_character("ann", er.idle(man, seconds=1.0)))
    assert found.free and found.evidence.skin is not None and 1e-3 < found.evidence.skin.share < 0.02
    assert "of the skin up to" in found.summary and found.exceptions


def test_skin_far_outside_is_listed_with_a_bound_that_holds() -> None:
    clip = bent(70.0)
    found = certify(World(floor=None).with_character("ann", clip), own_contacts=True)
    excess = found.evidence.skin
    assert excess is not None and excess.share > 0.0
    worst = max(excess.parts, key=lambda p: p.beyond_m)
    assert {"ann.neck", "ann.head"} & {p.part for p in excess.parts} and worst.beyond_m > 0.008
    assert not worst.enters and excess.enters is None
    assert f"{1000 * worst.beyond_m:.1f} mm outside the proven shapes" in str(excess)


def test_skin_that_may_be_in_something_says_in_what_and_how_deep() -> None:
    """A marble at skin outside of all shapes: no shape meets it, and the certificate tells that the skin does."""
    clip = bent(70.0)
    T = PERSON.transforms(clip.root[0], clip.rotations[0])
    vertices = seen(clip)
    shapes = [shape_mesh(s).moved(T[s.joint]) for s in AT_REST.shapes]
    hulls = [trimesh.convex.convex_hull(mesh.vertices) for mesh in shapes]
    rows = np.flatnonzero(np.all([~hull.contains(vertices) for hull in hulls], axis=0))
    far = np.min([trimesh.proximity.closest_point(hull, vertices[rows])[1] for hull in hulls], axis=0)
    k = int(rows[np.argmax(far)])
    assert far.max() > 0.008
    found = certify(with_ball(clip, vertices[k], 0.003), own_contacts=True)
    assert not any("marble" in c.pair for c in found.collisions)
    assert found.evidence.skin is not None
    _, thing, depth = found.evidence.skin.enters or ("", "", 0.0)
    assert thing == "marble" and depth > 0.0, found.summary
    assert "in marble" in found.summary or not found.free


def test_files_carry_the_excess(tmp_path: Path) -> None:
    world = World(floor=None).with_character("ann", bent(70.0))
    found = certify(world)
    save([tmp_path / "bent.npz"], world, certificate=found)
    with np.load(tmp_path / "bent.npz") as file:
        evidence = json.loads(str(file["evidence"]))
    assert evidence["skin"]["parts"][0]["beyond_m"] == pytest.approx(found.evidence.skin.parts[0].beyond_m)  # type: ignore[union-attr]


def test_a_joint_that_turns_round_in_one_frame_is_bounded_in_between() -> None:
    q = np.tile(PERSON.skeleton.rest, (2, 1, 1))
    limit = PERSON.limits[PERSON.role("left_forearm")]
    assert limit is not None
    q[0, PERSON.role("left_forearm")] = limit.rotation([0.2, 0.0, -1.5])
    q[1, PERSON.role("left_forearm")] = limit.rotation([0.2, 0.0, 1.5])
    clip = Clip(PERSON, 30.0, np.tile(PERSON.skeleton.offsets[0], (2, 1)), q)
    excess = certify(World(floor=None).with_character("ann", clip)).evidence.skin
    assert excess is not None
    assert all(p.beyond_m < 0.02 for p in excess.parts)


def test_one_frame_and_people_without_a_skin() -> None:
    one = Clip(PERSON, 30.0, PERSON.skeleton.offsets[:1], PERSON.skeleton.rest[None])
    assert certify(World(floor=None).with_character("ann", one)).evidence.skin is not None
    assert certify(World(static={"wall": sphere(0.2)}, floor=None)).evidence.skin is None
