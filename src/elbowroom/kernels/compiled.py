"""Compiled code that does not count references.

A check of a posture takes a microsecond and sees a hundred arrays; counting who uses each, up and down, takes three.
Functions made so must not make arrays, and whoever calls them keeps those that they are given.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba as nb
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import register_jitable

njit_nogil = partial(nb.njit, cache=True, nogil=True, _nrt=False)


class _NoAddresses:
    """Stands for the machine where a function has no code of its own: there is no place to keep its environment."""

    def set_env(self, env_name: str, env: Any) -> None:
        """Keep nothing."""


class _PartOfCallers(JITCodeLibrary):
    """Code of a function that is optimised and made into machine code in its callers alone."""

    @property
    def codegen(self) -> Any:
        return _NoAddresses()

    def get_pointer_to_function(self, name: str) -> int:
        """No address."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _InnerCompiler(Compiler):
    def define_pipelines(self) -> Any:
        """Numba's own passes, on a library that is part of its callers."""
        self.state.library = _PartOfCallers(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


# Versions of Numba whose own classes are known to serve for that. Others compile each helper by itself as well, which
# takes longer and gives the same code.
_KNOWN = ("0.68.",)

# Options of a function that is a part of kernels.
PART: Any = {"nogil": True, "_nrt": False, "no_cfunc_wrapper": True, "no_cpython_wrapper": True}
if nb.__version__.startswith(_KNOWN):
    PART["pipeline_class"] = _InnerCompiler

inner = partial(register_jitable, **PART) if "pipeline_class" in PART else njit_nogil
