"""Learning as a whole: taken if it helps, refused with a reason if not, and not to be bent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import BadInput, Catalog, display, models
from seeker.catalog.build import update
from seeker.catalog.verify import find_problems
from seeker.cli import main
from seeker.engine import Catalogs, Engine
from seeker.lab.people import BestAndWorst, DislikesOnly, LikesOnly, Slipping
from seeker.lab.perception import Perception, Sense
from seeker.learning.proof import clustered_mean, hold_aside
from seeker.learning.searches import PastSearch
from seeker.stores import MemoryStore
from support.searches import found_searches, line_of, random_clicks, search_for, seen_catalog

ITEMS = 300
PAST = range(200)
FRESH = range(200, 300)
PEOPLE = (BestAndWorst(), LikesOnly(), DislikesOnly(), Slipping())


class World:
    """A catalog, how people see it, and their searches: for the first two thirds of its items."""

    def __init__(self, place: Path) -> None:
        self.folder, self.eyes = seen_catalog(place / "shop", ITEMS)
        self.catalog = Catalog.open(self.folder)
        self.lines = [
            json.dumps({**json.loads(line), "user": f"user {number}"})
            for number, line in enumerate(found_searches(self.catalog, self.eyes, PAST, PEOPLE))
            if '"click"' in line  # not found on the first page
        ]

    def copy(self, place: Path) -> Path:
        import shutil

        return Path(shutil.copytree(self.folder, place / "shop"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture
def shop(world: World, tmp_path: Path) -> Path:
    return world.copy(tmp_path)


def pages_to_find(catalog: Catalog, eyes: Perception, targets: Any = FRESH) -> Any:
    """How many pages each of some searches took, 15 if it failed."""
    sessions = [search_for(catalog, eyes, target, 7000 + target, pages=15) for target in targets]
    return np.array([15 if one is None else 1 + one.step // 2 for one in sessions])


def test_what_was_learned_finds_things_that_nobody_had_searched_for(
    world: World, shop: Path, tmp_path: Path
) -> None:
    result = seeker.learn(shop, world.lines, report=tmp_path / "learned.html")
    assert result.taken
    assert result.searches == len(world.lines)
    assert "held aside" in result.reason
    assert repr(result).startswith(f"<Learned from {len(world.lines)} searches: ")
    new = Catalog.open(shop)
    assert new.version == 2
    assert new.learned is not None
    assert new.learned.searches == len(world.lines)
    assert find_problems(shop) == []
    before, after = (pages_to_find(one, world.eyes) for one in (world.catalog, new))
    assert after.mean() < before.mean() - 0.5
    assert (after < 15).mean() >= (before < 15).mean()
    page = (tmp_path / "learned.html").read_text()
    assert "It is taken." in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    for words in ("Is it found sooner?", "What people go by", "What is near what", "noise"):
        assert words in page


def test_what_is_named_counts_and_else_a_learned_catalog_shows_what_tells_most(
    world: World, shop: Path
) -> None:
    assert seeker.learn(shop, world.lines).taken
    learned = Catalog.open(shop)
    one = Engine(Catalogs({"shop": learned}), MemoryStore())

    def begun(**options: Any) -> tuple[str, str]:
        state = learned.session(**options).state.start
        served = one.stored(one.start(**options).id).events[0]
        assert served["model"] == models.to_json(state.model)
        assert served["strategy"] == display.to_json(state.strategy)
        return state.model.name, state.strategy.name

    assert begun() == ("relative", "informative")
    assert begun(strategy="boltzmann") == ("relative", "boltzmann")
    assert begun(model="choice") == ("choice", "boltzmann")
    assert begun(model="choice", strategy="informative") == ("choice", "informative")
    one.close()
    assert world.catalog.session().state.start.strategy == display.named(display.DEFAULT)


def test_the_same_searches_and_seed_give_the_same(world: World, tmp_path: Path) -> None:
    made = []
    for place in ("one", "other"):
        folder = world.copy(tmp_path / place)
        assert seeker.learn(folder, world.lines, seed=0).taken
        made.append(Catalog.open(folder))
    assert made[0].learned is not None
    assert made[1].learned is not None
    assert made[0].learned.model == made[1].learned.model
    name = made[0].learned.views[-1]
    np.testing.assert_array_equal(made[0].views[name].vectors, made[1].views[name].vectors)


def test_a_dry_run_changes_nothing(world: World, shop: Path) -> None:
    result = seeker.learn(shop, world.lines, dry_run=True)
    assert result.taken
    assert Catalog.open(shop).version == 1


def test_it_is_learned_once_and_forgotten_and_learned_again(world: World, shop: Path) -> None:
    usual = world.catalog.session(seed=1).page().ids
    assert seeker.learn(shop, world.lines).taken
    again = seeker.learn(shop, world.lines[::-1])
    assert not again.taken
    assert "Nothing is new" in again.reason
    assert Catalog.open(shop).version == 2
    gone = seeker.learn(shop, forget=True)
    assert (gone.taken, gone.searches) == (False, len(world.lines))
    forgotten = Catalog.open(shop)
    assert forgotten.learned is None
    assert forgotten.session(seed=1).page().ids == usual
    # Somebody has asked for their searches to be deleted: it is learned from the others alone.
    fewer = seeker.learn(shop, world.lines[20:])
    assert fewer.taken
    alone = Catalog.open(shop).learned
    assert alone is not None
    fresh = world.copy(shop.parent / "fresh")
    assert seeker.learn(fresh, world.lines[20:]).taken
    learned = Catalog.open(fresh).learned
    assert learned is not None
    assert learned.model == alone.model


def test_of_searches_that_are_over_soon_no_later_rank_is_told(world: World, shop: Path) -> None:
    many = found_searches(world.catalog, world.eyes, range(ITEMS), (LikesOnly(),))
    short = [line for line in many if 0 < line.count('"click"') < 4]
    result = seeker.learn(shop, short, dry_run=True)
    assert "times as probable on the way" in result.reason
    assert "median rank" not in result.reason


def test_too_few_searches_teach_nothing(world: World, shop: Path) -> None:
    result = seeker.learn(shop, world.lines[:12])
    assert not result.taken
    assert "At least 40 must count, and 12 do: about 30 more are needed" in result.reason
    assert repr(result).startswith("<Nothing learned from 12 searches: ")
    assert Catalog.open(shop).version == 1
    empty = seeker.learn(shop, [])
    assert (empty.taken, empty.searches) == (False, 0)


def test_what_does_not_help_is_not_taken(world: World, shop: Path) -> None:
    """People who see just as the catalog's views do: there is nothing to learn."""
    views = world.catalog.views
    eyes = Perception([Sense(name, view.vectors) for name, view in views.items()], noise=0.3)
    lines = list(found_searches(world.catalog, eyes, range(70)))
    result = seeker.learn(shop, lines)
    assert not result.taken
    assert re.search(r"does not explain .* beyond chance .* more searches", result.reason)
    assert Catalog.open(shop).version == 1


def machine(world: World, aim: str, owner: str | None = None) -> list[str]:
    """A thousand searches by a machine: clicks at random, or one item that is to be found."""
    rng = np.random.default_rng(5)
    sessions = [
        random_clicks(world.catalog, int(rng.integers(ITEMS)) if aim == "random" else 42, seed)
        for seed in range(40)
    ]
    lines = [line_of(one, network=99, owner=owner) for one in sessions]
    return lines * 25


@pytest.mark.parametrize("aim", ["random", "push"])
def test_a_machine_cannot_bend_it(world: World, tmp_path: Path, aim: str) -> None:
    """With a thousand searches of it among theirs, others find what they look for as without."""
    pages = {}
    for name, lines in {"alone": world.lines, "bent": world.lines + machine(world, aim)}.items():
        folder = world.copy(tmp_path / name)
        assert seeker.learn(folder, lines).taken
        pages[name] = pages_to_find(Catalog.open(folder), world.eyes)
    before = pages_to_find(world.catalog, world.eyes)
    gained = before.mean() - pages["alone"].mean()
    assert gained > 0.5
    assert before.mean() - pages["bent"].mean() > 0.7 * gained
    assert (pages["bent"] < 15).mean() >= (pages["alone"] < 15).mean() - 0.02


def test_what_was_learned_before_stays_if_it_is_better(world: World, shop: Path) -> None:
    assert seeker.learn(shop, world.lines).taken
    result = seeker.learn(shop, world.lines[:70])
    assert not result.taken
    learned = Catalog.open(shop).learned
    assert learned is not None
    assert learned.searches == len(world.lines)


def test_searches_of_older_versions_count(world: World, shop: Path) -> None:
    ids = list(world.catalog.ids)
    update.remove(shop, ids=ids[:5])
    result = seeker.learn(shop, world.lines)
    assert result.taken
    assert result.read is not None
    assert 0 < result.read.left_out["for items that have left"] <= 5


def test_the_command(
    world: World, shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sessions.jsonl"
    file.write_text("\n".join([*world.lines, "{broken"]) + "\n")
    sessions = ["--sessions", str(file)]
    assert main(["learn", str(shop), *sessions, "--dry-run"]) == 0
    told = capsys.readouterr()
    assert "Nothing was changed: this was a dry run." in told.out
    assert f"Left out line {len(world.lines) + 1}: The line is not JSON." in told.err
    report = str(tmp_path / "out" / "learned.html")
    assert main(["learn", f"other={shop}", *sessions, "--report", report]) == 0
    assert "version 2" in capsys.readouterr().out
    assert Path(report).is_file()
    assert main(["info", str(shop)]) == 0
    assert "learned from" in capsys.readouterr().out
    assert main(["learn", str(shop), "--forget"]) == 0
    assert "is forgotten" in capsys.readouterr().out
    assert main(["learn", str(shop), "--sessions", "no.jsonl"]) == 3
    assert main(["learn", str(shop), "--store", "no.sqlite"]) == 3
    assert main(["learn", str(shop), *sessions, "--store", "x.sqlite"]) == 2
    assert main(["learn", str(tmp_path / "none"), *sessions]) == 3


def test_without_searches_there_is_a_sentence(shop: Path) -> None:
    with pytest.raises(BadInput, match="nothing to learn from"):
        seeker.learn(shop)


def test_who_is_held_aside_does_not_depend_on_the_others() -> None:
    """Else what was learned before would have seen what the next is tried on."""
    searches = [PastSearch(f"t{n % 70}", (), user=f"u{n % 31}") for n in range(2000)]
    chosen = hold_aside(searches, 0)
    targets = {one.target for one, out in zip(searches, chosen, strict=True) if not out}
    people = {one.person for one, out in zip(searches, chosen, strict=True) if not out}
    aside = [one for one, out in zip(searches, chosen, strict=True) if out]
    assert all(one.target not in targets or one.person not in people for one in aside)
    assert 0.15 < chosen.mean() < 0.45
    assert not (hold_aside(searches[::-1], 0)[::-1] ^ chosen).any()
    # Of more searches a smaller share is held aside, and all of it was before.
    more = hold_aside(searches * 3, 0)[: len(searches)]
    assert not (more & ~chosen).any()
    assert (hold_aside(searches, 1) ^ chosen).any()


def test_standard_errors_count_people_and_not_searches() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(1.0, 2.0, size=200)
    mean, error = clustered_mean(values, np.ones(200), [None] * 200)
    assert mean == pytest.approx(values.mean())
    student = 1.97196 / 1.96  # the 97.5 % quantiles of Student's t are from a table
    assert error == pytest.approx(student * values.std(ddof=1) / np.sqrt(200), rel=1e-4)
    people = [n // 10 for n in range(200)]
    repeated = np.repeat(values[:20], 10)
    same, wider = clustered_mean(repeated, np.ones(200), people)
    assert same == pytest.approx(values[:20].mean())
    student = 2.09302 / 1.96
    assert wider == pytest.approx(student * values[:20].std(ddof=1) / np.sqrt(20), rel=1e-4)
    few, widest = values[:6], clustered_mean(values[:6], np.ones(6), [None] * 6)[1]
    assert widest == pytest.approx(2.57058 / 1.96 * few.std(ddof=1) / np.sqrt(6), rel=3e-3)
    assert clustered_mean(values[:3], np.ones(3), ["me"] * 3)[1] == np.inf
