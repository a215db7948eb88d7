"""What could pile up on the server over hours: skins that nobody sees, messages on what is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import msgspec
import numpy as np
import pytest
import viser
import zstandard
from viser import _messages
from websockets.sync.client import connect

from elbowroom.character.body import Skin
from elbowroom.studio import page_scene, server
from elbowroom.studio.page_scene import Skins
from elbowroom.studio.server import StudioServer

TOKEN = "a-token-of-tests"


@pytest.fixture
def served() -> Iterator[StudioServer]:
    found = StudioServer("127.0.0.1", 0, TOKEN)
    yield found
    found.stop()


def skin(size: float) -> Skin:
    """A triangle on one joint."""
    corners = np.array([[0.0, 0.0, 0.0], [size, 0.0, 0.0], [0.0, size, 0.0]])
    joints, weights = np.zeros((3, 1), np.int32), np.ones((3, 1))
    return Skin(corners, np.array([[0, 1, 2]], np.int32), joints, weights, np.eye(4)[None])


@contextmanager
def listening(served: StudioServer) -> Iterator[list[tuple[str, str]]]:
    """Types and names of messages that a page is sent meanwhile."""
    heard: list[tuple[str, str]] = []
    url = f"ws://127.0.0.1:{served.get_port()}/?token={TOKEN}"
    version = f"viser-v{viser.__version__}"
    line = connect(url, subprotocols=[version], compression=None, max_size=None)  # type: ignore[list-item]

    def listen() -> None:
        for raw in line:
            assert isinstance(raw, bytes)
            size, packed = (int.from_bytes(raw[k : k + 8], "little") for k in (0, 8))
            plain = zstandard.ZstdDecompressor().decompress(raw[16 : 16 + packed], max_output_size=size)
            heard.extend((m["type"], m.get("name", "")) for m in msgspec.msgpack.decode(plain)["messages"])

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    yield heard
    line.close()
    thread.join(5.0)


def messages(served: StudioServer, kind: type) -> list[str]:
    buffer = served._websock_server._broadcast_buffer
    return [m.name for m in buffer.message_from_id.values() if isinstance(m, kind)]


def test_skins_that_look_alike_are_one_and_of_those_that_nobody_uses_a_few_are_kept(served: StudioServer) -> None:
    skins, T = Skins(served, lambda name: None), np.eye(4)[None]
    first = skins.take("person", skin(1.0), T, "ann")
    skins.give_back(first)
    assert skins.take("person", skin(1.0), T, "bob") is first  # of another body, built anew
    assert skins.take("ghost", skin(1.0), T) is not first
    assert skins.take("person", replace(skin(1.0), color=(1.0, 0.0, 0.0)), T) is not first
    with listening(served) as heard:
        for k in range(40):
            skins.give_back(skins.take("person", skin(2.0 + k), T, "ann"))
        served.scene.add_frame("/last")
        late = time.monotonic() + 10.0
        while ("FrameMessage", "/last") not in heard and time.monotonic() < late:
            time.sleep(0.02)
    assert ("FrameMessage", "/last") in heard and ("SkinnedMeshMessage", "/skins/42/0") in heard
    assert not [name for kind, name in heard if kind == "RemoveSceneNodeMessage"]  # a page that hears it breaks
    most = 3 + page_scene._MOST_SPARE
    assert skins.made == 43 and skins.kept == most
    assert len(messages(served, _messages.SkinnedMeshMessage)) == most
    assert not messages(served, _messages.RemoveSceneNodeMessage)
    assert len(served.scene._handle_from_node_name) < 2 * most + 5
    skins.take("person", skin(41.0), T, "ann")
    assert skins.made == 43


def test_messages_on_what_is_gone_are_dropped_without_a_page_that_is_loaded(
    served: StudioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_TIDY_EVERY_S", 0.0)
    buffer = served._websock_server._broadcast_buffer
    served.tidy()
    before = len(buffer.message_from_id)
    for k in range(50):
        served.scene.add_frame(f"/gone/{k}").remove()
        served.gui.add_button("gone").remove()
    assert len(buffer.message_from_id) > before + 90
    time.sleep(0.01)
    served.tidy()
    assert len(buffer.message_from_id) < before + 10
