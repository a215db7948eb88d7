"""Pictures show what is there, where it is, in its colours, and films hold all of their frames."""

from __future__ import annotations

import imageio.v3 as iio
import moderngl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elbowroom.character.visual import visible
from elbowroom.errors import BadFile, BadValue, MissingExtra, UnknownName
from elbowroom.files.bvh import read_bvh
from elbowroom.gallery.scenes import scenario
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip, Source
from elbowroom.pictures.direction import LOOKS, Camera, ViewChoice, whole_span
from elbowroom.pictures.images import draw, film, still, strip, write_png
from elbowroom.pictures.renderer import Renderer, drawing_context
from elbowroom.pictures.surfaces import Cloud
from elbowroom.world.extent import action, joint_transforms
from elbowroom.world.world import World
from tools import small_worlds

SMALL = (192, 128)
SWINGING = World().with_character("ann", small_worlds.moving(small_worlds.person()))


@pytest.fixture(scope="module", autouse=True)
def _graphics():
    try:
        drawing_context().release()
    except MissingExtra as missing:
        pytest.skip(str(missing))


def walker(metres: float = 12.0, frames: int = 61) -> Clip:
    """A person who glides straight ahead (-Y)."""
    person = small_worlds.person(skin=False, turned=False)
    root = np.tile(person.skeleton.offsets[0], (frames, 1))
    root[:, 1] -= np.linspace(0.0, metres, frames)
    return Clip(person, 30.0, root, np.tile(person.skeleton.rest, (frames, 1, 1)))


def in_picture(view, points, aspect):
    """Points (N, 3) in picture coordinates, -1..1 across width and height, and their depth before the eye."""
    local = (points - view.eye) @ view.axes.T
    slope = np.tan(0.5 * view.field_of_view)
    return local[:, :2] / (-local[:, 2:] * slope * [aspect, 1.0]), -local[:, 2]


def reddish(picture):
    p = picture.astype(int)
    return (p[..., 0] > p[..., 1] + 40) & (p[..., 0] > p[..., 2] + 40)


def test_a_still_shows_things_where_they_are_and_in_their_colours():
    at = np.array([0.4, -0.3, 1.2])
    world = World().with_static("post", box([0.1, 0.1, 1.8], at=[-0.5, 0.2, 0.9], color=(0.1, 0.2, 0.6)))
    world = world.with_object("ball", sphere(0.08, color=(0.8, 0.05, 0.05)), lambda t: transform(at))
    with Renderer(world, size=(480, 320), camera=Camera.looking("side", margin=0.3)) as renderer:
        picture, view = renderer.draw(0.0), renderer.direction.view(0.0)
    assert picture.shape == (320, 480, 3) and picture.dtype == np.uint8
    rows, columns = np.nonzero(reddish(picture))
    (expected,), _ = in_picture(view, at[None], 1.5)
    found = np.array([columns.mean() / 240 - 1, 1 - rows.mean() / 160])
    assert np.abs(found - expected).max() < 0.02
    area = np.pi * (0.08 / np.linalg.norm(at - view.eye) / np.tan(0.5 * view.field_of_view) * 160) ** 2
    assert 0.85 < len(rows) / area < 1.15


def test_things_cast_shadows_and_nearer_things_hide_farther_ones():
    def world(height: float) -> World:
        return World().with_static("plate", box([1.0, 1.0, 0.05], at=[0, 0, height], color=(0.2, 0.2, 0.2)))

    camera = Camera(azimuth=0.6, elevation=0.7, distance=9.0, target=(0.0, 0.0, 0.2))
    on_floor, aloft = (still(world(h), size=SMALL, camera=camera).astype(int) for h in (0.03, 0.8))
    empty = still(World(), size=SMALL, camera=camera).astype(int)
    darker = (empty - aloft).min(axis=-1) > 12
    plate = aloft.max(axis=-1) < 160
    shadow = darker & ~plate
    assert shadow.sum() > 0.3 * plate.sum()
    assert (((empty - on_floor).min(axis=-1) > 12) & (on_floor.max(axis=-1) >= 160)).sum() < 0.5 * shadow.sum()
    front = World(floor=None).with_static("near", box([1, 0.1, 1], at=[0, -1, 0], color=(0.8, 0.05, 0.05)))
    both = front.with_static("far", box([0.9, 0.1, 0.9], at=[0, 1, 0], color=(0.0, 0.5, 0.0)))
    picture = still(both, size=SMALL, camera=Camera.looking("front", elevation=0.0)).astype(int)
    assert reddish(picture).any() and not (picture[..., 1] > picture[..., 0] + 30).any()


@settings(max_examples=25, deadline=None)
@given(
    azimuth=st.floats(-4, 4),
    elevation=st.floats(-0.3, 1.5),
    view_angle=st.floats(0.3, 1.4),
    aspect=st.floats(0.4, 3.0),
)
def test_the_action_is_framed_whole_and_closely(azimuth, elevation, view_angle, aspect):
    world = SWINGING
    camera = Camera(azimuth=azimuth, elevation=elevation, field_of_view=view_angle)
    view = ViewChoice(world, camera, aspect).view(0.5)
    seen, depth = in_picture(view, action(world, np.linspace(*world.span, 48)), aspect)
    assert depth.min() > 0.0
    assert 0.90 < np.abs(seen).max() <= 1.0 - camera.margin + 1e-6


@pytest.mark.parametrize("look", LOOKS)
def test_a_lone_walker_is_followed_and_never_leaves_the_picture(look):
    world = World().with_character("ann", walker())
    direction = ViewChoice(world, Camera.looking(look), 1.5)
    for t in np.linspace(*world.span, 9):
        seen, _ = in_picture(direction.view(t), action(world, t), 1.5)
        assert np.abs(seen).max() < 1.0 and np.ptp(seen, axis=0).max() > 0.5
    fixed = ViewChoice(world, Camera.looking(look, follow=""), 1.5)
    assert np.allclose(fixed.view(0.0).eye, fixed.view(2.0).eye)


def test_a_recording_is_framed_in_the_skin_that_is_shown(data):
    """Heads of recorded skeletons end at a joint, those of the skin above it."""
    clip = read_bvh(data / "mocap" / "cmu_bvh" / "02_01.bvh")
    world, skin = World().with_character("ann", clip), visible(clip.character)
    direction = ViewChoice(world, Camera.looking("side"), 1.0)
    for t in np.linspace(*whole_span(world), 5):
        seen, _ = in_picture(direction.view(t), skin.posed(joint_transforms(clip, t)[0]), 1.0)
        assert np.abs(seen).max() < 0.95


@pytest.mark.parametrize("look", LOOKS)
def test_what_a_walker_carries_stays_in_the_picture(look):
    world = scenario("umbrella").board().world  # an open umbrella reaches far beyond who holds it
    direction = ViewChoice(world, Camera.looking(look), 16 / 9)
    umbrella = world.things["umbrella"]
    for t in np.linspace(*world.span, 9):
        seen, _ = in_picture(direction.view(t), umbrella.mesh.moved(umbrella.path(t)).vertices, 16 / 9)
        assert np.abs(seen).max() < 1.0


def test_looks_are_told_from_where_the_character_faces():
    turned = small_worlds.moving(small_worlds.person(turned=False))
    plain = World().with_character("ann", walker(0.0))
    head_on = ViewChoice(plain, Camera.looking("front", elevation=0.0), 1.0).view(0.0)
    assert np.allclose(head_on.axes[2], [0.0, -1.0, 0.0], atol=1e-9)  # the eye is before a person who faces -Y
    left = ViewChoice(plain, Camera.looking("side", elevation=0.0), 1.0).view(0.0)
    assert np.allclose(left.axes[2], [1.0, 0.0, 0.0], atol=1e-9)
    assert turned.body.front @ [0.0, -1.0, 0.0] > 0.99


def test_walls_between_camera_and_person_are_cut_away():
    person = World().with_character("ann", walker(0.0))
    camera = Camera.looking("front", elevation=0.1, distance=6.0)
    open_air = still(person, size=SMALL, camera=camera).astype(int)
    wall = box([6.0, 0.1, 2.5], at=[0.0, -2.0, 1.25], color=(0.7, 0.1, 0.1))
    walled = still(person.with_static("wall", wall), size=SMALL, camera=camera).astype(int)
    assert np.abs(open_air - walled)[40:100].mean() < 8.0
    board = box([2.0, 0.1, 2.5], at=[0.0, -2.0, 1.25], color=(0.7, 0.1, 0.1))  # a piece of furniture is not
    assert reddish(still(person.with_static("board", board), size=SMALL, camera=camera)).mean() > 0.2


def test_the_same_world_gives_the_same_picture_and_renderers_do_not_disturb_each_other():
    world = small_worlds.world()
    with Renderer(world, size=SMALL) as one, Renderer(World(), size=(64, 64)) as other:
        first = one.draw(0.5)
        other.draw(0.0)
        one.draw(0.1)
        again = one.draw(0.5)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, still(world, 0.1, size=SMALL))


@pytest.mark.parametrize("show", ["skin", "shapes", "bones"])
def test_every_way_to_show_a_body_draws_it_where_its_joints_are(show):
    world = World(floor=None).with_character("ann", small_worlds.moving(small_worlds.person()))
    with Renderer(world, size=(240, 240), show=show, span=(0.4, 0.4)) as renderer:
        picture, view = renderer.draw(0.4).astype(int), renderer.direction.view(0.4)
    with Renderer(World(floor=None), size=(240, 240)) as empty:
        drawn = np.abs(picture - empty.draw(0.0)).max(axis=-1) > 10
    joints = joint_transforms(world.characters["ann"], 0.4)[0, :, :3, 3]
    seen, _ = in_picture(view, joints, 1.0)
    columns, rows = ((seen * [1, -1] + 1) * 120).astype(int).T
    assert drawn[rows, columns].mean() > 0.9
    assert 0.01 < drawn.mean() < 0.5


def test_ghosts_are_fainter_than_the_body_and_shapes_lie_over_the_skin():
    world = World(floor=None).with_character("ann", walker(2.0))
    camera = Camera.looking("side", target=(0.0, -1.0, 0.9), distance=6.0)
    start, end = (still(world, t, size=SMALL, camera=camera).astype(int) for t in (0.0, 2.0))
    ghosted = still(world, 2.0, size=SMALL, camera=camera, ghosts=(0.0,)).astype(int)
    background = still(World(floor=None), size=SMALL, camera=camera).astype(int)
    solid = np.abs(start - background).max(axis=-1)
    there = (solid > 60) & (np.abs(end - background).max(axis=-1) == 0)
    assert there.sum() > 200
    faint = np.abs(ghosted - background).max(axis=-1)[there] / solid[there]
    assert 0.1 < np.median(faint) < 0.6
    now = np.abs(end - background).max(axis=-1) > 60
    assert np.abs(ghosted - end)[now].mean() < 3.0
    skinned = World(floor=None).with_character("ann", small_worlds.moving(small_worlds.person()))
    assert np.abs(still(skinned, size=SMALL, shapes_over=True).astype(int) - still(skinned, size=SMALL)).max() > 20


def test_strips_have_a_tile_for_every_time_with_its_label():
    world = small_worlds.world()
    sheet = strip(world, n=4, size=(80, 100))
    assert sheet.shape == (100, 4 * 83 - 3, 3)
    bare = strip(world, n=4, size=(80, 100), labels=False)
    changed = np.nonzero(np.any(sheet != bare, axis=(0, 2)))[0]
    assert {int(c) // 83 for c in changed} == {0, 1, 2, 3}
    assert strip(world, [0.0, 0.5, 0.9], size=(60, 60), columns=2).shape == (123, 123, 3)
    assert strip(world, n=9, size=(20, 20)).shape == (43, 112, 3)  # two rows, of five and four
    path = strip(World().with_character("ann", walker(4.0)), n=3, layout="path", size=(300, 100))
    assert path.shape == (100, 300, 3)
    with pytest.raises(BadValue):
        strip(world, n=0)
    with pytest.raises(BadValue):
        strip(world, [np.nan])


def test_along_the_path_every_figure_is_solid():
    world = World(floor=None).with_character("ann", walker(6.0))
    picture = strip(world, n=4, layout="path", size=(400, 100)).astype(int)
    empty = strip(World(floor=None), n=1, layout="path", size=(400, 100)).astype(int)
    columns = (np.abs(picture - empty).max(axis=-1) > 40).any(axis=0)
    assert np.count_nonzero(np.diff(columns.astype(int)) == 1) == 4


def test_an_artificial_first_pose_is_not_part_of_the_show():
    clip = walker()
    marked = clip.with_(source=Source(lead=3))
    assert whole_span(World().with_character("ann", clip)) == clip.span
    assert whole_span(World().with_character("ann", marked)) == pytest.approx((0.1, 2.0))


def test_clouds_draw_the_points_that_were_seen():
    points = np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.2]]] * 2)
    points[1, 1] = np.nan
    cloud = Cloud(points, fps=10.0, radius=0.05, lines=[[0, 1], [0, 2]])
    assert cloud.span == (0.0, 0.1)
    full, partial = cloud.mesh(0.0), cloud.mesh(0.1)
    assert np.isfinite(partial.vertices).all() and len(partial.faces) < len(full.faces)
    low, high = full.bounds
    assert np.allclose(low, [-0.05, -0.05, 0.15], atol=5e-3) and np.allclose(high, [1.05, 0.05, 1.05], atol=5e-3)
    empty = Cloud(np.full((1, 2, 3), np.nan))
    assert not reddish(still(World(), size=SMALL, clouds=[empty])).any()
    assert reddish(still(World(), size=SMALL, clouds=[cloud])).any()
    with pytest.raises(BadValue):
        Cloud(np.zeros((0, 2, 3)))


def test_a_film_has_every_frame_and_a_broken_off_one_leaves_nothing(tmp_path):
    world = World().with_character("ann", walker(1.0, frames=16))
    told = []
    count = film(tmp_path / "walk.mp4", world, fps=20.0, size=(97, 65), progress=lambda *k: told.append(k))
    frames = iio.imread(tmp_path / "walk.mp4")
    assert frames.shape == (count, 64, 96, 3) and count == 11
    assert told == [(k + 1, 11) for k in range(11)]
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 30

    def stop(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film(tmp_path / "stopped.mp4", world, size=(96, 64), progress=stop)
    assert [p.name for p in tmp_path.iterdir()] == ["walk.mp4"]


def test_png_files_hold_the_picture(tmp_path):
    picture = still(World(), size=(32, 24))
    write_png(tmp_path / "a.png", picture)
    assert np.array_equal(iio.imread(tmp_path / "a.png"), picture)
    with pytest.raises(BadFile):
        write_png(tmp_path / "nowhere" / "a.png", picture)


def test_draw_chooses_by_suffix_and_says_what_it_does_not_know(tmp_path):
    world = World().with_character("ann", walker(1.0, frames=4))
    draw(tmp_path / "a.png", world, size=(64, 48))
    draw(tmp_path / "b.png", world, frames=3, size=(32, 48))
    draw(tmp_path / "c.mp4", world, size=(64, 48))
    assert iio.imread(tmp_path / "a.png").shape == (48, 64, 3)
    assert iio.imread(tmp_path / "b.png").shape == (48, 102, 3)
    assert iio.imread(tmp_path / "c.mp4").shape[0] == 4
    with pytest.raises(BadFile, match=r"\.png or \.mp4"):
        draw(tmp_path / "d.gif", world)
    with pytest.raises(UnknownName, match="side"):
        draw(tmp_path / "d.png", world, look="sid")
    with pytest.raises(UnknownName, match="bones"):
        draw(tmp_path / "d.png", world, show="bone")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: still(World(), size=(4, 4)),
        lambda: still(World(), camera=Camera(distance=-1.0)),
        lambda: still(World(), camera=Camera(field_of_view=4.0)),
        lambda: film("a.mp4", World(), fps=0.0),
        lambda: film("a.avi", World()),
        lambda: still(World().with_character("ann", walker()), camera=Camera(follow="bob")),
    ],
)
def test_bad_wishes_are_refused(wrong):
    with pytest.raises((BadValue, BadFile, UnknownName)):
        wrong()


def test_a_machine_without_drivers_is_told_what_to_install(monkeypatch):
    def fails(**_: object):
        raise Exception("libEGL.so not found")

    monkeypatch.setattr(moderngl, "create_context", fails)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(MissingExtra, match="apt install libegl1"):
        still(World())
