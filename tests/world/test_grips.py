"""Several hands on one object: who leads, who goes along, and what a hold that is none excuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adversary.verdicts import checker
from elbowroom.character.hands import grip_frame
from elbowroom.character.human import human
from elbowroom.files.open import open_file
from elbowroom.files.save import save
from elbowroom.geometry.solids import box, sphere
from elbowroom.geometry.transforms import transform
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import walk
from elbowroom.motion.edit import place
from elbowroom.world.certificate import certify
from elbowroom.world.fast import LimbCheck
from elbowroom.world.paths import Keyed, Still
from elbowroom.world.played import played
from elbowroom.world.things import Hold, hands
from elbowroom.world.world import World

PERSON = human(height=1.7, skin=False)


@pytest.fixture(scope="module")
def pair() -> World:
    """Two people who walk side by side in step, and a ball."""
    clip = walk(PERSON, speed=1.2, seconds=2.0, fps=30.0)
    world = World().with_character("ann", clip).with_character("bob", place(clip, (0.6, 0.0)))
    return world.with_object("ball", sphere(0.1), Still(transform([0.3, -0.3, 1.0])))


def in_hand(world: World, who: str, hand: str, times: list[float]) -> np.ndarray:
    T = hands(world.motion(who), hand, times)
    return np.linalg.inv(T) @ np.stack([world.frame("ball", t) for t in times])


def test_the_hand_that_came_first_leads_until_it_lets_go(pair: World) -> None:
    world = pair.with_hold("ball", "ann", "left", (0.2, 1.2)).with_hold("ball", "bob", "right", (0.8, 1.8))
    first = in_hand(world, "ann", "left", [0.2, 0.7, 1.1, 1.19])
    assert np.allclose(first, first[0])
    then = in_hand(world, "bob", "right", [1.2, 1.5, 1.79])
    assert np.allclose(then, then[0])
    before, after = world.frame("ball", 1.2 - 1e-9), world.frame("ball", 1.2)
    assert np.allclose(before, after, atol=1e-6), "the object does not jump when the next hand takes the lead"
    assert np.allclose(world.frame("ball", 1.9), world.frame("ball", 3.0)), "it stays where the last hand left it"


def test_a_shorter_grip_inside_of_a_longer_one_changes_nothing(pair: World) -> None:
    one = pair.with_hold("ball", "ann", "left", (0.2, 1.8))
    both = one.with_hold("ball", "ann", "right", (0.5, 1.0))
    for t in np.linspace(0.0, 2.0, 21):
        assert np.allclose(one.frame("ball", float(t)), both.frame("ball", float(t)))


def test_an_object_may_lead_the_hand(pair: World) -> None:
    path = Keyed.along([0.0, 2.0], [[0.3, -0.3, 1.0], [0.3, -2.0, 1.2]])
    world = pair.with_(objects={"ball": replace(pair.objects["ball"], path=path)})
    led = world.with_hold("ball", "ann", "left", leads=False)
    for t in (0.0, 0.7, 1.9):
        assert np.allclose(led.frame("ball", t), path(t))


def test_only_the_leading_limb_takes_the_object_along(pair: World) -> None:
    world = pair.with_hold("ball", "ann", "left", (0.0, 2.0)).with_hold("ball", "ann", "right", (0.0, 2.0))
    carried = {arm: [p.grip for p in LimbCheck(world, "ann", arm)._parts.pieces] for arm in ("left_arm", "right_arm")}
    assert any(grip is not None for grip in carried["left_arm"])
    assert all(grip is None for grip in carried["right_arm"])


@pytest.mark.parametrize("suffix", ["npz", "glb"])
def test_files_keep_who_leads(pair: World, suffix: str, tmp_path: Path) -> None:
    world = pair.with_hold("ball", "ann", "left", (0.2, 1.8)).with_hold("ball", "bob", "right", (0.5, 1.5), leads=False)
    save([tmp_path / f"two.{suffix}"], world)
    back = open_file(tmp_path / f"two.{suffix}").world()
    assert [(h.by, h.hand, h.leads) for h in back.holds] == [("ann", "left", True), ("bob", "right", False)]


def slipping() -> World:
    """Somebody through whose hand a block passes that a hold claims to be in it."""
    clip = idle(PERSON, seconds=1.0, fps=30.0)
    at = hands(clip, "right", [0.5])[0][:3, 3]
    path = Keyed.along([0.0, 1.0], [at + [0.0, 0.5, 0.0], at - [0.0, 0.5, 0.0]])
    world = World().with_character("ann", clip).with_object("block", box([0.03, 0.03, 0.03]), path)
    return replace(world, holds=(Hold("block", "ann", "right", (0.0, 1.0), leads=False),))


def test_a_hand_that_slips_on_an_object_does_not_hold_it() -> None:
    world = slipping()
    frames = played(world)
    assert frames.slip(frames.holds[0]) == pytest.approx(1.0, abs=0.1)
    certificate = certify(world)
    assert any("block" in c.pair for c in certificate.collisions)
    still = world.with_(objects={"block": replace(world.objects["block"], path=Still(np.eye(4)))}, holds=())
    held = still.with_hold("block", "ann", "right", (0.0, 1.0), grip_frame(PERSON, "right"))
    assert played(held).slip(played(held).holds[0]) < 1e-6
    assert not any("block" in c.pair for c in certify(held).collisions)


def test_the_independent_checker_sees_the_slip(tmp_path: Path) -> None:
    world = slipping()
    save([tmp_path / "slip.npz"], world)
    with np.load(tmp_path / "slip.npz") as file:
        arrays = dict(file)
    parts = [s.name for s in PERSON.shapes if "right_hand" in s.name]
    arrays["excused_pair"] = np.array([[f"ann.{name}", "block"] for name in parts])
    arrays["excused_during"] = np.array([[0.0, 1.0]] * len(parts))
    np.savez(tmp_path / "forged.npz", **arrays)
    report = checker().verify(tmp_path / "forged.npz", 200.0, 0.0)
    assert any("moves by" in v.text() for v in report.violations)
