"""How quickly a hand comes to a target and goes off it: by how fast the body goes past."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.tasks.actor import Actor
from elbowroom.tasks.timed_when import shoulders


@dataclass(frozen=True)
class Pace:
    """Seconds about the contact.

    `slow` before it the last bit of the approach begins, `early` before it the hand moves with the target but for that
    bit, `closing` before it fingers begin to close, and `work` after it they have closed. `shaped` is how far they are
    closed before that, a share. A `quick` hand comes and goes faster at its target, which is soon out of reach.
    """

    early: float = 0.1
    slow: float = 0.35
    closing: float = 0.15
    work: float = 0.1
    shaped: float = 0.35
    quick: bool = False


# What is tried in turn at what is gone along with, and at what is passed by.
_ALONG = (Pace(), Pace(shaped=0.0), Pace(0.2, 0.4, 0.05, 0.2, 0.0))
_PASSING = (
    Pace(0.03, 0.3, 0.2, 0.034, quick=True),
    Pace(0.03, 0.3, 0.2, 0.034, 0.0, quick=True),
    Pace(0.03, 0.25, 0.12, 0.067, 0.0, quick=True),
)

# Metres a second between a shoulder and a target up to which it is gone along with, and from which on it is passed by.
_SLOW, _FAST = 0.4, 1.2

# Metres that a body may go on while its hand is still at what it passes by, and seconds that this takes at least and at
# most: what is gone off in less time is snatched away.
_STAYS, _LINGERS = 0.15, (0.12, 0.2)


def paces(actor: Actor, hand: str, points: Array, k: int) -> tuple[Pace, ...]:
    """How a hand may be at a target in frame k, points (N, 3) by frame; quickly where it is soon out of reach."""
    return at_speed(speed_past(actor, hand, points, k), _ALONG, _PASSING)


def at_speed(speed: float, along: tuple[Pace, ...], passing: tuple[Pace, ...]) -> tuple[Pace, ...]:
    """What is tried at a target that goes past with some speed, metres a second."""
    return along if speed <= _SLOW else (*passing, *along) if speed <= _FAST else passing


def speed_past(actor: Actor, hand: str, points: Array, k: int) -> float:
    """Metres a second of a shoulder against a target in frame k, points (N, 3) by frame."""
    near = slice(max(k - 3, 0), k + 4)
    apart = (points - shoulders(actor, hand))[near]
    return float(np.linalg.norm(apart[-1] - apart[0])) * actor.base.fps / max(len(apart) - 1, 1)


def lingers(speed: float) -> float:
    """Seconds for which a hand that has done its work goes off what it passes by at some metres a second."""
    return float(np.clip(_STAYS / max(speed, 1e-3), *_LINGERS))


def beside(T_thing: Array, T_hand: Array, by: Array, share: Array) -> Array:
    """Places of a hand (N, 4, 4) moved by a vector (3,) of the frame of a thing (N, 4, 4), by shares (N,)."""
    out = T_hand.copy()
    out[:, :3, 3] += share[:, None] * (T_thing[:, :3, :3] @ by)
    return out
