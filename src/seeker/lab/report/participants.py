"""What the participants of a study did, method by method."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seeker.lab.results import STUDY_SOURCE

if TYPE_CHECKING:
    import pyarrow as pa

NOTE = (
    "Found: the person said of the target that this is it, or liked it, while it was on the page. "
    "On a page: it was on a page at all. Overlooked: it was on a page, and the person went on "
    "without it. Mistaken: another item was taken for it, per search. The last two columns are "
    "medians: seconds that a page was looked at before something was done, and all of a search."
)

_COLUMNS = (
    "method",
    "people",
    "searches",
    "found",
    "on a page",
    "overlooked",
    "given up",
    "mistaken",
    "likes",
    "dislikes",
    "taken back",
    "s a page",
    "s a search",
)


def participants_section(table: pa.Table) -> str:
    """Return a table of what participants did."""
    import pyarrow.compute as pc

    study = table.filter(pc.equal(table["source"], STUDY_SOURCE))
    columns = [
        "method",
        "participant",
        "trial",
        "outcome",
        "found",
        "on_page",
        "overlooked",
        "mistaken",
        "act",
        "seconds",
    ]
    by_method: dict[str, dict[tuple[str, int], list[dict[str, Any]]]] = {}
    for row in study.select(columns).to_pylist():
        searches = by_method.setdefault(row["method"], {})
        searches.setdefault((row["participant"], row["trial"]), []).append(row)
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    lines = "".join(_line(method, by_method[method]) for method in sorted(by_method))
    return f'<div class="wide"><table><tr>{head}</tr>{lines}</table></div>'


def _line(method: str, searches: Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]) -> str:
    pages = [page for search in searches.values() for page in search]
    acts = [page["act"] for page in pages]
    looks = [page["seconds"] for page in pages if page["seconds"] is not None]
    durations = [
        sum(page["seconds"] or 0.0 for page in search if page["seconds"] is not None)
        for search in searches.values()
    ]

    def share(name: str) -> str:
        hits = sum(any(page[name] for page in search) for search in searches.values())
        return f"{hits} <small>{hits / len(searches):.0%}</small>"

    def each(*names: str) -> str:
        return f"{sum(act in names for act in acts) / len(searches):.1f}"

    cells = (
        html.escape(method),
        str(len({participant for participant, _ in searches})),
        str(len(searches)),
        share("found"),
        share("on_page"),
        share("overlooked"),
        str(sum(search[0]["outcome"] == "gave up" for search in searches.values())),
        f"{sum(page['mistaken'] for page in pages) / len(searches):.2f}",
        each("like"),
        each("dislike"),
        each("clear", "undo", "redo"),
        f"{np.median(looks):.1f}" if looks else "–",
        f"{np.median(durations):.0f}" if looks else "–",
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
