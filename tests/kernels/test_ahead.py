"""The list of kernels that are compiled ahead is readable, and names kernels that there are."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

from numba import types

from elbowroom.kernels import sweep, triangles
from elbowroom.kernels.ahead import listed, text_of, type_of


def test_types_come_back_from_their_text() -> None:
    table = types.Array(types.float64, 2, "C")
    fixed = types.Array(types.int32, 1, "A", readonly=True)
    tree = types.BaseTuple.from_types([fixed, table, table, table], sweep.Tree)
    another = types.BaseTuple.from_types([table, table, table, table, fixed], triangles.Tree)
    given = [table, fixed, types.int64, types.boolean, types.UniTuple(types.float64, 3), tree, another]
    named: dict[str, object] = {}
    texts = [text_of(t, named) for t in given]
    assert [type_of(text, named) for text in texts] == given
    assert len(named) == 2, "classes of one name are two"


def test_the_list_names_kernels() -> None:
    kernels = listed()
    assert any(k.first for k in kernels)
    for kernel, signatures, _ in kernels:
        module, name = kernel.split(".")
        compiled = getattr(import_module(f"elbowroom.kernels.{module}"), name)
        assert signatures
        assert all(len(s) == compiled.py_func.__code__.co_argcount for s in signatures), kernel


def test_searches_compile_as_the_list_says() -> None:
    """Kernels over a space need its functions, which a process of its own has to load as well."""
    code = (
        "from elbowroom.kernels import ahead\n"
        "numbers = [i for i, k in enumerate(ahead.listed()) if k.kernel == 'shortcut.shorten']\n"
        "ahead.suppress = lambda error: __import__('contextlib').nullcontext()\n"
        "ahead._work(str(i) for i in numbers)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and done.stdout.strip().isdigit(), done.stderr[-500:]
