"""Balance: centre of mass and zero moment point relative to the support polygon of the planted feet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from elbowroom.geometry.rotations import Array
from elbowroom.motion.contacts import runs
from elbowroom.motion.smooth import derivative, judged
from elbowroom.posing.balance import AROUND, edges, hull_of
from elbowroom.report.bearing import Bearing, bearing_of
from elbowroom.report.forces import Forces
from elbowroom.report.parts import Light, Measure, Moment, light_of, listed, scaled_limits, worst
from elbowroom.report.people import Subject

# A body stands while its centre of mass moves slower than this, metres a second, and the zero moment point is as near
# to it, metres, for so long, seconds: then it must be over its feet. Turning back for a moment is not standing.
STANDS, _NEAR, _LONG = 0.15, 0.05, 0.4
# How far the centre of mass of a person who stands may be outside the feet, metres: good up to, worth a look up to.
# Masses from tables place it no better than two or three centimetres.
STANDING = (0.02, 0.06)
# How far the zero moment point may be outside, metres: good up to, worth a look up to. In recorded walks of real people
# it leaves the feet by as much as the first: neither soles nor masses are known better.
OUTSIDE = (0.06, 0.15)
# Shares of the time on the ground in which it is further outside than that: good up to, worth a look up to.
SHARES = (0.10, 0.25)
# How high a pin stands in the ground in pictures of worst moments, metres.
_PIN = 0.4
# A foot that bears within this time before or after counts, seconds: forces below 6 Hz pass from one foot to the other
# over as long, while feet touch down and lift off within a frame.
_BLUR_S = 0.08
# Frames whose margins are worked out at once.
_CHUNK = 512


@dataclass(frozen=True, eq=False, kw_only=True)
class Balance(Measure):
    """Centre of mass (T, 3), zero moment point (T, 2), points of planted soles (T, P, 2) with NaN for those in the air,
    the first `of_left` of them those of the left foot.

    Margins (T,) in metres are their distances inside the support; negative outside, NaN where nothing is judged:
    the centre of mass of a body that moves on, the zero moment point in flight and at the ends of the clip. `size` is
    that of the body against an adult's, by which thresholds grow.
    """

    times: Array
    com: Array
    zmp: Array
    support: Array
    com_margin: Array
    zmp_margin: Array
    outside_share: float
    of_left: int
    of_feet: int
    fps: float
    size: float = 1.0

    def polygon(self, frame: int) -> Array:
        """Corners (K, 2) of the support at a frame, counterclockwise; none where no foot bears."""
        return _polygon(self.support, frame, self.fps)

    def footprints(self) -> list[Array]:
        """Outline (K, 2) of each foot where it stands, once for each time that it is planted."""
        prints = []
        for mine in np.split(self.support, [self.of_left, self.of_feet], axis=1)[:2]:
            bears = np.isfinite(mine[..., 0]).sum(axis=1)
            for first, last in runs(bears >= 3):
                flattest = first + int(np.argmax(bears[first : last + 1]))
                prints.append(hull_of(mine[flattest]))
        return [p for p in prints if len(p)]

    def facts(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return super().facts() | {
            "standing_margin_m": _lowest(self.com_margin),
            "zmp_margin_m": _lowest(self.zmp_margin),
            "zmp_outside_share": round(self.outside_share, 4),
            "on_ground_share": round(float(np.mean(np.isfinite(self.support[..., 0]).sum(axis=1) >= 3)), 4),
            "standing_share": round(float(np.mean(np.isfinite(self.com_margin))), 4),
        }

    def curves(self) -> dict[str, Any]:
        """Curves for JSON."""
        return {
            "times_s": listed(self.times),
            "com_m": listed(self.com),
            "zmp_m": listed(self.zmp),
            "com_margin_m": listed(self.com_margin),
            "zmp_margin_m": listed(self.zmp_margin),
        }


def balance_of(subject: Subject, forces: Forces, bearing: Bearing | None = None, feasible: bool = False) -> Balance:
    """Measure the balance of a character with feet over the points that bear, those of its soles if not given.

    Where pushes of the ground are known to be `feasible`, a zero moment point outside the support is not bad: friction
    of feet at different heights and the accuracy of forces allow for it.
    """
    bearing = bearing_of(subject, None) if bearing is None else bearing
    support = np.where(bearing.on[..., None], bearing.points[..., :2], np.nan)
    times, fps = subject.times, subject.clip.fps
    on_ground = np.isfinite(support[..., 0]).sum(axis=1) >= 3
    stands = _stands(subject, forces, on_ground)
    com_margin = np.where(stands, _margins(support, forces.com[:, :2], fps), np.nan)
    counts = on_ground & np.isfinite(forces.zmp[:, 0]) & judged(len(times), fps)
    zmp = np.where(np.isfinite(forces.zmp), forces.zmp, 0.0)
    zmp_margin = np.where(counts, _margins(support, zmp, fps), np.nan)
    far = OUTSIDE[0] * subject.size
    share = float(np.mean(zmp_margin[counts] < -far)) if counts.any() else 0.0
    light, says = _verdict(subject, com_margin, zmp_margin, share, feasible)
    figures = {
        "on the ground": f"{100.0 * np.mean(on_ground):.0f} % of the time",
        "standing": f"{100.0 * np.mean(stands):.0f} % of the time",
    }
    figures |= {"centre of mass while standing": _words(com_margin)} if stands.any() else {}
    figures |= {"zero moment point": _words(zmp_margin)} if counts.any() else {}
    figures |= scaled_limits(OUTSIDE, subject.size, "cm")
    return Balance(
        light=light,
        says=says,
        headline="" if light == "none" else _headline(com_margin, stands, share, far),
        moments=_moments(subject, forces, support, com_margin, zmp_margin),
        figures=figures,
        times=times,
        com=forces.com,
        zmp=forces.zmp,
        support=support,
        com_margin=com_margin,
        zmp_margin=zmp_margin,
        outside_share=share,
        of_left=bearing.of_left,
        of_feet=bearing.of_feet,
        fps=fps,
        size=subject.size,
    )


def _margins(support: Array, at: Array, fps: float) -> Array:
    """Signed distances (T,) of points (T, 2) inside supports (T, P, 2), metres; in batches, to save memory."""
    reach = np.concatenate([edges(support[k : k + _CHUNK]) for k in range(0, len(at), _CHUNK)])
    reach = scipy.ndimage.maximum_filter1d(reach, 2 * _blur(fps) + 1, axis=0, mode="nearest")
    return np.asarray((reach - at @ AROUND).min(axis=-1))


def _polygon(support: Array, frame: int, fps: float) -> Array:
    """Corners (K, 2) of what supports (T, P, 2) cover about a frame, counterclockwise; none where nothing bears."""
    about = support[max(frame - _blur(fps), 0) : frame + _blur(fps) + 1]
    return hull_of(about.reshape(-1, 2))


def _blur(fps: float) -> int:
    return round(_BLUR_S * fps)


def _stands(subject: Subject, forces: Forces, on_ground: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Frames (T,) in which a body stands and does not only slow down."""
    fps, size = subject.clip.fps, subject.size
    speed = np.linalg.norm(derivative(forces.com, fps)[:, :2], axis=-1)
    apart = np.linalg.norm(np.nan_to_num(forces.zmp, nan=np.inf) - forces.com[:, :2], axis=-1)
    standing = on_ground & (speed < STANDS * np.sqrt(size)) & (apart < _NEAR * size)
    out = np.zeros_like(standing)
    for first, last in runs(standing):
        if last - first + 1 >= min(_LONG * fps, len(standing)):
            out[first : last + 1] = True
    return out


def _verdict(subject: Subject, com_margin: Array, zmp_margin: Array, share: float, feasible: bool) -> tuple[Light, str]:
    lights: list[Light] = []
    faults = []
    if np.isfinite(com_margin).any():
        out = -float(np.nanmin(com_margin))
        lights.append(light_of(out, *(s * subject.size for s in STANDING)))
        if lights[-1] != "good":
            faults.append(f"while standing the centre of mass is {100 * out:.1f} cm outside the support of the feet")
    if np.isfinite(zmp_margin).any():
        lights.append(light_of(share, SHARES[0], np.inf if feasible else SHARES[1]))
        if lights[-1] != "good":
            faults.append(f"the zero moment point is well outside the support for {100 * share:.0f} % of the time")
    if not lights:
        return "none", "No foot is planted long enough to measure balance."
    if not faults:
        says = "The motion is balanced: the planted feet support the body"
        out = max(-float(np.nanmin(zmp_margin)), 0.0) if np.isfinite(zmp_margin).any() else 0.0
        if out > OUTSIDE[0] * subject.size:
            says += f", except for moments of up to {100 * out:.0f} cm outside, as in recorded walks"
        return "good", f"{says}."
    light = worst(*lights)
    begins = "The balance is doubtful" if light == "look" else "The feet alone cannot keep this balance"
    return light, f"{begins}: {', and '.join(faults)}."


def _moments(
    subject: Subject, forces: Forces, support: Array, com_margin: Array, zmp_margin: Array
) -> tuple[Moment, ...]:
    """Moments at which each point is furthest out, with the point and the edge of the support on the ground."""
    out = []
    for margin, at, what, limits in (
        (com_margin, forces.com[:, :2], "centre of mass", STANDING),
        (zmp_margin, forces.zmp, "zero moment point", OUTSIDE),
    ):
        if np.isfinite(margin).any():
            k = int(np.nanargmin(margin))
            side = "inside" if margin[k] >= 0.0 else "outside"
            text = f"{what} (red pin) {100 * abs(margin[k]):.1f} cm {side} of the feet"
            bad = max(-float(margin[k]) / (limits[0] * subject.size), 0.0)
            ground = float(np.min(subject.contacts.points[k, :, 2])) if subject.contacts else 0.0
            edge = _polygon(support, k, subject.clip.fps)
            lines = (np.concatenate([edge, edge[:1]]),) if len(edge) else ()
            trails = [np.column_stack([p, np.full(len(p), ground)]) for p in (*lines, at[k][None])]
            pin = trails[-1] + np.linspace([0.0, 0.0, 0.0], [0.0, 0.0, _PIN * subject.size], 10)
            moment = Moment(float(subject.times[k]), text, subject.name, bad, span=subject.size, above=True)
            out.append(replace(moment, trails=(*trails, pin)))
    return tuple(out)


def _headline(com_margin: Array, stands: NDArray[np.bool_], share: float, far: float) -> str:
    if stands.mean() > 0.5:
        return _words(com_margin)
    return f"within {100 * far:.0f} cm of the feet {100 * (1.0 - share):.0f} % of the time"


def _lowest(margin: Array) -> float | None:
    return round(float(np.nanmin(margin)), 4) if np.isfinite(margin).any() else None


def _words(margin: Array) -> str:
    low = float(np.nanmin(margin))
    return f"{100 * abs(low):.1f} cm {'inside' if low >= 0 else 'outside'} at worst"
