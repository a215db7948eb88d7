"""Timeline: play, scrub, frames, in and out points, speed, loop, and bars of collisions and edits of each limb."""

from __future__ import annotations

import time
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import Literal

import viser

from elbowroom.plan.state.result import Plan
from elbowroom.studio.messages import limb, seconds
from elbowroom.studio.player import SPEEDS
from elbowroom.studio.studio import Studio
from elbowroom.world.certificate_findings import Collision, Interval, Unproven
from elbowroom.world.world import World

BarKind = Literal["before", "now", "planned"]

COLORS: dict[BarKind, str] = {"before": "#e0a458", "now": "#c8443c", "planned": "#4a8fb5"}
WORDS: dict[BarKind, str] = {"before": "collided before", "now": "collides now", "planned": "re-planned"}

# The bars are below the slider's track, which is inset by so many pixels from the sides of the panel.
_LEFT, _RIGHT = 110, 56
_LANE = 7
ROW = 2 * _LANE + 6
_BELOW = 35  # height of the scale and the legend
# Pixels of a label of the scale with the room beside it, and of the widest panel.
_LABEL, _WIDEST = 86, 1200


@dataclass(frozen=True)
class TimelineBar:
    """Interval of one limb, or of an object if `limb` is empty."""

    who: str
    limb: str
    kind: BarKind
    during: Interval
    what: str = ""


def bars_of(plan: Plan | None, world: World, *, live: bool) -> list[TimelineBar]:
    """All bars of a plan. Collisions of a motion that is not proven yet are unknown."""
    if plan is None:
        return []
    out = [TimelineBar(*_row(c, world), "before", c.during, " and ".join(c.pair)) for c in plan.collisions]
    out += [
        TimelineBar(p.who, p.limb.split(" ")[0].replace(",", ""), "planned", p.during, p.reason) for p in plan.edits
    ]
    if plan.certificate is not None and not live:
        left = plan.certificate.hits
        out += [TimelineBar(*_row(c, world), "now", c.during, " and ".join(c.pair)) for c in left]
    return out


def _row(found: Collision | Unproven, world: World) -> tuple[str, str]:
    """Character and limb of a part; a held object belongs to the arm that holds it."""
    for hold in world.holds:
        meet = hold.during[0] <= found.during[1] and found.during[0] <= hold.during[1]
        if hold.object in found.pair and meet:
            return hold.by, f"{hold.hand}_arm"
    return (found.who[0], found.limb) if found.who else (found.pair.a, "")


def lanes(bars: list[TimelineBar]) -> int:
    """Number of rows that the bars take."""
    return len({(bar.who, bar.limb) for bar in bars})


def drawn(
    bars: list[TimelineBar], span: Interval, *, dark: bool, nothing: str = "no collisions", panel: float = _WIDEST
) -> str:
    """HTML of the bars, one row for each limb that has any, above a time scale and a legend.

    If there are none, the text `nothing` replaces the legend. `panel` is its width, pixels.
    """
    rows: dict[tuple[str, str], list[TimelineBar]] = {}
    for bar in bars:
        rows.setdefault((bar.who, bar.limb), []).append(bar)
    ink, rail = ("#c9d1d6", "#3a4147") if dark else ("#5c6870", "#e6eaec")
    out = [f'<div style="font-size:11px;color:{ink};padding:0 10px 0 10px">']
    for (who, name), some in sorted(rows.items()):
        label = escape(f"{who} {limb(name)}".strip())
        out.append(
            f'<div style="display:flex;align-items:center;height:{ROW}px"><div title="{label}" style="width:{_LEFT}px;'
            f'padding-right:8px;font-size:10.5px;line-height:10px">{label}</div>'
            f'<div style="position:relative;flex:1;height:{2 * _LANE}px;background:{rail};border-radius:2px;'
            f'margin-right:{_RIGHT - 2}px">'
        )
        for bar in sorted(some, key=lambda b: ("planned", "before", "now").index(b.kind)):
            width = max(_share(bar.during[1], span) - _share(bar.during[0], span), 0.6)
            top = 0 if bar.kind == "before" else _LANE
            tip = escape(f"{WORDS[bar.kind]}: {bar.what}, {seconds(bar.during[0])} to {seconds(bar.during[1])}")
            out.append(
                f'<div title="{tip}" style="position:absolute;left:{_share(bar.during[0], span):.2f}%;'
                f"width:{width:.2f}%;top:{top}px;height:{_LANE - 1}px;background:{COLORS[bar.kind]};"
                f'border-radius:1px"></div>'
            )
        out.append("</div></div>")
    centred = "position:absolute;transform:translateX(-50%);white-space:nowrap"
    marks = "".join(f'<span style="{centred};left:{_share(t, span):.2f}%">{t:g} s</span>' for t in ticks(span, panel))
    out.append(
        f'<div style="position:relative;height:14px;margin:0 {_RIGHT - 2}px 0 {_LEFT}px;opacity:.75">{marks}</div>'
    )
    kinds = [kind for kind in COLORS if any(bar.kind == kind for bar in bars)]
    legend = " ".join(
        f'<span style="white-space:nowrap;margin-right:12px"><span style="display:inline-block;width:12px;height:6px;'
        f'border-radius:1px;background:{COLORS[kind]};margin-right:5px;vertical-align:middle"></span>{WORDS[kind]}</span>'
        for kind in kinds
    )
    out.append(f'<div style="padding:2px 0 4px {_LEFT}px">{legend or nothing}</div></div>')
    return "".join(out)


def hand(t: float, span: Interval, rows: int, points: tuple[float | None, float | None] = (None, None)) -> str:
    """HTML of the playhead over the bars, and of the in and out `points`: small, because it is sent for every frame."""
    up = rows * ROW
    marks = [(t, "1.5px", "#4a8fb5", up)]
    marks += [(p, "2px", "#d8a03a", max(up, ROW)) for p in points if p is not None]
    return (
        '<div style="position:relative;height:0">'
        + "".join(
            f'<div style="position:absolute;pointer-events:none;width:{width};background:{color};bottom:{_BELOW}px;'
            f"height:{height}px;left:calc({_LEFT + 10}px + (100% - {_LEFT + _RIGHT + 18}px)"
            f'*{0.01 * _share(at, span):.4f})"></div>'
            for at, width, color, height in marks
        )
        + "</div>"
    )


def ticks(span: Interval, width: float = _WIDEST) -> list[float]:
    """Times of a scale in a panel of a width, pixels: multiples of a step that leaves room for the labels."""
    length = span[1] - span[0]
    most = max((width - _LEFT - _RIGHT) / _LABEL, 1.0)
    step = next((s for s in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0) if length / s <= most), 600.0)
    first = int(-(-span[0] // step))
    return [round(k * step, 6) for k in range(first, int(span[1] / step + 1e-6) + 1)]


def _share(t: float, span: Interval) -> float:
    """Position of a time in a span, in percent."""
    return 100.0 * (t - span[0]) / max(span[1] - span[0], 1e-6)


# Updates of the slider per second while playing: more would only keep the page busy.
_SLIDER_RATE = 10.0
# Rows of bars with space from the start.
_MOST_ROWS = 5


class Timeline:
    """A panel below the scene."""

    def __init__(self, server: viser.ViserServer, studio: Studio) -> None:
        self._studio, gui = studio, server.gui
        self.dark = False
        self._updated_s = 0.0
        self._lanes, self._room = 0, 1
        self._placed: tuple[float, int] | None = None
        self.panel = gui.add_panel()
        with self.panel.add_tab("Timeline", viser.Icon.TIMELINE):
            self._buttons = gui.add_button_group("Motion", self._words())
            self._slider = gui.add_slider("Time (s)", 0.0, 1.0, 0.001, 0.0)
            self._frame = gui.add_number("Frame", 0, min=0, step=1, hint="At the frame rate of the storyboard.")
            self._bars = gui.add_html("")
            self._hand = gui.add_html("")
        self._buttons.on_click(self._pressed)
        self._slider.on_update(self._scrubbed)
        self._frame.on_update(self._framed)
        self.place(900)

    def _words(self) -> tuple[str, ...]:
        player = self._studio.player
        play, loop = "Pause" if player.playing else "Play", "on" if player.loop else "off"
        ends = [name if t is None else f"{name} {t:.2f}" for name, t in zip(("In", "Out"), player.points, strict=True)]
        return (play, "Start", "End", *ends, f"Speed {player.speed:g}×", f"Loop {loop}")

    def place(self, width: float) -> None:
        """Place the panel below a scene of that width, pixels, unless it is there already."""
        if (width, self._room) == self._placed:
            return
        self._placed, self._width = (width, self._room), width
        self.panel.float(x=10, y=-10, width=self._panel_width, height=self.height - 10)
        self._draw_bars()

    @property
    def height(self) -> int:
        """Pixels at the lower edge of the window that the panel covers."""
        return 200 + ROW * self._room

    @property
    def _panel_width(self) -> float:
        return min(max(self._width - 20, 280), _WIDEST)

    def show_motion(self) -> None:
        """Update to another motion: its length and bars."""
        studio = self._studio
        begin, end = studio.player.span
        slider, last = self._slider, max(ceil(100.0 * end - 1e-6) / 100.0, begin + 0.01)
        if (slider.min, slider.max) != (begin, last):
            slider.min, slider.max = begin, last
        self._draw_bars()
        if min(self._lanes, _MOST_ROWS) > self._room:  # it never shrinks: a panel that jumps is distracting
            self._room = min(self._lanes, _MOST_ROWS)
            self.place(self._width)
        self.show_time(force=True)

    def _draw_bars(self) -> None:
        studio, slider = self._studio, self._slider
        bars = bars_of(studio.plan, studio.original, live=studio.live)
        nothing = "not planned yet" if studio.plan is None else "not yet certified" if studio.live else "no collisions"
        span = (slider.min, slider.max)
        drawing = drawn(bars, span, dark=self.dark, nothing=nothing, panel=self._panel_width)
        if self._bars.content != drawing:
            self._bars.content = drawing
        self._lanes = lanes(bars)

    def show_time(self, force: bool = False) -> None:
        """Update to the time shown."""
        now = time.perf_counter()
        if force or not self._studio.player.playing or now - self._updated_s > 1.0 / _SLIDER_RATE:
            self._updated_s = now
            value = round(self._studio.player.time, 3)
            if self._slider.value != value:
                self._slider.value = value  # type: ignore[misc]
            frame = self._frame_at(value)
            if self._frame.value != frame:
                self._frame.value = frame  # type: ignore[misc]
            line = hand(value, (self._slider.min, self._slider.max), self._lanes, self._studio.player.points)
            if self._hand.content != line:
                self._hand.content = line
            self.show_buttons()

    def _pressed(self, event: viser.GuiEvent) -> None:
        player, word = self._studio.player, self._buttons.value
        if word == "Play":
            player.play()
        elif word.startswith("Speed"):
            player.speed = SPEEDS[(SPEEDS.index(player.speed) + 1) % len(SPEEDS)]
        elif word.startswith("Loop"):
            player.loop = not player.loop
        elif word.startswith(("In", "Out")):
            player.mark("in" if word.startswith("In") else "out")
        else:
            player.pause()
        if word in ("Start", "End"):
            player.seek(player.range[0] if word == "Start" else player.range[1])
        self.show_buttons()

    def show_buttons(self) -> None:
        """Update the texts of the buttons."""
        words = self._words()
        if tuple(self._buttons.options) != words:
            self._buttons.options = words

    def _frame_at(self, t: float) -> int:
        """Number of the frame nearest to a time in seconds; the first is 0."""
        return round((t - self._studio.player.span[0]) * self._studio.board.fps)

    def _framed(self, event: viser.GuiEvent) -> None:
        player = self._studio.player
        if event.client is not None and self._frame.value != self._frame_at(player.time):
            player.pause()
            player.seek(player.span[0] + self._frame.value / self._studio.board.fps)

    def _scrubbed(self, event: viser.GuiEvent) -> None:
        if event.client is not None:
            self._studio.player.pause()
            self._studio.player.seek(self._slider.value)
