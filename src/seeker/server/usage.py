"""What people did, for whoever keeps the service: a report as a page with figures, and as JSON."""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from statistics import median
from typing import Any

from seeker.catalog import Catalog
from seeker.errors import BadInput, SeekerError
from seeker.files import atomic_write
from seeker.html_report import Album, html_page, html_section
from seeker.session import Click, Event, Found, Say, Start
from seeker.session.events import fold, parse_event
from seeker.session.state import REASONS

IDLE_SECONDS = 1800.0
"""Who has not clicked for so long has given up, unless the search has ended well."""

_CLICK_BINS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_MAX_LISTED = 20
_COLOURS = {"found": "#2a6f97", "success": "#7fb3cf", "given up": "#d9a3a9", "under way": "#e3e7ee"}

_NOTES = {
    "days": "Searches by the day on which they began (UTC). Found: somebody has said so. Success: "
    "the site has told that something was opened, put into the basket or bought.",
    "clicks": "How many likes and dislikes there were before the end.",
    "words": "Words that no item has, whatever their spelling: what people call things here, or "
    "what they miss.",
    "found": "What was found or bought most often, and what the site has told of.",
    "vain": "On screen at somebody's click, again and again, and never liked, found or a success.",
}


@dataclass
class Usage:
    """Counts over sessions; now: when it is looked, in seconds since 1970.

    Items are counted by catalog and id.
    """

    now: float
    searches: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    clicks_found: list[int] = field(default_factory=list)
    seconds_found: list[float] = field(default_factory=list)
    clicks_given_up: list[int] = field(default_factory=list)
    last_done: Counter[str] = field(default_factory=Counter)
    with_words: int = 0
    unknown_words: Counter[str] = field(default_factory=Counter)
    targets: Counter[tuple[str, str]] = field(default_factory=Counter)
    successes: dict[str, Counter[tuple[str, str]]] = field(
        default_factory=lambda: {reason: Counter() for reason in REASONS}
    )
    on_screen: Counter[tuple[str, str]] = field(default_factory=Counter)
    liked: set[tuple[str, str]] = field(default_factory=set)
    days: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    unread: int = 0

    def read(self, line: Mapping[str, Any]) -> None:
        """Take in a session, as an export has it."""
        try:
            events = [parse_event(one) for one in line["events"]]
            state = fold(events)
        except SeekerError:
            self.unread += 1
            return
        times, catalog = line["times"], line["catalog"]
        self.searches += 1
        end = self._end(state.found, state.success, line["active"])
        self.ends[end] += 1
        day = datetime.fromtimestamp(line["began"], UTC).strftime("%Y-%m-%d")
        self.days[day][end] += 1
        clicks = 0
        for event, at in zip(events, times, strict=True):
            if isinstance(event, Click):
                clicks += event.verdict != "clear"
                self.on_screen.update((catalog, item) for item in {*event.on_screen, event.item})
                if event.verdict == "like":
                    self.liked.add((catalog, event.item))
            elif isinstance(event, Found) and event.reason is None and event.item == state.found:
                ended = at
            elif isinstance(event, Found) and event.reason is not None:
                self.reasons[event.reason] += 1
                self.successes[event.reason][catalog, event.item] += 1
        if end == "found":
            self.clicks_found.append(clicks)
            self.seconds_found.append(ended - line["began"])
        elif end == "given up":
            self.clicks_given_up.append(clicks)
            self.last_done[events[-1].type] += 1
        if state.target is not None:
            self.targets[catalog, state.target] += 1
        said = [one for event in events if (one := _words(event)) is not None]
        self.with_words += bool(said)
        self.unknown_words.update(
            {
                word.text.lower()
                for one in said
                if one.search
                for word in one.search.words
                if word.match in ("none", "meaning")
            }
        )

    def _end(self, found: str | None, success: object, active: float) -> str:
        if found is not None:
            return "found"
        if success is not None:
            return "success"
        return "given up" if self.now - active > IDLE_SECONDS else "under way"

    def to_json(self, catalogs: Mapping[str, Catalog]) -> dict[str, Any]:
        """Return the report; catalogs: by name, those whose items are told of by their titles."""
        return {
            "at": datetime.fromtimestamp(self.now, UTC).isoformat(timespec="seconds"),
            "searches": self.searches,
            "unread": self.unread,
            "ends": {end: self.ends[end] for end in _COLOURS},
            "successes": {reason: self.reasons[reason] for reason in REASONS},
            "found": {
                "median_clicks": median(self.clicks_found) if self.clicks_found else None,
                "median_seconds": median(self.seconds_found) if self.seconds_found else None,
                "by_clicks": _by_bins(self.clicks_found),
            },
            "given_up": {
                "median_clicks": median(self.clicks_given_up) if self.clicks_given_up else None,
                "by_clicks": _by_bins(self.clicks_given_up),
                "after": dict(self.last_done.most_common()),
            },
            "words": {
                "searches": self.with_words,
                "unknown": [[word, count] for word, count in _top(self.unknown_words, 100)],
            },
            "items": {
                "found": _listed(self.targets, catalogs),
                **{reason: _listed(self.successes[reason], catalogs) for reason in REASONS},
                "shown_in_vain": _listed(self._in_vain(), catalogs),
            },
            "catalogs": {name: self._reach(name, one) for name, one in catalogs.items()},
            "days": [
                {"day": day, **{end: self.days[day][end] for end in _COLOURS}}
                for day in _days(self.days)
            ],
        }

    def _in_vain(self) -> Counter[tuple[str, str]]:
        wanted = (
            self.liked | {*self.targets} | {item for one in self.successes.values() for item in one}
        )
        return Counter(
            {item: n for item, n in self.on_screen.items() if item not in wanted and n > 1}
        )

    def _reach(self, name: str, catalog: Catalog) -> dict[str, int]:
        """Return of how many items of a catalog nobody has seen or found any."""
        seen, found = (
            sum(item[0] == name and item[1] in catalog for item in items)
            for items in (self.on_screen, self.targets)
        )
        return {
            "items": len(catalog),
            "never_on_screen": len(catalog) - seen,
            "never_found": len(catalog) - found,
        }


def _days(days: Iterable[str]) -> list[str]:
    """Return all days from the first to the last."""
    numbers = [date.fromisoformat(day).toordinal() for day in days]
    if not numbers:
        return []
    return [date.fromordinal(n).isoformat() for n in range(min(numbers), max(numbers) + 1)]


def _words(event: Event) -> Say | None:
    if isinstance(event, Start):
        return event.query
    return event if isinstance(event, Say) and event.text else None


def _by_bins(numbers: Iterable[int]) -> dict[str, int]:
    """Return how many there are of each number of clicks; larger ones together."""
    counts: Counter[int] = Counter(max(bin for bin in _CLICK_BINS if bin <= one) for one in numbers)
    return {_bin_name(place): counts[bin] for place, bin in enumerate(_CLICK_BINS)}


def _bin_name(place: int) -> str:
    low = _CLICK_BINS[place]
    if place == len(_CLICK_BINS) - 1:
        return f"{low}+"
    high = _CLICK_BINS[place + 1] - 1
    return str(low) if low == high else f"{low}–{high}"


def _top(counts: Counter[Any], most: int) -> list[tuple[Any, int]]:
    """Return the most frequent, and of those that are as frequent the first by name."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:most]


def _listed(
    counts: Counter[tuple[str, str]], catalogs: Mapping[str, Catalog]
) -> list[dict[str, Any]]:
    return [
        {"catalog": name, "item": item, "title": _title(name, item, catalogs), "count": count}
        for (name, item), count in _top(counts, _MAX_LISTED)
    ]


def _title(name: str, item: str, catalogs: Mapping[str, Catalog]) -> str:
    catalog = catalogs.get(name)
    return catalog.item(item).title if catalog is not None and item in catalog else ""


def write_usage(out: Path, report: Mapping[str, Any], catalogs: Mapping[str, Catalog]) -> None:
    """Write a report: .json as it is, .html as a page with figures."""
    if out.suffix not in (".html", ".json"):
        raise BadInput(f"'{out.name}' ends in neither .html nor .json.", "Name it so that it does.")
    text = _page(report, catalogs) if out.suffix == ".html" else json.dumps(report, indent=1)
    with atomic_write(out) as file:
        file.write(text.encode())


def _page(report: Mapping[str, Any], catalogs: Mapping[str, Catalog]) -> str:
    ends, items, total = report["ends"], report["items"], max(1, report["searches"])
    words = [(f"“{word}”", count) for word, count in report["words"]["unknown"][:_MAX_LISTED]]
    reach = [
        f"<li>{html.escape(name)}, {one['items']:,} items; never on screen at a click: "
        f"{one['never_on_screen']:,}; never found: {one['never_found']:,}</li>"
        for name, one in report["catalogs"].items()
    ]
    parts = [
        f"<h1>Searches</h1><ul class='facts'><li>{report['at']}</li>"
        f"<li>{report['searches']:,} searches</li>"
        + "".join(f"<li>{end}: {n:,} ({n / total:.0%})</li>" for end, n in ends.items())
        + "</ul>",
        html_section("By day", _days_figure(report["days"]), _NOTES["days"]),
        "<div class='pairs'>",
        html_section(
            _median("Clicks until found", report["found"]["median_clicks"]),
            _bars_figure(report["found"]["by_clicks"], _COLOURS["found"], "clicks until found"),
            _NOTES["clicks"],
        ),
        html_section(
            _median("Clicks until given up", report["given_up"]["median_clicks"]),
            _bars_figure(
                report["given_up"]["by_clicks"], _COLOURS["given up"], "clicks until given up"
            ),
            _last_done(report["given_up"]["after"]),
        ),
        "</div>",
        html_section("Words without a match", _table(("word", "searches"), words), _NOTES["words"]),
        html_section("What was found", _items(items["found"], catalogs), _NOTES["found"]),
        *(
            html_section(f"Told by the site: {reason}", _items(items[reason], catalogs))
            for reason in REASONS
            if items[reason]
        ),
        html_section(
            "What nobody ever finds",
            f"<ul class='facts'>{''.join(reach)}</ul>" + _items(items["shown_in_vain"], catalogs),
            _NOTES["vain"],
        ),
    ]
    return html_page("Searches", parts)


def _median(title: str, value: float | None) -> str:
    return title if value is None else f"{title}: {value:g} in the middle"


def _last_done(after: Mapping[str, int]) -> str:
    if not after:
        return _NOTES["clicks"]
    told = ", ".join(f"{html.escape(kind)} ({count:,})" for kind, count in after.items())
    return f"The last thing they did: {told}."


def _items(listed: Sequence[Mapping[str, Any]], catalogs: Mapping[str, Catalog]) -> str:
    rows = [
        (one["title"] or one["item"], one["item"], one["catalog"], one["count"]) for one in listed
    ]
    tiles = ""
    for name, catalog in catalogs.items():
        ids = [one["item"] for one in listed if one["catalog"] == name and one["item"] in catalog]
        album = Album(ids, catalog.folder if catalog.manifest and catalog.manifest.media else None)
        tiles += "".join(album.tile(place, "") for place in range(len(ids)))
    pictures = f'<div class="strip"><div class="page">{tiles}</div></div>' if tiles else ""
    return pictures + _table(("item", "id", "catalog", "times"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return "<p>None.</p>"
    names = "".join(f"<th>{html.escape(one)}</th>" for one in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(one))}</td>" for one in row) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><tr>{names}</tr>{body}</table></div>'


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


_WIDE, _HIGH, _BOTTOM, _TOP = 640, 220, 26, 24
_WIDEST_DAY = 80


def _days_figure(days: Sequence[Mapping[str, Any]]) -> str:
    """Draw a stack for every day, and say what its colours are."""
    if not days:
        return "<p>None.</p>"
    most = max(sum(day[end] for end in _COLOURS) for day in days)
    width = min(_WIDE / len(days), _WIDEST_DAY)
    shapes = []
    for place, day in enumerate(days):
        top = float(_HIGH - _BOTTOM)
        for end, colour in _COLOURS.items():
            high = day[end] / most * (_HIGH - _BOTTOM - _TOP)
            top -= high
            if day[end]:
                shapes.append(
                    _bar(
                        place * width,
                        top,
                        width,
                        high,
                        colour,
                        f"{day['day']}, {end}: {day[end]:,}",
                    )
                )
    for place in {0, len(days) - 1}:
        anchor, x = ("start", 0.0) if place == 0 else ("end", len(days) * width)
        shapes.append(
            f'<text x="{x:.0f}" y="{_HIGH - 8}" text-anchor="{anchor}">{days[place]["day"]}</text>'
        )
    for place, (end, colour) in enumerate(_COLOURS.items()):
        x = place * 110
        shapes.append(f'<rect x="{x}" y="2" width="10" height="10" fill="{colour}"/>')
        shapes.append(f'<text x="{x + 15}" y="11">{end}</text>')
    return _svg(shapes, f"searches by day, at most {most:,}")


def _bars_figure(counts: Mapping[str, int], colour: str, label: str) -> str:
    if not any(counts.values()):
        return "<p>None.</p>"
    most, width = max(counts.values()), _WIDE / len(counts)
    shapes = []
    for place, (name, count) in enumerate(counts.items()):
        high = count / most * (_HIGH - _BOTTOM - _TOP)
        top, middle = _HIGH - _BOTTOM - high, (place + 0.5) * width
        shapes.append(_bar(place * width, top, width, high, colour, f"{name}: {count:,}"))
        shapes.append(f'<text x="{middle:.1f}" y="{_HIGH - 8}" text-anchor="middle">{name}</text>')
        if count:
            shapes.append(
                f'<text x="{middle:.1f}" y="{top - 5:.1f}" text-anchor="middle">{count:,}</text>'
            )
    return _svg(shapes, label)


def _bar(x: float, y: float, width: float, high: float, colour: str, title: str) -> str:
    return (
        f'<rect x="{x + 1:.1f}" y="{y:.1f}" width="{max(1.0, width - 2):.1f}" height="{high:.1f}" '
        f'fill="{colour}"><title>{html.escape(title)}</title></rect>'
    )


def _svg(shapes: Sequence[str], label: str) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDE} {_HIGH}" width="{_WIDE}" role="img" aria-label="{label}" '
        f'font-size="12" fill="#4a5364">{"".join(shapes)}</svg>'
    )
