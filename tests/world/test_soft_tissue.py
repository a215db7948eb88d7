"""Belly and thighs of somebody who folds: how deep they may press each other, and that nothing else may."""

from __future__ import annotations

import numpy as np
import pytest

import elbowroom as er
from elbowroom.character.skeleton import Pose
from elbowroom.geometry.rotations import about, multiply
from elbowroom.motion.clip import Clip
from elbowroom.world.certificate import Certificate, certify
from elbowroom.world.contacts import Caps, Contact
from elbowroom.world.own_pairs import BELLY, THIGHS, folds, tissue_contacts, tissue_depth
from elbowroom.world.world import World

ALWAYS = (-np.inf, np.inf)


def folded(degrees: float) -> Clip:
    """A woman in the air whose thighs are drawn up for half a second, her trunk upright."""
    clip = er.idle(er.preset("woman"), seconds=0.5, fps=30.0)
    body, q = clip.character, np.array(clip.rotations)
    for side in ("left", "right"):
        joint = body.role(f"{side}_thigh")
        q[:, joint] = multiply(about((-1.0, 0.0, 0.0), np.radians(degrees)), q[:, joint])
    return clip.with_(rotations=q)


def certificate(degrees: float, contacts: list[Contact], tissue: float = 0.03) -> Certificate:
    world = World(caps=Caps(tissue=tissue)).with_character("ann", folded(degrees))
    return certify(world.with_(contacts=tuple(contacts)))


def clear(found: Certificate) -> bool:
    """Return whether belly and chest meet no thigh; hands that hang by the thighs do not matter here."""
    soft = {frozenset((f"ann.{a}", f"ann.{b}")) for a in BELLY for b in THIGHS}
    return not any(frozenset(c.pair) in soft for c in found.collisions)


def depth_of(found: Certificate) -> float:
    return max((a.depth_m for a in found.allowed if a.why == "soft tissue"), default=0.0)


def fold_of(degrees: float) -> float:
    clip = folded(degrees)
    pose = Pose.of(clip.root[0], clip.rotations[0])
    return float(np.degrees(folds(clip.character, clip.character.skeleton.at(pose))["left"]))


def pressing() -> float:
    """Degrees of a thigh drawn up at which belly and thigh press each other by more than 10 mm, and less than 30."""
    contacts = tissue_contacts(er.preset("woman"), "ann", ALWAYS, 0.03)
    for degrees in np.arange(90.0, 150.0, 3.0):
        found = certificate(float(degrees), contacts)
        if clear(found) and depth_of(found) > 0.012:
            return float(degrees)
    raise AssertionError("nothing presses")


def test_it_grows_with_the_fold():
    assert tissue_depth(np.radians(90.0)) == 0.0
    assert tissue_depth(np.radians(60.0)) == pytest.approx(0.03)
    assert fold_of(0.0) > 160.0 > fold_of(60.0) > fold_of(100.0)
    body = er.preset("woman")
    upright = body.skeleton.at(Pose.of(folded(0.0).root[0], folded(0.0).rotations[0]))
    assert tissue_contacts(body, "ann", ALWAYS, 0.03, upright[None]) == []


def test_it_is_listed_and_bounded():
    degrees = pressing()
    contacts = tissue_contacts(er.preset("woman"), "ann", ALWAYS, 0.03)
    assert not clear(certificate(degrees, []))
    assert not clear(certificate(degrees, contacts, tissue=0.005))
    assert 0.01 < depth_of(certificate(degrees, contacts)) <= 0.03


def test_no_other_pair_is_soft():
    """The same claim for two shins is cut to what any generated motion may touch itself, 10 mm."""
    clip = folded(0.0)
    soft = Contact("ann.left_shin", "ann.right_shin", ALWAYS, "tissue", 0.03, "soft tissue")
    joint, met = clip.character.role("left_thigh"), []
    for degrees in (10.0, -10.0, 20.0, -20.0):  # one of them is inwards
        q = np.array(clip.rotations)
        q[:, joint] = multiply(about((0.0, 1.0, 0.0), np.radians(degrees)), q[:, joint])
        found = certify(World(contacts=(soft,)).with_character("ann", clip.with_(rotations=q)))
        met.append(any(set(c.pair) == {"ann.left_shin", "ann.right_shin"} for c in found.collisions))
        assert all(a.depth_m <= 0.01 for a in found.allowed if a.why == "soft tissue")
    assert any(met)
