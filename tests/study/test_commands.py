"""The command `seeker study`: what it refuses, and what an organiser may bring."""

from __future__ import annotations

from pathlib import Path

import pytest

from seeker.cli import main
from seeker.study.cli import consent_text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nowhere",), "no catalog"),
        (("{folder}", "--models", "psychic"), "psychic"),
        (("--models", "psychic", "{folder}"), "psychic"),
        (("{folder}", "--consent", "nothing.txt"), "cannot be read"),
        (("{folder}", "--store", "memory:"), "memory"),
        (("{folder}", "--page-size", "1"), "page size"),
        (("export", "-o", "x.csv", "--store", "nothing.sqlite"), "no store"),
        (("progress", "--store", "nothing.sqlite"), "no store"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    words: tuple[str, ...],
    sentence: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code = main(["study", *(word.format(folder=folder) for word in words)])
    assert code not in (0, None)
    assert sentence in capsys.readouterr().err


def test_an_organiser_can_bring_a_text_of_their_own(tmp_path: Path) -> None:
    assert "Withdraw and delete" in consent_text(None)
    own = tmp_path / "text.txt"
    own.write_text(" You agree. \n", encoding="utf-8")
    assert consent_text(str(own)) == "You agree."
    for wrong in (b"", b"\xff\xfe", b"x" * 20_001):
        own.write_bytes(wrong)
        with pytest.raises(ValueError, match="consent text"):
            consent_text(str(own))
