"""What the studio keeps to: its folders, sizes and types of uploads; jobs that can be cancelled."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

import pytest
from viser import _messages

from elbowroom.errors import BadFile, BadValue, ElbowroomError
from elbowroom.stopping import may_stop_here
from elbowroom.studio.folders import LARGEST, Folders, check_upload
from elbowroom.studio.headers import is_loopback
from elbowroom.studio.player import Player
from elbowroom.studio.server import StudioServer, check_host, free_port
from elbowroom.studio.worker import StudioJob, Worker


def test_nothing_outside_of_the_folders_is_read_or_written(tmp_path: Path) -> None:
    work, other, secret = (tmp_path / n for n in ("work", "other", "secret"))
    for folder in (work, other, secret):
        folder.mkdir()
    (secret / "a.yaml").write_text("x")
    (work / "link.yaml").symlink_to(secret / "a.yaml")
    (work / "b.yaml").write_text("x")
    folders = Folders(work, [other])
    assert folders.to_read("b.yaml") == work / "b.yaml"
    assert folders.to_read(other / "c.glb") == other / "c.glb"
    for bad in ("../secret/a.yaml", secret / "a.yaml", "link.yaml", "/etc/passwd", "x/../../secret/a.yaml", "a\x00b"):
        with pytest.raises(BadValue):
            folders.to_read(bad)
    for bad in (other / "c.glb", "../c.glb"):
        with pytest.raises(BadValue, match="may not write"):
            folders.to_write(bad)
    assert folders.files("storyboard") == ["b.yaml"]
    with pytest.raises(BadValue, match="may not read"):
        folders.check_named(["ok.glb", "../../secret/x.glb"], work)


def test_files_that_name_others_outside_are_refused(tmp_path: Path) -> None:
    work, secret = tmp_path / "work", tmp_path / "secret"
    for folder in (work, work / "models", secret):
        folder.mkdir()
    (secret / "secret.bin").write_bytes(b"0123")
    (secret / "secret.stl").write_bytes(b"0123")
    (work / "models" / "fine.bin").write_bytes(b"0123")
    (work / "models" / "link.bin").symlink_to(secret / "secret.bin")
    (work / "models" / "far").symlink_to(secret)
    folders = Folders(work)

    def gltf(uri: str) -> None:
        told = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 4, "uri": uri}]}
        (work / "models" / "a.gltf").write_text(json.dumps(told))
        folders.check_named(["models/a.gltf"], work)

    for fine in ("fine.bin", "data:;base64,MDEyMw=="):
        gltf(fine)
    for bad in ("../../secret/secret.bin", "%2e%2e/../secret/secret.bin", "link.bin", "far/secret.bin"):
        with pytest.raises((BadFile, BadValue), match=r"may not read|in or below the folder"):
            gltf(bad)
    for bad in (str(secret / "secret.bin"), f"file://{secret}/secret.bin"):
        with pytest.raises(BadFile, match=r"expected a file"):
            gltf(bad)
    for bad in ("../../secret/secret.stl", str(secret / "secret.stl"), "package://secret/secret.stl", "far/secret.stl"):
        mesh = f'<collision><geometry><mesh filename="{bad}"/></geometry></collision>'
        (work / "models" / "r.urdf").write_text(f'<robot name="r"><link name="l">{mesh}</link></robot>')
        with pytest.raises(BadValue, match="may not read"):
            folders.check_named(["models/r.urdf"], work)


def test_uploads_are_made_harmless(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    first = folders.take("../../../evil walk.bvh", b"HIERARCHY", "clip")
    assert first == tmp_path / "uploads" / "evil walk.bvh"
    assert folders.take("evil walk.bvh", b"HIERARCHY", "clip") == first
    assert folders.take("evil walk.bvh", b"other", "clip").name == "evil walk-2.bvh"
    assert folders.take("..\\..\\x?.glb", b"glTF", "scene") == tmp_path / "uploads" / "x_.glb"
    for name, size, why in (("a.exe", 5, "give .bvh"), ("a.bvh", LARGEST + 1, "200 MB"), ("a.bvh", 0, "empty")):
        with pytest.raises(BadValue, match=why):
            check_upload(name, size, "clip")


def test_addresses() -> None:
    assert check_host("localhost") == "127.0.0.1" and is_loopback("127.0.0.2") and not is_loopback("0.0.0.0")
    with pytest.raises(BadValue, match="--host takes"):
        check_host("nowhere.example")


def test_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert free_port("127.0.0.1", port) > port and free_port("127.0.0.1", 0) == 0
        monkeypatch.setattr("elbowroom.studio.server._PORTS", 1)
        with pytest.raises(BadValue, match=f"cannot listen on 127.0.0.1, port {port} .*in use"):
            free_port("127.0.0.1", port)
    with pytest.raises(BadValue, match="another --host"):
        free_port("192.0.2.1", 8080)


def test_uploads_that_are_too_large_are_dropped_at_once_and_told() -> None:
    server, told = StudioServer("127.0.0.1", 0, "a-token-of-tests"), list[str]()
    server.refused = told.append
    try:
        server.gui.add_upload_button("Upload")
        (button,) = server.gui._gui_input_handle_from_uuid
        handlers = server._websock_server._incoming_handlers

        def send(message: _messages.Message) -> None:
            for handler in handlers[type(message)]:
                handler(0, message)  # type: ignore[arg-type]

        def start(name: str, size: int) -> None:
            send(_messages.FileTransferStartUpload(button, name, f"{name}.glb", "", 5, size))

        start("huge", LARGEST + 1)
        assert not server.gui._current_file_upload_states and "'huge.glb' was rejected" in told[0]
        for name in "ab":  # two at once, each small enough alone
            start(name, LARGEST // 2 + 1)
        assert list(server.gui._current_file_upload_states) == ["a"] and len(told) == 2
        start("liar", 4)
        send(_messages.FileTransferPart(button, "liar", 0, b"12345"))
        assert list(server.gui._current_file_upload_states) == ["a"] and len(told) == 3
    finally:
        server.stop()


def test_a_job_that_runs_is_cancelled_and_the_next_one_is_done() -> None:
    worker, cleaned, results = Worker(), [], []

    def endless(job: StudioJob) -> None:
        try:
            while True:
                may_stop_here()
                time.sleep(0.005)
        finally:
            cleaned.append(True)

    first = worker.submit(StudioJob("endless", endless, results.append))
    waiting = worker.submit(StudioJob("waits", lambda job: 1, results.append))
    while first.state != "running":
        time.sleep(0.001)
    assert worker.cancel()
    assert first.finished.wait(2.0) and first.state == "cancelled" and cleaned == [True]
    assert waiting.state == "cancelled" and results == []
    assert worker.submit(StudioJob("next", lambda job: 2, results.append)).finished.wait(2.0)
    assert results == [2] and worker.alive and not worker.busy and not worker.cancel()
    worker.stop()
    assert not worker.alive


def test_of_live_jobs_only_the_latest_is_done() -> None:
    worker, gate, results = Worker(), threading.Event(), []
    worker.submit(StudioJob("first", lambda job: gate.wait(5.0)))
    jobs = [worker.submit_live(StudioJob(f"live {k}", lambda job, k=k: k, results.append)) for k in range(5)]
    gate.set()
    assert jobs[-1].finished.wait(2.0)
    assert results == [4] and [j.state for j in jobs] == ["cancelled"] * 4 + ["done"]
    worker.stop()


def test_what_goes_wrong_in_a_job_is_told_and_the_worker_lives_on() -> None:
    worker, errors = Worker(), []
    job = worker.submit(StudioJob("bad", lambda job: 1 / 0, failed=errors.append))
    assert job.finished.wait(2.0) and job.state == "failed" and isinstance(errors[0], ZeroDivisionError)
    assert worker.submit(StudioJob("good", lambda job: None)).finished.wait(2.0) and worker.alive
    worker.stop()


def test_cancelling_at_any_moment_never_kills_the_worker() -> None:
    worker, count = Worker(), []
    for k in range(200):
        worker.submit(StudioJob("short", lambda job: sum(range(200)), count.append))
        if k % 3 == 0:
            worker.cancel()
    last = worker.submit(StudioJob("last", lambda job: None))
    assert last.finished.wait(5.0) and last.state == "done" and worker.alive
    worker.stop()


def test_playing_seeking_and_looping() -> None:
    shown: list[float] = []
    player = Player(shown.append)
    player.set_span((1.0, 1.3))
    player.seek(9.0)
    assert shown == [1.3]
    player.loop = False
    player.play()
    time.sleep(0.6)
    assert not player.playing and player.time == 1.3 and shown[1] < 1.2
    player.loop, player.speed = True, 2.0
    count = len(shown)
    player.play()
    time.sleep(0.4)
    player.pause()
    assert len(shown) > count + 3 and all(1.0 <= t <= 1.3 for t in shown)
    with pytest.raises(BadValue):
        player.speed = 0.0
    player.stop()
    assert not player.alive


def test_the_command_refuses_what_it_cannot_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from elbowroom.cli.studio import studio

    monkeypatch.setenv("ELBOWROOM_STATE", str(tmp_path))
    with pytest.raises(ElbowroomError, match="umbrella"):
        studio("nothing", browser=False)
    with pytest.raises(BadValue, match="port"):
        studio("umbrella", port=70000, browser=False)
    with pytest.raises(BadValue, match="--host takes"):
        studio("umbrella", host="nowhere.example", browser=False)
    with pytest.raises(BadFile, match="is a folder"):
        studio(str(tmp_path), browser=False)
    with pytest.raises(BadFile, match="nope: is not a folder"):
        studio("umbrella", read=[Path("nope")], browser=False)
    (tmp_path / "empty.yaml").touch()
    with pytest.raises(BadFile, match="is empty; it must begin with"):
        studio(str(tmp_path / "empty.yaml"), browser=False)
    assert not [t for t in threading.enumerate() if t.name.startswith("studio-")]


def test_play_loops_between_the_in_and_out_points() -> None:
    shown: list[float] = []
    player = Player(shown.append)
    try:
        player.set_span((0.0, 4.0))
        player.seek(1.0)
        player.mark("in")
        player.seek(1.2)
        player.mark("out")
        assert player.points == (1.0, 1.2) and player.range == (1.0, 1.2)
        player.seek(3.0)
        shown.clear()
        player.play()
        deadline = time.monotonic() + 5.0
        while len(shown) < 12 and time.monotonic() < deadline:
            time.sleep(0.01)
        player.pause()
        assert len(shown) >= 12 and min(shown) >= 1.0 and max(shown) <= 1.2
        player.seek(1.2)
        player.mark("out")
        assert player.range == (1.0, 4.0)  # where it is already, it is cleared
        player.seek(0.5)
        player.mark("out")
        assert player.points == (None, 0.5)  # an in point after it makes no sense
        player.set_span((0.0, 0.4))
        assert player.points == (None, None)
    finally:
        player.stop()
