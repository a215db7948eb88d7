"""Certificates against motions whose collisions can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elbowroom.errors import BadValue
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.kernels import sweep
from elbowroom.motion.clip import Clip, Source
from elbowroom.plan.repair.repair import repair
from elbowroom.world import certificate_proof
from elbowroom.world.allowances import supports
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.paths import Still
from elbowroom.world.world import World
from tools.simple_bodies import flying, swinging

LOCAL = 1.0 / 240.0
PLATE = box([0.002, 2.0, 2.0])
EMPTY = World(floor=None)


def through_plate(speed: float = 6.0, fps: float = 30.0) -> World:
    """A fist that passes a plate of 2 mm at x = 0 between two frames."""
    x = (np.arange(11) - 5.0 + 0.5) * speed / fps
    return EMPTY.with_character("it", flying(np.outer(x, [1.0, 0.0, 0.0]), fps, 0.04)).with_static("plate", PLATE)


def test_a_plate_between_two_frames_is_caught() -> None:
    found = certify(through_plate())
    assert not found.free
    (hit,) = found.collisions
    assert hit.pair == ("it.ball", "plate") and hit.who == ("it",)
    middle, half = 4.5 / 30.0, 0.041 / 6.0
    assert hit.during == pytest.approx((middle - half, middle + half), abs=LOCAL)
    assert hit.depth_m is not None and 0.02 < hit.depth_m < 0.045


def test_checking_frames_alone_misses_the_plate() -> None:
    world = through_plate()
    exact = ExactWorld(world)
    assert all(exact.free(t) for t in world.motion("it").times)


def test_without_bounds_on_travel_the_plate_would_be_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(tree: object, ball: object, joint: object, units: object, out: np.ndarray) -> None:
        out[:] = 0.0

    monkeypatch.setattr(certificate_proof.sweep, "travel", nowhere)
    assert certify(through_plate()).free


@pytest.mark.parametrize("speed", [0.3, 2.0, 17.0])
def test_times_of_a_ball_that_flies_through_a_slab(speed: float) -> None:
    slab, radius, length = 0.2, 0.1, 3.0
    frames = int(length / speed * 60) + 2
    x = np.linspace(-1.5, 1.5, frames)
    pace = np.diff(x)[0] * 60.0
    world = EMPTY.with_character("it", flying(np.outer(x, [1.0, 0.0, 0.0]), 60.0, radius))
    (hit,) = certify(world.with_static("slab", box([slab, 1.0, 1.0]))).collisions
    half = 0.5 * slab + radius
    assert hit.during == pytest.approx(((1.5 - half) / pace, (1.5 + half) / pace), abs=LOCAL)
    assert hit.depth_m == pytest.approx(half, abs=0.5 * pace / 60.0 + 1e-4)


def test_time_at_which_a_swinging_arm_meets_a_post() -> None:
    angles = np.linspace(0.0, np.pi / 2, 7)  # 15 degrees a frame
    post = box([0.02, 0.02, 1.0], at=[0.9 * np.cos(1.0), 0.9 * np.sin(1.0), 0.0])
    (hit,) = certify(EMPTY.with_character("it", swinging(angles)).with_static("post", post)).collisions
    rate = (np.pi / 2) / 0.2
    centre = 1.0 / rate
    reach = (0.05 + 0.01 * np.sqrt(2.0)) / 0.9  # what arm and post cover, radians, at most
    assert hit.during[0] <= centre <= hit.during[1]
    assert centre - reach / rate - LOCAL <= hit.during[0] <= centre - 0.05 / 0.9 / rate + LOCAL


def test_the_smallest_clearance_is_found_between_frames() -> None:
    # the tip of the arm passes a post halfway between two frames
    angles = np.radians([-40.0, -20.0, 0.0, 20.0, 40.0])
    post = box([0.02, 0.02, 0.02], at=[1.08 * np.cos(np.radians(10)), 1.08 * np.sin(np.radians(10)), 0.0])
    world = EMPTY.with_character("it", swinging(angles)).with_static("post", post)
    found = certify(world, tolerance=1e-4)
    exact = ExactWorld(world)
    truth = min(exact.place(t).distance(("it.arm", "post")).value for t in np.linspace(*world.span, 2001))
    assert found.free and found.continuous
    assert found.clearance_m == pytest.approx(truth, rel=0.06, abs=2e-4)
    assert found.at_least_m is not None and found.at_least_m <= truth
    at_frames = min(exact.place(t).distance(("it.arm", "post")).value for t in swinging(angles).times)
    assert at_frames > 2.0 * truth, "frames alone would tell another clearance"


def test_the_smallest_clearance_is_that_of_all_pairs() -> None:
    """A thing of many triangles that stays near hides nothing that is nearer for a moment."""
    world = scenario("umbrella").board().world
    world = repair(world, "ann").world
    found = certify(world)
    exact = ExactWorld(replace(world, contacts=(*world.contacts, *supports(world))))
    seen = [exact.clearance(float(t), 0.05) for t in world.motion("ann").times]
    assert found.free and found.clearance_m is not None
    assert found.clearance_m <= min(d.value for d in seen if d is not None) + 1e-3


@pytest.mark.parametrize("gap", [0.3, 0.02, 0.001, 0.0001])
def test_a_ball_along_a_wall_is_free_with_its_clearance(gap: float) -> None:
    roots = np.column_stack([np.linspace(-1, 1, 31), np.full(31, 0.1 + gap), np.zeros(31)])
    found = certify(
        EMPTY.with_character("it", flying(roots)).with_static("wall", box([4.0, 0.2, 2.0], at=[0, -0.1, 0]))
    )
    assert found.free and found.continuous and not found.collisions and not found.unproven
    assert found.clearance_m == pytest.approx(gap, abs=1e-6)
    assert 0.0 <= found.at_least_m <= gap
    assert found.pair == ("it.ball", "wall")
    assert found.points is not None
    np.testing.assert_allclose(np.diff(found.points[:, 1]), -gap, atol=1e-5)


def test_what_the_tolerance_does_not_tell_is_refused() -> None:
    roots = np.column_stack([np.linspace(-0.05, 0.05, 31), np.full(31, 0.100005), np.zeros(31)])
    world = EMPTY.with_character("it", flying(roots)).with_static("wall", box([4.0, 0.2, 2.0], at=[0, -0.1, 0]))
    found = certify(world)
    assert not found.free and not found.continuous and not found.collisions
    (near,) = found.unproven
    assert near.pair == ("it.ball", "wall")
    assert near.during == pytest.approx((0.0, 1.0))
    assert certify(world, tolerance=1e-5).free
    with pytest.raises(BadValue, match="tolerance"):
        certify(world, tolerance=0.0)


def test_what_is_inside_of_a_solid_all_the_time_is_not_free() -> None:
    world = EMPTY.with_character("it", flying(np.zeros((5, 3)), radius=0.05)).with_static("block", box([2.0, 2.0, 2.0]))
    (hit,) = certify(world).collisions
    assert hit.during == pytest.approx((0.0, 4 / 30.0))
    assert hit.depth_m == pytest.approx(1.05)


def test_solids_turned_inside_out_do_not_cancel() -> None:
    block = box([2.0, 2.0, 2.0])
    flipped = replace(box([2.2, 2.2, 2.2]), faces=box([2.2, 2.2, 2.2]).faces[:, ::-1])
    world = EMPTY.with_character("it", flying(np.zeros((5, 3)), radius=0.05))
    found = certify(world.with_static("block", block).with_static("flipped", flipped))
    assert {c.pair.b for c in found.collisions} == {"block", "flipped"}


def test_one_frame_is_checked() -> None:
    world = EMPTY.with_character("it", flying([[0.0, 0.0, 0.0]])).with_static("plate", PLATE)
    assert not certify(world).free
    assert certify(EMPTY.with_character("it", flying([[0.5, 0.0, 0.0]])).with_static("plate", PLATE)).free


def test_a_world_with_nothing_to_hit_is_free() -> None:
    found = certify(EMPTY.with_character("it", flying(np.zeros((3, 3)))))
    assert found.free and found.clearance_m is None and found.pair is None


# what may touch


def test_contacts_allow_a_depth_for_a_time() -> None:
    x = np.concatenate([np.linspace(0.5, 0.097, 16), np.linspace(0.097, 0.5, 16)])
    world = EMPTY.with_character("it", flying(np.outer(x, [1.0, 0.0, 0.0])))
    world = world.with_static("wall", box([0.2, 2.0, 2.0], at=[-0.1, 0.0, 0.0]))
    assert not certify(world).free
    allowed = certify(world.with_contact(Contact("it.ball", "wall", (0.0, 2.0), depth=0.01, why="leans on it")))
    assert allowed.free
    (touch,) = allowed.allowed
    assert touch.pair == ("it.ball", "wall") and touch.why == "leans on it"
    assert 0.003 <= touch.depth_m <= 0.0036
    assert touch.during == pytest.approx((0.5, 16 / 30.0), abs=0.04)
    shallow = certify(world.with_contact(Contact("it.ball", "wall", (0.0, 2.0), depth=0.002)))
    assert [c.pair for c in shallow.collisions] == [("it.ball", "wall")]
    early = certify(world.with_contact(Contact("it.ball", "wall", (0.0, 0.5), depth=0.01)))
    assert not early.free


def foot_clip(depth: float, **more: object) -> Clip:
    """A ball that is a foot and dips into the floor."""
    z = 0.1 - depth * np.sin(np.linspace(0.0, np.pi, 31))
    clip = flying(np.column_stack([np.zeros(31), np.zeros(31), z]))
    character = clip.character.with_(roles={"left_foot": 0})
    return Clip(character, clip.fps, clip.root, clip.rotations, **more)


def test_feet_may_press_into_the_floor_a_little() -> None:
    found = certify(World().with_character("it", foot_clip(0.8 * 0.01)))
    assert found.free
    (touch,) = found.allowed
    assert touch.pair == ("it.ball", "floor") and 0.008 <= touch.depth_m <= 0.0086
    assert "stands" in touch.why
    deep = certify(World().with_character("it", foot_clip(2.0 * 0.01)))
    (hit,) = deep.collisions
    assert hit.depth_m == pytest.approx(2.0 * 0.01, abs=1e-4)
    assert hit.during == pytest.approx((1 / 6, 5 / 6), abs=0.01)


def test_clips_from_files_may_touch_the_floor_as_they_do_and_others_may_not() -> None:
    recorded = foot_clip(0.04, source=Source(format="BVH"))
    found = certify(World().with_character("it", recorded))
    assert found.free
    assert 0.04 <= max(a.depth_m for a in found.allowed) <= 0.0425
    assert {a.why for a in found.allowed} == {"in the clip"}
    assert not certify(World().with_character("it", recorded), own_contacts=False).free
    wall = certify(World().with_character("it", recorded).with_static("plate", PLATE))
    assert {c.pair.b for c in wall.collisions} == {"plate"}, "only itself and the floor are excused"


def test_artificial_frames_at_the_start_do_not_count() -> None:
    roots = np.concatenate([[[0.0, 0.0, 0.0]], np.outer(np.linspace(2.0, 3.0, 10), [1.0, 0.0, 0.0])])
    world = EMPTY.with_static("plate", PLATE)
    assert not certify(world.with_character("it", flying(roots))).free
    led = certify(world.with_character("it", flying(roots, source=Source(lead=1))))
    assert led.free and led.frames == 10


def test_another_rate_is_certified_anew() -> None:
    # round a post: at sixty frames a second the path is round, at four it cuts the corner
    angles = np.linspace(0.0, 2.0 * np.pi, 61)
    roots = 0.5 * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(61)])
    world = EMPTY.with_character("it", flying(roots, 60.0)).with_static("post", box([0.5, 0.5, 1.0]))
    assert certify(world).free
    assert certify(world, 60.0).free
    assert not certify(world, 4.0).free
    with pytest.raises(BadValue, match="frame rate"):
        certify(world, 0.0)


def test_two_characters_meet_when_they_must() -> None:
    x = np.linspace(-1.0, 1.0, 21)
    one = flying(np.outer(x, [1.0, 0.0, 0.0]), 20.0)
    other = flying(np.outer(-x, [1.0, 0.0, 0.0]), 20.0, radius=0.15)
    found = certify(EMPTY.with_character("ann", one).with_character("bob", other))
    (hit,) = found.collisions
    assert hit.who == ("ann", "bob") and hit.pair == ("ann.ball", "bob.ball")
    assert hit.during == pytest.approx((0.5 - 0.0625, 0.5 + 0.0625), abs=LOCAL)
    aside = flying(np.outer(-x, [1.0, 0.0, 0.0]) + [0.0, 0.27, 0.0], 20.0, radius=0.15)
    free = certify(EMPTY.with_character("ann", one).with_character("bob", aside))
    assert free.free and free.clearance_m == pytest.approx(0.02, abs=1e-3) and free.at_s == pytest.approx(0.5, abs=0.01)


def test_bounds_on_travel_do_not_count_what_moves_both() -> None:
    # an arm at rest on a hub that races along: nothing moves against anything
    hub = swinging(np.zeros(5))
    racing = Clip(hub.character, hub.fps, np.outer(np.arange(5.0), [3.0, 0.0, 0.0]), hub.rotations)
    tree = sweep.Tree(
        np.tile([[-1, 0, 0]], (1, 1)).astype(np.int32),
        np.zeros((1, 3)),
        np.array([[3.0, 0.0, 0.0]]),
        np.zeros((2, 3, 3)),
    )
    out = np.zeros((2, 1))
    sweep.travel(tree, np.zeros((2, 2, 4)), np.array([1, 2]), np.array([[0, 1], [0, sweep.FLOOR]]), out)
    assert out[:, 0] == pytest.approx([0.0, 3.0])
    assert certify(EMPTY.with_character("it", racing)).free


def test_turns_near_half_a_turn_are_followed() -> None:
    angles = [0.0, np.radians(170.0)]
    post = box([0.02, 0.02, 1.0], at=[0.0, 0.8, 0.0])
    (hit,) = certify(EMPTY.with_character("it", swinging(angles, fps=1.0)).with_static("post", post)).collisions
    assert hit.during[0] < 90.0 / 170.0 < hit.during[1]


def test_an_interval_alone_is_proven_and_the_certificate_says_so() -> None:
    x = np.linspace(-1.5, 1.5, 61)  # it is in the slab about half time, 1 s
    world = EMPTY.with_character("it", flying(np.outer(x, [1.0, 0.0, 0.0]), 30.0)).with_static("slab", box([0.2, 1, 1]))
    (whole,) = certify(world).collisions
    for during in ((0.0, 0.8), (1.3, 2.0), (1.25, 9.0)):
        found = certify(world, during=during)
        assert found.free and found.continuous and found.during == (during[0], min(during[1], 2.0))
        assert found.facts()["certificate"]["during"] == list(found.during)
        exact = ExactWorld(world)
        nearest = min(exact.distance(("it.ball", "slab")).value for t in found.during if exact.place(t))
        assert found.clearance_m == pytest.approx(nearest, rel=0.06) and found.at_s in found.during
    (part,) = certify(world, during=(1.0, 2.0)).collisions
    assert part.during[0] == 1.0 and part.during[1] == pytest.approx(whole.during[1], abs=LOCAL)
    (begun,) = certify(world, during=(0.51, 1.0)).collisions
    assert begun.during[0] == pytest.approx(whole.during[0], abs=LOCAL) and begun.during[1] == 1.0
    assert not certify(world, during=(1.0, 1.0)).free and certify(world, during=(0.3, 0.3)).free
    assert certify(world).during is None
    quick = [certify(world, during=d, clearance=False) for d in ((0.0, 0.8), (0.5, 1.5))]
    assert [c.free for c in quick] == [True, False] and quick[0].clearance_m is None
    assert quick[1].collisions[0].during == pytest.approx(whole.during, abs=LOCAL)
    with pytest.raises(BadValue, match="nothing to check"):
        certify(world, during=(5.0, 6.0))


def test_cores_that_overlap_are_deeper_than_bounds_can_tell() -> None:
    """An allowance beyond a capsule's radius does not hide how deep the capsule lies in a thing."""
    arm = EMPTY.with_character("it", swinging(np.zeros(3)))  # from the origin 1 m along x, radius 0.05
    thing = arm.with_object("block", box([0.6, 0.6, 0.6]), Still(transform([0.5, 0.0, 0.0])))
    depth = -(ExactWorld(thing).place(0.0).distance(("it.arm", "block")).value or 0.0)
    assert depth > 0.2
    for allowed in (0.06, 0.5 * depth, 0.99 * depth):
        assert not certify(thing.with_contact(Contact("it", "block", (0.0, 1.0), depth=allowed))).free
    raised = thing.with_(caps=Caps(contact=1.0))
    found = certify(raised.with_contact(Contact("it", "block", (0.0, 1.0), depth=1.01 * depth)))
    assert not found.free and "45.0 mm" in found.notes[0], "no contact goes deeper than the part is thick"
