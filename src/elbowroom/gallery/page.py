"""Gallery scenarios: planned, proven and written with picture and storyboard; and their offline index page."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np

from elbowroom.errors import MissingExtra
from elbowroom.files.save import save
from elbowroom.gallery.scenes import Scenario
from elbowroom.geometry.rotations import Array
from elbowroom.pictures.images import strip, write_png
from elbowroom.plan.state.result import Plan
from elbowroom.storyboard.plan import plan_storyboard

_STYLE = """
:root { color-scheme: light dark; --ground: #f6f5f2; --card: #ffffff; --ink: #22262b; --soft: #6a7078; --line: #e2e0da;
  --free: #2f7d4f; --not: #b4532a; --link: #2c5f8a; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #16181b; --card: #1e2125; --ink: #dcdfe3; --soft: #8d949d; --line: #2d3136; --free: #6fbf8f;
    --not: #e08a5f; --link: #86b4dc; }
  img { filter: brightness(0.88); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 74rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; font-weight: 600; margin: 0 0 0.25rem; }
header p { margin: 0 0 2rem; color: var(--soft); }
article { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 0 0 1.5rem;
  overflow: hidden; }
article img { display: block; width: 100%; height: auto; border-bottom: 1px solid var(--line); }
article div { padding: 1rem 1.25rem 1.1rem; }
h2 { font-size: 1.1rem; font-weight: 600; margin: 0; }
h2 small { font-weight: 400; color: var(--soft); margin-left: 0.6rem; }
p { margin: 0.2rem 0 0.6rem; }
dl { display: flex; flex-wrap: wrap; gap: 0.25rem 1.75rem; margin: 0 0 0.7rem; font-size: 0.9rem; }
dl div { padding: 0; }
dt { display: inline; color: var(--soft); }
dd { display: inline; margin: 0 0 0 0.35rem; font-variant-numeric: tabular-nums; }
.free { color: var(--free); } .not { color: var(--not); }
nav a { color: var(--link); text-decoration: none; margin-right: 1.25rem; }
nav a:hover, nav a:focus { text-decoration: underline; }
footer { color: var(--soft); font-size: 0.9rem; }
"""


@dataclass(frozen=True)
class Exhibit:
    """A scenario on the page: its figures by name, whether it is proven free, and links by their text."""

    name: str
    shows: str
    features: Sequence[str]
    free: bool
    verdict: str
    figures: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    picture: str = ""


def index_page(exhibits: Sequence[Exhibit], version: str) -> str:
    """HTML of the page."""
    free = sum(e.free for e in exhibits)
    summary = f"{len(exhibits)} scenarios, {free} of them proven collision-free, including between frames."
    cards = "\n".join(_card(e) for e in exhibits)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>elbowroom: gallery</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<header><h1>elbowroom: gallery</h1>
<p>{summary}</p></header>
{cards}
<footer>Made by elbowroom {escape(version)}. Every scenario is a storyboard: copy it, change it, and run it with
<code>elbowroom run NAME.yaml -o NAME.glb</code></footer>
</main>
</body>
</html>
"""


def _card(e: Exhibit) -> str:
    figures = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in e.figures.items())
    links = "".join(f'<a href="{escape(href)}">{escape(words)}</a>' for words, href in e.links.items())
    name, features = escape(e.name), escape(", ".join(e.features))
    picture = f'<img src="{escape(e.picture)}" alt="Moments of {name}" loading="lazy">\n' if e.picture else ""
    return f"""<article id="{name}">
{picture}<div>
<h2>{name}<small>{features}</small></h2>
<p>{escape(e.shows)}</p>
<p class="{"free" if e.free else "not"}">{escape(e.verdict)}</p>
<dl>{figures}</dl>
<nav>{links}</nav>
</div>
</article>"""


# Moments in a picture, and the size of each in pixels.
_MOMENTS, _SIZE = 6, (260, 300)


def build(scenario: Scenario, folder: Path, seed: int = 0) -> tuple[Plan, Exhibit]:
    """Plan a scenario and write NAME.glb, NAME.html, NAME.png and NAME.yaml into a folder.

    If no motion is found, only the storyboard is written; if pictures cannot be drawn, there are none.
    """
    start = time.perf_counter()
    board = scenario.board()
    plan = plan_storyboard(board, seed=seed)
    seconds = time.perf_counter() - start
    shutil.copyfile(scenario.path, folder / scenario.path.name)
    links, picture = {}, ""
    if plan.found or not board.tasks:
        save([folder / f"{scenario.name}.glb", folder / f"{scenario.name}.html"], plan.world, board.fps, **plan.layers)
        links = {"play": f"{scenario.name}.html", "GLB": f"{scenario.name}.glb"}
        picture = _picture(scenario.name, folder, plan)
    links["storyboard"] = scenario.path.name
    verdict = _verdict(plan)
    figures = _figures(plan) | {"total time": f"{seconds:.1f} s"}
    shown = Exhibit(scenario.name, scenario.shows, scenario.features, plan.found, verdict, figures, links, picture)
    return plan, shown


def _picture(name: str, folder: Path, plan: Plan) -> str:
    try:
        write_png(folder / f"{name}.png", strip(plan.world, moments(plan), size=_SIZE))
    except MissingExtra:
        return ""
    return f"{name}.png"


def moments(plan: Plan) -> Array:
    """Times for a picture: the ends of planned motions, when hands are at their targets; else evenly spread."""
    begin, end = plan.world.span
    ends = np.unique([begin, *(min(p.during[1], end) for p in plan.edits)])
    if len(ends) < _MOMENTS:
        return np.linspace(begin, end, _MOMENTS)
    return ends[np.linspace(0, len(ends) - 1, _MOMENTS).round().astype(int)]


def _verdict(plan: Plan) -> str:
    """Return the verdict: proof and minimum clearance, or the reason of failure."""
    proven = plan.certificate
    if not plan.found:
        return f"{plan.status}: {plan.advice}"
    said = ["proven collision-free"]
    if proven is not None and proven.pair is not None and proven.clearance_m is not None:
        a, b = proven.pair
        said.append(f"minimum clearance {1000 * proven.clearance_m:.1f} mm, {a} and {b}")
    return "; ".join([*said, *(() if proven is None else proven.exceptions)])


def _figures(plan: Plan) -> dict[str, str]:
    figures = {"triangles": f"{plan.world.triangles:,}"}
    if plan.certificate is not None:
        figures["frames"] = f"{plan.certificate.frames}"
    if plan.edits:
        slowest = max(p.first_solution_s for p in plan.edits)
        figures["plans"] = str(len(plan.edits))
        figures["slowest first solution"] = f"{1000 * slowest:.1f} ms"
        figures["checks"] = f"{sum(p.checks for p in plan.edits):,}"
    return figures
