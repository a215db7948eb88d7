"""Measures as others publish them, for comparison: PhysDiff, UHC, MBench, Kimodo, GMD, PROX and POSA, OmniRetarget.

Definitions and sources are in docs/report.md. Positions are metres with z up over a floor at height 0; feet and toes
are the joints at the balls of both feet, left before right.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.character.body import Character
from elbowroom.character.hands import FINGERS
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply, inverse
from elbowroom.kernels.triangles import distances, tree_of
from elbowroom.motion.edit import resample
from elbowroom.motion.soles import SIDES
from elbowroom.posing.balance import feet_of
from elbowroom.report.people import Subject, subject_of
from elbowroom.world.exact_forms import mesh_form
from elbowroom.world.paths import places
from elbowroom.world.world import World

# Frames a second of HumanML3D, on which PhysDiff, MBench and GMD measure steps by frame.
HUMANML_FPS = 20.0
# Frames a second of Kimodo's motions.
KIMODO_FPS = 30.0
# PhysDiff: depth and height that do not count, metres.
_TOLERANCE_M = 0.005
# MBench: depth that does not count, metres.
_MBENCH_DEPTH_M = 0.005
# MBench: a foot is in contact below this step in a frame or below this height, metres.
_MBENCH_STEP_M, _MBENCH_HEIGHT_M = 0.01, 0.02
# GMD and Kimodo: a foot is in contact below this height, metres.
_CONTACT_M = 0.05
# GMD: speed of a skating foot, m/s, 2.5 cm in a frame, and frames of the mean that must reach it, too.
_GMD_M_S, _GMD_FRAMES = 0.5, 5
# Kimodo: speed of a skating toe, m/s.
_KIMODO_M_S = 0.2
# OmniRetarget: depth that counts, distance of a kept contact, metres, and speed of a sliding toe, m/s.
_OMNI_DEPTH_M = 0.01
_OMNI_KEPT_M = 0.02
_OMNI_SLIDES_M_S = 0.01
# Frames at which distances to meshes are measured, at most.
_MOST = 200

# Names of the sources, and of the measures by source and key with units, for the page.
SOURCES = {
    "physdiff": "PhysDiff",
    "mbench": "MBench",
    "gmd": "GMD",
    "kimodo": "Kimodo",
    "posa": "PROX, POSA",
    "omniretarget": "OmniRetarget",
}
PUBLISHED = {
    ("physdiff", "penetrate_mm"): "Penetrate, mm",
    ("physdiff", "float_mm"): "Float, mm",
    ("physdiff", "skate_mm"): "Skate (foot joints), mm a frame",
    ("physdiff", "uhc_skate_mm"): "Skate (vertices, as in UHC), mm a frame",
    ("physdiff", "phys_err_mm"): "Phys-Err, mm",
    ("mbench", "ground_penetration_m"): "ground penetration, m",
    ("mbench", "foot_sliding_m_per_frame"): "foot sliding, m a frame",
    ("mbench", "jitter_m_per_frame2"): "jitter, m a frame²",
    ("gmd", "skating_ratio"): "skating ratio",
    ("kimodo", "toe_speed_m_s"): "speed of toes near the floor, m/s",
    ("kimodo", "skate_ratio"): "skate ratio",
    ("posa", "non_collision"): "non-collision",
    ("posa", "contact"): "contact",
    ("omniretarget", "penetrating_share"): "share of frames deeper than 1 cm",
    ("omniretarget", "largest_depth_m"): "largest depth, m",
    ("omniretarget", "contact_kept_share"): "contact kept within 2 cm",
    ("omniretarget", "toe_sliding_share"): "toe sliding over 1 cm/s",
}


def figure_of(value: float | None) -> str:
    """Text of a value of three digits; a dash where there is none."""
    return "–" if value is None else f"{value:.3g}"


def physdiff(vertices: Iterable[Array], feet: Array) -> dict[str, float]:
    """Compute PhysDiff's Penetrate, Float, Skate (foot joints) and Phys-Err, and UHC's Skate (vertices), millimetres.

    `vertices` are those of the body, (V, 3) for each frame; `feet` (T, 2, 3).
    """
    deep, high, slid = [], [], []
    before: Array | None = None
    for now in vertices:
        z = now[:, 2]
        low, over = float(z.min()), z[z > 0.0]
        above = float(over.min()) if len(over) else 0.0
        deep.append(-low if low < -_TOLERANCE_M else 0.0)
        high.append(above if above > _TOLERANCE_M else 0.0)
        if before is not None:
            slid.append(_mean_step(before, now, (before[:, 2] <= 0.0) & (z <= 0.0)))
        before = now
    on = (feet[:-1, :, 2] <= 0.0) & (feet[1:, :, 2] <= 0.0)
    skate = [_mean_step(a, b, both) for a, b, both in zip(feet[:-1], feet[1:], on, strict=True)]
    found = {"penetrate_mm": deep, "float_mm": high, "skate_mm": skate, "uhc_skate_mm": slid}
    out = {name: 1000.0 * float(np.mean(values)) if values else 0.0 for name, values in found.items()}
    return out | {"phys_err_mm": out["penetrate_mm"] + out["float_mm"] + out["skate_mm"]}


def _mean_step(a: Array, b: Array, counts: NDArray[np.bool_]) -> float:
    """Mean horizontal distance, metres, between the points (N, 3) of two frames that count (N,); 0 without any."""
    return float(np.linalg.norm(b[counts, :2] - a[counts, :2], axis=-1).mean()) if counts.any() else 0.0


def mbench(joints: Array, feet: Array) -> dict[str, float]:
    """Compute MBench's ground penetration, foot sliding and jitter, metres and metres a frame.

    `joints` (T, J, 3) and `feet` (T, 2, 3).
    """
    depth = -feet[..., 2]
    deep = depth[depth > _MBENCH_DEPTH_M]
    step = np.linalg.norm(np.diff(feet[..., :2], axis=0), axis=-1)
    contact = (step < _MBENCH_STEP_M) | (feet[:-1, :, 2] < _MBENCH_HEIGHT_M)
    second = np.linalg.norm(np.diff(joints, n=2, axis=0), axis=-1)
    return {
        "ground_penetration_m": float(deep.mean()) if len(deep) else 0.0,
        "foot_sliding_m_per_frame": float(step[contact].mean()) if contact.any() else 0.0,
        "jitter_m_per_frame2": float(second.mean()) if second.size else 0.0,
    }


def kimodo(toes: Array, fps: float) -> dict[str, float]:
    """Compute Kimodo's mean speed of toes (T, 2, 3) near the floor, m/s, and its skate ratio."""
    speed = np.linalg.norm(np.diff(toes, axis=0), axis=-1) * fps
    low = toes[..., 2] < _CONTACT_M
    near, on = low[:-1], low[:-1] & low[1:]
    return {
        "toe_speed_m_s": float(speed[near].mean()) if near.any() else 0.0,
        "skate_ratio": float(np.mean(speed[on] > _KIMODO_M_S)) if on.any() else 0.0,
    }


def gmd_skating_ratio(feet: Array, fps: float = HUMANML_FPS) -> float:
    """Compute GMD's skating ratio of feet (T, 2, 3): the share of frames in which either foot slides."""
    if len(feet) < 2:
        return 0.0
    speed = np.linalg.norm(np.diff(feet[..., :2], axis=0), axis=-1) * fps
    mean = scipy.ndimage.uniform_filter1d(speed, _GMD_FRAMES, axis=0, mode="constant")
    on = (feet[:-1, :, 2] < _CONTACT_M) & (feet[1:, :, 2] < _CONTACT_M)
    return float(np.mean((on & (speed > _GMD_M_S) & (mean > _GMD_M_S)).any(axis=1)))


def posa(inside: NDArray[np.bool_]) -> dict[str, float]:
    """Compute PROX's and POSA's non-collision and contact scores, the means over frames.

    `inside` (T, V) marks the vertices of the body in the scene. A body that touches nothing from within has contact 0.
    """
    return {"non_collision": float(1.0 - inside.mean()), "contact": float(inside.any(axis=1).mean())}


def omniretarget(distance: Array, held: Array, toes: Array, stance: NDArray[np.bool_], fps: float) -> dict[str, Any]:
    """Compute OmniRetarget's share of frames with penetration, its largest depth, contact kept, and toe sliding.

    `distance` (N,) metres to the scene by frame, negative inside; `held` (M,) metres from hands to what they hold,
    empty where nothing is held; `toes` (T, 2, 3) and whether they carry the body (T, 2).
    """
    speed = np.linalg.norm(np.diff(toes[..., :2], axis=0), axis=-1) * fps
    on = stance[:-1] & stance[1:]
    return {
        "penetrating_share": float(np.mean(distance < -_OMNI_DEPTH_M)),
        "largest_depth_m": max(-float(distance.min()), 0.0),
        "contact_kept_share": float(np.mean(held <= _OMNI_KEPT_M)) if len(held) else None,
        "toe_sliding_share": float(np.mean(speed[on] > _OMNI_SLIDES_M_S)) if on.any() else 0.0,
    }


def published_of(world: World, name: str) -> dict[str, Any] | None:
    """Compute all published measures of a character of a world; None for a body without feet.

    Heights count from the floor of the world, else from 0. PhysDiff, MBench and GMD are measured at 20 frames a second,
    Kimodo and OmniRetarget at 30.
    """
    subject = subject_of(name, world.characters[name])
    if subject is None or subject.contacts is None:
        return None
    up = np.array([0.0, 0.0, 0.0 if world.floor is None else world.floor])
    slow, fast = (Subject(name, resample(subject.clip, fps)) for fps in (HUMANML_FPS, KIMODO_FPS))
    body = subject.character
    feet, toes = (_balls(who) - up for who in (slow, fast))
    fine = ("_eye", *(f"{finger}{k}" for finger in FINGERS for k in (1, 2, 3)))
    joints = slow.T[:, :, :3, 3][:, sorted({j for role, j in body.roles.items() if not role.endswith(fine)})] - up
    outer = physdiff((_surface(body, T) - up for T in slow.T), feet)
    stance = np.stack([fast.contacts.foot(side) for side in SIDES], axis=1) if fast.contacts else np.zeros((0, 2), bool)
    times = fast.times[:: max(1, -(-len(fast.times) // _MOST))]
    T = fast.clip.world(times)
    scene = _SolidScene(world, name, times)
    deep = np.array([scene.depths(_surface(body, row), k) for k, row in enumerate(T)])
    omni = omniretarget(-deep.max(axis=1), scene.held(body, T), toes, stance, KIMODO_FPS)
    return {
        "physdiff": outer | {"fps": HUMANML_FPS},
        "mbench": mbench(joints, feet) | {"fps": HUMANML_FPS},
        "gmd": {"skating_ratio": gmd_skating_ratio(feet), "fps": HUMANML_FPS},
        "kimodo": kimodo(toes, KIMODO_FPS) | {"fps": KIMODO_FPS},
        "posa": posa(deep > 0.0),
        "omniretarget": omni | {"fps": KIMODO_FPS},
    }


def _balls(subject: Subject) -> Array:
    """Joints at the balls of both feet (T, 2, 3); of a rig without toes the ball of the sole."""
    T, out = subject.T, []
    for sole in feet_of(subject.character):
        out.append(T[:, sole.toes, :3, 3] if sole.toes >= 0 else apply(T[:, sole.foot], sole.ball[None])[:, 0])
    return np.stack(out, axis=1)


def _surface(body: Character, T: Array) -> Array:
    """Vertices (V, 3) of the skin for joints at T (J, 4, 4), of the collision shapes where there is no skin."""
    if body.skin is not None:
        return body.skin.posed(T)
    parts = [apply(T[shape.joint], shape_mesh(shape, segments=8).vertices) for shape in body.shapes]
    return np.concatenate(parts) if parts else T[:, :3, 3]


class _SolidScene:
    """Everything solid around a character at some times (N,): the floor, static meshes, and objects that it does not
    hold then."""

    def __init__(self, world: World, name: str, times: Array) -> None:
        self._floor = world.floor
        self._times = times
        self._holds = [h for h in world.holds if h.by == name]
        self._still = list(world.static.values())
        self._moving = {n: (places(thing.path, times), thing.mesh) for n, thing in world.things.items()}

    def depths(self, points: Array, k: int) -> Array:
        """Depths (V,) of points (V, 3) below the surfaces of solids at the k-th time, metres; 0 outside."""
        out = np.zeros(len(points)) if self._floor is None else np.maximum(self._floor - points[:, 2], 0.0)
        held = {h.object for h in self._holds if h.during[0] <= self._times[k] <= h.during[1]}
        forms = [(np.eye(4), mesh_form(mesh, "mesh", self._floor)) for mesh in self._still]
        forms += [(T[k], mesh_form(mesh, "mesh")) for n, (T, mesh) in self._moving.items() if n not in held]
        for T, form in forms:
            if form is None or form.solid is None:
                continue
            own = apply(inverse(T), points)
            near = np.flatnonzero(((own >= form.bounds[0]) & (own <= form.bounds[1])).all(axis=1))
            if len(near):
                out[near] = np.maximum(out[near], form.solid.depth(own[near]))
        return out

    def held(self, body: Character, T: Array) -> Array:
        """Distances (M,) from hands to the objects that they hold, metres, at the times of holds; T (N, J, 4, 4)."""
        out = []
        for hold in self._holds:
            role = f"{hold.hand}_hand"
            if role not in body.roles or hold.object not in self._moving:
                continue
            at, mesh = self._moving[hold.object]
            tree = tree_of(mesh.vertices[mesh.faces])
            mine = [s for s in body.shapes if s.joint in body.subtree(body.roles[role])]
            for k in np.flatnonzero((self._times >= hold.during[0]) & (self._times <= hold.during[1])):
                corners = [apply(inverse(at[k]) @ T[k, s.joint], shape_mesh(s, segments=8).vertices) for s in mine]
                if corners:
                    out.append(float(distances(tree, np.concatenate(corners)).min()))
        return np.array(out)
