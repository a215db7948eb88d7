"""Many checks of nearly the same world share what they are made of, and leave nothing behind."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np

from elbowroom.character.human import human
from elbowroom.geometry import fields
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.solids import box
from elbowroom.geometry.transforms import transform
from elbowroom.motion.clip import Clip
from elbowroom.world import scene_field
from elbowroom.world.certificate import certify
from elbowroom.world.exact import ExactWorld
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Still
from elbowroom.world.world import World

ANN = human(skin=False)
POST, CUP = box((0.1, 0.1, 2.0), (-0.9, 0.3, 1.0)), box((0.08, 0.08, 0.1))
REST = np.tile(rot.IDENTITY, (3, 1))


def nodding(amount: float) -> Clip:
    q = np.tile(rot.IDENTITY, (61, len(ANN.skeleton), 1))
    q[:, ANN.role("head")] = rot.about([1.0, 0, 0], amount * np.sin(np.linspace(0.0, 6.0, 61)))
    return Clip(ANN, 30.0, np.tile(ANN.skeleton.T_rest[0, :3, 3], (61, 1)), q)


def world(k: int) -> World:
    """Each with another motion, another place of the cup and, every other, the cup in the hand."""
    made = World(static={"post": POST}, floor=None).with_character("ann", nodding(0.1 + 0.01 * k))
    made = made.with_object("cup", CUP, Still(transform([-0.4 - 0.01 * k, -0.4, 1.0])))
    return made.with_hold("cup", "ann", "right", (0.5, 1.0)) if k % 2 else made


def test_later_checks_share_fields_covers_and_pairs() -> None:
    first = LimbCheck(world(0), "ann", during=(0.2, 1.2))
    second = LimbCheck(world(2), "ann", during=(0.4, 1.4))
    assert second.around.static.corner is first.around.static.corner
    assert second.around.meshes.corner is first.around.meshes.corner
    assert second.exact.placed.forms == first.exact.placed.forms
    LimbCheck(world(1), "ann", during=(0.2, 1.7))
    spent = []
    for k in range(3, 8):
        began = time.thread_time()
        LimbCheck(world(k), "ann", during=(0.2, 1.7))
        LimbCheck(world(k), "ann", during=(0.7, 0.7))
        spent.append(time.thread_time() - began)
    assert min(spent) < 0.06, "as quick as planning needs it, on any machine"


def test_what_is_dragged_is_seen_where_it_is() -> None:
    at = [-0.73, 0.0, 1.4]
    for x, free in ((0.0, False), (0.0, False), (-0.5, True), (0.02, False)):
        made = World(static={"post": POST}).with_character("ann", ANN)
        made = made.with_object("cup", CUP, Still(transform(np.add(at, [x, 0.0, 0.0]))))
        check = LimbCheck(made, "ann", during=(0.0, 0.0))
        assert check.free(REST) == free == (not check.hits(REST))
        assert check.blame(REST) is None if free else check.blame(REST)[1] == "cup"  # type: ignore[index]


def test_nothing_is_left_of_worlds_that_are_gone() -> None:
    gone = []
    for k in range(6):
        made = world(k)
        check = LimbCheck(made, "ann", during=(0.2, 1.2))
        check.free(REST, 0.5)
        gone += [weakref.ref(made), weakref.ref(check), weakref.ref(check.exact), weakref.ref(ExactWorld(made))]
        certify(made)
    del made, check
    gc.collect()
    assert not any(r() for r in gone)
    for k in range(30):  # meshes that live for one check
        box_here = box((0.05, 0.05, 0.05 + 0.001 * k))
        made = World(static={"post": box_here}, floor=None).with_character("ann", ANN)
        LimbCheck(made.with_object("cup", box((0.1, 0.05, 0.05 + 0.001 * k)), Still(np.eye(4))), "ann")
        gone.append(weakref.ref(box_here))
    del made, box_here
    gc.collect()
    assert not any(r() for r in gone)
    assert len(scene_field.SCENES) <= scene_field.MOST and len(fields._PACKED) <= fields.PACKS


def test_threads_make_checks_at_once() -> None:
    places = [transform([-0.73 - 0.06 * k, 0.0, 1.4]) for k in range(8)]
    body, mug = human(height=1.66, skin=False), box((0.08, 0.08, 0.11))

    def free(k: int) -> bool:
        made = World(static={"post": POST}).with_character("ann", body).with_object("mug", mug, Still(places[k]))
        return LimbCheck(made, "ann").free(REST)

    found: dict[int, bool] = {}
    threads = [threading.Thread(target=lambda k=k: found.__setitem__(k, free(k))) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: free(k) for k in range(8)} and len(set(found.values())) == 2
