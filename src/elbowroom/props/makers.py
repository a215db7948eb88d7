"""Makers of meshes by the name that a storyboard gives them: `mesh: {maker: bookshelf, options: {seed: 3}}`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh
from elbowroom.props import cabinets, desk, furniture, kitchen, ornaments, shelves, wardrobe

# A page of text must not ask for gigabytes: metres and radians, and counts.
_LARGEST, _MOST = 100.0, 1000


@dataclass(frozen=True)
class Maker:
    """Maker of one mesh, or of several, named by `parts`. Options are its arguments; all have defaults."""

    make: Callable[..., Mesh | tuple[Mesh, ...]]
    parts: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, object]:
        """Options with their defaults."""
        return {name: p.default for name, p in inspect.signature(self.make).parameters.items()}


# Names of makers by module. Those that make several meshes follow below.
_NAMES = {
    furniture: "table chair sofa piano floor_lamp kitchen_table spindle_chair hanging_lamp window_wall stairs ramp",
    shelves: "book book_row book_stack bookend bookcase low_shelf wall_board wall",
    cabinets: "bar_handle chest drawer door door_frame switch_plate switch_button",
    wardrobe: "wardrobe hat coat_stand",
    kitchen: "counter jar bottle mug tin bowl carton ball cheese crate loaf board plate apple kettle herbs",
    desk: "desk monitor keyboard mouse desk_lamp pen_cup stapler pot_plant",
    ornaments: "vase globe picture basket stool trestle_table box_with_lid hoop cube umbrella lamp_post beam barrier "
    "pipes drum ventilator balcony column tree",
}

MAKERS: dict[str, Maker] = {
    **{name: Maker(getattr(module, name)) for module, names in _NAMES.items() for name in names.split()},
    "bookshelf": Maker(furniture.bookshelf, ("shelf", "books")),
    "plant": Maker(furniture.plant, ("pot", "leaves")),
    "car_front": Maker(ornaments.car_front, ("car", "engine", "hood")),
}


def made(name: str, options: Mapping[str, object] | None = None) -> dict[str, Mesh]:
    """Meshes by name that a maker makes; raises `UnknownName` and `BadValue` where the name or an option is wrong."""
    if name not in MAKERS:
        raise UnknownName("prop", name, MAKERS)
    maker = MAKERS[name]
    for key, value in (options or {}).items():
        if key not in maker.options:
            raise UnknownName(f"option of {name}", key, maker.options)
        _check(name, key, value, maker.options[key])
    meshes = maker.make(**(options or {}))
    return {name: meshes} if isinstance(meshes, Mesh) else dict(zip(maker.parts, meshes, strict=True))


def _check(name: str, key: str, value: object, default: object) -> None:
    """Refuse a value that is of another kind than the default, or larger than makes sense."""
    what, shown = f"the option '{key}' of {name}", repr(value)[:40]
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise BadValue(f"{what} must be true or false, not {shown}")
    elif isinstance(default, int):
        most = 2**31 if key == "seed" else _MOST
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise BadValue(f"{what} must be a whole number from 0 to {most}, not {shown}")
    elif isinstance(default, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(float(value)) or not 0.0 < float(value) <= _LARGEST:  # type: ignore[arg-type]
            raise BadValue(f"{what} must be above 0 and at most {_LARGEST:g}, not {shown}")
    elif not isinstance(value, type(default)):
        raise BadValue(f"{what} must be text, not {shown}")


# Joints, handles and places of the props that open, as values of a storyboard: they move and are taken as they are
# made, unless a storyboard says otherwise. In axes of the prop; metres and degrees.
MakerOptions = Mapping[str, Any]


def _drawer(options: MakerOptions) -> dict[str, Any]:
    bar = {"at": [0.0, -0.056, 0.0], "along": [1.0, 0.0, 0.0], "out": [0.0, -1.0, 0.0]}
    return {"slides": {"axis": [0.0, -1.0, 0.0], "range": [0.0, options["depth"] - 0.1]}, "handle": bar}


def _door(options: MakerOptions) -> dict[str, Any]:
    x, z = options["width"] - 0.07, options["handle"]
    made: dict[str, Any] = {"turns": {"axis": [0.0, 0.0, -1.0], "origin": [0.0, -0.007, 0.0], "range": [0.0, 110.0]}}
    made["handle"] = {"at": [x, -0.075, z], "along": [0.0, 0.0, 1.0], "out": [0.0, -1.0, 0.0]}
    if options["both_sides"]:
        made["frames"] = {"handle_back": {"at": [x, options["thickness"] + 0.075, z], "turn": 90.0}}
    return made


def _button(options: MakerOptions) -> dict[str, Any]:
    face = {"at": [0.0, -0.012, 0.0], "along": [0.0, 0.0, 1.0], "out": [0.0, -1.0, 0.0]}
    return {"slides": {"axis": [0.0, 1.0, 0.0], "range": [0.0, 0.006]}, "handle": face}


_MECHANISMS: dict[str, Callable[[MakerOptions], dict[str, Any]]] = {
    "drawer": _drawer,
    "door": _door,
    "switch_button": _button,
}

# Maker of a fixture and of what it belongs to: its own options by those of the latter, and its place in its axes.
_FITS: dict[tuple[object, object], tuple[dict[str, str], Callable[[MakerOptions], list[float]]]] = {
    ("drawer", "chest"): (
        {"width": "width", "depth": "depth", "height": "drawer_height"},
        lambda o: [0.0, -o["depth"] / 2 - 0.0195, o["height"] - 0.026 - o["drawer_height"] / 2],
    ),
    ("door", "door_frame"): ({"width": "width", "height": "height"}, lambda o: [0.0, 0.0, 0.005]),
    ("switch_button", "switch_plate"): ({}, lambda o: [0.0, -0.0085, 0.0]),
}


FITTING = "a drawer fits into a chest, a door into a door_frame, a switch_button into a switch_plate"


def mechanism(maker: object, options: MakerOptions) -> dict[str, Any]:
    """Joint and handles of a prop that opens, by their keys in a storyboard; empty for all others."""
    make = _MECHANISMS.get(maker) if isinstance(maker, str) else None
    return {} if make is None else make(_all_options(str(maker), options))


def fitted(maker: object, host: object, options: MakerOptions) -> tuple[dict[str, Any], list[float]] | None:
    """Options of a prop that fits into another with some options, and its place (3,) in the axes of the latter; None
    where it fits nowhere there."""
    fit = _FITS.get((maker, host))
    if fit is None:
        return None
    whole = _all_options(str(host), options)
    return {mine: whole[theirs] for mine, theirs in fit[0].items()}, fit[1](whole)


def _all_options(maker: str, options: MakerOptions) -> dict[str, Any]:
    return {**MAKERS[maker].options, **options}
