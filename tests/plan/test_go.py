"""Going: ways through a scene, round people, under and between things, and steps up to what is out of reach."""

from dataclasses import replace

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.skeleton import Pose
from elbowroom.errors import BadValue
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.rotations import about, angle_between
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.course import through
from elbowroom.locomotion.departure import stance_of, walk_from
from elbowroom.locomotion.library import ClipLibrary
from elbowroom.locomotion.modes import WALK
from elbowroom.locomotion.walk import WalkOptions
from elbowroom.plan.checks.places import place_for, resting
from elbowroom.plan.manipulate import plan_tasks, preview_tasks
from elbowroom.plan.order import ordered
from elbowroom.plan.state.result import Plan
from elbowroom.plan.state.settings import Settings
from elbowroom.plan.steps.director import Director
from elbowroom.plan.tasks import Fetch, Follow, Go, Grab, Put, Reach
from elbowroom.plan.walking.along import still_arms_along
from elbowroom.plan.walking.crossing import past_people
from elbowroom.plan.walking.finding import paths_of
from elbowroom.plan.walking.paths import WalkPath, WalkPaths
from elbowroom.plan.walking.setting_down import _nearer_an_edge
from elbowroom.plan.walking.stances import suited_first
from elbowroom.plan.walking.walked import Spot, _little
from elbowroom.props.makers import made
from elbowroom.world.certificate import certify
from elbowroom.world.certificate_findings import Unproven
from elbowroom.world.columns import columns_of
from elbowroom.world.pairs import Pair
from elbowroom.world.paths import Still
from elbowroom.world.world import World

FPS = 30.0
QUICK = Settings(probes=0)


def standing(world: World, who: str = "ann", at: tuple[float, float] = (0.0, 0.0), turn: float = 0.0) -> World:
    """The world with a woman who stands somewhere."""
    return world.with_character(who, er.place(er.idle(er.preset("woman"), 0.3, FPS), at, turn))


def prop(name: str) -> Mesh:
    """One mesh of a maker."""
    return merge(list(made(name).values()))


def place_of(plan: Plan, who: str = "ann") -> tuple[np.ndarray, float]:
    """Where somebody stands at the end of a plan, and the heading."""
    clip = plan.world.motion(who)
    return stance_of(clip.body, Pose.of(clip.root[-1], clip.rotations[-1]))


def test_a_wall_is_gone_round_and_the_goal_faced() -> None:
    world = standing(World().with_static("wall", box((3.0, 0.1, 2.0), (0.5, -1.5, 1.0))))
    plan = plan_tasks(world, [Go(who="ann", to=(0.0, -3.0), facing="wall")], QUICK, fps=FPS)
    assert plan.found and plan.certificate is not None and plan.certificate.free, plan.why
    place, heading = place_of(plan)
    np.testing.assert_allclose(place, [0.0, -3.0], atol=0.01)
    assert abs(abs(heading % (2.0 * np.pi)) - np.pi) < 0.4  # the wall is behind where she came from
    assert plan.world.motion("ann").root[:, 0].min() < -1.1  # round its near end


def test_places_where_thighs_are_free_of_the_table_come_first() -> None:
    world = standing(World(floor=0.0).with_static("table", prop("table").moved(transform([-2.0, 0.0, 0.0]))))
    d = Director(world, QUICK, FPS, 0)
    actor = d.actor("ann")
    near = Spot(np.array([-1.77, -0.55]), float(np.radians(-157.5)))
    clear = Spot(np.array([-2.0, -0.7]), float(np.pi))
    assert list(suited_first(d, actor, [near, clear])) == [clear, near]
    assert list(suited_first(d, actor, [near, clear], lambda stands: False)) == [near, clear]


def test_places_near_an_edge_keep_objects_on_the_table() -> None:
    world = standing(World(floor=0.0).with_static("table", box((1.4, 0.8, 0.74), (0.0, -2.0, 0.37))))
    world = world.with_object("plate", box((0.25, 0.25, 0.02)), Still(np.eye(4)))
    d = Director(world, QUICK, FPS, 0)
    places = [task.to for task in _nearer_an_edge(d, d.actor("ann"), Put(who="ann", object="plate", onto="table"))]
    assert len(places) == 8 and all(place is not None and place[2] == pytest.approx(0.74) for place in places)
    gaps = [min(0.7 - abs(place[0]), 0.4 - abs(place[1] + 2.0)) for place in places if place is not None]
    assert min(gaps[:4]) > 0.125 and min(gaps[4:]) > 0.04 and places[0][1] > -2.0  # on the near side first


def test_what_closes_a_way_is_named_with_its_width() -> None:
    walls = {
        "left": box((9.0, 0.2, 2.5), (4.62, -1.5, 1.25)),
        "right": box((9.0, 0.2, 2.5), (-4.62, -1.5, 1.25)),
        "far": box((0.2, 9.0, 2.5), (9.2, -4.0, 1.25)),
        "end": box((0.2, 9.0, 2.5), (-9.2, -4.0, 1.25)),
        "back": box((18.6, 0.2, 2.5), (0.0, -8.4, 1.25)),
    }
    world = standing(World(static=walls))
    plan = plan_tasks(world, [Go(who="ann", to=(0.0, -3.0))], QUICK, fps=FPS)
    assert plan.status == "no-path" and "m wide at (0.0" in plan.why and "ann needs 0.4" in plan.why, plan.why
    beside = plan_tasks(world, [Go(who="ann", to=(3.0, -1.66))], QUICK, fps=FPS)
    assert beside.status == "target-in-collision" and "'left'" in beside.why


def doorway(width: float) -> World:
    """A wall along X with a doorway in its middle."""
    half = 0.5 * width
    walls = {name: box((4.0, 0.15, 2.2), (sign * (2.0 + half), -1.5, 1.1)) for name, sign in (("a", 1), ("b", -1))}
    return World(floor=0.0, static=walls)


@pytest.mark.parametrize(("start", "goal", "most"), [((1.0, 0.5), (-1.0, -3.4), 0.45), ((1.5, 0.5), (1.5, -3.4), 1.0)])
def test_a_doorway_is_passed_nearly_straight_with_arms_that_hang_still(
    start: tuple[float, float], goal: tuple[float, float], most: float
) -> None:
    ends = np.array([start, goal])
    path = WalkPaths(columns_of(doorway(0.84), 0.0, list(ends)), er.preset("woman")).find(*ends)
    assert path is not None
    curve = through(path.points, 100.0)
    s = np.linspace(0.0, curve.length, 400)
    inside = np.abs(curve.at(s)[:, 1] + 1.5) < 0.4
    assert np.abs(curve.bend(s[inside])).max() < most  # corners that are merely rounded bend by twice as much, 1/m
    still = still_arms_along(path)
    assert still is not None
    share = still(path.points)
    assert share[np.argmin(np.abs(path.points[:, 1] + 1.5))] > 0.8 and share[0] < 0.1
    np.testing.assert_array_equal(path.points[[0, -1]], ends)


def test_room_beside_the_arms_makes_no_path_longer_by_a_tenth() -> None:
    posts = {f"p{k}": box((0.3, 0.3, 2.0), (0.55 * (-1) ** k, -1.0 - 0.9 * k, 1.0)) for k in range(5)}
    world, start, goal = World(floor=0.0, static=posts), np.zeros(2), np.array([0.0, -6.0])
    paths = WalkPaths(columns_of(world, 0.0, [start, goal]), er.preset("woman"))
    path, shortest = paths.find(start, goal), paths.shortest(start, goal)
    assert path is not None and shortest is not None and path.length < 1.1 * shortest


def test_a_narrow_gap_is_passed_sideways_and_a_low_bar_crouched() -> None:
    gap = World().with_static("a", box((20.0, 0.4, 2.0), (10.24, -1.5, 1.0))).with_static(
        "b", box((20.0, 0.4, 2.0), (-10.24, -1.5, 1.0)))  # fmt: skip
    bar = World().with_static("bar", box((20.0, 0.1, 0.1), (0.0, -1.5, 1.45)))
    woman = er.preset("woman")
    for world, mode in ((gap, "sidle"), (bar, "duck")):
        ways = WalkPaths(columns_of(world, 0.0, [np.zeros(2), np.array([0.0, -3.0])]), woman)
        way = ways.find(np.zeros(2), np.array([0.0, -3.0]))
        assert way is not None and mode in {m.name for m in way.modes}
        upright = WalkPaths(ways.columns, woman, "walk").find(np.zeros(2), np.array([0.0, -3.0]))
        assert upright is None or upright.length > way.length + 1.0
    plan = plan_tasks(standing(bar), [Go(who="ann", to=(0.0, -3.0))], QUICK, fps=FPS)
    assert plan.found, plan.why
    clip = plan.world.motion("ann")
    head = clip.world()[:, woman.role("head"), 2, 3]
    assert head.min() < head[0] - 0.15 and clip.root[:, 2].min() < clip.root[0, 2] - 0.05  # knees, not the neck alone


def test_costs_of_modes_decide_between_ducking_and_going_round() -> None:
    world, goal = standing(World().with_static("bar", box((3.0, 0.1, 0.1), (0.0, -1.5, 1.45)))), np.array([0.0, -3.0])
    for costs, ducks in (({}, True), ({"duck": 30.0, "stoop": 30.0}, False)):
        d = Director(world, replace(QUICK, mode_costs=costs), FPS, 0)
        path = paths_of(d, d.actor("ann"), [goal]).find(np.zeros(2), goal)
        assert path is not None and ("duck" in {mode.name for mode in path.modes}) == ducks
    with pytest.raises(BadValue, match="'crawl', which is not a mode"):
        replace(QUICK, mode_costs={"crawl": 1.0})
    with pytest.raises(BadValue, match="'duck' in mode_costs is 0"):
        replace(QUICK, mode_costs={"duck": 0.0})


def test_a_goal_inside_of_a_wall_is_bad_input_and_named_while_dragging() -> None:
    world = standing(World(static={"wall": box((0.4, 3.0, 2.4), (1.5, 0.0, 1.2))}, floor=0.0))
    with pytest.raises(BadValue, match="inside 'wall'"):
        plan_tasks(world, [Go(who="ann", to=(1.5, 0.0))], QUICK, fps=FPS)
    assert "inside 'wall'" in preview_tasks(world, [Go(who="ann", to=(1.5, 0.0))], QUICK, fps=FPS).why


def test_stairs_are_climbed_and_a_ramp_gone_down_with_level_feet_on_each() -> None:
    flight = made("stairs", {"steps": 3, "rise": 0.18, "landing": 1.2})["stairs"].moved(transform([0.0, -1.0, 0.0]))
    ramp = made("ramp", {"length": 3.0, "rise": 0.54, "landing": 0.02})["ramp"]
    ramp = ramp.moved(transform([0.0, -5.74, 0.0], [0.0, 0.0, 0.0, 1.0]))
    world = standing(World(static={"stairs": flight, "ramp": ramp}))
    up = plan_tasks(world, [Go(who="ann", to=(0.0, -2.2))], QUICK, fps=FPS)
    assert up.found, up.why
    assert abs(up.world.motion("ann").root[-1, 2] - up.world.motion("ann").root[0, 2] - 0.54) < 0.02
    assert {c.on for c in up.world.contacts if c.why == "stands on it"} >= {"stairs"}
    down = plan_tasks(up.world, [Go(who="ann", to=(0.0, -6.6))], QUICK, fps=FPS)
    assert down.found, down.why
    clip = down.world.motion("ann")
    assert abs(clip.root[-1, 2] - clip.root[0, 2]) < 0.02
    assert slide(clip) < 0.002


def test_a_flight_is_climbed_tread_by_tread_without_leaps() -> None:
    rise = 0.17  # toes that came forward as they went up met the edge of the landing
    flight = made("stairs", {"steps": 6, "rise": rise, "tread": 0.28, "landing": 1.5, "railing": False})["stairs"]
    world = standing(World(static={"stairs": flight.moved(transform([0.0, -1.2, 0.0]))}))
    plan = preview_tasks(
        world, [Go(who="ann", to=(0.0, -3.35)), Go(who="ann", to=(0.0, 0.0))], Settings(tier="ik"), fps=FPS
    )
    clip = plan.world.motion("ann")
    ankles = clip.world()[:, [clip.character.role(f"{side}_foot") for side in ("left", "right")]][..., :3, 3]
    stands = np.linalg.norm(np.diff(ankles, axis=0), axis=-1) < 0.0005
    levels = (ankles[1:][stands][:, 2] - ankles[0, 0, 2]) / rise
    assert set(np.round(levels).astype(int)) == set(range(7))
    assert np.abs(np.diff(clip.root[:, 2])).max() * FPS < 1.0
    knees = [clip.character.role(f"{side}_shin") for side in ("left", "right")]
    assert angle_between(clip.rotations[1:, knees], clip.rotations[:-1, knees]).max() * FPS < 18.0
    assert not certify(plan.world, clearance=False, contacts="never").collisions  # before any repair


def slide(clip: er.Clip) -> float:
    """Fastest that the slower foot of somebody who walks moves, metres a frame at 240 Hz."""
    times = np.arange(clip.span[0], clip.span[1], 1.0 / 240.0)
    T = clip.character.skeleton.forward(*clip.sample(times))
    feet = np.stack([T[:, clip.character.role(f"{side}_toes"), :3, 3] for side in ("left", "right")])
    return float(np.linalg.norm(np.diff(feet, axis=1), axis=-1).min(axis=0).max())


def test_a_step_that_is_too_high_is_no_way() -> None:
    world = standing(World(static={"block": box((8.0, 4.0, 0.3), (0.0, -3.5, 0.15))}))
    plan = plan_tasks(world, [Go(who="ann", to=(0.0, -3.0))], QUICK, fps=FPS)
    assert plan.status in ("target-in-collision", "no-path")


def closed_room(name: str, low: float, high: float) -> World:
    """A closed room with one thing across it, between two heights."""
    walls = {f"wall {k}": box((0.1, 8.0, 2.4), (k * 1.5, -1.6, 1.2)) for k in (-1, 1)}
    walls |= {f"end {k}": box((3.0, 0.1, 2.4), (0.0, -1.6 + 4.0 * k, 1.2)) for k in (-1, 1)}
    return World(static={**walls, name: box((3.0, 0.06, high - low), (0.0, -1.6, 0.5 * (low + high)))})


@pytest.mark.parametrize(("name", "low", "high"), [("hurdle", 0.0, 0.3), ("bar", 1.1, 1.2)])
def test_a_hurdle_is_stepped_over_and_a_low_bar_stooped_under_without_repair(
    name: str, low: float, high: float
) -> None:
    plan = plan_tasks(standing(closed_room(name, low, high)), [Go(who="ann", to=(0.0, -3.2))], QUICK, fps=FPS)
    assert plan.found, plan.why
    assert not plan.edits


@pytest.mark.parametrize(
    ("name", "low", "high", "words"),
    [("hurdle", 0.0, 0.58, "by 'hurdle', 0.60 m high"), ("bar", 0.9, 1.0, "the path is 0.88 m high at")],
)
def test_what_is_too_high_or_too_low_is_named(name: str, low: float, high: float, words: str) -> None:
    plan = plan_tasks(standing(closed_room(name, low, high)), [Go(who="ann", to=(0.0, -3.2))], QUICK, fps=FPS)
    assert plan.status == "no-path" and words in plan.why, plan.why


def test_a_gap_as_wide_as_a_body_is_deep_is_a_way() -> None:
    walls = {k: box((9.0, 0.3, 2.2), (sign * 4.725, -1.6, 1.1)) for k, sign in (("a", -1.0), ("b", 1.0))}
    ways = WalkPaths(columns_of(World(static=walls), 0.0, [np.zeros(2), np.array([0.0, -3.2])]), er.preset("woman"))
    way = ways.find(np.zeros(2), np.array([0.0, -3.2]))
    assert way is not None and way.length < 4.0 and "sidle" in {m.name for m in way.modes}


def test_carpets_are_walked_on() -> None:
    world = standing(World().with_static("carpet", box((1.2, 1.2, 0.008), (0.0, -1.5, 0.004))))
    plan = plan_tasks(world, [Go(who="ann", to=(0.0, -2.8), gait="walk")], QUICK, fps=FPS)
    assert plan.found, plan.why
    assert any(a.pair.b == "carpet" or a.pair.a == "carpet" for a in plan.certificate.allowed)
    assert all(a.depth_m < 0.004 for a in plan.certificate.allowed if "carpet" in a.pair)


def test_who_is_too_late_and_who_has_time() -> None:
    world = standing(World())
    late = plan_tasks(world, [Go(who="ann", to=(0.0, -5.0), at=1.0)], QUICK, fps=FPS)
    assert late.status == "too-little-time"
    plan, same = (plan_tasks(world, [Go(who="ann", to=(0.0, -1.5), at=6.0)], QUICK, fps=FPS) for _ in range(2))
    np.testing.assert_array_equal(same.world.motion("ann").rotations, plan.world.motion("ann").rotations)
    assert plan.found and plan.world.motion("ann").span[1] == pytest.approx(6.0, abs=0.05)


def test_somebody_is_followed_at_a_distance() -> None:
    world = standing(standing(World()), "bea", (0.0, 1.5))
    plan = plan_tasks(
        world, [Go(who="ann", to=(1.0, -4.0)), Follow(who="bea", whom="ann", distance=1.2)], QUICK, fps=FPS
    )
    assert plan.found, plan.why
    times = np.arange(*plan.world.span, 0.25)
    ann, bea = (plan.world.motion(who).sample(times)[0][:, :2] for who in ("ann", "bea"))
    apart = np.linalg.norm(ann - bea, axis=1)
    assert apart.min() > 0.9 and 1.0 < apart[-1] < 1.5


def test_who_follows_somebody_with_a_time_of_arrival_is_planned_after_them() -> None:
    first, then = Go(who="ann", to=(1.0, -4.0), at=6.0), Follow(who="bea", whom="ann", distance=1.2)
    assert ordered(standing(standing(World()), "bea", (0.0, 1.5)), [first, then]) == [first, then]


def test_a_leader_who_comes_back_is_let_past_by_its_follower() -> None:
    world = standing(standing(World()), "bea", (0.0, 1.5))
    there_and_back = [Go(who="ann", to=(0.0, -2.0)), Go(who="ann", to=(2.5, 1.0))]
    plan = plan_tasks(world, [*there_and_back, Follow(who="bea", whom="ann", distance=1.0)], QUICK, fps=FPS)
    assert plan.found, plan.why
    times = np.arange(*plan.world.span, 0.1)
    ann, bea = (plan.world.motion(who).sample(times)[0][:, :2] for who in ("ann", "bea"))
    apart = np.linalg.norm(ann - bea, axis=1)
    assert apart.min() > 0.7 and 0.85 < apart[-1] < 1.4


def test_a_task_out_of_reach_is_stepped_up_to_unless_the_feet_stay() -> None:
    world = standing(World())
    far = (0.0, -2.0, 1.2)
    refused = plan_tasks(world, [Reach(who="ann", to=far, feet="stay")], QUICK, fps=FPS)
    assert refused.status == "target-out-of-reach"
    plan = plan_tasks(world, [Reach(who="ann", to=far, hand="right")], QUICK, fps=FPS)
    assert plan.found, plan.why
    times = np.arange(*plan.world.span, 0.1)
    hand = np.array([plan.world.hand("ann", "right", t)[:3, 3] for t in times])
    assert np.linalg.norm(hand - far, axis=1).min() < 0.25


def test_a_jar_is_fetched() -> None:
    world = standing(World().with_static("table", prop("table").moved(transform([1.5, -1.5, 0.0]))))
    world = world.with_static("shelf", box((0.8, 0.4, 0.9), (-1.6, -1.4, 0.45)))
    world = world.with_object("jar", prop("jar"), Still(transform([1.5, -1.25, 0.7403])), mass=0.6)
    plan = plan_tasks(world, [Fetch(who="ann", object="jar", to=(-1.6, -1.35, 0.9003))], QUICK, fps=FPS)
    assert plan.found and plan.certificate is not None and plan.certificate.free, plan.why
    np.testing.assert_allclose(plan.world.frame("jar", plan.world.span[1])[:3, 3], [-1.6, -1.35, 0.9003], atol=1e-3)
    (hold,) = plan.world.holds
    clip = plan.world.motion("ann")
    walked = clip.sample(np.array(hold.during))[0][:, :2]
    assert np.linalg.norm(walked[1] - walked[0]) > 1.5  # the jar went with her
    # the arm sets out while the feet still go
    out = next(edit for edit in plan.edits if edit.reason == "grab jar").during[0]
    T = clip.character.skeleton.forward(*clip.sample([out, out + 0.2]))
    feet = [clip.character.role(f"{side}_foot") for side in ("left", "right")]
    assert np.linalg.norm(np.diff(T[:, feet, :3, 3], axis=0), axis=-1).max() > 0.02


def test_a_grab_within_reach_takes_no_step() -> None:
    world = standing(World().with_static("table", prop("table").moved(transform([0.0, -0.75, 0.0]))))
    world = world.with_object("jar", prop("jar"), Still(transform([0.0, -0.5, 0.7403])), mass=0.6)
    plan = plan_tasks(world, [Grab(who="ann", object="jar")], QUICK, fps=FPS)
    assert plan.found, plan.why
    clip = plan.world.motion("ann")
    assert np.linalg.norm(clip.root[:, :2] - clip.root[0, :2], axis=1).max() < 0.4


def bow(plan: Plan) -> float:
    """Deepest lean of a woman's chest from the vertical, degrees."""
    clip = plan.world.motion("ann")
    chest = clip.character.role("chest")
    up = clip.world()[:, chest, :3, :3] @ clip.character.T_rest[chest, :3, :3].T[:, 2]
    return float(np.degrees(np.arccos(up[:, 2].min())))


def test_a_step_is_taken_in_place_of_a_deep_bow() -> None:
    world = standing(World())
    far = (0.0, -1.0, 0.9)
    bowed, stepped = (
        plan_tasks(world, [Reach(who="ann", to=far, hand="right", feet=feet)], QUICK, fps=FPS)
        for feet in ("stay", "auto")
    )
    assert bowed.found and stepped.found, (bowed.why, stepped.why)
    assert bow(bowed) > 40.0 > 30.0 > bow(stepped)
    assert np.linalg.norm(place_of(stepped)[0]) > 0.3 > np.linalg.norm(place_of(bowed)[0])


def test_a_crossing_is_timed_on_the_path() -> None:
    world = standing(World())
    walk = er.walk(er.preset("woman"), 1.2, seconds=6.0, fps=FPS)
    world = world.with_character("bea", er.place(walk, (-3.0, -2.0), 0.5 * np.pi))  # across the path, to the east
    actor = Director(world, QUICK, FPS, 0).actor("ann")
    y = np.linspace(0.0, -4.0, 17)
    path = WalkPath(np.stack([np.zeros(17), y], axis=-1), (WALK,) * 17, 4.0, 4.0, columns_of(world, 0.0, [np.zeros(2)]))
    _, speed, delay = next(past_people(world, actor, [path], 1.25))
    assert (speed, delay) != (1.25, 0.0)  # she would run into her
    ann = walk_from(actor.body, actor.pose, path.points, options=WalkOptions(speed=speed, fps=FPS))
    bea = world.motion("bea").sample(ann.times + delay)[0]
    assert np.linalg.norm((bea - ann.root)[:, :2], axis=1).min() > 0.5


def test_who_is_behind_somebody_slower_stays_behind_rather_than_going_round() -> None:
    world = standing(World())
    walk = er.walk(er.preset("woman"), 0.7, seconds=8.0, fps=FPS)
    world = world.with_character("bea", er.place(walk, (0.0, -1.0), 0.0))
    actor, columns = Director(world, QUICK, FPS, 0).actor("ann"), columns_of(world, 0.0, [np.zeros(2)])

    def path(*points: tuple[float, float]) -> WalkPath:
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        return WalkPath(np.array(points), (WALK,) * len(points), length, length, columns)

    behind, aside = path((0.0, 0.0), (0.0, -4.0)), path((0.0, 0.0), (1.0, -0.5), (1.0, -3.5), (0.0, -4.0))
    way, speed, delay = next(past_people(world, actor, [behind, aside], 1.25))
    assert way is behind and (speed, delay) != (1.25, 0.0)


def test_a_hand_at_a_wall_is_one_collision() -> None:
    world = standing(World())
    actor = Director(world, QUICK, FPS, 0).actor("ann")
    fingers = [f"ann.right_{finger}{k}" for finger in ("thumb", "index", "middle", "ring") for k in (1, 2, 3)]
    hand = [Unproven(Pair(name, "wall"), (1.0 + 0.01 * k, 1.2), ("ann",)) for k, name in enumerate(fingers)]
    assert _little(world, actor, hand)
    assert not _little(world, actor, [*hand, Unproven(Pair("ann.right_shin", "wall"), (1.0, 1.2), ("ann",))])
    often = [Unproven(Pair(fingers[0], "wall"), (float(k), k + 0.2), ("ann",)) for k in range(7)]
    assert not _little(world, actor, often)


def test_what_is_put_onto_an_uneven_surface_stands_on_its_highest_point() -> None:
    slope = box((0.4, 0.4, 0.1), (0.0, 0.0, 0.5)).moved(transform(np.zeros(3), about(np.array([1.0, 0.0, 0.0]), 0.1)))
    world = World().with_static("cushion", slope).with_object("jar", prop("jar"), Still(transform([1.0, 0.0, 0.5])))
    T = place_for(world, Put(who="ann", object="jar", onto="cushion"), world.frame("jar", 0.0), 0.0)
    assert not resting(world, "jar", 0.0, transform([0.0, 0.0, 0.003]) @ T)
    assert resting(world, "jar", 0.0, transform([0.0, 0.0, -0.001]) @ T) == ["cushion"]


def test_who_is_to_run_runs() -> None:
    plan = plan_tasks(standing(World()), [Go(who="ann", to=(0.0, -8.0), gait="run")], Settings(tier="ik"), fps=FPS)
    clip = plan.world.motion("ann")
    speed = np.linalg.norm(np.diff(clip.root[:, :2], axis=0), axis=1) * FPS
    assert speed.max() > 2.3
    feet = clip.world()[:, [clip.character.role(f"{side}_foot") for side in ("left", "right")], 2, 3]
    assert (feet.min(axis=1) > feet.min() + 0.03).any(), "a run has moments in which no foot stands"


def test_people_walk_like_those_of_another_library() -> None:
    whole = er.recorded_cycles()
    one = next(c.source for c in whole.cycles if c.mode == "walk")
    few = ClipLibrary(tuple(c for c in whole.cycles if c.source == one), "few", one)
    walks = [
        plan_tasks(standing(World()), [Go(who="ann", to=(0.0, -4.0))], Settings(tier="ik", gaits=gaits), fps=FPS)
        for gaits in (None, whole, few)
    ]
    usual, same, other = (plan.world.motion("ann").rotations for plan in walks)
    np.testing.assert_array_equal(usual, same)
    assert usual.shape != other.shape or np.abs(usual - other).max() > 0.02
