"""Layers over a base motion."""

from __future__ import annotations

import numpy as np
import pytest
from motion_makers import odd_rig, person, standing, wild

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry import rotations as rot
from elbowroom.motion.clip import Motion
from elbowroom.motion.layers import Layer, Layered, to_clip

BASE = standing(person(), frames=61, fps=60.0)
OVER = wild(person(), frames=61, fps=60.0)
ARM = tuple(person().skeleton.subtree(person().role("right_upper_arm")))


def test_a_layer_replaces_its_joints_in_its_interval_only():
    layered = Layered(BASE, (Layer(ARM, OVER, (0.25, 0.75)),))
    assert isinstance(layered, Motion)
    root, q = layered.sample(BASE.times)
    inside = (BASE.times >= 0.25) & (BASE.times <= 0.75)
    others = [j for j in range(len(person().skeleton)) if j not in ARM]
    np.testing.assert_array_equal(q[:, others], BASE.rotations[:, others])
    np.testing.assert_array_equal(root, BASE.root)
    np.testing.assert_array_equal(q[np.ix_(inside, ARM)], OVER.rotations[np.ix_(inside, ARM)])
    np.testing.assert_array_equal(q[np.ix_(~inside, ARM)], BASE.rotations[np.ix_(~inside, ARM)])
    np.testing.assert_allclose(layered(0.5).rotations, q[30])


def test_weights_fade_in_and_out():
    layer = Layer(ARM, OVER, (0.0, 1.0), weight=0.8, fade_in=0.4, fade_out=0.2)
    w = layer.weights([0.0, 0.2, 0.4, 0.6, 0.9, 1.0, 1.1, -0.1])
    np.testing.assert_allclose(w, [0, 0.4, 0.8, 0.8, 0.4, 0, 0, 0], atol=1e-12)
    _, q = Layered(BASE, (layer,)).sample([0.2])
    j = ARM[0]
    whole = rot.angle_between(BASE.sample([0.2])[1][0, j], OVER.sample([0.2])[1][0, j])
    assert rot.angle_between(BASE.sample([0.2])[1][0, j], q[0, j]) == pytest.approx(0.4 * whole, rel=1e-6)


def test_the_last_layer_is_on_top_and_the_root_can_be_layered():
    low = Layer(ARM, wild(person(), frames=61, fps=60.0, seed=9), (0.0, 1.0))
    top = Layer(ARM, OVER, (0.0, 1.0), root=True)
    root, q = Layered(BASE).with_layer(low).with_layer(top).sample(BASE.times)
    np.testing.assert_array_equal(q[:, ARM], OVER.rotations[:, ARM])
    np.testing.assert_allclose(root, OVER.root, atol=1e-12)


def test_layers_by_the_name_of_a_limb():
    layer = Layer.of("right_arm", OVER)
    assert set(ARM) <= set(layer.joints) and layer.during == OVER.span
    with pytest.raises(UnknownName, match="right_arm"):
        Layer.of("rigt_arm", OVER)


def test_to_clip_keeps_frames_rate_and_source():
    layered = Layered(BASE, (Layer(ARM, OVER, (0.25, 0.75)),))
    clip = to_clip(layered)
    assert clip.fps == BASE.fps and len(clip) == len(BASE)
    np.testing.assert_allclose(clip.rotations, layered.sample(BASE.times)[1], atol=1e-12)
    assert len(to_clip(layered, 30.0)) == 31
    led = wild(odd_rig(), frames=30, lead=1)
    assert to_clip(Layered(led)).source.lead == 1 and to_clip(led, 60.0).source.lead == 2
    with pytest.raises(BadValue):
        to_clip(layered, 0.0)


def test_layers_that_make_no_sense_are_refused():
    with pytest.raises(BadValue, match="earlier"):
        Layer(ARM, OVER, (1.0, 0.0))
    with pytest.raises(BadValue, match="weight"):
        Layer(ARM, OVER, (0.0, 1.0), weight=1.5)
    with pytest.raises(BadValue, match="fades"):
        Layer(ARM, OVER, (0.0, 1.0), fade_in=-1.0)
    with pytest.raises(BadValue, match="does not have"):
        Layered(BASE, (Layer((999,), OVER, (0.0, 1.0)),))
