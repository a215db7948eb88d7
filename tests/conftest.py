"""Shared fixtures. Real files are used where they are present and skipped with a reason where not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("ELBOWROOM_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder with real motion capture, rigs and scenes."""
    if not DATA.is_dir():
        pytest.skip("the folder with real files is not present (set ELBOWROOM_DATA to it)")
    return DATA


def real_files(*patterns: str) -> list[Path]:
    """Real files that match, for parametrising; empty where the folder is absent."""
    return sorted(p for pattern in patterns for p in DATA.glob(pattern))
