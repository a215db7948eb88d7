"""Export of the motion shown: files of any format, a report, code that makes the same; with progress and cancel."""

from __future__ import annotations

import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elbowroom.errors import BadFile, BadValue
from elbowroom.files.atomic import said_of, writing
from elbowroom.studio.document import Document, named_files
from elbowroom.studio.studio import Studio, Tone, Verdict
from elbowroom.studio.worker import StudioJob
from elbowroom.world.certificate import Certificate
from elbowroom.world.played import played
from elbowroom.world.world import World

if TYPE_CHECKING:
    from elbowroom.report import Report

FORMATS = ("GLB", "BVH", "NPZ", "USD", "HTML", "MP4")
_SUFFIX = {name: f".{name.lower()}" for name in FORMATS}
_FILM_SIZE = (960, 540)
_WAIT = 0.02  # seconds between looks whether a motion is there


@dataclass(frozen=True, eq=False)
class ExportedMotion:
    """Motion with its verdict and certificate, the document that it was made from, and the output frame rate."""

    world: World
    verdict: Verdict
    certificate: Certificate | None
    document: Document
    fps: float
    layers: Mapping[str, Any]

    @property
    def inputs(self) -> list[Path]:
        """Files that it was made from."""
        document = self.document
        own = [] if document.given else [document.path]
        return own + [p for n in named_files(document.values) if (p := document.path.parent / n).is_file()]


def export(studio: Studio, formats: list[str], stem: str) -> StudioJob:
    """Write the motion in some formats once it is ready; all files are written or none."""
    if not formats:
        raise BadValue("choose at least one format to export.")
    plain = stem.strip()
    if Path(plain).suffix.lower() in _SUFFIX.values():
        plain = plain[: -len(Path(plain).suffix)]
    if not Path(plain).name:
        raise BadValue("give the export a name.")
    paths = [studio.folders.to_write(f"{plain}{_SUFFIX[name]}") for name in formats]
    studio.folders.check_replacing(paths, "Export")

    def work(job: StudioJob) -> tuple[Tone, str]:
        motion = settled(job, studio)
        written(job, paths, motion)
        return _said_of(motion)

    def done(said: tuple[Tone, str]) -> None:
        studio.folders.know(*paths)
        tone, text = said
        studio.say(f"Exported {', '.join(path.name for path in paths)}.{text}", tone)

    return studio.run_files(StudioJob("exporting", work, done))


def settled(job: StudioJob, studio: Studio) -> ExportedMotion:
    """Motion shown; waits for one that is being planned."""
    while studio.worker.busy or studio.drags.current is not None:
        job.tell(None, "waiting for the motion")
        time.sleep(_WAIT)
    with studio.lock:
        proof = None if studio.live or studio.plan is None else studio.plan.certificate
        layers = {} if studio.live or studio.plan is None else studio.plan.layers
        return ExportedMotion(studio.world, studio.verdict, proof, studio.document, studio.board.fps, layers)


def _said_of(motion: ExportedMotion) -> tuple[Tone, str]:
    """Tone and text on files that were written; frames other than the proven ones are not certified."""
    if motion.verdict == "free":
        return "plain", " No collision was found, but the motion is not proven."
    if motion.verdict != "certified":
        return "bad", " The motion is not certified collision-free."
    if motion.certificate is not None and motion.certificate.digest == played(motion.world, motion.fps).digest:
        return "good", ""
    return "plain", " The certificate does not cover the frames that were written: press Re-plan for one that does."


def written(job: StudioJob, paths: list[Path], motion: ExportedMotion) -> list[Path]:
    """Write all files one by one, with their proof, and put them in place when all are done."""
    from elbowroom.files.save import check_world, save

    world, proof = motion.world, motion.certificate
    made = {"seed": motion.document.seed, "inputs": motion.inputs, **motion.layers}
    check_world([p for p in paths if p.suffix != ".mp4"], world)
    with said_of(paths[0].parent), writing(*paths) as stand_ins:
        for k, (path, stand_in) in enumerate(zip(paths, stand_ins, strict=True)):
            job.tell(k / len(paths) if len(paths) > 1 else None, path.name)
            try:
                if path.suffix == ".mp4":
                    with said_of(path):
                        _film(job, stand_in, world, k / len(paths), 1.0 / len(paths))
                else:
                    save([stand_in], world, motion.fps, certificate=proof, **made)
            except BadFile as error:
                raise BadValue(str(error).replace(str(stand_in), str(path))) from None
        job.tell(1.0)
    return paths


def _film(job: StudioJob, path: Path, world: World, begun: float, share: float) -> None:
    from elbowroom.pictures.images import film

    film(path, world, size=_FILM_SIZE, progress=lambda done, all_: job.tell(begun + share * done / all_))


def as_command(document: Document, stem: str) -> str:
    """Command that plans the same motion."""
    tier = "" if document.tier == "auto" else f" --tier {document.tier}"
    return f"elbowroom run {shlex.quote(_name(document))} -o {shlex.quote(stem + '.glb')} --seed {document.seed}{tier}"


def as_python(document: Document, stem: str) -> str:
    """Python code that plans the same motion."""
    tier = "" if document.tier == "auto" else f', tier="{document.tier}"'
    return "\n".join(
        (
            "import elbowroom as er",
            "",
            f"board = er.read_storyboard({_name(document)!r})",
            f"plan = er.plan_storyboard(board, seed={document.seed}{tier})",
            f"er.save([{stem + '.glb'!r}], plan.require().world, board.fps)",
        )
    )


def _name(document: Document) -> str:
    """File name of the storyboard; for an unsaved one the suggested name."""
    return f"{document.name}.yaml" if document.given else Path(document.path).as_posix()


_ENDING = "-report.html"
# How much of the work is done when everything is measured.
_MEASURED = 0.4


def report_on(studio: Studio, stem: str) -> StudioJob:
    """Measure the motion once it is ready, and write NAME-report.html."""
    plain = stem.strip().removesuffix(_ENDING)
    if not Path(plain).name:
        raise BadValue("give the report a name.")
    path = studio.folders.to_write(f"{plain}{_ENDING}")
    studio.folders.check_replacing([path], "Report")

    def work(job: StudioJob) -> Report:
        from elbowroom.report import report, write_report  # the page opens sooner without

        settled(job, studio)
        with studio.lock:
            plan, world, board = studio.plan, studio.world, studio.board
            certificate = plan.certificate if plan is not None and not studio.live else None
        job.tell(None, "measuring")
        meant = any(not task.repairs for task in board.tasks)
        before = board.world if board.tasks else None
        found = report(world, before, certificate=certificate, change_meant=meant, title=Path(plain).name)
        job.tell(_MEASURED, path.name)
        share = 1.0 - _MEASURED
        write_report(path, found, progress=lambda done, all_: job.tell(_MEASURED + share * done / all_))
        return found

    def done(found: Report) -> None:
        studio.folders.know(path)
        short, says = found.verdict
        studio.say(f"Wrote {path.name}. {short}: {says}", "bad" if found.light == "bad" else "good")

    return studio.run_files(StudioJob("reporting", work, done))
