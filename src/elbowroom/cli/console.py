"""Printing, JSON and progress, the same for all commands."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from elbowroom.stopping import watched

out = Console()
err = Console(stderr=True)
# Seconds of work before how long the rest takes is estimated, and the least rest that is told.
_TELLING_S = 2.0
_WORDS = TextColumn("{task.description}")


def print_json(facts: dict[str, Any]) -> None:
    """Print one JSON object, and nothing else, on standard output."""
    json.dump(facts, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on assumptions and missing data, one sentence a line."""
    for note in dict.fromkeys(notes):
        out.print(f"• {note}", highlight=False, soft_wrap=True, markup=False)


def print_written(paths: Iterable[object]) -> None:
    """Print the paths of the files that were written."""
    for path in paths:
        out.print(f"wrote {path}", highlight=False, soft_wrap=True, markup=False)


def _announce_first_run() -> None:
    from elbowroom.kernels import compiled_before

    if not compiled_before():
        err.print("First run: compiling the inner loops (once; takes up to a minute).", style="dim")


def compile_first(quiet: bool, *, everything: bool = False) -> None:
    """Compile what a repair needs, or all that tasks do, once on a machine and on all cores; a terminal shows how far
    that is."""
    from elbowroom.kernels.ahead import compile_ahead, is_ahead

    gc.freeze()  # modules and the scene stay: no look for garbage need pass over them
    if is_ahead(not everything):
        return
    if quiet or not err.is_terminal:
        if not quiet:
            err.print("First run: compiling the inner loops, once; this takes up to a minute.", style="dim")
        compile_ahead(lambda done, count: None, not everything)
        return
    with Progress(SpinnerColumn(), _WORDS, TimeElapsedColumn(), console=err, transient=True) as progress:
        shown = progress.add_task("compiling inner loops, once", total=None)
        compile_ahead(
            lambda done, count: progress.update(shown, description=f"compiling inner loops, once: {done} of {count}"),
            not everything,
        )


class Progressing:
    """Text on work under way: the stage, its part, how much of that is done and about how long the rest takes."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self._part, self._begun_s, self._share = "", 0.0, 0.0

    def text(self, part: str, share: float | None, now_s: float) -> str:
        """The line for a part of which a share in 0..1 is done at a time of the clock, seconds."""
        if share is None:
            return f"{self.doing}: {part}"
        if part != self._part or share < self._share:
            self._part, self._begun_s = part, now_s
        self._share = share
        spent = now_s - self._begun_s
        rest = spent * (1.0 - share) / share if share > 0.0 else 0.0
        left = f", about {rest:.0f} s left" if spent > _TELLING_S and rest > _TELLING_S else ""
        return f"{self.doing}: {part}, {100.0 * share:.0f} %{left}"


class Clock:
    """Timer of a command's stages that shows the current stage and its duration on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str, doing: str) -> Iterator[Callable[[str], None]]:
        """Time a stage; yields a function that changes the text shown. Work that reports how far it is adds that."""
        start = time.perf_counter()
        if not self.seconds and not self._quiet:
            _announce_first_run()
        if self._quiet or not err.is_terminal:
            yield lambda doing: None
        else:
            with Progress(SpinnerColumn(), _WORDS, TimeElapsedColumn(), console=err, transient=True) as progress:
                said = Progressing(doing)
                shown = progress.add_task(escape(doing), total=None)

                def say(doing: str) -> None:
                    said.doing = doing
                    progress.update(shown, description=escape(doing))

                def watch(part: str, share: float | None) -> None:
                    progress.update(shown, description=escape(said.text(part, share, time.monotonic())))

                with watched(watch):
                    yield say
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + time.perf_counter() - start, 3)
