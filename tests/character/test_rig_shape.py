"""Parts found from the shape of a skeleton alone, doubts told, and rigs that are no people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.human import human
from elbowroom.character.rig import as_character, chains_for, find_roles
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.rotations import about, multiply


def nameless(skeleton: Skeleton, turn: float) -> Skeleton:
    """The same skeleton turned about the vertical, its joints called by number."""
    rest = np.array(skeleton.rest)
    rest[0] = multiply(about([0.0, 0.0, 1.0], turn), rest[0])
    return replace(skeleton, names=tuple(f"joint{j:02d}" for j in range(len(skeleton))), rest=rest)


@pytest.mark.parametrize("turn", [0.0, 0.7, np.pi / 2, np.pi, -2.0])
def test_a_nameless_person_is_found_facing_any_way(turn: float) -> None:
    person = human(skin=False)
    roles, notes = find_roles(nameless(person.skeleton, turn))
    found = {person.skeleton.names[j]: part for part, j in roles.items()}
    assert found == {n: n for n in person.skeleton.names if not n.endswith("_eye")}
    assert any("shape of the skeleton" in n for n in notes)
    assert "No eyes found." in notes


def test_nameless_rig_faces_where_it_was_turned() -> None:
    turn = np.radians(30.0)
    made = as_character(nameless(human(skin=False).skeleton, turn), name="x")
    assert made.front == pytest.approx([np.sin(turn), -np.cos(turn), 0.0], abs=1e-6)


def test_swapped_sides_are_told() -> None:
    skeleton = human(skin=False).skeleton
    other = {"left": "right", "right": "left"}
    swapped = tuple(
        other.get(n.partition("_")[0], n.partition("_")[0]) + n[len(n.partition("_")[0]) :] for n in skeleton.names
    )
    _, notes = find_roles(replace(skeleton, names=swapped))
    assert any("feet point backwards" in n for n in notes)


def test_arms_swapped_against_legs_are_told() -> None:
    skeleton = human(skin=False).skeleton
    arm = ("clavicle", "upper_arm", "forearm", "hand", "thumb", "index", "middle", "ring", "little")
    names = []
    for n in skeleton.names:
        side, _, rest = n.partition("_")
        names.append({"left": "right_", "right": "left_"}[side] + rest if rest.startswith(arm) else n)
    _, notes = find_roles(replace(skeleton, names=tuple(names)))
    assert any("opposite sides" in n for n in notes)


def test_a_knee_above_its_hip_is_told() -> None:
    skeleton = human(skin=False).skeleton
    offsets = np.array(skeleton.offsets)
    offsets[skeleton.index("left_shin")] *= -1.0
    _, notes = find_roles(replace(skeleton, offsets=offsets))
    assert any("'left_shin' is above 'left_thigh'" in n for n in notes)


def test_what_is_missing_is_said() -> None:
    person = human(skin=False)
    gone = {"right_upper_arm", "left_foot", "head"}
    s = person.skeleton
    drop = {j for n in gone for j in s.subtree(s.index(n))}
    kept = [j for j in range(len(s)) if j not in drop]
    new = {old: k for k, old in enumerate(kept)}
    cut = Skeleton(
        tuple(s.names[j] for j in kept), [new.get(int(s.parents[j]), -1) for j in kept], s.offsets[kept], s.rest[kept]
    )
    made = as_character(cut, name="x")
    for sentence in ("No left foot found.", "No right arm found.", "No head found.", "No eyes found."):
        assert sentence in made.notes, made.notes
    assert "left_arm" in made.chains and "right_arm" not in made.chains
    assert "right_leg" in made.chains and "left_leg" not in made.chains


def test_chains_of_the_person() -> None:
    person = human(skin=False)
    names = person.skeleton.names
    chains = chains_for(person.skeleton, person.roles)
    assert [names[j] for j in chains["right_arm"].joints] == ["right_upper_arm", "right_forearm", "right_hand"]
    assert [names[j] for j in chains["right_arm"].lead] == ["right_clavicle"]
    assert [names[j] for j in chains["left_leg"].joints] == ["left_thigh", "left_shin", "left_foot"]
    assert len(chains["left_fingers"].joints) == 15
    assert names[chains["neck"].end] == "head"


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_any_tree_becomes_a_character(n: int, seed: int, named: bool) -> None:
    """Whatever the tree, the lengths (zero too) and the names: finite results, each joint in one part at most."""
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(0, j)) for j in range(1, n))]
    offsets = rng.normal(size=(n, 3)) * rng.choice([0.0, 0.1, 1.0], size=(n, 1))
    words = rng.permutation(human(skin=False).skeleton.names)
    names = tuple(str(words[j]) if named else f"j{j}" for j in range(n))
    poses = rng.normal(size=(3, n, 4))
    poses /= np.linalg.norm(poses, axis=-1, keepdims=True)
    made = as_character(Skeleton(names, parents, offsets), name="x", poses=poses if seed % 2 else None)
    assert len(set(made.roles.values())) == len(made.roles)
    assert np.all(np.isfinite(made.skeleton.rest)) and np.isfinite(made.front).all()
    for limit in made.limits:
        assert limit is None or (np.isfinite(limit.pre).all() and np.isfinite(limit.post).all())
    for shape in made.shapes:
        assert np.isfinite(shape.T_joint_shape).all() and np.isfinite(shape.size).all()
