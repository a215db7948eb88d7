"""The HTML playback is one file that needs nothing else, and what it plays is the motion."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request

import msgspec
import numpy as np
import pytest
import zstandard

from elbowroom.character.visual import visible
from elbowroom.errors import BadFile, BadValue
from elbowroom.files.html import write_html
from elbowroom.files.viser_nodes import color_parts, rigid_bind
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh, srgb8
from elbowroom.geometry.transforms import inverse, transform
from elbowroom.world.extent import joint_transforms
from elbowroom.world.world import World
from tools import small_worlds


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    world = small_worlds.world(frames=13)
    path = tmp_path_factory.mktemp("html") / "swing.html"
    write_html(path, world, fps=30.0)
    return world, path


def recording(path):
    """Messages of the page, each with its time in seconds, with arrays put in place; and the duration."""
    text = re.search(r'__VISER_EMBED_DATA__="([^"]+)"', path.read_text(encoding="utf-8")).group(1)
    inner = zstandard.ZstdDecompressor().decompressobj().decompress(base64.b64decode(text)[8:])
    size = int.from_bytes(inner[:8], "little")
    document = msgspec.msgpack.decode(inner[8 : 8 + size])
    buffers, at = [], 8 + size
    for length in document["binaryBufferLengths"]:
        at += -at % 8
        buffers.append(inner[at : at + length])
        at += length
    return document, buffers


def array(value, buffers, dtype):
    """An array of the recording: a placeholder that names its buffer."""
    (index,) = [v for v in _leaves(value) if isinstance(v, int)][:1]
    return np.frombuffer(buffers[index], dtype=dtype)


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in _leaves(v)]
    if isinstance(value, list | tuple):
        return [leaf for v in value for leaf in _leaves(v)]
    return [value]


def test_the_page_needs_no_other_file(page):
    _, path = page
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=[\"'](?!data:)", text)
    assert not re.search(r"@import|url\(['\"]?https?:", text)
    assert path.stat().st_size < 3_000_000
    assert [p.name for p in path.parent.iterdir()] == ["swing.html"]


def test_every_frame_is_recorded_at_its_time(page):
    world, path = page
    document, _ = recording(path)
    assert document["durationSeconds"] == pytest.approx(13 / 30)
    poses = [(t, m) for t, m in document["messages"] if m["type"] == "SetBoneOrientationMessage"]
    times = sorted({round(t, 6) for t, _ in poses})
    assert times == pytest.approx([k / 30 for k in range(13)], abs=1e-5)
    places = [m for _, m in document["messages"] if m.get("name") == "/objects/parcel" and "position" in m]
    assert len(places) >= 12
    assert places[-1]["position"] == pytest.approx(world.things["parcel"].path(0.4)[:3, 3], abs=1e-5)


def test_skin_posed_by_the_recorded_bones_is_where_ours_is(page):
    world, path = page
    document, buffers = recording(path)
    skin = world.body("ann").skin
    parts = color_parts(skin)
    assert len(parts) > 3
    T = joint_transforms(world.characters["ann"], 0.4)[0]
    posed = skin.posed(T)
    for number, part in enumerate(parts):
        name = f"/ann/{number}"
        (made,) = [m for _, m in document["messages"] if m["type"] == "SkinnedMeshMessage" and m["name"] == name]
        props = made["props"]
        vertices = array(props["vertices"], buffers, np.float32).reshape(-1, 3)
        bones = array(props["skin_indices"], buffers, np.uint16).reshape(-1, 4)
        weights = array(props["skin_weights"], buffers, np.float32).reshape(-1, 4)
        place = array(props["bone_positions"], buffers, np.float32).reshape(-1, 3).astype(float)
        turn = array(props["bone_wxyzs"], buffers, np.float32).reshape(-1, 4).astype(float)
        T_bind = transform(place, rot.normalize(turn))
        for _, m in document["messages"]:
            if m.get("name") == name and m["type"] == "SetBonePositionMessage":
                place[m["bone_index"]] = m["position"]
            if m.get("name") == name and m["type"] == "SetBoneOrientationMessage":
                turn[m["bone_index"]] = m["wxyz"]
        M = transform(place, rot.normalize(turn)) @ inverse(T_bind)
        out = np.einsum("vk,vkij,vj->vi", weights, M[bones][..., :3, :], np.c_[vertices, np.ones(len(vertices))])
        assert np.abs(out - posed[part.vertices]).max() < 1e-4


def test_colour_parts_hold_all_triangles_in_their_colours():
    skin = small_worlds.person().skin
    parts = color_parts(skin)
    assert sum(len(p.faces) for p in parts) == len(skin.faces)
    for part in parts:
        own = srgb8(skin.colors[part.vertices]).astype(int)
        assert np.abs(own - part.color.astype(int)).max() <= 60
    plain = small_worlds.skin_for(small_worlds.skeleton(), colored=False)
    assert len(color_parts(plain)) == 1


def test_scaled_bind_matrices_become_rigid_without_moving_the_skin():
    person = small_worlds.person()
    scaled = np.diag([0.01, 0.01, 0.01, 1.0])
    skin = person.skin
    big = type(skin)(
        skin.vertices * 100.0, skin.faces, skin.joints, skin.weights, skin.inverse_bind @ scaled, skin.colors
    )
    T = joint_transforms(small_worlds.moving(person), 0.3)[0]
    vertices, T_bind = rigid_bind(big, T)
    assert np.allclose(np.linalg.det(T_bind[:, :3, :3]), 1.0)
    rebound = type(skin)(vertices, skin.faces, skin.joints, skin.weights, inverse(T_bind))
    assert np.abs(rebound.posed(T) - skin.posed(T)).max() < 1e-9


def test_names_are_cleaned_and_bodies_without_skin_are_shown(tmp_path):
    world = World(floor=None)
    clip = small_worlds.moving(small_worlds.person(skin=False), frames=2)
    world = world.with_character("a/b", clip).with_character("a_b", clip)
    write_html(tmp_path / "a.html", world)
    document, _ = recording(tmp_path / "a.html")
    made = {m["name"] for _, m in document["messages"] if m["type"] == "SkinnedMeshMessage"}
    assert {"/a_b/0", "/a_b_2/0"} <= made
    assert len(visible(clip.body).faces) > 0


def test_it_is_quiet_and_leaves_no_thread_and_no_file_behind(tmp_path, capfd):
    before = threading.active_count()
    write_html(tmp_path / "a.html", World())
    assert capfd.readouterr() == ("", "")
    assert threading.active_count() <= before
    with pytest.raises(BadValue):
        write_html(tmp_path / "b.html", World(), fps=0.0)
    broken = World().with_object("x", small_worlds.box([1, 1, 1]), lambda t: np.full((4, 4), np.nan))
    hole = World().with_static("x", Mesh(np.full((3, 3), np.nan), np.array([[0, 1, 2]])))
    for world in (broken, hole):
        with pytest.raises(BadValue, match="not finite"):
            write_html(tmp_path / "c.html", world)
    with pytest.raises(BadFile):
        write_html(tmp_path / "none" / "d.html", World())
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_a_program_that_wrote_a_page_ends_by_itself(tmp_path):
    code = (
        "from elbowroom.files.html import write_html; from elbowroom.world.world import World;"
        f"write_html({str(tmp_path / 'a.html')!r}, World())"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True).stdout == b""


CHROMIUM = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_plays_it_without_errors_or_requests(page, tmp_path):
    from websockets.sync.client import connect

    _, path = page
    options = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --use-angle=swiftshader"
    browser = subprocess.Popen(
        [CHROMIUM, *options.split(), "--enable-unsafe-swiftshader", f"--user-data-dir={tmp_path}"]
        + ["--window-size=480,360", "--remote-debugging-port=0", "about:blank"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        port = next(m[1] for line in browser.stderr if (m := re.search(r"ws://[^:]+:(\d+)/", line)))
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=20) as answer:
            tab = next(t for t in json.load(answer) if t["type"] == "page")
        with connect(tab["webSocketDebuggerUrl"], max_size=None) as socket:
            heard = []

            def ask(number: int, method: str, **params: object) -> dict:
                socket.send(json.dumps({"id": number, "method": method, "params": params}))
                while True:
                    message = json.loads(socket.recv(timeout=60))
                    if message.get("id") == number:
                        return message.get("result", message)
                    heard.append(message)

            for number, domain in enumerate(("Network", "Runtime", "Page"), start=1):
                ask(number, f"{domain}.enable")
            ask(4, "Page.navigate", url=path.as_uri())
            shots: list[bytes] = []
            deadline = time.monotonic() + 90.0
            while len(set(shots)) < 4 and time.monotonic() < deadline:
                time.sleep(0.4)
                shots.append(base64.b64decode(ask(5 + len(shots), "Page.captureScreenshot")["data"]))
    finally:
        browser.terminate()
        browser.wait(timeout=20)
    assert len(set(shots)) >= 4, "the picture does not move"
    assert not [m for m in heard if m.get("method") == "Runtime.exceptionThrown"]
    urls = [m["params"]["request"]["url"] for m in heard if m.get("method") == "Network.requestWillBeSent"]
    assert urls and all(u.startswith(("file:", "data:", "blob:")) for u in urls)
