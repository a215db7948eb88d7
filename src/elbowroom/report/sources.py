"""Sources of a whole-body motion as bars: each part of the body coloured planned, blended or captured."""

from __future__ import annotations

from html import escape

from elbowroom.world.edit import CaptureBlend, PartSource

# Colours that are distinct on light and dark pages and for colour-blind readers.
COLORS: dict[PartSource, str] = {"planned": "#8a949c", "blended": "#d98a2b", "captured": "#2b7cb0"}
# Size of the drawing, pixels, and the room for names on its left and seconds below.
_WIDTH_PX = 320
_ROW_PX = 16
_LEFT_PX = 64
_BELOW_PX = 16


def drawn_sources(blend: CaptureBlend, now: float | None = None) -> str:
    """HTML of bars over time by part of the body, with a legend; a line at the time `now` in seconds."""
    names = list(dict.fromkeys(name for name, *_ in blend.parts))
    begin = min(span[0] for *_, span in blend.parts)
    end = max(span[1] for *_, span in blend.parts)
    bottom = _ROW_PX * len(names)

    def x(t: float) -> float:
        return _LEFT_PX + (_WIDTH_PX - _LEFT_PX - 4) * (t - begin) / max(end - begin, 1e-6)

    ink = 'style="fill:currentColor;fill-opacity:.7;font-size:10px"'
    said = [escape(name.replace("_", " ")) for name in names]
    out = [f'<text {ink} x="{_LEFT_PX - 4}" y="{_ROW_PX * k + 11}" text-anchor="end">{name}</text>'
           for k, name in enumerate(said)]  # fmt: skip
    for name, source, (first, last) in blend.parts:
        tip = f"{said[names.index(name)]}: {source}, {first:.2f} to {last:.2f} s"
        place = f'x="{x(first):.1f}" y="{_ROW_PX * names.index(name) + 3}" width="{x(last) - x(first):.1f}"'
        out.append(f'<rect {place} height="{_ROW_PX - 6}" fill="{COLORS[source]}"><title>{tip}</title></rect>')
    for t, anchor in ((begin, "start"), (end, "end")):
        out.append(f'<text {ink} x="{x(t):.0f}" y="{bottom + 12}" text-anchor="{anchor}">{t:.2f} s</text>')
    if now is not None and begin <= now <= end:
        out.append(f'<line x1="{x(now):.1f}" x2="{x(now):.1f}" y1="0" y2="{bottom}" stroke="currentColor"/>')
    legend = "".join(
        f'<span style="margin-right:10px"><span style="color:{color}">■</span> {source}</span>'
        for source, color in COLORS.items()
    )
    size = f'width="100%" style="max-width:40rem" viewBox="0 0 {_WIDTH_PX} {bottom + _BELOW_PX}"'
    style = 'class="sources" style="margin:2px 10px;font-size:11px"'
    return f"<div {style}><svg {size}>{''.join(out)}</svg><br/>{legend}</div>"
