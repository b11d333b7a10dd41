"""Links in a catalog's folder: nothing is written or deleted behind them."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

import seeker
from seeker import Catalog, SeekerError
from seeker.catalog import nofollow
from seeker.catalog.build.publish import tidy_catalog
from seeker.catalog.verify import find_problems
from seeker.cli import main
from support.builds import SHIRTS, MeanColour, jsonl, picture

EMBEDDERS = {"colour": MeanColour()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built")
    for name, colour in (("red", (255, 0, 0)), ("green", (0, 255, 0)), ("blue", (0, 0, 255))):
        picture(place / "pictures" / f"{name}.png", colour)
    seeker.build(place / "pictures", place / "shop", views=["colour"], embedders=EMBEDDERS)
    return place / "shop"


@pytest.fixture
def shop(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "shop"))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of somebody's that looks like parts of a catalog."""
    place = tmp_path / "outside"
    for name in ("letter.txt", "items.sqlite", "views/colour.npy", "ab/photo.webp", "new/mine.txt"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"mine: {name}")
    return place


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_media_on_another_disk_are_read_and_not_tidied(
    shop: Path, outside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "media").rename(outside / "media")
    (shop / "media").symlink_to(outside / "media")
    before = contents(outside)
    opened = Catalog.open(shop)
    file = opened.media_file(opened.items([0])[0])
    assert file is not None
    assert file.read_bytes()
    assert find_problems(shop) == []
    fewer = seeker.remove(shop, ids=["green.png"]).catalog
    assert (len(fewer), find_problems(shop)) == (2, [])
    assert main(["tidy", str(shop)]) == 4
    said = capsys.readouterr().err
    assert f"'{shop / 'media'}' is a link" in said
    assert contents(outside) == before
    assert not (shop / "items.sqlite").exists(), "the old version itself is tidied away"


def test_no_thumbnails_are_added_behind_a_link(shop: Path, outside: Path, tmp_path: Path) -> None:
    (shop / "media").rename(outside / "media")
    (shop / "media").symlink_to(outside / "media")
    before = contents(outside)
    picture(tmp_path / "more" / "grey.png", (99, 99, 99))
    with pytest.raises(SeekerError, match="media' is a link"):
        seeker.update(shop, tmp_path / "more", embedders=EMBEDDERS)
    with pytest.raises(SeekerError, match="media' is a link"):
        seeker.build(tmp_path / "more", shop, views=["colour"], embedders=EMBEDDERS, replace=True)
    assert contents(outside) == before
    assert Catalog.open(shop).version == 1
    assert not shop.with_name("shop.building").exists()


def _link(place: Path, to: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(to)


@pytest.mark.parametrize(
    "place", ["media", "media/ab", "versions", "versions/9", "versions/9/views", "catalog.json.new"]
)
def test_nothing_behind_a_link_is_touched(shop: Path, outside: Path, place: str) -> None:
    """Whatever is done to a catalog with a link in it, what lies behind the link stays as it is."""
    leads_to = outside / "letter.txt" if place.endswith(".new") else outside
    _link(shop / place, leads_to)
    before = contents(outside)

    def build() -> Catalog:
        source = jsonl(outside.parent / "rows.jsonl", SHIRTS)
        return seeker.build(source, shop, replace=True)

    steps: list[Callable[[], object]] = [
        lambda: seeker.remove(shop, ids=["green.png"]),
        lambda: tidy_catalog(shop),
        lambda: seeker.remove(shop, ids=["blue.png"]),
        lambda: tidy_catalog(shop),
        build,
        lambda: tidy_catalog(shop),
    ]
    done, said = 0, []
    for step in steps:
        try:
            step()
            done += 1
        except SeekerError as error:
            said.append(str(error))
        assert contents(outside) == before
    assert all("link" in sentence for sentence in said)
    assert done >= (0 if place == "versions" else 3)
    assert (outside / "new").is_dir()


def test_a_link_that_comes_between_look_and_deed_is_not_followed(
    shop: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder becomes a link just after it was looked at."""
    seeker.remove(shop, ids=["green.png"])
    before = contents(outside)
    look = nofollow.OpenFolder.look
    swapped: list[str] = []

    def slow_look(self: nofollow.OpenFolder, name: str) -> os.stat_result | None:
        found = look(self, name)
        if name == "media" and not swapped:
            shutil.rmtree(shop / "media")
            (shop / "media").symlink_to(outside)
            swapped.append(name)
        return found

    monkeypatch.setattr(nofollow.OpenFolder, "look", slow_look)
    with pytest.raises(SeekerError, match="is a link"):
        tidy_catalog(shop)
    assert swapped
    assert contents(outside) == before


@pytest.mark.parametrize(
    "file", ["catalog.json", "items.sqlite", "views/colour.npy", "views/colour.moments.npy"]
)
@pytest.mark.parametrize("how", ["file", "folder", "loop", "pipe"])
def test_files_of_a_catalog_lie_in_its_folder(
    shop: Path, tmp_path: Path, file: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A link that leads out, to itself or a pipe is refused; one that stays inside may be."""
    place = shop / file
    if how == "file":
        place.rename(tmp_path / "away")
        place.symlink_to(tmp_path / "away")
    elif how == "folder":
        place.unlink()
        place.mkdir()
    elif how == "loop":
        place.unlink()
        place.symlink_to(place)
    else:
        place.unlink()
        os.mkfifo(place)
    with pytest.raises(SeekerError, match="damaged"):
        Catalog.open(shop)
    assert main(["verify", str(shop)]) == 1
    assert "damaged" in capsys.readouterr().err


def test_links_that_stay_in_the_folder_are_followed(shop: Path) -> None:
    (shop / "views").rename(shop / "kept")
    (shop / "views").symlink_to("kept")
    assert find_problems(shop) == []


@pytest.mark.parametrize("name", ["", "lock", "new", "merged", "chunks", "how.json"])
def test_a_work_folder_from_elsewhere_leads_nowhere(
    shop: Path, outside: Path, tmp_path: Path, name: str
) -> None:
    """What lies beside a catalog under the name of its work folder may be a link, too."""
    work = shop.with_name("shop.building")
    leads_to = outside / "letter.txt" if name in ("lock", "how.json") else outside
    _link(work / name if name else work, leads_to)
    before = contents(outside)
    picture(tmp_path / "more" / "grey.png", (99, 99, 99))
    said = []
    for step in (
        lambda: seeker.remove(shop, ids=["green.png"]),
        lambda: seeker.update(shop, tmp_path / "more", embedders=EMBEDDERS),
        lambda: tidy_catalog(shop),
    ):
        try:
            step()
        except SeekerError as error:
            said.append(str(error))
        assert contents(outside) == before
    assert all("link" in sentence for sentence in said)
    assert (outside / "new").is_dir()


def test_a_catalog_that_is_reached_by_a_link_is_changed_where_it_is(
    shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    shop.rename(tmp_path / "disk" / "really")
    shop.symlink_to(tmp_path / "disk" / "really")
    assert len(seeker.remove(shop, ids=["green.png"]).catalog) == 2
    assert tidy_catalog(shop) > 0
    assert find_problems(shop) == []
    assert shop.is_symlink()
    assert sorted(one.name for one in (tmp_path / "disk").iterdir()) == ["really"]


def test_a_catalog_may_be_built_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "disk" / "empty").mkdir(parents=True)
    (tmp_path / "shop").symlink_to(tmp_path / "disk" / "empty")
    rows = jsonl(tmp_path / "rows.jsonl", SHIRTS)
    assert len(seeker.build(rows, tmp_path / "shop")) == 4
    assert (tmp_path / "shop").is_symlink()
    assert (tmp_path / "disk" / "empty" / "catalog.json").is_file()


def test_a_folder_is_there_although_others_have_just_removed_it(tmp_path: Path) -> None:
    """Updates that wait for each other share a folder that goes with the work of each."""
    shared, done = tmp_path / "shared", threading.Event()

    def remove() -> None:
        while not done.is_set():
            with suppress(OSError):
                shared.rmdir()

    with ThreadPoolExecutor(2) as threads:
        removing = [threads.submit(remove) for _ in range(2)]
        try:
            for _ in range(5000):
                nofollow.real_folder(shared)
        finally:
            done.set()
        assert [one.result() for one in removing] == [None, None]
