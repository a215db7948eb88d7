"""Postures and carries of recorded people that ship with the package.

`recorded.json` is made by tools/recorded.py from takes of the Open Motion Project (ACCAD, The Ohio State University),
CC BY 3.0; see NOTICE.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np

from elbowroom.motion.marker_poses import BodyLengths
from elbowroom.motion.posture_db import PostureDatabase
from elbowroom.motion.speed_profiles import SpeedProfile

# Step of stored positions, and of stored gains and shapes.
_STEP_M = 0.001
_STEP = 0.001


@lru_cache(maxsize=1)
def recorded_postures() -> PostureDatabase:
    """The posture database that ships with the package."""
    part = _document()["postures"]
    poses = _numbers(part["poses_mm"], "<i2", (-1, 41, 3)) * _STEP_M
    return PostureDatabase(
        poses,
        _numbers(part["take"], "u1").astype(np.int64),
        _numbers(part["held"], "u1"),
        _numbers(part["strategy"], "u1"),
        tuple(part["takes"]),
        BodyLengths(**part["lengths_m"]),
        name="ACCAD",
        source=_document()["source"],
    )


@lru_cache(maxsize=1)
def recorded_carries() -> tuple[SpeedProfile, ...]:
    """The speed profiles of two-handed carries that ship with the package."""
    return tuple(
        SpeedProfile(
            row["name"],
            row["length_m"],
            row["duration_s"],
            np.array(row["gain"]) * _STEP,
            np.array(row["shape"]).reshape(3, -1) * _STEP,
        )
        for row in _document()["carries"]
    )


def packed(source: str, postures: PostureDatabase, carries: Sequence[SpeedProfile]) -> str:
    """The text of `recorded.json`, for tools/recorded.py."""
    lengths = postures.lengths
    document = {
        "source": source,
        "postures": {
            "takes": postures.takes,
            "lengths_m": {"leg": lengths.leg, "trunk": lengths.trunk, "arm": lengths.arm},
            "poses_mm": _text(np.round(postures.poses / _STEP_M).astype("<i2")),
            "take": _text(postures.take.astype("u1")),
            "held": _text(postures.held.astype("u1")),
            "strategy": _text(postures.strategy.astype("u1")),
        },
        "carries": [
            {
                "name": carry.name,
                "length_m": round(carry.length_m, 3),
                "duration_s": round(carry.duration_s, 3),
                "gain": np.round(carry.gain / _STEP).astype(int).tolist(),
                "shape": np.round(carry.shape / _STEP).astype(int).ravel().tolist(),
            }
            for carry in carries
        ],
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    return json.loads((resources.files("elbowroom.motion") / "recorded.json").read_text(encoding="utf-8"))


def _text(numbers: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(numbers.tobytes(), 9)).decode()


def _numbers(text: str, kind: str, shape: tuple[int, ...] = (-1,)) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=kind).reshape(shape)
