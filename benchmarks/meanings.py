"""Thresholds of meaning, by words that nobody chose them with.

    python -P benchmarks/meanings.py clothes [--out docs/benchmarks]
    python -P benchmarks/meanings.py clothes-multilingual [--out docs/benchmarks]

The catalogs are those of `benchmarks/words.py`. With the English network the words are synonyms of
the labels; with the multilingual one, labels and colours in six other languages than those that the
thresholds were chosen with. With both, labels with other slips of the keyboard, and things that no
shop of clothes has. Told is as what a word was understood, and the precision of the first page.

A threshold is changed only by this rule, which is older than the figures: of the words in their
order, every other one is set aside; on the rest, another value must give a precision that is higher
by more than two standard errors of the difference, and on those set aside a higher one, too.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))

import seeker
from benchmarks import pages
from benchmarks.words import TRANSLATIONS, Shop
from seeker.session import words as understanding
from seeker.session.words import SearchWord, find_by_meaning

SYNONYMS: Mapping[str, Sequence[str]] = {
    "Blazer": ("sport coat", "suit jacket"),
    "Blouse": ("tunic",),
    "Body": ("onesie", "romper"),
    "Dress": ("gown", "frock", "sundress"),
    "Hat": ("cap", "beanie", "bonnet"),
    "Hoodie": ("sweatshirt", "hooded sweater"),
    "Outwear": ("jacket", "coat", "parka", "raincoat"),
    "Pants": ("slacks", "chinos", "leggings", "sweatpants"),
    "Shoes": ("boots", "sandals", "loafers", "footwear"),
    "Shorts": ("bermudas", "swim trunks"),
    "Skirt": ("miniskirt", "kilt"),
    "T-Shirt": ("tee",),
    "Top": ("camisole", "tank top"),
    "Undershirt": ("singlet", "vest"),
}

LABELS = (
    "Dress", "Hat", "Hoodie", "Outwear", "Pants", "Shirt", "Shoes", "Shorts", "Skirt",
    "Undershirt", "Blouse",
)  # fmt: skip
COLOURS = ("black", "blue", "brown", "green", "red", "white", "yellow")
LANGUAGES: Mapping[str, tuple[str, str]] = {
    "Italian": (
        "vestito, cappello, felpa con cappuccio, cappotto, pantaloni, camicia, scarpe, "
        "pantaloncini, gonna, canottiera, camicetta",
        "nero, blu, marrone, verde, rosso, bianco, giallo",
    ),
    "Portuguese": (
        "vestido, chapéu, moletom com capuz, casaco, calças, camisa, sapatos, calções, saia, "
        "camisola interior, blusa",
        "preto, azul, castanho, verde, vermelho, branco, amarelo",
    ),
    "Dutch": (
        "jurk, hoed, trui met capuchon, jas, broek, overhemd, schoenen, korte broek, rok, "
        "onderhemd, bloes",
        "zwart, blauw, bruin, groen, rood, wit, geel",
    ),
    "Polish": (
        "sukienka, kapelusz, bluza z kapturem, płaszcz, spodnie, koszula, buty, szorty, spódnica, "
        "podkoszulek, bluzka",
        "czarny, niebieski, brązowy, zielony, czerwony, biały, żółty",
    ),
    "Russian": (
        "платье, шляпа, худи, пальто, брюки, рубашка, обувь, шорты, юбка, майка, блузка",
        "чёрный, синий, коричневый, зелёный, красный, белый, жёлтый",
    ),
    "Turkish": (
        "elbise, şapka, kapüşonlu sweatshirt, mont, pantolon, gömlek, ayakkabı, şort, etek, "
        "atlet, bluz",
        "siyah, mavi, kahverengi, yeşil, kırmızı, beyaz, sarı",
    ),
}
NOT_SOLD = (
    "guitar", "umbrella", "bicycle", "candle", "teapot", "sofa", "laptop", "banana", "violin",
    "hammer", "carpet", "mirror", "wine", "puppy", "passport", "keyboard", "bridge", "cheese",
    "lamp", "pencil",
)  # fmt: skip

OTHER_VALUES = {
    "NEAR_MEANING": (0.45, 0.5, 0.6, 0.65),
    "SURE_MEANING": (0.6, 0.8),
    "SURER_MEANING": (0.05, 0.2),
}
"""What else each threshold could be."""

_NEXT_KEY = dict(zip("qwertyuioasdfghjklzxcvbnm", "wertyuiopsdfghjklpxcvbnmk", strict=True))


@dataclass(frozen=True)
class Asked:
    """Words, and the value of an attribute that they mean; an empty value: nothing is meant."""

    kind: str
    words: str
    name: str = ""
    value: str = ""


def asked_for(shop: Shop, multilingual: bool) -> Iterator[Asked]:
    """Yield all that is asked for in a catalog."""
    if multilingual:
        chosen_with = {word.lower() for words in TRANSLATIONS.values() for word in words}
        for language, (labels, colours) in LANGUAGES.items():
            for name, values, words in (("label", LABELS, labels), ("colour", COLOURS, colours)):
                for value, word in zip(values, words.split(", "), strict=True):
                    if word not in chosen_with:
                        yield Asked(language, word, name, value)
    else:
        for label, synonyms in SYNONYMS.items():
            for word in synonyms:
                yield Asked("synonyms", word, "label", label)
    for label in sorted({*shop.counts["label"]} - {"Not sure", "Other", "Skip"}):
        word, third = label.lower(), max(1, len(label) // 3)
        wrong = _NEXT_KEY.get(word[third], "x")
        yield Asked("another key", word[:third] + wrong + word[third + 1 :], "label", label)
        if len(word) > 4:
            yield Asked(
                "a letter left out", word[: 2 * third] + word[2 * third + 1 :], "label", label
            )
    for word in NOT_SOLD:
        yield Asked("not sold", word)


def understood(shop: Shop, asked: Asked) -> tuple[SearchWord, ...]:
    """Return as what words are searched for."""
    return find_by_meaning(shop.catalog, asked.words, shop.catalog.find_words(asked.words))


def taken_as(asked: Asked, found: Sequence[SearchWord]) -> str:
    """Return whether words were taken for what they mean: right, wrong, or not taken."""
    terms = [word.terms[0][0].lower() for word in found if word.terms]
    if not terms:
        return "not taken"
    return "right" if asked.value and asked.value.lower() in terms else "wrong"


def precision(shop: Shop, asked: Asked, seeds: int) -> float:
    """Return how much of the first pages has what was asked for; of nothing: 1 if nothing is."""
    if not asked.value:
        return float(taken_as(asked, understood(shop, asked)) == "not taken")
    sessions = (shop.catalog.session(query=asked.words, seed=seed) for seed in range(seeds))
    return float(np.mean([shop.precision(one, asked.name, asked.value) for one in sessions]))


def sweep(
    shop: Shop, asked: Sequence[Asked], now: Sequence[float], seeds: int
) -> Iterator[list[object]]:
    """Yield, for every other value of a threshold, what it would change, on both halves."""
    before = [understood(shop, one) for one in asked]
    for threshold, others in OTHER_VALUES.items():
        usual = getattr(understanding, threshold)
        for other in others:
            setattr(understanding, threshold, other)
            gains = np.array(
                [
                    0.0 if understood(shop, one) == was else precision(shop, one, seeds) - had
                    for one, was, had in zip(asked, before, now, strict=True)
                ]
            )
            setattr(understanding, threshold, usual)
            chosen, aside = gains[::2], gains[1::2]
            error = float(chosen.std(ddof=1) / np.sqrt(len(chosen)))
            better = chosen.mean() > 2.0 * error > 0.0 and aside.mean() > 0.0
            yield [threshold, usual, other, int((gains != 0).sum()), float(chosen.mean()), error,
                   float(aside.mean()), "yes" if better else "no"]  # fmt: skip


def markdown(
    shop: Shop, command: str, asked: Sequence[Asked], seeds: int
) -> tuple[str, list[dict[str, object]]]:
    """Return what was measured, as a page and as rows."""
    now = [precision(shop, one, seeds) for one in asked]
    taken = [taken_as(one, understood(shop, one)) for one in asked]
    rows = [{**vars(one), "taken": how, "precision": share}
            for one, how, share in zip(asked, taken, now, strict=True)]  # fmt: skip
    lines = [
        "# Words that nobody chose thresholds with",
        "",
        f"{len(shop.catalog):,} photos of clothes with a table, the mean of {seeds} seeds each. "
        "*Not sold*: right is not to take them for anything.",
        "",
        f"    {command}",
        "",
        "| words | how many | taken rightly | taken wrongly | not taken | precision at 12 |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in dict.fromkeys(one.kind for one in asked):
        places = [place for place, one in enumerate(asked) if one.kind == kind]
        hows = [taken[place] for place in places]
        counts = " | ".join(str(hows.count(how)) for how in ("right", "wrong", "not taken"))
        share = np.mean([now[place] for place in places])
        lines.append(f"| {kind} | {len(places)} | {counts} | {share:.3f} |")
    lines += [
        "",
        "Other values of the thresholds: the gain in precision on every other word (± one standard "
        "error), on those set aside, and whether the rule says to take it.",
        "",
        "| threshold | now | other | words that change | gain | set aside | taken |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for threshold, usual, other, changed, gain, error, aside, better in sweep(
        shop, asked, now, seeds
    ):
        lines.append(
            f"| {threshold} | {usual} | {other} | {changed} | {gain:+.4f} ± {error:.4f} | "
            f"{aside:+.4f} | {better} |"
        )
    wrong = [row for row in rows if row["taken"] == "wrong"]
    lines += ["", "Taken wrongly: " + ", ".join(f"*{row['words']}*" for row in wrong) + "."]
    return "\n".join([*lines, ""]), rows


def main() -> None:
    """Measure the words of one catalog."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("catalog", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    shop = Shop(seeker.Catalog.open(given.catalog))
    multilingual = [*shop.catalog.views] == ["text"]
    command = f"python -P benchmarks/meanings.py {given.catalog.name} --seeds {given.seeds}"
    text, rows = markdown(shop, command, [*asked_for(shop, multilingual)], given.seeds)
    print(text)
    if given.out is not None:
        pages.write(given.out, "meanings-languages" if multilingual else "meanings", text, rows)


if __name__ == "__main__":
    main()
