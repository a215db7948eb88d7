"""Report page, which needs nothing from the network."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path

from elbowroom import __version__
from elbowroom.errors import BadFile
from elbowroom.files.atomic import check_writable, said_of, writing
from elbowroom.report.how import HOW, TITLES
from elbowroom.report.measure import Report
from elbowroom.report.parts import Cell, Light, Measure, counted, drawn_sources, table, time_link
from elbowroom.report.published import PUBLISHED, SOURCES, figure_of
from elbowroom.report.sections import body
from elbowroom.report.shots import Shot, anchor, shots

STYLE = """
:root { color-scheme: light dark; --ground: #f5f5f3; --card: #ffffff; --ink: #1f2429; --soft: #636b74; --line:
  #e1e2df;
  --faint: #eff0ed; --good: #2f7d4f; --look: #a86a00; --bad: #b3382c; --none: #7c848c; --link: #2c5f8a;
  --good-bg: #e7f3eb; --look-bg: #fbf0da; --bad-bg: #fae5e2; --none-bg: #eceeef;
  --c0: #2b6cb0; --c1: #c8641b; --c2: #2f8562; --c3: #7d55a8; --c4: #b0413a; --c5: #5f6b76; --c6: #a08a1e; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #15171a; --card: #1d2024; --ink: #dde1e5;
  --soft: #959da6;
  --line: #30343a; --faint: #24282d; --good: #74c496; --look: #e2b05a; --bad: #ec8577; --none: #8f979f; --link:
    #8cb9e0;
  --good-bg: #1d3327; --look-bg: #372c17; --bad-bg: #3c211e; --none-bg: #272b30;
  --c0: #78b0e6; --c1: #eda262; --c2: #6fc7a0; --c3: #bd9ae0; --c4: #ec8f86; --c5: #a9b3bd; --c6: #d6c25c; }
  img { filter: brightness(0.9); } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.2rem 1.25rem 4rem; }
a { color: var(--link); text-decoration: none; } a:hover, a:focus { text-decoration: underline; }
button { font: inherit; color: var(--link); background: none; border: 0; padding: 0; cursor: pointer; }
button:hover, button:focus { text-decoration: underline; }
h1 { font-size: 1.55rem; font-weight: 600; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.15rem; font-weight: 600; margin: 2.2rem 0 0.7rem; }
h3 { font-size: 1rem; font-weight: 600; margin: 0; display: flex; align-items: center; gap: 0.5rem; }
header p { margin: 0.15rem 0 1.3rem; color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1.1rem 1.25rem; }
.verdict { display: flex; gap: 1.1rem; align-items: center; border-left-width: 5px; }
.verdict p { margin: 0.1rem 0 0; } .verdict strong { font-size: 1.2rem; font-weight: 600; }
.verdict.good { border-left-color: var(--good); } .verdict.look { border-left-color: var(--look); }
.verdict.bad { border-left-color: var(--bad); } .verdict.none { border-left-color: var(--none); }
.light { flex: none; width: 1.15rem; height: 1.15rem; } .verdict .light { width: 2.3rem; height: 2.3rem; }
.light.good { fill: var(--good); } .light.look { fill: var(--look); } .light.bad { fill: var(--bad); }
.light.none { fill: var(--none); } .light path { fill: none; stroke: var(--card); stroke-width: 2; stroke-linecap:
  round;
  stroke-linejoin: round; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.2rem, 1fr)); gap: 0.6rem; margin: 0.8rem
  0 0; }
.tile { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 0.6rem
  0.75rem;
  color: inherit; } .tile:hover, .tile:focus { text-decoration: none; border-color: var(--soft); }
.tile b { display: flex; gap: 0.45rem; align-items: center; font-weight: 600; font-size: 0.92rem; }
.tile span { display: block; color: var(--soft); font-size: 0.84rem; margin-top: 0.15rem; font-variant-numeric:
  tabular-nums; }
.who { margin: 1.1rem 0 0; color: var(--soft); font-size: 0.9rem; }
.shots { display: grid; grid-template-columns: repeat(auto-fill, minmax(17.5rem, 1fr)); gap: 0.8rem; }
.shot { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; margin: 0; }
.shot img, .shot svg.drawn { display: block; width: 100%; height: auto; background: #e2e4e6; }
.shot figcaption { padding: 0.6rem 0.8rem 0.7rem; font-size: 0.88rem; display: flex; gap: 0.5rem; }
.shot figcaption .light { margin-top: 0.12rem; }
section.measure { margin: 0 0 1rem; } section.measure > p { margin: 0.35rem 0 0.6rem; }
section.measure h3 small { font-weight: 400; color: var(--soft); margin-left: auto; font-variant-numeric:
  tabular-nums; }
figure { margin: 0.7rem 0 0; } figure.plot, figure.map { break-inside: avoid; }
figcaption b { font-weight: 600; margin-right: 0.9rem; }
.plot figcaption, .map figcaption { font-size: 0.82rem; color: var(--ink); display: flex; flex-wrap: wrap; gap:
  0.1rem 0.9rem;
  align-items: baseline; }
.plot output { flex-basis: 100%; text-align: right; color: var(--soft); font-variant-numeric: tabular-nums;
  min-height: 1.35em; }
.key { color: var(--soft); } .key::before { content: ""; display: inline-block; width: 1.1em; height: 0.22em;
  border-radius: 2px; vertical-align: middle; margin-right: 0.4em; background: currentColor; }
.key.c0::before { background: var(--c0); } .key.c1::before { background: var(--c1); } .key.c2::before { background:
  var(--c2); }
.key.c3::before { background: var(--c3); } .key.c4::before { background: var(--c4); } .key.c5::before { background:
  var(--c5); }
.key.c6::before { background: var(--c6); }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.2rem; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 11px; font-family: inherit; }
svg text.tag { fill: var(--ink); } svg .unit { font-style: italic; }
.grid { stroke: var(--line); stroke-width: 1; } .grid.zero { stroke: var(--soft); stroke-opacity: 0.6; }
.curve { fill: none; stroke-width: 1.7; stroke-linejoin: round; }
.curve.c0, .dot.c0 { stroke: var(--c0); } .curve.c1, .dot.c1 { stroke: var(--c1); } .curve.c2, .dot.c2 { stroke:
  var(--c2); }
.curve.c3, .dot.c3 { stroke: var(--c3); } .curve.c4, .dot.c4 { stroke: var(--c4); } .curve.c5, .dot.c5 { stroke:
  var(--c5); }
.curve.c6, .dot.c6 { stroke: var(--c6); }
.dot { fill: var(--card); stroke-width: 1.5; } .place { fill: var(--bad); stroke: var(--card); stroke-width: 1.5; }
.band { opacity: 0.55; } .band.good { fill: none; } .band.look { fill: var(--look-bg); } .band.bad { fill:
  var(--bad-bg); }
.stretch { fill: var(--c5); fill-opacity: 0.13; } .stretch.bad { fill: var(--bad); fill-opacity: 0.18; }
.stretch.row { fill-opacity: 0.75; } .stretch.row.c0 { fill: var(--c0); } .stretch.row.c1 { fill: var(--c1); }
.stretch.look { fill: var(--look); fill-opacity: 0.2; } .stretch.good { fill: var(--good); fill-opacity: 0.16; }
.mark line { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 2 3; stroke-opacity: 0.55; } .mark path { fill:
  var(--ink); }
.cursor { stroke: var(--ink); stroke-width: 1; visibility: hidden; } .on .cursor { visibility: visible; }
.foot { fill: var(--c5); fill-opacity: 0.13; stroke: var(--c5); stroke-opacity: 0.45; stroke-width: 0.8; }
.support { fill: none; stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 4 3; }
.support.look { stroke: var(--look); } .support.bad { stroke: var(--bad); } .support ~ .place { fill: var(--soft); }
.support.look ~ .place { fill: var(--look); } .support.bad ~ .place { fill: var(--bad); }
.bar { stroke: var(--soft); stroke-width: 2; }
dl { display: flex; flex-wrap: wrap; gap: 0.15rem 1.6rem; margin: 0.7rem 0 0; font-size: 0.88rem; }
dt { display: inline; color: var(--soft); } dd { display: inline; margin: 0 0 0 0.35rem; font-variant-numeric:
  tabular-nums; }
table { border-collapse: collapse; font-size: 0.86rem; margin: 0.8rem 0 0; width: 100%; font-variant-numeric:
  tabular-nums; }
th { text-align: left; font-weight: 500; color: var(--soft); border-bottom: 1px solid var(--line); padding: 0.15rem
  0.9rem 0.15rem 0; }
td { padding: 0.18rem 0.9rem 0.18rem 0; border-bottom: 1px solid var(--faint); } .num { text-align: right; }
.how { color: var(--soft); font-size: 0.84rem; margin: 0.8rem 0 0; padding-top: 0.6rem; border-top: 1px solid
  var(--faint); }
.notes { color: var(--soft); font-size: 0.88rem; } .notes ul { margin: 0.3rem 0; padding-left: 1.2rem; }
footer { color: var(--soft); font-size: 0.84rem; margin-top: 2rem; }
.wide { overflow-x: auto; } td button, td a, .num { white-space: nowrap; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } main { padding: 1.2rem 0.8rem; }
  section.measure h3 { flex-wrap: wrap; } .card { padding: 0.9rem; }
  th, td { padding-right: 0.5rem; } table { font-size: 0.8rem; }
  .plot svg text { font-size: 20px; } .plot svg .unit { display: none; } .plot .curve { stroke-width: 2.6; }
  .map svg text { font-size: 15px; } }
@media print { :root { --ground: #fff; } html, body { font-size: 11px; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  .verdict, .tile, .shot, figure, tr, dl, .how { break-inside: avoid; } .plot output, .cursor { display: none; }
  h2, h3, section.measure > p { break-after: avoid; }
  .tiles { grid-template-columns: repeat(4, 1fr); } .shots { grid-template-columns: repeat(3, 1fr); } }
"""

# A cursor that all plots share.
SCRIPT = """
(() => {
  const plots = [...document.querySelectorAll('[data-plot]')].map(f => ({
    f, svg: f.querySelector('svg'), d: JSON.parse(f.dataset.plot), line: f.querySelector('.cursor'),
    out: f.querySelector('output')}));
  const hide = p => { p.f.classList.remove('on'); p.out.textContent = ''; };
  const show = t => plots.forEach(p => {
    const ts = p.d.t, last = ts[ts.length - 1], [a, b, w] = p.d.a;
    if (t === null || t < ts[0] - 1e-6 || t > last + 1e-6) { hide(p); return; }
    let k = 0;
    while (k < ts.length - 1 && Math.abs(ts[k + 1] - t) <= Math.abs(ts[k] - t)) k++;
    const x = w * (a + (b - a) * (t - ts[0]) / (last - ts[0] || 1));
    p.line.setAttribute('x1', x);
    p.line.setAttribute('x2', x);
    p.f.classList.add('on');
    let read = p.d.c.map(c => [c.v[k], c.n]).filter(v => v[0] !== null);
    if (read.length > 3) read = read.sort((v, u) => u[0] - v[0]).slice(0, 3);
    const words = read.map(v => (p.d.c.length > 1 ? v[1] + ' ' : '') + v[0].toFixed(p.d.d));
    p.out.textContent = [t.toFixed(2) + ' s', ...words].join(' · ') + (read.length ? ' ' + p.d.u : '');
  });
  let held = null;
  plots.forEach(p => {
    const at = e => {
      const r = p.svg.getBoundingClientRect(), [a, b] = p.d.a, ts = p.d.t;
      const s = ((e.clientX - r.left) / r.width - a) / (b - a);
      return s < 0 || s > 1 ? null : ts[0] + s * (ts[ts.length - 1] - ts[0]);
    };
    p.svg.addEventListener('pointermove', e => show(at(e)));
    p.svg.addEventListener('pointerleave', () => show(held));
    p.svg.addEventListener('click', e => { held = at(e); show(held); });
  });
  document.querySelectorAll('[data-t]').forEach(a => a.addEventListener('click', () => {
    held = +a.dataset.t;
    show(held);
  }));
})();
"""


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
{_published(report)}
{_blends(report)}
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
<p class="how">{escape(HOW[key])}</p>
</section>"""


def _blends(report: Report) -> str:
    """Card on recordings in whole-body motions: criteria without and with them, and where each part comes from."""
    rows, drawings = [], []
    for edit in report.blends:
        assert edit.blend is not None
        drawings.append(f"<p>{escape(f'{edit.who}, {edit.reason}')}</p>{drawn_sources(edit.blend)}")
        spans = [f"{name.replace('_', ' ')} {source} {begin:.2f}–{end:.2f} s"
                 for name, source, (begin, end) in edit.blend.parts if source != "planned"]  # fmt: skip
        criteria = (f"{before:.3f} → {after:.3f}" for before, after in (edit.blend.similarity, edit.blend.torque))
        texts = (f"{edit.who}, {edit.reason}", ", ".join(spans) or "all planned", *criteria)
        rows.append((*(Cell(text) for text in texts[:2]), *(Cell(text, True) for text in texts[2:])))
    if not rows:
        return ""
    shown = table(("motion", "from recordings", "posture similarity", "torque variation"), rows)
    return f"""<h2>Recordings in whole-body motions</h2><section class="measure card">{shown}
{"".join(drawings)}
<p class="how">Posture similarity is 1 where each part of the body is as most recorded ones; torque variation is the
deviation of joint torques from a steady change, as a share of joint strength. Recordings are blended in where
similarity grows and torques vary no more than without them.</p></section>"""


def _published(report: Report) -> str:
    """Measures in the definitions of others as a table, one column for each character."""
    names = list(report.published)
    if not names:
        return ""
    rows = [
        [Cell(f"{SOURCES[source]}: {PUBLISHED[source, key]}")]
        + [Cell(figure_of(report.published[name][source][key]), True) for name in names]
        for source, key in PUBLISHED
    ]
    shown = table(("measure", *names), rows)
    how = "For comparison with publications, each in its own definition (docs/report.md); they have no lights."
    return f'<h2>Published measures</h2><div class="card">{shown}<p class="how">{how}</p></div>'


def _notes(report: Report, note: str) -> str:
    notes = [*report.notes, *([note] if note else [])]
    if not notes:
        return ""
    lines = "".join(f"<li>{escape(n)}</li>" for n in notes)
    return f'<h2>Assumptions</h2><div class="notes"><ul>{lines}</ul></div>'
