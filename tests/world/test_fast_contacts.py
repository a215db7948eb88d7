"""What may touch may touch, as deep and as long as is told: hands on things, things on what they rest on."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.character.limits import sample_pose
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box, merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import FREE, HIT, UNCERTAIN, LimbCheck
from elbowroom.world.paths import Keyed, KeyedState, Still
from elbowroom.world.things import Fixture, Joint
from elbowroom.world.world import World

ANN = human(skin=False)
REST = np.tile(rot.IDENTITY, (3, 1))
FINGERTIP = "ann.right_middle3"


def standing(seconds: float = 2.0, fps: float = 30.0) -> Clip:
    """Standing in the rest pose, her head turning so that the world moves."""
    frames = int(seconds * fps) + 1
    q = np.tile(rot.IDENTITY, (frames, len(ANN.skeleton), 1))
    q[:, ANN.role("head")] = rot.about([0, 0, 1.0], 0.1 * np.sin(np.linspace(0.0, 6.0, frames)))
    return Clip(ANN, fps, np.tile(ANN.skeleton.T_rest[0, :3, 3], (frames, 1)), q)


def tip(name: str = FINGERTIP) -> np.ndarray:
    """The point of a part of hers that is farthest to her right in the rest pose."""
    exact = ExactWorld(World().with_character("ann", ANN)).place(0.0)
    (i,) = (i for i, p in enumerate(exact.parts) if p.name == name)
    middle = 0.5 * (exact.placed.low[i] + exact.placed.high[i])
    return np.array([exact.placed.low[i, 0], middle[1], middle[2]])


def beside(depth: float) -> World:
    """A cube into whose face the right middle finger presses by so many metres."""
    world = World(floor=None).with_character("ann", standing())
    cube = box((0.06, 0.012, 0.012))
    return world.with_object("cube", cube, Still(transform(tip() + [-0.03 + depth, 0.0, 0.0])))


def told(world: World, who: str, on: str, during: tuple[float, float], depth: float, kind: str = "grip") -> World:
    return world.with_contact(Contact(who, on, during, kind, depth))  # type: ignore[arg-type]


@pytest.mark.parametrize("who", [FINGERTIP, "ann"])
def test_fingers_may_press_into_a_thing_while_it_is_told(who: str) -> None:
    world = told(beside(0.004), who, "cube", (0.5, 1.0), 0.005)
    check = LimbCheck(world, "ann")
    assert [check.verdict(REST, t)[0] for t in (0.2, 0.75, 1.5)] == [HIT, FREE, HIT]
    assert [check.free(REST, t) for t in (0.2, 0.499, 0.5, 0.75, 1.0, 1.001, 1.5)] == [
        False, False, True, True, True, False, False,
    ]  # fmt: skip
    assert check.blame(REST, 0.75) is None and check.blame(REST, 1.5) == (FINGERTIP, "cube")
    exact = ExactWorld(world)
    assert [exact.free(t) for t in (0.2, 0.75, 1.5)] == [False, True, False]
    found = certify(world)
    assert not found.free and {c.pair for c in found.collisions} == {(FINGERTIP, "cube")}
    assert all(c.during[1] <= 0.51 or c.during[0] >= 0.99 for c in found.collisions)
    assert (FINGERTIP, "cube") in {a.pair for a in found.allowed}


def test_fingers_may_not_press_deeper_than_told() -> None:
    world = told(beside(0.004), FINGERTIP, "cube", (0.0, 2.0), 0.003)
    check = LimbCheck(world, "ann")
    assert check.verdict(REST, 1.0)[0] != FREE and not check.free(REST, 1.0)
    assert check.blame(REST, 1.0) == (FINGERTIP, "cube")
    assert not ExactWorld(world).free(1.0) and not certify(world).free
    # what may be touched may be near, too, whatever margin is asked for
    world = told(beside(-0.004), FINGERTIP, "cube", (0.0, 2.0), 0.003)
    assert LimbCheck(world, "ann", margin=0.01).verdict(REST, 1.0)[0] == FREE
    assert not LimbCheck(beside(-0.004), "ann", margin=0.01).free(REST, 1.0)


def test_an_instant_knows_its_contacts() -> None:
    world = told(beside(0.004), "ann", "cube", (0.5, 1.0), 0.005)
    for t, code in ((0.2, HIT), (0.5, FREE), (0.75, FREE), (1.5, HIT)):
        check = LimbCheck(world, "ann", during=(t, t))
        assert check.verdict(REST, t)[0] == code and check.free(REST, t) == (code == FREE)


def test_the_palm_on_a_thing_is_left_to_the_exact_test() -> None:
    exact = ExactWorld(World().with_character("ann", ANN)).place(0.0)
    (i,) = (i for i, p in enumerate(exact.parts) if p.name == "ann.right_hand")
    low, high = exact.placed.low[i], exact.placed.high[i]
    top = np.array([0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), low[2] - 0.05 + 0.003])
    world = (
        World(floor=None)
        .with_character("ann", standing())
        .with_object("block", box((0.04, 0.04, 0.1)), Still(transform(top)))
    )
    depth = next(h.depth for h in ExactWorld(world).touches(0.0) if h.pair == ("ann.right_hand", "block"))
    assert depth is not None and depth > 0.0
    check = LimbCheck(told(world, "ann", "block", (0.0, 2.0), depth + 0.001), "ann")
    assert check.verdict(REST, 1.0)[0] == UNCERTAIN and check.free(REST, 1.0)
    assert not LimbCheck(told(world, "ann", "block", (0.0, 2.0), 0.5 * depth), "ann").free(REST, 1.0)


def test_a_finger_on_a_fixture_and_on_a_static_mesh() -> None:
    at = transform(tip() + [-0.03 + 0.004, 0.0, 0.0])
    button = box((0.06, 0.012, 0.012))
    slide = Joint("slides", np.array([-1.0, 0.0, 0.0]), (0.0, 0.02))
    pressed = Fixture.at(button, slide, at, KeyedState(np.array([0.0, 1.2, 1.4]), np.array([0.0, 0.0, 0.02])))
    world = World(floor=None).with_character("ann", standing()).with_fixture("button", pressed)
    assert [LimbCheck(world, "ann").free(REST, t) for t in (0.5, 1.5)] == [False, True]
    check = LimbCheck(told(world, FINGERTIP, "button", (0.0, 2.0), 0.005), "ann")
    assert check.verdict(REST, 0.5)[0] == check.verdict(REST, 1.3)[0] == FREE
    fixed = World(
        floor=None, static={"button": button.moved(at), "wall": box((0.1, 1.0, 1.0), tuple(tip() + [-0.2, 0, 0]))}
    )
    fixed = told(fixed.with_character("ann", standing()), "ann", "button", (0.5, 1.0), 0.005)
    check = LimbCheck(fixed, "ann")
    assert [check.verdict(REST, t)[0] for t in (0.2, 0.75, 1.5)] == [HIT, UNCERTAIN, HIT]
    assert [check.free(REST, t) for t in (0.2, 0.5, 0.75, 1.0, 1.5)] == [False, True, True, True, False]
    lean = REST.copy()
    lean[0] = rot.about([0.0, 0.0, 1.0], 0.3)
    far = LimbCheck(
        fixed.with_(static={"button": button.moved(at), "wall": box((0.3, 0.3, 0.3), (-0.6, -0.25, 1.4))}), "ann"
    )
    assert far.verdict(lean, 0.75)[0] != FREE and not far.free(lean, 0.75), "only the button may be touched"


def shelf_and_book(depth: float) -> World:
    """A book in her right hand from 0.5 to 1.5 s that stands on a board, by so much in it, all the time."""
    book = box((0.03, 0.15, 0.2))
    middle = tip("ann.right_hand") + [-0.05, 0.0, -0.13]
    board = box((0.3, 0.4, 0.02), (float(middle[0]), float(middle[1]), float(middle[2]) - 0.1 - 0.01 + depth))
    world = World(floor=None, static={"board": board}).with_character("ann", standing())
    return world.with_object("book", book, Still(transform(middle))).with_hold("book", "ann", "right", (0.5, 1.5))


def test_a_book_rests_on_its_board_before_while_and_after_it_is_held() -> None:
    bare = shelf_and_book(0.001)
    check = LimbCheck(bare, "ann")
    assert check.verdict(REST, 1.0)[0] == HIT and check.blame(REST, 1.0) == ("book", "board")
    world = told(bare, "book", "board", (0.0, 2.0), 0.002, "support")
    check = LimbCheck(world, "ann")
    assert all(check.free(REST, t) for t in (0.2, 0.5, 0.503, 1.0, 1.499, 1.5, 1.8))
    assert certify(world).free and not certify(bare).free
    assert ExactWorld(world).free(1.0) and not ExactWorld(bare).free(1.0)
    short = LimbCheck(told(bare, "book", "board", (0.0, 1.0), 0.002, "support"), "ann")
    assert short.free(REST, 0.9) and short.blame(REST, 1.2) == ("book", "board")
    deep = told(shelf_and_book(0.004), "book", "board", (0.0, 2.0), 0.002, "support")
    assert not LimbCheck(deep, "ann").free(REST, 1.0) and not certify(deep).free


def cabinet(width: float = 0.39) -> tuple[Mesh, Mesh]:
    """A cabinet of five boards and the drawer in it, which sags into the lower one by a millimetre."""
    boards = [((0.02, 0.4, 0.24), (0.21, 0, 0)), ((0.02, 0.4, 0.24), (-0.21, 0, 0)), ((0.44, 0.4, 0.02), (0, 0, 0.13)),
              ((0.44, 0.4, 0.02), (0, 0, -0.13)), ((0.44, 0.02, 0.24), (0, 0.21, 0))]  # fmt: skip
    return merge([box(size, at) for size, at in boards]), box((width, 0.38, 0.2), (0.0, 0.0, -0.021))


def test_a_drawer_in_its_cabinet() -> None:
    frame, drawer = cabinet()
    slide = Joint("slides", np.array([0.0, -1.0, 0.0]), (0.0, 0.3))
    at = transform([1.5, 0.0, 0.6])
    state = KeyedState(np.array([0.0, 0.5, 1.5, 2.0]), np.array([0.0, 0.0, 0.3, 0.3]))
    world = World(floor=None, static={"cabinet": frame.moved(at)}).with_character("ann", standing())
    world = world.with_fixture("drawer", Fixture.at(drawer, slide, at, state))
    found = certify(world)
    assert {c.pair for c in found.collisions} == {("drawer", "cabinet")}
    open_ = told(world, "drawer", "cabinet", (0.0, 2.0), 0.002, "support")
    assert certify(open_).free and all(ExactWorld(open_).free(t) for t in (0.0, 1.0, 2.0))
    assert ("drawer", "cabinet") in {a.pair for a in certify(open_).allowed}
    part = certify(told(world, "drawer", "cabinet", (0.0, 1.0), 0.002, "support"))
    assert not part.free and all(c.during[0] > 0.99 for c in part.collisions)
    squeezed = world.with_fixture("drawer", Fixture.at(cabinet(0.402)[1], slide, at, state))
    tight = certify(told(squeezed, "drawer", "cabinet", (0.0, 2.0), 0.002, "support"))
    assert not tight.free, "what both sides squeeze cannot be shifted clear, and no depth is proven of it"


@pytest.mark.parametrize("depth", [0.002, 0.01])
def test_nothing_is_free_that_the_exact_test_hits(depth: float) -> None:
    fingers = ANN.chain("right_fingers").joints
    clip = standing(1.0)
    q = clip.rotations.copy()
    for j in fingers:
        q[:, j] = rot.about([0, 1.0, 0], -np.linspace(0.0, 0.8, len(q)))
    arm = ANN.chain("right_arm").joints
    at = [-0.55, -0.3, 1.35]
    for moving in (clip, clip.with_(rotations=q)):
        world = World(floor=None, static={"post": box((0.05, 0.05, 1.0), (-0.5, -0.1, 1.5))}).with_character(
            "ann", moving
        )
        world = world.with_object("jar", box((0.12, 0.12, 0.2)), Still(transform(at)))
        world = told(told(world, "ann", "jar", (0.2, 0.6), depth), "ann.right_hand", "post", (0.3, 0.8), depth)
        check = LimbCheck(world, "ann", rate=60.0)
        rng = np.random.default_rng(1)
        t = rng.uniform(0.0, 1.0, 2000)
        t[::7] = np.round(t[::7] * 60.0) / 60.0
        turns = sample_pose([ANN.limits[j] for j in arm], rng, len(t))
        codes, true = check.batch(turns, t, resolve_uncertain=True), check.hits_batch(turns, t)
        assert not np.any((codes == FREE) & true) and not np.any((codes == HIT) & ~true)
        assert (codes == FREE).sum() > 300 and (codes == HIT).sum() > 300
        assert not np.any(check.free_batch(turns, t) & true)
        blamed = [check.blame(turns[i], float(t[i])) for i in range(60)]
        assert [b is None for b in blamed] == check.free_batch(turns[:60], t[:60]).tolist()


def test_depths_between_rows_are_those_of_the_moment() -> None:
    """A block swings to and fro between rows; the palm may touch it, and tables may be off by what the depth allows."""
    exact = ExactWorld(World().with_character("ann", ANN)).place(0.0)
    (i,) = (i for i, p in enumerate(exact.parts) if p.name == "ann.right_hand")
    low, high = exact.placed.low[i], exact.placed.high[i]
    times = np.linspace(0.0, 1.0, 41)
    below = np.array([0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), low[2] - 0.05])
    heave = below + np.outer(0.003 + 0.002 * np.sin(40.0 * times), [0.0, 0.0, 1.0])
    world = World(floor=None).with_character("ann", standing(1.0))
    world = world.with_object("block", box((0.04, 0.04, 0.1)), Keyed.along(times, heave))
    seen = ExactWorld(world)
    deep = [-(seen.place(t).distance(("ann.right_hand", "block")).value or 0.0) for t in times]
    allowed = 0.5 * (min(deep) + max(deep))
    assert max(deep) > allowed + 1e-4 > min(deep) + 2e-4
    check = LimbCheck(told(world, "ann", "block", (0.0, 1.0), allowed), "ann", rate=30.0)
    t = np.random.default_rng(3).uniform(0.0, 1.0, 150)
    free, true = check.free_batch(np.tile(REST, (len(t), 1, 1)), t), check.hits_batch(np.tile(REST, (len(t), 1, 1)), t)
    assert np.array_equal(free, ~true) and 20 < free.sum() < 130
