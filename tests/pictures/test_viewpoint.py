"""Without a wish pictures look from where people and what they do are seen, and close-ups show what they name."""

from __future__ import annotations

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadValue, MissingExtra, UnknownName
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.mesh import Mesh
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.pictures.direction import Camera, ViewChoice
from elbowroom.pictures.images import still
from elbowroom.pictures.renderer import drawing_context
from elbowroom.world.extent import facing
from elbowroom.world.viewpoint import USUAL, axes_towards, best_azimuth, open_side
from elbowroom.world.visibility import Cells, samples, seen_from
from elbowroom.world.world import World

FRONT = np.array([0.0, -1.0, 0.0])
RISE = float(np.radians(16.0))
PERSON = human()
ALONE = World().with_character("ann", PERSON)


def eye_azimuth(world: World, camera: Camera, t: float | None = None) -> float:
    """Degrees from the person's front, in -180..180, from which a picture of a world is taken."""
    span = None if t is None else (t, t)
    back = ViewChoice(world, camera, 1.5, span=span).view(t or 0.0).axes[2]
    front = facing(next(iter(world.characters.values())), np.linspace(*world.span, 9))
    turn = np.arctan2(back[1], back[0]) - np.arctan2(front[1], front[0])
    return float(np.degrees((turn + np.pi) % (2.0 * np.pi) - np.pi))


def directions(degrees) -> np.ndarray:
    return np.array([axes_towards(FRONT, np.radians(a), RISE)[2] for a in degrees])


@pytest.fixture(scope="module")
def bookshelf() -> World:
    return scenario("bookshelf").board().world


def test_in_the_open_the_view_is_three_quarter_from_the_front():
    assert eye_azimuth(ALONE, Camera()) == pytest.approx(38.0, abs=0.5)
    assert eye_azimuth(ALONE, Camera.looking()) == pytest.approx(38.0, abs=0.5)


def test_somebody_before_a_bookcase_is_seen_and_drawn_from_the_near_side(bookshelf):
    assert abs(eye_azimuth(bookshelf, Camera())) > 90.0  # she faces the case, the eye is on her side of it
    try:
        drawing_context().release()
    except MissingExtra as missing:
        pytest.skip(str(missing))
    bare = bookshelf.with_(static={})
    shown = {}
    for name, camera in (("chosen", Camera()), ("usual", Camera(azimuth=USUAL))):
        view = ViewChoice(bookshelf, camera, 1.5, span=(0.0, 0.0)).view(0.0)
        back = view.axes[2]
        fixed = Camera(
            azimuth=float(np.arctan2(back[1], back[0]) - np.pi / 2),
            elevation=RISE,
            target=(0.0, -0.3, 0.9),
            distance=5.0,
        )
        alone, nobody, walled = (
            still(world, size=(180, 120), camera=fixed).astype(int)
            for world in (bare, bare.with_(characters={}, objects={}), bookshelf)
        )
        person = np.abs(alone - nobody).max(axis=-1) > 60
        assert person.sum() > 300
        shown[name] = float((np.abs(alone - walled).max(axis=-1)[person] < 40).mean())
    assert shown["usual"] < 0.5 < 0.8 < shown["chosen"]


def test_an_azimuth_that_is_given_is_kept(bookshelf):
    for degrees in (38.0, -20.0, 170.0):
        assert eye_azimuth(bookshelf, Camera(azimuth=np.radians(degrees))) == pytest.approx(degrees, abs=0.5)
    assert eye_azimuth(bookshelf, Camera.looking("front")) == pytest.approx(0.0, abs=0.5)


def test_the_same_world_is_seen_from_the_same_side_at_every_moment(bookshelf):
    again = scenario("bookshelf").board().world
    sides = [eye_azimuth(world, Camera(), t) for world in (bookshelf, again) for t in (0.0, 3.0, 9.0)]
    assert np.ptp(sides) < 1.0


def test_what_stands_in_the_way_hides_and_what_stands_behind_does_not():
    backs = directions([0.0, 180.0])
    board = box([1.6, 0.04, 2.2], at=[0.0, -0.9, 1.1])
    free, walled = (seen_from(w, [0.0], backs) for w in (ALONE, ALONE.with_static("board", board)))
    assert free[0] > free[1] > 0.1  # a face counts
    assert walled[0] < 0.1 and walled[1] > 0.2
    moving = ALONE.with_object("board", board, lambda t: transform([0.0, 1.8 * t, 0.0]))
    early, late = (seen_from(moving, [t], backs) for t in (0.0, 1.0))
    assert early[0] < early[1] and late[0] > late[1]


def test_walls_that_pictures_cut_open_hide_nothing():
    wall = box([6.0, 0.1, 2.5], at=[0.0, -1.4, 1.25])
    assert seen_from(ALONE.with_static("wall", wall), [0.0], directions([0.0]))[0] > 0.5
    assert best_azimuth(ALONE.with_static("wall", wall), FRONT, RISE, np.array([0.0])) == USUAL
    near = box([1.9, 0.1, 2.5], at=[0.0, -1.4, 1.25])
    assert seen_from(ALONE.with_static("near", near), [0.0], directions([0.0]))[0] < 0.1


def test_an_eye_to_which_walls_are_not_cut_open_looks_past_or_over_them():
    rises, times = (RISE, 2.0 * RISE, 3.0 * RISE), np.array([0.0])
    assert open_side(ALONE, FRONT, rises, times, 6.0) == (USUAL, RISE)
    walled = ALONE.with_static("wall", box([6.0, 0.1, 2.5], at=[0.0, -1.4, 1.25]))
    backs = [axes_towards(FRONT, *side)[2] for side in ((USUAL, RISE), open_side(walled, FRONT, rises, times, 6.0))]
    usual, chosen = seen_from(walled, times, backs, reach=6.0, cut_open=False)
    assert usual < 0.2 and chosen > 0.5


def test_a_trunk_hides_what_is_behind_it():
    points = np.array([[0.0, -0.4, 1.1]])
    seen = seen_from(ALONE, [0.0], directions([0.0, 180.0]), only=points)
    assert seen.tolist() == [1.0, 0.0]


def test_samples_of_a_mesh_leave_no_gaps_a_line_of_sight_fits_through():
    sliver = Mesh([[0.0, 0.0, 0.0], [2.0, 0.0, 0.01], [0.1, 0.0, 1.0]], [[0, 1, 2]])
    for mesh in (sliver, box([1.0, 0.02, 1.0]), sphere(0.4)):
        cells = Cells(np.full(3, -2.5), np.full(3, 2.5))
        cells.mark(samples(mesh, cells.apart))
        rng = np.random.default_rng(7)
        corners = mesh.vertices[mesh.faces[rng.integers(len(mesh.faces), size=400)]]
        on = np.einsum("nk,nki->ni", rng.dirichlet([1.0, 1.0, 1.0], 400), corners)
        ahead = np.array([[0.0, 1.0, 0.0]])
        assert cells.hides(on - [0.0, 0.2, 0.0], ahead, (0.0, 0.4), np.zeros(1)).mean() > 0.99
        assert not cells.hides(on + [0.0, 1.0, 0.0], ahead, (0.0, 0.4), np.zeros(1)).any()


@pytest.mark.parametrize(("target", "least"), [("ann.right_hand", 0.0), ("ball", 0.0), ("ann", 1.0)])
def test_a_close_up_has_its_subject_in_the_middle_all_the_time(target, least):
    where = [0.4, -0.5, 1.3]
    root = PERSON.skeleton.offsets[0] + np.linspace([0.0, 0.0, 0.0], [0.5, -1.0, 0.0], 61)
    gliding = Clip(PERSON, 30.0, root, np.tile(PERSON.skeleton.rest, (61, 1, 1)))
    world = (
        World()
        .with_character("ann", gliding)
        .with_object("ball", sphere(0.05), lambda t: transform(np.add(where, [0.2 * t, 0.0, 0.0])))
    )
    direction = ViewChoice(world, Camera(target=target), 1.5)
    for t in np.linspace(*world.span, 5):
        place = world.frame(target, t)[:3, 3]
        view = direction.view(t)
        right, up, back = view.axes @ (place - view.eye)
        assert -back > 0.3 + least and np.hypot(right, up) < 0.25 * -back
    spanned = ViewChoice(world, Camera(target=target, span=0.4), 1.5).view(0.0)
    wide = ViewChoice(world, Camera(target=target, span=0.8), 1.5).view(0.0)
    middle = spanned.eye - spanned.axes[2] * 0.2 / np.tan(0.5 * spanned.field_of_view)
    assert np.allclose(wide.eye - wide.axes[2] * 0.4 / np.tan(0.5 * wide.field_of_view), middle, atol=1e-6)


def test_close_ups_of_nothing_are_refused():
    with pytest.raises(UnknownName, match="ann"):
        ViewChoice(ALONE, Camera(target="bob.right_hand"), 1.0)
    with pytest.raises(UnknownName, match="right_hand"):
        ViewChoice(ALONE, Camera(target="ann.right_hnd"), 1.0)
    with pytest.raises(BadValue):
        Camera(span=0.0)
