"""Cache of data derived from immutable objects, kept as long as they live."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar
from weakref import ref

Value = TypeVar("Value")

_PLACE = "_kept"


class _Memory(dict[Hashable, Any]):
    """Cached data of an object. Copies and pickles of the object begin with none."""

    def __reduce__(self) -> tuple[type[_Memory], tuple[()]]:
        return _Memory, ()


def kept(owner: object, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return the result of `make`, computed once for an immutable object and a key, and freed with the object.

    The value may refer to its owner. Threads that ask at the same time may both make it; all get the same one.
    """
    memory: _Memory = owner.__dict__.setdefault(_PLACE, _Memory())
    try:
        return memory[key]  # type: ignore[no-any-return]
    except KeyError:
        return memory.setdefault(key, make())  # type: ignore[no-any-return]


class KeptTogether(Generic[Value]):
    """Values made once of several immutable objects together: the last few, and none beyond the life of its objects.

    Values must not refer to the objects.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, tuple[tuple[ref[Any], ...], Value]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._made)

    def of(self, owners: Sequence[object], key: Hashable, make: Callable[[], Value]) -> Value:
        """Result of `make` for these objects and a key."""
        whole = (tuple(map(id, owners)), key)
        found = self._made.get(whole)
        if found is not None and all(r() is owner for r, owner in zip(found[0], owners, strict=True)):
            with suppress(KeyError):  # another thread has dropped it
                self._made.move_to_end(whole)
            return found[1]
        value = make()
        made = self._made
        refs = tuple(ref(owner, lambda _: made.pop(whole, None)) for owner in owners)
        made[whole] = refs, value
        with suppress(KeyError):
            while len(made) > self._most:
                made.popitem(last=False)
        return value
