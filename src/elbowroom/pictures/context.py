"""A drawing context without a screen."""

from __future__ import annotations

import sys

import moderngl

from elbowroom.errors import MissingExtra

_LINUX = "Debian, Ubuntu: apt install libegl1 libgl1 libgl1-mesa-dri; Fedora: dnf install mesa-dri-drivers"
_OTHER = "an OpenGL 3.3 driver for this machine"


def drawing_context() -> moderngl.Context:
    """New OpenGL 3.3 context: on Linux through EGL, which needs no display, else the system's default."""
    on_linux = sys.platform.startswith("linux")
    try:
        if on_linux:
            return moderngl.create_context(standalone=True, backend="egl", require=330)  # type: ignore[arg-type]
        return moderngl.create_context(standalone=True, require=330)
    except Exception as error:  # glcontext raises bare Exception for a missing library or driver
        cause = " ".join(str(error).split())
        raise MissingExtra(f"drawing without a screen ({cause})", _LINUX if on_linux else _OTHER) from None
