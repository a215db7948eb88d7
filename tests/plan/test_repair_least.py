"""Repairs change a clip little: small turns of many joints, postures that people take, and no longer than need be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_repair import frames_of, past_a_table, place_of, stroll

from elbowroom.character.human import preset
from elbowroom.character.masses import center_of_mass
from elbowroom.character.range_of_motion import unusual
from elbowroom.finish.nudge import Core
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.locomotion.standing import idle
from elbowroom.motion.clip import Clip
from elbowroom.motion.posture_constraints import constraints_of
from elbowroom.motion.quality import rms_jerk
from elbowroom.motion.recorded import recorded_postures
from elbowroom.plan.checks.episodes import clip_of, collision_episodes, in_gaps
from elbowroom.plan.checks.hands import shifted
from elbowroom.plan.repair import ladder
from elbowroom.plan.repair.cost import JERK_GAIN, LARGE, SMALL, cost, unlike_recorded
from elbowroom.plan.repair.detours import postures
from elbowroom.plan.repair.ladder import RepairResult, by_limbs
from elbowroom.plan.repair.options import Clocks, RepairOptions
from elbowroom.plan.repair.pelvis import PelvisOffset
from elbowroom.plan.repair.repair import repair
from elbowroom.posing.limb_ik import LimbIK
from elbowroom.posing.whole_body import WholeBody
from elbowroom.search.birrt import Budget
from elbowroom.spaces.styles import CLOSE
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
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


def test_who_ducks_bends_the_knees_and_who_turns_keeps_the_feet() -> None:
    head = place_of("head", 1.5)
    world = World(floor=0.0).with_character("ann", stroll())
    world = world.with_static("bar", box((1.5, 0.06, 0.06), (0.0, head[1], head[2] + 0.12)))
    episode = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)[0]
    assert episode.limb == "neck"
    found = list(postures(world, episode, options()))
    assert found and all(0.0 <= one.leaves < 1.0 for one in found)
    old = stroll()
    feet = [old.character.role(f"{side}_foot") for side in ("left", "right")]
    for one in found:
        new = one.world.motion("ann")
        assert isinstance(new, Clip)
        assert np.abs(new.positions()[:, feet] - old.positions()[:, feet]).max() < 1e-3
    assert {one.text.partition(" ")[0] for one in found} == {"ducked", "knees"}  # nobody gets under a bar by turning
    assert found[0].leaves == 0.0
    new = found[0].world.motion("ann")
    assert isinstance(new, Clip)
    k = int(np.argmax((old.root - new.root)[:, 2]))
    assert (old.root - new.root)[k, 2] > 0.02
    turned = rot.angle_between(old.rotations, new.rotations)[k]
    assert all(turned[old.character.role(role)] > 0.02 for role in ("left_shin", "right_shin", "spine1", "neck"))
    head = [rot.from_matrix(clip.world()[k, clip.character.role("head"), :3, :3]) for clip in (old, new)]
    spine = [old.character.role(role) for role in ("spine1", "spine2", "chest")]
    assert rot.angle_between(*head) < 0.5 * turned[spine].sum() + 0.02


def test_who_turns_the_shoulders_looks_ahead() -> None:
    clip = stroll()
    legs = [LimbIK(clip.character, f"{side}_leg") for side in ("left", "right")]
    moved = PelvisOffset(clip, clip, legs, Core(0.6, 1.1, 1.5, 2.0), False).by((0.0, 0.0, 0.0), turn=0.5)
    assert moved is not None
    k = round(1.3 * clip.fps)
    by = {}
    for role in ("pelvis", "chest", "head"):
        was, now = (c.world()[k, c.character.role(role), :3, :3] for c in (clip, moved.clip))
        by[role] = float(rot.log(rot.from_matrix(now @ was.T))[2])
    assert 0.1 < by["pelvis"] < 0.3 and abs(by["chest"] - 0.5) < 0.1 and abs(by["head"]) < 0.1


def test_who_leans_aside_keeps_the_feet_and_the_weight_over_them() -> None:
    clip = stroll()
    legs = [LimbIK(clip.character, f"{side}_leg") for side in ("left", "right")]
    sway = PelvisOffset(clip, clip, legs, Core(0.6, 1.1, 1.5, 2.0), False)
    left = np.cross((0.0, 0.0, 1.0), sway.ahead)
    world = World(floor=0.0).with_character("ann", clip)
    world = world.with_static("lamp", box((0.3, 0.3, 0.3), place_of("head", 1.5) + 0.25 * left + (0.0, 0.0, 0.09)))
    episode = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)[0]
    found = [one for one in postures(world, episode, options()) if "leaned" in one.text]
    assert found and found[0].leaves == 0.0
    new = clip_of(found[0].world, "ann")
    k = round(1.5 * clip.fps)
    by = (new.positions()[k] - clip.positions()[k]) @ left
    assert by[clip.character.role("head")] < -0.02 and abs(by[clip.character.role("left_foot")]) < 1e-3
    weight = [center_of_mass(clip.character, c.world()[k : k + 1])[0] for c in (clip, new)]
    assert abs((weight[1] - weight[0]) @ left) < 0.6 * abs(by[clip.character.role("head")])


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


@pytest.mark.parametrize(("angle", "searches"), [(0.3, False), (0.9, True)])
def test_the_body_gives_way_before_a_limb_is_searched(
    monkeypatch: pytest.MonkeyPatch, angle: float, searches: bool
) -> None:
    world = past_a_table()
    episode = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)[0]
    aside = RepairResult(world.with_character("ann", turned({"spine1": angle})), ())
    assert (cost(stroll(), clip_of(aside.world, "ann")) > LARGE) == searches
    asked: list[object] = []
    monkeypatch.setattr(ladder, "by_offset", lambda *_: None)
    monkeypatch.setattr(ladder, "by_search", lambda *some: asked.append(some))
    monkeypatch.setattr(ladder, "_each_body", lambda *_: iter([aside]))
    assert by_limbs(world, episode, options(), bodies=True)[0] is aside
    assert bool(asked) == searches


def between_posts() -> World:
    """Boards beside both shoulders of the stroll, 3 cm into the upper arms."""
    shoulder = place_of("left_upper_arm", 1.5)
    middle = place_of("pelvis", 1.5)[0]
    world = World(floor=0.0).with_character("ann", stroll())
    for name, sign in (("left post", 1.0), ("right post", -1.0)):
        at = (middle + sign * 0.35, shoulder[1], shoulder[2] - 0.05)
        world = world.with_static(name, box((0.3, 0.1, 0.3), at))
    return world


def test_hips_move_aside_where_a_shoulder_brushes_a_post() -> None:
    clip, post = stroll(), between_posts().static["left post"]
    world = World(floor=0.0).with_character("ann", clip).with_static("left post", post)
    found = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)
    episode = next(one for one in found if one.limb == "left_arm")
    (aside,) = [one for one in postures(world, episode, options()) if "aside" in one.text and one.leaves == 0.0]
    new = clip_of(aside.world, "ann")
    by = np.linalg.norm(new.positions() - clip.positions(), axis=-1)
    assert 0.02 < by[:, 0].max() <= 0.06 and by[:, clip.character.role("left_hand")].max() < 0.07
    assert by[:, [clip.character.role(f"{side}_foot") for side in ("left", "right")]].max() < 1e-3


@pytest.mark.parametrize("arms_can", [False, True])
def test_shoulders_turn_between_posts_unless_arms_change_less(monkeypatch: pytest.MonkeyPatch, arms_can: bool) -> None:
    world = between_posts()
    found = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)
    (gap,) = in_gaps(found)
    assert {episode.limb for episode in gap} == {"left_arm", "right_arm"}
    assert not in_gaps(gap[:1]) and not in_gaps([gap[0], replace(gap[1], during=(5.0, 5.1))])
    # arms that cost nothing, or that find no way
    arm = RepairResult(world, ()) if arms_can else None
    monkeypatch.setattr(ladder, "repair_episode", lambda *_: (arm, ""))
    done = ladder.repair_gap(world, gap, options())
    assert done is not None
    assert [edit.reason.startswith("shoulders turned") for edit in done.edits] == ([] if arms_can else [True])


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


def test_of_several_repairs_the_one_that_changes_least_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    world = past_a_table()
    episode = collision_episodes(ExactWorld(world), "ann", certify(world).collisions)[0]
    made = [turned({"left_forearm": angle}) for angle in (1.2, 0.9, 1.1)]
    results = [RepairResult(world.with_character("ann", clip), ()) for clip in made]
    monkeypatch.setattr(ladder, "_each_linkage", lambda *_: iter(results[:2]))
    monkeypatch.setattr(ladder, "_each_body", lambda *_: iter(results[2:]))
    assert min(cost(stroll(), clip) for clip in made) > SMALL
    done, _ = ladder.repair_episode(world, episode, options())
    assert done is results[1]
    hurried = replace(options(), clocks=Clocks(until=1e300))
    assert by_limbs(world, episode, hurried)[0] is results[0]
