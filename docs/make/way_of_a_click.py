"""Draws the way of a click, from the table below; a test sees that all its files are there.

python docs/make/way_of_a_click.py               # writes docs/architecture.svg
"""

from __future__ import annotations

from html import escape
from pathlib import Path

OUT = Path(__file__).parent.parent / "architecture.svg"

STATIONS: list[tuple[str, str, str, str]] = [
    ("browser", "a person likes one of twelve", "web/seeker.js", "#fdebd0"),
    ("edge", "limits, request id, headers, no error without words", "server/edge.py", "#d6eaf8"),
    ("route", "checks what is asked, waits for a free thread", "server/acts.py", "#d6eaf8"),
    ("engine", "one turn at a time; a retry is answered as before", "engine/acting.py", "#d5f5e3"),
    ("session", "the event is appended: state is a fold", "session/state.py", "#e8daef"),
    ("store", "the event is kept before anything is answered", "stores/base.py", "#d5f5e3"),
    ("model", "the click becomes a term: a log-probability", "models/choice.py", "#e8daef"),
    ("bounds", "yesterday's scores + today's noise; no vectors", "display/shortlist.py", "#e8daef"),
    ("scores", "the promising few hundred, exactly", "models/scores.py", "#e8daef"),
    ("order", "the best twelve of them: provably the page", "display/order.py", "#e8daef"),
    ("answer", "page and belief as JSON", "server/answers.py", "#d6eaf8"),
    (
        "think time",
        "bounds of all items, the next page's candidates, the belief",
        "engine/background.py",
        "#f2f3f4",
    ),
]
"""What happens, in order: where, what, in which file, and the colour of its layer."""

WIDTH, HEIGHT, GAP = 760, 38, 12


def drawn() -> str:
    """Return the picture as SVG."""
    tall = len(STATIONS) * (HEIGHT + GAP) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" role="img" '
        'font-family="sans-serif" font-size="14">',
        "<title>The way of a click, from the browser to the page and back</title>",
        f'<rect width="{WIDTH}" height="{tall}" fill="white"/>',
    ]
    for place, (where, what, file, colour) in enumerate(STATIONS):
        top = 10 + place * (HEIGHT + GAP)
        middle = top + HEIGHT / 2 + 5
        dashed = ' stroke-dasharray="5 4"' if where == "think time" else ""
        parts += [
            f'<rect x="10" y="{top}" width="{WIDTH - 20}" height="{HEIGHT}" rx="6" '
            f'fill="{colour}" stroke="#566573"{dashed}/>',
            f'<text x="24" y="{middle}" font-weight="bold">{escape(where)}</text>',
            f'<text x="130" y="{middle}">{escape(what)}</text>',
            f'<text x="{WIDTH - 24}" y="{middle}" text-anchor="end" font-family="monospace" '
            f'font-size="13">{escape(file)}</text>',
        ]
        if place:
            parts.append(
                f'<path d="M70 {top - GAP} v{GAP - 3} m-4 -4 l4 5 l4 -5" fill="none" '
                f'stroke="#566573"{dashed}/>'
            )
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    OUT.write_text(drawn(), encoding="utf-8")
