"""A hand that takes something has room: open, while its fingers close, and beside what stands around."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import Array
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import apply, transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.postures import Postures
from elbowroom.plan.state.result import PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Put
from elbowroom.plan.verbs import grasp_choice
from elbowroom.plan.verbs.grasp_choice import ReachableGrasp, next_places
from elbowroom.plan.verbs.touch import spots_on, surface_of
from elbowroom.posing.fingers_model import hand_model
from elbowroom.posing.grasps import Grasp, closed_on, grasps_of
from elbowroom.world.paths import Still
from elbowroom.world.world import World

TOP_M, SIDE_M = 0.75, 0.055
T_CUBE = transform([-0.1, -0.45, TOP_M + 0.5 * SIDE_M + 0.0003])


@cache
def room(table: bool) -> World:
    """A woman before a cube, on a table or in the air."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=60.0))
    world = world.with_object("cube", box([SIDE_M] * 3), Still(T_CUBE))
    return (
        world.with_static("table", box([1.2, 0.6, 0.04]).moved(transform([0, -0.55, TOP_M - 0.02]))) if table else world
    )


@cache
def pose() -> Pose:
    clip = room(True).motion("ann")
    assert isinstance(clip, Clip)
    return Pose.of(clip.root[0], clip.rotations[0])


@cache
def looked(table: bool) -> tuple[Postures, list[Grasp]]:
    world = room(table)
    return Postures(world, "ann", 0.0, hand="right", taking="cube"), grasps_of(world, "ann", "right", "cube", 0.0)


def test_fingers_that_close_into_something_are_no_grasp() -> None:
    """A small ball is where the tip of a finger ends, and out of the way of the open hand."""
    world, grasp = room(False), looked(False)[1][0]
    model = hand_model(world.body("ann"), "right")
    shape = closed_on(world.body("ann"), world.objects["cube"].mesh, grasp).shape
    T_hand = T_CUBE @ grasp.T_thing_hand
    tip = apply(T_hand, model.tip(model.fingers[2], shape)[None])[0]
    postures = Postures(
        world.with_static("ball", sphere(0.002).moved(transform(tip))), "ann", 0.0, hand="right", taking="cube"
    )
    assert postures.hand_blame(pose(), T_hand, "right", grasp.open) is None
    pair = postures.grasp_blame(pose(), grasp, T_CUBE)
    assert pair is not None and "ball" in pair


def test_nothing_is_in_the_way_in_the_air() -> None:
    postures, grasps = looked(False)
    assert grasps and all(postures.grasp_blame(pose(), grasp, T_CUBE) is None for grasp in grasps)


def test_grasps_without_room_are_drawn_back_and_still_hold() -> None:
    postures, grasps = looked(True)
    body, mesh = room(True).body("ann"), room(True).objects["cube"].mesh
    found = []
    for grasp in grasps:
        if postures.grasp_blame(pose(), grasp, T_CUBE) is not None:
            moved = postures.with_room(pose(), grasp, T_CUBE)
            if moved is not None:
                found.append((grasp, moved))
    assert found
    for grasp, moved in found:
        back = grasp.T_thing_hand[:3, 3] - moved.T_thing_hand[:3, 3]
        assert back @ grasp.approach == pytest.approx(np.linalg.norm(back)) and 0.009 < np.linalg.norm(back) < 0.046
        assert moved.cost > grasp.cost and moved.name == grasp.name
        assert {"thumb"} < set(closed_on(body, mesh, moved).touching)
        assert postures.grasp_blame(pose(), moved, T_CUBE) is None


def test_a_touch_tries_spots_all_over_what_is_seen() -> None:
    d, eye = Director(room(True), Settings(), 60.0, 0), np.array([-0.2, 0.0, 1.35])
    mesh = surface_of(d, "cube", 0.0)[1]
    assert mesh is not None
    spots = spots_on(d, "cube", mesh, eye, 0.0)
    points = np.array([spot[:3, 3] for spot in spots])
    assert len(spots) > 5 and _least_apart(points) > 0.003
    local = np.abs(points - T_CUBE[:3, 3]).max(axis=1)
    assert np.allclose(local, 0.5 * SIDE_M), "they are on the surface"
    assert all(spot[:3, 0] @ (eye - spot[:3, 3]) > 0.0 for spot in spots)
    assert len({tuple(np.round(spot[:3, 0], 6)) for spot in spots}) > 1, "on several faces"
    assert len(spots_on(d, (0.0, -0.4, 1.0), None, eye, 0.0)) == 1


def _least_apart(points: Array) -> float:
    away = np.linalg.norm(points[:, None] - points, axis=2)
    return float(away[~np.eye(len(points), dtype=bool)].min())


@pytest.mark.parametrize("turn", [None, 0.0])
def test_a_grasp_may_lead_to_a_rotated_place_unless_a_rotation_is_asked_for(monkeypatch, turn: float | None) -> None:
    goal = (0.1, -0.45, TOP_M + 0.5 * SIDE_M + 0.0003)
    d = Director(room(True), Settings(), 60.0, 0)
    d.coming = [Put(who="ann", object="cube", to=goal, turn=turn)]
    actor = d.actor("ann")
    grasp = grasps_of(room(True), "ann", "right", "cube", 0.0)[0]
    still = actor.pose
    found = ReachableGrasp(
        "right", 0, grasp, T_CUBE @ grasp.T_thing_hand, still, still, still.rotations[:1], np.zeros(3)
    )
    seen: list[Array] = []

    def reach_grasp(d, actor, hand, grasp, place):
        seen.append(place.T_world_thing[:3, :3])
        assert np.allclose(place.postures.world.frame("cube", 0.0), place.T_world_thing)
        as_taken = np.allclose(place.T_world_thing[:3, :3], np.eye(3))
        return (1.0, PlanningFailure("no-path", "as taken")) if as_taken else found

    monkeypatch.setattr(grasp_choice, "reach_grasp", reach_grasp)
    then = next_places(d, actor, "right", "cube", T_CUBE, 0)
    led = grasp_choice._leading_on(d, actor, found, then)
    assert isinstance(led, ReachableGrasp) == (turn is None)
    assert len(seen) == (2 if turn is None else 1) and np.allclose(seen[0], np.eye(3))
