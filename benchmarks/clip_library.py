"""Walks blended from the clip library that ships with the package, against what was asked for and against capture.

Random speeds and turn rates within the border of the library without the clip that is nearest to them; the built-in
person walks so for some seconds at 240 frames per second. Speed and turn rate are measured over whole strides from
the pelvis alone. A foot stands while its collision shapes are within a millimetre of the floor; how far it slides then
is told by the points of its sole that move least. Capture are the recordings themselves on their own rigs; the
paper's baseline is the plain blend of four cycles, joint by joint, without footholds.

    python benchmarks/clip_library.py [--first 0] [--count 200] [--seed 1] [--rows walks.jsonl] [--data folder]
    python benchmarks/clip_library.py --sum --rows walks.jsonl      # the table alone

With `--rows` each walk is appended to a file as soon as it is measured, and walks that are in it already are not made
again, so the 200 can be made in pieces; the table is about all walks of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from elbowroom.errors import ElbowroomError
from elbowroom.files.open import ImportHints, open_file
from elbowroom.geometry import rotations as rot
from elbowroom.geometry.rotations import UP, Array
from elbowroom.geometry.transforms import apply
from elbowroom.locomotion.body_frame import BodyFrame
from elbowroom.locomotion.course import facing, leftwards
from elbowroom.locomotion.cycles import PARTS, TRUNK, Cycle, cycles_of, reference
from elbowroom.locomotion.library import ClipLibrary, point_of
from elbowroom.locomotion.library_arrays import recorded_cycles
from elbowroom.locomotion.room import part
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.contacts import foot_contacts, runs, steps
from elbowroom.motion.edit import resample, without_lead
from elbowroom.motion.quality import rms_jerk
from elbowroom.motion.soles import soles
from elbowroom.motion.stance import foot_slide
from elbowroom.report.balance import balance_of
from elbowroom.report.forces import forces_of
from elbowroom.report.people import Subject

DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")
CAPTURE = (
    *(f"cmu_asf_amc/{take[:2]}/{take}.amc" for take in (
        "02_01", "02_02", "07_01", "07_04", "16_11", "16_13", "16_17", "16_19", "16_22", "16_23", "16_25", "16_27",
        "69_01", "69_02")),
    *(f"cmu_bvh/{take}.bvh" for take in ("69_20", "69_28", "69_31", "104_35", "07_12", "132_45")),
)  # fmt: skip
FPS = 240.0
SECONDS = 4.0
TOUCHES_M = 0.001
LOW_M = 0.006
DEGREES = float(np.degrees(1.0))
# Speeds (m/s) and turn rates (degrees/s) of the paper's four cycles: the nearest recorded ones are taken.
FOUR = ((0.75, 0.0), (1.6, 0.0), (0.85, 60.0), (0.85, -60.0))
# Joints whose jerk is compared: those that every recording has.
BODY = (*TRUNK, *(f"{s}_{p}" for s in ("left", "right") for p in ("upper_arm", "forearm", "thigh", "shin", "foot")))


def touching(clip: Clip, side: str, T: Array) -> Array:
    """Frames (T,) in which a foot touches the floor at z = 0, and how deep it is in there (T,), metres."""
    joint = clip.character.role(f"{side}_foot")
    foot = part(clip.character, tuple(clip.character.skeleton.subtree(joint)), T)
    assert foot is not None
    return np.asarray(foot.extent(np.array([[[0.0, 0.0, -1.0]]]))[:, 0])


def slid(clip: Clip) -> tuple[float, float]:
    """Farthest that a foot slides while it stands, and deepest that one is in the floor, metres."""
    T = clip.world()
    far, deep = 0.0, 0.0
    for sole in soles(clip.character):
        depth = touching(clip, sole.side, T)
        deep = max(deep, float(depth.max()))
        toes = sole.toes if sole.toes >= 0 else sole.foot
        points = np.concatenate(
            [apply(T[:, sole.foot], np.vstack([sole.outline, sole.heel, sole.ball])),
             apply(T[:, toes], np.vstack([sole.toe_outline, sole.tip]))], axis=1
        )  # fmt: skip
        for first, last in runs(depth > -TOUCHES_M):
            if (last - first) / clip.fps < 0.1:
                continue
            mine = points[first : last + 1]
            low = mine[..., 2] < mine[..., 2].min(axis=1, keepdims=True) + LOW_M
            moved = np.linalg.norm(np.diff(mine[..., :2], axis=0), axis=-1)
            least = np.where(low[1:] & low[:-1], moved, np.inf).min(axis=1)
            far = max(far, float(np.where(np.isfinite(least), least, 0.0).sum()))
    return far, deep


def achieved(clip: Clip) -> Array | None:
    """Speed (m/s) and turn rate (rad/s) of a clip over whole strides, from the pelvis and the chest."""
    strikes = [s.first for s in steps(foot_contacts(clip), "left") if s.first > 0]
    if len(strikes) < 2:
        return None
    body = reference()
    T = clip.world()
    headings = []
    for role in ("pelvis", "chest"):
        j = clip.character.role(role)
        turn = rot.multiply(rot.from_matrix(T[:, j, :3, :3]), rot.conjugate(body.rotations[j]))
        headings.append(np.unwrap(rot.heading(turn)))
    pelvis = T[:, clip.character.role("pelvis"), :3, 3]
    frame = BodyFrame.of(pelvis, np.mean(headings, axis=0), strikes[0], strikes[-1], clip.fps)
    return np.array([np.hypot(*frame.velocity[:2]), frame.velocity[2]])


def zmp_outside(clip: Clip, floor: float = 0.0) -> float:
    """Distance outside of the feet that the zero moment point stays below in 95 % of the time, metres."""
    subject = Subject("walker", clip)
    margin = balance_of(subject, forces_of(subject, [], floor)).zmp_margin
    counted = margin[np.isfinite(margin)]
    return float(np.percentile(np.maximum(-counted, 0.0), 95.0)) if len(counted) else np.nan


def jerk(clip: Clip) -> float:
    """Root mean square angular jerk, the mean over the body's joints, rad/s³."""
    joints = [clip.character.roles[r] for r in BODY if r in clip.character.roles]
    return float(np.mean(rms_jerk(resample(clip, 120.0).rotations[:, joints], 120.0)))


def apart(cycle: Cycle, others: list[Cycle]) -> float:
    """Root mean square angle between the poses of a cycle and the nearest ones of other cycles, radians."""
    pool = np.concatenate([c.turns for c in others])
    cosine = np.abs(np.einsum("prk,nrk->pnr", cycle.turns, pool))
    angle = 2.0 * np.arccos(np.clip(cosine, 0.0, 1.0))
    return float(np.sqrt(np.mean(angle**2, axis=2)).min(axis=1).mean())


def plain_blend(library: ClipLibrary, speed: float, turn: float) -> Clip:
    """The paper's walk: joints and root of the blended cycles as they are, at 240 frames per second."""
    body = reference()
    t = np.arange(round(SECONDS * FPS) + 1) / FPS
    weights = np.repeat(library.weights(np.array([[speed, 0.0, turn]])), len(t), axis=0)
    rate = float(weights[0] @ library.numbers[:, 0])
    turns, offset = library.sampled(weights, rate * t)
    heading = turn * t
    half = 0.5 * heading
    way = speed * t * np.sinc(half / np.pi)
    place = way[:, None] * facing(half) + body.leg * (
        offset[:, :1] * facing(heading) + offset[:, 1:2] * leftwards(heading)
    )
    part_of = {name: turns[:, k] for k, name in enumerate(PARTS)}
    ahead = rot.about(UP, heading)
    for name in TRUNK:
        part_of[name] = rot.multiply(ahead, part_of[name])
    chest = rot.multiply(rot.conjugate(part_of["pelvis"]), part_of["chest"])
    part_of["spine1"] = chest
    part_of["head"] = rot.multiply(rot.conjugate(part_of["chest"]), part_of["head"])
    part_of["chest"] = np.broadcast_to(rot.IDENTITY, chest.shape)
    return body.clip(part_of, np.column_stack([place, body.leg * offset[:, 2]]), FPS, "plain blend")


def four_of(library: ClipLibrary) -> ClipLibrary:
    """The library of the four recorded cycles nearest to the paper's."""
    walks = [c for c in library.cycles if c.mode in ("walk", "brisk")]
    chosen = [
        min(walks, key=lambda c: np.hypot(c.velocity[0] - v, 0.7 * (c.velocity[2] - np.radians(w)))) for v, w in FOUR
    ]
    return ClipLibrary(tuple(dict.fromkeys(chosen)), "four clips")


def asked_for(library: ClipLibrary, rng: np.random.Generator) -> tuple[float, float, ClipLibrary]:
    """A random speed and turn rate within the border of the library without the nearest clip, and that library."""
    walks = [c for c in library.cycles if c.mode in ("walk", "brisk", "turn")]
    while True:
        v, w = rng.uniform(0.15, 2.0), np.radians(rng.uniform(-110.0, 110.0))
        point = np.array([v, 0.7 * w])
        nearest = min(walks, key=lambda c: min(np.linalg.norm(point - point_of(m)) for m in (c, c.mirrored())))
        rest = library.without(nearest.source)
        if rest.reach(np.array([[v, 0.0, w]]))[0] >= 1.0:
            return float(v), float(w), rest


def row(v: float, w: float, rest: ClipLibrary) -> dict[str, float]:
    """One walk at a speed (m/s) and turn rate (rad/s) of the reference leg, measured."""
    body = reference()
    pace = float(np.sqrt(body.scale))
    clip = walk(body.character, v * pace, float(np.degrees(w / pace)), SECONDS, FPS, library=rest)
    found = achieved(clip)
    far, deep = slid(clip)
    made = [c for c in cycles_of(resample(clip, 120.0), "made") if c.mode in ("walk", "brisk", "turn")]
    others = [c for c in rest.cycles if c.mode in ("walk", "brisk", "turn")]
    return {
        "speed_m_s": v * pace,
        "turn_deg_s": float(np.degrees(w / pace)),
        "speed_off": np.nan if found is None else abs(found[0] / (v * pace) - 1.0),
        "turn_off_deg_s": np.nan if found is None else float(np.degrees(abs(found[1] - w / pace))),
        "slide_m": far,
        "deep_m": deep,
        "found_slide_m": float(np.max(foot_slide(clip), initial=0.0)),
        "jerk": jerk(clip),
        "zmp_m": zmp_outside(resample(clip, 120.0)),
        "apart_rad": apart(made[0], [*others, *(c.mirrored() for c in others)]) if made else np.nan,
    }


def captured(folder: Path) -> list[dict[str, float]]:
    """The same of recordings on their own rigs."""
    out = []
    for name in CAPTURE:
        clip = without_lead(open_file(folder / "mocap" / name, ImportHints(fix_rig=True)).clip())
        floor = foot_contacts(clip).floor
        slide = float(np.max(foot_slide(clip), initial=0.0))
        out.append({"slide_m": slide, "jerk": jerk(clip), "zmp_m": zmp_outside(clip, floor)})
    return out


def own_spread(library: ClipLibrary, whose: Callable[[str], str]) -> list[float]:
    """Distances of recorded cycles from those of all others, radians; `whose` names what is left out with each clip."""
    walks = [c for c in library.cycles if c.mode in ("walk", "brisk", "turn")]
    both = [(whose(c.source), m) for c in walks for m in (c, c.mirrored())]
    return [apart(c, [m for other, m in both if other != whose(c.source)]) for c in walks]


def person(clip: str) -> str:
    """The recorded person of a clip: names of clips begin with it."""
    return clip.partition("_")[0]


def told(name: str, values: list[float], scale: float) -> str:
    """A line of the table: median, 95th percentile and largest of the finite values."""
    known = np.array([v for v in values if np.isfinite(v)]) * scale
    return f"| {name} | {np.median(known):.3g} | {np.percentile(known, 95.0):.3g} | {known.max():.3g} |"


def made(library: ClipLibrary, seed: int, first: int, count: int, file: Path | None) -> list[dict[str, float]]:
    """Walks by number, those of the file first; each is appended to it as it is measured."""
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file is not None and file.exists() else []
    rows = [r for r in rows if r["seed"] == seed]
    known = {r["number"] for r in rows}
    rng = np.random.default_rng(seed)
    for number in range(first + count):
        v, w, rest = asked_for(library, rng)
        if number < first or number in known:
            continue
        began = time.process_time()
        try:
            rows.append({"seed": seed, "number": number, **row(v, w, rest)})
        except ElbowroomError as error:
            print(f"walk {number} failed: {error}", flush=True)
            continue
        slides = [1000.0 * rows[-1][k] for k in ("slide_m", "found_slide_m")]
        print(
            f"walk {number}: {rows[-1]['speed_m_s']:.2f} m/s {rows[-1]['turn_deg_s']:4.0f} °/s, slides "
            f"{slides[0]:.2f} and {slides[1]:.2f} mm, {time.process_time() - began:.1f} s", file=sys.stderr, flush=True,
        )  # fmt: skip
        if file is not None:
            with file.open("a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
    return sorted(rows, key=lambda r: r["number"])


def blended(library: ClipLibrary, rows: list[dict[str, float]]) -> list[tuple[float, float]]:
    """Slide and depth of the paper's plain blend of four cycles for the first 50 walks, metres."""
    four = four_of(library)
    out = []
    for r in rows[:50]:
        speed, turn = r["speed_m_s"], np.radians(r["turn_deg_s"])
        factor = min(1.0, float(four.reach(np.array([[speed, 0.0, turn]]))[0]))
        clip = plain_blend(four, factor * speed, factor * turn)
        out.append((float(np.max(foot_slide(clip), initial=0.0)), slid(clip)[1]))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--sum", action="store_true")
    parser.add_argument("--no-sum", action="store_true")
    args = parser.parse_args()
    library = recorded_cycles()
    rows = made(library, args.seed, args.first, 0 if args.sum else args.count, args.rows)
    if args.no_sum or not rows:
        return
    table(library, rows, args.data)


def table(library: ClipLibrary, rows: list[dict[str, float]], data: Path) -> None:
    """Print the figures of all walks, of capture and of the plain blend."""
    plain = blended(library, rows)
    try:
        capture = captured(data)
    except ElbowroomError as error:
        print(f"capture is not compared: {error}")
        capture = []
    print(f"{len(rows)} walks\n\n| | median | p95 | largest |\n|---|---|---|---|")
    print(told("speed against the one asked for, %", [r["speed_off"] for r in rows], 100.0))
    turning = [r for r in rows if abs(r["turn_deg_s"]) > 10.0]
    shares = [100.0 * r["turn_off_deg_s"] / abs(r["turn_deg_s"]) for r in turning]
    print(told("turn rate against the one asked for, % (turns of more than 10 °/s)", shares, 1.0))
    print(told("slide of a foot while it touches the floor, mm", [r["slide_m"] for r in rows], 1000.0))
    print(told("slide as `elbowroom report` finds it, mm", [r["found_slide_m"] for r in rows], 1000.0))
    if capture:
        print(told("the same of capture, mm", [c["slide_m"] for c in capture], 1000.0))
    print(told("the same of the paper's plain blend of four cycles, mm", [p[0] for p in plain], 1000.0))
    print(told("depth of feet in the floor, mm", [r["deep_m"] for r in rows], 1000.0))
    print(told("the same of the plain blend, mm", [p[1] for p in plain], 1000.0))
    print(told("angular jerk, rad/s³", [r["jerk"] for r in rows], 1.0))
    if capture:
        print(told("the same of capture, rad/s³", [c["jerk"] for c in capture], 1.0))
    outside = "zero moment point outside of the feet (95 % of the time below), mm"
    print(told(outside, [r["zmp_m"] for r in rows], 1000.0))
    if capture:
        print(told("the same of capture, mm", [c["zmp_m"] for c in capture], 1000.0))
    print(told("poses from the nearest recorded ones of other clips, °", [r["apart_rad"] for r in rows], DEGREES))
    print(told("the same of capture, from other people, °", own_spread(library, person), DEGREES))
    print(told("the same of capture, from other clips of anybody, °", own_spread(library, str), DEGREES))
    for name, key, most in (("slide", "slide_m", 0.002), ("slide by the report", "found_slide_m", 0.002)):
        over = [int(r["number"]) for r in rows if r[key] > most]
        print(f"\n{name} above {1000.0 * most:g} mm: {len(over)} of {len(rows)} {over}")


if __name__ == "__main__":
    main()
