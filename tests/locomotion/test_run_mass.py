"""Runs as physics sees them: free fall in flight, a push through the foot on the ground."""

from __future__ import annotations

import numpy as np
import pytest
from gait_measures import TOUCH, lowest, stretches

from elbowroom.character.dynamics import GRAVITY, Dynamics
from elbowroom.character.human import preset
from elbowroom.locomotion.mass import SOFT, carried
from elbowroom.locomotion.upper import bent
from elbowroom.locomotion.walk import run, walk, walk_to_run
from elbowroom.motion.clip import Clip
from elbowroom.report.balance import Balance, balance_of
from elbowroom.report.forces import forces_of, torque_of
from elbowroom.report.people import Subject


def mass_of(clip: Clip) -> np.ndarray:
    """Centre of mass (T, 3), segment by segment."""
    masses, T = clip.character.masses, clip.world()
    at = np.einsum("tjab,jb->tja", T[..., :3, :3], masses.center) + T[..., :3, 3]
    return np.einsum("j,tja->ta", masses.mass, at) / masses.total


def flights(clip: Clip) -> list[slice]:
    """Stretches of frames in which no skin touches the floor."""
    found = stretches((lowest(clip, "left") > TOUCH) & (lowest(clip, "right") > TOUCH))
    return [f for f in found if f.stop - f.start > 0.03 * clip.fps]


@pytest.mark.parametrize(("name", "speed", "turn"), [("woman", 2.6, 0.0), ("man", 4.0, 0.0), ("child", 3.0, 30.0)])
def test_in_flight_the_centre_of_mass_goes_on_evenly_and_falls(name, speed, turn):
    clip = run(preset(name), speed, turn, seconds=1.6, fps=240.0)
    mass, found = mass_of(clip), flights(clip)
    assert len(found) >= 3
    for flight in found:
        t = clip.times[flight] - clip.times[flight].mean()
        way = mass[flight] + np.outer(0.5 * GRAVITY * t**2, [0.0, 0.0, 1.0])
        even = np.polynomial.polynomial.polyfit(t, way, 1)
        # a recorded run departs by 3 to 12 mm
        assert np.abs(way - np.outer(np.ones_like(t), even[0]) - np.outer(t, even[1])).max() < 0.0009


@pytest.mark.parametrize(("name", "speed"), [("woman", 3.0), ("child", 2.4)])
def test_in_flight_the_trunk_turns_against_the_legs(name, speed):
    """What cannot push off cannot begin to turn over: the angular momentum about the centre of mass stays."""
    clip = run(preset(name), speed, seconds=1.6, fps=240.0)
    spin = carried(clip.character, clip.world(), clip.fps).spin[:, 0]
    aloft = np.concatenate([spin[f.start + 5 : f.stop - 5] for f in flights(clip)])
    # recorded runs: 0.1 to 0.3 Nm for each kg; 1 with the trunk held still
    assert np.sqrt(np.mean(aloft**2)) < 0.5
    chest = clip.world()[:, clip.character.role("chest"), :3, 2]
    bow = np.degrees(np.arctan2(-chest[:, 1], chest[:, 2]))
    assert 2.0 < np.ptp(bow) < 9.0  # recorded runs: 7 to 14


def under_report(clip: Clip) -> tuple[Balance, float]:
    """Balance as a report has it, and the greatest torque at a hip, Nm for each kg."""
    who = Subject("ann", clip)
    forces = forces_of(who, (), 0.0)
    torque = torque_of(who, forces, ())
    hips = [k for k, joint in enumerate(torque.joints) if joint.endswith("hip")]
    assert len(hips) == 2
    return balance_of(who, forces), float(torque.torque[torque.counts][:, hips].max()) / clip.character.masses.total


@pytest.mark.parametrize(("name", "speed"), [("woman", 2.4), ("man", 3.0), ("child", 3.0), ("gorilla", 2.6)])
def test_the_push_of_the_ground_passes_through_the_foot(name, speed):
    balance, hip = under_report(run(preset(name), speed, seconds=2.5))
    assert balance.light == "good" and balance.outside_share < 0.05
    assert np.nanmin(balance.zmp_margin) > -0.10
    # recorded runs of 2.6 to 3.6 m/s: 1.4 to 2.6
    assert hip < 2.7


@pytest.mark.parametrize(("name", "speed"), [("man", 1.8), ("child", 1.5)])
def test_a_brisk_walk_is_carried_by_its_feet(name, speed):
    balance, hip = under_report(walk(preset(name), speed, seconds=3.0))
    assert balance.light != "bad" and balance.outside_share < 0.15
    assert hip < 2.8


def test_who_begins_to_run_is_carried_all_the_way():
    balance, hip = under_report(walk_to_run(preset("man"), seconds=6.0))
    assert balance.outside_share < 0.15 and hip < 3.2


def test_the_turning_of_the_mass_is_what_inverse_dynamics_finds():
    clip = run(preset("man"), 3.0, seconds=1.0, fps=240.0)
    dynamics = Dynamics(clip.character)
    wrench = dynamics.torques(clip)[:, :6]
    turn = clip.world()[:, 0, :3, :3]
    force, moment = (np.einsum("tab,tb->ta", turn, part) for part in (wrench[:, :3], wrench[:, 3:]))
    about_mass = moment + np.cross(clip.root - mass_of(clip), force)
    found = carried(clip.character, clip.world(), clip.fps)
    inside = slice(24, -24)
    softened = np.stack([np.convolve(about_mass[:, k], window(SOFT * clip.fps), mode="same") for k in range(3)], axis=1)
    np.testing.assert_allclose(found.spin[inside] * dynamics.mass, softened[inside], atol=4.0)
    assert np.abs(softened[inside]).max() > 40.0


def window(sigma: float) -> np.ndarray:
    """Weights of a Gaussian window."""
    x = np.arange(-int(4 * sigma), int(4 * sigma) + 1)
    w = np.exp(-0.5 * (x / sigma) ** 2)
    return w / w.sum()


def test_a_curve_bends_by_its_law_where_nothing_is_wanted():
    n, law = 50, -0.02
    weight = np.zeros(n)
    weight[[0, -1]] = 1.0
    found = bent(weight * 3.0, weight, np.full(n, law), np.full(n, 10.0))
    k = np.arange(n)
    np.testing.assert_allclose(found, 3.0 + 0.5 * law * k * (k - (n - 1)), atol=1e-8)
