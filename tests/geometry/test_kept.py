"""What is kept of immutable objects: made once, gone with them, never more than a few."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from elbowroom.geometry import kept as on_disk
from elbowroom.geometry.cover import mesh_tree
from elbowroom.geometry.fields import distance_field
from elbowroom.geometry.kept import KeptTogether, kept
from elbowroom.geometry.mesh import Mesh, known
from elbowroom.geometry.shapes import hull_of
from elbowroom.geometry.solids import box
from elbowroom.world import certificate_units
from elbowroom.world.certificate_units import movers_of
from elbowroom.world.exact import ExactWorld
from elbowroom.world.exact_forms import mesh_form
from elbowroom.world.paths import Still
from elbowroom.world.world import World


def test_made_once_and_gone_with_its_owner() -> None:
    mesh = box((0.1, 0.1, 0.1))
    made: list[int] = []
    for _ in range(3):
        assert kept(mesh, "area", lambda mesh=mesh: made.append(1) or mesh) is mesh
    assert len(made) == 1
    # all that refers back to the mesh goes, too
    distance_field(mesh), mesh_tree(mesh), hull_of(mesh), mesh_form(mesh, "cube", 0.0)
    gone = weakref.ref(mesh)
    del mesh
    made.clear()
    gc.collect()
    assert gone() is None


def test_equal_meshes_in_use_are_one_and_others_are_not() -> None:
    first, again, red = box((0.1, 0.2, 0.3)), box((0.1, 0.2, 0.3)), box((0.1, 0.2, 0.3), color=(1.0, 0.0, 0.0))
    assert known(first) is first and known(again) is first
    assert known(red) is red and known(box((0.1, 0.2, 0.31))) is not first
    worlds = [World().with_static("crate", again, (1.0, 0.0, 0.0)) for _ in range(2)]
    assert worlds[0].static["crate"] is worlds[1].static["crate"]
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None and known(again) is again


def test_covers_for_proofs_come_back_from_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))

    def balls() -> np.ndarray:
        world = World().with_object("rod", box((0.1, 0.1, 0.9)), Still(np.eye(4)))
        return movers_of(ExactWorld(world)).cover

    made = balls()
    assert len(made) > 2 and len(list((tmp_path / "balls").iterdir())) == 1
    monkeypatch.setattr(certificate_units, "_covered", lambda form: pytest.fail("made a second time"))
    assert np.array_equal(balls(), made)


def test_copies_begin_with_nothing() -> None:
    mesh = box((0.1, 0.1, 0.1))
    kept(mesh, "lock", threading.Lock)  # cannot be pickled
    for other in (pickle.loads(pickle.dumps(mesh)), copy.deepcopy(mesh)):
        assert isinstance(other, Mesh) and np.array_equal(other.vertices, mesh.vertices)
        assert kept(other, "lock", lambda: "own") == "own"


def test_kept_together_is_bounded_and_ends_with_any_of_its_objects() -> None:
    together: KeptTogether[int] = KeptTogether(3)
    meshes = [box((0.1, 0.1, 0.1 * k)) for k in range(1, 6)]
    for k in range(20):
        assert together.of(meshes[:2], k, lambda k=k: k) == k
        assert len(together) <= 3
    assert together.of(meshes[:2], 19, lambda: -1) == 19
    assert together.of(meshes[1::-1], 19, lambda: -1) == -1, "the order of the objects tells"
    del meshes[1]
    gc.collect()
    assert len(together) == 0


def test_the_disk_holds_no_more_than_so_many_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELBOWROOM_CACHE", str(tmp_path))
    monkeypatch.setattr(on_disk, "MOST_BYTES", 100_000)
    for k in range(8):
        found = on_disk.remembered("numbers", (k,), lambda k=k: {"all": np.full(3000, float(k))})
        assert found["all"][0] == k
        first = on_disk.remembered("numbers", (0,), lambda: {"all": np.full(3000, -1.0)})
        files = list((tmp_path / "numbers").iterdir())
        assert sum(f.stat().st_size for f in files) <= 100_000
        for f in files:  # clocks of disks are coarse
            os.utime(f, ns=(f.stat().st_atime_ns, f.stat().st_mtime_ns - 10**9))
    assert first["all"][0] == 0, "what is used stays"


def test_threads_get_the_same_value() -> None:
    mesh = box((0.2, 0.1, 0.1))
    start, found = threading.Barrier(8), []

    def ask() -> None:
        start.wait()
        found.append(distance_field(mesh))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(f is found[0] for f in found)
