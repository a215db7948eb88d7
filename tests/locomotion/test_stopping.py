"""Steps from and to standing: the foot that is hardly carried is lifted before it goes, not dragged."""

from pathlib import Path

import pytest

from elbowroom.character.human import preset
from elbowroom.locomotion import swing
from elbowroom.locomotion.walk import walk, walk_along
from elbowroom.motion.clip import Clip
from elbowroom.motion.stance import foot_slide


def slow() -> Clip:
    """A stroll to a stop, whose last steps are short and slow."""
    return walk(preset("man"), speed=0.8, seconds=5.0, start=True, stop=True)


def bent() -> Clip:
    """A walk round a bend from standing to standing."""
    return walk_along(preset("man"), [[0.0, 0.0], [0.0, -2.0], [1.5, -3.0]], speed=1.2)


@pytest.mark.parametrize(("made", "most"), [(slow, 0.009), (bent, 0.0095)])
def test_the_last_steps_hardly_slide(
    made: object, most: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert callable(made)
    assert foot_slide(made()).max() < most
    monkeypatch.setattr(swing, "_HELD", 0.0)
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))  # walks that are kept were made by the package as it is
    assert foot_slide(made()).max() > 1.2 * most, "it is holding that does it"
