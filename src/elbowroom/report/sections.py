"""Plots, maps and tables of each measure on the page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from elbowroom.geometry.rotations import Array
from elbowroom.report.balance import OUTSIDE, Balance
from elbowroom.report.clearance import NEAR, ClearanceMeasure, plain
from elbowroom.report.difference import Difference
from elbowroom.report.footing import SLIDE, FootHeights, FootSliding
from elbowroom.report.forces import EFFORT, Torque
from elbowroom.report.hands import HandMotion
from elbowroom.report.limits import PAST, Limits
from elbowroom.report.own import DEPTH, Own
from elbowroom.report.parts import Cell, Measure, light_of, table
from elbowroom.report.physics import Physics
from elbowroom.report.plots import Area, Band, GroundTrack, MarkedInterval, PlotCurve, plan, plot
from elbowroom.report.recorded import FITS_M, Recorded
from elbowroom.report.speed import Speed
from elbowroom.world.certificate_findings import merged

# Joints or parts in one plot.
_MOST = 6
# Distances over this are not drawn, millimetres: only what is near is of interest.
_FAR = 150.0
# Seconds between the dots on a hand's way, and how many there are at most: long ways have none.
_BEAT, _DOTS = 0.25, 120


def body(measure: Measure) -> str:
    """Plots and tables of a measure as HTML; empty where nothing was measured."""
    if measure.light == "none":
        return ""
    return _BODIES[type(measure)](measure)


def _clearance(m: ClearanceMeasure) -> str:
    if not (np.isfinite(m.distance).any() or np.isfinite(m.own).any()):
        return ""
    hits = [MarkedInterval(d, "bad") for d in merged([c.during for c in m.hits], 0.0)]
    hits += [MarkedInterval(d, "look") for d in merged([u.during for u in m.certificate.unproven], 0.0)]
    curves = [PlotCurve("to other characters and objects", _near(1000.0 * m.distance), 0)]
    if np.isfinite(m.own).any():
        curves.append(PlotCurve("to its own body and held objects", _near(1000.0 * m.own), 5))
    shown = plot(
        m.times,
        curves,
        "mm",
        bands=[Band(-1e6, 0.0, "bad"), Band(0.0, 1000.0 * NEAR, "look")],
        stretches=hits,
        moments=m.moments,
        low=0.0,
        high=50.0,
        most=_FAR,
        lows=True,
        label="Minimum clearance",
    )
    rows = [
        (Cell(plain(p.a)), Cell(plain(p.b)), Cell(f"{1000 * d:.1f} mm".replace("-", "−"), True), Cell.at(t))
        for p, d, t in m.nearest()
    ]
    return shown + table(("part", "closest to", "distance", "at"), rows)


def _own(m: Own) -> str:
    green, amber = (1000.0 * m.size * limit for limit in DEPTH)
    shown = plot(
        m.times,
        [PlotCurve("deepest limb", 1000.0 * m.depth)],
        "mm",
        bands=[Band(green, amber, "look"), Band(amber, 1e6, "bad")],
        moments=m.moments,
        low=0.0,
        high=1.1 * green,
        label="Depth of limbs in the body",
    )
    rows = [
        (Cell(plain(pair.a)), Cell(plain(pair.b)), Cell(f"{1000 * depth:.0f} mm", True), Cell.at(t))
        for pair, depth, t in m.deepest()
    ]
    return shown + table(("part", "in", "depth", "at"), rows)


def _near(millimetres: Array) -> Array:
    """Distances (N,) without samples that are far on both sides."""
    far = ~(millimetres < _FAR)
    gone = far & np.concatenate([[True], far[:-1]]) & np.concatenate([far[1:], [True]])
    return np.where(gone, np.nan, millimetres)


def _limits(m: Limits) -> str:
    order = [k for k in np.argsort(-m.excess.max(axis=0)) if m.excess[:, k].max() > 1e-3][:_MOST]
    curves = [PlotCurve(m.joints[k], np.degrees(m.excess[:, k]), i) for i, k in enumerate(order)]
    degrees = [float(np.degrees(p)) for p in PAST]
    return plot(
        m.times,
        curves or [PlotCurve("all joints", np.zeros(len(m.times)))],
        "degrees",
        bands=[Band(degrees[0], degrees[1], "look"), Band(degrees[1], 1e6, "bad")],
        moments=m.moments,
        low=0.0,
        high=degrees[0] + 1.0,
        label="Excess over the range of motion",
    )


def _balance(m: Balance) -> str:
    near, far = (100.0 * m.size * limit for limit in OUTSIDE)
    curves = [PlotCurve("zero moment point", 100.0 * m.zmp_margin, 0)]
    if np.isfinite(m.com_margin).any():
        curves.append(PlotCurve("centre of mass, standing", 100.0 * m.com_margin, 1))
    shown = plot(
        m.times,
        curves,
        "cm",
        bands=[Band(-far, -near, "look"), Band(-1e6, -far, "bad")],
        moments=m.moments,
        low=-5.0,
        high=5.0,
        lows=True,
        label="Distance inside the support",
    )
    prints, marks = [Area(p) for p in m.footprints()], []
    if np.isfinite(m.zmp_margin).any():
        worst = int(np.nanargmin(m.zmp_margin))
        css = f"support {light_of(-100.0 * m.zmp_margin[worst], near, far)}"
        prints.append(Area(m.polygon(worst), css))
        marks = [(m.zmp[worst], f"worst, {m.times[worst]:.2f} s")]
    zmp = np.where(np.isfinite(m.zmp_margin)[:, None], m.zmp, np.nan)
    way = m.com[:, :2]
    feet = m.support[np.isfinite(m.support[..., 0])]
    turn = _turn(way if np.ptp(way, axis=0).max() > 0.5 or not len(feet) else feet)
    ways = [GroundTrack("centre of mass", m.com[:, :2] @ turn, 1), GroundTrack("zero moment point", zmp @ turn, 0)]
    areas = [Area(a.points @ turn, a.css) for a in prints if len(a.points) > 2]
    marks = [(place @ turn, words) for place, words in marks]
    return shown + plan("From above, with the footprints", ways, areas, marks=marks)


def _feet(m: FootSliding) -> str:
    short, far = (1000.0 * m.size * limit for limit in SLIDE)
    shown = plot(
        m.times,
        [PlotCurve("left foot", 1000.0 * m.drift[:, 0], 0), PlotCurve("right foot", 1000.0 * m.drift[:, 1], 1)],
        "mm",
        bands=[Band(short, far, "look"), Band(far, 1e6, "bad")],
        moments=m.moments,
        low=0.0,
        high=1.2 * short,
        label="Sliding since touchdown",
    )
    order = np.argsort(-m.slides)[:6]
    rows = [
        (
            Cell(m.steps[k].side),
            Cell.span(m.steps[k].strike, m.steps[k].off),
            Cell(f"{1000 * m.slides[k]:.1f} mm", True),
        )
        for k in order
    ]
    return shown + table(("foot", "carries the body", "slides"), rows)


def _footing(m: FootHeights) -> str:
    near, far = (1000.0 * m.size * limit for limit in m.limits)
    return plot(
        m.times,
        [PlotCurve("left foot", 1000.0 * m.off[:, 0], 0), PlotCurve("right foot", 1000.0 * m.off[:, 1], 1)],
        "mm",
        bands=[Band(near, far, "look"), Band(far, 1e6, "bad")],
        moments=m.moments,
        low=0.0,
        high=1.2 * near,
        label={"float": "Height of the foot above the ground", "sink": "Depth in the ground"}[m.name],
    )


def _speed(m: Speed) -> str:
    named = list(enumerate(m.parts))
    jerk = np.where(m.counts[:, None], m.jerk, np.nan)
    speed = [PlotCurve(p, m.speed[:, k], k) for k, p in named]
    return plot(m.times, speed, "m/s", low=0.0, high=0.5, digits=2, label="Speed", moments=m.moments[-1:]) + plot(
        m.times,
        [PlotCurve(p, jerk[:, k], k) for k, p in named],
        "m/s³",
        low=0.0,
        high=50.0,
        digits=0,
        moments=m.moments[:-1],
        label="Jerk",
    )


def _hands(m: HandMotion) -> str:
    colors = {"left": 0, "right": 1}
    stretches = [MarkedInterval(v.during, row=colors[v.hand]) for v in m.movements]
    speed = [PlotCurve(f"{hand} hand", v, colors[hand]) for hand, v in m.speeds.items()]
    shown = plot(
        m.times,
        speed,
        "m/s",
        low=0.0,
        high=0.5,
        digits=2,
        label="Speed of the hands",
        stretches=stretches,
        moments=m.moments,
    )
    steps = max(1, round(_BEAT / max(float(m.times[1] - m.times[0]), 1e-9)))
    turn = _turn(np.concatenate(list(m.paths.values()))[:, :2])
    above, side = [], []
    for hand, path in m.paths.items():
        turned = path[:, :2] @ turn
        seen = np.stack([turned[:, 0], path[:, 2]], axis=-1)
        dots = slice(0, len(path) if len(path) // steps <= _DOTS else 0, steps)
        above.append(GroundTrack(f"{hand} hand", turned, colors[hand], turned[dots]))
        side.append(GroundTrack(f"{hand} hand", seen, colors[hand], seen[dots]))
    views = plan("Paths from above", above, width=380.0) + plan("Paths from the side", side, width=380.0)
    rows = [
        (
            Cell(v.hand),
            Cell.span(*v.during),
            Cell(f"{100 * v.way:.0f} cm", True),
            Cell(f"{100 * v.straight:.0f} cm", True),
            Cell(f"{v.fastest:.2f} m/s", True),
            Cell(str(v.peaks), True),
        )
        for v in sorted(m.movements, key=lambda v: -v.way)[:8]
    ]
    head = ("hand", "movement", "way", "straight", "fastest", "speed peaks")
    return shown + f'<div class="pair">{views}</div>' + table(head, rows)


def _turn(points: Array) -> Array:
    """Turn (2, 2) of places (..., 2) so that the longest extent of points (N, 2) runs across."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    across = axes[0] * (1.0 if (points[-1] - points[0]) @ axes[0] >= 0.0 else -1.0)
    return np.array([[across[0], -across[1]], [across[1], across[0]]])


def _torque(m: Torque) -> str:
    effort = np.where(m.counts[:, None], m.effort, np.nan)
    peak = np.nanmax(effort, axis=0)
    order = np.argsort(-peak)[:_MOST]
    shown = plot(
        m.times,
        [PlotCurve(m.joints[k], 100.0 * effort[:, k], i) for i, k in enumerate(order)],
        "% of strength",
        bands=[Band(100.0 * EFFORT[0], 100.0 * EFFORT[1], "look"), Band(100.0 * EFFORT[1], 1e6, "bad")],
        moments=m.moments,
        low=0.0,
        high=50.0,
        digits=0,
        label="Torque at the most loaded joints",
    )
    most = np.where(m.counts[:, None], m.torque, 0.0)
    rows = [
        (
            Cell(m.joints[k]),
            Cell(f"{most[:, k].max():.1f} Nm", True),
            Cell(f"{100 * peak[k]:.0f} %", True),
            Cell(f"{m.change[k]:.0f} Nm/s", True),
            Cell.at(float(m.times[int(np.argmax(most[:, k]))])),
        )
        for k in np.argsort(-peak)
    ]
    return shown + table(("joint", "peak", "of strength", "variation (r.m.s.)", "at"), rows)


def _physics(m: Physics) -> str:
    wrong = [MarkedInterval(during, "bad") for during, _ in m.spans()]
    shown = plot(
        m.times,
        [PlotCurve("missing", 100.0 * m.help, 0), PlotCurve("within the accuracy", 100.0 * m.allowed, 5)],
        "% of the weight",
        stretches=wrong,
        moments=m.moments,
        low=0.0,
        high=20.0,
        most=200.0,
        label="Force that no push of the ground can give",
    )
    shown += plot(
        m.times,
        [PlotCurve("needed", m.bears, 1), PlotCurve("found", m.push[..., 2].sum(axis=1) / m.weight, 0)],
        "times the weight",
        stretches=wrong,
        low=0.0,
        high=1.5,
        digits=2,
        label="Upward push of the ground",
    )
    worst = sorted(m.spans(), key=lambda s: s[0][0] - s[0][1])[:_MOST]
    return shown + table(("infeasible", "because"), [(Cell.span(*during), Cell(why)) for during, why in worst])


def _recorded(m: Recorded) -> str:
    return plot(
        m.times,
        [
            PlotCurve("body off recorded postures", 100.0 * m.off, 0),
            PlotCurve("usual there", 100.0 * m.expected, 1),
            PlotCurve("hands and feet off recorded ones", 100.0 * m.distance, 2),
        ],
        "cm",
        low=0.0,
        high=100.0 * FITS_M,
        label="Distance from recorded people",
    )


def _difference(m: Difference) -> str:
    changed = [MarkedInterval(d) for d in m.changed]
    far = plot(
        m.times,
        [PlotCurve("furthest joint", 100.0 * m.distance)],
        "cm",
        low=0.0,
        high=1.0,
        stretches=changed,
        moments=m.moments,
        label="Distance from the original",
    )
    alike = [PlotCurve(limb, 100.0 * m.similarity[:, k], k) for k, limb in enumerate(m.limbs)]
    return far + plot(
        m.times, alike, "%", low=90.0, high=100.0, most=100.0, lows=True, label="Posture similarity by limb"
    )


_BODIES: dict[type[Measure], Callable[[Any], str]] = {
    ClearanceMeasure: _clearance,
    Own: _own,
    Limits: _limits,
    Balance: _balance,
    FootSliding: _feet,
    FootHeights: _footing,
    Speed: _speed,
    HandMotion: _hands,
    Torque: _torque,
    Physics: _physics,
    Recorded: _recorded,
    Difference: _difference,
}
