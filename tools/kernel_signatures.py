"""Write the list of kernels that are compiled ahead: `python tools/kernel_signatures.py`.

Plans scenarios of the gallery and notes with which types kernels are called; the largest come first, since those take
longest to compile. Run it where arguments of kernels have changed; tests tell when.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

# The first is what `elbowroom demo` plans; the others have kernels of hands, walks, moves and carries.
FIRST, OTHERS = "umbrella", ("bookshelf", "jar", "cheese-and-hat", "pillar", "under-the-bar", "box-table", "pizza")

Calls = dict[tuple[str, tuple[Any, ...]], None]


@contextmanager
def noted() -> Iterator[Calls]:
    """Kernels that Python calls meanwhile, with their types, in order."""
    from numba.core import dispatcher, sigutils

    calls: Calls = {}
    depth = 0
    compile_ = dispatcher.Dispatcher.compile

    def noting(self: Any, signature: Any) -> Any:
        nonlocal depth
        module, name = self.py_func.__module__, self.py_func.__qualname__
        ours = module.startswith("elbowroom.kernels.") and getattr(import_module(module), name, None) is self
        if depth == 0 and ours:
            calls[f"{module.rsplit('.', 1)[1]}.{name}", tuple(sigutils.normalize_signature(signature)[0])] = None
        depth += 1
        try:
            return compile_(self, signature)
        finally:
            depth -= 1

    dispatcher.Dispatcher.compile = noting
    try:
        yield calls
    finally:
        dispatcher.Dispatcher.compile = compile_


def run(name: str) -> None:
    """Plan a scenario of the gallery and write it."""
    from elbowroom.cli import app

    with tempfile.TemporaryDirectory() as folder:
        app(["demo", name, "-o", f"{folder}/out.glb", "-o", f"{folder}/out.html"], standalone_mode=False)


def written(first: Calls, every: Calls, folder: Path, path: Path) -> None:
    """Write a list of kernels, those of the largest code in a folder first."""
    from elbowroom.kernels.ahead import text_of

    named: dict[str, Any] = {}
    kernels: dict[str, dict[str, Any]] = {}
    for kernel, signature in every:
        entry = kernels.setdefault(kernel, {"kernel": kernel, "first": False, "signatures": []})
        entry["first"] = entry["first"] or (kernel, signature) in first
        entry["signatures"].append([text_of(t, named) for t in signature])
    size = {name: sum(p.stat().st_size for p in folder.rglob(f"{name}-*.nbc")) for name in kernels}
    ordered = sorted(kernels.values(), key=lambda entry: -size[entry["kernel"]])
    for entry in ordered:
        print(f"{size[entry['kernel']] / 1000:6.0f} kB  {entry['kernel']}{', first' if entry['first'] else ''}")
    path.write_text(json.dumps({"types": named, "kernels": ordered}, indent=1) + "\n")


def main() -> None:
    """Plan, note and write."""
    from elbowroom.kernels import ahead, code_folder

    ahead.is_ahead = lambda first=True: True  # the list that is to be written is not used
    known = code_folder()
    with tempfile.TemporaryDirectory() as cache:
        # fields and covers are made anew, compiled code is used where there is any
        known.mkdir(parents=True, exist_ok=True)
        (Path(cache) / "code").symlink_to(known.parent, target_is_directory=True)
        os.environ["ELBOWROOM_CACHE"] = cache
        with noted() as calls:
            run(FIRST)
            first = dict(calls)
            for name in OTHERS:
                start = time.perf_counter()
                run(name)
                print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    del os.environ["ELBOWROOM_CACHE"]
    written(first, calls, known, ahead.LIST)


if __name__ == "__main__":
    main()
