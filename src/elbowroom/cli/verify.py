"""`elbowroom verify`: check a written file again, from its contents alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from elbowroom.cli import options
from elbowroom.cli.console import StageTimer, out, print_json
from elbowroom.cli.results import NOT_PROVEN, print_edit, print_free, print_seconds

if TYPE_CHECKING:
    from elbowroom.files.verify import Verified

# Rows of the table on a terminal; --json has them all.
_ROWS = 20


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="GLB or NPZ written by elbowroom.")],
    as_json: options.Json = False,
) -> None:
    """Check a written file again, from its contents alone: by dense samples and by a proof in continuous time.

    Only the contacts that the file lists are allowed. The file must claim to be proven; both checks must confirm it.
    A file that was changed since it was written is not verified, and every changed part is named.
    Exit code 0: verified; 1: a collision, a contact deeper than the file allows, a change, or edits that do
    not reproduce the motion; 2: bad file; 3: no collision found, but the file does not claim to be proven, or something
    is too close to be proven.
    tools/verify_npz.py does the sampling without elbowroom. Example: elbowroom verify kitchen.glb
    """
    from elbowroom.files.verify import RATE
    from elbowroom.files.verify import verify as checked

    clock = StageTimer(quiet=as_json)
    with clock("verify", f"verifying {file.name}") as say:
        found = checked(file, lambda done: say(f"verifying {file.name}: {100 * done:.0f} % of samples"))
    if as_json:
        print_json(found.facts() | {"seconds": clock.seconds})
    else:
        _print(found, RATE)
        print_seconds(clock.seconds)
    raise typer.Exit(_exit_code(found))


def _exit_code(found: Verified) -> int:
    if found.good:
        return 0
    differs = found.changed or found.disagreements or not found.whole
    return 1 if found.violations or found.certificate.collisions or differs else NOT_PROVEN


def _print(found: Verified, rate: float) -> None:
    proof = found.proof
    facts = proof.facts
    out.print(f"status in the file: {proof.status} ({proof.why})", highlight=False, soft_wrap=True, markup=False)
    made = [f"elbowroom {facts['version']}"] if "version" in facts else []
    made += [f"seed {facts['seed']}"] if facts.get("seed") is not None else []
    made += [f"{i['name']} {i['sha256'][:12]}" for i in facts.get("inputs", []) if isinstance(i, dict)]
    if made:
        out.print("made by " + ", ".join(made), highlight=False, soft_wrap=True, markup=False)
    if isinstance(facts.get("caps_m"), dict):
        caps = ", ".join(f"{name} {1000 * depth:g} mm" for name, depth in facts["caps_m"].items())
        out.print(f"caps on allowed overlaps: {caps}", highlight=False, soft_wrap=True, markup=False)
    if found.caps_changed:
        caps = ", ".join(f"{n} {1000 * a:g} mm for {1000 * b:g} mm" for n, (a, b) in found.caps_changed.items())
        out.print(f"caps that differ from the defaults: {caps}", style="yellow", highlight=False, soft_wrap=True)
    if found.changed:
        text = f"changed since it was certified: {'; '.join(found.changed)}"
        out.print(text, style="red", highlight=False, soft_wrap=True, markup=False)
    for text in found.disagreements:
        out.print(f"contradicts itself: {text}", style="red", highlight=False, soft_wrap=True, markup=False)
    for n, edit in enumerate(found.edits):
        print_edit(n, edit.facts())
    if not found.whole:
        text = f"the edits over the base do not reproduce the motion: they are off by up to {found.edits_off:.4f}"
        out.print(text, style="red", highlight=False, soft_wrap=True)
    worst = [(v.at_s, v.pair, v.depth_m, v.allowed_m) for v in found.violations]
    worst += [(c.at_s, c.pair, c.depth_m, 0.0) for c in found.certificate.collisions if not found.violations]
    if worst:
        table = Table(title=f"{len(worst)} violations ({found.samples:,} samples)", title_justify="left")
        for column in ("at", "part", "hits", "depth", "allowed"):
            table.add_column(column, justify="left" if column in ("part", "hits") else "right")
        for at, pair, depth, allowed in worst[:_ROWS]:
            deep = "?" if depth is None else f"{1000 * depth:.1f} mm"
            table.add_row(f"{at:.3f} s", *pair, deep, f"{1000 * allowed:.1f} mm")
        out.print(table)
        return
    said = f"{found.samples:,} samples, {rate:g} per second: no collision beyond what the file allows"
    out.print(said, highlight=False, soft_wrap=True)
    if found.certificate.free:
        print_free(found.certificate, f"{found.certificate.frames} frames at {found.certificate.fps:g} fps")
    if found.good:
        out.print(f"verified: {found.path.name}", style="green", highlight=False, soft_wrap=True, markup=False)
