"""Sensitivity of whole-body plans to the parameters that the paper does not give: each halved and doubled in turn.

    python benchmarks/tight_sensitivity.py --scenes 8 --capture FOLDER -o docs/pictures/tight-sensitivity.png

Those of the search are judged by plans found and their processor time, those of recordings by the gain in posture
similarity, to recordings that are not followed, and in torque variation over the planned path.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from elbowroom.plan.tight.capture import refined
from elbowroom.plan.tight.chain import body_path, shortened
from elbowroom.plan.tight.criteria import similarities, variations
from elbowroom.plan.tight.recordings import Capture
from elbowroom.plan.tight.settings import TightSettings
from elbowroom.search.birrt import Budget
from elbowroom.spaces.component import PosePath
from tight import FOLLOWED, JUDGES, Scene, clips_of, scene

FACTORS = (0.5, 1.0, 2.0)
# Parameters of the search, and of refinement by recordings; p_follow and the thresholds T1 to T3 are shares.
SEARCH = ("component", "margin", "balance", "shortcuts")
CAPTURED = ("match_m", "clearance_rad", "open_above", "natural_above", "torque_below", "sigma", "parent_rad", "own_rad",
            "near_rad", "smooth_weight", "follow")  # fmt: skip


def with_factor(name: str, factor: float) -> TightSettings:
    """Settings with one parameter multiplied; shares stay below 1."""
    usual = TightSettings()
    if name == "component":
        checks = int(factor * usual.component.checks)
        return replace(usual, component=Budget(checks=checks, nodes=usual.component.nodes))
    value = factor * getattr(usual, name)
    if name == "shortcuts":
        return replace(usual, shortcuts=int(value))
    return replace(usual, **{name: min(value, 0.95) if name in ("open_above", "follow") else value})


def searched(made: Mapping[int, Scene], settings: TightSettings) -> tuple[float, float]:
    """Share of scenes for which a path is found, and median processor seconds."""
    rows = []
    for number, one in made.items():
        begun = time.process_time()
        found = body_path(one.problem, number, settings).path
        if found is not None:
            shortened(one.problem, found, number, settings)
        rows.append((found is not None, time.process_time() - begun))
    return float(np.mean([found for found, _ in rows])), float(np.median([spent for _, spent in rows]))


def gains(
    made: Mapping[int, Scene], paths: Mapping[int, tuple[PosePath, PosePath]], mine: Capture, judge: Capture,
    settings: TightSettings,
) -> tuple[float, float]:  # fmt: skip
    """Mean gain in posture similarity and mean loss of torque variation, shares of the planned path's.

    Both are measured with the usual settings, whatever those of the refinement are.
    """
    usual, similar, torque = TightSettings(), [], []
    for number, (found, short) in paths.items():
        problem = made[number].problem
        done = refined(problem, found, short, mine, seed=number, settings=settings)
        even = np.linspace(0.0, 1.0, usual.nodes)
        before, after = (PosePath(problem.body, [path.at(s) for s in even]) for path in (found, done.path))
        was, now = (float(similarities(judge.database, path, usual)[0].mean()) for path in (before, after))
        similar.append(now / was - 1.0)
        was, now = (float(variations(problem.body, path, done.timing, judge.database)[1].mean())
                    for path in (before, after))  # fmt: skip
        torque.append(1.0 - now / was)
    return float(np.mean(similar)), float(np.mean(torque))


def drawn(path: Path, rows: Mapping[str, list[tuple[float, float]]]) -> None:
    """Write a PNG with a line for each parameter over the factors: two measures of the search, two of recordings."""
    figure = Figure(figsize=(11.0, 6.4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    titles = (("paths found", "processor seconds, median"), ("gain in posture similarity", "torque variation saved"))
    for row, names in enumerate((SEARCH, CAPTURED)):
        for column in range(2):
            axes = figure.add_subplot(2, 2, 2 * row + column + 1)
            for name in (n for n in names if n in rows):
                axes.plot(FACTORS, [both[column] for both in rows[name]], marker="o", label=name)
            axes.set_xscale("log", base=2)
            axes.set_xticks(FACTORS, [f"× {factor:g}" for factor in FACTORS])
            axes.set_title(titles[row][column], loc="left", fontsize=10)
            axes.grid(color="#e4e8ea")
            if column:
                axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
    figure.savefig(path, facecolor="white")


def main() -> None:
    """Print a table line for each parameter as it ends, and draw all at the end."""
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--scenes", type=int, default=8)
    ask.add_argument("--first", type=int, default=100)
    ask.add_argument("--only", nargs="*", default=[*SEARCH, *CAPTURED], help="names of parameters")
    ask.add_argument("--capture", type=Path, help="folder of recordings; without it only the search is looked at")
    ask.add_argument("--rows", type=Path, help="JSON to which results are added; what is in it is not run again")
    ask.add_argument("-o", type=Path, help="picture")
    given = ask.parse_args()
    made = {k: s for k in range(given.first, given.first + given.scenes) if (s := scene(k)) is not None}
    rows: dict[str, list[tuple[float, float]]] = {}
    if given.rows is not None and given.rows.exists():  # go on where an earlier run ended
        rows = {name: [tuple(both) for both in found] for name, found in json.loads(given.rows.read_text()).items()}
        given.only = [name for name in given.only if name not in rows]
    print("| parameter | measure | × 0.5 | × 1 | × 2 |\n|---|---|---|---|---|", flush=True)

    def told(name: str, found: list[tuple[float, float]], what: tuple[str, str]) -> None:
        rows[name] = found
        if given.rows is not None:
            given.rows.write_text(json.dumps(rows))
        for column, measure in enumerate(what):
            print(f"| `{name}` | {measure} | " + " | ".join(f"{both[column]:.3f}" for both in found) + " |", flush=True)

    usual = searched(made, TightSettings()) if set(SEARCH) & set(given.only) else (0.0, 0.0)
    for name in (n for n in SEARCH if n in given.only):
        found = [usual if factor == 1.0 else searched(made, with_factor(name, factor)) for factor in FACTORS]
        told(name, found, ("found", "seconds"))
    if given.capture is not None and set(CAPTURED) & set(given.only):
        body = next(iter(made.values())).problem.body
        mine, judge = (Capture.of(body, clips_of(given.capture, names, body)) for names in (FOLLOWED, JUDGES))
        found_paths = {k: body_path(s.problem, k).path for k, s in made.items()}
        paths = {k: (p, shortened(made[k].problem, p, k)) for k, p in found_paths.items() if p is not None}
        plain = gains(made, paths, mine, judge, TightSettings())
        for name in (n for n in CAPTURED if n in given.only):
            changed = [plain if f == 1.0 else gains(made, paths, mine, judge, with_factor(name, f)) for f in FACTORS]
            told(name, changed, ("similarity", "torque"))
    if given.o is not None:
        drawn(given.o, rows)


if __name__ == "__main__":
    main()
