"""Exports: the motion that is shown as files of any kind, in the folder to work in, with progress and cancel."""

from __future__ import annotations

from pathlib import Path

from elbowroom.errors import BadValue
from elbowroom.files.atomic import writing
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import Job
from elbowroom.world.world import World

FORMATS = ("GLB", "BVH", "NPZ", "USD", "HTML", "MP4")
_SUFFIX = {name: f".{name.lower()}" for name in FORMATS}
_FILM_SIZE = (960, 540)


def export(studio: Studio, formats: list[str], stem: str) -> Job:
    """Write the motion in some formats; all files come to be together, or none."""
    if not formats:
        raise BadValue("choose at least one format to export.")
    if not stem.strip():
        raise BadValue("give the export a name.")
    paths = [studio.folders.to_write(f"{stem}{_SUFFIX[name]}") for name in formats]
    world, fps = studio.world, studio.board.fps
    proven = studio.certified

    def done(written: list[Path]) -> None:
        names = ", ".join(p.name for p in written)
        studio.say(f"Exported {names}{'' if proven else ', not certified'}.", "good" if proven else "plain")

    return studio.run(Job("exporting", lambda job: written(job, paths, world, fps), done))


def written(job: Job, paths: list[Path], world: World, fps: float) -> list[Path]:
    """Write all files one by one, and put them in place when all are done."""
    from elbowroom.files.save import check_world, save

    check_world([p for p in paths if p.suffix != ".mp4"], world)
    with writing(*paths) as stand_ins:
        for k, (path, stand_in) in enumerate(zip(paths, stand_ins, strict=True)):
            job.tell(k / len(paths), path.name)
            if path.suffix == ".mp4":
                _film(job, stand_in, world, k / len(paths), 1.0 / len(paths))
            else:
                save([stand_in], world, fps)
        job.tell(1.0)
    return paths


def _film(job: Job, path: Path, world: World, begun: float, share: float) -> None:
    from elbowroom.pictures.images import film

    film(path, world, size=_FILM_SIZE, progress=lambda done, all_: job.tell(begun + share * done / all_))
