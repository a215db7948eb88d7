"""Writing files all or nothing: a failed or interrupted command leaves no half-written file behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elbowroom.errors import BadFile


@contextmanager
def writing(*paths: str | Path) -> Iterator[list[Path]]:
    """Temporary stand-ins for `paths`, moved into place together when the block ends well, deleted when it does not.

    Each stand-in has the suffix of its path, so that writers that look at the suffix are content.
    """
    targets = [Path(p) for p in paths]
    made: list[Path] = []
    try:
        for target in targets:
            if target.is_dir():
                raise BadFile(target, "is a folder", would_do="give the name of a file")
            try:
                handle, name = tempfile.mkstemp(suffix=target.suffix, prefix=f".{target.stem}-", dir=target.parent)
            except OSError as error:
                raise BadFile(target, f"cannot be written ({error.strerror})") from None
            os.close(handle)
            made.append(Path(name))
        yield made
        mask = os.umask(0)
        os.umask(mask)
        for stand_in, target in zip(made, targets, strict=True):
            os.chmod(stand_in, 0o666 & ~mask)  # mkstemp makes files private; the user's own mask decides
            os.replace(stand_in, target)
    finally:
        for stand_in in made:
            stand_in.unlink(missing_ok=True)


@contextmanager
def said_of(path: str | Path) -> Iterator[None]:
    """What the system refuses while a file is written, such as a full disk, is said in one sentence of that file."""
    try:
        yield
    except OSError as error:
        why = (error.strerror or str(error)).splitlines() or [type(error).__name__]
        raise BadFile(path, f"cannot be written ({why[0][:100].lower()})") from None
