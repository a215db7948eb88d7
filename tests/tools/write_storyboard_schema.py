"""Writes docs/storyboard.schema.json from the code: python tests/tools/write_storyboard_schema.py"""

from __future__ import annotations

import json
from pathlib import Path

from elbowroom.tasks.storyboard import storyboard_schema

TARGET = Path(__file__).resolve().parents[2] / "docs" / "storyboard.schema.json"

if __name__ == "__main__":
    TARGET.write_text(json.dumps(storyboard_schema(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
