"""`seeker info`, `search`, `remove`, `verify`, `compact` and `tidy`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seeker.catalog.attributes import kind_of
from seeker.cli.formatting import format_bytes, format_count, printable
from seeker.errors import BadInput, NotFound

if TYPE_CHECKING:
    from seeker import Catalog, Item


_CONDITION = re.compile(r"(.+?)\s*(<=|>=|=|<|>)\s*(.*)", re.DOTALL)
_NAMES = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def parse_filter(
    conditions: Sequence[str], kinds: Mapping[str, str] | None
) -> dict[str, Any] | None:
    """Return a filter of what was typed; kinds: of the catalog's attributes, if it is there yet.

    The same name with = again means 'or'; bounds on the same name all hold.
    """
    filter: dict[str, Any] = {}
    for condition in conditions:
        if condition.lstrip().startswith("{"):
            filter.update(_json(condition))
            continue
        match = _CONDITION.fullmatch(condition.strip())
        if match is None:
            raise BadInput(
                f"{condition!r} is not a condition.", "Write label=Dress, price<50, or JSON."
            )
        name, sign, typed = match.groups()
        if kinds is not None and name not in kinds:
            raise NotFound(f"The catalog has no attribute {name!r}.", f"It has {sorted(kinds)}.")
        value = _value(
            name, typed, kind_of(typed, loose=True) or "" if kinds is None else kinds[name]
        )
        if sign == "=":
            values = filter.setdefault(name, [])
            if not isinstance(values, list):
                raise BadInput(f"{name!r} has both values and bounds.", "Use one of them.")
            values.append(value)
        else:
            bounds = filter.setdefault(name, {})
            if not isinstance(bounds, dict):
                raise BadInput(f"{name!r} has both values and bounds.", "Use one of them.")
            bounds[_NAMES[sign]] = value
    return filter or None


def check_values(catalog: Catalog, filter: Mapping[str, Any] | None) -> None:
    """Refuse values that no item has, which are misspelt more often than not."""
    from seeker.catalog.filters import unknown_value

    if (wrong := unknown_value(catalog, filter)) is not None:
        raise NotFound(*wrong)


def _json(condition: str) -> dict[str, Any]:
    try:
        return dict(json.loads(condition))
    except (ValueError, TypeError, RecursionError):
        raise BadInput(f"{condition!r} begins like JSON, but is not.") from None


def _value(name: str, typed: str, kind: str) -> str | float | bool | None:
    if typed == "":
        return None
    if kind == "number":
        try:
            return float(typed)
        except ValueError:
            raise BadInput(f"{name!r} holds numbers, and {typed!r} is none.") from None
    if kind == "boolean":
        if typed.lower() not in ("true", "false", "yes", "no", "1", "0"):
            raise BadInput(f"{name!r} is true or false, and {typed!r} is neither.")
        return typed.lower() in ("true", "yes", "1")
    return typed


@click.command(short_help="Describe a catalog.")
@click.argument("catalog")
@click.option("--json", "as_json", is_flag=True, help="What catalog.json says, for programs.")
def info(catalog: str, as_json: bool) -> None:
    """Describe CATALOG: its items, views, attributes and where they came from."""
    from seeker import Catalog
    from seeker.cli.formatting import describe_catalog

    opened = Catalog.open(catalog)
    if as_json and opened.manifest is not None:
        click.echo(json.dumps(opened.manifest.to_json(), indent=2, ensure_ascii=False))
        return
    for line in describe_catalog(opened):
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
    from seeker.catalog.attributes import shorten

    opened = Catalog.open(catalog)
    filter = parse_filter(where, opened.attributes)
    check_values(opened, filter)
    hits: list[tuple[Item, float | None]]
    if words:
        matches = opened.search(" ".join(words), limit, filter)
        hits = [(one.item, one.score) for one in matches]
    else:
        rows = opened.matching(filter or {}).nonzero()[0][:limit]
        hits = [(item, None) for item in opened.items(rows.tolist())]
    for item, score in hits:
        if as_json:
            hit = {"id": item.id, "title": item.title, "score": score}
            click.echo(json.dumps({**hit, "attributes": dict(item.attributes)}, ensure_ascii=False))
            continue
        parts = [] if score is None else [f"{score:8.2f}"]
        parts += [printable(one) for one in dict.fromkeys((item.id, item.title))]
        click.echo("  ".join(parts))
    if not hits:
        what = f"matches {shorten(' '.join(words))}" if words else "passes the conditions"
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
    import seeker

    opened = seeker.Catalog.open(catalog)
    gone: list[str] = []
    if ids is not None:
        # An id may hold a comma itself.
        gone += [ids] if ids in opened else [one for one in ids.split(",") if one]
    if ids_file is not None:
        gone += Path(ids_file).read_text(encoding="utf-8").splitlines()
    filter = parse_filter(where, opened.attributes)
    check_values(opened, filter)
    report = seeker.remove(catalog, ids=gone if gone else None, where=filter)
    removed, left = format_count(report.removed, "item"), len(report.catalog)
    click.echo(f"Removed {removed}; {left:,} left, version {report.catalog.version}.")


@click.command(short_help="Check that a catalog is whole.")
@click.argument("catalog")
def verify(catalog: str) -> int:
    """Read all of CATALOG and compare it with its checksums."""
    from seeker.catalog.verify import find_problems

    problems = find_problems(catalog)
    for problem in problems:
        click.echo(problem, err=True)
    click.echo(f"'{catalog}' is {'damaged' if problems else 'whole'}.", err=bool(problems))
    return 1 if problems else 0


@click.command(short_help="Write what updates have changed into one.")
@click.argument("catalog")
def compact(catalog: str) -> None:
    """Write CATALOG and what updates have changed in it into one, as a new version of it.

    Searches show the same as before. Updates do so by themselves once they have changed much.
    """
    from seeker import Catalog
    from seeker.catalog.build import versions

    before = Catalog.open(catalog).version
    after = versions.compact(catalog).version
    click.echo(f"Version {after}." if after > before else "There was nothing to do.")


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
    from seeker.catalog.build import versions
    from seeker.catalog.build.publish import tidy_catalog

    if forget_removed is not None:
        gone = versions.forget_removed(catalog, forget_removed)
        click.echo(f"Forgot {format_count(gone, 'removed item')}.")
    freed = tidy_catalog(Path(catalog))
    click.echo(f"Freed {format_bytes(freed)}.")
