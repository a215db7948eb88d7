"""Draw the pictures of README and docs, so that they show what the package does today.

python tools/pictures.py
"""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as imageio
import numpy as np

from elbowroom.character.human import PRESETS, preset
from elbowroom.gallery.scenes import scene
from elbowroom.geometry.easing import smoothstep
from elbowroom.locomotion.course import route
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import run, walk, walk_route
from elbowroom.motion.edit import place
from elbowroom.pictures.direction import Camera
from elbowroom.pictures.gait_map import gait_map
from elbowroom.pictures.images import still, strip, write_png
from elbowroom.storyboard.plan import plan_storyboard
from elbowroom.storyboard.storyboard import parse_storyboard
from elbowroom.world.world import World

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"


def stroll() -> None:
    """The demo's walk in one picture."""
    view = Camera(azimuth=np.radians(100), elevation=np.radians(24), follow="")
    times = np.linspace(0.6, 8.2, 6)
    picture = strip(scene("stroll"), times=times, layout="path", size=(1400, 760), labels=False, camera=view)
    write_png(FOLDER / "stroll.png", picture)


def presets() -> None:
    """The built-in people side by side, standing."""
    world = World()
    for k, name in enumerate(PRESETS):
        world = world.with_character(name, place(idle(preset(name), seconds=1.0), (1.1 * k, 0.0), 0.0))
    view = Camera(azimuth=np.radians(12), elevation=np.radians(8), follow="")
    write_png(FOLDER / "presets.png", still(world, 0.5, size=(1400, 620), camera=view))


def doorway() -> None:
    """Six moments of the storyboard in the gallery."""
    view = Camera(azimuth=np.radians(205), elevation=np.radians(28), follow="")
    times = [0.3, 1.6, 2.6, 3.6, 4.6, 5.6]
    write_png(FOLDER / "doorway.png", strip(scene("doorway"), times=times, size=(470, 360), columns=3, camera=view))


def scenarios() -> None:
    """What hands do, and a clip that is repaired: six moments each."""
    for name, times in (
        ("bookshelf", (0.3, 1.32, 2.34, 3.36, 4.38, 5.4)),
        ("cheese-and-hat", (3.1, 5.4, 8.1, 11.8, 14.3, 16.3)),
        ("hat-thief", (2.6, 2.9, 3.2, 3.5, 3.8, 4.2)),
        ("ring-run", (2.4, 2.8, 3.2, 3.6, 4.0, 4.4)),
        ("handover", (0.3, 1.5, 2.5, 3.5, 4.5, 5.5)),
        ("handover-walking", (2.9, 4.2, 4.8, 5.2, 5.7, 6.5)),
        ("umbrella-two-posts", (1.2, 1.5, 1.8, 2.1, 2.4, 2.7)),
    ):
        picture = strip(scene(name), times=times, size=(300, 380), columns=6)
        write_png(FOLDER / f"{name}.png", picture)


def pillar() -> None:
    """A walk round something, from above, in one picture."""
    view = Camera(azimuth=np.radians(-60), elevation=np.radians(48), follow="")
    times = np.linspace(0.3, 4.9, 7)
    picture = strip(scene("pillar"), times=times, layout="path", size=(1400, 700), labels=False, camera=view)
    write_png(FOLDER / "pillar.png", picture)


def gaits() -> None:
    """Recorded ways of going, blended: each in six moments along its path; and the map of the recorded cycles."""
    library = recorded_cycles()
    walkers = [preset(name) for name in ("woman", "man", "child", "gorilla")]
    aside, ahead = ([[0.0, 0.0], [2.2, 0.0]], [[0.0, 0.0], [0.0, -4.0]])
    low = route(ahead, 0.0, 0.0)
    clips = (
        walk(walkers[0], 0.55, seconds=5.0, library=library),
        walk(walkers[1], 1.7, seconds=2.6, library=library),
        walk(walkers[0], 0.8, 75.0, seconds=4.0, library=library),
        run(walkers[1], 3.0, seconds=1.9, library=library),
        walk_route(walkers[0], low, library=library, low=lambda s: smoothstep(s) * smoothstep(low.length - s)),
        walk_route(walkers[1], route(aside, 0.0, 0.0, "left"), library=library),
        walk(walkers[2], 1.1, 20.0, seconds=2.6, library=library),
        walk(walkers[3], 0.8, seconds=2.6, library=library),
    )
    pictures = []
    for clip in clips:
        view = Camera(
            azimuth=np.radians(15 if np.ptp(clip.root[:, 0]) > 2.0 else 75), elevation=np.radians(12), follow=""
        )
        world = World().with_character("walker", clip)
        times = np.linspace(*clip.span, 6) if clip.duration > 4.5 else np.linspace(0.1, clip.duration - 0.1, 6)
        pictures.append(strip(world, times=times, layout="path", size=(700, 300), labels=False, camera=view))
    rows = [np.concatenate(pictures[k : k + 2], axis=1) for k in range(0, len(pictures), 2)]
    imageio.imwrite(FOLDER / "gaits.webp", np.concatenate(rows), quality=85)
    gait_map(FOLDER / "gait_map.png", library)


def tight() -> None:
    """Whole bodies in tight places, each in eight moments."""
    rows = []
    for name, azimuth in (("object-retrieval", 20), ("through-the-window", -60), ("under-the-sink", 155)):
        world = scene(name)
        view = Camera(azimuth=np.radians(azimuth), elevation=np.radians(14), follow="")
        times = np.linspace(world.span[0], world.span[1], 8)
        rows.append(strip(world, times=times, size=(240, 280), columns=8, labels=False, camera=view))
    imageio.imwrite(FOLDER / "tight.webp", np.concatenate(rows), quality=85)


_KNEE = """elbowroom: 1
scene: {floor: 0.0, meshes: [{maker: chair, name: chair, at: [0.1, -0.85, 0], turn: 90}]}
objects: {ball: {mesh: {sphere: 0.035, color: [0.85, 0.3, 0.1]}, mass: 0.1, at: [-0.1, -0.55, 0.0352]}}
characters: {bob: {body: {preset: man}, clip: {idle: {seconds: 2}}}}
tasks: [{grab: {who: bob, object: ball, hand: right, feet: stay, support: {knee: right}}}, {rest: {who: bob}}]
"""
_HAND = """elbowroom: 1
scene: {floor: 0.0, meshes: [{box: [1.5, 0.95, 0.04], name: table, at: [0, -0.78, 0.72], color: [0.5, 0.36, 0.2]}]}
objects:
  cup: {mesh: {cylinder: {radius: 0.033, height: 0.1}, color: [0.25, 0.5, 0.7]}, mass: 0.2, at: [-0.1, -1.24, 0.7904]}
characters: {ann: {body: {preset: woman}, clip: {idle: {seconds: 2}}}}
tasks: [{grab: {who: ann, object: cup, hand: right, feet: stay, support: auto}}, {rest: {who: ann}}]
"""


def supports() -> None:
    """A knee on the floor, and a hand on a table that balance needs, each in eight moments."""
    rows = []
    for text in (_KNEE, _HAND):
        world = plan_storyboard(parse_storyboard(text)).require().world
        view = Camera(azimuth=np.radians(90), elevation=np.radians(14), follow="")
        times = np.linspace(world.span[0], world.span[1], 8)
        rows.append(strip(world, times=times, size=(240, 260), columns=8, labels=False, camera=view))
    imageio.imwrite(FOLDER / "supports.webp", np.concatenate(rows), quality=85)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    stroll()
    presets()
    doorway()
    scenarios()
    pillar()
    gaits()
    tight()
    supports()
