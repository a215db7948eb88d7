"""Whether a repair keeps a person upright: how far it moves the centre of mass (S11)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from elbowroom.character.body import Character
from elbowroom.geometry.rotations import Array
from elbowroom.motion.clip import Clip
from elbowroom.world.world import World

# Shifts of the centre of mass below this, metres, are within what people do without a thought.
_NOTED = 0.03


def balance(before: World, after: World, who: Iterable[str]) -> tuple[str, ...]:
    """Sentences on people whose centre of mass a change moves sideways by more than a little."""
    told = []
    for name in dict.fromkeys(who):
        old, new = before.motion(name), after.motion(name)
        if not (isinstance(old, Clip) and isinstance(new, Clip)) or new.character.masses is None:
            continue
        shift = np.linalg.norm((center_of_mass(new) - center_of_mass(old))[:, :2], axis=1)
        k = int(np.argmax(shift))
        if shift[k] > _NOTED:
            told.append(
                f"balance of {name}: the repair moves the centre of mass by up to {100 * shift[k]:.1f} cm "
                f"(at {new.times[k]:.2f} s)."
            )
    return tuple(told)


def center_of_mass(clip: Clip) -> Array:
    """Centre of mass at each frame, (T, 3)."""
    body: Character = clip.character
    masses = body.masses
    assert masses is not None
    T = clip.world()
    centers = np.einsum("tjik,jk->tji", T[..., :3, :3], masses.center) + T[..., :3, 3]
    return np.einsum("tji,j->ti", centers, masses.mass) / masses.total
