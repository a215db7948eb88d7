"""Report page, which needs nothing from the network."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from elbowroom import __version__
from elbowroom.errors import BadFile
from elbowroom.files.atomic import check_writable, said_of, writing
from elbowroom.report.how import TITLES, how
from elbowroom.report.measure import Report
from elbowroom.report.parts import Light, Measure, counted, time_link
from elbowroom.report.sections import body
from elbowroom.report.shots import Shot, anchor, shots
from elbowroom.report.style import SCRIPT, STYLE

_SIGNS = {
    "good": '<path d="M5.2 9.3l2.7 2.6 5-5.4"/>',
    "look": '<path d="M9 4.8v5.2M9 13.2v.1"/>',
    "bad": '<path d="M6 6l6 6M12 6l-6 6"/>',
    "none": '<path d="M5.5 9h7"/>',
}
_WORDS = {"good": "good", "look": "needs review", "bad": "bad", "none": "not measured"}


def write_report(
    path: str | Path, report: Report, *, pictures: int = 6, progress: Callable[[int, int], None] | None = None
) -> None:
    """Write a report as one HTML file with at most `pictures` pictures of its worst moments.

    `progress` is called with the pictures done and all of them, before each.
    """
    check_page(path)
    text = page(report, pictures=pictures, progress=progress)
    with writing(path) as (stand_in,), said_of(path):
        stand_in.write_text(text, encoding="utf-8")


def check_page(path: str | Path) -> Path:
    """Return the path if a page can be written there. Call before long work."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadFile(path, "is not an HTML page", would_do="give a name that ends in .html")
    return check_writable(path)


def page(report: Report, *, pictures: int = 6, progress: Callable[[int, int], None] | None = None) -> str:
    """HTML of the page."""
    taken, note = shots(report, pictures, progress) if pictures > 0 else ([], "")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>elbowroom report: {escape(report.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header><h1>{escape(report.title)}</h1><p>{_subtitle(report)}</p></header>
{_verdict(report)}
{_tiles(report)}
{_moments(taken, len(report.world.characters) > 1)}
{_sections(report)}
{_notes(report, note)}
<footer>Measured by elbowroom {escape(__version__)}. Times are seconds of the motion's own clock. Hover over a plot to
read values, click to fix the time; a click on any time moves the cursor of all plots.</footer>
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def light_icon(light: Light) -> str:
    """Icon of a light, distinguishable without colour."""
    return (
        f'<svg class="light {light}" viewBox="0 0 18 18" role="img" aria-label="{_WORDS[light]}">'
        f'<circle cx="9" cy="9" r="9"/>{_SIGNS[light]}</svg>'
    )


def _subtitle(report: Report) -> str:
    begin, end = report.span
    parts = [f"{p.name}: {counted(p.frames, 'frame')} at {p.fps:g} fps" for p in report.people]
    parts += [f"{name}: a robot" for name in report.others]
    around = f"{report.world.triangles:,} scene triangles" if report.world.triangles else "no scene"
    return escape(f"{end - begin:.1f} s · {' · '.join(parts)} · {around}")


def _verdict(report: Report) -> str:
    short, sentence = report.verdict
    return (
        f'<div class="card verdict {report.light}">{light_icon(report.light)}<div><strong>{escape(short)}</strong>'
        f"<p>{escape(sentence)}</p></div></div>"
    )


def _tiles(report: Report) -> str:
    groups: dict[str, list[str]] = {}
    for who, key, m in report.measures:
        tile = (
            f'<a class="tile" href="#{anchor(who, key)}"><b>{light_icon(m.light)}{escape(TITLES[key])}</b>'
            f"<span>{escape(m.headline or _WORDS[m.light])}</span></a>"
        )
        groups.setdefault(who if len(report.people) > 1 else "", []).append(tile)
    out = []
    for who, tiles in groups.items():
        title = f'<p class="who">{escape(who)}</p>' if who else ""
        out.append(f'{title}<nav class="tiles">{"".join(tiles)}</nav>')
    return "\n".join(out)


def _moments(taken: list[Shot], several: bool) -> str:
    if not taken:
        return ""
    cards = "".join(
        f'<figure class="shot">{s.picture}<figcaption>{light_icon(s.light)}<span>{time_link(s.moment.time, s.anchor)}: '
        f"{escape(_caption(s, several))}</span></figcaption></figure>"
        for s in taken
    )
    title = "Moments to review" if any(s.light != "good" for s in taken) else "Moments closest to a limit"
    return f'<h2>{title}</h2><div class="shots">{cards}</div>'


def _caption(shot: Shot, several: bool) -> str:
    """Caption of a picture, with the character if there are several."""
    who, what = shot.moment.who, shot.moment.what
    return f"{who}: {what}" if several and who and who not in what.split("'")[0] else what


def _sections(report: Report) -> str:
    out = ["<h2>The whole scene</h2>", _section("", "clearance", report.clearance)]
    for person in report.people:
        out.append(f"<h2>{escape(person.name)}</h2>")
        out += [_section(person.name, key, m) for key, m in person.measures.items()]
    return "\n".join(out)


def _section(who: str, key: str, m: Measure) -> str:
    figures = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in m.figures.items())
    notes = "".join(f"<li>{escape(n)}</li>" for n in m.notes)
    listed = f'<div class="notes"><ul>{notes}</ul></div>' if notes else ""
    return f"""<section class="measure card" id="{anchor(who, key)}">
<h3>{light_icon(m.light)}{escape(TITLES[key])}<small>{escape(m.headline)}</small></h3>
<p>{escape(m.says)}</p>
{body(m)}
{f"<dl>{figures}</dl>" if figures else ""}
{listed}
<p class="how">{escape(how(key))}</p>
</section>"""


def _notes(report: Report, note: str) -> str:
    notes = [*report.notes, *([note] if note else [])]
    if not notes:
        return ""
    lines = "".join(f"<li>{escape(n)}</li>" for n in notes)
    return f'<h2>Assumptions</h2><div class="notes"><ul>{lines}</ul></div>'
