"""Report on the motion shown, as a page in the working folder, with progress and cancel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from elbowroom.errors import BadValue
from elbowroom.plan.tasks import Repair
from elbowroom.studio.exporting import settled
from elbowroom.studio.studio import Studio
from elbowroom.studio.worker import Job

if TYPE_CHECKING:
    from elbowroom.report import Report

_ENDING = "-report.html"
# How much of the work is done when everything is measured.
_MEASURED = 0.4


def report_on(studio: Studio, stem: str) -> Job:
    """Measure the motion once it is ready, and write NAME-report.html."""
    plain = stem.strip().removesuffix(_ENDING)
    if not Path(plain).name:
        raise BadValue("give the report a name.")
    path = studio.folders.to_write(f"{plain}{_ENDING}")
    studio.folders.check_replacing([path], "Report")

    def work(job: Job) -> Report:
        from elbowroom.report import report, write_report  # the page opens sooner without

        settled(job, studio)
        with studio.lock:
            plan, world, board = studio.plan, studio.world, studio.board
            certificate = plan.certificate if plan is not None and not studio.live else None
        job.tell(None, "measuring")
        meant = any(not isinstance(task, Repair) for task in board.tasks)
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

    return studio.run_files(Job("reporting", work, done))
