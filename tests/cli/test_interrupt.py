"""Ctrl-C inside code that swallows exceptions is raised again where it is heard."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time

import pytest

from elbowroom.cli.interrupt import heard, heed_interrupts
from elbowroom.files.atomic import writing
from elbowroom.files.bvh import write_bvh
from tools import small_worlds


@pytest.fixture
def handlers(signals_as_before):
    heed_interrupts()


def swallowing(interrupt) -> object:
    """Calls `interrupt` as a C library would: whatever it raises is printed and dropped."""
    return ctypes.CFUNCTYPE(None)(interrupt)


def sent() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_is_raised_once_and_then_over(handlers):
    with pytest.raises(KeyboardInterrupt):
        sent()
        time.sleep(0.2)
    heard()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_a_callback_swallowed_is_raised_again(handlers):
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        swallowing(sent)()
        while time.monotonic() - begun < 30.0:
            time.sleep(0.05)
    assert time.monotonic() - begun > 1.0


def test_inside_callbacks_of_the_compiler_it_waits(handlers):
    """The function claims to stand in the compiler's file: nothing may be raised there."""
    place = {"swallowing": swallowing, "sent": sent}
    source = (
        "def called():\n    try:\n        sent()\n    except KeyboardInterrupt:\n        lost.append(1)\nlost = []\n"
    )
    exec(compile(source, "llvmlite/binding/executionengine.py", "exec"), place)
    with pytest.raises(KeyboardInterrupt):
        place["called"]()
        time.sleep(1.0)
    assert place["lost"] == []


def test_what_comes_while_the_command_ends_changes_nothing():
    """Python gives signals back to the system on its way out: a Ctrl-C there would end it by the signal."""
    code = (
        "import atexit, os, signal, sys\n"
        "from elbowroom.cli.interrupt import ending, heed_interrupts\n"
        "class Last:\n"
        "    def __del__(self, kill=os.kill, here=os.getpid(), number=int(signal.SIGINT)):\n"
        "        kill(here, number)\n"
        "heed_interrupts()\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "last = Last()\n"
        "ending()\n"
        "sys.exit(1)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert told.returncode == 1 and told.stderr == ""


def test_what_is_left_when_a_command_ends_is_not_looked_through_for_garbage():
    """Among all that planning leaves that takes a second, and the system takes it back anyway."""
    code = (
        "from elbowroom.cli.interrupt import ending\n"
        "class Last:\n"
        "    def __del__(self, tell=print):\n"
        "        tell('looked at')\n"
        "def left():\n"
        "    last = Last()\n"
        "    last.itself = last\n"
        "left()\n"
        "ENDING\n"
    )
    for end, told in (("ending()", ""), ("", "looked at\n")):
        run = subprocess.run([sys.executable, "-c", code.replace("ENDING", end)], capture_output=True, text=True)
        assert run.stdout == told and run.stderr == ""


def test_files_that_are_put_in_place_are_put_all_of_them(handlers, tmp_path, monkeypatch):
    replace, names = os.replace, [tmp_path / "a.txt", tmp_path / "b.txt"]

    def interrupted(*where) -> None:
        replace(*where)
        sent()

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        with writing(*names):
            pass
        time.sleep(1.0)
    assert sorted(tmp_path.iterdir()) == names


def test_during_an_import_it_waits():
    code = (
        "import os, signal, sys, time\n"
        "from elbowroom.cli.interrupt import heed_interrupts\n"
        "heed_interrupts()\n"
        "class Finder:\n"
        "    def find_spec(self, *_):\n"
        "        os.kill(os.getpid(), signal.SIGINT); time.sleep(0.1); return None\n"
        "sys.meta_path.insert(0, Finder())\n"
        "try:\n"
        "    import nothing_of_that_name\n"
        "except ModuleNotFoundError:\n"
        "    print('imported')\n"
        "sys.meta_path.pop(0)\n"
        "try:\n"
        "    time.sleep(5)\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert told.stdout.split() == ["imported", "heard"], told.stderr


SLOW = """
import sys, time
from elbowroom.cli import main
from elbowroom.files import save

def slow(path, world, on, proof, *more):
    path.write_bytes(b"half of it")
    print("writing", flush=True)
    for _ in range(600):  # a signal that comes just before a sleep begins is seen when it ends
        time.sleep(0.1)

save._WRITERS[".glb"] = slow
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_request_to_end_leaves_no_half_written_file(tmp_path, number: int, code: int):
    write_bvh(tmp_path / "walk.bvh", small_worlds.moving(small_worlds.person(skin=False), frames=3))
    words = [sys.executable, "-c", SLOW, "convert", "walk.bvh", "a.npz", "a.glb"]
    started = subprocess.Popen(
        words,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # `nohup` has the tests ignore it
    )
    assert started.stdout is not None and started.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 3, "the stand-ins of both files are there"
    started.send_signal(number)
    _, told = started.communicate(timeout=60)
    assert started.returncode == code and "no partial files were left behind" in told and "Traceback" not in told
    assert [p.name for p in tmp_path.iterdir()] == ["walk.bvh"]


def test_what_is_ignored_from_the_start_stays_so(handlers):
    """`nohup` has a command outlive its terminal."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    heed_interrupts()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
