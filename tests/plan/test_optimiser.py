"""The optimiser: balls that cover bodies, rows where something is fast, slopes of its terms, and its answers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from elbowroom.character.human import human, preset
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.cover import few_balls
from elbowroom.geometry.shapes import hull_of
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import apply
from elbowroom.kernels import windows as kernels
from elbowroom.locomotion.walk import run, walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts
from elbowroom.plan.optimise import seeds
from elbowroom.plan.optimise.exact import frames_of
from elbowroom.plan.optimise.solve import WindowSeed, optimise
from elbowroom.plan.optimise.window import ROW_S, Window
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World


@cache
def stroll() -> Clip:
    return walk(human(), 1.2, 0.0, 3.0, 60.0)


def past_a_rail(near: float = 0.04) -> World:
    """The right hand of a stroll swings into the end of a rail."""
    clip = stroll()
    hand = clip.positions([1.5])[0, clip.character.role("right_hand")]
    rail = box((0.3, 0.08, 0.06), (hand[0] - 0.19 + near, hand[1], hand[2]))
    return World(floor=0.0).with_character("ann", clip).with_static("rail", rail)


def window_of(world: World, part: str = "ann.right_hand", during: tuple[float, float] = (1.4, 1.6)) -> Window:
    clip = world.motion("ann")
    assert isinstance(clip, Clip)
    contacts, body = foot_contacts(clip), clip.character
    pinned = {body.role(f"{side}_foot"): contacts.foot(side) for side in ("left", "right")}
    first, last = (int(np.searchsorted(clip.times, t)) for t in (during[0] - 0.6, during[1] + 0.6))
    return Window(world, "ann", clip, first, last, {part: [during]}, pinned, 0.005)


def arm_seed(window: Window) -> WindowSeed:
    joints = window.clip.character.chain("right_arm").joints
    return WindowSeed("right_arm", tuple(j for j in joints if j in window.whole), False)


@pytest.mark.parametrize("name", ["woman", "gorilla"])
def test_few_balls_cover_a_segment_but_for_a_centimetre(name: str) -> None:
    for shape in preset(name).shapes:
        if shape.mesh is None:
            continue
        balls = few_balls(shape, 24)
        corners = apply(shape.T_joint_shape, hull_of(shape.mesh).vertices)
        short = (np.linalg.norm(corners[:, None] - balls[:, :3], axis=2) - balls[:, 3]).min(axis=1)
        assert len(balls) <= 24 and short.max() < 0.0101, shape.name


def test_rows_are_closer_where_something_is_fast() -> None:
    slow = window_of(past_a_rail())
    assert np.diff(slow.times).max() < 1.01 * ROW_S
    clip = run(human(), 3.5, 0.0, 3.0, 120.0)
    foot = clip.positions([1.5])[0, clip.character.role("right_foot")]
    world = World(floor=0.0).with_character("ann", clip).with_static("post", box((0.06, 0.06, 0.6), foot))
    fast = window_of(world, "ann.right_shin")
    amid = (fast.times > 1.4) & (fast.times < 1.6)
    assert np.diff(fast.times[amid]).max() < 0.4 * ROW_S
    assert np.diff(fast.times[~amid]).min() > 0.9 / 120.0


def test_slopes_of_terms_agree_with_their_costs() -> None:
    """What the terms ask of the variables is half the slope of their cost, with the sign turned.

    Ways out of obstacles have length one, and blended distances are shallower than that inside of thin things.
    """
    window = window_of(past_a_rail())
    seed, pins = arm_seed(window), window.pins()
    joints, n = seed.joints, 3 * len(seed.joints)
    body, rig = window.clip.character, window.rig(joints, False)

    def at(v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs (F,) and b (F, n) of rotations by v (F, n)."""
        q = np.array(window.clip.rotations[window.rows])
        q[:, list(joints)] = rot.multiply(rot.exp(v.reshape(len(v), -1, 3)), q[:, list(joints)])
        T = body.transforms(window.clip.root[window.rows], q)
        parents = [int(body.parents[j]) for j in joints]
        axes = np.ascontiguousarray(np.stack([T[:, p, :3, :3] for p in parents], axis=1))
        A, b = np.zeros((len(v), n, n)), np.zeros((len(v), n))
        costs, lack, com = np.zeros(len(v)), np.zeros(len(window.parts)), np.zeros((len(v), 2))
        grids = window.around.distance.grids
        kernels.terms(rig, window.scene, grids, pins, T, axes, 3000.0, 1500.0, 0.0, com, np.zeros(3), A, b, lack, costs)
        return costs, b

    still = np.zeros((len(window.rows), n))
    costs, b = at(still)
    assert costs.max() > 0.1
    step = 1e-5
    ends = [[at(still + sign * step * axis)[0] for sign in (1.0, -1.0)] for axis in np.eye(n)]
    slopes = np.stack([(one - other) / (2.0 * step) for one, other in ends], axis=1)
    asked = np.linalg.norm(b, axis=1)
    hit = asked > 0.1 * asked.max()
    along = -(slopes * b).sum(axis=1)[hit] / (np.linalg.norm(slopes, axis=1)[hit] * asked[hit])
    assert hit.sum() > 3 and along.min() > 0.98
    assert np.abs(0.5 * np.linalg.norm(slopes, axis=1)[hit] / asked[hit] - 1.0).max() < 0.4


def test_an_arm_alone_gets_out_of_the_way_and_nothing_else_moves() -> None:
    world = past_a_rail()
    window = window_of(world)
    answer = optimise(window, arm_seed(window))
    made = frames_of(window, answer)
    assert made is not None and answer.lack < 0.005
    new = window.spliced(made)
    moved = np.any(new.rotations != stroll().rotations, axis=(0, 2))
    assert set(np.flatnonzero(moved)) <= set(answer.seed.joints) and np.array_equal(new.root, stroll().root)
    exact = ExactWorld(world.with_character("ann", new))
    deepest = max((hit.depth or 0.0 for t in window.times for hit in exact.place(float(t)).collisions()), default=0.0)
    assert deepest < 0.005  # balls may fall short by some millimetres; proofs ask for more room then
    outside = np.delete(np.arange(len(new)), np.arange(window.first, window.last + 1))
    assert np.array_equal(new.rotations[outside], stroll().rotations[outside])


def test_a_window_with_nothing_to_clear_stays_as_it_is() -> None:
    world = World(floor=0.0).with_character("ann", stroll())
    window = replace(window_of(world), blame={})
    answer = optimise(window, seeds.unpushed(window))
    assert answer.lack == 0.0 and answer.cost < 1e-9


def test_a_whole_body_keeps_its_feet_where_they_stand() -> None:
    clip = stroll()
    head = clip.positions([1.5])[0, clip.character.role("head")]
    world = World(floor=0.0).with_character("ann", clip)
    world = world.with_static("bar", box((1.5, 0.06, 0.06), (0.0, head[1], head[2] + 0.14)))
    window = window_of(world, "ann.head")
    answer = optimise(window, seeds.unpushed(window))
    made = frames_of(window, answer)
    assert made is not None and answer.lack < 0.02
    new = window.spliced(made)
    contacts = foot_contacts(clip)
    for side in ("left", "right"):
        foot = clip.character.role(f"{side}_foot")
        away = np.linalg.norm((new.positions() - clip.positions())[:, foot], axis=-1)
        assert away[contacts.foot(side)].max() < 1e-3
    assert (clip.root - new.root)[:, 2].max() > 0.003  # the knees bend


def test_the_same_seed_gives_the_same_answer() -> None:
    one, other = (optimise(w, seeds.unpushed(w)) for w in (window_of(past_a_rail()), window_of(past_a_rail())))
    assert np.array_equal(one.x, other.x)
