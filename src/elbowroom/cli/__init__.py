"""The command line, one file per command.

Each command prints a short summary, or one JSON object with --json. Exit codes: 0 done, 1 no motion found
or not free, 2 bad input or an optional extra missing, 130 interrupted by Ctrl-C, 143 by `kill`.
"""

from __future__ import annotations

import gc
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from typing import Annotated

import typer

from elbowroom import __version__
from elbowroom.cli import check, convert, demo, gallery, go, info, library, render, repair, report, run, studio, verify
from elbowroom.cli.console import err, out
from elbowroom.cli.interrupt import INTERRUPTED, ending, heed_interrupts, interrupted_by
from elbowroom.errors import ElbowroomError

# Exit code after a crash, EX_SOFTWARE of sysexits.h.
CRASHED = 70
# Objects made between looks for garbage, more than modules define: Python's 700 cost a command of a few seconds a tenth
# of its time.
_GARBAGE_AFTER = 200_000

app = typer.Typer(
    name="elbowroom",
    help="Plan and repair collision-free motion for characters in cluttered scenes.",
    epilog="Start with: elbowroom demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def help_of(command: Callable[..., None]) -> str:
    """Docstring of a command in paragraphs without line breaks, which terminals of other widths would keep."""
    text = inspect.getdoc(command) or ""
    return re.sub(r"(?<!\n)\n(?!\n| )", " ", re.sub(r"\n(?=Examples?:)", "\n\n", text))


for _command in (
    demo.demo, gallery.gallery, repair.repair, run.run, go.go, info.info, convert.convert, render.render, check.check,
    verify.verify, report.report, library.library, studio.studio,
):  # fmt: skip
    app.command(_command.__name__, help=help_of(_command))(_command)


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        out.print(f"elbowroom {__version__}", highlight=False)
        raise typer.Exit


def main() -> None:
    """Entry point: one sentence and exit code 2 on bad input, 70 for a crash, 130 or 143 when interrupted."""
    gc.set_threshold(_GARBAGE_AFTER, *gc.get_threshold()[1:])
    heed_interrupts()
    try:
        status = app(standalone_mode=False)
    except typer.TyperException as usage:
        # usage errors know how to print themselves; their base class makes no such promise
        show = getattr(usage, "show", None)
        if show is not None:
            show()
        else:
            err.print(str(usage))
        sys.exit(getattr(usage, "exit_code", 2))
    except ElbowroomError as error:
        err.print(f"elbowroom: {error}", style="red", highlight=False, soft_wrap=True, markup=False)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except Exception:  # a defect of ours, which must not look like a finding: 1 is for motions that are not free
        traceback.print_exc()
        sys.exit(CRASHED)
    ending()
    if status == INTERRUPTED:
        err.print("elbowroom: interrupted; no partial files were left behind.", style="red")
        status = interrupted_by()
    sys.exit(status if isinstance(status, int) else 0)
