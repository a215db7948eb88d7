"""Output of planned and checked motions on the terminal and as JSON, the same for all commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from elbowroom.cli.console import out, print_notes

if TYPE_CHECKING:
    from elbowroom.plan.state.result import Plan
    from elbowroom.world.certificate import Certificate
    from elbowroom.world.world import World

# Stages of the JSON contract, in order.
_STAGES = ("load", "prepare", "plan", "smooth", "certify", "write")
# Exit code if no collision is found, but something is too close to be proven.
NOT_PROVEN = 3
# Terminal lines about geometry left out of a proof.
_LINES = 6
# There is a motion, but it is not proven.
_NOT_FREE = ("base-in-collision", "not-certified", "partial")


def stages(clock: Mapping[str, float], planned: Mapping[str, float] | None = None) -> dict[str, float]:
    """Seconds by stage with their total; stages that planning reports itself are subtracted from 'plan'."""
    inside = {k: v for k, v in (planned or {}).items() if k != "plan"}
    out_of = dict.fromkeys(_STAGES, 0.0) | dict(clock)
    for stage, seconds in inside.items():
        out_of[stage] = out_of.get(stage, 0.0) + seconds
    out_of["plan"] = max(out_of["plan"] - sum(inside.values()), 0.0)
    rounded = {stage: round(seconds, 4) for stage, seconds in out_of.items()}
    return rounded | {"total": round(sum(rounded.values()), 4)}


def world_facts(world: World, certificate: Certificate) -> dict[str, Any]:
    """Frames, certificate and quality of a motion, as the JSON contract has them."""
    from elbowroom.motion.quality import worst_quality

    return {
        "frames": certificate.frames,
        "fps": certificate.fps,
        "triangles": world.triangles,
        **certificate.facts(),
        "quality": worst_quality(world.characters.values()).facts(),
        "floor_m": world.floor,
        "notes": list(dict.fromkeys((*world.notes, *certificate.notes))),
    }


def plan_facts(plan: Plan, seed: int | None, clock: Mapping[str, float]) -> dict[str, Any]:
    """A plan as the JSON contract has it."""
    facts: dict[str, Any] = {
        "status": plan.status,
        "seed": seed,
        "why": plan.why,
        "advice": plan.advice,
        "seconds": stages(clock, plan.seconds),
        "plans": [p.facts() for p in plan.edits],
    }
    if plan.certificate is not None:
        facts |= world_facts(plan.world, plan.certificate)
        if plan.collisions:
            # those of the input; what is left of them is listed apart
            left = facts["collisions"]
            facts |= {"collisions": [c.facts() for c in plan.collisions], "left": left}
        return facts
    return facts | {
        "frames": 0,
        "fps": None,
        "triangles": plan.world.triangles,
        "collisions": [],
        "certificate": {
            "free": False,
            "continuous": False,
            "clearance_m": None,
            "at_s": None,
            "pair": None,
            "allowed": [],
        },
        "quality": {"foot_slide_m": None, "peak_jerk": None, "limit_violations": None},
        "notes": list(plan.world.notes),
    }


def print_plan(plan: Plan, title: str) -> None:
    """Print the planned motions and their certificate; or why there is no motion, and what would help."""
    print_notes((*plan.world.notes, *(plan.certificate.notes if plan.certificate is not None else ())))
    if plan.edits:
        print_plans(plan, title)
    if plan.found and plan.certificate is not None:
        rate = "" if plan.certificate.fps is None else f" at {plan.certificate.fps:g} fps"
        print_free(plan.certificate, f"{plan.certificate.frames} frames{rate}, {plan.world.triangles:,} triangles")
    elif not plan.found:
        print_why(plan)


def print_plans(plan: Plan, title: str) -> None:
    """One row for each edit."""
    table = Table(title=title, title_justify="left")
    right = ("no.", "strength", "checks")
    for column in ("no.", "character", "limb", "reason", "when", "strength", "tier", "checks"):
        table.add_column(column, justify="right" if column in right else "left", no_wrap=column in (*right, "when"))
    for n, e in enumerate(plan.edits):
        when, strength = f"{e.during[0]:.2f}–{e.during[1]:.2f} s", "muted" if e.muted else f"{e.strength:g}"
        limb, reason = escape(e.limb.replace("_", " ")), escape(e.reason)
        table.add_row(str(n + 1), escape(e.who), limb, reason, when, strength, e.tier, f"{e.checks:,}")
    out.print(table)


def print_edit(number: int, facts: Mapping[str, Any]) -> None:
    """Print one line on an edit of a file."""
    begin, end = facts["during"]
    strength = "muted" if facts["muted"] else f"strength {facts['strength']:g}"
    limb = facts["limb"].replace("_", " ")
    text = f"edit {number + 1}: {facts['who'][0]}, {limb}, {begin:.2f}–{end:.2f} s, {facts['what']} ({strength})"
    out.print(text, highlight=False, soft_wrap=True, markup=False)


def exit_code(plan: Plan, accept_unproven: bool = False) -> int:
    """Exit code. 0: proven; 1: collisions or no motion; 3: no collision found, but something is too close to prove."""
    if plan.found:
        return 0
    unproven = plan.certificate is not None and plan.certificate.only_unproven and plan.status in _NOT_FREE
    return (0 if accept_unproven else NOT_PROVEN) if unproven else 1


def print_free(certificate: Certificate, what: str) -> None:
    """Print the certificate: allowed contacts, geometry left out, and the minimum clearance."""
    but = ", except for what the next line lists" if certificate.exceptions else ""
    out.print(
        f"collision-free: proven in continuous time ({what}){but}", style="green", highlight=False, soft_wrap=True
    )
    out.print(certificate.summary, highlight=False, soft_wrap=True, markup=False)
    left = certificate.evidence.left_out
    lines = [
        f"left out: {d.faces:,} triangles of '{d.name}' ({d.area_m2:.1f} m²), which are part of the floor, "
        f"up to {1000 * d.above_floor_m:.1f} mm above it"
        for d in left.dropped
    ]
    lines += [
        f"treated as surfaces: {d.parts} parts of '{d.name}' ({d.faces:,} triangles) are {d.why}" for d in left.demoted
    ]
    for line in lines[:_LINES]:
        out.print(line, highlight=False, soft_wrap=True, markup=False)
    if len(lines) > _LINES:
        out.print(f"… and {len(lines) - _LINES} more; use --json for the full list.", highlight=False)
    if certificate.pair is not None and certificate.clearance_m is not None:
        a, b = certificate.pair
        text = f"minimum clearance {1000 * certificate.clearance_m:.1f} mm at {certificate.at_s:.3f} s: {a} and {b}"
        out.print(text, highlight=False, soft_wrap=True, markup=False)


def print_why(plan: Plan) -> None:
    """Print why there is no motion, and what would help."""
    what = "collisions remain" if plan.status in _NOT_FREE else "no motion found"
    what = "no collision found, but not proven" if exit_code(plan) == NOT_PROVEN else what
    what = "out of time" if plan.status == "budget-spent" else what
    out.print(f"{what}: {plan.status}", style="red", highlight=False)
    if plan.why:
        out.print(f"why: {plan.why.rstrip('.')}.", highlight=False, soft_wrap=True, markup=False)
    out.print(f"what would help: {plan.remedy}.", highlight=False, soft_wrap=True, markup=False)


def print_seconds(seconds: Mapping[str, float]) -> None:
    """Print the duration of each stage."""
    shown = [f"{stage} {s:.2f} s" for stage, s in seconds.items() if s >= 0.005 and stage != "total"]
    out.print("time: " + ", ".join(shown), highlight=False, soft_wrap=True)
