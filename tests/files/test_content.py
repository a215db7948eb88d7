"""Files that were changed after they were certified: `verify` names every part that is not as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from adversary.verdicts import checker
from elbowroom import cli
from elbowroom.character.human import human
from elbowroom.files.save import save
from elbowroom.files.verify import changed_since, verify
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Source
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Keyed
from elbowroom.world.world import World

Arrays = dict[str, Any]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Somebody walks past a wall and a ball, as NPZ and GLB."""
    world = World(floor=0.0).with_character("ann", walk(human(), seconds=0.5))
    world = world.with_static("wall", box([0.3, 0.3, 1.0], at=[1.2, -0.5, 0.5]))
    world = world.with_object("ball", box([0.1] * 3), Keyed.along([0.0, 0.5], [[2.0, 0.0, 1.0], [2.0, 1.0, 1.0]]))
    folder = tmp_path_factory.mktemp("content")
    npz, glb = save([folder / "a.npz", folder / "a.glb"], world, certificate=certify(world))
    return npz, glb


def without(arrays: Arrays, prefix: str) -> Arrays:
    return {key: value for key, value in arrays.items() if not key.startswith(prefix)}


def evidence(arrays: Arrays, **facts: Any) -> Arrays:
    known = json.loads(str(arrays["evidence"]))
    return arrays | {"evidence": np.array(json.dumps(known | facts))}


def wider(arrays: Arrays) -> Arrays:
    caps = json.loads(str(arrays["evidence"]))["caps_m"] | {"feet": 0.4, "body": 0.4}
    lifted = evidence(arrays, caps_m=caps) | {"floor": np.array(0.3)}
    return lifted | {"allowed_depth": np.full_like(arrays["allowed_depth"], 0.35)}


CHANGES: dict[str, tuple[Callable[[Arrays], Arrays], set[str]]] = {
    "a removed wall": (lambda a: without(a, "static/wall"), {"static mesh 'wall' (removed)"}),
    "a removed object": (lambda a: without(a, "object/ball"), {"object 'ball' (removed)"}),
    "a smaller object": (
        lambda a: a | {"object/ball/vertices": 0.5 * a["object/ball/vertices"]},
        {"object 'ball' (changed)"},
    ),
    "a lower floor": (lambda a: a | {"floor": np.array(-0.3)}, {"the floor (changed)"}),
    "moved transforms": (
        lambda a: a | {"char/ann/T_world_joint": a["char/ann/T_world_joint"] + 0.5},
        {"character 'ann' (changed)"},
    ),
    "a raised floor and wider caps": (
        wider,
        {"the floor (changed)", "the caps (changed)", "the allowed overlaps (changed)"},
    ),
    "thinner shapes": (
        lambda a: a | {"char/ann/shape_size": 0.5 * a["char/ann/shape_size"]},
        {"character 'ann' (changed)"},
    ),
    "another object": (
        lambda a: a | {key.replace("ball", "bun"): a[key] for key in a if key.startswith("object/ball")},
        {"object 'bun' (added)"},
    ),
    "one ignored pair more": (
        lambda a: a | {"ignored_pair": np.vstack([a["ignored_pair"], [["ann.head", "ann.left_hand"]]])},
        {"the ignored pairs (changed)"},
    ),
    "no digests": (lambda a: evidence(a, content=None), {"everything (the file does not store what was certified)"}),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_file_is_not_verified_and_says_what_changed(
    files: tuple[Path, Path], tmp_path: Path, what: str
) -> None:
    change, said = CHANGES[what]
    with np.load(files[0]) as file:
        arrays = change(dict(file))
    path = tmp_path / "changed.npz"
    np.savez(path, **arrays)
    found = verify(path)
    assert not found.good and set(found.changed) == said
    done = CliRunner().invoke(cli.app, ["verify", str(path)])
    told = " ".join(done.output.split())
    assert "changed since it was certified" in told and all(text in told for text in said)
    seen = {v.why.removeprefix("changed since it was certified: ") for v in checker().verify(path).violations}
    assert said <= seen


def test_caps_that_differ_from_the_defaults_are_printed(files: tuple[Path, Path], tmp_path: Path) -> None:
    with np.load(files[0]) as file:
        np.savez(tmp_path / "a.npz", **wider(dict(file)))
    told = " ".join(CliRunner().invoke(cli.app, ["verify", str(tmp_path / "a.npz")]).output.split())
    assert "caps that differ from the defaults: feet 400 mm for 50 mm, body 400 mm for 10 mm" in told
    assert "caps that differ" not in CliRunner().invoke(cli.app, ["verify", str(files[0])]).output


def test_arrays_that_say_the_same_twice_must_agree(files: tuple[Path, Path], tmp_path: Path) -> None:
    with np.load(files[0]) as file:
        arrays = dict(file)
    path = tmp_path / "a.npz"
    np.savez(path, **arrays | {"char/ann/T_world_joint": arrays["char/ann/T_world_joint"] + 0.5})
    assert verify(path).disagreements == ("T_world_joint of 'ann' differs from its rotations by up to 0.5000",)
    np.savez(path, **evidence(arrays, floor_m=0.3, frames=3))
    assert len(verify(path).disagreements) == 2


def test_a_file_that_is_only_stored_anew_is_as_it_was(files: tuple[Path, Path], tmp_path: Path) -> None:
    with np.load(files[0]) as file:
        np.savez_compressed(tmp_path / "b.npz", **dict(file))
    assert verify(tmp_path / "b.npz").good and not checker().verify(tmp_path / "b.npz").violations
    json_part, binary = parts_of(files[1])
    turned = dict(reversed(json_part.items())) | {"asset": {"version": "2.0", "generator": "another program"}}
    (tmp_path / "b.glb").write_bytes(glb_of(turned, binary))
    assert verify(tmp_path / "b.glb").good


def parts_of(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON and the binary chunk of a GLB."""
    data = path.read_bytes()
    size = int.from_bytes(data[12:16], "little")
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def glb_of(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = len(text).to_bytes(4, "little") + b"JSON" + text + len(binary).to_bytes(4, "little") + b"BIN\0" + binary
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body


def node(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(n for n in document["nodes"] if n["name"] == name)


def unlisted(document: dict[str, Any], name: str) -> None:
    number = document["nodes"].index(node(document, name))
    document["scenes"][0]["nodes"].remove(number)


GLB_CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], set[str]]] = {
    "a removed wall": (lambda d: unlisted(d, "wall"), {"'wall' (removed)"}),
    "a moved wall": (lambda d: node(d, "wall").update(translation=[1.3, 0.0, 0.5]), {"'wall' (changed)"}),
    "a longer bone": (lambda d: node(d, "left_shin").update(translation=[0.0, -0.5, 0.0]), {"'ann' (changed)"}),
    "a lower floor": (lambda d: d["extras"]["elbowroom"].update(floor=-0.3), {"the floor (changed)"}),
    "no shapes": (lambda d: d["extras"]["elbowroom"]["shapes"]["ann"].pop(), {"'ann' (changed)"}),
    "wider caps": (lambda d: d["extras"]["elbowroom"]["proof"]["caps_m"].update(feet=0.3), {"the caps (changed)"}),
}


@pytest.mark.parametrize("what", GLB_CHANGES)
def test_a_changed_glb_says_what_changed(files: tuple[Path, Path], tmp_path: Path, what: str) -> None:
    change, said = GLB_CHANGES[what]
    document, binary = parts_of(files[1])
    change(document)
    path = tmp_path / "changed.glb"
    path.write_bytes(glb_of(document, binary))
    assert set(changed_since(path)) == said
    assert not verify(path).good


def test_changed_numbers_in_the_buffer_of_a_glb_are_found(files: tuple[Path, Path], tmp_path: Path) -> None:
    document, binary = parts_of(files[1])
    mesh = document["meshes"][node(document, "wall")["mesh"]]
    accessor = document["accessors"][mesh["primitives"][0]["attributes"]["POSITION"]]
    begin = document["bufferViews"][accessor["bufferView"]]["byteOffset"] + accessor.get("byteOffset", 0)
    changed = binary[:begin] + np.float32(7.0).tobytes() + binary[begin + 4 :]
    (tmp_path / "a.glb").write_bytes(glb_of(document, changed))
    assert changed_since(tmp_path / "a.glb") == ("'wall' (changed)",)


@pytest.mark.parametrize("suffix", [".npz", ".glb"])
def test_a_proven_recorded_clip_that_touches_itself_is_verified(tmp_path: Path, suffix: str) -> None:
    clip = walk(human(), seconds=0.5)
    arm = clip.character.role("left_upper_arm")
    limit = clip.character.limits[arm]
    assert limit is not None
    q = np.array(clip.rotations)
    q[:, arm] = limit.rotation([np.radians(80.0), 0.0, 0.0])
    world = World().with_character("ann", clip.with_(rotations=q, source=Source(format="BVH")))
    certificate = certify(world)
    assert certificate.free and certificate.touches["self"] > 0.03
    (path,) = save([tmp_path / f"a{suffix}"], world, certificate=certificate)
    found = verify(path)
    assert found.good, (found.violations, found.certificate.collisions)
