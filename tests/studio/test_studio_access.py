"""Who gets the studio's page, with which headers, and how little the terminal hears of those who do not."""

from __future__ import annotations

import http.client
import logging
import re
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import viser
from viser import _messages
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from elbowroom.cli import main
from elbowroom.cli.studio import _greet, studio
from elbowroom.errors import BadValue
from elbowroom.files.html import _server
from elbowroom.files.viser_server import quiet
from elbowroom.studio.headers import came_from_here, check_token, kept_token, policy
from elbowroom.studio.page import opened
from elbowroom.studio.server import StudioServer
from elbowroom.studio.viser_page import page, served, unpacked

TOKEN = "a-token-of-tests"
PAGE = Path(viser.__file__).parent / "client" / "build" / "index.html"
COUNTER = Path(__file__).with_name("counter.yaml")
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (5.0, 0.0, 2.0),
    "fov": 0.6,
    "near": 0.02,
    "far": 1000.0,
    "image_height": 800,
    "image_width": 1280,
    "look_at": (0.0, 0.0, 1.0),
    "up_direction": (0.0, 0.0, 1.0),
}


@pytest.fixture(scope="module")
def server() -> Iterator[StudioServer]:
    found = StudioServer("127.0.0.1", 0, TOKEN)
    yield found
    found.stop()


def get(port: int, path: str, **headers: str) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Status, headers and body of an answer."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=10.0)
    line.request("GET", path, headers=headers)
    answer = line.getresponse()
    return answer.status, answer.headers, answer.read()


def websocket(server: StudioServer, path: str = "", **headers: str) -> ClientConnection:
    return connect(
        f"ws://127.0.0.1:{server.get_port()}/{path}",
        subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
        additional_headers=headers,
        compression=None,
        max_size=None,
    )


@pytest.mark.parametrize(
    ("origin", "host", "bound", "ours"),
    [
        ("http://localhost:8080", "localhost:8080", "127.0.0.1", True),
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", True),
        (None, "localhost:8080", "127.0.0.1", True),
        ("http://evil.example", "localhost:8080", "127.0.0.1", False),
        ("http://evil.example:8080", "evil.example:8080", "127.0.0.1", False),
        ("http://localhost:9999", "localhost:8080", "127.0.0.1", False),
        ("http://desk.lan:8080", "desk.lan:8080", "0.0.0.0", True),
        ("http://desk:8080", "desk:8080", "0.0.0.0", True),
        ("http://192.168.1.7:8080", "192.168.1.7:8080", "0.0.0.0", True),
        ("http://evil.example:8080", "evil.example:8080", "0.0.0.0", False),
        ("http://evil.example", "desk.lan:8080", "0.0.0.0", False),
        ("http://[::1]:8080", "[::1]:8080", "::1", True),
        ("null", "localhost:8080", "127.0.0.1", False),
        (None, None, "127.0.0.1", False),
    ],
)
def test_only_pages_of_the_studio_are_answered(origin: str | None, host: str | None, bound: str, ours: bool) -> None:
    assert came_from_here(origin, host, bound) is ours


def test_without_the_token_nothing_is_served(server: StudioServer) -> None:
    port = server.get_port()
    wrong = (
        "",
        "?token=",
        "?token=other-token-here",
        f"?tokens={TOKEN}",
        f"?token={TOKEN}x",
        "index.html",
        "x?token=%ff",
    )
    cookies = ({"Cookie": f"elbowroom-1={TOKEN}"}, {"Cookie": f"elbowroom-{port}=other"})
    for path, headers in [*((path, {}) for path in wrong), *(("", cookie) for cookie in cookies)]:
        status, _, body = get(port, f"/{path}", **headers)
        assert status == 403 and b"<" not in body and body.decode().count("\n") == 1, (path, headers)
        assert b"the full address that 'elbowroom studio' printed" in body
        with pytest.raises(InvalidStatus, match="403"):
            websocket(server, path.replace("%ff", ""), **headers)
    assert not server._websock_server._live_connections


def test_with_the_token_the_page_comes_and_its_cookie_opens_the_connection_and_the_page_again(
    server: StudioServer,
) -> None:
    port = server.get_port()
    status, headers, body = get(port, f"/?token={TOKEN}&fixedDpr=1")
    assert status == 200 and b"<title>Viser</title>" in body
    cookie, *flags = headers["Set-Cookie"].split("; ")
    assert cookie == f"elbowroom-{port}={TOKEN}" and {"HttpOnly", "SameSite=Strict"} <= set(flags)
    assert get(port, "/", Cookie=f"theirs=1; {cookie}")[0] == 200
    here = {"Origin": f"http://127.0.0.1:{port}", "Cookie": cookie}
    for path, told in (("", here), (f"?token={TOKEN}", {})):
        with websocket(server, path, **told) as line:
            assert isinstance(line.recv(10.0), bytes)


@pytest.mark.parametrize("friend", [False, True])
def test_strangers_are_refused_and_what_they_sent_is_not_read(server: StudioServer, friend: bool) -> None:
    here, heard = f"127.0.0.1:{server.get_port()}", list[object]()
    server._websock_server.register_handler(_messages.GuiUpdateMessage, lambda client, message: heard.append(message))
    head = (
        f"GET /?token={TOKEN} HTTP/1.1",
        f"Host: {here}",
        f"Origin: http://{here if friend else 'evil.example'}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Protocol: viser-v{viser.__version__}",
    )
    told = msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": "x", "updates": {"value": 1}})
    frame = bytes([0x82, 0x80 | len(told)]) + bytes(4) + told  # masked with zeros
    with socket.create_connection(("127.0.0.1", server.get_port()), timeout=5.0) as wire:
        wire.sendall("\r\n".join((*head, "", "")).encode() + 3 * frame)
        assert wire.recv(65536).startswith(b"HTTP/1.1 101" if friend else b"HTTP/1.1 403")
        late = time.monotonic() + (5.0 if friend else 0.0)
        while len(heard) < 3 and time.monotonic() < late:
            time.sleep(0.01)
        if friend:
            wire.sendall(bytes([0x88, 0x80]) + bytes(4))  # goodbye
            while wire.recv(65536):  # until it hangs up
                pass
    time.sleep(0.2)  # what was sent before could be read now
    assert len(heard) == (3 if friend else 0)
    assert not server._websock_server._live_connections


def test_every_answer_says_what_the_page_may_do_and_that_nobody_may_frame_it(server: StudioServer) -> None:
    port = server.get_port()
    with websocket(server, f"?token={TOKEN}") as line:
        assert line.response is not None
        answers: list[tuple[int, Any]] = [(101, line.response.headers)]
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
    for path, headers in (
        (f"/?token={TOKEN}", {}),
        (f"/x?token={TOKEN}", {}),
        ("/", {}),
        (f"/?token={TOKEN}", upgrade),
    ):
        answers.append(get(port, path, **headers)[:2])
    assert [status for status, _ in answers] == [101, 200, 404, 403, 400]
    for _, told in answers:
        assert told["X-Frame-Options"] == "DENY" and told["X-Content-Type-Options"] == "nosniff"
        assert told["Referrer-Policy"] == "no-referrer" and "Server" not in told
        assert told["Content-Security-Policy"] == policy(f"127.0.0.1:{port}")


def test_the_page_may_run_its_own_scripts_alone_and_talk_to_nobody_else() -> None:
    rules = dict(rule.split(" ", 1) for rule in policy("desk.lan:8080").split("; "))
    assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    scripts = rules["script-src"].split()
    assert sorted(s for s in scripts if not s.startswith("'sha256-")) == ["'unsafe-hashes'", "'wasm-unsafe-eval'"]
    assert len(scripts) == 7  # two of viser's, three handlers of ours
    assert rules["connect-src"] == "'self' ws://desk.lan:8080 wss://desk.lan:8080 data: blob:"
    assert "evil" not in policy("evil; script-src *") and "script-src *" not in policy("x;script-src *")


def test_a_change_that_waits_on_the_page_is_sent_before_one_of_another_field_takes_its_place() -> None:
    assert not page().warning  # else viser has changed: see studio/viser_page.py
    text, scripts = page().html, page().scripts
    before = unpacked(re.findall(r"<script\b([^>]*)>", (PAGE.read_text()))[0])
    after = unpacked(re.findall(r"<script\b([^>]*)>", text.decode())[0])
    assert scripts is not None and before is not None and after is not None
    assert before[0] == after[0] and scripts[1] == after[1]
    added = len(after[1]) - len(before[1])
    at = next(k for k, (a, b) in enumerate(zip(before[1], after[1], strict=False)) if a != b)
    assert 20 < added < 90 and before[1][at:] == after[1][at + added :]
    assert b".uuid!==" in after[1][at : at + added]


def test_a_page_that_cannot_be_mended_is_served_as_it_is_and_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: StudioServer
) -> None:
    text = PAGE.read_text()
    for other in ("<script>other()</script>", served(text).html.decode()):  # packed otherwise; a valve that is unknown
        found = served(other)
        assert found.html.decode() == other and "another page than the studio knows" in found.warning
    monkeypatch.setattr("elbowroom.studio.viser_page.page", lambda: found)
    quiet_studio = SimpleNamespace(autosave=SimpleNamespace(warning=""))
    opened_page = SimpleNamespace(private=True, url="http://x", server=server, studio=quiet_studio)
    _greet(opened_page, "127.0.0.1", 0, 0.0)  # type: ignore[arg-type]
    assert "warning: viser" in " ".join(capsys.readouterr().err.split())


def test_the_token_is_kept_for_this_user_alone(tmp_path: Path) -> None:
    state = tmp_path / "state"
    token = kept_token(state)
    assert len(token) >= 32 and check_token(token) == token
    assert kept_token(state) == token and (state / "token").stat().st_mode & 0o777 == 0o600
    (state / "token").chmod(0o644)  # others could have read it
    assert kept_token(state) != token and (state / "token").stat().st_mode & 0o777 == 0o600
    (state / "token").write_text("short")
    assert len(kept_token(state)) >= 32
    (tmp_path / "file").touch()
    assert kept_token(tmp_path / "file") != kept_token(tmp_path / "file")  # nothing can be kept there


@pytest.mark.parametrize("bad", ["", "short", "a token with spaces", "semi;colon-in-it", "x" * 201, "tökentöken"])
def test_tokens_that_are_no_secret_or_no_part_of_an_address_are_refused(bad: str, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="8 to 200 letters"):
        opened("umbrella", port=0, folder=tmp_path, state=tmp_path, token=bad)


def test_the_command_prints_the_address_with_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("ELBOWROOM_STATE", str(tmp_path))
    monkeypatch.setattr("elbowroom.cli.studio.time.sleep", ended)
    monkeypatch.setattr("elbowroom.cli.studio.ending", lambda: None)
    monkeypatch.setattr("elbowroom.studio.studio.Studio.replan", lambda studio: None)
    with pytest.raises(SystemExit):
        studio(str(COUNTER), port=0, browser=False, folder=tmp_path)
    assert f"/?token={(tmp_path / 'token').read_text()} (" in capsys.readouterr().out


@pytest.mark.parametrize("told", [["--token", TOKEN], []])
def test_a_token_is_told_by_an_option_or_a_variable(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict[str, object]()

    def noted(storyboard: str, **options: object) -> None:
        given.update(options)
        raise BadValue("enough.")

    monkeypatch.setattr("elbowroom.studio.page.opened", noted)
    monkeypatch.setattr("sys.argv", ["elbowroom", "studio", *told])
    if not told:
        monkeypatch.setenv("ELBOWROOM_TOKEN", TOKEN)
    with pytest.raises(SystemExit):
        main()
    assert given["token"] == TOKEN


# --- what the terminal hears


def lines_of(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """All that was printed, and logged for the terminal."""
    printed = capfd.readouterr()
    logged = [logging.Formatter().format(r) for r in caplog.records if r.levelno >= logging.WARNING]
    return [line for text in (printed.out, printed.err, *logged) for line in text.splitlines()]


def test_port_scans_refusals_and_pages_that_go_away_say_nothing(
    server: StudioServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    port = server.get_port()
    scans = (
        b"",
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"\r\n" * 9,
    )
    for scan in (*scans, b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 300, b"GET /" + b"x" * 20000):
        with socket.create_connection(("127.0.0.1", port), timeout=5.0) as wire:
            wire.sendall(scan)
    for path in ("/", "//[", "/?token=%zz", f"/..?token={TOKEN}"):
        assert get(port, path)[0] in (403, 404)
    for _ in range(3):
        line = websocket(server, f"?token={TOKEN}")
        line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")  # a reset
        line.socket.close()
    server.gui.add_text("anything", "to be sent to those who have gone")
    late = time.monotonic() + 5.0
    while server._websock_server._live_connections and time.monotonic() < late:
        time.sleep(0.02)
    time.sleep(0.2)
    assert lines_of(caplog, capfd) == []


def test_what_cannot_be_read_is_told_in_one_line_and_the_others_stay(
    server: StudioServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    number = server.gui.add_number("Number", 1.0)
    uuid = number._impl.uuid
    broken: tuple[bytes | str, ...] = (
        "text",
        b"\xc1 no msgpack",
        msgspec.msgpack.encode({"type": "Nothing"}),
        msgspec.msgpack.encode({"kind": 3}),
        msgspec.msgpack.encode({"type": "GuiUpdateMessage"}),
    )
    odd = ({"value": "no number"}, {"value": None}, {"nothing": 1})
    with websocket(server, f"?token={TOKEN}") as other:
        for message in broken:
            with websocket(server, f"?token={TOKEN}") as line:
                line.send(message)
                with pytest.raises(ConnectionClosed):
                    while True:
                        line.recv(10.0)
            said = lines_of(caplog, capfd)
            assert len(said) == 1 and "sent an unreadable message" in said[0], (message, said)
            caplog.clear()
        for updates in odd:
            other.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": updates}))
            late = time.monotonic() + 5.0
            while not caplog.records and time.monotonic() < late:
                time.sleep(0.02)
            said = lines_of(caplog, capfd)
            assert len(said) == 1 and "dropped a message of a page" in said[0], (updates, said)
            caplog.clear()
        other.send(msgspec.msgpack.encode({"type": "GuiUpdateMessage", "uuid": uuid, "updates": {"value": 2}}))
        late = time.monotonic() + 5.0
        while number.value != 2.0 and time.monotonic() < late:
            time.sleep(0.02)
        assert number.value == 2.0


def test_what_goes_wrong_in_an_act_of_the_page_is_told_in_one_line(
    server: StudioServer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    button = server.gui.add_button("Divide")

    @button.on_click
    def _(event: Any) -> None:
        raise ZeroDivisionError("a sentence\nin two lines")

    with websocket(server, f"?token={TOKEN}") as line:
        told = {"type": "GuiUpdateMessage", "uuid": button._impl.uuid, "updates": {"value": True}}
        line.send(msgspec.msgpack.encode(CAMERA))  # pages that have not looked yet cannot act
        line.send(msgspec.msgpack.encode(told))
        late = time.monotonic() + 5.0
        while not caplog.records and time.monotonic() < late:
            time.sleep(0.02)
    assert lines_of(caplog, capfd) == ["studio: internal error (ZeroDivisionError: a sentence in two lines)."]


def test_nobody_is_let_in_where_a_page_is_recorded() -> None:
    with quiet():
        recorder = _server()
        try:
            status, _, body = get(recorder.get_port(), "/")
            assert (status, body) == (403, b"Nothing is served here.\n")
            with pytest.raises(InvalidStatus, match="403"):
                connect(f"ws://127.0.0.1:{recorder.get_port()}")
        finally:
            recorder.stop()
