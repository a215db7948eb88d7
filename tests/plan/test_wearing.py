"""Hats: where they sit on heads, and which way they go on and off."""

import numpy as np
import pytest

from elbowroom.character.human import preset
from elbowroom.geometry.shapes import shape_mesh
from elbowroom.geometry.transforms import apply, inverse, transform
from elbowroom.locomotion.standing import idle
from elbowroom.plan.checks.places import CLEAR_ABOVE, worn_place
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.verbs.touch import surface_of
from elbowroom.props.wardrobe import hat
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.things import Thing
from elbowroom.world.world import Snapshot, World


@pytest.mark.parametrize("name", ["woman", "man"])
def test_a_hat_leaves_its_head_along_its_axis_without_touching_it(name: str) -> None:
    body = preset(name)
    head = next(s for s in body.shapes if s.name == "head")
    T_hat_joint = inverse(worn_place(body, "head", Thing(mesh=hat(), path=Still(np.eye(4))), "hat"))
    wearer = shape_mesh(head).moved(T_hat_joint)
    moving = Keyed.along([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    exact = ExactWorld(World(floor=None).with_static("wearer", wearer).with_object("hat", hat(), moving))

    def touches(*by: float) -> bool:
        return bool(exact.place_snapshot(Snapshot(0.0, {}, {"hat": transform(by)})).hit(0))

    assert not any(touches(0.0, 0.0, z) for z in np.linspace(0.0, CLEAR_ABOVE, 27))
    assert touches(0.0, 0.0, -0.004)  # it sits on the head, not above it
    ways = 0.1 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert all(touches(x, y, 0.0) for x, y in ways)
    assert not any(touches(s * x, s * y, CLEAR_ABOVE) for x, y in ways for s in np.linspace(0.1, 2.0, 10))


def test_the_surface_of_a_finger_lies_on_its_capsule() -> None:
    world = World(floor=0.0).with_character("ann", idle(preset("woman"), seconds=0.5))
    _, mesh = surface_of(Director(world, Settings(), 30.0, 0), "ann.left_index2", 0.0)
    body = world.body("ann")
    finger = next(s for s in body.shapes if s.name == "left_index2")
    assert mesh is not None
    in_joint = apply(inverse(world.at(0.0).joints["ann"][finger.joint]), mesh.vertices)
    assert np.abs(finger.signed_distance(in_joint)).max() < 1e-9
