"""Simulated people: what they see, and what they do with it."""

from __future__ import annotations

import numpy as np
import pytest

from seeker import Catalog
from seeker.errors import BadInput, NotFound
from seeker.lab import Perception, Sense, distort, people
from seeker.lab.baselines import Seeker
from seeker.lab.people import PageView, Person
from seeker.lab.simulate import Task, simulate_search, words_for

RNG = np.random.default_rng


def page_view(*distances: float, near: float = 0.3, far: float = 0.8) -> PageView:
    return PageView(np.array(distances), near, far)


def test_distances_are_unit_scaled_and_add_up_over_the_senses() -> None:
    rng = RNG(0)
    vectors, labels = 7.0 * rng.normal(size=(400, 6)), np.array(["a", "b"] * 200)
    deep = Perception([Sense("deep", vectors)], noise=0.0)
    both = Perception([Sense("deep", vectors, 0.6), Sense("label", labels, 0.5)], noise=0.0)
    rows = np.arange(400)
    mean = np.mean([deep.distances(row, rows).mean() for row in range(400)])
    assert mean == pytest.approx(1.0, rel=0.01)
    expected = 0.6 * deep.distances(3, rows) + 0.5 * (labels != labels[3])
    np.testing.assert_allclose(both.distances(3, rows), expected, rtol=1e-5)
    assert both.distances(3, np.array([3]))[0] == 0.0


def test_an_empty_label_is_like_no_other() -> None:
    eyes = Perception([Sense("label", np.array(["", "", "x", "x"]))], noise=0.0)
    assert eyes.distances(0, np.arange(1, 4)).tolist() == [1.0, 1.0, 1.0]
    assert eyes.distances(2, np.array([0, 3])).tolist() == [1.0, 0.0]


def test_noise_is_multiplicative_and_log_normal() -> None:
    vectors = RNG(1).normal(size=(5000, 4))
    eyes = Perception([Sense("deep", vectors)], noise=0.15)
    rows = np.arange(1, 5000)
    logs = np.log(eyes.noisy_distances(0, rows, RNG(2)) / eyes.distances(0, rows))
    assert logs.std() == pytest.approx(0.15, rel=0.05)
    assert abs(logs.mean()) < 0.01


def test_a_distorted_view_is_kindred_to_it_but_not_the_same() -> None:
    vectors = RNG(3).normal(size=(300, 20))
    eyes = Perception(distort({"image": vectors}, seed=5), noise=0.0)
    again = Perception(distort({"image": vectors}, seed=5), noise=0.0)
    plain = Perception([Sense("image", vectors)], noise=0.0)
    rows = np.arange(1, 300)
    seen, known = eyes.distances(0, rows), plain.distances(0, rows)
    np.testing.assert_array_equal(seen, again.distances(0, rows))
    likeness = np.corrcoef(np.argsort(np.argsort(seen)), np.argsort(np.argsort(known)))[0, 1]
    assert 0.2 < likeness < 0.98


def test_senses_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(BadInput, match="same"):
        Perception([Sense("a", np.zeros((3, 2))), Sense("b", np.zeros((4, 2)))])
    with pytest.raises(BadInput, match="something"):
        Perception([])


def test_each_of_the_six_clicks_as_described() -> None:
    page = page_view(0.9, 0.2, 0.5, 0.25, 1.2)
    do = {one.name: one.react(page, RNG(0), {}) for one in people.SIX[:5]}
    assert (do["best + worst"].likes, do["best + worst"].dislikes) == ((1,), (4,))
    assert (do["one click"].likes, do["one click"].dislikes) == ((1,), ())
    assert (do["threshold"].likes, do["threshold"].dislikes) == ((1, 3), (4, 0))
    assert (do["likes only"].likes, do["likes only"].dislikes) == ((1,), ())
    assert (do["dislikes only"].likes, do["dislikes only"].dislikes) == ((), (4,))
    far = people.OneClick().react(page_view(0.9, 0.7), RNG(0), {})
    assert (far.likes, far.dislikes) == ((), (0,))


def test_slips_happen_about_as_often_as_they_should_and_never_click_an_item_twice() -> None:
    page, rng = page_view(*np.linspace(0.1, 1.0, 12)), RNG(4)
    done = [people.Slipping().react(page, rng, {}) for _ in range(2000)]
    right = np.mean([one.likes == (0,) for one in done])
    assert right == pytest.approx(0.85 + 0.15 / 12, abs=0.03)
    assert not any(set(one.likes) & set(one.dislikes) for one in done)


def test_a_drifting_person_has_the_wrong_thing_in_mind_for_half_the_search() -> None:
    drifting = people.Drifting()
    assert [drifting.has_wrong_target(page, 15) for page in (0, 7, 8, 14)] == [
        True,
        True,
        False,
        False,
    ]
    assert not people.BestAndWorst().has_wrong_target(0, 15)


def test_an_inattentive_person_judges_only_what_they_looked_at() -> None:
    page, rng = page_view(*np.linspace(0.1, 1.0, 12)), RNG(5)
    done = [people.Inattentive().react(page, rng, {}) for _ in range(1000)]
    assert all(len(one.likes) == len(one.dislikes) == 1 for one in done)
    # Of twelve items they see six: the nearest in half of all cases, else the next they do see.
    likes, dislikes = np.array([(*one.likes, *one.dislikes) for one in done]).T
    assert np.mean(likes == 0) == pytest.approx(0.5, abs=0.06)
    assert np.mean(dislikes == 11) == pytest.approx(0.5, abs=0.06)
    assert (dislikes - likes).min() >= 5
    assert likes.max() > 1


def test_second_thoughts_take_back_exactly_the_pages_that_were_slips() -> None:
    person, rng = people.SecondThoughts(chance=0.5), RNG(6)
    memory: dict[str, object] = {}
    page = page_view(*np.linspace(0.1, 1.0, 12))
    slipped = False
    for _ in range(40):
        done = person.react(page, rng, memory)
        assert done.undo == slipped
        slipped = (done.likes, done.dislikes) != ((0,), (11,))


def test_somhunters_people_like_one_item_the_nearer_the_likelier() -> None:
    page, rng = page_view(*np.linspace(0.1, 1.5, 8)), RNG(7)
    mean = {}
    for person in (people.Ideal(), people.Power(), people.Logit(), people.Null()):
        done = [person.react(page, rng, {}) for _ in range(500)]
        assert all(len(one.likes) == 1 and not one.dislikes for one in done)
        mean[person.name] = np.mean([one.likes[0] for one in done])
    assert mean["SOMHunter ideal"] == 0.0
    assert mean["SOMHunter power"] < 1.5
    assert mean["SOMHunter logit"] < 2.5
    assert mean["SOMHunter null"] == pytest.approx(3.5, abs=0.4)


@pytest.mark.parametrize("person", people.ALL, ids=lambda person: person.name)
def test_every_person_can_be_named_and_written_down(person: Person) -> None:
    assert people.named(person.name) == person
    assert person.settings()["name"] == person.name


def test_an_unknown_person_is_refused() -> None:
    with pytest.raises(NotFound, match="no simulated person"):
        people.named("nobody")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("says label", "hat"), ("says wrong label", "shoe"), ("says colour", "red")],
)
def test_people_who_speak_do_so_once_and_click_as_others(name: str, expected: str) -> None:
    words = {"label": "hat", "wrong label": "shoe", "colour": "red"}
    page = PageView(np.array([0.5, 0.1, 0.9]), 0.3, 0.8, words)
    memory: dict[str, object] = {}
    person = people.named(name)
    first, second = (person.react(page, RNG(0), memory) for _ in range(2))
    assert (first.likes, first.dislikes, first.words) == ((1,), (2,), expected)
    assert (second.likes, second.dislikes, second.words) == ((1,), (2,), "")


def test_words_that_people_say_are_those_of_the_target() -> None:
    catalog = Catalog.from_arrays(
        [str(n) for n in range(60)],
        {"x": RNG(0).normal(size=(60, 4))},
        attributes={"label": ["hat", "shoe", "coat"] * 20, "price": [1.0] * 60},
    )
    words = words_for(catalog, Task(target=4, seed=3))
    assert words["label"] == "shoe"
    assert words["wrong label"] in ("hat", "coat")
    assert words == words_for(catalog, Task(target=4, seed=3))
    eyes = Perception([Sense("x", catalog.views["x"].vectors)], noise=0.0)
    steps = {
        name: len(simulate_search(catalog, eyes, people.named(name), Seeker(), Task(4, 3, 4, 15)))
        for name in ("says label", "says wrong label")
    }
    assert steps["says label"] <= steps["says wrong label"]
