"""Joints, handles and places of the built-in props that open, as values of a storyboard.

A drawer of `drawer`, a door of `door` and a button of `switch_button` move and are taken as they are made, unless a
storyboard says otherwise. In axes of the prop; metres and degrees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from elbowroom.props.makers import MAKERS

Options = Mapping[str, Any]


def _drawer(options: Options) -> dict[str, Any]:
    bar = {"at": [0.0, -0.056, 0.0], "along": [1.0, 0.0, 0.0], "out": [0.0, -1.0, 0.0]}
    return {"slides": {"axis": [0.0, -1.0, 0.0], "range": [0.0, options["depth"] - 0.1]}, "handle": bar}


def _door(options: Options) -> dict[str, Any]:
    x, z = options["width"] - 0.07, options["handle"]
    made: dict[str, Any] = {"turns": {"axis": [0.0, 0.0, -1.0], "origin": [0.0, -0.007, 0.0], "range": [0.0, 110.0]}}
    made["handle"] = {"at": [x, -0.075, z], "along": [0.0, 0.0, 1.0], "out": [0.0, -1.0, 0.0]}
    if options["both_sides"]:
        made["frames"] = {"handle_back": {"at": [x, options["thickness"] + 0.075, z], "turn": 90.0}}
    return made


def _button(options: Options) -> dict[str, Any]:
    face = {"at": [0.0, -0.012, 0.0], "along": [0.0, 0.0, 1.0], "out": [0.0, -1.0, 0.0]}
    return {"slides": {"axis": [0.0, 1.0, 0.0], "range": [0.0, 0.006]}, "handle": face}


_MECHANISMS: dict[str, Callable[[Options], dict[str, Any]]] = {
    "drawer": _drawer,
    "door": _door,
    "switch_button": _button,
}

# Maker of a fixture and of what it belongs to: its own options by those of the latter, and its place in its axes.
_FITS: dict[tuple[object, object], tuple[dict[str, str], Callable[[Options], list[float]]]] = {
    ("drawer", "chest"): (
        {"width": "width", "depth": "depth", "height": "drawer_height"},
        lambda o: [0.0, -o["depth"] / 2 - 0.0195, o["height"] - 0.026 - o["drawer_height"] / 2],
    ),
    ("door", "door_frame"): ({"width": "width", "height": "height"}, lambda o: [0.0, 0.0, 0.005]),
    ("switch_button", "switch_plate"): ({}, lambda o: [0.0, -0.0085, 0.0]),
}


FITTING = "a drawer fits into a chest, a door into a door_frame, a switch_button into a switch_plate"


def mechanism(maker: object, options: Options) -> dict[str, Any]:
    """Joint and handles of a prop that opens, by their keys in a storyboard; empty for all others."""
    make = _MECHANISMS.get(maker) if isinstance(maker, str) else None
    return {} if make is None else make(_all_options(str(maker), options))


def fitted(maker: object, host: object, options: Options) -> tuple[dict[str, Any], list[float]] | None:
    """Options of a prop that fits into another with some options, and its place (3,) in the axes of the latter; None
    where it fits nowhere there."""
    fit = _FITS.get((maker, host))
    if fit is None:
        return None
    whole = _all_options(str(host), options)
    return {mine: whole[theirs] for mine, theirs in fit[0].items()}, fit[1](whole)


def _all_options(maker: str, options: Options) -> dict[str, Any]:
    return {**MAKERS[maker].options, **options}
