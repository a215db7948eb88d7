"""What may touch, and how deep: capped, bounded from above over whole intervals, and told."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box, cylinder, merge
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip, Source
from elbowroom.world.allowances import HELD, allow
from elbowroom.world.certificate import certify
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_placed import Placed
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.world import World
from tools.simple_bodies import crossing, flying

ALWAYS = (-np.inf, np.inf)
ANN = human()
TABLE = box([1.0, 1.0, 0.002], at=[0.0, 0.0, 0.699])


def standing(depth: float = 0.0, frames: int = 11, **more: object) -> Clip:
    """Somebody who stands, some metres deep in the floor."""
    rest = ANN.skeleton
    root = np.tile(rest.offsets[0] - [0.0, 0.0, depth], (frames, 1))
    return Clip(ANN, 30.0, root, np.tile(rest.rest, (frames, 1, 1)), **more)


RECORDED = Source(format="BVH")


@pytest.mark.parametrize(("depth", "free"), [(0.005, True), (0.03, True), (0.06, False), (2.5, False)])
def test_a_recorded_clip_is_in_the_floor_no_deeper_than_its_feet_may_be(depth: float, free: bool) -> None:
    found = certify(World().with_character("ann", standing(depth, source=RECORDED)))
    assert found.free == free
    if free:
        deepest = max(a.depth_m for a in found.allowed if a.pair.b == "floor")
        assert depth - 1e-6 <= deepest <= 1.1 * depth + 0.001
    else:
        assert {c.pair.b for c in found.collisions} == {"floor"}


def test_caps_can_be_set() -> None:
    world = World().with_character("ann", standing(0.06, source=RECORDED))
    assert certify(world.with_(caps=Caps(feet=0.08))).free
    assert not certify(world.with_(caps=Caps(feet=0.08)), own_contacts=False).free
    assert Caps().with_changes({"own": 0.2}).own == 0.2
    with pytest.raises(UnknownName):
        Caps().with_changes({"hands": 0.2})
    with pytest.raises(BadValue):
        Caps(feet=-1.0)


def crosses(depth: float, **more: object) -> bool:
    """Whether two bars that touch each other and then cross to a depth in metres may do so."""
    return certify(World(floor=None).with_character("it", crossing([-0.01, depth, depth], **more))).free


@pytest.mark.parametrize(("depth", "free"), [(0.0085, True), (0.0115, False), (0.05, False)])
def test_a_generated_motion_touches_itself_by_ten_millimetres_at_most(depth: float, free: bool) -> None:
    world = World(floor=None).with_character("it", crossing([-0.01, depth, depth]))
    assert not certify(world).free, "nothing is allowed that no plan asks for"
    asked = world.with_contact(Contact("it.left_shin", "it.right_shin", ALWAYS, "touch", 1.0))
    assert certify(asked).free == free


@pytest.mark.parametrize(("depth", "free"), [(0.02, True), (0.05, True), (0.06, False), (0.095, False)])
def test_recorded_shins_do_not_pass_through_each_other(depth: float, free: bool) -> None:
    assert crosses(depth, source=RECORDED) == free


@pytest.mark.parametrize(
    ("roles", "thick", "depth", "free"),
    [
        (("left_forearm", "left_thigh"), (0.04, 0.08), 0.07, True),
        (("left_forearm", "left_thigh"), (0.04, 0.08), 0.081, False),
        (("left_hand", "left_thigh"), (0.02, 0.08), 0.09, True),
        (("left_hand", "left_thigh"), (0.02, 0.06), 0.079, False),
        (("left_toes", "right_foot"), (0.02, 0.03), 0.049, True),
        (("left_toes", "right_shin"), (0.02, 0.03), 0.049, False),
    ],
)
def test_recorded_parts_touch_by_their_thickness(roles: object, thick: object, depth: float, free: bool) -> None:
    assert crosses(depth, source=RECORDED, roles=roles, thick=thick) == free


def test_caps_above_the_thickness_allow_nothing_more() -> None:
    world = World(floor=None, caps=Caps(own=0.3)).with_character("it", crossing([-0.01, 0.095], source=RECORDED))
    assert not certify(world).free


def test_allowed_depths_are_bounds_between_frames_too() -> None:
    # a foot that dips 22 mm into the floor half way between two frames a tenth of a second apart
    radius = 0.1
    swing = np.array([[0.0, 0.0, 0.3], [0.0, 0.0, 0.3]])
    clip = flying(swing, 10.0, radius=radius)
    ball = clip.character.with_(roles={"left_foot": 0})
    # the ball hangs 0.2 m below a joint that turns through: lowest in the middle
    shape = ball.shapes[0]
    lowered = ball.with_(shapes=(type(shape)(shape.name, 0, shape.kind, shape.size, transform([0.0, 0.0, -0.222])),))
    turn = np.array([[np.cos(a / 2), np.sin(a / 2), 0.0, 0.0] for a in (-0.4, 0.4)])
    recorded = Clip(lowered, 10.0, swing, turn[:, None], source=RECORDED)
    found = certify(World().with_character("it", recorded))
    assert found.free
    (touch,) = found.allowed
    assert 0.022 <= touch.depth_m <= 0.0235
    assert not certify(World(caps=Caps(feet=0.021)).with_character("it", recorded)).free


def test_a_thing_that_is_named_like_a_part_of_a_body_is_refused() -> None:
    world = World().with_character("ann", standing()).with_object("ann.left_foot", box([0.1] * 3), Still(np.eye(4)))
    with pytest.raises(BadValue, match="rename one of them"):
        certify(world)


def test_a_contact_of_a_thing_is_not_one_of_its_namesakes() -> None:
    world = tray(0.7 + 0.002 + np.array([0.0, 0.0005, 0.0]))
    twin = world.objects["tray"]
    doubled = world.with_(objects={"tray.001": twin})
    assert not certify(doubled).free, "'tray' is not 'tray.001'"


def held_rod() -> World:
    rod = cylinder(0.02, 1.6)
    chest = ANN.skeleton.T_rest[ANN.roles["chest"], :3, 3]
    hand = ANN.skeleton.T_rest[ANN.roles["left_hand"], :3, 3]
    turn = [np.cos(np.pi / 4), 0.0, np.sin(np.pi / 4), 0.0]  # across, along x
    world = World().with_character("ann", standing())
    return world.with_object("rod", rod, Still(transform([0.0, hand[1], 0.5 * (chest[2] + hand[2])], turn)))


def holding(world: World) -> set[str]:
    """Parts that may press what they hold."""
    exact = ExactWorld(world)
    allow(exact, set())
    assert not exact.off, "none of it goes unmeasured"
    made = {exact.pairs[k].a: c for k, some in exact.contacts.items() for c in some if c.why == HELD}
    assert all(0.0 < c.depth <= world.caps.contact for c in made.values())
    return set(made)


def test_a_hold_lets_the_segment_that_holds_touch_and_no_more() -> None:
    held = held_rod().with_hold("rod", "ann", "chest")
    assert holding(held) == {"ann.chest"}
    hit = {c.pair.a for c in certify(held).collisions if c.pair.b == "rod"}
    assert {"left", "right"} <= {name.removeprefix("ann.").partition("_")[0] for name in hit}, (
        "it goes through both arms"
    )


def test_a_hand_that_holds_may_touch_with_its_fingers() -> None:
    hand = ANN.skeleton.T_rest[ANN.roles["right_hand"], :3, 3]
    world = World().with_character("ann", standing()).with_object("ball", box([0.12] * 3), Still(transform(hand)))
    names = holding(world.with_hold("ball", "ann", "right"))
    assert "ann.right_hand" in names and any("index" in name for name in names)
    assert not any("forearm" in name for name in names)
    assert {c.pair for c in certify(world.with_hold("ball", "ann", "right")).collisions} >= {("ann.right_hand", "ball")}


def tray(z: np.ndarray, table: Mesh = TABLE, thick: float = 0.004, **contact: object) -> World:
    """A tray at heights over a second, with what lets it touch a table."""
    times = np.linspace(0.0, 1.0, len(z))
    path = Keyed.along(times, np.column_stack([np.zeros(len(z)), np.zeros(len(z)), z]))
    world = World(floor=None).with_object("tray", box([0.3, 0.3, thick]), path).with_static("table", table)
    return world.with_contact(Contact("tray", "table", ALWAYS, "support", **contact))


def test_a_tray_may_rest_on_a_table() -> None:
    # down onto it and a millimetre into it, and up again
    top = 0.7 + 0.002
    found = certify(tray(top + np.array([0.2, 0.02, -0.001, -0.001, 0.02, 0.2])))
    assert found.free
    (touch,) = found.allowed
    assert touch.pair == ("tray", "table") and touch.shift is not None
    assert 0.001 < touch.depth_m <= 0.002 and touch.shift[2] > 0.0, "it is clear where it is shifted up"
    assert not certify(tray(top + np.array([0.2, -0.006, 0.2]))).free, "6 mm are too deep"


def test_shifts_that_are_shorter_than_the_overlap_is_deep_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []
    clear = Placed.shifted_hit

    def noted(placed: Placed, a: int, b: int, shift: np.ndarray) -> bool:
        lengths.append(float(np.linalg.norm(shift)))
        return clear(placed, a, b, shift)

    monkeypatch.setattr(Placed, "shifted_hit", noted)
    thick = box([1.0, 1.0, 0.1], at=[0.0, 0.0, 0.65])
    (touch,) = certify(tray(0.702 + np.array([0.2, 0.02, -0.0015, -0.0015, 0.02, 0.2]), thick)).allowed
    assert touch.depth_m == 0.002 and lengths
    assert min(lengths) > 0.0014, "nothing shorter can part them"


def test_a_tray_that_is_pierced_by_a_fin_does_not_rest() -> None:
    fin = merge([TABLE, box([0.1, 0.002, 0.1], at=[0.0, 0.0, 0.75])])
    z = 0.7 + 0.002 + np.array([0.0, 0.0005, 0.0])
    assert certify(tray(z)).free
    assert not certify(tray(z, fin)).free


def test_a_card_does_not_fall_through_a_thin_table() -> None:
    falling = np.linspace(0.8, 0.6, 31)
    assert not certify(tray(falling, thick=0.0004)).free
    assert not certify(tray(falling, thick=0.0004, depth=1.0)).free
    # nor in two contacts, one for either half
    half = tray(falling, thick=0.0004).with_(contacts=())
    for during in ((0.0, 0.5), (0.5, 1.0)):
        half = half.with_contact(Contact("tray", "table", during, "support", 0.005))
    assert not certify(half).free


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_a_card_does_not_fall_through_a_gap_between_two_contacts(gap: float) -> None:
    # in the sheet when one contact ends and the other begins: either half is proven by a shift of its own
    world = tray(0.699 + np.linspace(0.0045, -0.0045, 61), thick=0.0004).with_(contacts=())
    for during in ((-np.inf, 0.5 - 0.5 * gap), (0.5 + 0.5 * gap, np.inf)):
        world = world.with_contact(Contact("tray", "table", during, "support", 0.005))
    assert not certify(world).free


def test_many_ends_of_contacts_close_together_hide_no_gap() -> None:
    step, count = 0.9e-9, 300
    world = tray(0.699 + np.linspace(0.0045, -0.0045, 61), thick=0.0004).with_(contacts=())
    world = world.with_static("crumb", box([0.01] * 3, at=[3.0, 0.0, 0.0]))
    for during in ((-np.inf, 0.5), (0.5 + count * step, np.inf)):
        world = world.with_contact(Contact("tray", "table", during, "support", 0.005))
    ends = tuple(Contact("tray", "crumb", (0.5 + k * step, 1.0), "support") for k in range(1, count))
    assert not certify(world.with_(contacts=(*world.contacts, *ends))).free


def test_a_deep_contact_lends_its_depth_to_no_other() -> None:
    def world(z: float, *contacts: tuple[tuple[float, float], float]) -> World:
        made = tray(0.702 + np.array([0.0, 0.0, z, z, z])).with_(contacts=())
        for during, depth in contacts:
            made = made.with_contact(Contact("tray", "table", during, "support", depth))
        return made

    shallow, brief = (ALWAYS, 0.0005), ((0.0, 0.1), 0.005)
    assert not certify(world(-0.004, shallow, brief)).free
    assert certify(world(-0.0003, shallow, brief)).free
    assert certify(world(-0.004, shallow, (ALWAYS, 0.005))).free


def test_resting_on_a_board_does_not_excuse_the_board_above() -> None:
    shelf = merge([TABLE, box([1.0, 1.0, 0.002], at=[0.0, 0.0, 0.9])])
    # a block 0.2 high: half a millimetre deep below, and as much above
    rests = 0.7 + 0.1 - 0.0005 + np.array([0.0, 1e-5, 0.0])
    assert certify(tray(rests, thick=0.2)).free
    assert not certify(tray(rests, shelf, thick=0.2)).free
    tight = merge([TABLE, box([1.0, 1.0, 0.002], at=[0.0, 0.0, 0.902])])
    assert certify(tray(rests, tight, thick=0.2)).free, "a smaller shift does where the board above leaves no more room"


def test_told_contacts_are_cut_to_the_cap_and_that_is_said() -> None:
    rests = 0.7 + np.array([0.0, 1e-5, 0.0])
    found = certify(tray(rests + 0.002 - 0.003, depth=1.0))
    assert found.free and "1000 mm" in found.notes[0]
    assert not certify(tray(rests + 0.05 - 0.008, depth=1.0, thick=0.1)).free
