"""Everyday objects taken in one hand: how many, by which grasp, and why the others are not.

Makers of `props` in four places, then random meshes and files (`everyday_make.py`). An object counts where the plan is
found and proven and, when the hand has it, the thumb touches it, and a finger on the side across from thumb or palm.
What no hand spans, by its own surface, is counted apart.

    python benchmarks/everyday.py [--count 200] [--first 120] [--only 3 7] [--seconds 40] [--pictures DIR] [--rows FILE]
    python benchmarks/everyday.py --sum FILE FILE    # one table of several ranges, also of one that was cut short
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import elbowroom as er
from elbowroom.character.hands import FINGERS, grip_frame
from elbowroom.geometry.rotations import normalize
from elbowroom.pictures.direction import Camera
from elbowroom.pictures.images import still, write_png
from elbowroom.world.exact import ExactWorld
from elbowroom.world.world import World
from everyday_make import THING, WHO, Case, case, fits_hand, world_of

# A finger touches within this, metres; two parts of a hand are opposite where the directions from them into the thing
# are this far apart, as the cosine.
TOUCH_M, OPPOSITE = 0.003, -0.3


def contacts(world: World, t: float) -> tuple[list[str], float]:
    """Parts of the hand that touch the object at a time, and the least cosine of the push of thumb or palm with that
    of another finger."""
    hold = world.holds[-1]
    exact = ExactWorld(world).place(t)
    body = world.body(WHO)
    push: dict[str, list[Any]] = {}
    for number, (a, b) in enumerate(exact.index.tolist()):
        parts = [exact.parts[a], exact.parts[b]]
        if {p.owner for p in parts} != {WHO, THING}:
            continue
        joint = next(p.joint for p in parts if p.owner == WHO)
        finger = next((f for f in FINGERS if f"{hold.hand}_{f}" in str(body.joint_names[joint]).lower()), None)
        if finger is None:
            continue
        found = exact.distance(number, 0.02)
        if found.value is None or found.value > TOUCH_M:
            continue
        push.setdefault(finger, []).append(_push(exact, number, parts[0].owner == WHO))
    joint, T_joint = body.hand(hold.hand)
    palm = [k for k, (a, b) in enumerate(exact.index.tolist()) if _between(exact, a, b, joint)]
    if any((exact.distance(k, 0.02).value or 0.0) < TOUCH_M for k in palm):
        T_hand = world.at(t).joints[WHO][joint] @ T_joint
        push["palm"] = [T_hand[:3, :3] @ grip_frame(body, hold.hand)[:3, 0]]
    against = [p for part in ("thumb", "palm") for p in push.get(part, [])]
    fingers = [p for part, ways in push.items() if part not in ("thumb", "palm") for p in ways]
    return list(push), min((float(a @ b) for a in against for b in fingers), default=1.0)


def _between(exact: ExactWorld, a: int, b: int, joint: int) -> bool:
    """Whether two parts are the object and one of the person's that a joint carries."""
    parts = [exact.parts[a], exact.parts[b]]
    return {p.owner for p in parts} == {WHO, THING} and any(p.owner == WHO and p.joint == joint for p in parts)


def _push(exact: ExactWorld, number: int, first: bool) -> Any:
    """Direction (3,) from the middle of a finger's shape to the nearest point of the object."""
    shape = exact.index[number][0 if first else 1]
    points = exact.distance(number, 0.02).points
    assert points is not None
    T = exact.placed.T[shape]
    axis, at = T[:3, 2], points[0 if first else 1]
    form = exact.placed.forms[shape]
    along = form.points @ np.array([0.0, 0.0, 1.0])
    s = float(np.clip((at - T[:3, 3]) @ axis, along.min(), along.max()))
    return normalize(at - T[:3, 3] - s * axis)


def one(chosen: Case, pictures: Path | None, index: int) -> dict[str, Any]:
    """One case: what became of it."""
    world = world_of(chosen)
    begun = time.process_time()
    plan = er.plan_tasks(world, [er.Grab(who=WHO, object=THING)], settings=er.Settings(probes=0))
    row: dict[str, Any] = {
        "index": index, "name": chosen.name, "kind": chosen.kind, "place": chosen.place, "status": plan.status,
        "why": plan.why, "seconds": round(time.process_time() - begun, 1), "fits": fits_hand(chosen.mesh),
    }  # fmt: skip
    if plan.status == "found":
        hold = plan.world.holds[-1]
        fingers, cosine = contacts(plan.world, hold.during[0] + 0.01)
        proven = plan.certificate is not None and plan.certificate.free
        row |= {"hand": hold.hand, "fingers": fingers, "cosine": round(cosine, 2), "proven": proven}
        row["held"] = proven and "thumb" in fingers and cosine < OPPOSITE
        if pictures is not None:
            camera = Camera(elevation=np.radians(25.0), target=f"{WHO}.{hold.hand}_hand", span=0.36)
            picture = still(plan.world, hold.during[0] + 0.01, size=(360, 300), camera=camera)
            write_png(pictures / f"{index:03d}.png", picture)
    return row


def run(chosen: Case, pictures: Path | None, index: int, seconds: float) -> dict[str, Any]:
    """One case, stopped after some processor seconds."""
    row: dict[str, Any] = {"index": index, "name": chosen.name, "kind": chosen.kind, "place": chosen.place, "why": ""}
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return one(chosen, pictures, index)
    except Exception as failed:  # the others are still to be run
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        spent = round(time.process_time() - begun, 1)
        late = isinstance(failed, TimeoutError) or spent >= seconds
        status, why = ("no answer", "") if late else ("crashed", repr(failed))
        return row | {"status": status, "why": why, "seconds": spent, "fits": fits_hand(chosen.mesh)}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _stop(number: int, frame: object) -> None:
    raise TimeoutError("the processor time of a case is spent")


def described(row: dict[str, Any]) -> str:
    """One case in a line."""
    how = f"{row['status']}: {row['why']}"
    if row["status"] == "found":
        how = f"{'held' if row['held'] else 'NOT HELD'} by {', '.join(row['fingers'])} ({row['cosine']})"
        how += "" if row["proven"] else ", not proven"
    size = "" if row["fits"] else " (no hand spans it)"
    return f"{row['index']:3d} {row['name']}{size}, {row['seconds']} s: {how}"


def text(rows: list[dict[str, Any]]) -> str:
    """The result as Markdown."""

    def share(some: list[dict[str, Any]]) -> str:
        held = sum(bool(r.get("held")) for r in some)
        return f"{held}/{len(some)} ({100 * held / max(len(some), 1):.0f} %)"

    fit = [r for r in rows if r["fits"]]
    seconds = sorted(r["seconds"] for r in rows)
    lines = [
        f"{len(rows)} objects, held: {share(rows)}; of those that a hand spans: {share(fit)}",
        f"found and proven: {sum(bool(r.get('proven')) for r in rows)}",
        f"processor time: median {seconds[len(seconds) // 2]} s, most {seconds[-1]} s",
    ]
    for key in ("place", "kind"):
        lines += ["", f"| {key} | held |", "|---|---|"]
        lines += [f"| {n} | {share([r for r in rows if r[key] == n])} |" for n in dict.fromkeys(r[key] for r in rows)]
    lines += ["", f"Not held: {dict(Counter(r['status'] for r in rows if not r.get('held')))}"]
    return "\n".join(lines + [described(r) for r in rows if not r.get("held")])


def main() -> None:
    """Print the tables, or all cases as JSON."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--count", type=int, default=200)
    ask.add_argument("--first", type=int, default=0, help="number of the first case; random meshes begin at 120")
    ask.add_argument("--step", type=int, default=1)
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--only", nargs="*", type=int, default=None, help="numbers of cases")
    ask.add_argument("--seconds", type=float, default=300.0, help="processor seconds for each, the proof included")
    ask.add_argument("--pictures", type=Path, default=None, help="folder for close-ups of hands")
    ask.add_argument("--rows", type=Path, default=None, help="JSON lines, written as each case ends")
    ask.add_argument("--sum", nargs="*", type=Path, default=None, help="files of --rows to sum up; nothing is run")
    asked = ask.parse_args()
    if asked.sum:
        rows = [json.loads(line) for path in asked.sum for line in path.read_text().splitlines()]
        print(text(sorted(rows, key=lambda row: row["index"])))
        return
    if asked.pictures is not None:
        asked.pictures.mkdir(parents=True, exist_ok=True)
    numbers = asked.only or range(asked.first, asked.first + asked.count * asked.step, asked.step)
    signal.signal(signal.SIGPROF, _stop)
    rows = []
    for index in numbers:
        chosen = case(index, asked.seed)
        if chosen is None:
            print(f"{index:3d}: its file is not present (set ELBOWROOM_DATA)", file=sys.stderr)
            continue
        rows.append(run(chosen, asked.pictures, index, asked.seconds))
        print(described(rows[-1]), file=sys.stderr, flush=True)
        if asked.rows is not None:
            with asked.rows.open("a") as file:
                file.write(json.dumps(rows[-1], default=float) + "\n")
    print(text(rows))


if __name__ == "__main__":
    main()
