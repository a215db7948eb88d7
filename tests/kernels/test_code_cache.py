"""Compiled code is cached by the content of all kernel sources, so an edited helper is never stale."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import elbowroom
from elbowroom.kernels.sealing import unseal

HELPER = "import numba as nb\n\n\n@nb.njit(cache=True)\ndef helper():\n    return {value}\n"
CALLER = (
    "import numba as nb\nfrom elbowroom.kernels.helper import helper\n\n\n"
    "@nb.njit(cache=True)\ndef caller():\n    return helper()\n"
)


def run(package: Path, cache: Path) -> str:
    """Result of the caller in a new process that uses a copy of the package."""
    env = os.environ | {"PYTHONPATH": str(package.parent), "ELBOWROOM_CACHE": str(cache)}
    code = (
        "import elbowroom.kernels as k; before = k.compiled_before()\n"
        "from elbowroom.kernels.caller import caller; print(caller(), before)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def package_in(folder: Path) -> Path:
    """A package with two kernels, one of which calls the other."""
    package = folder / "src" / "elbowroom"
    kernels = package / "kernels"
    kernels.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    source = Path(elbowroom.__file__).parent
    for name in ("stopping.py", "errors.py", "kernels/__init__.py", "kernels/sealing.py"):
        shutil.copy(source / name, package / name)
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "helper.py").write_text(HELPER.format(value=1))
    return package


def test_edited_helper_gives_the_new_result(tmp_path: Path) -> None:
    package, cache = package_in(tmp_path), tmp_path / "cache"
    assert run(package, cache) == "1 False"
    assert run(package, cache) == "1 True"
    assert list(cache.rglob("caller*.nbi")), "the code was not cached at all"
    (package / "kernels" / "helper.py").write_text(HELPER.format(value=2))
    assert run(package, cache) == "2 False"


def test_copies_of_the_package_share_compiled_code(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    run(package_in(tmp_path / "one"), cache)
    stored = {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}
    assert run(package_in(tmp_path / "other"), cache) == "1 True"
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()} == stored


# Ways to damage a file.
DAMAGE = {
    "emptied": lambda content: b"",
    "cut off": lambda content: content[: len(content) // 2],
    "garbage": lambda content: b"\x80\x04garbage" * 100,
    "overwritten": lambda content: content[: len(content) // 2] + b"\xff" * 64 + content[len(content) // 2 + 64 :],
    "last byte": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
}


def test_damaged_code_is_compiled_and_stored_anew(tmp_path: Path) -> None:
    """Every file of the cache is damaged: the result is right, nothing escapes, and all files are sound again."""
    package, cache = package_in(tmp_path), tmp_path / "cache"
    run(package, cache)
    files = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".nbi", ".nbc"}
    kinds = list(DAMAGE.values())
    for first in (0, 3):  # all kinds, of both kinds of files
        for k, path in enumerate(files, start=first):
            path.write_bytes(kinds[k % len(kinds)](path.read_bytes()))
        assert run(package, cache) == "1 True"
        assert all(unseal(path) is not None for path in files)


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    package, cache = package_in(tmp_path), tmp_path / "cache"
    cache.write_text("no folder")
    assert run(package, cache) == "1 False"
    assert not list(package.rglob("*.nbi")), "code beside the sources would not notice that a helper changes"


AT_ONCE = """
import os, signal
import elbowroom.kernels
from numba.core import event

class Stops(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGSTOP) if {stops} else None
    def on_end(self, event):
        pass

event.register("numba:compile", Stops())
from elbowroom.kernels.caller import caller
print(caller())
"""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot suspend processes")
def test_first_starts_at_once_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """One process is suspended while it compiles; another one compiles the same and is done before it."""
    package, cache = package_in(tmp_path), tmp_path / "cache"
    env = os.environ | {"PYTHONPATH": str(package.parent), "ELBOWROOM_CACHE": str(cache)}

    def start(stops: bool) -> subprocess.Popen[str]:
        code = AT_ONCE.format(stops=stops)
        return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)

    first = start(stops=True)
    try:
        assert os.WIFSTOPPED(os.waitpid(first.pid, os.WUNTRACED)[1])
        second = start(stops=False)
        assert second.communicate(timeout=60.0)[0].strip() == "1"
        while first.poll() is None:
            os.kill(first.pid, signal.SIGCONT)
            time.sleep(0.05)
        assert first.stdout is not None and first.stdout.read().strip() == "1"
    finally:
        first.kill()
        first.wait()
    assert run(package, cache) == "1 True"
    assert all(unseal(path) is not None for path in cache.rglob("*") if path.is_file())
