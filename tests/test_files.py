"""Files that others see whole or not at all."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from seeker.files import atomic_write


def test_a_file_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [*tmp_path.iterdir()] == [path]


def write_half(path: Path, error: type[BaseException]) -> None:
    with atomic_write(path, sync=False) as file:
        file.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_fails_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with pytest.raises(error):
        write_half(path, error)
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_no_link_is_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    path = tmp_path / "a.json"
    path.symlink_to(other)
    aside = f"a.json.{os.getpid()}-{threading.get_ident()}.new"
    (tmp_path / aside).symlink_to(other)
    with atomic_write(path) as file:
        file.write(b"new")
    assert other.read_bytes() == b"mine"
    assert not path.is_symlink()
    assert path.read_bytes() == b"new"
