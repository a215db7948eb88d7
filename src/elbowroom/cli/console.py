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

from elbowroom.stopping import Progressing, watched

out = Console()
err = Console(stderr=True)
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


class StageTimer:
    """Timer of a command's stages that shows the current stage and its duration on a terminal."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str, doing: str) -> Iterator[Callable[[str], None]]:
        """Time a stage; yields a function that changes the text shown. Work that reports how far it is adds that."""
        start = time.perf_counter()
        if not self.seconds and not self._quiet:
            from elbowroom.kernels import compiled_before

            if not compiled_before():
                err.print("First run: compiling the inner loops (once; takes up to a minute).", style="dim")
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
