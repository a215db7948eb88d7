"""Compiled code is cached by the content of all kernel sources, so an edited helper is never stale."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import elbowroom

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


def test_edited_helper_gives_the_new_result(tmp_path: Path) -> None:
    package = tmp_path / "src" / "elbowroom"
    kernels = package / "kernels"
    kernels.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    source = Path(elbowroom.__file__).parent / "kernels" / "__init__.py"
    shutil.copy(source, kernels / "__init__.py")
    (kernels / "caller.py").write_text(CALLER)
    cache = tmp_path / "cache"
    (kernels / "helper.py").write_text(HELPER.format(value=1))
    assert run(package, cache) == "1 False"
    assert run(package, cache) == "1 True"
    assert list(cache.rglob("caller*.nbi")), "the code was not cached at all"
    (kernels / "helper.py").write_text(HELPER.format(value=2))
    assert run(package, cache) == "2 False"
