"""The built-in person: tree, sizes, masses, presets, bad values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.anthropometry import LENGTHS, STACK, Proportions, between, proportions
from elbowroom.character.body import SegmentMasses
from elbowroom.character.hands import FINGERS, finger_names
from elbowroom.character.human import PRESETS, human, preset
from elbowroom.character.human_joints import human_skeleton
from elbowroom.character.limits import JointLimit
from elbowroom.character.masses import DE_LEVA, masses_for
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.rotations import about, multiply

HEIGHTS = st.floats(0.8, 2.3)
SEXES = st.sampled_from(["female", "male", "average"])


def bare(height: float = 1.70, sex: str = "average") -> tuple[Proportions, Skeleton, dict[str, int]]:
    sizes = proportions(height, sex=sex)  # type: ignore[arg-type]
    skeleton = human_skeleton(sizes)
    return sizes, skeleton, {name: j for j, name in enumerate(skeleton.names)}


def total_center(skeleton: Skeleton, masses: SegmentMasses) -> np.ndarray:
    at = np.einsum("jab,jb->ja", skeleton.T_rest[:, :3, :3], masses.center) + skeleton.T_rest[:, :3, 3]
    return masses.mass @ at / masses.total


def assert_physical(masses: SegmentMasses) -> None:
    for mass, inertia in zip(masses.mass, masses.inertia, strict=True):
        np.testing.assert_allclose(inertia, inertia.T, atol=1e-12)
        low, middle, high = np.linalg.eigvalsh(inertia)
        if mass > 0:
            assert low > 0
            assert high <= (low + middle) * (1 + 1e-9)


def freedoms(limit: JointLimit | None) -> int:
    """Degrees of freedom that a limit leaves; the off-axis play of hinges is not one."""
    assert limit is not None
    if limit.kind == "hinge":
        return 1 + (limit.twist[0] < limit.twist[1])
    return 2 + (limit.twist[0] < limit.twist[1])


def test_it_has_the_54_joints_of_a_person_in_tree_order() -> None:
    person = human(skin=False)
    names = person.skeleton.names
    assert len(names) == 54
    assert names[0] == "pelvis"
    assert {f"{s}_{f}{k}" for s in ("left", "right") for f in FINGERS for k in (1, 2, 3)} <= set(names)
    assert dict(person.roles) == {name: j for j, name in enumerate(names)}
    assert person.skeleton.names[person.skeleton.parents[person.role("left_toes")]] == "left_foot"
    assert person.skeleton.names[person.skeleton.parents[person.role("right_index1")]] == "right_hand"


def test_twenty_bodies_and_53_degrees_of_freedom_without_toes_fingers_and_eyes() -> None:
    person = human(skin=False)
    extra = {
        *finger_names("left"),
        *finger_names("right"),
        "left_toes",
        "right_toes",
        "left_eye",
        "right_eye",
    }
    bodies = [name for name in person.skeleton.names if name not in extra]
    assert len(bodies) == 20
    assert 6 + sum(freedoms(person.limits[person.role(name)]) for name in bodies if name != "pelvis") == 53
    assert all(freedoms(person.limits[person.role(name)]) >= 1 for name in extra)


def test_rest_pose_is_a_t_pose_facing_minus_y_with_soles_on_the_floor() -> None:
    person = human(1.80, skin=False)
    at = {name: person.skeleton.T_rest[j, :3, 3] for name, j in person.roles.items()}
    assert np.all(person.skeleton.rest == [1.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(at["pelvis"][:2], 0.0)
    for part in ("forearm", "hand", "middle3"):
        assert at[f"left_{part}"][0] > 0.2
        np.testing.assert_allclose(at[f"left_{part}"][2], at["left_upper_arm"][2])
    assert at["left_toes"][1] < -0.1, "toes point to -Y"
    assert at["left_thumb3"][1] < at["left_hand"][1], "the thumb points to the front: palms down"
    np.testing.assert_allclose(at["left_foot"][2], 0.039 * 1.80)
    mirrored = {name.replace("left", "right"): p * [-1, 1, 1] for name, p in at.items() if "left" in name}
    for name, p in mirrored.items():
        np.testing.assert_allclose(at[name], p, atol=1e-12)


def test_lengths_are_the_published_ones() -> None:
    man = proportions(1.741, sex="male")
    # de Leva 1996, table 4, males 1.741 m tall.
    assert man.length["upper_arm"] == pytest.approx(0.2817, abs=0.001)
    assert man.length["forearm"] == pytest.approx(0.2689, abs=0.001)
    assert man.length["thigh"] == pytest.approx(0.4222, abs=0.010)
    assert man.length["shin"] == pytest.approx(0.4340, abs=0.010)
    assert man.length["foot"] == pytest.approx(0.2581, abs=0.010)
    # Arm span of men is about 1.03 times the height (ANSUR II).
    reach = man.spacing["shoulder"] + man.length["upper_arm"] + man.length["forearm"] + man.length["hand"]
    assert 2 * reach / man.height == pytest.approx(1.035, abs=0.015)
    assert man.girth["waist"] == pytest.approx(0.82, abs=0.03)


@pytest.mark.parametrize("sex", ["female", "male", "average"])
def test_lengths_from_sole_to_vertex_sum_to_the_height(sex: str) -> None:
    shares = [between(LENGTHS[name][:2], sex) for name in STACK]  # type: ignore[arg-type]
    assert sum(shares) == pytest.approx(1.0, abs=1e-12)
    sizes = proportions(1.9, sex=sex)  # type: ignore[arg-type]
    assert sizes.level("vertex") == pytest.approx(1.9)
    assert sizes.level("ankle") < sizes.level("knee") < sizes.level("hip") < sizes.level("neck")
    with pytest.raises(UnknownName, match="chest"):
        sizes.level("breast")


@settings(max_examples=25, deadline=None)
@given(height=HEIGHTS, sex=SEXES, leg=st.floats(0.6, 1.6), arm=st.floats(0.6, 1.6), bmi=st.floats(15, 45))
def test_mass_and_height_hold_for_every_build(height: float, sex: str, leg: float, arm: float, bmi: float) -> None:
    mass = bmi * height**2
    person = human(height, mass, sex=sex, leg_scale=leg, arm_scale=arm, skin=False)  # type: ignore[arg-type]
    assert person.masses is not None
    assert person.masses.total == pytest.approx(mass, abs=1e-9)
    assert_physical(person.masses)
    ankle_to_hip = person.skeleton.T_rest[person.role("left_thigh"), 2, 3]
    assert 0.35 * height < ankle_to_hip < 0.68 * height
    assert person.skeleton.T_rest[:, 2, 3].max() < height


def test_longer_legs_keep_the_height_and_grow_against_the_trunk() -> None:
    plain, long = proportions(1.7), preset("clown", height=1.7, leg_scale=1.3, skin=False)
    at = long.skeleton.T_rest[:, :3, 3]
    trunk = at[long.role("neck"), 2] - at[long.role("pelvis"), 2]
    leg = at[long.role("left_thigh"), 2]
    man = proportions(1.7, sex="male")
    ratio = (leg / trunk) / (man.level("hip") / (man.level("neck") - man.level("hip")))
    assert ratio == pytest.approx(1.3)
    assert plain.level("vertex") == pytest.approx(1.7)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_segment_masses_and_centres_are_de_levas(sex: str) -> None:
    person = human(1.74, 70.0, sex=sex, skin=False)  # type: ignore[arg-type]
    m = person.masses
    assert m is not None
    column = 0 if sex == "female" else 1
    whole = sum(row[0][column] * (1 if "trunk" in name or name == "head" else 2) for name, row in DE_LEVA.items())
    for name in ("upper_arm", "forearm", "thigh", "shin"):
        j = person.role(f"left_{name}")
        assert m.mass[j] == pytest.approx(70.0 * DE_LEVA[name][0][column] / whole)
        bone = person.skeleton.offsets[j + 1]
        np.testing.assert_allclose(m.center[j], bone * DE_LEVA[name][1][column] / 100, atol=1e-9)
        radii = np.sqrt(np.linalg.eigvalsh(m.inertia[j]) / m.mass[j]) / np.linalg.norm(bone)
        np.testing.assert_allclose(radii, np.sort([r[column] for r in DE_LEVA[name][2:]]) / 100, rtol=1e-6)
    groups = {
        "hand": person.skeleton.subtree(person.role("left_hand")),
        "foot": person.skeleton.subtree(person.role("left_foot")),
        "head": person.skeleton.subtree(person.role("neck")),
    }
    for name, joints in groups.items():
        assert m.mass[list(joints)].sum() == pytest.approx(70.0 * DE_LEVA[name][0][column] / whole)
    hand = list(groups["hand"])
    at = person.skeleton.T_rest[hand, :3, 3] + m.center[hand]
    from_wrist = (m.mass[hand] @ at / m.mass[hand].sum() - at[0] + m.center[hand[0]])[0]
    knuckle = {"female": 0.0780, "male": 0.0862}[sex]  # de Leva's length of the hand, m, at about this height
    assert from_wrist == pytest.approx(knuckle * DE_LEVA["hand"][1][column] / 100, abs=0.008)


@pytest.mark.parametrize(("sex", "level"), [("female", 0.565), ("male", 0.575)])
def test_centre_of_mass_is_where_standing_people_have_it(sex: str, level: float) -> None:
    # About 55 to 57 % of the height with hanging arms; arms held out raise it by 1 to 2 %.
    _, skeleton, roles = bare(1.70, sex)
    center = total_center(skeleton, masses_for(skeleton, roles, 1.70, sex=sex))  # type: ignore[arg-type]
    assert center[2] / 1.70 == pytest.approx(level, abs=0.015)
    assert center[0] == pytest.approx(0.0, abs=1e-12)
    assert abs(center[1]) < 0.03, "above the feet"


def test_masses_of_a_rig_without_some_parts_go_to_the_parts_above() -> None:
    _, skeleton, roles = bare()
    full = masses_for(skeleton, roles, 1.70, 60.0)
    known = {r: j for r, j in roles.items() if not r.endswith(("1", "2", "3", "toes", "eye"))}
    known |= {"spine1": roles["spine1"]}
    less = masses_for(skeleton, known, 1.70, 60.0)
    assert less.total == pytest.approx(60.0, abs=1e-9)
    assert_physical(less)
    for part in ("left_hand", "right_foot", "head"):
        joints = list(skeleton.subtree(roles[part]))
        assert less.mass[roles[part]] == pytest.approx(full.mass[joints].sum())
        assert np.all(less.mass[joints[1:]] == 0)
    assert less.mass[roles["spine2"]] == 0
    # The hand's centre barely moves when its fingers are one with it.
    np.testing.assert_allclose(total_center(skeleton, less)[:2], total_center(skeleton, full)[:2], atol=2e-3)
    assert masses_for(skeleton, {}, 1.70, 60.0).mass[0] == pytest.approx(60.0), "no known part: all at the root"


def test_masses_do_not_depend_on_how_a_rig_turns_its_frames() -> None:
    _, skeleton, roles = bare()
    rng = np.random.default_rng(3)
    world = about(rng.normal(size=(54, 3)), rng.uniform(-3, 3, 54))
    back = world * [1, -1, -1, -1]
    local = np.array([world[j] if p < 0 else multiply(back[p], world[j]) for j, p in enumerate(skeleton.parents)])
    at = skeleton.T_rest[:, :3, 3]
    turned = Skeleton(skeleton.names, skeleton.parents, skeleton.offsets, local)
    offsets = np.array(skeleton.offsets)
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            offsets[j] = turned.T_rest[p, :3, :3].T @ (at[j] - at[p])
    turned = Skeleton(skeleton.names, skeleton.parents, offsets, local)
    np.testing.assert_allclose(turned.T_rest[:, :3, 3], at, atol=1e-12)
    a, b = masses_for(skeleton, roles, 1.7, 60.0), masses_for(turned, roles, 1.7, 60.0)
    np.testing.assert_allclose(a.mass, b.mass)
    np.testing.assert_allclose(total_center(skeleton, a), total_center(turned, b), atol=1e-12)
    np.testing.assert_allclose(np.linalg.eigvalsh(a.inertia), np.linalg.eigvalsh(b.inertia), atol=1e-12)


def test_every_preset_stands_and_differs_as_its_name_says() -> None:
    made = {name: preset(name, skin=False) for name in PRESETS}
    assert set(made) == {"woman", "man", "child", "clown", "gorilla"}

    def share(name: str, a: str, b: str) -> float:
        at = made[name].skeleton.T_rest[:, :3, 3]
        return float(np.linalg.norm(at[made[name].role(a)] - at[made[name].role(b)])) / PRESETS[name]["height"]

    assert made["child"].name == "child"
    for name, person in made.items():
        assert person.masses is not None
        assert person.masses.total == pytest.approx(PRESETS[name]["mass"], abs=1e-9)
        assert len(person.markers) == 41
    leg = {name: share(name, "left_thigh", "left_foot") for name in made}
    arm = {name: share(name, "left_upper_arm", "left_hand") for name in made}
    assert leg["clown"] > 1.1 * leg["man"] > 1.1 * leg["gorilla"]
    assert arm["gorilla"] > 1.4 * arm["man"]
    child = made["child"]
    assert child.masses is not None
    head = child.masses.mass[list(child.skeleton.subtree(child.role("neck")))].sum() / 26.0
    assert head == pytest.approx(0.11, abs=0.01)
    assert child.skeleton.T_rest[child.role("left_thigh"), 2, 3] / 1.28 == pytest.approx(0.50, abs=0.01)
    with pytest.raises(UnknownName, match="gorilla"):
        preset("gorila")


@pytest.mark.parametrize("name", list(PRESETS))
def test_the_skin_reaches_from_the_floor_to_the_height(name: str) -> None:
    person = preset(name)
    assert person.skin is not None
    height = PRESETS[name]["height"]
    z = person.skin.posed(person.skeleton.T_rest)[:, 2]
    assert z.min() == pytest.approx(0.0, abs=0.01 * height)
    assert z.max() == pytest.approx(height, abs=0.01 * height)
    assert person.height == pytest.approx(height, rel=0.01)
    assert person.shapes
    assert set(person.chains) >= {"left_arm", "right_arm", "left_leg", "right_leg", "spine", "neck", "eyes"}


def test_equal_calls_return_the_same_person() -> None:
    assert human(1.7, skin=False) is human(height=1.70, skin=False)
    assert human(1.7, skin=False) is not human(1.71, skin=False)


@pytest.mark.parametrize("height", [0, float("nan"), -3, 50, float("inf"), "tall", None])
def test_a_senseless_height_is_told_in_a_sentence(height: object) -> None:
    with pytest.raises(BadValue, match=r"height .* between 0\.4 and 3\.0 m"):
        human(height)  # type: ignore[arg-type]


@pytest.mark.parametrize("mass", [0, float("nan"), -70, 5000, "heavy"])
def test_a_senseless_mass_is_told_in_a_sentence(mass: object) -> None:
    with pytest.raises(BadValue, match=r"mass .* between .* kg"):
        human(1.7, mass)  # type: ignore[arg-type]


def test_senseless_scales_and_sexes_are_told_in_a_sentence() -> None:
    with pytest.raises(BadValue, match="leg_scale"):
        human(leg_scale=float("nan"))
    with pytest.raises(BadValue, match="arm_scale"):
        human(arm_scale=0)
    with pytest.raises(UnknownName, match="available: average, female, male"):
        human(sex="men")  # type: ignore[arg-type]
