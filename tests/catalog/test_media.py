"""Pictures are kept in the sizes that screens need, through all that happens to a catalog."""

from __future__ import annotations

import io
import json
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

import seeker
from seeker import BadInput, Catalog, Conflict
from seeker.catalog.build.item_changes import ItemChange
from seeker.catalog.build.publish import tidy_catalog
from seeker.catalog.build.update import apply_changes
from seeker.catalog.manifest_reader import read_manifest
from seeker.catalog.media import media_files, media_sizes
from seeker.catalog.verify import find_problems
from seeker.cli import main
from support.builds import MeanColour, picture
from support.servers import serving

LARGE, MIDDLE, SMALL = (900, 600), (300, 400), (200, 100)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Pictures of three sizes: larger than all that are kept, between two, and smaller."""
    for number, size in enumerate((LARGE, MIDDLE, SMALL)):
        picture(tmp_path / "photos" / f"{number}.png", (90 * number, 10, 10), size)
    return tmp_path / "photos"


def build(photos: Path, out: Path, **options: object) -> Catalog:
    return seeker.build(
        photos,
        out,
        views=["mean"],
        embedders={"mean": MeanColour()},
        **options,  # type: ignore[arg-type]
    )


def drawn(catalog: Catalog, id: str) -> dict[int, tuple[int, int]]:
    """Return how large the files of an item's picture are, by what is said of them."""
    media, folder = catalog.item(id).media, catalog.folder
    assert media is not None
    assert folder is not None
    sizes = media_sizes(media) or {0: media}
    return {size: _dimensions((folder / file).read_bytes()) for size, file in sizes.items()}


def _dimensions(content: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(content)) as opened:
        return opened.size


def files(folder: Path) -> set[str]:
    """Return the pictures that a catalog has."""
    return {one.relative_to(folder).as_posix() for one in (folder / "media").rglob("*.webp")}


def named(catalog: Catalog) -> set[str]:
    """Return the pictures that a catalog's items name."""
    items = catalog.items(range(len(catalog)))
    return {file for item in items if item.media for file in media_files(item.media)}


def test_a_picture_is_kept_in_every_size_and_never_made_larger(
    photos: Path, tmp_path: Path
) -> None:
    catalog = build(photos, tmp_path / "catalog")
    assert drawn(catalog, "0.png") == {320: (320, 213), 512: (512, 341)}
    assert drawn(catalog, "1.png") == {320: (240, 320), 400: (300, 400)}
    assert drawn(catalog, "2.png") == {0: (200, 100)}
    assert files(tmp_path / "catalog") == named(catalog)
    assert len(named(catalog)) == 5
    assert find_problems(tmp_path / "catalog") == []


def test_sizes_are_a_setting_of_the_build_and_change_no_vector(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = build(photos, tmp_path / "usual")
    large = build(photos, tmp_path / "large", picture_sizes=[1024, 128, 640])
    assert drawn(large, "0.png") == {128: (128, 85), 640: (640, 427), 900: (900, 600)}
    assert read_manifest(tmp_path / "large").picture_sizes == (128, 640, 1024)
    rows = np.arange(3)
    assert np.array_equal(large.views["mean"].rows(rows), usual.views["mean"].rows(rows))
    command = ["build", str(photos), "--out", str(tmp_path / "typed"), "--views", "colour"]
    assert main([*command, "--quiet", "--picture-sizes", "64, 96"]) == 0
    assert drawn(Catalog.open(tmp_path / "typed"), "2.png") == {64: (64, 32), 96: (96, 48)}
    assert main([*command, "--replace", "--picture-sizes", "wide"]) == 2
    assert "'wide' is not like 320,640" in capsys.readouterr().err


@pytest.mark.parametrize(
    "sizes", [[], [31], [2049], [320.5], ["320"], [True], [40, 50, 60, 70, 80]]
)
def test_sizes_that_are_none_are_refused(photos: Path, tmp_path: Path, sizes: list[object]) -> None:
    with pytest.raises(BadInput, match="ictures"):
        build(photos, tmp_path / "catalog", picture_sizes=sizes)
    assert not (tmp_path / "catalog").exists()


def test_a_build_anew_keeps_the_sizes_unless_others_are_asked_for(
    photos: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "catalog"
    build(photos, folder, picture_sizes=[64])
    again = build(photos, folder, replace=True)
    assert drawn(again, "0.png") == {0: (64, 43)}
    other = build(photos, folder, replace=True, picture_sizes=[64, 640])
    assert drawn(other, "0.png") == {64: (64, 43), 640: (640, 427)}
    assert find_problems(folder) == []
    tidy_catalog(folder)
    assert files(folder) == named(other)


def test_changes_make_them_too_and_what_is_gone_is_tidied(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    build(photos, folder, picture_sizes=[100, 200])
    picture(photos / "3.png", (5, 5, 250), (300, 300))
    updated = seeker.update(folder, photos, embedders={"mean": MeanColour()}, trust=True).catalog
    assert drawn(updated, "3.png") == {100: (100, 100), 200: (200, 200)}
    seeker.remove(folder, ids=["0.png"])
    left = Catalog.open(folder)
    assert len(files(folder)) > len(named(left))
    tidy_catalog(folder)
    assert files(folder) == named(left)
    assert find_problems(folder) == []


def test_a_picture_over_http_and_where_its_sizes_are(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    seeker.build(photos, folder, views=["colour"], picture_sizes=[64, 128])
    sent = io.BytesIO()
    Image.new("RGB", (500, 250), (1, 2, 3)).save(sent, "PNG")
    apply_changes(folder, [ItemChange("new", "put", title="New", picture=sent.getvalue())])
    assert drawn(Catalog.open(folder), "new") == {64: (64, 32), 128: (128, 64)}
    with serving(folder, tmp_path / "log", "--store", "memory:") as http:
        items = http.post("/v1/sessions", json={}).json()["page"]["items"]
        assert len(items) == 4
        for item in items:
            sizes = {int(size): _served(http, at) for size, at in item["pictures"].items()}
            assert {size: max(real) for size, real in sizes.items()} == {64: 64, 128: 128}
            assert item["media"] == item["pictures"]["64"]


def _served(http: httpx.Client, address: str) -> tuple[int, int]:
    answer = http.get(address)
    assert answer.headers["cache-control"].endswith("immutable")
    return _dimensions(answer.content)


def test_every_size_is_verified_and_backed_up(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "catalog"
    catalog = build(photos, folder)
    assert main(["backup", str(tmp_path / "copy"), f"shop={folder}", "--no-store"]) == 0
    assert files(tmp_path / "copy" / "catalogs" / "shop") == named(catalog)
    small, large = media_files(str(catalog.item("0.png").media))
    (folder / large).write_bytes((folder / small).read_bytes())
    assert find_problems(folder) == ["1 thumbnails are not what was written."]
    (folder / large).unlink()
    assert find_problems(folder) == ["1 thumbnails are missing."]
    # A build anew draws what is missing, and embeds nothing again.
    assert find_problems(Path(str(build(photos, folder, replace=True).folder))) == []


def test_a_catalog_of_before_goes_on_with_its_one_size(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "catalog"
    build(photos, folder, picture_sizes=[320])
    manifest = json.loads((folder / "catalog.json").read_text())
    del manifest["picture_sizes"]
    (folder / "catalog.json").write_text(json.dumps({**manifest, "schema": 4}))
    picture(photos / "3.png", (5, 5, 250), (600, 600))
    updated = seeker.update(folder, photos, embedders={"mean": MeanColour()}, trust=True).catalog
    assert drawn(updated, "3.png") == {0: (320, 320)}
    assert drawn(build(photos, folder, replace=True), "3.png") == {320: (320, 320), 512: (512, 512)}
    with pytest.raises(Conflict):
        build(photos, folder)
