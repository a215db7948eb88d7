"""Characters and postures that the limb tests share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from conftest import DATA
from elbowroom.character.body import Character
from elbowroom.character.human import human, preset
from elbowroom.files.asf_amc import read_amc
from elbowroom.files.glb_read import read_glb
from elbowroom.geometry.rotations import Array, angle_between, from_matrix, normalize
from elbowroom.posing.limb_ik import LimbIK

BUILT_IN = ("person", "clown", "gorilla", "child")
FROM_FILES = ("cmu", "rocketbox")
LIMBS = ("left_arm", "right_arm", "left_leg", "right_leg")


@lru_cache
def character(name: str) -> Character:
    """A character by a short name; those from files need the `data` fixture."""
    if name == "person":
        return human(skin=False)
    if name == "cmu":
        return read_amc(DATA / "mocap/cmu_asf_amc/02/02_01.amc").character
    if name == "rocketbox":
        return next(iter(read_glb(DATA / "characters/rocketbox_male_adult_01.glb").characters.values()))
    return preset(name, skin=False)


def postures(c: Character, ik: LimbIK, n: int, seed: int = 0) -> tuple[Array, Array]:
    """Roots (n, 3) and rotations (n, J, 4): the limb anywhere within its ranges, the body anywhere and any way up."""
    rng = np.random.default_rng(seed)
    rotations = np.tile(c.skeleton.rest, (n, 1, 1))
    for j in ik.joints:
        limit = c.limits[j]
        assert limit is not None
        rotations[:, j] = limit.sample(rng, n)
    rotations[:, 0] = normalize(rng.normal(size=(n, 4)))
    return rng.normal(size=(n, 3)), rotations


def errors(c: Character, ik: LimbIK, root: Array, rotations: Array, solved: Array, T_end: Array) -> tuple[float, float]:
    """Largest distance (m) and angle (rad) from targets (n, 4, 4), by forward kinematics of the whole body."""
    moved = np.array(rotations)
    moved[:, list(ik.joints)] = solved
    T = c.skeleton.forward(root, moved)[:, ik.joints[2]]
    apart = np.linalg.norm(T[:, :3, 3] - T_end[:, :3, 3], axis=-1)
    turned = angle_between(from_matrix(T[:, :3, :3]), from_matrix(T_end[:, :3, :3]))
    return float(apart.max()), float(turned.max())
