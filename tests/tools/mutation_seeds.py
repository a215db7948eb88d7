"""Small whole files of every format that is read, to be damaged; and real ones, where a folder with them is given."""

from __future__ import annotations

import base64
import io
import json
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import trimesh

HERE = Path(__file__).resolve().parent.parent
for folder in ("files", "character"):  # makers of files stand beside the tests that they were written for
    if str(HERE / folder) not in sys.path:
        sys.path.append(str(HERE / folder))

from person_bvh import person as bvh_person  # noqa: E402
from robot_maker import urdf_text  # noqa: E402
from test_asf_amc import AMC, ASF  # noqa: E402
from test_c3d import make_c3d  # noqa: E402

from elbowroom.errors import ElbowroomError  # noqa: E402
from elbowroom.files.glb_write import write_glb  # noqa: E402
from elbowroom.files.npz import write_npz  # noqa: E402
from elbowroom.files.open import open_file  # noqa: E402
from elbowroom.files.smpl import layout_skeleton  # noqa: E402
from elbowroom.files.urdf import read_urdf  # noqa: E402
from elbowroom.geometry.solids import box  # noqa: E402
from elbowroom.storyboard.storyboard import read_storyboard  # noqa: E402
from elbowroom.world.paths import Keyed  # noqa: E402
from elbowroom.world.world import World  # noqa: E402
from tools import mutate, small_worlds  # noqa: E402

# Letters of a sentence.
_LONGEST = 1000

OBJ = (
    b"mtllib a.mtl\no a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl red\n"
    b"f 1 2 3\nf 1/1/1 2 4\ng b\nf -1 -2 -3\nf 1 2 3 4\n"
)
MTL = b"newmtl red\nKd 0.8 0.1 0.1\nmap_Kd a.png\n"
PLY = (
    b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\n"
    b"property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n3 0 1 3\n"
)
TRIANGLE = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
THINGS = """elbowroom: 1
about: things alone
tags: [one, two]
fps: 30
scene:
  meshes:
    - {box: [0.2, 0.2, 2], name: post, at: [0.6, -2, 1], color: [0.5, 0.2, 0.1]}
    - {maker: table, options: {width: 1.2}, at: [1, 2, 0], turn: 30}
    - {file: a.ply, units: 0.01, up: Z}
  floor: 0.0
objects:
  ball: {mesh: {sphere: 0.1}, path: [{t: 0, at: [1, 0, 1]}, {t: 2, at: [1, -2, 1], turn: [0, 0, 90]}], smooth: true}
  cup: {mesh: {cylinder: {radius: 0.04, height: 0.1}}, on: drawer, at: [0, 0, 0.1], mass: 0.2, freedom: level}
  jar: {mesh: a.ply, at: [0, 0, 1], grasps: {side: {hand: left, at: [0, 0, 0.1], width: 0.06}}}
fixtures:
  drawer: {mesh: {box: [0.4, 0.5, 0.12]}, at: [-1.2, -1, 0.6], handle: {at: [0, -0.25, 0]},
           slides: {axis: [0, -1, 0], range: [0, 0.4]}, state: [{t: 0, value: 0}, {t: 1.5, value: 0.3}]}
  door: {mesh: {box: [0.8, 0.04, 2]}, turns: {axis: [0, 0, 1], range: [0, 90], origin: [0.4, 0, 0]}, state: 10}
contacts:
  - {who: cup, on: drawer, kind: support, depth: 0.003, during: [0, end]}
"""
PEOPLE = """elbowroom: 1
fps: 30
objects:
  hat: {mesh: {cylinder: {radius: 0.1, height: 0.1}}, frames: {grip: {at: [0, 0, 0.05]}}}
  jar: {mesh: {sphere: 0.05}, at: [0.3, -0.4, 1]}
characters:
  ann: {body: {human: {height: 1.70, skin: false}}, at: [0, 3], turn: 20}
  bob: {clip: a.bvh, lift: auto, start: 0.5}
  arm: {body: {robot: {file: a.urdf, base: fixed}}, clip: {keys: [{t: 0}, {t: 1, joints: {pan: 0.2}}]}, at: [2, 0]}
holds:
  - {object: hat, by: bob, hand: right, during: [0.5, end]}
contacts:
  - {who: ann.left_foot, on: floor, kind: support, depth: 0.02}
style: low-arms
tasks:
  - grab: {who: ann, object: jar, hand: left}
  - put: {who: ann, object: jar, to: [0.2, -0.4, 1]}
"""


@dataclass(frozen=True)
class Seed:
    """A whole file, the reader of its format, the kinds of damage that suit it, files that it names, and how often."""

    name: str
    suffix: str
    data: bytes
    kinds: tuple[mutate.Damage, ...]
    weight: float = 1.0  # cases of 100 that this file gets, about
    read: Callable[[Path], object] = open_file
    beside: dict[str, bytes] = field(default_factory=dict)

    def damaged(self, number: int) -> bytes:
        """The file with the damage of that number."""
        return mutate.damaged(self.data, self.kinds, random.Random(f"{self.name} {number}"))

    def prepared(self, folder: Path) -> Path:
        """A folder of its own with the files that it names."""
        own = folder / self.name.replace(" ", "_")
        own.mkdir(exist_ok=True)
        for name, content in self.beside.items():
            (own / name).write_bytes(content)
        return own

    def attempt(self, number: int, folder: Path) -> tuple[str, float]:
        """Read the damage of that number: 'read', 'told' or what went wrong, and the seconds of work that it took."""
        path = folder / f"any_01{self.suffix}"
        path.write_bytes(self.damaged(number))
        start = time.process_time()
        try:
            self.read(path)
            said = "read"
        except ElbowroomError as error:
            text = str(error)
            good = text.endswith(".") and text.isprintable() and len(text) <= _LONGEST
            said = "told" if good else f"is no sentence: {text[:200]!r}"
        except BaseException as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {str(error)[:200]} ({Path(place.filename).name}:{place.lineno})"
        return said, time.process_time() - start


def made_seeds() -> list[Seed]:
    """Files made here, a few hundred bytes to a few dozen kilobytes each."""
    with tempfile.TemporaryDirectory() as name:
        return _made(Path(name))


def _made(folder: Path) -> list[Seed]:
    cube = box([0.3, 0.2, 0.1])
    keys = Keyed(np.arange(3.0), np.eye(3), np.tile([1.0, 0.0, 0.0, 0.0], (3, 1)))
    still = World(static={"table": cube}).with_object("parcel", cube, keys)
    rigged = World(characters={"ann": small_worlds.moving(small_worlds.person(), frames=3)})
    for name, world in (("things", still), ("rigged", rigged)):
        write_glb(folder / f"{name}.glb", world)
        write_npz(folder / f"{name}.npz", world, 30)
    made = {p.name: p.read_bytes() for p in folder.iterdir()}
    document, binary = small_worlds.glb_parts(made["things.glb"])
    document["buffers"][0]["uri"] = "a.bin"
    outside = json.dumps(document).encode()
    document["buffers"][0]["uri"] = "data:;base64," + base64.b64encode(binary).decode()
    inside = json.dumps(document).encode()
    urdf = urdf_text().replace("package://arms/meshes/fore.stl", "a.stl").encode()
    solid = bytes(trimesh.creation.box([60, 60, 300]).export(file_type="stl"))
    whole_bvh = bvh_person().encode()
    stl = bytes(trimesh.Trimesh(np.eye(4, 3), [[0, 1, 2], [0, 1, 3]], process=False).export(file_type="stl"))
    named = {"a.ply": PLY, "a.bvh": whole_bvh, "a.urdf": urdf, "a.stl": solid}
    return [
        Seed("bvh", ".bvh", whole_bvh, mutate.TEXT, 8),
        Seed("asf", ".asf", ASF.encode(), mutate.TEXT, 8),
        Seed("amc", ".amc", AMC.encode(), mutate.TEXT, 8, beside={"any.asf": ASF.encode()}),
        *(
            Seed(f"c3d {kind}", ".c3d", _markers(kind), mutate.BYTES, 5)
            for kind in ("intel", "dec", "mips")
        ),
        Seed("glb things", ".glb", made["things.glb"], (*mutate.BYTES, *[mutate.glb_json] * 8, mutate.glb_binary), 12),
        Seed("glb rig", ".glb", made["rigged.glb"], (*mutate.BYTES, *[mutate.glb_json] * 8, mutate.glb_binary), 2),
        Seed("gltf file", ".gltf", outside, (*mutate.TEXT, *[mutate.json_text] * 13), 6, beside={"a.bin": binary}),
        Seed("gltf data", ".gltf", inside, (*mutate.TEXT, *[mutate.json_text] * 13), 6),
        Seed("npz things", ".npz", made["things.npz"], (*mutate.BYTES, *[mutate.npz] * 8), 8),
        Seed("npz rig", ".npz", made["rigged.npz"], (*mutate.BYTES, *[mutate.npz] * 8), 2),
        Seed("npz smpl", ".npz", _saved(np.savez, **_smpl()), (*mutate.BYTES, *[mutate.npz] * 8), 4),
        Seed("npy", ".npy", _saved(np.save, arr=_joints()), mutate.BYTES, 4),
        Seed("obj", ".obj", OBJ, mutate.TEXT, 8, beside={"a.mtl": MTL}),
        Seed("stl", ".stl", stl, mutate.BYTES, 4),
        Seed("stl text", ".stl", b"solid x\n" + 3 * TRIANGLE + b"endsolid x\n", mutate.TEXT, 4),
        Seed("ply", ".ply", PLY, mutate.TEXT, 6),
        Seed("urdf", ".urdf", urdf, (*mutate.TEXT, *[mutate.xml] * 10), 4, read_urdf, named),
        Seed("yaml things", ".yaml", THINGS.encode(), mutate.TEXT, 6, read_storyboard, named),
        Seed("yaml values", ".yaml", _values(THINGS), (mutate.json_text,), 4, read_storyboard, named),
        Seed("yaml people", ".yaml", PEOPLE.encode(), mutate.TEXT, 1, read_storyboard, named),
        Seed("yaml roles", ".yaml", _values(PEOPLE), (mutate.json_text,), 1, read_storyboard, named),
    ]  # fmt: skip


def _saved(write: Callable[..., None], **arrays: np.ndarray) -> bytes:
    """Bytes that numpy writes to a file."""
    file = io.BytesIO()
    write(file, **arrays)
    return file.getvalue()


def _smpl() -> dict[str, np.ndarray]:
    """Three frames of somebody who stands, as AMASS has them."""
    trans = np.tile([0.0, 0.0, 0.95], (3, 1))
    return {"poses": np.zeros((3, 66)), "trans": trans, "betas": np.zeros(10), "mocap_framerate": np.array(60.0)}


def _joints() -> np.ndarray:
    """Joint positions (3, 22, 3) of SMPL's layout."""
    places = layout_skeleton(22).T_rest[:, :3, 3]
    return np.stack([places + [0.0, -0.01 * k, 0.0] for k in range(3)])


def _markers(kind: str) -> bytes:
    return make_c3d(np.ones((3, 4, 3)), ["a:LFHD", "a:RFHD", "c", "d"], kind=kind)


def _values(text: str) -> bytes:
    """A storyboard as JSON, which YAML is, too."""
    from elbowroom.storyboard.yaml_lines import parse_yaml

    return json.dumps(parse_yaml(Path("seed.yaml"), text).values).encode()


def real_seeds(data: Path, largest: int = 600_000) -> list[Seed]:
    """Real files of a folder that are small enough to be read often."""
    kinds = {
        ".bvh": mutate.TEXT,
        ".asf": mutate.TEXT,
        ".c3d": mutate.BYTES,
        ".glb": (*mutate.BYTES, *[mutate.glb_json] * 8, mutate.glb_binary),
        ".obj": mutate.TEXT,
        ".stl": mutate.BYTES,
        ".fbx": mutate.BYTES,
    }
    found = [p for p in sorted(data.rglob("*")) if p.suffix in kinds and p.stat().st_size <= largest]
    return [Seed(f"real {p.name}", p.suffix, p.read_bytes(), kinds[p.suffix], 0.02) for p in found]
