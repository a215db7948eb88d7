"""Timeline: play, scrub, frames, in and out points, speed, loop, and bars of limb collisions."""

from __future__ import annotations

import time
from math import ceil

import viser

from elbowroom.studio.bars import ROW, bars_of, drawn, hand, lanes
from elbowroom.studio.player import SPEEDS
from elbowroom.studio.studio import Studio

# The slider follows a motion that plays this often a second: more would only keep the page busy.
_SLIDER_RATE = 10.0
# Rows of bars for which there is room from the start.
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
        height = 190 + ROW * self._room
        self.panel.float(x=10, y=-10, width=min(max(width - 20, 280), 1200), height=height)

    def show_motion(self) -> None:
        """Update to another motion: its length and bars."""
        studio = self._studio
        begin, end = studio.player.span
        slider, last = self._slider, max(ceil(100.0 * end - 1e-6) / 100.0, begin + 0.01)
        if (slider.min, slider.max) != (begin, last):
            slider.min, slider.max = begin, last
        bars = bars_of(studio.plan, studio.original, live=studio.live)
        nothing = "not planned yet" if studio.plan is None else "not yet certified" if studio.live else "no collisions"
        drawing = drawn(bars, (begin, last), dark=self.dark, nothing=nothing)
        if self._bars.content != drawing:
            self._bars.content = drawing
        self._lanes = lanes(bars)
        if min(self._lanes, _MOST_ROWS) > self._room:  # it never shrinks: a panel that jumps is distracting
            self._room = min(self._lanes, _MOST_ROWS)
            self.place(self._width)
        self.show_time(force=True)

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
