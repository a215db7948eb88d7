"""Makers of meshes by the name that a storyboard gives them: `mesh: {maker: bookshelf, options: {seed: 3}}`."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from elbowroom.errors import BadValue, UnknownName
from elbowroom.geometry.mesh import Mesh
from elbowroom.props import (
    books,
    cabinets,
    car,
    desk,
    furniture,
    hats,
    kitchen,
    ornaments,
    pantry,
    seats,
    shelves,
    stairs,
    wardrobe,
)

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


MAKERS: dict[str, Maker] = {
    "table": Maker(furniture.table),
    "chair": Maker(furniture.chair),
    "sofa": Maker(furniture.sofa),
    "bookshelf": Maker(furniture.bookshelf, ("shelf", "books")),
    "piano": Maker(furniture.piano),
    "floor_lamp": Maker(furniture.floor_lamp),
    "plant": Maker(furniture.plant, ("pot", "leaves")),
    "book": Maker(books.book),
    "book_row": Maker(books.book_row),
    "book_stack": Maker(books.book_stack),
    "bookend": Maker(books.bookend),
    "bookcase": Maker(shelves.bookcase),
    "low_shelf": Maker(shelves.low_shelf),
    "wall_board": Maker(shelves.wall_board),
    "wall": Maker(shelves.wall),
    "stairs": Maker(stairs.stairs),
    "ramp": Maker(stairs.ramp),
    "bar_handle": Maker(cabinets.bar_handle),
    "chest": Maker(cabinets.chest),
    "drawer": Maker(cabinets.drawer),
    "door": Maker(cabinets.door),
    "door_frame": Maker(cabinets.door_frame),
    "switch_plate": Maker(cabinets.switch_plate),
    "switch_button": Maker(cabinets.switch_button),
    "wardrobe": Maker(wardrobe.wardrobe),
    "car_front": Maker(car.car_front),
    "counter": Maker(kitchen.counter),
    "jar": Maker(kitchen.jar),
    "bottle": Maker(kitchen.bottle),
    "mug": Maker(kitchen.mug),
    "tin": Maker(kitchen.tin),
    "bowl": Maker(kitchen.bowl),
    "carton": Maker(kitchen.carton),
    "ball": Maker(kitchen.ball),
    "desk": Maker(desk.desk),
    "monitor": Maker(desk.monitor),
    "keyboard": Maker(desk.keyboard),
    "mouse": Maker(desk.mouse),
    "desk_lamp": Maker(desk.desk_lamp),
    "pen_cup": Maker(desk.pen_cup),
    "stapler": Maker(desk.stapler),
    "pot_plant": Maker(desk.pot_plant),
    "vase": Maker(ornaments.vase),
    "globe": Maker(ornaments.globe),
    "picture": Maker(ornaments.picture),
    "basket": Maker(ornaments.basket),
    "stool": Maker(ornaments.stool),
    "trestle_table": Maker(ornaments.trestle_table),
    "box_with_lid": Maker(ornaments.box_with_lid),
    "hat": Maker(hats.hat),
    "coat_stand": Maker(hats.coat_stand),
    "hoop": Maker(ornaments.hoop),
    "cube": Maker(ornaments.cube),
    "cheese": Maker(pantry.cheese),
    "crate": Maker(pantry.crate),
    "loaf": Maker(pantry.loaf),
    "board": Maker(pantry.board),
    "plate": Maker(pantry.plate),
    "apple": Maker(pantry.apple),
    "kettle": Maker(pantry.kettle),
    "herbs": Maker(pantry.herbs),
    "kitchen_table": Maker(seats.kitchen_table),
    "spindle_chair": Maker(seats.spindle_chair),
    "hanging_lamp": Maker(seats.hanging_lamp),
    "window_wall": Maker(seats.window_wall),
    "umbrella": Maker(ornaments.umbrella),
    "lamp_post": Maker(ornaments.lamp_post),
    "beam": Maker(ornaments.beam),
    "barrier": Maker(ornaments.barrier),
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
            raise BadValue(f"{what} is true or false, not {shown}")
    elif isinstance(default, int):
        most = 2**31 if key == "seed" else _MOST
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise BadValue(f"{what} is a whole number from 0 to {most}, not {shown}")
    elif isinstance(default, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(float(value)) or not 0.0 < float(value) <= _LARGEST:  # type: ignore[arg-type]
            raise BadValue(f"{what} is a number above 0 and up to {_LARGEST:g}, not {shown}")
    elif not isinstance(value, type(default)):
        raise BadValue(f"{what} is text, not {shown}")
