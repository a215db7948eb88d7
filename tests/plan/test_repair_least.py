"""Repairs change a clip little: small turns of many joints, postures that people take, and no longer than need be."""

from __future__ import annotations

import numpy as np
from test_repair import frames_of, past_a_table, place_of, stroll

from elbowroom.character.human import preset
from elbowroom.character.range_of_motion import unusual
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.locomotion.standing import idle
from elbowroom.motion.clip import Clip
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.quality import rms_jerk
from elbowroom.motion.recorded import recorded_postures
from elbowroom.plan.checks.hands import shifted
from elbowroom.plan.repair.cost import JERK_GAIN, cost, unlike_recorded
from elbowroom.plan.repair.options import RepairOptions
from elbowroom.plan.repair.repair import repair
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.whole_body import WholeBody
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.world import World


def options() -> RepairOptions:
    """Options for the stroll, with short searches."""
    return RepairOptions({"ann": stroll()}, 1, CLOSE, Budget(checks=3000), False, 0.0)


def turned(roles: dict[str, float], begin: int = 40, end: int = 100) -> Clip:
    """The stroll with joints turned about their x axes, by radians, smoothly for a while."""
    clip = stroll()
    q = np.array(clip.rotations)
    share = np.zeros(len(clip))
    share[begin:end] = np.sin(np.linspace(0.0, np.pi, end - begin)) ** 2
    for role, angle in roles.items():
        j = clip.character.role(role)
        more = rot.multiply(q[:, j], rot.about((1.0, 0.0, 0.0), share * angle))
        q[:, j] = np.where(share[:, None] > 0.0, more, q[:, j])
    return clip.with_(rotations=q)


def test_nothing_costs_nothing_and_more_costs_more() -> None:
    clip = stroll()
    assert cost(clip, clip) == 0.0
    little, much = (cost(clip, turned({"left_forearm": angle})) for angle in (0.1, 0.4))
    assert 0.0 < little < much
    assert cost(clip, turned({"left_forearm": 0.4}, 20, 140)) > much


def test_many_joints_that_turn_a_little_cost_less_than_one_that_turns_much() -> None:
    shared = dict.fromkeys(("spine1", "spine2", "chest", "neck"), 0.2)
    assert cost(stroll(), turned(shared)) < cost(stroll(), turned({"neck": 0.8}))


def test_postures_that_nobody_takes_cost_more() -> None:
    clip = stroll()
    body = clip.character
    neck = body.role("neck")
    limit = body.limits[neck]
    assert limit is not None
    bent = limit.rotation(np.radians([[20.0, 0.0, 0.0], [44.0, 0.0, 0.0]]))[:, None]
    usual, strange = unusual(body, [neck], bent)[:, 0]
    assert usual == 0.0 and np.isclose(strange, np.radians(13.0))
    left, right = (body.role(f"{side}_upper_arm") for side in ("left", "right"))
    for arm, sign in ((left, 1.0), (right, -1.0)):
        own = body.limits[arm]
        assert own is not None
        q = own.rotation(np.radians([[30.0, sign * 70.0, 0.0]]))[:, None]
        assert np.isclose(unusual(body, [arm], q)[0, 0], np.radians(19.0), atol=1e-6)


def test_a_repair_lasts_no_longer_than_need_be_and_is_as_smooth_as_the_clip() -> None:
    world = past_a_table()
    plan = repair(world, seed=1)
    assert plan.found
    old, new = stroll(), frames_of(plan)
    hit = sum(c.during[1] - c.during[0] for c in plan.collisions)
    changed = np.any(old.rotations != new.rotations, axis=(1, 2))
    assert changed.sum() / old.fps < hit + 0.85
    assert max(p.during[1] - p.during[0] for p in plan.edits) <= changed.sum() / old.fps + 2.5 / old.fps
    j = int(np.argmax(rot.angle_between(old.rotations, new.rotations).sum(axis=0)))
    assert rms_jerk(new.rotations[:, j], new.fps) <= 1.02 * JERK_GAIN * rms_jerk(old.rotations[:, j], old.fps)


def test_a_body_that_bends_as_recorded_people_do_costs_less_than_one_that_does_not() -> None:
    clip = idle(preset("woman"), seconds=0.2, fps=30.0)
    body, pose = clip.character, clip(0.0)
    T = body.skeleton.at(pose)
    targets = {role: T[body.role(role)] for role in ("left_foot", "right_foot", "left_hand", "right_hand")}
    for hand in ("left_hand", "right_hand"):
        targets[hand] = shifted(targets[hand], (0.0, -0.25, -0.35))
    prior = recorded_postures().for_character(body).posture(constraints_of(body, targets))
    solver = WholeBody(body)
    guided, plain = (
        body.skeleton.at(solver.solve(pose, targets, *wish).pose)
        for wish in ((prior.markers, 0.5 * prior.weights), (None, None))
    )
    like, unlike = (float(unlike_recorded(body, T[None], there[None])[0]) for there in (guided, plain))
    assert 0.0 < like < 0.5 * unlike
    assert np.array_equal(unlike_recorded(body, T[None], T[None]), [0.0])


def between_posts() -> World:
    """Boards beside both shoulders of the stroll, 3 cm into the upper arms."""
    shoulder = place_of("left_upper_arm", 1.5)
    middle = place_of("pelvis", 1.5)[0]
    world = World(floor=0.0).with_character("ann", stroll())
    for name, sign in (("left post", 1.0), ("right post", -1.0)):
        at = (middle + sign * 0.35, shoulder[1], shoulder[2] - 0.05)
        world = world.with_static(name, box((0.3, 0.1, 0.3), at))
    return world


def test_a_straight_knee_bends_forwards_when_its_body_goes_down() -> None:
    clip = stroll()
    q = np.array(clip.rotations)
    shin = clip.character.role("left_shin")
    limit = clip.character.limits[shin]
    assert limit is not None
    q[:, shin] = limit.rotation(np.full((len(q), 3), (-1e-5, 0.0, 0.0)))
    ik = LimbIK(clip.character, "left_leg")
    T = clip.with_(rotations=q).world()
    leg = q[:, list(ik.joints)]
    orbit, keep = ik.describe_for(T[:, ik.parent], T[:, ik.joints[2]], leg)
    lower = np.array(T[:, ik.parent])
    lower[:, 2, 3] -= 0.05
    bent = ik.solve(lower, T[:, ik.joints[2]], orbit, keep)
    assert (limit.coordinates(bent.rotations[:, 1])[:, 0] > 0.1).all()
    backwards = ik.describe(T[:, ik.parent], leg)[1].backwards
    assert np.any(backwards)  # it would be bent backwards otherwise
