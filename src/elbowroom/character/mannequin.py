"""The skin of the built-in person: a smooth mannequin in plain clothes, for any proportions.

The surface and its weights come from MakeHuman's base mesh (see `mannequin_fit`); sex, age and build choose
the mixture of shapes, the skeleton and the tables choose the sizes, and the build is solved for so that the
volume has the person's mass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from elbowroom.character.anthropometry import Proportions
from elbowroom.character.body import Skin
from elbowroom.character.mannequin_fit import MIRROR, Fit, Fitter, Girths, HalfSurface, shapes
from elbowroom.character.skeleton import Skeleton
from elbowroom.geometry.kept import Arrays, contents, package_sources, remembered
from elbowroom.geometry.mesh import Color
from elbowroom.geometry.paint import Material, Paint
from elbowroom.geometry.rotations import Array

DENSITY = 1000.0  # kg/m³, a person with half-filled lungs

# Linear RGB.
COLORS: dict[str, Color] = {
    "skin": (0.62, 0.41, 0.29),
    "top": (0.16, 0.26, 0.40),
    "trousers": (0.065, 0.08, 0.11),
    "hair": (0.045, 0.028, 0.018),
    "shoes": (0.035, 0.033, 0.035),
    "iris": (0.06, 0.05, 0.045),
    "white": (0.75, 0.74, 0.71),
}

# Chin to vertex against height, where grown-up and childlike shapes end.
ADULT_HEAD, CHILD_HEAD = 0.137, 0.155
# Build: share of the way from the average to the heavy shape. Beyond these the limbs and trunk are scaled instead.
LIGHTEST, HEAVIEST = -0.8, 2.0
GIRTHS = (0.4, 3.0)  # the factors that scaling may use
TOLERANCE = 1e-3  # share of the volume
# Broad shoulders and thick arms are muscle from here to there (product of both scales).
LEAN, STRONG = 1.1, 1.4
BARREL = 0.25  # how much deeper the chest of the strong is

EYE_SEGMENTS = 14
# Rings of the eyeball, degrees from the front; the first IRIS_RINGS (and the pole) are the iris.
EYE_RINGS = (13.0, 23.0, 25.0, 50.0, 80.0, 115.0, 150.0)
IRIS_RINGS = 2


def mannequin_skin(skeleton: Skeleton, p: Proportions) -> Skin:
    """Skin of the built-in person's skeleton with proportions `p`, bound in an A pose; made in 0.1 s or so.

    One closed surface from crown to soles, and two eyeballs; mirror images of each other left and right.
    """
    stored = shapes()
    index = np.array([skeleton.index(name) for name in stored.joint_names], dtype=np.int32)
    fit = _with_mass(stored, skeleton, p)
    vertices, faces = stored.whole(fit.vertices), stored.whole_triangles
    joints = index[stored.whole_joint_of]
    weights = np.concatenate([stored.weights, stored.weights[stored.middle :]])
    zones = (*stored.zones, "iris", "white")
    zone = np.concatenate([stored.zone, stored.zone[stored.middle :]])

    ball, ball_faces, iris = _eyeball()
    for side in ("left", "right"):
        j = skeleton.index(f"{side}_eye")
        flip = MIRROR if side == "right" else np.ones(3)
        eye = (fit.left_eye + fit.eye_radius * ball) * flip
        faces = np.concatenate([faces, len(vertices) + (ball_faces if side == "left" else ball_faces[:, ::-1])])
        vertices = np.concatenate([vertices, eye])
        joints = np.concatenate([joints, np.full((len(ball), 4), j)])
        weights = np.concatenate([weights, np.tile([1.0, 0.0, 0.0, 0.0], (len(ball), 1))])
        zone = np.concatenate([zone, np.where(iris, zones.index("iris"), zones.index("white"))])
    colors = np.array([COLORS[name] for name in zones])[zone]
    paint = Paint(tuple(Material(name, COLORS[name]) for name in zones), zone, np.zeros((len(zone), 2)))
    inverse_bind = np.linalg.inv(fit.T_bind).astype(float)
    return Skin(vertices, faces, joints, weights, inverse_bind, colors, paint=paint)


def _with_mass(stored: HalfSurface, skeleton: Skeleton, p: Proportions) -> Fit:
    """Fit whose volume matches the person's mass: first by build, then by scaling girths."""
    wanted = p.mass / DENSITY
    faces = stored.whole_triangles

    def excess(build: float, girth: float) -> float:
        """Share by which the volume of a fit is too large."""
        fit = _fit(stored, skeleton, p, build, girth)
        return volume(stored.whole(fit.vertices), faces) / wanted - 1.0

    def solve() -> Arrays:
        build, left = _solved(lambda b: excess(b, 1.0), 0.0, 0.5, (LIGHTEST, HEAVIEST))
        girth = _solved(lambda g: excess(build, g), 1.0, 1.1, GIRTHS)[0] if abs(left) > TOLERANCE else 1.0
        return {"solved": np.array([build, girth])}

    build, girth = remembered("builds", (package_sources(), *contents((skeleton, p))), solve)["solved"].tolist()
    return _fit(stored, skeleton, p, build, girth)


def _solved(f: Callable[[float], float], a: float, b: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """Secant steps to the root of f, which grows evenly, or to a bound: where they end, and f there."""
    fa = f(a)
    if abs(fa) < TOLERANCE:
        return a, fa
    fb = f(b)
    for _ in range(8):
        c = float(np.clip(b - fb * (b - a) / (fb - fa), *bounds)) if fa != fb else b
        if abs(fb) < TOLERANCE or c == b:
            break
        a, fa, b = b, fb, c
        fb = f(b)
    return b, fb


def _fit(stored: HalfSurface, skeleton: Skeleton, p: Proportions, build: float, girth: float) -> Fit:
    male = {"female": 0.0, "average": 0.5, "male": 1.0}[p.sex]
    young = float(np.clip((p.length["chin_to_vertex"] / p.height - ADULT_HEAD) / (CHILD_HEAD - ADULT_HEAD), 0, 1))
    muscle = p.scales.shoulder * p.scales.arm_girth
    strong = float(np.clip((muscle - LEAN) / (STRONG - LEAN), 0, 1)) * (1.0 - young)
    share = {"woman": (1 - male) * (1 - young), "man": male * (1 - young), "child": young}
    mix = {name: s * (1.0 - build) for name, s in share.items()}
    mix |= {f"heavy_{name}": s * build for name, s in share.items()}
    mix["man"] -= strong
    mix["strong_man"] = strong
    plain = stored.mixed(share)
    shape = stored.mixed(mix)
    # The child's shape has a child's proportions already; scales depart from the adult's.
    stature = p.unit + young * (p.height - p.unit)
    size = stature / float(np.ptp(plain.vertices[:, 2]) - plain.hair)
    grown = 1.0 - young
    girths = Girths(
        trunk=girth * p.scales.trunk_girth**grown,
        chest=1.0 + BARREL * strong,
        arm=girth * p.scales.arm_girth**grown,
        leg=girth * p.scales.leg_girth**grown,
    )
    return Fitter(shape, skeleton, p, girths, size).fit(stored)


def volume(vertices: Array, faces: NDArray[np.int32]) -> float:
    """Volume in m³ inside closed triangles (F, 3) over vertices (V, 3)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0)


def _eyeball() -> tuple[Array, NDArray[np.int32], NDArray[np.bool_]]:
    """A unit ball that looks along -Y: vertices, triangles, and which vertices are the iris."""
    turn = 2 * np.pi * (np.arange(EYE_SEGMENTS) + 0.5) / EYE_SEGMENTS
    rings = np.deg2rad(EYE_RINGS)
    around = np.stack([np.cos(turn), np.zeros_like(turn), np.sin(turn)], axis=1)
    body = np.sin(rings)[:, None, None] * around + np.cos(rings)[:, None, None] * np.array([0.0, -1.0, 0.0])
    vertices = np.concatenate([[[0.0, -1.0, 0.0]], body.reshape(-1, 3), [[0.0, 1.0, 0.0]]])
    n, k = EYE_SEGMENTS, np.arange(EYE_SEGMENTS)
    after = (k + 1) % n
    faces = [np.stack([np.zeros_like(k), 1 + k, 1 + after], axis=1)]
    for r in range(len(rings) - 1):
        a, b = 1 + r * n, 1 + (r + 1) * n
        faces += [
            np.stack([a + k, b + k, b + after], axis=1),
            np.stack([a + k, b + after, a + after], axis=1),
        ]
    last = 1 + (len(rings) - 1) * n
    faces.append(np.stack([last + k, np.full_like(k, len(vertices) - 1), last + after], axis=1))
    return vertices, np.concatenate(faces).astype(np.int32), np.arange(len(vertices)) < 1 + IRIS_RINGS * n
