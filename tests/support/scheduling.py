"""Which process runs which tests, also after one of the processes has died."""

from __future__ import annotations

from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController


class GroupScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Tests of a group in one process; after the death of one, the others end the run.

    With pytest-xdist 3.8 alone the run stands still: groups that are finished are dealt out once
    more, a process that is given one test waits for the next before it runs it, and the test that a
    process died of goes to the next process.
    """

    def remove_node(self, node: WorkerController) -> str | None:
        """Take back the tests of a process that has ended; return the one that it died of."""
        groups: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
        left = [(name, test) for name in groups for test, done in groups[name].items() if not done]
        if not left:
            return None
        name, died_of = left[0]
        groups[name][died_of] = True
        self.workqueue.update(
            {name: groups[name] for name in groups if not all(groups[name].values())}
        )
        for other in self.assigned_work:
            self._reschedule(other)
        return died_of

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process that knows all tests enough to do, or tell it that this was all."""
        waiting = None
        while node in self.registered_collections and waiting != len(self.workqueue):
            waiting = len(self.workqueue)
            super()._reschedule(node)
