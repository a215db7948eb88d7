"""Clearance of a rigid object from a scene at many places, by groups of balls in the scene's distance field."""

from __future__ import annotations

from elbowroom.kernels.compiled import inner, njit_nogil
from elbowroom.kernels.fields import squared


@inner()
def _clear(fields, x, y, z, radius, floor):
    """Return whether a ball is certainly free of the scene and above the floor."""
    if z - radius < floor:
        return False
    return squared(fields, 0, x, y, z) > radius * radius


@njit_nogil()
def object_free(fields, groups, first, balls, rotations, places, margin, floor, out):
    """Fill out (N,) with whether an object with these rotations (N, 3, 3) and places (N, 3) is certainly free.

    balls (B, 4) are centres and radii in the object's frame, cut at `first` (G + 1,) into groups, each within its ball
    of groups (G, 4). All keep `margin` metres from the scene of field 0, and from the floor below.
    """
    for k in range(len(places)):
        R, p = rotations[k], places[k]
        free = True
        for g in range(len(groups)):
            c = groups[g]
            x = R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2] + p[0]
            y = R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2] + p[1]
            z = R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2] + p[2]
            if _clear(fields, x, y, z, c[3] + margin, floor):
                continue
            for b in range(first[g], first[g + 1]):
                c = balls[b]
                x = R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2] + p[0]
                y = R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2] + p[1]
                z = R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2] + p[2]
                if not _clear(fields, x, y, z, c[3] + margin, floor):
                    free = False
                    break
            if not free:
                break
        out[k] = free
