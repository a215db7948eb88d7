"""Kernels compiled ahead of their first use, in several processes at once.

`signatures.json` lists kernels with the types that they are called with, those that take longest first (written by
`tools/kernel_signatures.py`). Each process is given one kernel after another and stores machine code in the cache on
disk, where everybody finds it. The list only saves time: what it lacks is compiled at its first call.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

import numba as nb
from numba import types
from numba.core.errors import NumbaError

from elbowroom.kernels import code_folder

LIST = Path(__file__).with_name("signatures.json")

# Written into the folder of compiled code when all that a first run needs is there.
_STAMP = "ahead-{}"

# Processes at most: the longest kernel alone takes as long as a fifth of all.
_MOST = 6


class Listed(NamedTuple):
    """A kernel, as module and name, and the argument types that it is compiled for; `first`: by the first demo."""

    kernel: str
    signatures: list[tuple[Any, ...]]
    first: bool


def text_of(t: Any, named: dict[str, Any]) -> Any:
    """A type as it stands in the list; named tuples are put into `named`, each kind once."""
    if isinstance(t, types.Array):
        return f"{t.dtype} {t.ndim} {t.layout}{'' if t.mutable else ' readonly'}"
    parts: Any = t
    if isinstance(t, types.BaseNamedTuple):
        kind = parts.instance_class
        text = {"class": f"{kind.__module__}:{kind.__qualname__}", "of": [text_of(part, named) for part in parts]}
        for name, known in named.items():
            if known == text:
                return f"@{name}"
        name = next(n for n in (kind.__qualname__ + "'" * k for k in range(len(named) + 1)) if n not in named)
        named[name] = text
        return f"@{name}"
    if isinstance(t, types.BaseTuple):
        return [text_of(part, named) for part in parts]
    return str(t)


def type_of(text: Any, named: dict[str, Any]) -> Any:
    """The type that stands in the list."""
    if isinstance(text, list):
        return types.BaseTuple.from_types([type_of(part, named) for part in text])
    if text.startswith("@"):
        module, kind = named[text[1:]]["class"].split(":")
        parts = [type_of(part, named) for part in named[text[1:]]["of"]]
        return types.BaseTuple.from_types(parts, getattr(import_module(module), kind))
    if " " in text:
        dtype, ndim, layout, *readonly = text.split()
        return types.Array(getattr(types, dtype), int(ndim), layout, readonly=bool(readonly))
    return getattr(types, {"bool": "boolean"}.get(text, text))


@cache
def listed() -> tuple[Listed, ...]:
    """All kernels of the list, those that take longest first."""
    held = json.loads(LIST.read_text())
    return tuple(
        Listed(k["kernel"], [tuple(type_of(t, held["types"]) for t in s) for s in k["signatures"]], k["first"])
        for k in held["kernels"]
    )


def _stamp(first: bool) -> Path:
    return code_folder() / _STAMP.format("first" if first else "all")


def is_ahead(first: bool = True) -> bool:
    """Return whether everything on the list (or all that a first run needs) was compiled before, or cannot be kept."""
    own_folder = Path(nb.config.CACHE_DIR) != code_folder()  # type: ignore[attr-defined]
    return own_folder or _stamp(first).exists() or _stamp(False).exists()


def compile_ahead(shown: Callable[[int, int], None], first: bool = True) -> None:
    """Compile everything on the list, or what a first run needs; `shown` is told how many of how many are done."""
    kernels = [i for i, k in enumerate(listed()) if k.first or not first]
    jobs: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[int | None] = SimpleQueue()
    for i in kernels:
        jobs.put(i)
    count = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, _MOST)
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "elbowroom.kernels.ahead"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(count)
    ]
    try:
        for worker in workers:
            Thread(target=_keep_busy, args=(worker, jobs, done), daemon=True).start()
        shown(0, len(kernels))
        finished, working = 0, count
        while working:
            if done.get() is None:
                working -= 1
            else:
                finished += 1
                shown(finished, len(kernels))
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    if finished == len(kernels):
        _stamp(first).touch()


def _keep_busy(worker: subprocess.Popen[str], jobs: SimpleQueue[int], done: SimpleQueue[int | None]) -> None:
    """Give a process one kernel after another; a process that dies leaves its kernel to the first call."""
    assert worker.stdin is not None and worker.stdout is not None
    try:
        while not jobs.empty():
            worker.stdin.write(f"{jobs.get_nowait()}\n")
            worker.stdin.flush()
            if not worker.stdout.readline():
                break
            done.put(1)
    except OSError:
        pass
    finally:
        done.put(None)


def _work(numbers: Iterable[str]) -> None:
    """Compile kernels by their places in the list, and say so on standard output."""
    import_module("elbowroom.kernels.limb_space")  # says how searches move in the space of a limb
    for number in numbers:
        kernel, signatures, _ = listed()[int(number)]
        module, name = kernel.split(".")
        # a list that is out of date does no harm: what does not compile as it says is compiled at its first call
        with suppress(NumbaError):
            for signature in signatures:
                getattr(import_module(f"elbowroom.kernels.{module}"), name).compile(signature)
        print(number.strip(), flush=True)


if __name__ == "__main__":
    _work(iter(sys.stdin.readline, ""))
