"""A client of the studio's server without a browser: it speaks viser's protocol, drags handles and listens."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import msgspec
import viser
import zstandard
from websockets.sync.client import connect


class Client:
    """One connection. `heard` counts messages by type; `poses` are times at which somebody's new pose arrived."""

    def __init__(self, port: int) -> None:
        version = f"viser-v{viser.__version__}"
        self._socket = connect(
            f"ws://127.0.0.1:{port}", subprotocols=[version], max_size=None, compression=None, open_timeout=20
        )
        self.heard: Counter[str] = Counter()
        self.poses: list[float] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        self.send(
            "ViewerCameraMessage",
            wxyz=(1.0, 0.0, 0.0, 0.0),
            position=(5.0, 0.0, 2.0),
            fov=0.6,
            near=0.02,
            far=1000.0,
            image_height=800,
            image_width=1280,
            look_at=(0.0, 0.0, 1.0),
            up_direction=(0.0, 0.0, 1.0),
        )

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message to the server."""
        self._socket.send(msgspec.msgpack.encode({"type": kind, **fields}))

    def drag(self, phase: str, position: Any = (), wxyz: Any = (1.0, 0.0, 0.0, 0.0), name: str = "/handle") -> None:
        """Take a handle ('Start'), move it ('Update') or let it go ('End')."""
        if phase == "Update":
            place = {"wxyz": tuple(map(float, wxyz)), "position": tuple(map(float, position))}
            self.send("TransformControlsUpdateMessage", name=name, owner="", **place)
        else:
            self.send(f"TransformControlsDrag{phase}Message", name=name, owner="")

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
        self._thread.join(2.0)

    def _listen(self) -> None:
        unpack = zstandard.ZstdDecompressor()
        try:
            for raw in self._socket:
                now = time.perf_counter()
                assert isinstance(raw, bytes)
                size, packed = (int.from_bytes(raw[k : k + 8], "little") for k in (0, 8))
                inner = msgspec.msgpack.decode(unpack.decompress(raw[16 : 16 + packed], max_output_size=size))
                kinds = Counter(message["type"] for message in inner["messages"])
                self.heard += kinds
                if any(m["type"] == "SetBoneOrientationMessage" and "/people/" in m["name"] for m in inner["messages"]):
                    self.poses.append(now)
        except Exception as error:  # the end of a connection has many names
            if "1000" not in str(error) and "1001" not in str(error) and self.heard["error"] == 0:
                self.heard["error"] += 1
