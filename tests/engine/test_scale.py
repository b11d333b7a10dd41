"""Long work in the background: it neither outlives the service nor keeps half a truth."""

from __future__ import annotations

import threading

from seeker.engine.workers import BackgroundWorker
from support.servers import TIMEOUT_SECONDS


def test_a_long_task_does_not_keep_a_service_from_ending() -> None:
    background, begun = BackgroundWorker(lambda: True), threading.Event()

    def long() -> None:
        begun.set()
        while not background.should_stop():
            pass

    background.submit("a look at ten million items", long)
    assert begun.wait(TIMEOUT_SECONDS)
    background.close()
    assert background.failed == 0
