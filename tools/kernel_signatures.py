"""Write the list of kernels that are compiled ahead: `python tools/kernel_signatures.py`.

Plans scenarios of the gallery, notes with which types kernels are called, and times how long each takes to compile, so
that those that take longest come first. Run it where arguments of kernels have changed; tests tell when.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

# The first is what `elbowroom demo` plans; the others are those whose kernels tests need, too.
FIRST, OTHERS = "umbrella", ("bookshelf", "jar", "cheese-and-hat", "pillar")

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


def stand() -> None:
    """Solve a posture of a whole body, as no scenario does yet."""
    from elbowroom.character.human import human
    from elbowroom.posing.whole_body import WholeBody

    body = human(skin=False)
    WholeBody(body).solve(body.skeleton.rest_pose, {})


def seconds_of(path: Path) -> list[float]:
    """Seconds of processor time that each kernel of a list takes to compile, in a process without anything compiled."""
    code = (
        "import time, json; from importlib import import_module; from elbowroom.kernels import ahead\n"
        "from pathlib import Path; import sys; ahead.LIST = Path(sys.argv[1]); out = []\n"
        "for kernel, signatures, _ in ahead.listed():\n"
        "    start = time.process_time(); module, name = kernel.split('.')\n"
        "    for s in signatures: getattr(import_module('elbowroom.kernels.' + module), name).compile(s)\n"
        "    out.append(time.process_time() - start)\n"
        "print(json.dumps(out))\n"
    )
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "ELBOWROOM_CACHE": cache}
        told = subprocess.run([sys.executable, "-c", code, str(path)], env=env, check=True, capture_output=True)
    return list(json.loads(told.stdout))


def written(first: Calls, every: Calls, path: Path) -> None:
    """Write a list."""
    from elbowroom.kernels.ahead import text_of

    named: dict[str, Any] = {}
    kernels: dict[str, dict[str, Any]] = {}
    for kernel, signature in every:
        entry = kernels.setdefault(kernel, {"kernel": kernel, "first": False, "signatures": []})
        entry["first"] = entry["first"] or (kernel, signature) in first
        entry["signatures"].append([text_of(t, named) for t in signature])
    path.write_text(json.dumps({"types": named, "kernels": list(kernels.values())}, indent=1) + "\n")
    seconds = seconds_of(path)
    order = sorted(range(len(seconds)), key=lambda i: -seconds[i])
    for i in order:
        print(f"{seconds[i]:6.2f} s  {list(kernels)[i]}")
    ordered = [list(kernels.values())[i] for i in order]
    path.write_text(json.dumps({"types": named, "kernels": ordered}, indent=1) + "\n")


def main() -> None:
    """Plan, note, time and write."""
    from elbowroom.kernels import ahead, code_folder

    ahead.is_ahead = lambda first=True: True  # the list that is to be written is not used
    with tempfile.TemporaryDirectory() as cache:
        # fields and covers are made anew, compiled code is used where there is any
        known = code_folder()
        known.mkdir(parents=True, exist_ok=True)
        (Path(cache) / "code").symlink_to(known.parent, target_is_directory=True)
        os.environ["ELBOWROOM_CACHE"] = cache
        with noted() as calls:
            run(FIRST)
            first = dict(calls)
            for name in OTHERS:
                start = time.perf_counter()
                run(name)
                print(f"{name}: {time.perf_counter() - start:.0f} s")
            stand()
    del os.environ["ELBOWROOM_CACHE"]
    written(first, calls, ahead.LIST)


if __name__ == "__main__":
    main()
