"""Reports on what is hardly a motion, hardly a person, or hardly a world."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from report_makers import moved, person, still

from conftest import real_files
from elbowroom.character.body import Character
from elbowroom.character.rig import as_character
from elbowroom.character.skeleton import Skeleton
from elbowroom.errors import BadValue, UnknownName
from elbowroom.files.open import open_file
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.report import Report, page, report
from elbowroom.world.world import World
from tools.simple_bodies import flying


def lone(clip: Clip, **changes: object) -> World:
    return World(**changes).with_character("ann", clip)


def told(found: Report) -> str:
    """The page and the JSON of a report, which have to be made without a fault."""
    text = json.dumps(found.facts(curves=True), allow_nan=False)
    return text + page(found, pictures=0)


def without(character: Character, *roles: str) -> Character:
    """The person without some branches of joints, as a rig of which nothing else is known."""
    skeleton = character.skeleton
    gone = {j for role in roles for j in character.subtree(character.role(role))}
    kept = [j for j in range(len(skeleton)) if j not in gone]
    index = {j: k for k, j in enumerate(kept)}
    parents = np.array([index.get(int(skeleton.parents[j]), -1) for j in kept])
    names = tuple(skeleton.names[j] for j in kept)
    return as_character(Skeleton(names, parents, skeleton.offsets[kept], skeleton.rest[kept]), name="rig")


def test_a_single_frame_is_reported_without_forces_and_speeds():
    clip = still()
    found = report(lone(clip.with_(root=clip.root[:1], rotations=clip.rotations[:1])))
    (ann,) = found.people
    assert ann.limits.light == "good" and ann.feet.light == "good"
    assert ann.torque.light == ann.speed.light == ann.balance.light == "none"
    assert "3 frames" in ann.torque.says
    told(found)


@pytest.mark.parametrize("frames", [2, 3, 4, 12])
def test_a_few_frames_are_reported(frames: int):
    clip = moved(lambda t: 0.1 * t)
    told(report(lone(clip.with_(root=clip.root[:frames], rotations=clip.rotations[:frames]))))


def test_values_that_are_not_finite_are_refused_where_they_come_in():
    clip = still()
    root = np.array(clip.root)
    root[3] = np.nan
    with pytest.raises(BadValue, match="not finite"):
        report(lone(clip.with_(root=root)))


def test_an_artificial_first_frame_does_not_count():
    clip = walk(person(), 1.2, seconds=2.0, fps=60.0)
    rest = still()
    with_lead = clip.with_(
        root=np.concatenate([rest.root[:1], clip.root]), rotations=np.concatenate([rest.rotations[:1], clip.rotations])
    )
    found = report(lone(with_lead))
    assert "artificial" in found.notes[0] and found.people[0].frames == len(clip)
    assert not found.people[0].speed.pops and found.people[0].speed.light == "good"
    assert not report(lone(clip)).notes


def test_an_empty_world_is_refused():
    with pytest.raises(BadValue, match="no characters"):
        report(World().with_static("box", box([1.0, 1.0, 1.0])))


def test_a_rig_without_feet():
    character = without(person(), "left_thigh", "right_thigh")
    (ann,) = report(lone(still(character))).people
    assert ann.feet.light == ann.balance.light == "none" and "feet" in ann.feet.says
    told(report(lone(still(character))))


def test_a_rig_without_arms():
    character = without(person(), "left_clavicle", "right_clavicle")
    found = report(lone(still(character)))
    (ann,) = found.people
    assert ann.hands.light == "none" and "no hands" in ann.hands.says
    assert ann.feet.light == "good"
    assert "shoulder" not in told(found)


def test_a_ball_is_no_person_but_has_a_clearance():
    clip = flying(np.linspace([0.0, 0.0, 1.0], [0.0, 0.0, 2.0], 40), radius=0.1)
    found = report(lone(clip))
    assert found.clearance.light == "good"
    (it,) = found.people
    assert {m.light for m in it.measures.values()} == {"none"}
    told(found)


def test_a_world_without_a_floor_is_measured_where_the_feet_rest():
    clip = still()
    clip = clip.with_(root=clip.root + [0.0, 0.0, 2.0])
    found = report(lone(clip, floor=None))
    (ann,) = found.people
    assert ann.balance.light == "good" and ann.feet.light == "good"
    assert ann.floating.light == ann.sinking.light == "none" and "no floor" in ann.floating.says
    told(found)


def test_who_stands_high_above_the_floor_is_told():
    clip = still()
    (ann,) = report(lone(clip.with_(root=clip.root + [0.0, 0.0, 0.3]))).people
    assert ann.floating.light == "bad" and "300 mm above the ground" in ann.floating.says
    assert ann.feet.light == ann.sinking.light == ann.balance.light == "good"


def test_ten_times_the_size_is_judged_by_its_own_size():
    """A giant that moves alike (lengths times 10, times times the root of 10) is judged alike."""
    clip = walk(person(), 1.2, seconds=3.0, fps=60.0)
    skeleton = clip.character.skeleton
    large = as_character(
        Skeleton(skeleton.names, skeleton.parents, 10.0 * skeleton.offsets, skeleton.rest), name="giant"
    )
    giant = Clip(large, clip.fps / np.sqrt(10.0), 10.0 * clip.root, clip.rotations)
    found = report(lone(giant))
    (it,) = found.people
    (small,) = report(lone(clip)).people
    assert it.feet.slides.max() == pytest.approx(10.0 * small.feet.slides.max(), rel=0.5)
    assert it.feet.light == small.feet.light and it.limits.light == small.limits.light
    assert it.speed.light == small.speed.light
    told(found)


def test_several_people_and_names_that_would_break_a_page():
    name = '<script>alert("x")</script>'
    world = lone(still()).with_character(name, moved(lambda t: 2.0 + 0.0 * t))
    found = report(world, title="</title><b>&")
    text = page(found, pictures=0)
    assert len(found.people) == 2 and found.light in ("good", "look")
    assert "<script>alert" not in text and "</title><b>" not in text


def test_an_original_for_several_people_needs_names():
    world = lone(still()).with_character("bob", moved(lambda t: 2.0 + 0.0 * t))
    with pytest.raises(BadValue, match="by name"):
        report(world, still())
    found = report(world, {"bob": moved(lambda t: 2.0 + 0.0 * t)})
    assert [p.difference is None for p in found.people] == [True, False]


def test_weights_of_unknown_things_are_refused():
    with pytest.raises(UnknownName, match="book"):
        report(lone(still()), masses={"book": 1.0})


@pytest.mark.parametrize("path", real_files("characters/*.glb"), ids=lambda p: p.stem)
def test_rigs_of_real_files_are_reported(path: Path):
    world = open_file(path).world()
    clips = {n: m for n, m in world.characters.items() if isinstance(m, Clip)}
    short = {n: m.with_(root=m.root[:60], rotations=m.rotations[:60]) for n, m in clips.items()}
    told(report(World(characters=short)))


def test_a_robot_has_a_clearance_and_nothing_else(tmp_path: Path):
    from elbowroom.files.urdf import read_urdf
    from elbowroom.motion.robot_clip import RobotClip

    file = tmp_path / "crane.urdf"
    link = '<link name="{}"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>'
    joint = '<joint name="lift" type="prismatic"><parent link="base"/><child link="hook"/><origin xyz="0 0 1"/>'
    joint += '<axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>'
    file.write_text(f'<robot name="crane">{link.format("base")}{link.format("hook")}{joint}</robot>')
    crane = read_urdf(file)
    clip = RobotClip.of(
        crane, [crane.pose({}, [0.0, 0.0, 0.2]), crane.pose({"lift": 0.8}, [0.0, 0.0, 0.2])], [0.0, 2.0]
    )
    alone = report(World().with_character("crane", clip))
    assert alone.others == ("crane",) and not alone.people and alone.light == "good"
    both = report(lone(moved(lambda t: 1.5 + 0.0 * t)).with_character("crane", clip))
    assert [p.name for p in both.people] == ["ann"] and "crane: a robot" in told(both)
    told(alone)


@pytest.mark.parametrize("weight", [0.0, float("nan")])
def test_a_body_without_weight_has_no_forces(weight: float):
    masses = person().masses
    assert masses is not None
    found = report(lone(still(replace(person(), masses=replace(masses, mass=weight * masses.mass)))))
    (ann,) = found.people
    assert ann.torque.light == ann.balance.light == "none" and "zero mass" in ann.torque.says
    told(found)


def test_parts_without_weight_are_carried_along():
    masses = person().masses
    assert masses is not None
    fingers = np.array(["thumb" in n or "index" in n for n in person().skeleton.names])
    light = replace(person(), masses=replace(masses, mass=np.where(fingers, 0.0, masses.mass)))
    (ann,) = report(lone(still(light))).people
    assert ann.torque.light == "good" and ann.balance.light == "good"


def test_a_rig_without_limits_is_not_judged_by_them():
    (ann,) = report(lone(still(replace(person(), limits=(None,) * len(person().limits))))).people
    assert ann.limits.light == "none" and "No joint ranges" in ann.limits.says


def test_a_leap_of_kilometres_is_told():
    clip = moved(lambda t: 1.0 * t)
    root = np.array(clip.root)
    root[90:] += [5000.0, 0.0, 300.0]
    found = report(lone(clip.with_(root=root)))
    assert found.people[0].speed.light == "bad" and "pops" in found.people[0].speed.says
    told(found)


def test_an_original_of_other_times_is_told():
    (ann,) = report(lone(still()), still().with_(start=500.0)).people
    assert ann.difference is not None and "from 500.00 to 502.00 s" in ann.difference.notes[-1]
    (ann,) = report(lone(still()), still(seconds=3.0)).people
    assert ann.difference is not None and not ann.difference.notes
