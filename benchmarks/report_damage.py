"""Whether the report is right: clips with a defect of known size against what it says of them, and recorded walks as
they were captured against an independent calculation.

    python benchmarks/report_damage.py [--only damage recorded verdicts] [--every N]

Prints three tables as Markdown; the last one has the verdicts on all recorded clips as they are. Recorded clips need
the folder with real files (ELBOWROOM_DATA).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePath

import numpy as np

from elbowroom.character.human import human
from elbowroom.locomotion.standing import idle
from elbowroom.locomotion.walk import walk
from elbowroom.motion.clip import Clip
from elbowroom.motion.edit import without_lead
from elbowroom.report import Report, report
from elbowroom.report.balance import OUTSIDE
from elbowroom.report.how import TITLES
from elbowroom.report.shots import anchor, worst_moments
from repair_clips import CLIPS, DATA, read
from report_damage_cases import STANDING, WALKING, Damage, alone, levelled
from report_independent import furthest_slide, sole_points, zero_moment_point, zmp_margin

# A measured size is right within this share of the true one.
WITHIN = 0.15
# Recorded walks that are damaged.
DAMAGED = ("cmu_bvh/02_01.bvh", "cmu_bvh/07_01.bvh", "cmu_asf_amc/16/16_22.amc", "cmu_asf_amc/69/69_01.amc")
_LIGHTS = {"good": "green", "look": "amber", "bad": "red", "none": "–"}


def bases() -> Iterator[tuple[str, Clip, tuple[Callable[[Clip], Damage], ...]]]:
    """Clean clips by name, with the damage that is done to each."""
    ann = human(1.70)
    yield "built-in walk", walk(ann, 1.2, seconds=4.0, fps=60.0), WALKING
    yield "built-in stand", idle(ann, seconds=4.0, fps=60.0), STANDING
    for path in DAMAGED:
        if (DATA / "mocap" / path).exists():
            yield f"CMU {PurePath(path).stem}", levelled(without_lead(read(path))), WALKING


def damage_rows() -> Iterator[tuple[str, ...]]:
    """Base, damage, measure, true and measured size, error, light, verdict."""
    for name, clip, damages in bases():
        clean = report(alone(clip))
        yield name, "none", "", "", "", "", _worst(clean), clean.verdict[0]
        for make in damages:
            case = make(clip)
            found = report(case.world)
            got = case.read(found)
            measure = {key: m for _, key, m in found.measures}[case.measure]
            yield (
                name,
                case.name,
                TITLES[case.measure].lower(),
                f"{case.shown * case.true:.0f} {case.unit}",
                f"{case.shown * got:.0f} {case.unit}",
                f"{100 * (got / case.true - 1.0):+.0f} %".replace("-", "−"),
                _LIGHTS[measure.light],
                found.verdict[0],
            )


def recorded_rows(every: int = 1) -> Iterator[tuple[str, ...]]:
    """Clip, lights, how far the report's zero moment point is from the independent one, times outside by both, red
    lights with the independent figure."""
    paths = [path for path, kind in CLIPS.items() if kind == "walk"]
    seen: set[str] = set()
    for path in paths[::every]:
        name = PurePath(path).stem
        if name in seen or not (DATA / "mocap" / path).exists():
            continue
        seen.add(name)
        clip = without_lead(read(path))
        found = report(alone(clip))
        ann = found.people[0]
        level = float(np.median(sole_points(clip)[..., 2].min(axis=1)))
        margin = zmp_margin(clip, level)
        off = np.linalg.norm(ann.balance.zmp - zero_moment_point(clip, level), axis=-1)
        judged = np.isfinite(ann.balance.zmp_margin)
        outside = np.mean(margin[np.isfinite(margin)] < -OUTSIDE[0])
        lights = {key: m.light for _, key, m in found.measures}
        yield (
            name,
            *(_LIGHTS[lights[key]] for key in ("balance", "feet", "floating", "sinking", "limits", "speed")),
            f"{1000 * np.nanmedian(off[judged]):.0f}, {1000 * np.nanpercentile(off[judged], 95):.0f}",
            f"{100 * ann.balance.outside_share:.0f}, {100 * outside:.0f}",
            "; ".join(_cause(found, key, clip, outside) for key, light in lights.items() if light == "bad"),
        )


def verdict_rows(every: int = 1) -> Iterator[tuple[str, ...]]:
    """Clip, verdict, red lights with their figures, amber ones, and whether a picture shows each red one."""
    paths = sorted(p for p in (DATA / "mocap").glob("*_*/**/*") if p.suffix in (".bvh", ".amc"))
    lights: dict[str, Counter[str]] = {}
    seen: set[str] = set()
    for path in [p for p in paths if not (p.stem in seen or seen.add(p.stem))][::every]:
        found = report(alone(without_lead(read(str(path.relative_to(DATA / "mocap"))))))
        measures = [(key, m) for _, key, m in found.measures]
        for key, m in measures:
            lights.setdefault(key, Counter())[_LIGHTS[m.light]] += 1
        red = [f"{TITLES[key].lower()}: {m.headline}" for key, m in measures if m.light == "bad"]
        amber = [TITLES[key].lower() for key, m in measures if m.light == "look"]
        shown = {where for _, where, light in worst_moments(found) if light == "bad"}
        pictures = sum(
            anchor("" if key == "clearance" else "ann", key) in shown for key, m in measures if m.light == "bad"
        )
        yield path.stem, found.verdict[0], "; ".join(red), ", ".join(amber), f"{pictures} of {len(red)}"
    for key, counts in lights.items():
        yield (
            f"all: {TITLES[key].lower()}",
            "",
            "",
            ", ".join(f"{counts[c]} {c}" for c in ("green", "amber", "red")),
            "",
        )


def _cause(found: Report, key: str, clip: Clip, outside: float) -> str:
    """What the report says of a red light, and what was worked out independently where that can be."""
    measure = {k: m for _, k, m in found.measures}[key]
    other = ""
    if key == "feet":
        other = f" (independent {1000 * furthest_slide(clip):.0f} mm)"
    elif key == "sinking":
        other = f" (lowest 2 % of soles {1000 * float(np.percentile(sole_points(clip)[..., 2].min(axis=1), 2)):.0f} mm)"
    elif key == "balance":
        other = f" ({100 * outside:.0f} %)"
    return f"{TITLES[key].lower()}: {measure.headline}{other}"


_TABLES = ("damage", "recorded", "verdicts")


def _worst(found: Report) -> str:
    return _LIGHTS[found.light]


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    """Print a table as Markdown, row by row."""
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=_TABLES, default=list(_TABLES))
    parser.add_argument("--every", type=int, default=1, help="of recorded walks")
    told = parser.parse_args()
    if "damage" in told.only:
        table(("clip", "damage", "measure", "true", "measured", "error", "light", "verdict"), damage_rows())
    if "verdicts" in told.only:
        table(("clip", "verdict", "red", "amber", "red ones with a picture"), verdict_rows(told.every))
    if "recorded" in told.only:
        head = ("clip", "balance", "foot sliding", "floating", "sinking", "joint limits", "speed and jerk")
        table(
            (*head, "ZMP off, mm (median, 95 %)", "outside, % (report, independent)", "red because"),
            recorded_rows(told.every),
        )


if __name__ == "__main__":
    main()
