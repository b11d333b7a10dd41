"""Whether a page can be used by everybody, as axe judges it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"


def violations(page: Page, only: str | None = None) -> list[str]:
    """Return what axe finds, one line for each place; only: by the rules of one kind."""
    if not AXE.exists():
        pytest.fail("axe-core is not there. Run: make check", pytrace=False)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    # What is still on its way to being seen is too pale to read.
    page.evaluate(
        """() => Promise.allSettled([...document.querySelectorAll("*")]
            .flatMap((one) => one.shadowRoot?.getAnimations() ?? [])
            .filter((one) => one.effect.getComputedTiming().endTime < Infinity)
            .map((one) => one.finished))"""
    )
    found: list[dict[str, Any]] = page.evaluate(
        """async (only) => (await axe.run(document, {
            resultTypes: ["violations"],
            ...(only ? { runOnly: [only] } : {}),
        })).violations""",
        only,
    )
    return [
        f"{one['impact']}: {one['id']}: {node['html'][:200]} ({node['failureSummary'][:200]})"
        for one in found
        for node in one["nodes"]
    ]
