"""Compiled inner loops.

Numba's own cache does not notice that a helper in another file has changed, so compiled code lives in a folder
named after a hash of all kernel sources and numba's version. `ELBOWROOM_CACHE` moves the whole cache.
Import this package before decorating anything: it points numba at that folder.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from elbowroom.stopping import leave_out


def cache_folder() -> Path:
    """Folder of what elbowroom can make again: compiled code, fields, skins."""
    told = os.environ.get("ELBOWROOM_CACHE")
    if told:
        return Path(told)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elbowroom"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elbowroom"


def source_hash() -> str:
    """Hash over every compiled source and numba's version, 16 hex digits."""
    h = hashlib.sha256(version("numba").encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        h.update(path.name.encode())
        h.update(path.read_bytes())
    return h.hexdigest()[:16]


def code_folder() -> Path:
    """Folder of the compiled code of these sources."""
    return cache_folder() / "code" / source_hash()


def compiled_before() -> bool:
    """Return whether some of these sources were compiled on this machine before; the first time takes a minute."""
    return next(code_folder().rglob("*.nbi"), None) is not None


def _point_numba_at_our_cache() -> None:
    folder = code_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        # numba would fall back to folders that are not named after the sources; this one is for this process alone
        folder = Path(tempfile.mkdtemp(prefix="elbowroom-code-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    import numba

    from elbowroom.kernels.sealing import seal_compiled_code

    seal_compiled_code()
    # both: the variable is what child processes see, the setting is what this process uses
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]


def _leave_compiling_out_of_budgets() -> None:
    from numba.core import event

    compiling = event.TimingListener()
    event.register("numba:compile", compiling)
    leave_out(lambda: float(compiling.duration) if compiling.done else 0.0)


_point_numba_at_our_cache()
_leave_compiling_out_of_budgets()
