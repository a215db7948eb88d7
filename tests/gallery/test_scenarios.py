"""Scenarios of the gallery that ask for hands: done, proven, and things where they should be."""

from functools import cache

import numpy as np
import pytest
from intended import deep_contacts

from conftest import benchmark_module
from elbowroom.character.body import Character
from elbowroom.gallery.scenes import scenario, scenarios
from elbowroom.motion.quality import worst_quality
from elbowroom.plan.state.result import Plan
from elbowroom.plan.tasks import Close, Grab, Open, Press, Put
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import Storyboard
from elbowroom.world.things import Fixture
from elbowroom.world.world import World

# The large bookshelf is the small one with more books: `benchmarks/gallery.py` has it.
ASKING = [name for name, s in scenarios().items() if "K9" in s.features and name != "bookshelf-large"]

# Others, of all kinds, that take at most five seconds each and no large meshes; `benchmarks/gallery.py` has them all.
QUICK = [
    "adult-and-child",
    "box-table",
    "car-engine",
    "car-trunk",
    "clown-box",
    "hat-thief",
    "long-legs-box",
    "long-pole",
    "regrasp",
    "step-over",
    "pillar",
    "through-the-gap",
    "tree-branch",
    "under-the-bar",
    "under-the-sink",
    "walk-and-take",
]

counted = benchmark_module("planning_time").counted


@cache
def planned(name: str) -> tuple[Storyboard, Plan]:
    """A scenario and its plan, worked out once for all tests."""
    board = scenario(name).board()
    return board, plan_storyboard(board, seed=1)


def fixture(world: World, name: str) -> Fixture:
    """A drawer, door or button of a world."""
    found = world.objects[name]
    assert isinstance(found, Fixture)
    return found


def check_put(board: Storyboard, world: World) -> None:
    """What was put lies where it was to lie, as upright as it was, and nobody holds it any more."""
    for task in board.tasks:
        if isinstance(task, Put):
            before, after = (w.frame(task.object, w.span[1]) for w in (board.world, world))
            assert task.to is not None
            np.testing.assert_allclose(after[:3, 3], task.to, atol=1e-3)
            np.testing.assert_allclose(after[:3, 2], before[:3, 2], atol=1e-3)
            assert all(h.during[1] < world.span[1] for h in world.holds if h.object == task.object)


def check_held(board: Storyboard, world: World) -> None:
    """Each thing that was taken was in a hand for a while, and goes with it."""
    for task in board.tasks:
        if isinstance(task, Grab):
            (hold,) = [h for h in world.holds if h.object == task.object]
            times = np.linspace(*hold.during, 7)[1:-1]
            local = [np.linalg.inv(world.hand(hold.by, hold.hand, t)) @ world.frame(task.object, t) for t in times]
            np.testing.assert_allclose(local, [local[0]] * len(local), atol=1e-6)
            way = [world.frame(task.object, t)[:3, 3] for t in times]
            assert np.linalg.norm(np.ptp(way, axis=0)) > 0.1


def tilts(world: World) -> dict[str, float]:
    """How far things that are to stay level are tilted in hands at most, degrees, by name."""
    found: dict[str, float] = {}
    for hold in world.holds:
        if world.objects[hold.object].freedom == "level":
            times = np.linspace(max(hold.during[0], world.span[0]), min(hold.during[1], world.span[1]), 120)
            up = world.frame(hold.object, times[0])[:3, :3].T @ [0.0, 0.0, 1.0]
            least = min((world.frame(hold.object, t)[:3, :3] @ up)[2] for t in times)
            found[hold.object] = max(found.get(hold.object, 0.0), float(np.degrees(np.arccos(min(least, 1.0)))))
    return found


def check_level(world: World) -> None:
    """What is to stay level does, or the plan tells that it does not."""
    for thing, tilt in tilts(world).items():
        told = any(f"{thing} is tilted by up to" in note for note in world.notes)
        assert told or tilt < 16.0, f"{thing} is tilted by {tilt:.0f} degrees"


def check_fixtures(board: Storyboard, world: World) -> None:
    """Each fixture was moved as far as was asked for, and no faster than a hand does that."""
    times = np.linspace(*world.span, 400)
    for task in board.tasks:
        if isinstance(task, Open | Close | Press):
            states = np.array([fixture(world, task.fixture).state(t) for t in times])
            low, high = fixture(world, task.fixture).joint.range
            usual = low if isinstance(task, Close) else high
            wanted = usual if task.to is None else task.to
            assert np.abs(states - wanted).min() < 1e-3
            assert np.abs(np.diff(states)).max() < 0.1
    for name in {t.fixture for t in board.tasks if isinstance(t, Open | Close | Press)}:
        last = [t for t in board.tasks if isinstance(t, Open | Close | Press) and t.fixture == name][-1]
        low, high = fixture(world, name).joint.range
        end = low if isinstance(last, Close | Press) else (high if last.to is None else last.to)
        assert fixture(world, name).state(world.span[1]) == pytest.approx(end, abs=1e-3)


def test_every_scenario_loads_with_its_tasks() -> None:
    for name in scenarios():
        board = scenario(name).board()
        assert board.world.characters and board.world.span[1] >= board.world.span[0], name


@pytest.mark.parametrize("name", ASKING)
def test_it_is_done_and_proven(name: str) -> None:
    board, plan = planned(name)
    assert plan.found, f"{plan.status}: {plan.why}"
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    assert not deep_contacts(plan)
    check_put(board, plan.world)
    check_held(board, plan.world)
    check_fixtures(board, plan.world)
    check_level(plan.world)
    found = worst_quality(plan.world.characters.values())
    assert found.foot_slide_m < 0.01
    assert found.limit_violations == 0


@pytest.mark.parametrize("name", QUICK)
def test_quick_ones_are_found_and_proven(name: str) -> None:
    plan = plan_storyboard(scenario(name).board())
    assert plan.found, f"{plan.status}: {plan.why}"
    assert plan.certificate is not None and plan.certificate.free and plan.certificate.continuous
    assert worst_quality(plan.world.characters.values()).limit_violations == 0


def heights(name: str, who: str, joint: str) -> np.ndarray:
    """Heights of a joint over a planned scenario, metres."""
    world = planned(name)[1].require().world
    motion = world.motion(who)
    assert isinstance(motion.body, Character)
    T = motion.body.transforms(*motion.sample(np.linspace(*world.span, 200)))
    return np.asarray(T[:, motion.body.role(joint), 2, 3])


@pytest.mark.parametrize("name", ["jar", "low-shelf"])
def test_what_is_carried_level_stays_so_on_a_searched_way(name: str) -> None:
    plan = planned(name)[1].require()
    assert any(p.reason.startswith("put") and p.tier == "plan" for p in plan.edits)
    assert 0.0 < max(tilts(plan.world).values()) < 15.0


def test_knees_bend_for_a_low_shelf() -> None:
    pelvis = heights("low-shelf", "ann", "pelvis")
    assert pelvis[0] - pelvis.min() > 0.15


def test_heels_rise_for_a_high_board() -> None:
    heel = heights("top-shelf", "bob", "left_foot")
    assert heel.max() - heel[0] > 0.02


@pytest.mark.parametrize(
    ("name", "postures", "exact", "reaches"), [("jar", 100_000, 2_850, 24), ("bookshelf", 68_000, 7_000, 11)]
)
def test_planning_looks_at_no_more_than_it_needs(name: str, postures: int, exact: int, reaches: int) -> None:
    # about 1.4 times what `benchmarks/planning_time.py --seed 1` counts
    planned(name)  # what is looked at once, and kept in the cache, is no part of the count
    with counted() as counts:
        plan_storyboard(scenario(name).board(), seed=1)
    assert 0 < counts["postures"] < postures
    assert 0 < counts["exact tests"] < exact
    assert 0 < counts["reaches"] < reaches
