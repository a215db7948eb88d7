"""Styles: known by name, checked where they are made, the same for left and right, and for rigs with other names."""

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue, UnknownName
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.tasks import Repair
from elbowroom.spaces.styles import CLOSE, STYLES, Style, style_of
from elbowroom.storyboard.storyboard import parse_storyboard

PERSON = human(skin=False)


def within(style: Style, limb: str) -> np.ndarray | None:
    joints = PERSON.chain(limb).joints
    limits = [limit for j in joints if (limit := PERSON.limits[j]) is not None]
    return style.within(PERSON, joints, limits)


def test_parts_without_a_side_are_mirrored() -> None:
    style = Style({"upper_arm": {"swing_x": (0.2, 0.9), "swing_y": (-0.8, 0.3)}})
    left, right = within(style, "left_arm"), within(style, "right_arm")
    assert left is not None and right is not None
    np.testing.assert_allclose(left[0, :2], [(0.2, 0.9), (-0.8, 0.3)])
    np.testing.assert_allclose(right[0, :2], [(0.2, 0.9), (-0.3, 0.8)])
    assert np.isinf(right[1:]).all()
    assert within(style, "left_leg") is None
    alone = Style({"left_upper_arm": {"swing_x": (0.2, 0.9)}})
    assert within(alone, "right_arm") is None


def test_what_mirrored_terms_mean_is_mirrored() -> None:
    """Arms at the middle of a style's intervals are mirror images of each other."""
    style = Style({"upper_arm": {"swing_x": (0.4, 0.6), "swing_y": (-0.9, -0.7), "twist": (0.2, 0.4)}})
    hands = []
    for side in ("left", "right"):
        joints = PERSON.chain(f"{side}_arm").joints
        limit, box = PERSON.limits[joints[0]], within(style, f"{side}_arm")
        assert limit is not None and box is not None
        q = PERSON.skeleton.rest.copy()
        q[joints[0]] = limit.rotation(box[0].mean(axis=1))
        hands.append(PERSON.skeleton.forward(np.zeros(3), q)[joints[2]])
    np.testing.assert_allclose(hands[0][:3, 3] * (-1, 1, 1), hands[1][:3, 3], atol=1e-9)
    flip = np.diag([-1.0, 1.0, 1.0])
    np.testing.assert_allclose(flip @ hands[0][:3, :3] @ flip, hands[1][:3, :3], atol=1e-9)


@pytest.mark.parametrize(
    ("intervals", "error"),
    [
        ({"upperarm": {"swing_x": (0.0, 1.0)}}, "did you mean 'upper_arm'"),
        ({"upper_arm": {"swing": (0.0, 1.0)}}, "swing_x"),
        ({"upper_arm": {"swing_x": (1.0, 0.0)}}, "lower to a higher"),
        ({"upper_arm": {"swing_x": (np.nan, 1.0)}}, "lower to a higher"),
    ],
)
def test_bad_intervals(intervals: dict, error: str) -> None:
    with pytest.raises((BadValue, UnknownName), match=error):
        Style(intervals)


def test_names() -> None:
    assert style_of(None, CLOSE) is CLOSE
    assert style_of("low-arms", CLOSE) is STYLES["low-arms"]
    own = Style(flexion=0.2)
    assert style_of(own, CLOSE) is own
    for make in (lambda: style_of("low-arm", CLOSE), lambda: Settings(style="low-arm"),
                 lambda: Repair(who="ann", style="low-arm")):  # fmt: skip
        with pytest.raises(UnknownName, match=r"did you mean 'low-arms'\? available: close, natural"):
            make()


BOARD = """
elbowroom: 1
scene: {floor: 0.0}
characters:
  ann: {body: {preset: woman}, clip: {idle: {seconds: 1}}}
style: STYLE
tasks:
  - repair: {who: ann, style: {parts: {upper_arm: {swing_x: [50, 100]}}, elbow: 30, close: false}}
  - repair: {who: ann}
"""


def test_storyboards_name_and_make_styles() -> None:
    board = parse_storyboard(BOARD.replace("STYLE", "high-arms"))
    assert board.style == "high-arms"
    own, none = (task.style for task in board.tasks)
    assert none is None and isinstance(own, Style)
    np.testing.assert_allclose(own.intervals["upper_arm"]["swing_x"], np.radians([50, 100]))
    assert own.orbit == pytest.approx(np.radians(30)) and not own.close
    for wrong, told in (("high-arm", "line 6: style: unknown style 'high-arm': did you mean 'high-arms'"),
                        ("{parts: {arm: {swing_x: [0, 1]}}}", "line 6: style: unknown part"),
                        ("{wrist: 0}", "line 6: style.wrist")):  # fmt: skip
        with pytest.raises(Exception, match=told):
            parse_storyboard(BOARD.replace("STYLE", wrong))
