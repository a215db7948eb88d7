"""Interface between a search and a space: seven questions, answered by type.

A space is a named tuple of arrays. Searches call the functions below; the module of a space gives them a meaning with
`answer`, so that a search is compiled for each type of space and loads from the cache in the next
process. What is kept names those types: a space belongs into a module that every process can import, or its searches
must not be kept.

A state is one row of floats (W,): what is searched, then what is carried along (what was worked out once and belongs
to the state). `tally` (4,) counts checks, samples, rounds and nodes; spaces count their own checks. Spaces may be
directed (time runs forward); `forward` says whether an edge leads from the first state to the second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import overload

from elbowroom.kernels.compiled import PART

# Places in a tally.
CHECKS, SAMPLES, ROUNDS, NODES = 0, 1, 2, 3
TALLY = 4


def sample(space, rng, effort, out, tally):
    """Draw one state into out; whether it is valid. Effort from 0 to 1 widens what is drawn from."""
    raise NotImplementedError


def stray(space, rng, state, forward, out, tally):
    """Draw one state near another, after it or before it where the space is directed; whether it is valid."""
    raise NotImplementedError


def valid(space, state, tally):
    """Return whether a state is valid."""
    raise NotImplementedError


def distance(space, a, b):
    """Distance from a to b, infinite where the way would lead against the space's direction."""
    raise NotImplementedError


def steer(space, a, b, forward, out, tally):
    """Go from a towards b as far as is good, one step at most; whether out is a state worth keeping.

    A rough look is enough: `joins` has the last word on every edge of a path.
    """
    raise NotImplementedError


def joins(space, a, b, tally):
    """Return whether the whole edge from a to b is valid, both ends known to be."""
    raise NotImplementedError


def between(space, a, b, share, out):
    """The state at a share of the edge from a to b."""
    raise NotImplementedError


def answer(question: Callable[..., Any], space: type, given: Callable[..., Any]) -> None:
    """Let a plain function answer a question for a type of space; it is compiled where the question is asked."""

    def choose(space_type: Any, *others: Any) -> Callable[..., Any] | None:
        return given if isinstance(space_type, types.NamedTuple) and space_type.instance_class is space else None

    overload(question, jit_options=PART, strict=False)(choose)
