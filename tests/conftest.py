"""Shared fixtures. Real files are used where they are present and skipped with a reason where not."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# With --hypothesis-profile=steady the same examples are drawn every time: what passed once passes on the next machine.
# Neither profile has a deadline: first examples load libraries, and machines are busy.
settings.register_profile("patient", deadline=None)
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("patient")

# Signals that commands take over.
_HEEDED = (signal.SIGINT, signal.SIGALRM, signal.SIGTERM, signal.SIGHUP)

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ELBOWROOM_DATA") or ROOT.parent / "shared" / "data")

# Files or tests, named one by one, that are run without further processes: starting those takes longer.
_FEW = 3


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No further processes for a few files or tests; else as many as there are cores."""
    named = [Path(arg.split("::")[0]) for arg in config.args]
    few = len(named) <= _FEW and all(path.is_file() for path in named)
    return 0 if few or config.option.collectonly else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile kernels once, on all cores, before several processes would each compile all of them."""
    option = session.config.option
    if not getattr(option, "numprocesses", None) or hasattr(session.config, "workerinput"):
        return
    from elbowroom.kernels.ahead import compile_ahead, is_ahead

    if not is_ahead(first=False):
        print("compiling kernels ahead of the tests, once")
        compile_ahead(lambda done, count: None, first=False)


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    """Commands that run inside of a test take Ctrl-C over and end for good; after it, pytest has everything back."""
    before = [(number, signal.getsignal(number)) for number in _HEEDED]
    yield
    gc.unfreeze()
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    for number, handler in before:
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder with real motion capture, rigs and scenes."""
    if not DATA.is_dir():
        pytest.skip("the folder with real files is not present (set ELBOWROOM_DATA to it)")
    return DATA


def benchmark_module(name: str) -> ModuleType:
    """A module of the benchmarks; those that it imports have to be asked for first."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def real_files(*patterns: str) -> list[Path]:
    """Real files that match, for parametrising; empty where the folder is absent."""
    return sorted(p for pattern in patterns for p in DATA.glob(pattern))
