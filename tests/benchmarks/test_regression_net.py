"""A record continues where a run ended, a case that hangs or dies stops nothing, and a lost status is an exit code."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, benchmark_module

# In the order in which they import each other.
for name in (
    "newcomers", "gallery", "planning_time", "carry_cases", "carry_teams", "repair_clips", "repair_placements",
    "repair_quality", "repair", "repair_made", "tight", "random_tasks_make", "regression_cases",
):  # fmt: skip
    benchmark_module(name)
made = benchmark_module("regression_cases")
net = benchmark_module("regression_net")

BOARD = """
elbowroom: 1
scene:
  floor: 0.0
characters:
  ann: {body: {preset: woman}, clip: {idle: {seconds: 0.3}}}
tasks:
- reach: {who: ann, hand: right, to: [-0.2, -0.45, %s]}
"""


def case(folder: Path, name: str, height: float) -> Any:
    """A reach of a standing woman to a point at some height, metres."""
    path = folder / f"{name}.yaml"
    path.write_text(BOARD % height)
    return made.Case(f"newcomers/{name}", lambda: made._newcomer(path))


def test_two_cases_are_recorded_continued_and_compared(tmp_path: Path) -> None:
    near, far, file = case(tmp_path, "near", 1.1), case(tmp_path, "far", 4.0), tmp_path / "now.jsonl"
    net.record(file, [near], 60)
    first = file.read_text()
    with file.open("a") as broken:
        broken.write('{"case": "newcomers/far", "sta')  # killed as it wrote
    rows = net.record(file, [near, far], 60)
    assert file.read_text().startswith(first) and file.read_text().count('"newcomers/near"') == 1
    assert net.read(file) == rows and set(rows) == {"newcomers/near", "newcomers/far"}
    row = rows["newcomers/near"]
    assert row["status"] == "found" and row["proven"] and row["checks"] > 0 and row["cpu_s"] > 0.0
    assert row["changed"] > 10 and row["jerk"] > 0 and row["slide_mm"] < 1.0 and row["grip_mm"] is None
    assert rows["newcomers/far"]["status"] != "found" and rows["newcomers/far"]["why"]

    lost = {**rows, "newcomers/near": {**rows["newcomers/far"]}}
    text, worse = net.compare(rows, lost)
    assert worse and "| newcomers/near | status | found |" in text and "| all | 2 | 1 → 0 |" in text
    assert not net.compare(lost, rows)[1]
    for before, now, code in ((rows, rows, 0), (rows, lost, 1)):
        files = [tmp_path / f"{k}.jsonl" for k in "ab"]
        for path, some in zip(files, (before, now), strict=True):
            path.write_text("".join(json.dumps({"case": k, **v}) + "\n" for k, v in some.items()))
        with pytest.raises(SystemExit) as ended:
            net.main(["compare", *map(str, files), "--picture", str(tmp_path / "net.png")])
        assert ended.value.code == code and (tmp_path / "net.png").stat().st_size > 10_000


def test_a_case_that_hangs_or_dies_is_a_row_and_the_next_one_runs(tmp_path: Path) -> None:
    def work(one: Any) -> dict[str, Any]:
        while one.name.endswith("hangs"):
            pass
        if one.name.endswith("dies"):
            os._exit(3)
        return {"status": "found"}

    some = [made.Case(f"random/{name}", lambda: None) for name in ("hangs", "dies", "works")]
    begun = time.monotonic()
    rows = net.record(tmp_path / "now.jsonl", some, 1, work=work)
    assert [rows[c.name]["status"] for c in some] == ["no answer", "no answer", "found"]
    assert time.monotonic() - begun < 15.0


def test_a_run_ends_between_cases_when_its_time_is_over(tmp_path: Path) -> None:
    some, file = [made.Case(f"random/{k}", lambda: None) for k in range(3)], tmp_path / "now.jsonl"
    seen: list[str] = []
    assert len(net.record(file, some, 5, -1.0, work=lambda c: {"status": "found"}, warm=lambda: seen.append("x"))) == 0
    assert len(net.record(file, some, 5, 60.0, work=lambda c: {"status": "found"}, warm=lambda: seen.append("x"))) == 3
    net.record(file, some, 5, work=lambda c: {"status": "crashed"}, warm=lambda: seen.append("x"))
    assert seen == ["x", "x"], "nothing is loaded where all cases are done"


def test_measures_have_bounds_and_a_direction() -> None:
    before = {"gallery/a/0": {"status": "found", "cpu_s": 2.0, "clearance_mm": 5.0, "jerk": 1000, "changed": 100}}
    same = {"gallery/a/0": {"status": "found", "cpu_s": 2.5, "clearance_mm": 4.5, "jerk": 1100, "changed": 105}}
    other = {"gallery/a/0": {"status": "found", "cpu_s": 1.0, "clearance_mm": 2.5, "jerk": 1300, "changed": 60}}
    assert net.differences(before, same) == ([], [])
    worse, better = net.differences(before, other)
    assert [line.split("|")[2].strip() for line in worse] == ["clearance_mm", "jerk"]
    assert [line.split("|")[2].strip() for line in better] == ["cpu_s", "changed"]
    refused = {"gallery/a/0": {"status": "too-heavy", "wanted": "too-heavy"}}
    assert net.differences(refused, {"gallery/a/0": {"status": "no-path", "why": "x"}})[0]
    assert net.differences({"gallery/a/0": {"status": "no-path"}}, {"gallery/a/0": {"status": "no answer"}})[0]
    left = {"gallery/a/0": {"status": "left out"}}
    assert net.common(before, left) == []


def test_parts_cover_all_cases_once_and_names_are_unique() -> None:
    names = [c.name for c in made.cases()]
    parts = [c.name for k in range(1, 5) for c in made.chosen(None, None, (k, 4))]
    assert len(set(names)) == len(names) and sorted(parts) == sorted(names)
    kinds = {kind: sum(name.startswith(f"{kind}/") for name in names) for kind in made.KINDS}
    boards = len([*(ROOT / "benchmarks" / "newcomers").glob("*.yaml")])
    assert kinds["gallery"] % 3 == 0 and kinds["random"] == 60 and kinds["newcomers"] == boards == 103
    assert kinds["repair"] >= 60 and kinds["carry"] == 20 and kinds["tight"] >= 20
    assert [c.name for c in made.chosen(["gallery"], ["gallery/jar"], (1, 1))] == [f"gallery/jar/{k}" for k in range(3)]
    with pytest.raises(Exception, match="2/8"):
        net.part("9/8")
