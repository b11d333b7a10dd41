"""The same pages and beliefs, to the bit, whatever the processor has for vector units."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numba
import pytest

from seeker import kernels
from support import processors
from support.processors import GENERIC, HASWELL, Processor

TRIED = (GENERIC, HASWELL)
"""Of the oldest kind, and of the kind that most machines are; `make processors` tries more."""

pytestmark = pytest.mark.xdist_group("processors")


@pytest.fixture(scope="module")
def cache(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where compiled kernels are kept for as long as the kernels are the same: it takes a while."""
    kept: pytest.Cache | None = getattr(request.config, "cache", None)
    if kept is None:
        return tmp_path_factory.mktemp("processors")
    made_of = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(kernels.__file__).parent.glob("*.py")):
        made_of.update(source.read_bytes())
    place = kept.mkdir(f"processors-{made_of.hexdigest()[:16]}")
    for old in place.parent.glob("processors-*"):
        if old != place:
            shutil.rmtree(old, ignore_errors=True)
    return place


@pytest.fixture(scope="module")
def elsewhere(cache: Path) -> dict[str, dict[str, str]]:
    return processors.elsewhere([one for one in TRIED if not one.lacking()], cache)


@pytest.fixture(scope="module")
def here() -> dict[str, str]:
    return processors.digests()


@pytest.mark.parametrize("processor", TRIED, ids=lambda one: one.name)
def test_pages_and_beliefs_are_the_same_on_every_processor(
    processor: Processor, elsewhere: dict[str, dict[str, str]], here: dict[str, str]
) -> None:
    if processor.lacking():
        pytest.skip(f"this processor lacks {', '.join(processor.lacking())}")
    assert elsewhere[processor.name] == here
