"""`seeker info`, `search`, `remove`, `verify` and `tidy`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from seeker.cli.conditions import filter_of
from seeker.cli.words import counted, printable, sized

if TYPE_CHECKING:
    from seeker import Item


@click.command(short_help="Describe a catalog.")
@click.argument("catalog")
@click.option("--json", "as_json", is_flag=True, help="What catalog.json says, for programs.")
def info(catalog: str, as_json: bool) -> None:
    """Describe CATALOG: its items, views, attributes and where they came from."""
    from seeker import Catalog
    from seeker.cli.describe import described

    opened = Catalog.open(catalog)
    if as_json and opened.head is not None:
        click.echo(json.dumps(opened.head.to_json(), indent=2, ensure_ascii=False))
        return
    for line in described(opened):
        click.echo(line)


@click.command(short_help="Find items by keywords, or list those that pass a filter.")
@click.argument("catalog")
@click.argument("words", nargs=-1)
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1), help="How many.")
@click.option("--where", multiple=True, metavar="CONDITION", help="Such as label=Dress, price<50.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def search(
    catalog: str, words: tuple[str, ...], limit: int, where: tuple[str, ...], as_json: bool
) -> None:
    """Find the items of CATALOG that match WORDS, best first.

    Without words, the items that pass the conditions are listed in their order.
    """
    from seeker import Catalog
    from seeker.catalog.values import short

    opened = Catalog.open(catalog)
    wanted = filter_of(where, opened.attributes)
    found: list[tuple[Item, float | None]]
    if words:
        hits = opened.search(" ".join(words), limit, wanted)
        found = [(hit.item, hit.score) for hit in hits]
    else:
        rows = opened.matching(wanted or {}).nonzero()[0][:limit]
        found = [(item, None) for item in opened.items(rows.tolist())]
    for item, score in found:
        if as_json:
            told = {"id": item.id, "title": item.title, "score": score}
            click.echo(
                json.dumps({**told, "attributes": dict(item.attributes)}, ensure_ascii=False)
            )
            continue
        parts = [] if score is None else [f"{score:8.2f}"]
        parts += [printable(one) for one in dict.fromkeys((item.id, item.title))]
        click.echo("  ".join(parts))
    if not found:
        what = f"matches {short(' '.join(words))}" if words else "passes the conditions"
        click.echo(f"Nothing {what}.", err=True)


@click.command(short_help="Remove items from a catalog.")
@click.argument("catalog")
@click.option("--ids", metavar="ID,…", help="Items to remove.")
@click.option("--ids-file", metavar="FILE", help="File with the ids of items, one per line.")
@click.option("--where", multiple=True, metavar="CONDITION", help="Such as label=Dress, price<50.")
def remove(catalog: str, ids: str | None, ids_file: str | None, where: tuple[str, ...]) -> None:
    """Remove items from CATALOG, as a new version of it.

    Whoever has the catalog open keeps the old version.
    """
    from seeker import Catalog
    from seeker.catalog.building import update

    opened = Catalog.open(catalog)
    gone: list[str] = []
    if ids is not None:
        # An id may hold a comma itself.
        gone += [ids] if ids in opened else [one for one in ids.split(",") if one]
    if ids_file is not None:
        gone += Path(ids_file).read_text(encoding="utf-8").splitlines()
    changed = update.remove(
        catalog,
        ids=gone if gone else None,
        where=filter_of(where, opened.attributes),
    )
    removed = counted(len(opened) - len(changed), "item")
    click.echo(f"Removed {removed}; {len(changed):,} left, version {changed.version}.")


@click.command(short_help="Check that a catalog is whole.")
@click.argument("catalog")
def verify(catalog: str) -> int:
    """Read all of CATALOG and compare it with its checksums."""
    from seeker.catalog.verify import problems

    found = problems(catalog)
    for problem in found:
        click.echo(problem, err=True)
    click.echo(f"'{catalog}' is {'damaged' if found else 'whole'}.", err=bool(found))
    return 1 if found else 0


@click.command(short_help="Remove what old versions left in a catalog.")
@click.argument("catalog")
@click.option(
    "--forget-removed",
    metavar="DAYS",
    type=click.IntRange(0),
    help="Also forget ids and vectors of items removed so many days ago; 0 for all.",
)
def tidy(catalog: str, forget_removed: int | None) -> None:
    """Remove files of CATALOG that its present version does not need.

    Programs that have an old version open must open the catalog again. Of items that were removed,
    ids and vectors are kept for searches in which they were judged; who forgets them ends these
    searches.
    """
    from seeker.catalog.building import update
    from seeker.catalog.building.publish import tidied

    if forget_removed is not None:
        gone = update.forget_removed(catalog, forget_removed)
        click.echo(f"Forgot {counted(gone, 'removed item')}.")
    freed = tidied(Path(catalog))
    click.echo(f"Freed {sized(freed)}.")
