"""Storyboards become worlds; paths in them are relative to the file."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from conftest import ROOT
from elbowroom.character.human import PRESETS, human
from elbowroom.errors import BadFile, ElbowroomError
from elbowroom.files.bvh import write_bvh
from elbowroom.files.glb_write import write_glb
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.walk import walk
from elbowroom.props.makers import MAKERS
from elbowroom.storyboard.cast import BodySource, Human
from elbowroom.storyboard.storyboard import Storyboard, parse_storyboard, read_storyboard, storyboard_schema
from elbowroom.world.exact import ExactWorld
from elbowroom.world.things import Fixture
from elbowroom.world.world import World
from tools.write_storyboard_schema import with_makers, with_verbs

HALL = """
elbowroom: 1
fps: 30
about: the flavour of it
scene:
  meshes:
    - {file: hall.glb}
    - {box: [0.2, 0.2, 2], name: post, at: [1, 0, 1], turn: 45, color: [0.5, 0.1, 0.1]}
  floor: 0.0
objects:
  umbrella: {mesh: umbrella.obj, mass: 0.6, frames: {grip: {at: [0, 0, -0.3]}, tip: {at: [0, 0, 0.4]}}}
  ball:     {mesh: {sphere: 0.1}, path: [{t: 0, at: [1, 0, 1]}, {t: 2, at: [1, -2, 1], turn: 90}]}
  cup:      {mesh: {cylinder: {radius: 0.04, height: 0.1}}, on: drawer, at: [0, 0, 0.1], freedom: level}
fixtures:
  drawer: {mesh: {box: [0.4, 0.4, 0.1]}, at: [-1, 0, 0.5], slides: {axis: [0, -1, 0], range: [0, 0.4]},
           handle: {at: [0, -0.2, 0]}, state: [{t: 0, value: 0}, {t: 1, value: 0.3}]}
  door:   {mesh: {box: [0.8, 0.04, 2]}, at: [-2, 0, 1], turn: 90, state: 60,
           turns: {axis: [0, 0, 1], range: [0, 110], origin: [-0.4, 0, 0]}}
characters:
  ann: {body: {human: {height: 1.70, skin: false}}, clip: walk.bvh, at: [0, 3], turn: 90}
  bob: {body: {human: {height: 1.85, skin: false}}, clip: {walk: {speed: 1.2, seconds: 2}}, start: 0.5}
holds:
  - {object: umbrella, by: ann, hand: right, during: [0, end]}
contacts:
  - {who: ann.left_foot, on: floor, kind: support, depth: 0.02}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the files that the storyboard names."""
    out = tmp_path_factory.mktemp("hall")
    write_bvh(out / "walk.bvh", walk(human(skin=False), seconds=2.0, fps=30.0))
    write_glb(out / "hall.glb", World().with_static("table", box([1, 1, 0.7], at=[3, 0, 0.35])))
    corners = box([0.05, 0.05, 0.8])
    lines = [f"v {x} {y} {z}" for x, y, z in corners.vertices] + [f"f {a} {b} {c}" for a, b, c in corners.faces + 1]
    (out / "umbrella.obj").write_text("\n".join(lines))
    (out / "hall.yaml").write_text(HALL)
    return out


@pytest.fixture(scope="module")
def hall(folder: Path) -> Storyboard:
    return read_storyboard(folder / "hall.yaml")


def test_everything_is_there(hall: Storyboard):
    world = hall.world
    assert (hall.fps, hall.about, hall.tasks) == (30.0, "the flavour of it", ())
    assert set(world.static) == {"table", "post"} and world.floor == 0.0
    assert set(world.objects) == {"umbrella", "ball", "cup", "drawer", "door"}
    assert set(world.characters) == {"ann", "bob"} and world.span == pytest.approx((0.0, 2.5))
    assert world.objects["umbrella"].mass == 0.6 and world.objects["cup"].freedom == "level"
    assert world.static["post"].color == (0.5, 0.1, 0.1)
    assert np.allclose(np.ptp(world.static["post"].bounds, axis=0), [0.2 * np.sqrt(2), 0.2 * np.sqrt(2), 2.0])
    assert [c.why for c in world.contacts] == ["moves with it", "declared"]
    contact = world.contacts[1]
    assert (contact.who, contact.kind, contact.depth, contact.during) == ("ann.left_foot", "support", 0.02, world.span)
    assert any("umbrella.obj: Units assumed" in note for note in world.notes)


def test_paths_and_fixtures_move(hall: Storyboard):
    world = hall.world
    assert np.allclose(world.frame("ball", 1.0), transform([1, -1, 1], rot.about([0, 0, 1], np.pi / 4)))
    assert np.allclose(world.frame("drawer.handle", 1.0)[:3, 3], [-1.0, -0.5, 0.5])
    assert np.allclose(world.frame("cup", 1.0)[:3, 3], [-1.0, -0.3, 0.6])
    door = world.objects["door"]
    assert isinstance(door, Fixture) and door.joint.range[1] == pytest.approx(np.radians(110))
    hinge = transform([-2, 0, 1], rot.about([0, 0, 1], np.pi / 2)) @ [-0.4, 0, 0, 1]
    assert np.allclose(world.frame("door", 0.0) @ [-0.4, 0, 0, 1], hinge)
    turned = rot.angle_between(rot.from_matrix(world.frame("door", 0.0)[:3, :3]), rot.about([0, 0, 1], np.pi / 2))
    assert float(turned) == pytest.approx(np.radians(60))


def test_characters_are_placed(hall: Storyboard):
    ann, bob = hall.world.motion("ann"), hall.world.motion("bob")
    way = np.diff(ann.sample(ann.span)[0], axis=0)[0]
    assert np.allclose(ann.sample([0.0])[0][0, :2], [0, 3], atol=0.1)
    assert way[0] > 2.0 and abs(way[1]) < 0.2  # facing -Y, turned 90 degrees to the left: along +X
    assert bob.span == pytest.approx((0.5, 2.5))


def test_an_object_without_a_place_is_put_into_the_hand(hall: Storyboard):
    world = hall.world
    for t in (0.0, 1.1, 2.0):
        hand, grip = world.hand("ann", "right", t), world.frame("umbrella", t) @ transform([0, 0, -0.3])
        assert 0.05 < np.linalg.norm(grip[:3, 3] - hand[:3, 3]) < 0.12
    fixed = [inverse(world.hand("ann", "right", t)) @ world.frame("umbrella", t) for t in (0.0, 1.5)]
    assert np.allclose(*fixed)
    # with the arm hanging, what sticks out by the thumb points forwards: along +X for ann
    thumb = world.frame("umbrella.tip", 1.0)[:3, 3] - world.frame("umbrella", 1.0)[:3, 3]
    assert thumb[0] > 0.2


def test_the_exact_checker_takes_it(hall: Storyboard):
    exact = ExactWorld(hall.world)
    assert {"ann.right_hand", "umbrella", "drawer", "post", "table", "floor"} <= {p.name for p in exact.parts}
    assert exact.place(0.0).distance(("ball", "post")).hit  # the ball starts in the post and flies off
    assert not exact.place(2.0).distance(("ball", "post")).hit


@pytest.mark.parametrize(
    ("clip", "seconds"),
    [
        ("{idle: {seconds: 1}}", 1.0),
        ("{run: {speed: 3, seconds: 1, turn: 10}}", 1.0),
        ("{walk: {}}", 4.0),
        ("{walk: {seconds: 1, library: recorded}}", 1.0),
        ("{walk_along: {path: [[0, 0], [0, -2], [1, -3]], speed: 1.1}}", None),
    ],
)
def test_built_in_motions(clip: str, seconds: float | None):
    text = f"elbowroom: 1\nfps: 30\ncharacters: {{ann: {{body: {{human: {{skin: false}}}}, clip: {clip}}}}}"
    motion = parse_storyboard(text).world.motion("ann")
    assert motion.span[1] == pytest.approx(seconds) if seconds else motion.span[1] > 2.0


def test_a_clip_library_is_named_or_a_file() -> None:
    text = "elbowroom: 1\nfps: 30\ncharacters: {{ann: {{body: child, clip: {{walk: {{seconds: 1, library: {}}}}}}}}}"
    with pytest.raises(BadFile, match=r"none\.npz: does not exist"):
        parse_storyboard(text.format("none.npz"))
    with pytest.raises(BadFile, match=r"none\.npz: does not exist"):
        parse_storyboard("elbowroom: 1\nfps: 30\nlibrary: none.npz")
    board = parse_storyboard("elbowroom: 1\nfps: 30\nlibrary: recorded")
    assert board.gaits is recorded_cycles()


def test_a_preset_is_a_body_by_its_name() -> None:
    board = parse_storyboard("elbowroom: 1\nfps: 30\ncharacters: {kid: {body: child}}")
    assert board.world.body("kid").name == "child"


def test_lift_puts_feet_on_the_floor(folder: Path):
    text = "elbowroom: 1\nscene: {floor: 0.5}\ncharacters: {ann: {clip: walk.bvh, lift: auto}}"
    raised = parse_storyboard(text, folder / "x.yaml").world.motion("ann")
    plain = parse_storyboard(text.replace("auto", "0"), folder / "x.yaml").world.motion("ann")
    assert raised.sample([1.0])[0][0, 2] - plain.sample([1.0])[0][0, 2] == pytest.approx(0.5, abs=0.03)


def test_robots_stand_among_people(tmp_path: Path):
    urdf = """<robot name="post"><link name="foot"><collision><origin xyz="0 0 0.1"/><geometry><box size="0.2 0.2 0.2"/>
      </geometry></collision></link><link name="rod"><collision><geometry><sphere radius="0.05"/></geometry></collision>
      </link><joint name="up" type="prismatic"><parent link="foot"/><child link="rod"/><origin xyz="0 0 0.3"/>
      <axis xyz="0 0 1"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint></robot>"""
    (tmp_path / "post.urdf").write_text(urdf)
    text = """
elbowroom: 1
scene: {floor: 0}
objects: {can: {mesh: {sphere: 0.02}}}
characters:
  rob:
    body: {robot: {file: post.urdf, base: wheels}}
    at: [1, 2]
    turn: 90
    clip: {keys: [{t: 0}, {t: 2, joints: {up: 1}, at: [1, 0, 0]}]}
holds: [{object: can, by: rob, hand: rod}]
"""
    world = parse_storyboard(text, tmp_path / "x.yaml").world
    assert np.allclose(world.frame("can", 1.0)[:3, 3], [1.0, 2.5, 0.8])
    assert not ExactWorld(world).collisions(1.0)  # its foot may stand on the floor
    walking = text.replace("{keys: [{t: 0}, {t: 2, joints: {up: 1}, at: [1, 0, 0]}]}", "{walk: {}}")
    with pytest.raises(BadFile, match=r"line 10: characters\.rob\.clip: post is a robot"):
        parse_storyboard(walking, tmp_path / "x.yaml")


def test_the_same_file_gives_the_same_world(folder: Path, hall: Storyboard):
    again = read_storyboard(folder / "hall.yaml").world
    a, b = hall.world.record([0.3, 1.7]), again.record([0.3, 1.7])
    for name in a.joints:
        assert np.array_equal(a.joints[name], b.joints[name])
    for name in a.things:
        assert np.array_equal(a.things[name], b.things[name])


def test_the_schema_in_the_docs_is_the_one_of_the_code():
    written = json.loads((ROOT / "docs" / "storyboard.schema.json").read_text())
    assert written == storyboard_schema(), "run tests/tools/write_storyboard_schema.py"


def test_the_makers_of_the_docs_are_those_of_the_code():
    page = (ROOT / "docs" / "storyboard.md").read_text()
    assert with_verbs(with_makers(page)) == page, "run tests/tools/write_storyboard_schema.py"
    assert all(f"| `{name}` |" in page for name in MAKERS)


def test_makers_make_and_refuse():
    text = "elbowroom: 1\nscene:\n  meshes:\n    - {maker: bookshelf, name: tall, at: [1, 0, 0], options: OPTIONS}"
    world = parse_storyboard(text.replace("OPTIONS", "{seed: 3, height: 2.2}")).world
    assert set(world.static) == {"tall.shelf", "tall.books"}
    assert world.static["tall.shelf"].bounds[:, 2] == pytest.approx([0.0, 2.2], abs=0.02)
    for wrong, said in {
        "{sed: 3}": "unknown option of bookshelf 'sed': did you mean 'seed'",
        "{seed: 1.5}": "'seed' of bookshelf must be a whole number",
        "{shelves: 100000}": "'shelves' of bookshelf must be a whole number from 0 to 1000",
        "{width: -1}": "'width' of bookshelf must be above 0",
        "{width: true}": "'width' of bookshelf must be above 0",
    }.items():
        with pytest.raises(BadFile, match=f"line 4: .*{said}"):
            parse_storyboard(text.replace("OPTIONS", wrong))
    with pytest.raises(BadFile, match="unknown prop 'bokshelf': did you mean 'bookshelf'"):
        parse_storyboard(text.replace("bookshelf", "bokshelf").replace("OPTIONS", "{}"))


def test_marked_grasps_are_kept_on_the_thing():
    text = """
elbowroom: 1
objects:
  mug: {mesh: {sphere: 0.1}, grasps: {ear: {hand: left, at: [0.06, 0, 0], turn: 180, shape: hook, approach: [-2,0,0]}}}
"""
    ear = parse_storyboard(text).world.objects["mug"].grasps["ear"]
    assert (ear.hand, ear.shape, ear.width) == ("left", "hook", None)
    assert np.allclose(ear.T_thing_grip, transform([0.06, 0, 0], rot.about([0, 0, 1], np.pi)))
    assert ear.approach is not None and np.allclose(ear.approach, [-1, 0, 0])
    with pytest.raises(BadFile, match=r"line 4: objects\.mug\.grasps\.ear\.approach: has no length"):
        parse_storyboard(text.replace("[-2,0,0]", "[0, 0, 0]"))


def test_bodies_of_the_schema_are_those_of_the_code():
    arguments = {n: p.default for n, p in inspect.signature(human).parameters.items() if n != "name"}
    assert {n: f.default for n, f in Human.model_fields.items()} == arguments
    names = [a for part in get_args(BodySource.model_fields["preset"].annotation) for a in get_args(part)]
    assert set(names) == set(PRESETS)


def test_the_example_of_the_docs_is_a_storyboard(folder: Path):
    page = (ROOT / "docs" / "storyboard.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    for slow, quick in (("worker.glb", "walk.bvh"), ("height: 1.70", "skin: false"), ("seconds: 6", "seconds: 1")):
        assert slow in example
        example = example.replace(slow, quick)
    assert set(parse_storyboard(example, folder / "doc.yaml").world.characters) == {"ann", "bob"}


@pytest.mark.parametrize(("clip", "late"), [("idle: {seconds: 2}", True), ("walk: {seconds: 2}", False)])
def test_who_stands_can_be_asked_for_something_after_their_clip(clip: str, late: bool) -> None:
    text = f"""elbowroom: 1
characters: {{ann: {{body: {{human: {{skin: false}}}}, clip: {{{clip}}}}}}}
tasks: [touch: {{who: ann, target: [0.1, -0.4, 1.1], at: 3}}]
"""
    if late:
        assert parse_storyboard(text).tasks[0].at == 3.0
    else:
        with pytest.raises(BadFile, match="3 s is outside the motion of ann, which lasts from 0 to 2 s"):
            parse_storyboard(text)


def test_a_door_is_made_of_several_meshes_and_says_where_its_bar_is() -> None:
    door = """
      mesh: [{box: [0.8, 0.04, 2.0]}, {maker: bar_handle, at: [0.3, -0.02, 0.0], options: {upright: true}}]
      turns: {axis: [0, 0, 1], origin: [-0.4, 0, 0], range: [0, 90]}
      handle: {at: [0.3, -0.065, 0], along: [0, 0, 2], out: [0, -1, 0]}"""
    thing = parse_storyboard(f"elbowroom: 1\nfixtures:\n  door:{door}\n", "door.yaml").world.objects["door"]
    assert thing.mesh.bounds[0, 1] < -0.05 and thing.mesh.colors is not None
    T = thing.frame("handle")
    assert np.allclose(T[:3, 2], [0, 0, 1]) and np.allclose(T[:3, 0], [0, -1, 0]) and T[0, 3] == 0.3
    assert np.isclose(np.linalg.det(T[:3, :3]), 1.0)
    for wrong in ("along: [0, 0, 1], out: [0, 0, 1]", "along: [0, 0, 1]", "turn: 90, along: [0, 0, 1], out: [1, 0, 0]"):
        text = door.replace("along: [0, 0, 2], out: [0, -1, 0]", wrong)
        with pytest.raises(ElbowroomError):
            parse_storyboard(f"elbowroom: 1\nfixtures:\n  door:{text}\n", "door.yaml")


FITTING = """
elbowroom: 1
scene:
  meshes:
    - {maker: chest, name: chest, at: [0, -0.9, 0], turn: 180, options: {height: 1.1, width: 0.7}}
    - {maker: door_frame, at: [2, -1.5, 0]}
    - {maker: switch_plate, name: plate, at: [-2, 0, 1.1]}
fixtures:
  drawer: {mesh: {maker: drawer}, of: chest}
  door: {mesh: {maker: door}, of: door_frame, state: 20}
  button: {mesh: {maker: switch_button}, of: plate, slides: {axis: [0, 1, 0], range: [0, 0.003]}}
"""


def test_built_in_fixtures_fit_where_they_belong():
    world = parse_storyboard(FITTING).world
    drawer = world.objects["drawer"]
    assert np.ptp(drawer.mesh.vertices[:, 0]) == pytest.approx(0.692, abs=1e-3)  # as wide as the chest
    assert world.frame("drawer.handle", 0.0)[:3, 3] == pytest.approx([0.0, -0.5995, 0.984], abs=1e-3)
    assert world.frame("drawer.handle", 0.0)[:3, 0] == pytest.approx([0.0, 1.0, 0.0])  # out of the chest's front
    assert world.objects["door"].joint.range[1] == pytest.approx(np.radians(110.0))
    assert world.objects["button"].joint.range == (0.0, 0.003)


def test_a_button_inside_of_a_wall_stands_on_the_side_from_which_it_is_pressed():
    text = """
elbowroom: 1
scene: {meshes: [{maker: wall, name: wall, at: [0, -2.5, 0]}], floor: 0}
fixtures: {button: {mesh: {maker: switch_button}, at: [0, -2.44, 1.1], slides: {axis: [0, -1, 0], range: [0, 0.004]}}}
characters: {bob: {body: man}}
tasks: [{press: {who: bob, fixture: button}}]
"""
    world = parse_storyboard(text).world
    low, high = world.objects["button"].mesh.moved(world.frame("button", 0.0)).bounds[:, 1]
    assert -2.396 < low < -2.393 and world.frame("button.handle", 0.0)[1, 3] == pytest.approx(high)
    assert world.frame("button.handle", 0.0)[:3, 0] == pytest.approx([0.0, 1.0, 0.0])
    assert world.notes[-1].startswith("button starts 5.7 cm farther out than given")
    untouched = parse_storyboard(text.replace("press: {who: bob, fixture: button}", "go: {who: bob, to: wall}")).world
    assert untouched.frame("button", 0.0)[1, 3] == pytest.approx(-2.44)


def test_a_door_that_would_swing_into_its_cabinet_opens_the_other_way():
    text = """
elbowroom: 1
scene:
  meshes: [{box: [0.02, 0.3, 0.6], name: side, at: [0.26, -0.85, 1.3]},
           {box: [0.5, 0.02, 0.6], name: back, at: [0, -0.99, 1.3]}]
  floor: 0
fixtures:
  door:
    mesh: [{box: [0.5, 0.02, 0.58]}, {maker: bar_handle, at: [-0.2, 0.01, 0], turn: 180, options: {upright: true}}]
    at: [0, -0.69, 1.3]
    turns: {axis: [0, 0, 1], origin: [0.25, 0, 0], range: [0, 100]}
    handle: {at: [-0.2, 0.055, 0], along: [0, 0, 1], out: [0, 1, 0]}
objects: {pin: {mesh: {box: [0.01, 0.01, 0.01]}, on: door, at: [-0.2, 0.06, 0.2]}}
characters: {bob: {body: man}}
tasks: [{open: {who: bob, fixture: door}}]
"""
    world = parse_storyboard(text).world
    door = world.objects["door"]
    assert door.joint.axis == pytest.approx([0.0, 0.0, -1.0])
    assert world.notes[-1] == "door turns in the opposite direction, because it would move into back"
    assert world.objects["pin"].path.base is door.path  # rides on the door as it is hung
    framed = [(c.on, c.depth) for c in world.contacts if c.who == "door"]
    assert framed == [("side", 5e-4)]  # the edge that they share, and no deeper
    outwards = parse_storyboard(text.replace("axis: [0, 0, 1]", "axis: [0, 0, -1]")).world
    assert outwards.objects["door"].joint.axis == pytest.approx([0.0, 0.0, -1.0])
    assert not any("opposite direction" in note for note in outwards.notes)
    both = text.replace("meshes: [", "meshes: [{box: [0.1, 0.1, 0.6], name: post, at: [0.2, -0.3, 1.3]}, ")
    stuck = parse_storyboard(both).world  # neither way is free: it is left as given
    assert stuck.objects["door"].joint.axis == pytest.approx([0.0, 0.0, 1.0])


def test_a_button_that_would_be_pressed_into_its_machine_stands_out_of_it():
    text = """
elbowroom: 1
scene: {meshes: [{box: [0.6, 0.5, 1.4], name: machine, at: [1.4, -0.9, 0.7]}], floor: 0}
fixtures:
  start: {mesh: {cylinder: {radius: 0.02, height: 0.03}}, at: [1.4, -0.64, 1.2], turn: [90, 0, 0],
          slides: {axis: [0, 0, 1], range: [0, 0.01]}}
characters: {bob: {body: man}}
tasks: [{press: {who: bob, fixture: start}}]
"""
    world = parse_storyboard(text).world
    back = world.objects["start"].mesh.moved(world.frame("start", 0.0)).bounds[0, 1]
    assert -0.64 < back < -0.637  # 1 cm and no more before its face is pressed
    assert world.notes[-1].startswith("start starts 1.6 cm farther out than given")


def test_what_hovers_over_a_table_is_lowered_onto_it_and_what_hangs_higher_is_not():
    text = """
elbowroom: 1
scene: {meshes: [{box: [1, 1, 0.7], name: block, at: [0, -0.8, 0.35]}], floor: 0}
objects: {apple: {mesh: {maker: apple}, at: [0, -0.6, HEIGHT]}}
characters: {bob: {body: man}}
tasks: [{grab: {who: bob, object: apple}}]
"""
    world = parse_storyboard(text.replace("HEIGHT", "0.737")).world
    apple = world.objects["apple"].mesh.moved(world.frame("apple", 0.0))
    assert 0.7 <= apple.bounds[0, 2] < 0.7011
    assert world.notes[-1].startswith("apple starts 3") and "mm lower than given" in world.notes[-1]
    high = parse_storyboard(text.replace("HEIGHT", "0.78")).world
    assert high.frame("apple", 0.0)[2, 3] == pytest.approx(0.78)


@pytest.mark.parametrize(
    ("fixture", "says"),
    [
        ("{mesh: {maker: drawer}, of: plate}", "does not fit into plate; a drawer fits into a chest"),
        ("{mesh: {maker: drawer}, of: attic}", "'attic'"),
        ("{mesh: {maker: drawer}, handle: {at: [0, 0.6, 0]}}", "its handle is 0.18 m away from its mesh"),
    ],
)
def test_fixtures_that_belong_nowhere_are_refused(fixture: str, says: str):
    with pytest.raises(BadFile, match=says):
        parse_storyboard(FITTING.replace("{mesh: {maker: drawer}, of: chest}", fixture))


def test_who_has_no_clip_stands_at_ease():
    world = parse_storyboard("elbowroom: 1\ncharacters: {ann: {body: woman}}").world
    clip = world.motion("ann")
    hands = clip.world()[0, [clip.character.role(f"{side}_hand") for side in ("left", "right")], :3, 3]
    assert len(clip) == 1 and hands[:, 2].max() < 0.55 * clip.character.height
