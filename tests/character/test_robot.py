"""Robots from URDF: placed as Pinocchio places them, checked like people, written as moving things."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from robot_maker import urdf_text, write_robot

from elbowroom.character.human import human
from elbowroom.character.robot import Robot
from elbowroom.errors import BadFile, BadValue, UnknownName
from elbowroom.files.glb_read import read_glb
from elbowroom.files.glb_write import write_glb
from elbowroom.files.urdf import read_urdf
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.robot_clip import RobotClip
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def robot(tmp_path_factory) -> Robot:
    return read_urdf(write_robot(tmp_path_factory.mktemp("robot")), base="wheels")


def random_rows(robot: Robot, rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.maximum(robot.joints.lower[1:], -3), np.minimum(robot.joints.upper[1:], 3)
    values = rng.uniform(low, high, (count, len(low)))
    return rng.normal(size=(count, 3)), np.hstack([rot.normalize(rng.normal(size=(count, 4))), values])


def test_joints_are_where_pinocchio_has_them(robot: Robot):
    text = urdf_text()
    for shape in ("collision", "visual"):
        while f"<{shape}>" in text:
            text = text[: text.index(f"<{shape}>")] + text[text.index(f"</{shape}>") + len(shape) + 3 :]
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    data = model.createData()
    roots, rows = random_rows(robot, np.random.default_rng(3), 40)
    T = robot.transforms(roots, rows)
    for k in range(len(roots)):
        q = pin.neutral(model)
        q[:3], q[3:7] = roots[k], rows[k, [1, 2, 3, 0]]
        for j, name in enumerate(robot.joint_names[1:]):
            joint = model.joints[model.getJointId(name)]
            value = rows[k, 4 + j]
            q[joint.idx_q : joint.idx_q + joint.nq] = [np.cos(value), np.sin(value)] if joint.nq == 2 else [value]
        pin.framesForwardKinematics(model, data, q)
        for name, (joint, T_joint_link) in robot.links.items():
            if name == "grip":  # found from the shapes: the file has none
                continue
            expected = data.oMf[model.getFrameId(name)].homogeneous
            assert np.allclose(T[k, joint] @ T_joint_link, expected, atol=1e-9), name


def test_what_the_file_says_is_kept(robot: Robot):
    assert robot.name == "porter" and robot.base == "wheels"
    assert robot.joint_names[:4] == ("trolley", "pan", "lift", "bend")
    limits = dict(zip(robot.joint_names, zip(robot.joints.lower, robot.joints.upper, strict=True), strict=True))
    assert limits["pan"] == (-np.inf, np.inf) and limits["bend"] == (0.2, 2.5) and limits["left"] == (0.0, 0.04)
    assert robot.joints.kinds.count("slides") == 2
    assert robot.masses is not None and robot.masses.total == pytest.approx(8 * 1.5)
    kinds = {shape.name: shape.kind for shape in robot.shapes}
    assert kinds["trolley"] == "box" and kinds["upper"] == "mesh" and kinds["wrist"] == "sphere"
    mesh = next(s.mesh for s in robot.shapes if s.name == "fore")
    assert mesh is not None and np.allclose(np.ptp(mesh.bounds, axis=0), [0.06, 0.06, 0.3])
    assert robot.pose().q[4 + 2] == pytest.approx(0.2)  # zero lies outside of this joint's limits


def test_cylinders_are_enclosed(robot: Robot):
    mesh = next(s.mesh for s in robot.shapes if s.name == "upper")
    assert mesh is not None
    angle = np.linspace(0, 2 * np.pi, 400)
    rim = np.stack([0.05 * np.cos(angle), 0.05 * np.sin(angle), 0 * angle], axis=1)
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.all(np.einsum("fi,pfi->pf", normals, rim[:, None] - corners[:, 0]) <= 1e-12)


def test_chains_run_from_branch_to_branch(robot: Robot):
    arm = robot.chain("spin")
    assert arm.kind == "6r" and robot.joint_names[arm.joints[0]] == "pan" and len(arm.joints) == 6
    finger = robot.chain("left")
    assert finger.kind == "numeric" and finger.lead == arm.joints
    with pytest.raises(UnknownName, match="spin"):
        robot.chain("spine")


def test_a_robot_and_a_person_are_checked_alike(robot: Robot):
    clip = RobotClip.of(robot, [robot.pose(), robot.pose(at=[1.5, 0, 0])], [0.0, 2.0])
    world = World(floor=-0.01).with_character("rob", clip).with_character("ann", human(skin=False))
    world = world.with_static("wall", box([0.1, 2, 2]), at=(2.0, 0.0, 1.0))
    exact = ExactWorld(world)
    exact.place(0.0)
    apart = exact.distance(("rob.trolley", "wall"))
    assert apart.value == pytest.approx(1.95 - 0.3, abs=1e-6)  # the trolley reaches 0.3 m to the front
    pairs = {(h.pair.a, h.pair.b) for h in exact.collisions(0.0)}
    assert any("rob." in a + b and "ann." in a + b for a, b in pairs)
    assert exact.place(2.0).distance(("rob.trolley", "wall")).value == pytest.approx(0.15, abs=1e-6)


def test_a_gripper_carries(robot: Robot):
    clip = RobotClip.of(robot, [robot.pose({"pan": -1.0}), robot.pose({"pan": 2.0, "lift": 1.0})], [0.0, 2.0])
    world = World(floor=None).with_character("rob", clip).with_object("can", sphere(0.03), Still(np.eye(4)))
    world = world.with_hold("can", by="rob", hand="tool", T_hand_object=np.eye(4))
    assert np.allclose(world.frame("can", 1.3), world.frame("rob.tool", 1.3))
    held = {tuple(h.pair) for h in ExactWorld(world).touches(1.0)}
    assert not any({"can"} & set(pair) and "hand" in "".join(pair) for pair in held)
    with pytest.raises(UnknownName, match="tool"):
        world.with_object("cup", sphere(0.03), Still(np.eye(4))).with_hold("cup", by="rob", hand="right_hand")


def test_what_moves_otherwise_than_it_can_is_refused(robot: Robot):
    up, tilted = robot.pose(at=[0, 0, 1]), robot.pose(quaternion=rot.about([1, 0, 0], 0.2))
    for wrong in (up, tilted):
        with pytest.raises(BadValue, match="rolls on the floor"):
            RobotClip.of(robot, [robot.pose(), wrong], [0.0, 1.0])
        RobotClip.of(robot.with_(base="free"), [robot.pose(), wrong], [0.0, 1.0])
    with pytest.raises(BadValue, match="is fixed"):
        RobotClip.of(robot.with_(base="fixed"), [robot.pose(), robot.pose(at=[1, 0, 0])], [0.0, 1.0])
    with pytest.raises(BadValue, match=r"'bend' of porter goes from 0\.2 to 2\.5, not to 3"):
        robot.pose({"bend": 3.0})
    with pytest.raises(UnknownName, match="did you mean 'bend'"):
        robot.pose({"bent": 1.0})
    with pytest.raises(BadValue, match="not finite"):
        robot.pose({"pan": np.nan})


def test_written_as_moving_things(robot: Robot, tmp_path: Path):
    clip = RobotClip.of(robot, [robot.pose(), robot.pose({"lift": 1.0}, at=[1, 0, 0])], [0.0, 1.0])
    world = World().with_character("rob", clip)
    write_glb(tmp_path / "robot.glb", world, fps=10)
    found = read_glb(tmp_path / "robot.glb").objects
    assert {"rob.trolley", "rob.lift", "rob.spin"} <= set(found)
    assert np.allclose(found["rob.lift"].path(0.5), world.frame("rob.lift", 0.5), atol=1e-5)
    assert np.allclose(world.at(0.5).joints["rob"][0], transform([0.5, 0, 0]))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("<robot", "<rabbit"), "XML"),
        (("</robot>", ""), "not valid XML"),
        (('type="continuous"', 'type="floating"'), "joint 'pan': is of type 'floating'"),
        (("package://arms", "package://legs"), "was not found"),
        (('<parent link="upper"/>', '<parent link="nobody"/>'), "is not connected to 'trolley'"),
        (('<child link="tool"/>', '<child link="trolley"/>'), "is not connected to 'tool'"),
        (('<child link="tool"/>', '<child link="hand"/>'), "is a child of both 'flange' and 'hand'"),
        (('lower="-2"', 'lower="x"'), "not a number"),
        (('xyz="0 0 0.4"', 'xyz="0 0 nan"'), "not a usable number"),
    ],
)
def test_damaged_files_are_told(tmp_path: Path, change: tuple[str, str], said: str):
    path = write_robot(tmp_path)
    path.write_text(urdf_text().replace(*change))
    with pytest.raises(BadFile, match=said):
        read_urdf(path)
    with pytest.raises(BadFile, match="does not exist"):
        read_urdf(tmp_path / "none.urdf")


def seen_alone(text: str, link: str) -> str:
    """The text with the link's collision made a visual, as many files have it."""
    at = text.index(f'<link name="{link}">')
    end = text.index("</link>", at)
    own = text[at:end].replace(
        '<visual><geometry><mesh filename="package://nowhere/seen.dae"/></geometry></visual>', ""
    )
    return text[:at] + own.replace("collision>", "visual>") + text[end:]


def test_links_that_are_only_shown_collide_as_shown(tmp_path: Path):
    path = write_robot(tmp_path)
    whole = read_urdf(path)
    text = seen_alone(seen_alone(urdf_text(), "fore"), "hand")
    # a second visual of the same link counts, too
    text = text.replace(
        '<link name="hand">', '<link name="hand"><visual><geometry><sphere radius="0.03"/></geometry></visual>'
    )
    path.write_text(text)
    robot = read_urdf(path)
    mine, theirs = ({s.name: s for s in r.shapes if s.kind != "sphere"} for r in (robot, whole))
    assert set(mine) == set(theirs)
    assert [s.name for s in robot.shapes].count("hand") == 2
    np.testing.assert_allclose(mine["fore"].mesh.bounds, theirs["fore"].mesh.bounds)
    np.testing.assert_allclose(mine["hand"].T_joint_shape, theirs["hand"].T_joint_shape)
    (note,) = [note for note in robot.notes if "visual shape" in note]
    assert "'fore', 'hand'" in note and "2 links have" in note and not whole.notes
    clip = RobotClip(robot, np.zeros(1), robot.rest.root[None], robot.rest.q[None])
    middle = robot.T_rest[mine["fore"].joint] @ mine["fore"].T_joint_shape @ [0.0, 0.0, 0.1, 1.0]
    world = World(floor=None).with_character("r", clip).with_static("post", sphere(0.01, middle[:3]))
    assert any("r.fore" in pair for pair in (hit.pair for hit in ExactWorld(world).collisions(0.0)))


def test_a_link_whose_mesh_is_missing_is_refused_by_name(tmp_path: Path):
    path = write_robot(tmp_path)
    for text in (urdf_text(), seen_alone(urdf_text(), "fore")):
        path.write_text(text.replace("meshes/fore.stl", "meshes/gone.stl"))
        with pytest.raises(BadFile, match=r"link 'fore': the mesh 'package://arms/meshes/gone.stl' was not found"):
            read_urdf(path)
    path.write_text(seen_alone(urdf_text(), "fore").replace("fore.stl", "fore.glb"))
    (tmp_path / "arms" / "meshes" / "fore.glb").write_bytes(b"")
    with pytest.raises(BadFile, match="unsupported format"):
        read_urdf(path)
    path.write_text(urdf_text().replace('<link name="tool">', '<link name="tool"><visual/>'))
    with pytest.raises(BadFile, match="link 'tool': has a visual without one shape"):
        read_urdf(path)
