"""Skins in NPZ files: what is shown is what was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elbowroom.character.human import human
from elbowroom.errors import BadFile
from elbowroom.files import npz_skin
from elbowroom.files.npz import read_npz, write_npz
from elbowroom.locomotion.standing import at_ease
from elbowroom.pictures.images import still
from elbowroom.world.world import World

PARTS = ("vertices", "faces", "joints", "weights", "inverse_bind")


def crowd(*names: str) -> World:
    """People in one skin, green all over."""
    body = human(1.70)
    assert body.skin is not None
    green = np.tile([0.0, 0.6, 0.0], (len(body.skin.vertices), 1))
    thin = type(body.skin)(*(getattr(body.skin, part) for part in PARTS), green)
    clip = at_ease(body.with_(skin=thin))
    world = World(floor=0.0)
    for name in names:
        world = world.with_character(name, clip)
    return world


def changed(path: Path, to: Path, **arrays: np.ndarray | None) -> Path:
    with np.load(path) as file:
        content = {key: file[key] for key in file}
    content |= {f"char/ann/skin/{key}": value for key, value in arrays.items() if value is not None}
    for key in (k for k, v in arrays.items() if v is None):
        del content[f"char/ann/skin/{key}"]
    np.savez(to, **content)
    return to


def test_a_skin_comes_back_and_is_shown(tmp_path: Path) -> None:
    world = crowd("ann", "bob")
    write_npz(tmp_path / "w.npz", world)
    with np.load(tmp_path / "w.npz", allow_pickle=False) as file:
        assert str(file["char/bob/skin/of"]) == "ann" and "char/bob/skin/vertices" not in file
    back = read_npz(tmp_path / "w.npz")
    first, second = (back.body(name).skin for name in ("ann", "bob"))
    assert first is second and first is not None
    for part in PARTS:
        np.testing.assert_array_equal(getattr(first, part), getattr(world.body("ann").skin, part))
    was, now = (still(w, size=(160, 160)).astype(int) for w in (world, back))
    assert np.abs(was - now).max() <= 2
    assert (now[..., 1] > now[..., 0] + 20).sum() > 300


def test_a_body_without_a_skin_stays_without(tmp_path: Path) -> None:
    world = World(floor=0.0).with_character("ann", at_ease(human(1.70, skin=False)))
    write_npz(tmp_path / "w.npz", world)
    assert read_npz(tmp_path / "w.npz").body("ann").skin is None


def test_skins_of_a_file_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = crowd("ann")
    both = one.with_character("bob", crowd("bob").characters["bob"])
    monkeypatch.setattr(npz_skin, "MOST_VERTICES", len(one.body("ann").skin.vertices) + 1)
    write_npz(tmp_path / "w.npz", both)
    back = read_npz(tmp_path / "w.npz")
    assert back.body("ann").skin is not None and back.body("bob").skin is None


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("joints", lambda x: x + 500, "refers to joints that do not exist"),
        ("joints", lambda x: x[:-1], "needs joints and weights"),
        ("weights", lambda x: 2.0 * x, "sum to 1"),
        ("weights", lambda x: x * np.nan, "not finite"),
        ("weights", lambda x: None, "is missing"),
        ("faces", lambda x: x + len(x), "uses vertex"),
        ("inverse_bind", lambda x: x[1:], "has the shape"),
        ("colors", lambda x: x[1:], "has the shape"),
        ("of", lambda x: np.array("zoe"), "has none"),
        ("of", lambda x: np.array(3.0), "expected text"),
    ],
)
def test_bad_skins_give_one_sentence(tmp_path: Path, key: str, value, sentence: str) -> None:
    write_npz(tmp_path / "w.npz", crowd("ann"))
    with np.load(tmp_path / "w.npz") as file:
        old = file.get(f"char/ann/skin/{key}")
    with pytest.raises(BadFile, match=sentence):
        read_npz(changed(tmp_path / "w.npz", tmp_path / "bad.npz", **{key: value(old)}))
