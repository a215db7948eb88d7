"""Scenes far from the origin: 32-bit numbers are 31 mm apart at 400 km, so files have an origin near the scene."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.hands import grip_frame
from elbowroom.character.human import human
from elbowroom.errors import BadFile
from elbowroom.files.bvh import read_bvh
from elbowroom.files.far import NEAR_M, near_origin, spread_m
from elbowroom.files.glb_read import read_glb
from elbowroom.files.html import write_html
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.files.verify import read_played, verify
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.walk import walk
from elbowroom.plan.repair.repair import repair
from elbowroom.world.certificate import certify
from elbowroom.world.paths import Keyed, places
from elbowroom.world.played import played
from elbowroom.world.world import World

FAR = ([20e3, -3e3, 50.0], [400e3, 5500e3, 300.0])
# What 32-bit numbers may be off near the origin of a file, metres.
ROUNDED = 2e-6


def stroll(at: object) -> World:
    """Somebody walks with a stick past a wall and a ball, somewhere on Earth."""
    at = np.asarray(at, dtype=float)
    clip = walk(human(), seconds=0.5)
    world = World(floor=float(at[2])).with_character("ann", clip.with_(root=clip.root + at))
    world = world.with_static("wall", box([0.3, 0.3, 1.0]).moved(transform(at + [1.2, -0.5, 0.5])))
    way = Keyed.along([0.0, 0.5], [at + [2.0, 0.0, 1.0], at + [2.0, 1.0, 1.0]])
    world = world.with_object("ball", box([0.1] * 3), way)
    stick = world.with_object("stick", box([0.014] * 3), lambda t: transform(at + [0.0, 3.0, 1.0]))
    return stick.with_hold("stick", "ann", "right", None, grip_frame(world.body("ann"), "right"))


@pytest.mark.parametrize("at", FAR)
@pytest.mark.parametrize("suffix", [".glb", ".npz"])
def test_a_far_scene_is_written_as_it_was_proven(tmp_path: Path, at: list[float], suffix: str) -> None:
    world = stroll(at)
    certificate = certify(world)
    assert certificate.free
    (path,) = save([tmp_path / f"a{suffix}"], world, certificate=certificate)
    found = verify(path)
    assert found.good, (found.violations, found.certificate.collisions, found.changed)
    on, again = played(world), read_played(path)[0]
    assert np.abs(again.motion("ann").root - on.motion("ann").root).max() < ROUNDED
    assert np.abs(again.static["wall"].bounds - on.static["wall"].bounds).max() < ROUNDED
    for name in ("ball", "stick"):
        apart = places(again.objects[name].path, on.times) - places(on.objects[name].path, on.times)
        assert np.abs(apart).max() < ROUNDED
    assert again.floor == world.floor
    again = played(open_file(path).world())
    assert np.abs(again.motion("ann").positions() - on.motion("ann").positions()).max() < 2 * ROUNDED


def test_only_far_files_have_an_origin(tmp_path: Path) -> None:
    near, far = save([tmp_path / "a.glb"], stroll([0.0, 90.0, 0.0])) + save([tmp_path / "b.glb"], stroll(FAR[1]))
    for path, has in ((near, False), (far, True)):
        data = path.read_bytes()
        document = json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])
        roots = [document["nodes"][i] for i in document["scenes"][0]["nodes"]]
        assert (roots[0]["name"] == "origin") == has
        numbers = [a["max"] for a in document["accessors"] if "max" in a]
        assert max(abs(x) for row in numbers for x in row) < 200.0, "nothing far is left to 32-bit numbers"


def test_a_far_file_is_read_and_written_again(tmp_path: Path) -> None:
    """The rest pose of a rig that was read from a far file is far, too."""
    (one,) = save([tmp_path / "a.glb"], stroll(FAR[1]))
    (two,) = save([tmp_path / "b.glb"], open_file(one).world())
    first, second = (read_glb(path).clips["motion"] for path in (one, two))
    assert np.abs(first.positions() - second.positions()).max() < 2 * ROUNDED
    skin, again = (clip.character.skin for clip in (first, second))
    assert skin is not None and again is not None
    posed = [s.posed(c.character.transforms(c.root[3], c.rotations[3])) for s, c in ((skin, first), (again, second))]
    assert np.abs(posed[0] - posed[1]).max() < 1e-5


def test_a_far_clip_is_written_as_text(tmp_path: Path) -> None:
    for at in FAR:
        world = World(floor=at[2]).with_character("ann", stroll(at).motion("ann"))
        (path,) = save([tmp_path / "a.bvh"], world)
        again = read_bvh(path)
        assert np.abs(again.positions()[:, 0] - world.motion("ann").positions()[:, 0]).max() < 1e-6


def test_usd_places_a_far_scene_in_double_precision(tmp_path: Path) -> None:
    usd = pytest.importorskip("pxr.Usd", reason="usd-core is not installed")
    from pxr import UsdGeom

    (path,) = save([tmp_path / "a.usda"], stroll(FAR[1]))
    cache = UsdGeom.XformCache(0)
    stage = usd.Stage.Open(str(path))
    place = np.array(cache.GetLocalToWorldTransform(stage.GetPrimAtPath("/World/ball")).ExtractTranslation())
    assert np.abs(place - (np.array(FAR[1]) + [2.0, 0.0, 1.0])).max() < 1e-6


def test_a_page_shows_a_far_scene_near_the_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("viser", reason="viser is not installed")
    from elbowroom.files import html

    shown: list[World] = []
    monkeypatch.setattr(html, "_recorded", lambda server, world, times, pause: shown.append(world) or "<title></title>")
    write_html(tmp_path / "a.html", stroll(FAR[1]))
    assert np.abs(shown[0].motion("ann").root).max() < 5.0
    assert shown[0].floor is not None and abs(shown[0].floor) < 5.0


def test_scenes_wider_than_32_bit_numbers_are_proven_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = stroll([0.0, 0.0, 0.0])
    far_corner = box([1.0, 1.0, 1.0]).moved(transform([3000.3, 2000.7, 0.5]))
    world = world.with_static("wall", merge([world.static["wall"], far_corner]))
    assert spread_m(played(world)) > NEAR_M
    certificate = certify(world)
    (path,) = save([tmp_path / "a.glb"], world, certificate=certificate)
    assert verify(path).good
    monkeypatch.setattr("elbowroom.files.verify.proven_again", lambda path: False)
    (path,) = save([tmp_path / "a.glb"], world, certificate=certificate)
    proof = read_played(path)[1]
    assert proof.status == "not proven" and "use NPZ" in proof.why


def test_a_repair_far_away_is_the_repair_at_home(tmp_path: Path) -> None:
    world = stroll([0.0, 0.0, 0.0])
    hand = world.motion("ann").positions([0.3])[0, world.body("ann").role("left_hand")]
    blocked = world.with_static("post", box([0.03, 0.03, 0.03], hand))
    on = played(blocked)
    moved = near_origin(on, on.times, -np.array([400e3, 5500e3, 0.0])).riding()  # type: ignore[attr-defined]
    home, away = repair(blocked, "ann"), repair(moved, "ann")
    assert home.found and away.found
    (path,) = save([tmp_path / "a.glb"], away.world, certificate=away.certificate, **away.layers)
    assert verify(path).good


def test_numbers_that_are_no_places_are_still_refused(tmp_path: Path) -> None:
    (path,) = save([tmp_path / "a.bvh"], World().with_character("ann", walk(human(), seconds=0.2)))
    lines = path.read_text().splitlines()
    row = lines.index("MOTION") + 3
    lines[row] = "1e12 " + lines[row].partition(" ")[2]
    path.write_text("\n".join(lines))
    with pytest.raises(BadFile, match="not a usable number"):
        read_bvh(path)
