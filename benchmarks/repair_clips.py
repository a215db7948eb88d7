"""Clips for repair at scale: what of the recorded files walks, runs, carries or reaches, and where the files are."""

from __future__ import annotations

import os
from pathlib import Path

from elbowroom.files.asf_amc import read_amc
from elbowroom.files.bvh import read_bvh
from elbowroom.motion.clip import Clip

DATA = Path(os.environ.get("ELBOWROOM_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data")

_CMU_BVH = {
    "walk": "02_01 07_01 07_12 09_12 104_35 113_22 132_17 132_45 136_09 16_17 69_20 69_24 69_28 69_31",
    "run": "38_03",
    "carry": "113_26 115_01 115_06 143_11 62_20 69_70 69_73 70_01 79_25 81_06",
    "reach": "26_09 26_10 80_07",
}
_ACCAD_BVH = {
    "walk": "Male1_B9_WalkToTurnLeft90",
    "carry": "Male1_A5_PickUpBox Male1_B20_WalkWithBox",
    "reach": "Male1_A6_LiftBox",
}
_CMU_AMC = {
    "walk": "02_01 02_02 07_01 07_04 07_05 16_11 16_13 16_17 16_19 16_22 16_23 16_25 16_27 16_29 16_33 69_01 69_02",
    "run": "02_03 09_06 127_04 127_05 16_35 16_37 16_39 16_41 16_43 16_55",
    "reach": "02_06 14_07",
}
# Paths under `mocap`, and what is done in them.
CLIPS: dict[str, str] = {
    **{f"cmu_bvh/{name}.bvh": kind for kind, names in _CMU_BVH.items() for name in names.split()},
    **{f"accad_bvh/{name}.bvh": kind for kind, names in _ACCAD_BVH.items() for name in names.split()},
    **{
        f"cmu_asf_amc/{name.partition('_')[0]}/{name}.amc": kind
        for kind, names in _CMU_AMC.items()
        for name in names.split()
    },
}


def read(path: str) -> Clip:
    """A clip by its path under `mocap`."""
    reader = read_amc if path.endswith(".amc") else read_bvh
    return reader(DATA / "mocap" / path)
