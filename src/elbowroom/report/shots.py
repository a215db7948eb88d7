"""Pictures of the moments that matter most: rendered, or drawn plainly where there is nothing to render with."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from elbowroom.errors import MissingExtra, UnknownName
from elbowroom.pictures.camera import Camera
from elbowroom.pictures.images import still
from elbowroom.report.figure import figure
from elbowroom.report.measure import Report
from elbowroom.report.parts import Light, Measure, Moment
from elbowroom.world.world import World

_SIZE = (560, 400)
# Moments of one measure that are shown at most, and how far two of them are apart in time, seconds.
_EACH, _APART = 2, 0.15
# Pictures that there are at least, if there is as much to show.
_ROW = 3
# How bad a moment of a measure that is only worth a look can be.
_RED = 3.0


@dataclass(frozen=True, eq=False)
class Shot:
    """A moment with its picture as HTML, and the measure that it belongs to: its anchor on the page and its light."""

    moment: Moment
    anchor: str
    light: Light
    picture: str


def anchor(who: str, measure: str) -> str:
    """Where on the page a measure is: a name without spaces."""
    safe = "".join(c if c.isalnum() else "-" for c in who)
    return f"{safe}-{measure}" if who else measure


def worst_moments(report: Report, most: int = 6) -> list[tuple[Moment, str, Light]]:
    """The moments that matter most, in order of time, with the anchors and lights of their measures."""
    measures: list[tuple[str, str, Measure]] = [("", "clearance", report.clearance)]
    measures += [(p.name, key, m) for p in report.people for key, m in p.measures.items()]
    found: list[tuple[Moment, str, Light]] = []
    for who, key, measure in measures:
        # no moment is worse than the measure that it belongs to
        most_bad = {"good": 1.0, "look": _RED, "bad": np.inf, "none": 0.0}[measure.light]
        for m in measure.moments:
            if m.badness > 0.0:
                found.append((replace(m, badness=min(m.badness, most_bad)), anchor(who, key), measure.light))
    kept = found[: min(1, most)] if report.clearance.moments else []  # the tightest place is always of interest
    for item in sorted(found[len(kept) :], key=lambda f: -f[0].badness):
        same = [k for k in kept if k[1] == item[1]]
        near = any(abs(k[0].time - item[0].time) < _APART for k in same)
        # what is good is shown only where little else is
        full = len(kept) >= (most if item[0].badness > 1.0 else min(most, _ROW))
        if len(same) < _EACH and not near and not full:
            kept.append(item)
    kept.sort(key=lambda k: k[0].time)
    return [(m, where, "good" if m.badness <= 1.0 else light) for m, where, light in kept]


def shots(report: Report, most: int = 6) -> tuple[list[Shot], str]:
    """Pictures of the moments that matter most, and a note where they could only be drawn."""
    out, note = [], ""
    for moment, where, light in worst_moments(report, most):
        picture = ""
        if not note:
            try:
                picture = _rendered(report.world, moment)
            except MissingExtra as missing:
                note = f"Pictures are plain drawings here: {missing}"
        out.append(Shot(moment, where, light, picture or figure(report.world, moment.time)))
    return out, note


def _rendered(world: World, moment: Moment) -> str:
    if moment.part:
        try:
            picture = still(world, moment.time, size=_SIZE, camera=Camera(target=moment.part, span=moment.span))
            return _embedded(picture, moment)
        except UnknownName:
            pass  # a part that only collision knows by name; the whole will do
    alone = Camera(follow=moment.who) if moment.who in world.characters else None
    return _embedded(still(world, moment.time, size=_SIZE, camera=alone), moment)


def _embedded(picture: np.ndarray, moment: Moment) -> str:
    """A picture (H, W, 3) inside of the page."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", optimize=True)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="the moment at {moment.time:.2f} s" width="560" height="400">'
