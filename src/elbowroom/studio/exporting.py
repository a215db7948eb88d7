"""Exports: the motion that is shown as files of any kind, in the folder to work in, with progress and cancel."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.studio.studio import Studio, Tone, Verdict
from elbowroom.studio.worker import Job
from elbowroom.world.world import World

FORMATS = ("GLB", "BVH", "NPZ", "USD", "HTML", "MP4")
_SUFFIX = {name: f".{name.lower()}" for name in FORMATS}
_FILM_SIZE = (960, 540)
_SAID: Mapping[Verdict, tuple[Tone, str]] = {
    "certified": ("good", ""),
    "free": ("plain", " The motion is free, not proven."),
}
_UNCERTIFIED: tuple[Tone, str] = ("bad", " The motion is not certified free of collisions.")
_WAIT = 0.02  # seconds between looks whether a motion is there


def export(studio: Studio, formats: list[str], stem: str) -> Job:
    """Write the motion in some formats, when it is there; all files come to be together, or none."""
    if not formats:
        raise BadValue("choose at least one format to export.")
    plain = stem.strip()
    if Path(plain).suffix.lower() in _SUFFIX.values():
        plain = plain[: -len(Path(plain).suffix)]
    if not Path(plain).name:
        raise BadValue("give the export a name.")
    paths = [studio.folders.to_write(f"{plain}{_SUFFIX[name]}") for name in formats]
    studio.folders.check_replacing(paths, "Export")

    def work(job: Job) -> Verdict:
        world, verdict, fps = settled(job, studio)
        written(job, paths, world, fps)
        return verdict

    def done(verdict: Verdict) -> None:
        studio.folders.know(*paths)
        tone, text = _SAID.get(verdict, _UNCERTIFIED)
        studio.say(f"Exported {', '.join(path.name for path in paths)}.{text}", tone)

    return studio.run_files(Job("exporting", work, done))


def settled(job: Job, studio: Studio) -> tuple[World, Verdict, float]:
    """The motion that is shown, whether it is proven, and frames a second of its storyboard.

    One that is being planned is waited for.
    """
    while studio.worker.busy or studio.drags.current is not None:
        job.tell(None, "waiting for the motion")
        time.sleep(_WAIT)
    with studio.lock:
        return studio.world, studio.verdict, studio.board.fps


def written(job: Job, paths: list[Path], world: World, fps: float) -> list[Path]:
    """Write all files one by one, and put them in place when all are done."""
    from elbowroom.files.save import check_world, save

    check_world([p for p in paths if p.suffix != ".mp4"], world)
    with said_of(paths[0].parent), writing(*paths) as stand_ins:
        for k, (path, stand_in) in enumerate(zip(paths, stand_ins, strict=True)):
            job.tell(k / len(paths) if len(paths) > 1 else None, path.name)
            try:
                if path.suffix == ".mp4":
                    with said_of(path):
                        _film(job, stand_in, world, k / len(paths), 1.0 / len(paths))
                else:
                    save([stand_in], world, fps)
            except BadFile as error:
                raise BadValue(str(error).replace(str(stand_in), str(path))) from None
        job.tell(1.0)
    return paths


def _film(job: Job, path: Path, world: World, begun: float, share: float) -> None:
    from elbowroom.pictures.images import film

    film(path, world, size=_FILM_SIZE, progress=lambda done, all_: job.tell(begun + share * done / all_))
