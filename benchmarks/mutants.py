"""Small changes of the source that make results wrong: which tests notice each of them.

    python benchmarks/mutants.py [--only NAME ...] [--list]

Each mutant is a line or two of the package, changed in a copy; the tests named beside it run against the copy and must
fail. They also run against the source as it is and must pass. Exit code 1 where a mutant is not noticed, or a line to
change is no longer there.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Mutant:
    """Lines of a file below `src/elbowroom` with what stands there instead, and tests that must notice it."""

    name: str
    path: str
    line: str
    instead: str
    tests: str


MUTANTS = (
    Mutant(
        "generated bodies touch themselves by 100 mm",
        "world/allowances.py",
        "            return caps.generated\n",
        "            return caps.own\n",
        "tests/world/test_allowances.py -k generated",
    ),
    Mutant(
        "recorded limbs pass through each other",
        "world/allowances.py",
        "    return _OF_THICKER * max(thick)\n",
        "    return 1.0\n",
        "tests/world/test_allowances.py -k shins",
    ),
    Mutant(
        "require_free never raises",
        "plan/steps/give_way.py",
        '    if d.settings.tier == "ik":\n        return\n    found, before = hits(',
        "    return\n    found, before = hits(",
        "tests/plan/test_director.py -k collides",
    ),
    Mutant(
        "a failed attempt keeps its grips",
        "plan/steps/director.py",
        "            self.take = before\n        return done\n",
        "            self.take = replace(before, grips=self.take.grips)\n        return done\n",
        "tests/plan/test_director.py -k failed_attempt",
    ),
    Mutant(
        "the strangest of the searched paths is kept",
        "plan/repair/arm_paths.py",
        "        return min(candidates, key=lambda trajectory: self._strange(trajectory.rotations))\n",
        "        return max(candidates, key=lambda trajectory: self._strange(trajectory.rotations))\n",
        "tests/plan/test_director.py -k natural",
    ),
    Mutant(
        "live repairs ignore their deadline",
        "plan/repair/options.py",
        "        return time.perf_counter() >= self.until\n",
        "        return False\n",
        "tests/plan/test_repair_live.py -k after_the_time",
    ),
    Mutant(
        "live sidesteps ignore their deadline",
        "plan/repair/live.py",
        "            if time.perf_counter() > until:\n",
        "            if False:\n",
        "tests/plan/test_repair_live.py -k after_the_time",
    ),
    Mutant(
        "teams accelerate four times as much",
        "plan/teams/trajectory.py",
        "    states = _evenly(space, states, speed / TURN_RAD_S)\n",
        "    states, accel = _evenly(space, states, speed / TURN_RAD_S), 4.0 * accel\n",
        "tests/plan/test_team_paths.py -k accelerates",
    ),
    Mutant(
        "an edit owns its limb from its begin only",
        "plan/state/edit.py",
        "            owner[begin if edit.limb in known else 0 :, own[edit.limb]] = rank\n",
        "            owner[begin:, own[edit.limb]] = rank\n",
        "tests/plan/test_edits.py -k before_its_first_edit",
    ),
    Mutant(
        "no other grasp is tried",
        "plan/manipulate.py",
        "_REGRASPS = 4\n",
        "_REGRASPS = 0\n",
        "tests/plan/test_director.py -k grasped_otherwise",
    ),
    Mutant(
        "the digest of a certificate leaves out bone lengths",
        "world/evidence.py",
        "    return (*parts, body.skeleton, body.limits, skin)\n",
        "    return (*parts, body.parents, body.limits, skin)\n",
        "tests/world/test_played.py -k digest",
    ),
    Mutant(
        "verify does not look for changes",
        "files/verify.py",
        "        unchanged = self.whole and not self.changed and not self.disagreements\n",
        "        unchanged = self.whole\n",
        "tests/files/test_content.py -k changed_file",
    ),
    Mutant(
        "far scenes are stored as they are",
        "files/far.py",
        "    return np.round(0.5 * (points.min(axis=0) + points.max(axis=0)))\n",
        "    return np.zeros(3)\n",
        "tests/files/test_far.py -k 'written_as_it_was_proven or origin'",
    ),
)


def noticed(source: Path, tests: str) -> bool:
    """Whether tests fail against a copy of the package."""
    env = os.environ | {"PYTHONPATH": str(source)}
    command = f"{sys.executable} -m pytest -n 0 -q -x -p no:cacheprovider {tests}"
    done = subprocess.run(command, shell=True, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{tests} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode == 1


def main() -> int:
    """Run the mutants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="words that names contain")
    parser.add_argument("--list", action="store_true", help="only print the mutants, and whether their lines are there")
    told = parser.parse_args()
    chosen = [m for m in MUTANTS if not told.only or any(word in m.name for word in told.only)]
    missed = 0
    for mutant in chosen:
        text = (ROOT / "src" / "elbowroom" / mutant.path).read_text()
        if text.count(mutant.line) != 1:
            print(f"| {mutant.name} | its line is in {mutant.path} {text.count(mutant.line)} times |", flush=True)
            missed += 1
            continue
        if told.list:
            print(f"| {mutant.name} | {mutant.path} | {mutant.tests} |")
            continue
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory() as name:
            shutil.copytree(ROOT / "src", Path(name) / "src", ignore=shutil.ignore_patterns("__pycache__"))
            (Path(name) / "src" / "elbowroom" / mutant.path).write_text(text.replace(mutant.line, mutant.instead))
            seen = noticed(Path(name) / "src", mutant.tests)
        fails = noticed(ROOT / "src", mutant.tests)
        said = "tests fail without it" if fails else "noticed" if seen else "NOT noticed"
        missed += fails or not seen
        print(f"| {mutant.name} | {said} | {mutant.tests} | {time.perf_counter() - begun:.0f} s |", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
