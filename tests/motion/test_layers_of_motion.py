"""Layers over a base motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motion_makers import odd_rig, person, standing, wild

from elbowroom.errors import BadValue
from elbowroom.geometry import rotations as rot
from elbowroom.motion.layers import Layer, composed, held, to_clip

BASE = standing(person(), frames=61, fps=60.0)
OVER = wild(person(), frames=61, fps=60.0)
ARM = tuple(person().skeleton.subtree(person().role("right_upper_arm")))


def layer(first: int = 15, last: int = 45, **how: object) -> Layer:
    """Frames of the right arm."""
    frames = OVER.rotations[first : last + 1][:, ARM]
    return replace(Layer(ARM, 60.0, float(BASE.times[first]), frames), **how)  # type: ignore[arg-type]


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max())


def test_a_layer_replaces_its_joints_in_its_frames_only() -> None:
    made = composed(BASE, [layer()])
    others = [j for j in range(len(person().skeleton)) if j not in ARM]
    np.testing.assert_array_equal(made.rotations[:, others], BASE.rotations[:, others])
    np.testing.assert_array_equal(made.root, BASE.root)
    inside, signs = made.rotations[15:46][:, ARM], rot.continuous(OVER.rotations)[15:46][:, ARM]
    assert (np.abs(np.sum(inside * signs, axis=-1)) > 1.0 - 1e-15).all()
    np.testing.assert_array_equal(np.abs(inside), np.abs(signs))
    assert layer().during == (pytest.approx(0.25), pytest.approx(0.75))


def test_weights_are_shares_of_the_turn_and_fade_to_those_of_their_neighbours() -> None:
    j = ARM[0]
    whole = rot.angle_between(BASE.rotations[30, j], OVER.rotations[30, j])
    half = composed(BASE, [layer(weight=0.5)])
    assert rot.angle_between(BASE.rotations[30, j], half.rotations[30, j]) == pytest.approx(0.5 * whole, rel=1e-6)
    weights = layer(weight=0.5, ends=(1.0, 0.5)).weights
    assert weights[0] == 1.0 and weights[-1] == 0.5 and np.allclose(weights[16:], 0.5)
    assert (np.diff(weights[:15]) < 0.0).all()
    np.testing.assert_array_equal(composed(BASE, [layer(weight=0.0)]).rotations, BASE.rotations)


def test_the_last_layer_is_on_top_and_the_root_can_be_layered() -> None:
    low = layer(rotations=wild(person(), frames=61, fps=60.0, seed=9).rotations[15:46][:, ARM])
    top = layer(root=OVER.root[15:46])
    made = composed(BASE, [low, top])
    np.testing.assert_array_equal(made.rotations, composed(BASE, [top]).rotations)
    np.testing.assert_array_equal(made.root[15:46], OVER.root[15:46])
    np.testing.assert_array_equal(made.root[:15], BASE.root[:15])
    half = composed(BASE, [replace(top, weight=0.5)])
    assert apart(half.root[15:46], 0.5 * (BASE.root[15:46] + OVER.root[15:46])) < 1e-12


def test_what_lasts_longer_holds_its_last_frame() -> None:
    longer = held(BASE, 80)
    assert len(longer) == 80 and (longer.rotations[61:] == BASE.rotations[-1]).all()
    inside, to_the_end = layer(), layer(31, 60)
    assert len(inside.held(BASE, 80)) == len(inside)
    assert (
        len(to_the_end.held(BASE, 80)) == 49
        and (to_the_end.held(BASE, 80).rotations[30:] == to_the_end.rotations[-1]).all()
    )
    assert len(to_the_end.held(BASE, 40)) == 9 and len(held(BASE, 40)) == 40


def test_to_clip_keeps_frames_rate_and_source() -> None:
    clip = to_clip(OVER)
    assert clip.fps == OVER.fps and len(clip) == len(OVER)
    np.testing.assert_allclose(clip.rotations, OVER.rotations, atol=1e-12)
    assert len(to_clip(OVER, 30.0)) == 31
    led = wild(odd_rig(), frames=30, lead=1)
    assert to_clip(led).source.lead == 1 and to_clip(led, 60.0).source.lead == 2
    with pytest.raises(BadValue):
        to_clip(OVER, 0.0)


def test_layers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(BadValue, match="weight"):
        layer(weight=1.5)
    with pytest.raises(BadValue, match="weight"):
        layer(ends=(0.0, -0.1))
    with pytest.raises(BadValue, match="needs rotations"):
        layer(joints=(1, 2))
    with pytest.raises(BadValue, match="does not have"):
        composed(BASE, [Layer((999,), 60.0, 0.0, np.tile(rot.IDENTITY, (3, 1, 1)))])
    for wrong in (layer(fps=30.0), layer(start=0.258), layer(start=0.9), layer(start=-0.1)):
        with pytest.raises(BadValue, match="frames of its base"):
            composed(BASE, [wrong])
