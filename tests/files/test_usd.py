"""USD files hold bodies, things and walls as the world has them, without complaint from USD's own validators."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from elbowroom.errors import BadFile, BadValue, MissingExtra
from elbowroom.files.usd import write_usd
from elbowroom.geometry.mesh import Mesh
from elbowroom.world.extent import joint_transforms
from elbowroom.world.world import World
from tools import small_worlds

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Usd, UsdGeom, UsdSkel, UsdValidation, Vt  # noqa: E402


def complaints(stage) -> list[str]:
    """What USD's validators say against a stage."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    return [e.GetMessage() for e in UsdValidation.ValidationContext(validators).Validate(stage)]


@pytest.fixture(scope="module", params=["usda", "usdc", "usd"])
def written(request, tmp_path_factory):
    world = small_worlds.world()
    path = tmp_path_factory.mktemp("usd") / f"swing.{request.param}"
    write_usd(path, world, fps=30.0)
    return world, Usd.Stage.Open(str(path))


def test_validators_find_nothing_and_would_find_something(written):
    _, stage = written
    assert complaints(stage) == []
    broken = Usd.Stage.Open(stage.Flatten())
    broken.GetPrimAtPath("/World/ann/Body").GetAttribute("faceVertexIndices").Set(Vt.IntArray([0, 1, 99999]))
    broken.ClearDefaultPrim()
    assert complaints(broken)


def test_the_stage_says_metres_z_up_and_its_rate(written):
    _, stage = written
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == 30.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, 30.0)
    assert stage.GetDefaultPrim().GetPath() == "/World"


@pytest.mark.parametrize("name", ["ann", "bob"])
def test_joints_and_skin_read_back_are_where_ours_are(written, name):
    world, stage = written
    root = UsdSkel.Root.Get(stage, f"/World/{name}")
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton.Get(stage, f"/World/{name}/Skeleton"))
    skinning = cache.GetSkinningQuery(stage.GetPrimAtPath(f"/World/{name}/Body"))
    motion = world.characters[name]
    for frame in range(0, 31, 5):
        code = Usd.TimeCode(frame)
        T = joint_transforms(motion, frame / 30.0)[0]
        joints = np.array([m.ExtractTranslation() for m in query.ComputeJointSkelTransforms(code)])
        assert np.abs(joints - T[:, :3, 3]).max() < 1e-5
        if name == "ann":
            points = Vt.Vec3fArray(UsdGeom.Mesh.Get(stage, "/World/ann/Body").GetPointsAttr().Get())
            assert skinning.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
            posed = motion.body.skin.posed(T)
            assert np.abs(np.array(points) - posed).max() < 1e-5
            extent = np.array(UsdGeom.Boundable(root).GetExtentAttr().Get(code))
            assert np.allclose(extent, [posed.min(axis=0), posed.max(axis=0)], atol=1e-5)


def test_things_move_and_walls_stand(written):
    world, stage = written
    parcel = UsdGeom.Xformable.Get(stage, "/World/parcel")
    for frame in (0, 13, 30):
        T = np.array(parcel.ComputeLocalToWorldTransform(Usd.TimeCode(frame))).T
        assert np.allclose(T, world.things["parcel"].path(frame / 30.0), atol=1e-9)
    table = UsdGeom.Mesh.Get(stage, "/World/table")
    points = np.array(table.GetPointsAttr().Get())
    assert np.allclose([points.min(axis=0), points.max(axis=0)], world.static["table"].bounds, atol=1e-6)
    assert np.allclose(table.GetDisplayColorAttr().Get()[0], world.static["table"].color)


def test_odd_names_become_identifiers_that_differ(tmp_path):
    clip = small_worlds.moving(small_worlds.person(skin=False), frames=2)
    world = World().with_character("1 Ärger", clip).with_character("_1__rger", clip)
    world = world.with_(static={"": small_worlds.box([1, 1, 1])})
    write_usd(tmp_path / "a.usda", world)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    assert [p.GetName() for p in stage.GetDefaultPrim().GetChildren()] == ["_1__rger", "_1__rger_2", "_"]
    assert complaints(stage) == []


def test_nothing_is_left_behind_by_a_refusal(tmp_path):
    hole = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]]), np.array([[0, 1, 2]]))
    lost = World().with_object("x", small_worlds.box([1, 1, 1]), lambda t: np.full((4, 4), np.inf))
    for world in (World().with_static("hole", hole), lost):
        with pytest.raises(BadValue, match="not finite"):
            write_usd(tmp_path / "a.usda", world)
    with pytest.raises(BadValue, match="rate"):
        write_usd(tmp_path / "a.usda", World(), fps=-1.0)
    with pytest.raises(BadFile, match="usdc"):
        write_usd(tmp_path / "a.obj", World())
    assert not list(tmp_path.iterdir())


def test_without_usd_the_pip_line_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtra, match=r'pip install "elbowroom\[usd\]"'):
        write_usd(tmp_path / "a.usda", World())
