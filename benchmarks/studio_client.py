"""A client of the studio's server without a browser: it speaks viser's protocol, knows what is on the page, presses
buttons, fills fields, clicks things, drags handles, sends files and listens."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import msgspec
import viser
import zstandard
from websockets.sync.client import connect

_ANY = object()


@dataclass
class Control:
    """A field, button, line or folder of the page; `container` is what it lies in."""

    uuid: str
    kind: str
    container: str
    props: dict[str, Any] = field(default_factory=dict)
    value: Any = None

    @property
    def label(self) -> str | None:
        """What stands beside it, or on it."""
        return self.props.get("label")

    @property
    def options(self) -> tuple[str, ...]:
        """What can be chosen."""
        return tuple(self.props.get("options", ()))

    @property
    def visible(self) -> bool:
        """Whether it is shown, and can be used."""
        return bool(self.props.get("visible", True)) and not self.props.get("disabled")


class Client:
    """One connection to the page at an address. `heard` counts messages by type.

    `listener` is given the time (`time.perf_counter`, s) at which messages came, and the messages.
    """

    def __init__(self, url: str, listener: Callable[[float, list[dict[str, Any]]], None] | None = None) -> None:
        version = f"viser-v{viser.__version__}"
        address = url.replace("http://", "ws://", 1)
        self._socket = connect(address, subprotocols=[version], max_size=None, compression=None, open_timeout=20)
        self.heard: Counter[str] = Counter()
        self._listener = listener
        self.controls: dict[str, Control] = {}
        self.clickable: dict[str, None] = {}
        self.commands: dict[str, str] = {}
        self._lock = threading.Lock()
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

    # --- what is on the page

    def find(self, label: str, kind: str = "", within: Any = _ANY) -> Control | None:
        """What is shown with a label, of a kind such as 'Dropdown'; `within` is the label of the folder it is in.

        A label that ends with … is any that begins so.
        """
        with self._lock:
            for control in self.controls.values():
                shown = control.visible and self._inside(control, within)
                fits = control.label == label or (label.endswith("…") and str(control.label).startswith(label[:-1]))
                if fits and kind in control.kind and shown:
                    return control
        return None

    def _inside(self, control: Control, within: Any) -> bool:
        """Whether something is in a folder of that label; None is for folders without, and for none."""
        folder = self.controls.get(control.container)
        return within is _ANY or (None if folder is None else folder.label) == within

    def press(self, label: str, within: Any = _ANY) -> bool:
        """Press a button, alone or of a group, if it is shown; whether it is."""
        found = self.find(label, "GuiButtonMessage", within)
        value: bool | str = True
        if found is None:
            with self._lock:
                groups = [c for c in self.controls.values() if c.kind == "GuiButtonGroupMessage" and c.visible]
                found = next((c for c in groups if label in c.options and self._inside(c, within)), None)
            value = label
        if found is not None:
            self.send("GuiUpdateMessage", uuid=found.uuid, updates={"value": value})
        return found is not None

    def put(self, label: str, value: Any, kind: str = "", within: Any = _ANY) -> bool:
        """Give a field a value, if it is shown; whether it is."""
        found = self.find(label, kind, within)
        if found is None or "Button" in found.kind:
            return False
        found.value = value
        self.send("GuiUpdateMessage", uuid=found.uuid, updates={"value": value})
        return True

    def click(self, node: str) -> None:
        """Click a thing in the scene."""
        ray: dict[str, Any] = {
            "ray_origin": (5.0, 0.0, 2.0),
            "ray_direction": (-1.0, 0.0, 0.0),
            "screen_pos": (0.5, 0.5),
        }
        self.send("SceneNodeClickMessage", name=node, instance_index=None, modifier=None, owner="", **ray)

    def upload(self, label: str, filename: str, content: bytes, told_size: int | None = None) -> bool:
        """Send a file by an upload button, if it is shown; whether it is."""
        found, transfer = self.find(label, "GuiUploadButton"), str(uuid4())
        if found is None:
            return False
        whose = {"source_component_uuid": found.uuid, "transfer_uuid": transfer}
        told = {"filename": filename, "mime_type": "", "part_count": 1}
        self.send("FileTransferStartUpload", **whose, **told, size_bytes=told_size or len(content))
        self.send("FileTransferPart", **whose, part_index=0, content=content)
        return True

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
        self._thread.join(2.0)

    # --- listening

    def _listen(self) -> None:
        unpack = zstandard.ZstdDecompressor()
        try:
            for raw in self._socket:
                now = time.perf_counter()
                assert isinstance(raw, bytes)
                size, packed = (int.from_bytes(raw[k : k + 8], "little") for k in (0, 8))
                inner = msgspec.msgpack.decode(unpack.decompress(raw[16 : 16 + packed], max_output_size=size))
                self.heard += Counter(message["type"] for message in inner["messages"])
                if self._listener is not None:
                    self._listener(now, inner["messages"])
                with self._lock:
                    for message in inner["messages"]:
                        self._hear(message)
        except Exception as error:  # the end of a connection has many names
            if "1000" not in str(error) and "1001" not in str(error) and self.heard["error"] == 0:
                self.heard["error"] += 1

    def _hear(self, message: dict[str, Any]) -> None:
        """Keep in mind what is on the page."""
        kind, uuid = message["type"], message.get("uuid", "")
        if kind == "GuiUpdateMessage" and uuid in self.controls:
            for key, value in message["updates"].items():
                if key == "value":
                    self.controls[uuid].value = value
                else:
                    self.controls[uuid].props[key] = value
        elif kind == "GuiRemoveMessage":
            for gone in [u for u, c in self.controls.items() if uuid in (u, c.container)]:
                del self.controls[gone]
        elif kind.startswith("Gui") and "props" in message and uuid:
            container = message.get("container_uuid", "")
            self.controls[uuid] = Control(uuid, kind, container, message["props"], message.get("value"))
        elif kind == "SetSceneNodeClickBindingsMessage":
            self.clickable[message["name"]] = None
        elif kind == "RemoveSceneNodeMessage":
            self.clickable.pop(message["name"], None)
        elif kind == "RegisterCommandMessage":
            self.commands[message["props"]["label"]] = uuid
