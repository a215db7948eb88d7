"""What the timeline shows: a scale of seconds, bars in their places, and a hand at the time."""

from __future__ import annotations

from elbowroom.studio.page_timeline import TimelineBar, drawn, hand, lanes, ticks


def test_a_scale_has_whole_steps_and_room_for_what_is_written() -> None:
    assert ticks((0.0, 4.0)) == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]
    assert ticks((0.0, 19.04))[:3] == [0.0, 2.0, 4.0] and ticks((0.0, 19.04))[-1] == 18.0
    assert ticks((1.25, 2.1)) == [1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1]
    for length in (0.03, 1.0, 7.0, 90.0, 4000.0):
        assert 1 <= len(ticks((0.0, length))) <= 13


def test_bars_and_the_hand_share_one_scale() -> None:
    bars = [
        TimelineBar("ann", "right_arm", "before", (1.0, 2.0), "ann & post"),
        TimelineBar("ann", "right_arm", "planned", (0.5, 3.0)),
    ]
    html = drawn(bars, (0.0, 4.0), dark=False)
    assert "left:25.00%;width:25.00%" in html and "left:12.50%;width:62.50%" in html
    assert "ann &amp; post, 1.00 s to 2.00 s" in html and "collided before" in html and "collides now" not in html
    assert lanes(bars) == 1 and "*0.2500)" in hand(1.0, (0.0, 4.0), 1)


def test_nothing_is_told_as_nothing() -> None:
    assert "no collisions" in drawn([], (0.0, 1.0), dark=True)
    assert "not planned yet" in drawn([], (0.0, 1.0), dark=True, nothing="not planned yet")


def test_a_narrow_panel_has_fewer_labels_and_bars_change_none() -> None:
    one = TimelineBar("ann", "right_arm", "planned", (1.0, 2.0))
    for panel, labels in ((1200, 9), (600, 5), (280, 1)):
        assert drawn([one], (0.0, 4.0), dark=False, panel=panel).count(" s</span>") == labels
        assert len(ticks((0.0, 4.0), panel)) == labels
