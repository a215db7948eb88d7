"""Several repairs of one clip: each free, and each somewhere else."""

from __future__ import annotations

import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.plan.variants import ALIKE_M, difference, repair_variants
from elbowroom.world.certificate import certify
from elbowroom.world.world import World

CLIP = walk(human(), 1.2, 0.0, 3.0, 60.0)


def past_a_bar() -> World:
    hand = CLIP.positions([1.5])[0, CLIP.character.role("right_hand")]
    bar = box((0.3, 0.08, 0.06), (hand[0] - 0.13, hand[1], hand[2]))
    return World(floor=0.0).with_character("ann", CLIP).with_static("bar", bar)


def test_variants_are_free_and_differ() -> None:
    said: list[tuple[int, int]] = []
    found = repair_variants(past_a_bar(), 2, seed=1, progress=lambda seed, kept: said.append((seed, kept)))
    assert len(found.kept) == 2 and said[0] == (1, 0)
    a, b = (v.plan.world for v in found.kept)
    assert certify(a).free and certify(b).free
    assert difference(a, b) > ALIKE_M
    assert found.kept[1].differs == pytest.approx(difference(a, b))


def test_free_clip_has_one_variant_and_silly_numbers_are_refused() -> None:
    free = World(floor=0.0).with_character("ann", CLIP)
    assert len(repair_variants(free, 3).kept) == 1
    with pytest.raises(BadValue, match="variants"):
        repair_variants(free, 0)
