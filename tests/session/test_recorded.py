"""Sessions that were recorded once go on for ever: the same pages and beliefs, to the bit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seeker import Session
from seeker.models.words import DEFAULT_WORDS
from seeker.session.events import parse_event
from session.recording import RECORDED, catalog, looks_of

RECORDS = json.loads(RECORDED.read_text())


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: f"{one['name']} {one['metric']}")
def test_a_recorded_session_shows_what_it_showed(record: dict[str, Any]) -> None:
    session = Session.replay(catalog(record["metric"]), record["events"])
    assert looks_of(session) == record["looks"]


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: f"{one['name']} {one['metric']}")
def test_events_are_written_as_they_were(record: dict[str, Any]) -> None:
    """But for what version 3 of their form calls otherwise, and what version 4 adds to models."""
    renamed = {"exploration": "explore"}
    for event in record["events"]:
        written = parse_event(event).to_json()
        if event["type"] == "start":
            assert written["model"].pop("words") == [*DEFAULT_WORDS]
        assert written == {
            **event,
            "schema": 4,
            "type": renamed.get(event["type"], event["type"]),
        }
