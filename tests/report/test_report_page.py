"""The page: one file, offline, with everything on it that was measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from report_makers import person, still

from elbowroom.character.human import human
from elbowroom.errors import BadFile, MissingExtra
from elbowroom.geometry.solids import box
from elbowroom.locomotion.walk import walk
from elbowroom.report import Report, page, report, write_report
from elbowroom.report.how import TITLES
from elbowroom.report.parts import COLORS, counted, drawn_sources, light_of
from elbowroom.report.plots import PlotCurve, plot, thinned, ticks
from elbowroom.report.shots import worst_moments
from elbowroom.studio.page_edits import sources_of
from elbowroom.world.edit import CaptureBlend, Edit
from elbowroom.world.world import World


@pytest.fixture(scope="module")
def walked() -> Report:
    clip = walk(human(1.70), 1.2, seconds=2.0, fps=30.0)
    world = World().with_character("ann", clip).with_static("post", box([0.1, 0.1, 2.0], at=[0.6, -1.2, 1.0]))
    return report(world, clip, title="a walk")


class Seen(HTMLParser):
    """Ids, links and sources of a page, and whether its tags are closed in order."""

    VOID = ("meta", "img", "br", "line", "rect", "circle", "path", "polyline", "polygon")

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.sources: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.ids |= {told["id"] or ""} if "id" in told else set()
        self.links |= {told["href"] or ""} if "href" in told else set()
        self.sources += [told[k] or "" for k in ("src", "data", "srcset") if k in told]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_needs_nothing_from_outside_and_its_links_lead_somewhere(walked: Report):
    text = page(walked, pictures=1)
    seen = Seen()
    seen.feed(text)
    assert not seen.open
    assert all(s.startswith("data:image/jpeg;base64,") for s in seen.sources)
    anchors = {link for link in seen.links if link.startswith("#")}
    assert anchors and {a[1:] for a in anchors} <= seen.ids
    assert anchors == seen.links
    assert not re.search(r"https?://|@import|url\(|<link|fetch\(|<iframe", text)


def test_every_measure_has_a_light_a_sentence_a_plot_and_its_thresholds(walked: Report):
    text = page(walked, pictures=0)
    (ann,) = walked.people
    assert set(ann.measures) | {"clearance"} == set(TITLES) - {"recorded"}  # she holds nothing
    for key in ("clearance", *ann.measures):
        section = text.split(f'id="{key}"' if key == "clearance" else f'id="ann-{key}"')[1].split("</section>")[0]
        assert 'class="light' in section and "<svg viewBox" in section and 'class="how"' in section
        measure = walked.clearance if key == "clearance" else ann.measures[key]
        assert measure.says.endswith(".") and measure.says[:20].replace("'", "&#x27;") in section
        assert re.search(r"Green: .* Amber: ", section)


def test_drawings_are_well_formed(walked: Report):
    drawings = re.findall(r"<svg.*?</svg>", page(walked, pictures=0), flags=re.S)
    assert len(drawings) > 20
    for drawing in drawings:
        ElementTree.fromstring(drawing)
        assert "nan" not in drawing and "inf" not in drawing.replace("infinite", "")


def test_curves_of_plots_can_be_read_off(walked: Report):
    data = re.findall(r'data-plot="([^"]*)"', page(walked, pictures=0))
    for text in data:
        read = json.loads(text.replace("&quot;", '"').replace("&#x27;", "'"))
        assert all(len(c["v"]) == len(read["t"]) for c in read["c"]) and read["t"] == sorted(read["t"])


def test_without_a_renderer_people_are_drawn_plainly(walked: Report, monkeypatch: pytest.MonkeyPatch):
    def missing(*_: object, **__: object) -> None:
        raise MissingExtra("drawing without a screen", "apt install libegl1")

    monkeypatch.setattr("elbowroom.report.shots.still", missing)
    text = page(walked, pictures=3)
    assert text.count('class="drawn"') == len(worst_moments(walked, 3)) > 0
    assert "apt install libegl1" in text and "data:image" not in text
    for drawing in re.findall(r'<svg class="drawn".*?</svg>', text, flags=re.S):
        assert drawing.count("<line") > 20
        ElementTree.fromstring(drawing)


def test_the_verdict_says_what_to_do(walked: Report):
    short, sentence = walked.verdict
    assert short in ("Ready to use", "Nearly there") and "No collisions" in sentence
    inside = World().with_character("ann", still()).with_static("post", box([0.2, 0.2, 2.0], at=[0.0, 0.0, 1.0]))
    short, sentence = report(inside).verdict
    assert short == "Not ready" and "Collisions" in sentence and "clearance" in sentence


def test_moments_are_the_worst_ones_in_order_of_time(walked: Report):
    moments = worst_moments(walked, 4)
    times = [m.time for m, *_ in moments]
    assert times == sorted(times) and 0 < len(times) <= 4
    every = [m.badness for p in walked.people for measure in p.measures.values() for m in measure.moments]
    assert max(m.badness for m, *_ in moments) == pytest.approx(min(max(every), 1.0), abs=0.5) or walked.light != "good"


def test_it_is_written_whole_or_not_at_all(walked: Report, tmp_path):
    write_report(tmp_path / "a.html", walked, pictures=0)
    assert (tmp_path / "a.html").read_text().rstrip().endswith("</html>")
    for name in ("a.pdf", "none/a.html"):
        with pytest.raises(BadFile):
            write_report(tmp_path / name, walked, pictures=0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html"]


def test_json_has_what_the_page_has(walked: Report):
    facts = walked.facts(curves=True)
    json.dumps(facts, allow_nan=False)
    ann = facts["characters"]["ann"]
    assert ann["frames"] == walked.people[0].frames and facts["light"] == walked.light
    assert ann["feet"]["foot_slide_m"] < 0.01 and ann["torque"]["joints"][0]["joint"] == "neck"
    assert len(ann["balance"]["curves"]["zmp_m"]) == ann["frames"]
    assert "curves" not in walked.facts()["characters"]["ann"]["feet"]


def test_ticks_are_round_and_few():
    assert ticks(0.0, 1.0) == pytest.approx([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-7.0, 23.0) == pytest.approx([-5.0, 0.0, 5.0, 10.0, 15.0, 20.0])
    for low, high in ((0.0, 1e-5), (3.0, 3.02), (-1e4, 5e4)):
        found = ticks(low, high)
        assert 2 <= len(found) <= 7 and low - 1e-9 <= found[0] and found[-1] <= high + 1e-9


def test_long_curves_keep_their_peaks():
    values = np.zeros(10_000)
    values[4321] = 1.0
    kept = thinned(values)
    assert len(kept) <= 500 and 4321 in kept
    assert plot(np.arange(3.0), [], "m") == "" and plot(np.zeros(1), [PlotCurve("x", np.zeros(1))], "m") == ""
    gap = plot(np.arange(5.0), [PlotCurve("x", np.array([1.0, 2.0, np.nan, 1.0, 0.0]))], "m")
    assert gap.count("<polyline") == 2


def names_in(facts: object) -> set[str]:
    """All keys of nested data."""
    if isinstance(facts, dict):
        return set(facts) | {n for value in facts.values() for n in names_in(value)}
    return {n for value in facts for n in names_in(value)} if isinstance(facts, list) else set()


def test_names_of_the_json_are_documented(walked: Report):
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text()
    facts = walked.facts(curves=True)
    told = {
        "joints and parts": {"left hand", "right hand", "left foot", "right foot", "head", "hips"},
        "people": {"ann", "left", "right"},
        "limbs": set(facts["characters"]["ann"]["difference"]["limbs"]),
        "joints": {row["joint"] for row in facts["characters"]["ann"]["torque"]["joints"]},
    }
    facts.pop("thresholds")
    for name in names_in(facts) - set().union(*told.values()):
        assert f"`{name}`" in text, name


def test_lights_follow_from_the_numbers_and_thresholds_of_the_json(walked: Report):
    facts = walked.facts()
    limits, ann = facts["thresholds"], facts["characters"]["ann"]
    past = max(ann["limits"]["past_deg"].values(), default=0.0)
    assert ann["limits"]["light"] == light_of(past, *limits["limits"]["past_deg"])
    size = person().skeleton.T_rest[:, 2, 3]
    slides = [np.ptp(size) / 1.6 * v for v in limits["feet"]["slide_m"]]
    assert ann["feet"]["light"] == light_of(ann["feet"]["foot_slide_m"], *slides)
    effort = max(row["effort_share"] for row in ann["torque"]["joints"])
    assert ann["torque"]["light"] == light_of(effort, *limits["torque"]["effort_share"])
    assert facts["clearance"]["clearance_m"] > limits["clearance"]["near_m"] and facts["clearance"]["light"] == "good"
    order = ["none", "good", "look", "bad"]
    every = [facts["clearance"]["light"], *(m["light"] for m in ann.values() if isinstance(m, dict))]
    assert facts["light"] == max(every, key=order.index)


def test_long_clips_are_told_by_their_extremes():
    times = np.arange(0.0, 100.0, 0.01)
    swing = np.sin(40.0 * times)
    swing[5000] = 3.0
    drawn = plot(times, [PlotCurve("x", swing)], "m", label="Height")
    assert "Height, highest in each 0.4 s, m" in drawn and drawn.count(",", drawn.index("<polyline")) < 400
    read = json.loads(re.findall(r'data-plot="([^"]*)"', drawn)[0].replace("&quot;", '"'))
    assert max(read["c"][0]["v"]) == 3.0 and min(read["c"][0]["v"]) > 0.9
    low = plot(times, [PlotCurve("x", swing)], "m", label="Height", lows=True)
    assert "lowest in each" in low and "highest" not in plot(
        times[:1000], [PlotCurve("x", swing[:1000])], "m", label="h"
    )


def test_pictures_are_of_what_is_wrong_where_something_is():
    inside = World().with_character("ann", still()).with_static("post", box([0.2, 0.2, 2.0], at=[0.0, 0.0, 1.0]))
    found = report(inside)
    moments = worst_moments(found)
    assert (
        moments and all(light == "bad" for *_, light in moments) and {where for _, where, _ in moments} == {"clearance"}
    )


def test_words_count_well():
    assert counted(1, "pair") == "1 pair" and counted(2, "pair") == "2 pairs" and counted(0, "frame") == "0 frames"


def test_sources_of_a_whole_body_motion_are_coloured(walked: Report):
    parts = (("spine", "planned", (0.0, 0.4)), ("spine", "blended", (0.4, 1.0)), ("right_arm", "captured", (0.0, 1.0)))
    blend = CaptureBlend((0.2, 0.25), (0.03, 0.02), parts)
    drawing = ElementTree.fromstring(drawn_sources(blend, now=0.5))
    bars = list(drawing.iter("rect"))
    assert [bar.get("fill") for bar in bars] == [COLORS[source] for _, source, _ in parts]
    widths = [float(bar.get("width", 0)) for bar in bars]
    assert widths[1] == pytest.approx(1.5 * widths[0], rel=0.01)
    assert widths[2] == pytest.approx(sum(widths[:2]), rel=0.01)
    assert bars[0].get("y") == bars[1].get("y") != bars[2].get("y")
    assert len(list(drawing.iter("line"))) == 1
    edit = Edit("ann", "right_arm", "take the tin", (0.0, 1.0), "whole-body", blend=blend)
    html = page(replace(walked, blends=(edit,)))
    assert COLORS["captured"] in html and "0.200 → 0.250" in html and "0.030 → 0.020" in html
    assert "planned</span>" in sources_of(blend, 2.0) and "0.200 → 0.250" in sources_of(blend, 2.0)
