"""Two shapes of one segment: the slimmer one meets its own body, the other one everything else."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.errors import BadFile
from elbowroom.files.npz import read_npz
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.geometry.shapes import Shape, capsule, folded, unfolded
from elbowroom.geometry.solids import box, sphere
from elbowroom.motion.clip import Clip, still_clip
from elbowroom.plan.optimise.balls import parts_of_body
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.pairs import shapes_of
from elbowroom.world.things import Hold
from elbowroom.world.world import World

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from verify_npz import verify

PERSON = er.preset("woman")


def thick(radius: float = 0.2) -> Character:
    """A woman whose forearms are so thick for others that they would be in her trunk and thighs."""

    def arm(shape: Shape) -> Shape:
        if not shape.name.endswith("forearm"):
            return shape
        wide = capsule(shape.name, shape.joint, [0.0, 0.0, 0.0], [0.1, 0.0, 0.0], radius)
        return replace(wide, own=shape.own or shape)

    return PERSON.with_(shapes=tuple(arm(shape) for shape in PERSON.shapes))


def idle(body: Character) -> Clip:
    return er.idle(body, seconds=0.5, fps=30.0)


def test_presets_have_as_many_pairs_as_with_one_set_of_shapes() -> None:
    single = PERSON.with_(shapes=tuple(replace(s.own or s, own=None) for s in PERSON.shapes))
    worlds = [World(floor=0.0).with_character("ann", still_clip(body)) for body in (PERSON, single)]
    two, one = (ExactWorld(world) for world in worlds)
    assert sorted(map(sorted, two.pairs)) == sorted(map(sorted, one.pairs))
    assert sorted(map(sorted, two.ignored)) == sorted(map(sorted, one.ignored))


def test_shapes_unfold_and_fold() -> None:
    rows, own = unfolded(PERSON.shapes)
    assert len(rows) > len(PERSON.shapes)
    for a, b in zip(folded(rows, own), PERSON.shapes, strict=True):
        assert (a.name, a.joint, a.kind, a.own) == (b.name, b.joint, b.kind, b.own)


def test_a_body_meets_itself_with_its_slimmer_shapes() -> None:
    clip = idle(thick())
    assert certify(World(floor=0.0).with_character("ann", clip)).free
    fat = thick().with_(shapes=tuple(replace(s, own=None) for s in thick().shapes))
    assert not certify(World(floor=0.0).with_character("ann", idle(fat))).free


@pytest.mark.parametrize("kind", ["wall", "object", "person", "floor"])
def test_everything_else_is_met_with_the_other_shapes(kind: str) -> None:
    body = thick()
    clip = idle(body)
    arm = clip.world()[0, body.role("left_forearm"), :3, 3]
    at = arm + [0.15, 0.0, 0.0]
    world = World(floor=None).with_character("ann", clip)
    ball = sphere(0.02)
    if kind == "wall":
        world = world.with_static("wall", sphere(0.02, at))
    elif kind == "object":
        world = world.with_object("ball", ball, lambda t: np.block([[np.eye(3), at[:, None]], [0, 0, 0, 1.0]]))
    elif kind == "person":
        other = idle(PERSON)
        beside = np.array([0.62, 0.0, 0.0])
        world = world.with_character("bob", other.with_(root=other.root + beside))
    else:
        stands = still_clip(body)  # arms out to the sides
        world = World(floor=float(stands.world()[0, body.role("left_forearm"), 2, 3]) - 0.15).with_character(
            "ann", stands
        )
    found = certify(world)
    assert any("ann.left_forearm" in c.pair for c in found.collisions), found.summary
    slim = PERSON.with_(shapes=tuple(replace(s.own or s, own=None) for s in PERSON.shapes))
    again = replace(world, characters={**world.characters, "ann": world.characters["ann"].with_(character=slim)})
    assert not any("ann.left_forearm" in c.pair for c in certify(again).collisions)


def test_fast_and_exact_checks_agree_about_an_arm_with_two_shapes() -> None:
    body = thick(0.12)
    clip = idle(body)
    arm = clip.world()[0, body.role("left_forearm"), :3, 3]
    world = World(floor=0.0).with_character("ann", clip).with_static("block", box((0.1, 0.1, 0.1), arm + [0.3, 0, 0]))
    check = LimbCheck(world, "ann", "left_arm", (0.0, 0.4))
    rng = np.random.default_rng(0)
    q = np.array(clip.rotations[0][list(check.joints)])
    seen = set()
    for _ in range(60):
        turned = q + rng.normal(scale=0.15, size=q.shape)
        turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
        free = check.free(turned, 0.2)
        assert free == (not check.hits(turned, 0.2))
        seen.add(free)
    assert seen == {True, False}


def test_what_is_held_meets_the_shapes_for_others_and_its_holder_only_as_a_grip() -> None:
    """Slimmer shapes of the holding segment have no pair with what it holds, and no number of one."""
    body = thick()
    clip = idle(body)
    joint = clip.world()[0, body.role("left_forearm")]
    world = World(floor=0.0).with_character("ann", clip).with_object("ball", sphere(0.02), lambda t: joint)
    world = world.with_(holds=(Hold("ball", "ann", "left_forearm", (0.0, 0.5)),))
    exact = ExactWorld(world)
    assert exact.off and min(exact.off) >= 0
    check = LimbCheck(world, "ann", "left_arm", (0.0, 0.4), exact=exact)
    rows = {
        check.exact.parts[piece.member[0]].name: mode
        for piece, mode in zip(check._parts.pieces, check._parts.mode, strict=True)
    }
    assert any((mode == 0).any() for mode in rows.values())


def test_balls_of_slimmer_shapes_are_for_own_pairs_alone() -> None:
    parts = parts_of_body(PERSON, "ann")
    assert [p.others for p in parts] == [s.others for s in shapes_of(PERSON)]
    assert not all(p.others for p in parts)


@pytest.mark.parametrize("suffix", [".npz", ".glb"])
def test_files_keep_both_shapes(tmp_path: Path, suffix: str) -> None:
    world = World(floor=0.0).with_character("ann", idle(thick()))
    found = certify(world)
    assert found.free
    path = tmp_path / f"arms{suffix}"
    save([path], world, certificate=found)
    motion = open_file(path).characters["ann"]
    body = motion.character if isinstance(motion, Clip) else motion
    for a, b in zip(body.shapes, thick().shapes, strict=True):
        assert (a.own is None) == (b.own is None) and (a.name, a.joint) == (b.name, b.joint)
        if a.own is not None and b.own is not None:
            assert np.allclose(a.own.size, b.own.size, atol=1e-9) and a.own.kind == b.own.kind


def test_the_script_that_shares_nothing_knows_both_shapes(tmp_path: Path) -> None:
    body = thick()
    clip = idle(body)
    arm = clip.world()[0, body.role("left_forearm"), :3, 3]
    world = World(floor=0.0).with_character("ann", clip)
    save([tmp_path / "free.npz"], world, certificate=certify(world))
    assert not verify(tmp_path / "free.npz", rate=60.0).violations
    hit = world.with_static("wall", sphere(0.02, arm + [0.15, 0.0, 0.0]))
    save([tmp_path / "hit.npz"], hit, certificate=certify(hit))
    assert any("ann.left_forearm" in v.pair for v in verify(tmp_path / "hit.npz", rate=60.0).violations)


def test_slimmer_shapes_that_stand_for_none_of_their_joint_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "arms.npz"
    save([path], World(floor=0.0).with_character("ann", idle(PERSON)))
    with np.load(path) as file:
        arrays = dict(file)
    own = arrays["char/ann/shape_own"].copy()
    k = int(np.flatnonzero(own >= 0)[0])
    for wrong in (own[k] + 1, len(own), k, -2):
        arrays["char/ann/shape_own"] = own.copy()
        arrays["char/ann/shape_own"][k] = wrong
        np.savez(path, **arrays)
        with pytest.raises(BadFile, match="slimmer"):
            read_npz(path)


def test_a_digest_depends_on_both_shapes() -> None:
    def digest(body: Character) -> str:
        return certify(World(floor=0.0).with_character("ann", idle(body))).digest

    slimmer = tuple(replace(s, own=None if s.name == "neck" else s.own) for s in PERSON.shapes)
    assert digest(PERSON) == digest(er.preset("woman")) != digest(PERSON.with_(shapes=slimmer))
