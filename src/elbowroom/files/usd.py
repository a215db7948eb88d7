"""USD: skinned bodies as UsdSkel, objects as static or animated meshes. Needs the optional extra `usd`."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np

from elbowroom.character.body import Character
from elbowroom.character.visual import visible
from elbowroom.errors import BadFile, BadValue, MissingExtra
from elbowroom.files.atomic import writing
from elbowroom.files.far import near_origin, origin_of
from elbowroom.files.text import accepted_names
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh, split_at_creases
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Motion
from elbowroom.world.extent import joint_transforms
from elbowroom.world.paths import places
from elbowroom.world.played import played
from elbowroom.world.robots import robots_as_things
from elbowroom.world.things import Thing
from elbowroom.world.world import World

SUFFIXES = (".usd", ".usda", ".usdc")


def write_usd(path: str | Path, world: World, fps: float = 30.0) -> None:
    """Write a world as .usd, .usda or .usdc: metres, Z up, one time code per frame from 0."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise BadFile(path, "is not a USD file", would_do="give a name that ends in .usd, .usda or .usdc")
    try:
        from pxr import Gf, Tf, Usd, UsdGeom
    except ImportError:
        raise MissingExtra("writing USD", 'pip install "elbowroom[usd]"') from None
    on = played(world, fps)
    whole, times = robots_as_things(on), on.times
    origin = origin_of(whole, times)
    world = near_origin(whole, times, origin)
    with writing(path) as (stand_in,):
        stand_in.unlink()  # USD makes the file itself and refuses one that is there
        stage = Usd.Stage.CreateNew(str(stand_in))
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        stage.SetTimeCodesPerSecond(fps)
        stage.SetFramesPerSecond(fps)
        stage.SetStartTimeCode(0)
        stage.SetEndTimeCode(len(times) - 1)
        root = UsdGeom.Xform.Define(stage, "/World")
        stage.SetDefaultPrim(root.GetPrim())
        if np.any(origin):
            root.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*origin.tolist()))
        names = iter(accepted_names([*world.characters, *world.things, *world.static], plain=True))
        for motion in world.characters.values():
            _write_character(stage, f"/World/{next(names)}", motion, times)
        for thing in world.things.values():
            _write_object(stage, f"/World/{next(names)}", thing, times)
        for mesh in world.static.values():
            _write_mesh(stage, f"/World/{next(names)}", mesh)
        try:
            stage.GetRootLayer().Save()
        except Tf.ErrorException as error:
            number = errno.ENOSPC if "No space left" in str(error) else errno.EIO
            raise OSError(number, os.strerror(number)) from None


def _write_character(stage: Any, path: str, motion: Motion, times: Array) -> None:
    """Skeleton, animation and bound mesh under one SkelRoot.

    USD holds bind transforms in the skeleton's space, so that the bind pose may differ from the rest pose.
    """
    from pxr import Gf, UsdGeom, UsdSkel, Vt

    body = motion.body
    assert isinstance(body, Character)
    skeleton = body.skeleton
    skin = visible(body)
    root, rotations = motion.sample(times)
    T = joint_transforms(motion, times)
    if not (np.all(np.isfinite(T)) and np.all(np.isfinite(skin.vertices))):
        raise BadValue(f"'{body.name}' has values that are not finite.")
    skel_root = UsdSkel.Root.Define(stage, path)
    skel = UsdSkel.Skeleton.Define(stage, f"{path}/Skeleton")
    animation = UsdSkel.Animation.Define(stage, f"{path}/Skeleton/Animation")
    joints = Vt.TokenArray(_joint_paths(body))
    rest = np.tile(np.eye(4), (len(skeleton), 1, 1))
    rest[:, :3, :3] = rot.to_matrix(skeleton.rest)
    rest[:, :3, 3] = skeleton.offsets
    skel.CreateJointsAttr(joints)
    skel.CreateBindTransformsAttr(Vt.Matrix4dArray([_gf(m) for m in _bind(skin.inverse_bind)]))
    skel.CreateRestTransformsAttr(Vt.Matrix4dArray([_gf(m) for m in rest]))
    animation.CreateJointsAttr(joints)
    translations, turns = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
    animation.CreateScalesAttr(Vt.Vec3hArray([Gf.Vec3h(1.0, 1.0, 1.0)] * len(skeleton)))
    offsets = np.array(skeleton.offsets, dtype=np.float32)
    # quaternions go as xyzw through the buffer protocol
    quaternions = np.roll(rot.continuous(rotations), -1, axis=-1).astype(np.float32)
    for k in range(len(times)):
        offsets[0] = root[k]
        translations.Set(Vt.Vec3fArray.FromNumpy(offsets), k)
        turns.Set(Vt.QuatfArray.FromNumpy(np.ascontiguousarray(quaternions[k])), k)
    UsdSkel.BindingAPI.Apply(skel.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    mesh = UsdGeom.Mesh.Define(stage, f"{path}/Body")
    _fill_mesh(mesh, skin.vertices, skin.faces)
    colors = np.tile(skin.color, (1, 1)) if skin.colors is None else skin.colors
    _paint(mesh, colors)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skel.GetPath()])
    influences = skin.joints.shape[1]
    binding.CreateJointIndicesPrimvar(False, influences).Set(
        Vt.IntArray.FromNumpy(np.ascontiguousarray(skin.joints.reshape(-1), dtype=np.int32))
    )
    binding.CreateJointWeightsPrimvar(False, influences).Set(
        Vt.FloatArray.FromNumpy(np.ascontiguousarray(skin.weights.reshape(-1), dtype=np.float32))
    )
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
    _write_extents(skel_root, skin, T)


def _write_extents(skel_root: Any, skin: Any, T: Array) -> None:
    """Bounds of the posed body, since USD does not skin for culling."""
    from pxr import Gf, UsdGeom, Vt

    attribute = UsdGeom.Boundable(skel_root).CreateExtentAttr()
    for k in range(len(T)):
        posed = skin.posed(T[k])
        attribute.Set(Vt.Vec3fArray([Gf.Vec3f(*posed.min(axis=0)), Gf.Vec3f(*posed.max(axis=0))]), k)


def _bind(inverse_bind: Array) -> Array:
    """Bind transforms (J, 4, 4) of inverse ones, which may be scaled."""
    determinants = np.linalg.det(inverse_bind)
    usable = np.abs(determinants) > 1e-18
    out = np.tile(np.eye(4), (len(inverse_bind), 1, 1))
    out[usable] = np.linalg.inv(inverse_bind[usable])
    return out


def _joint_paths(body: Character) -> list[str]:
    """Joint names in USD: the path from the root, such as hips/spine/chest."""
    names = accepted_names(body.skeleton.names, plain=True)
    paths: list[str] = []
    for name, parent in zip(names, body.skeleton.parents, strict=True):
        paths.append(name if parent < 0 else f"{paths[parent]}/{name}")
    return paths


def _write_object(stage: Any, path: str, thing: Thing, times: Array) -> None:
    from pxr import Gf, UsdGeom

    T = places(thing.path, times)
    if not np.all(np.isfinite(T)):
        raise BadValue(f"the path of '{path.rsplit('/', 1)[1]}' has values that are not finite.")
    # not as matrices: between frames those are not rigid
    xform = UsdGeom.Xform.Define(stage, path)
    place = xform.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
    turn = xform.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
    turns = rot.continuous(rot.from_matrix(T[:, :3, :3]))
    for k, (where, (w, x, y, z)) in enumerate(zip(T[:, :3, 3].tolist(), turns.tolist(), strict=True)):
        place.Set(Gf.Vec3d(*where), k)
        turn.Set(Gf.Quatd(w, x, y, z), k)
    _write_mesh(stage, f"{path}/Mesh", thing.mesh)


def _write_mesh(stage: Any, path: str, mesh: Mesh) -> None:
    from pxr import UsdGeom

    if not np.all(np.isfinite(mesh.vertices)):
        raise BadValue(f"the mesh '{path.rsplit('/', 1)[1]}' has values that are not finite.")
    shown, _ = split_at_creases(mesh)
    prim = UsdGeom.Mesh.Define(stage, path)
    _fill_mesh(prim, shown.vertices, shown.faces)
    _paint(prim, np.array([shown.color]) if shown.colors is None else shown.colors)


def _fill_mesh(mesh: Any, vertices: Array, faces: Any) -> None:
    from pxr import UsdGeom, Vt

    points = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(vertices, dtype=np.float32))
    mesh.CreatePointsAttr(points)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(faces), 3, dtype=np.int32)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.array(faces, dtype=np.int32).reshape(-1)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateDoubleSidedAttr(True)
    mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(points))


def _paint(mesh: Any, colors: Array) -> None:
    """Linear colours (1, 3) for all, or (V, 3) for each vertex."""
    from pxr import UsdGeom, Vt

    spread = UsdGeom.Tokens.constant if len(colors) == 1 else UsdGeom.Tokens.vertex
    primvar = mesh.CreateDisplayColorPrimvar(spread)
    primvar.Set(Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(colors, dtype=np.float32)))


def _gf(matrix: Array) -> Any:
    """A transform as USD writes it, for row vectors."""
    from pxr import Gf

    return Gf.Matrix4d(*matrix.T.reshape(-1).tolist())
