"""Words: how much of a page has what was asked for, with a catalog of clothes and its table.

    python -P benchmarks/words.py table photos images.csv clothes.csv
    seeker build clothes.csv --images photos --out clothes [--views image,colour,text=multilingual]
    python -P benchmarks/words.py pages clothes [--languages] [--out docs/benchmarks]

`table` writes a table with a title (*Blue dress*), a label, a colour (what people would call the
middle of the photo), and a price, from a table with the columns image and label. `pages` measures:

- the first page for every label: as it is written and in its other number, each also with one slip
  of the keyboard (two letters in its middle swapped);
- the page after one like of anything and then a label or a colour; the same after *more like this*
  of any item (`like=[item]`), and after an item's photo given as a picture of one's own;
- with --languages, the first page for German, French, Spanish and Japanese words for the labels,
  for a catalog with English titles and a multilingual view.

What is told is precision at 12: how many of the page's items have it, of 12 or of all that do.
Every word is asked for with several seeds. Takes a few minutes.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))

import seeker
from benchmarks import pages
from seeker import Catalog, Session
from seeker.embedders.pictures import open_picture
from seeker.lab.senses import colour_layout, colour_names

PAGE_SIZE = 12
SEEDS = 5
"""How many sessions are begun for every word."""
MIN_COLOURED = 24
"""Colours that fewer items have are not asked for."""

BARS = {
    "first page": 0.9,
    "after a like": 0.75,
    "after more like this": 0.75,
    "after a picture": 0.75,
    "other languages": 0.7,
}

BEGINNINGS = ("after a like", "after more like this", "after a picture")

LANGUAGES = ("German", "French", "Spanish", "Japanese")
TRANSLATIONS = {
    "Blazer": ("Blazer", "blazer", "americana", "ブレザー"),
    "Blouse": ("Bluse", "chemisier", "blusa", "ブラウス"),
    "Body": ("Body", "body", "body", "ボディ"),
    "Dress": ("Kleid", "robe", "vestido", "ドレス"),
    "Hat": ("Hut", "chapeau", "sombrero", "帽子"),
    "Hoodie": ("Kapuzenpullover", "sweat à capuche", "sudadera con capucha", "パーカー"),
    "Longsleeve": (
        "Langarmshirt", "t-shirt à manches longues", "camiseta de manga larga", "長袖",
    ),
    "Outwear": ("Oberbekleidung", "vêtement d'extérieur", "ropa de abrigo", "アウター"),
    "Pants": ("Hose", "pantalon", "pantalones", "ズボン"),
    "Polo": ("Polohemd", "polo", "polo", "ポロシャツ"),
    "Shirt": ("Hemd", "chemise", "camisa", "シャツ"),
    "Shoes": ("Schuhe", "chaussures", "zapatos", "靴"),
    "Shorts": ("kurze Hose", "short", "pantalones cortos", "ショートパンツ"),
    "Skirt": ("Rock", "jupe", "falda", "スカート"),
    "T-Shirt": ("T-Shirt", "t-shirt", "camiseta", "Tシャツ"),
    "Top": ("Oberteil", "haut", "top", "トップス"),
    "Undershirt": ("Unterhemd", "maillot de corps", "camiseta interior", "肌着"),
}  # fmt: skip
"""The labels that name a kind of clothes, in other languages."""


def write_table(photos: Path, labels: Path, out: Path) -> None:
    """Write the table of a shop of clothes."""
    rng = np.random.default_rng(17)
    with labels.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if (photos / f"{row['image']}.jpg").exists()]
    layouts = [colour_layout(open_picture(photos / f"{row['image']}.jpg")) for row in rows]
    with out.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "image", "title", "label", "colour", "price"])
        for row, colour in zip(rows, colour_names(np.array(layouts)), strict=True):
            image, label = row["image"], row["label"]
            title = f"{colour.capitalize()} {label.lower()}"
            price = int(rng.integers(8, 120))
            table.writerow([image, f"{image}.jpg", title, label, colour, price])


def other_number(label: str) -> str:
    """Return the plural of a label, or its singular where it is one."""
    if label in ("Pants", "Shoes", "Shorts"):
        return label[:-1]
    if label.endswith("y"):
        return f"{label[:-1]}ies"
    return label + ("es" if label.endswith(("s", "x", "sh")) else "s")


def slip(word: str) -> str:
    """Return a word with two letters in its middle swapped; the last doubled in a short one."""
    if len(word) < 4:
        return word + word[-1]
    middle = len(word) // 2
    if word[middle - 1] == word[middle]:
        middle -= 1
    return word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]


class Shop:
    """A catalog whose items have a label and a colour."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        items = catalog.items(range(len(catalog)))
        self.values = {
            name: {item.id: str(item.attributes.get(name, "")) for item in items}
            for name in ("label", "colour")
        }
        self.counts = {name: Counter(of.values()) for name, of in self.values.items()}

    def precision(self, session: Session, name: str, value: str) -> float:
        """Return how much of a page has a value of an attribute."""
        hits = sum(self.values[name][item] == value for item in session.page().ids)
        return hits / min(PAGE_SIZE, self.counts[name][value])

    def first_page(self, words: str, label: str) -> float:
        """Return the precision of the first pages for some words."""
        sessions = (self.catalog.session(query=words, seed=seed) for seed in range(SEEDS))
        return float(np.mean([self.precision(one, "label", label) for one in sessions]))

    def begun(self, beginning: str, seed: int) -> Session:
        """Return a session in which one thing was liked, in one of the ways of `BEGINNINGS`."""
        session = self.catalog.session(seed=seed)
        if beginning == "after a like":
            session.like(session.page().ids[seed % PAGE_SIZE])
            return session
        row = int(np.random.default_rng(seed).integers(len(self.catalog)))
        if beginning == "after more like this":
            return self.catalog.session(seed=seed, like=[self.catalog.ids[row]])
        views = {name: view for name, view in self.catalog.views.items() if name != "text"}
        session.like_example({name: view.rows(np.array([row]))[0] for name, view in views.items()})
        return session

    def page_after(self, beginning: str, words: str, name: str, value: str) -> float:
        """Return the precision after a beginning and some words."""
        shares = []
        for seed in range(SEEDS):
            session = self.begun(beginning, seed)
            session.page()
            session.say(words)
            shares.append(self.precision(session, name, value))
        return float(np.mean(shares))


def first_pages(shop: Shop) -> Iterator[dict[str, object]]:
    """Yield a row for every label."""
    for label in sorted(shop.counts["label"]):
        other = other_number(label)
        forms = {"as written": label, "other number": other, "slip": slip(label)}
        forms["slip in the other number"] = slip(other)
        for form, words in forms.items():
            share = shop.first_page(words.lower(), label)
            yield {"part": "first page", "value": label, "form": form, "words": words.lower(),
                   "precision": share}  # fmt: skip


def pages_after(shop: Shop, beginning: str) -> Iterator[dict[str, object]]:
    """Yield a row for every label and every colour."""
    asked = [("label", label, label.lower()) for label in sorted(shop.counts["label"])]
    asked += [
        ("colour", colour, f"in {colour}")
        for colour, count in sorted(shop.counts["colour"].items())
        if count >= MIN_COLOURED
    ]
    for name, value, words in asked:
        share = shop.page_after(beginning, words, name, value)
        yield {"part": beginning, "value": value, "form": name, "words": words,
               "precision": share}  # fmt: skip


def pages_in_languages(shop: Shop) -> Iterator[dict[str, object]]:
    """Yield a row for every label in every language."""
    for label, translations in TRANSLATIONS.items():
        for language, words in zip(LANGUAGES, translations, strict=True):
            share = shop.first_page(words, label)
            yield {"part": "other languages", "value": label, "form": language, "words": words,
                   "precision": share}  # fmt: skip


def mean(rows: Sequence[dict[str, object]], **only: str) -> float:
    """Return the mean precision of some rows."""
    shares = [row["precision"] for row in rows if all(row[k] == v for k, v in only.items())]
    return float(np.mean(shares)) if shares else float("nan")  # type: ignore[arg-type]


def markdown(rows: Sequence[dict[str, object]], catalog: Catalog, command: str) -> str:
    """Return what was measured, as a page."""
    views = ", ".join(catalog.views)
    lines = [
        "# Words",
        "",
        f"How much of a page of {PAGE_SIZE} has what was asked for, {len(catalog):,} photos of "
        "clothes with a table (titles such as *Blue dress*), "
        f"views {views}; the mean of {SEEDS} seeds each.",
        "",
        f"    {command}",
        "",
        "| what was said | precision at 12 | bar |",
        "| --- | --- | --- |",
    ]
    for part in dict.fromkeys(str(row["part"]) for row in rows):
        share = mean(rows, part=part)
        lines.append(f"| {part}, all | {share:.3f} | {BARS[part]:.2f} |")
        for form in dict.fromkeys(str(row["form"]) for row in rows if row["part"] == part):
            lines.append(f"| {part}, {form} | {mean(rows, part=part, form=form):.3f} | |")
    worst = sorted(rows, key=lambda row: (row["precision"], row["words"]))[:12]
    lines += [
        "",
        "The least of all:",
        "",
        "| words | meant | precision at 12 |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {row['words']} | {row['value']} | {row['precision']:.2f} |" for row in worst]
    return "\n".join([*lines, ""])


def main() -> None:
    """Write a table, or measure pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    acts = parser.add_subparsers(dest="act", required=True)
    table = acts.add_parser("table")
    for name in ("photos", "labels", "out"):
        table.add_argument(name, type=Path)
    looks = acts.add_parser("pages")
    looks.add_argument("catalog", type=Path)
    looks.add_argument("--languages", action="store_true")
    looks.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.act == "table":
        write_table(given.photos, given.labels, given.out)
        return
    shop = Shop(seeker.Catalog.open(given.catalog))
    if given.languages:
        rows = [*pages_in_languages(shop)]
    else:
        rows = [*first_pages(shop)]
        for beginning in BEGINNINGS:
            rows += pages_after(shop, beginning)
    command = f"python -P benchmarks/words.py pages {given.catalog.name}"
    text = markdown(rows, shop.catalog, command + " --languages" * given.languages)
    print(text)
    if given.out is not None:
        name = "words-languages" if given.languages else "words"
        pages.write(given.out, name, text, rows)


if __name__ == "__main__":
    main()
