"""Several motions for one storyboard are clearly different ones."""

from __future__ import annotations

from itertools import combinations

import pytest

from elbowroom.errors import BadValue
from elbowroom.gallery.scenes import scenario
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.variants import ALIKE_M, difference
from elbowroom.storyboard.plan import plan_variants


def test_a_button_in_the_open_is_pressed_in_three_ways() -> None:
    """The straight way is free, and a search finds it again and again: other fingers' slants have to do."""
    found = plan_variants(scenario("switch").board(), 3)
    assert len(found.kept) == 3, (found.alike, found.failed)
    worlds = [variant.plan.world for variant in found.kept]
    assert min(difference(a, b) for a, b in combinations(worlds, 2)) > ALIKE_M
    assert all(v.plan.certificate is not None and v.plan.certificate.free for v in found.kept)


def test_variety_is_a_count() -> None:
    with pytest.raises(BadValue, match="variety"):
        Settings(variety=-1)
