"""An object is set down on the way where no grip serves both its start and its goal; knees of planted legs give way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import UP
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.plan.checks.episodes import collision_episodes
from elbowroom.plan.checks.margins import TIGHT_M
from elbowroom.plan.repair.ladder import repaired
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.state.result import NoCommonGrip, PlanningFailure
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Move
from elbowroom.plan.verbs.move import move
from elbowroom.plan.walking.regrip import by_regripping
from elbowroom.plan.walking.stances import _free, _places
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import World

GOAL = (0.25, -0.6, 1.2505)


def room(table: float | None) -> World:
    """A woman, a crate on a low stool at her right, a high board at her left, and a table of a height between them."""
    world = World(floor=0.0).with_character("ann", er.idle(er.preset("woman"), seconds=1.0, fps=30.0))
    world = world.with_static("stool", box((0.4, 0.3, 0.3), (-0.25, -0.6, 0.15)))
    world = world.with_static("board", box((0.4, 0.3, 0.03), (0.25, -0.6, 1.135)))
    if table is not None:
        world = world.with_static("table", box((0.4, 0.35, table), (0.35, -0.45, 0.5 * table)))
    crate = Still(transform(np.array([-0.25, -0.6, 0.4005])))
    return world.with_object("crate", box((0.3, 0.2, 0.2)), crate, mass=2.0)


def regripped(world: World, why: PlanningFailure) -> list[Move]:
    """The moves that are carried out in place of one, as if each of them succeeded."""
    d = Director(world, Settings(), 30.0, 0)
    d.actor("ann")
    done: list[Move] = []
    by_regripping(d, Move(who="ann", object="crate", to=GOAL, feet="stay"), d.take, why, done.append)
    assert "set down on table on the way" in d.world.notes[-1]
    return done


def test_an_object_is_set_down_on_a_level_support_between_start_and_goal() -> None:
    via, last = regripped(room(0.6), PlanningFailure("target-out-of-reach", "move crate: too far"))
    assert last.to == GOAL and via.feet == last.feet == "stay"
    assert via.to is not None and abs(via.to[2] - 0.7005) < 1e-3
    x, y = via.to[:2]
    assert abs(x - 0.35) <= 0.05 + 1e-9 and abs(y + 0.45) <= 0.075 + 1e-9, "all of it is on the table"


def test_both_halves_are_carried_out_and_proven() -> None:
    """The crate goes onto the table with one grip, and from there onto the board with another choice of grip."""
    d = Director(room(0.6), Settings(probes=0), 30.0, 0)
    task = Move(who="ann", object="crate", to=GOAL, feet="stay")
    d.actor("ann")
    by_regripping(d, task, d.take, PlanningFailure("no-path", "move crate: no path"), lambda leg: move(d, leg))
    at = np.array([d.world.frame("crate", t)[:3, 3] for t in np.arange(0.0, d.actor("ann").now + 0.1, 0.1)])
    assert np.allclose(at[-1], GOAL, atol=1e-6)
    during = [hold.during for hold in d.world.holds]
    assert len(set(during)) == 2 and len(during) == 4, "two hands, twice"
    (_, down), (again, _) = sorted(set(during))
    lies = d.world.frame("crate", 0.5 * (down + again))
    assert again > down and abs(lies[2, 3] - 0.7005) < 1e-3, "it lies on the table in between"
    assert certify(d.world, clearance=False).free


@pytest.mark.parametrize("table", [None, 0.35])
def test_without_such_a_support_the_reason_is_the_grip(table: float | None) -> None:
    why = PlanningFailure("target-out-of-reach", "move crate: too far")
    with pytest.raises(NoCommonGrip, match="no grip that holds it at its start reaches its goal"):
        regripped(room(table), why)
    other = PlanningFailure("too-heavy", "move crate: too heavy")
    with pytest.raises(PlanningFailure) as raised:
        regripped(room(table), other)
    assert raised.value is other, "another grip makes nothing lighter"


def test_places_where_the_feet_meet_the_support_are_left_out() -> None:
    d = Director(room(None), Settings(), 30.0, 0)
    actor = d.actor("ann")
    task = Move(who="ann", object="crate", to=GOAL)
    ends = [np.asarray(d.world.frame("crate", 0.0)), transform(np.array(GOAL))]
    every = _places(d, actor, task, ends, [T[:3, 3] for T in ends])
    free = _free(d, actor, every)
    assert 0 < len(free) < len(every)


def test_the_knee_of_a_planted_leg_gives_way() -> None:
    """She bends her knees, one of them into a ball beside it: the knee moves aside, the foot does not."""
    body = er.preset("woman")
    still = er.idle(body, seconds=3.0, fps=30.0)
    root, q = np.array(still.root), np.array(still.rotations)
    legs = [LimbIK(body, f"{side}_leg") for side in ("left", "right")]
    for k, share in enumerate(np.sin(np.linspace(0.0, np.pi, len(q))) ** 2):
        was = Pose.of(still.root[k], still.rotations[k])
        low = Pose.of(was.root - 0.15 * share * UP, was.rotations)
        for leg in legs:
            T_foot = body.skeleton.at(was)[leg.joints[2]]
            solved = leg.solve(leg.T_world_parent(low), T_foot, leg.orbit_of(was), leg.keep_of(was))
            q[k, list(leg.joints)] = solved.rotations
        root[k] = low.root
    clip = still.with_(root=root, rotations=q)
    knee = clip.world()[len(q) // 2, legs[0].joints[1], :3, 3]
    ball = sphere(0.03).moved(transform(knee + [0.06, -0.02, -0.02]))
    world = World(floor=0.0).with_character("ann", clip).with_static("ball", ball)
    found = certify(world, clearance=False, contacts="never").collisions
    (episode,) = collision_episodes(ExactWorld(world), "ann", found)
    assert episode.limb == "left_leg" and all("ball" in collision.pair for collision in found)
    options = RepairOptions({"ann": clip}, 0, CLOSE, Budget(checks=5_000), False, 0.0, planted=frozenset(["ann"]))
    done, why = repaired(world, [episode], replace(options, margin=TIGHT_M))
    assert done is not None, why
    new = done.world.motion("ann")
    assert isinstance(new, Clip) and certify(done.world, clearance=False, contacts="never").free
    moved = np.abs(new.world()[..., :3, 3] - clip.world()[..., :3, 3]).max(axis=(0, 2))
    assert moved[legs[0].joints[1]] > 0.002 and moved[legs[0].joints[2]] < 1e-6
