"""What is dragged in the scene: things, which the motion follows, and targets of hands, which somebody reaches for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from elbowroom.geometry.rotations import Array
from elbowroom.studio.live import Drag
from elbowroom.studio.places import task_of
from elbowroom.studio.preview import Preview, reach_preview
from elbowroom.studio.worker import Job
from elbowroom.tasks.plan import Plan
from elbowroom.world.certificate import certify

if TYPE_CHECKING:
    from elbowroom.studio.studio import Studio


class Dragging:
    """The drag that goes on, if any: `to` is where the thing is now, `followed` where it was for the motion shown."""

    def __init__(self, studio: Studio) -> None:
        self._studio = studio
        self.current: Drag | None = None
        self.to: Array | None = None
        self.followed: Array | None = None
        self.preview: Preview | None = None

    def move(self, name: str, T: Array) -> None:
        """Something is at `T` (4, 4) now."""
        studio = self._studio
        with studio.lock:
            if self.current is None or self.current.name != name:
                studio.worker.cancel()
                self.current = Drag(name, studio.document, studio.board, studio.plan)
            drag, self.to = self.current, T
            task = task_of(name)
            if task is not None:
                self._reach(drag, task, T)
            elif drag.can_follow:
                self._follow(drag, T)
        studio.tell("place")

    def let_go(self) -> None:
        """What is dragged is let go: it is an edit now, and the motion is proven."""
        studio = self._studio
        with studio.lock:
            drag, T = self.current, self.to
            if drag is None or T is None:
                return
            self.current = self.to = self.preview = None
            document, what = drag.let_go(T), f"move {drag.name}"
            if not drag.can_follow:
                studio.trying(lambda: studio.edit(what, document))
                return
            studio.session.do(what, document)
            self._settle(drag, T)

    def _reach(self, drag: Drag, task: int, T: Array) -> None:
        """Show how somebody would reach for a target that is dragged."""
        studio = self._studio
        ((_, told),) = drag.document.values["tasks"][task].items()
        t = float(told["at"]) if told.get("at") is not None else studio.player.time

        def done(preview: Preview) -> None:
            if self.current is drag:
                self.preview = preview
                studio.say(preview.why, "bad" if preview.why else "plain")
                studio.tell("place")

        job = Job("reaching", lambda job: reach_preview(studio.world, told, T[:3, 3], t), done, studio.failed)
        studio.worker.submit_live(job)

    def _follow(self, drag: Drag, T: Array) -> None:
        """The motion follows a thing; not proven."""
        studio = self._studio

        def done(plan: Plan) -> None:
            with studio.lock:
                if self.current is drag:
                    self.followed = T
                    studio.set_plan(plan, live=True)

        def work(job: Job) -> Plan:
            def anew() -> None:  # what was shown last stays until then
                job.what, job.lengthy = "looking for a way round", True
                studio.tell("job")

            return drag.follow(T, anew=anew)

        studio.worker.submit_live(Job("following", work, done, studio.failed))

    def _settle(self, drag: Drag, T: Array) -> None:
        """Prove the motion for where a thing was let go; how near things come is measured after that."""
        studio = self._studio
        board = drag.moved_board(studio.document)
        studio.show(board, keep=True)

        def work(job: Job) -> Plan:
            plan = drag.prove(drag.follow(T, sure=True), T)
            if plan.found:
                return plan
            again = drag.anew(T)
            return drag.prove(again, T) if again.found else again

        def measure(job: Job) -> Plan:
            plan = studio.plan
            assert plan is not None
            before = certify(board.world, clearance=False).collisions
            return drag.prove(plan, T, clearance=True).with_(collisions=before)

        def done(plan: Plan) -> None:
            with studio.lock:
                if studio.board is board:
                    studio.set_plan(plan)
                    if plan.certificate is not None and plan.certificate.clearance_m is None and plan.found:
                        studio.worker.submit(Job("measuring", measure, done, studio.failed))

        studio.worker.submit(Job("certifying", work, done, studio.failed))
