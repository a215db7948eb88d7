"""Ranges of spines within which trunks do not fold into themselves."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.body import Character
from elbowroom.posing.trunk_bend import unfolding
from elbowroom.posing.whole_body_model import SPINE
from elbowroom.world.certificate import certify
from elbowroom.world.world import World


def bent(body: Character, limits: Character) -> World:
    """A person whose spine is bent forwards as far as the ranges of `limits` go."""
    clip = er.idle(body, seconds=0.2, fps=30.0)
    q = np.array(clip.rotations)
    for role in SPINE:
        limit = limits.limits[body.role(role)]
        assert limit is not None
        q[:, body.role(role)] = limit.rotation(limit.clamp_coordinates([np.pi, 0.0, 0.0]))
    return World().with_character("ann", clip.with_(rotations=q))


@pytest.mark.parametrize("who", ["woman", "gorilla"])
def test_a_trunk_bent_as_far_as_it_goes_does_not_meet_itself(who: str):
    body = er.preset(who)
    trunk = {f"ann.{part}" for part in ("pelvis", *SPINE)}
    narrow = unfolding(body)

    def meets(world: World) -> bool:
        return any(set(c.pair) <= trunk for c in certify(world).collisions)

    assert meets(bent(body, body)) and not meets(bent(body, narrow))
    assert unfolding(body) is narrow  # worked out once
    assert [a is b for a, b in zip(body.limits, narrow.limits, strict=True)].count(False) == len(SPINE)
