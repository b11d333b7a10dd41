"""Words that are searched for: by letters and by meaning, at any time, exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seeker
from cluster.walks import assert_alike, spread
from seeker import Catalog, Session
from seeker.embedders.text import MultilingualEmbedder, TextEmbedder
from seeker.errors import BadInput, Conflict
from seeker.models import Bipartite, Choice, Model, Pairwise, Relative
from seeker.models.words import WORD_SLIP, combine_matches
from seeker.session import UnderstoodWords
from seeker.types import Doubles
from support.limits import limited
from support.readers import AxisEmbedder, worded_catalog

MODELS: list[Model] = [Choice(), Relative(), Pairwise(alpha=3.0), Bipartite()]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def titles(session: Session) -> list[str]:
    return [item.title for item in session.page().items]


def twin(catalog: Catalog, words: list[str], vector: Doubles | None, shares: Any) -> Doubles:
    """The log-likelihood of single words by their definition, (items,); no form, no slip."""
    letters, meaning, noise = shares
    texts = [catalog.item(one).title.split() for one in catalog.ids]
    product = np.ones(len(texts))
    for word in words:
        said = np.array([(word in text) / len(text) for text in texts])
        if said.any():
            product *= WORD_SLIP + (1 - WORD_SLIP) * said / said.mean()
    if not any(word in text for word in words for text in texts):
        letters, meaning = 0.0, meaning / (1.0 - letters)
    if vector is None:
        letters /= 1.0 - shares[1]
    mixture = letters * product / product.mean()
    if vector is None:
        return np.asarray(np.log(mixture + 1.0 - letters))
    view = catalog.views["text"]
    near = np.exp(2.0 * (view.rows(slice(None)) @ vector) / (noise * view.scale))
    lacking = np.array([not any(word in text for word in words) for text in texts])
    if 0 < (~lacking).sum() < 12:
        near = np.minimum(near, near[lacking].max())
    near /= near.mean()
    return np.asarray(np.log(mixture + meaning * near + 1.0 - letters - meaning))


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("text", ["red", "blue hat", "scarlet", "navy cap", "red zebra", "zebra"])
@pytest.mark.parametrize("items", [240, 24])
def test_words_count_by_the_formula(text: str, reads: bool, items: int) -> None:
    shares = (0.5, 0.35, 0.2)
    catalog = worded_catalog(items, reads=reads)
    session = catalog.session(model=Choice(words=shares), query=text)
    vector = AxisEmbedder().embed([text])[0].astype(np.float64) if reads else None
    expected = twin(catalog, text.split(), vector, shares)
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-5)


@each_model
def test_words_are_the_same_at_the_start_and_later(model: Model) -> None:
    catalog = worded_catalog()
    begun, later = catalog.session(model=model, query="red hat"), catalog.session(model=model)
    later.say("red hat")
    for session in (begun, later):
        session.like("item 3", ["item 3", "item 4"])
    np.testing.assert_array_equal(begun.belief.log_posterior, later.belief.log_posterior)
    assert (begun.state.query, begun.state.said) == ("red hat", [])
    assert (later.state.query, later.state.said) == (None, ["red hat"])


@each_model
@pytest.mark.parametrize("reads", [True, False])
def test_words_and_clicks_go_in_any_order_and_back_to_the_bit(model: Model, reads: bool) -> None:
    catalog = worded_catalog(reads=reads)
    shown = [f"item {n}" for n in range(12)]
    acts: list[Callable[[Session], None]] = [
        lambda one: one.say("red"),
        lambda one: one.like("item 3", shown),
        lambda one: one.say("shoes"),
        lambda one: one.dislike("item 4", shown[4:]),
    ]
    forth, back = catalog.session(model=model, seed=2), catalog.session(model=model, seed=2)
    beliefs = []
    for act in acts:
        beliefs.append(forth.belief.log_posterior)
        act(forth)
        forth.refresh()
    for place in (2, 1, 0):
        acts[place](back)
    back.dislike("item 4", shown[4:])
    np.testing.assert_array_equal(forth.belief.log_posterior, back.belief.log_posterior)
    events = [json.loads(json.dumps(event.to_json())) for event in forth.events]
    again = seeker.Session.replay(catalog, events)
    assert again.page() == forth.page()
    np.testing.assert_array_equal(again.belief.log_posterior, forth.belief.log_posterior)
    for before in reversed(beliefs):
        forth.undo()
        np.testing.assert_array_equal(forth.belief.log_posterior, before)


@each_model
def test_shards_agree_on_words(model: Model) -> None:
    catalog = worded_catalog(700)
    for shards in (1, 3):
        sessions = [
            one.session(model=model, query="red") for one in (catalog, spread(catalog, shards))
        ]
        for session in sessions:
            session.like(session.page().ids[2])
            session.say("navy shoes")
            session.dislike(session.page().ids[1])
        assert_alike(*sessions)
        for session in sessions:
            session.unsay("red")
            session.refresh()
        assert_alike(*sessions)


@pytest.mark.parametrize("reads", [True, False])
def test_lazy_pages_of_words_are_those_of_all_scores(reads: bool) -> None:
    catalog = worded_catalog(3000, reads=reads)
    small = limited(catalog, session_bytes=1, part_items=500, sorted_items=0)
    for one in (catalog, small):
        sessions = [one.session(seed=5), catalog.session(seed=5)]
        for session in sessions:
            session.like(session.page().ids[0])
            session.page()
            session.say("scarlet boots")
        sessions[1].belief  # noqa: B018
        assert sessions[0].page() == sessions[1].page()
        assert sessions[0].more(0, 3000).ids == sessions[1].more(0, 3000).ids


@given(st.lists(st.sampled_from(["red", "hat", "boot", "zebra", "the", "hats"]), min_size=1))
@settings(max_examples=20, deadline=None)
def test_no_words_rule_an_item_out_or_raise_a_score(words: list[str]) -> None:
    session = CATALOG.session()
    bounds = session._finder._scores.bounds()  # type: ignore[attr-defined]
    session.say(" ".join(words))
    scores = session._finder._scores.everywhere()  # type: ignore[attr-defined]
    assert np.isfinite(scores).all()
    assert (scores <= bounds).all()


CATALOG = worded_catalog()


def test_several_words_narrow_what_one_finds() -> None:
    for reads in (True, False):
        catalog = worded_catalog(reads=reads)
        session = catalog.session(query="a blue scarf please", strategy="greedy")
        assert titles(session) == ["blue scarf"] * 12


def test_words_that_nothing_is_called_are_found_by_their_meaning() -> None:
    session = CATALOG.session(query="scarlet boot")
    (words,) = session.words
    assert words == UnderstoodWords("scarlet boot", ("scarlet", "boot"), {}, False, True)
    assert words.notice == (
        "Nothing is called “scarlet” or “boot”. Items are ordered by what the words mean."
    )
    assert titles(session) == ["red shoe"] * 12


def test_words_that_nothing_is_called_are_found_as_values_that_mean_the_same() -> None:
    kinds = [f"{one} {kind}" for one in ("Red", "Blue") for kind in ("dress", "blouse", "hat")]
    titles_of = kinds * 12
    embedder = MultilingualEmbedder()
    vectors = dict(zip(kinds, embedder.embed(kinds), strict=True))
    catalog = Catalog.from_arrays(
        [str(n) for n in range(len(titles_of))],
        {"text": np.array([vectors[title] for title in titles_of])},
        titles=titles_of,
        attributes={
            "label": [title.split()[1].capitalize() for title in titles_of],
            "colour": [title.split()[0].lower() for title in titles_of],
        },
        metric="cosine",
        embedders={"text": embedder},
    )
    session = catalog.session(query="rotes Kleid", strategy="greedy")
    assert titles(session) == ["Red dress"] * 12
    assert session.words[0].nearest == {"rotes": "red", "Kleid": "Dress"}
    assert session.words[0].notice == (
        "Nothing is called “rotes” or “Kleid”. Nearest by meaning: red, Dress."
    )
    same = Session.from_json(catalog, session.to_json())
    assert same.page().ids == session.page().ids
    assert same.words == session.words
    # A form of another word, or its spelling, is not taken where a value is nearer in meaning.
    assert {title.split()[1] for title in titles(catalog.session(query="Bluse"))} == {"blouse"}
    # And a slip is not taken for a meaning, nor is what means nothing here.
    assert catalog.session(query="derss").words[0].corrections == {"derss": "dress"}
    assert catalog.session(query="bluose").words[0].corrections == {"bluose": "blouse"}
    assert catalog.session(query="asdfgh").words[0].nearest == {}


def test_a_word_of_the_language_is_not_taken_for_what_only_looks_like_it() -> None:
    titles_of = ["clock", "salad", "scarf", "ghost", "wheel"]
    embedder = TextEmbedder()
    catalog = Catalog.from_arrays(
        titles_of,
        {"text": embedder.embed(titles_of)},
        titles=titles_of,
        metric="cosine",
        embedders={"text": embedder},
    )
    # By letters they would be a slip for clock, a Latin form of salad, and a slip for scarf.
    for word, nearest in (("cloak", "scarf"), ("salmon", "salad"), ("Scary", "ghost")):
        session = catalog.session(query=word, strategy="greedy", page_size=2)
        assert session.words[0] == UnderstoodWords(word, (word,), {}, False, True)
        assert titles(session)[0] == nearest
    assert catalog.session(query="scraf").words[0].corrections == {"scraf": "scarf"}
    assert catalog.session(query="wheels").words[0].letters
    # Without a view that reads text nobody knows which words there are.
    deaf = Catalog.from_arrays(titles_of, {"text": embedder.embed(titles_of)}, titles=titles_of)
    assert deaf.session(query="scary").words[0].corrections == {"scary": "scarf"}


def test_it_is_said_what_words_were_taken_for() -> None:
    session = worded_catalog(reads=False).session(query="rde hat")
    assert session.words[0].notice == "“rde” is read as “red”."
    session.say("zebra")
    assert session.words[1].notice == "Nothing is called “zebra”. These words change nothing."
    session.say("hats")
    assert session.words[2].notice == ""
    session.undo(2)
    assert [words.text for words in session.words] == ["rde hat"]


def test_words_are_a_reason_among_others() -> None:
    session = CATALOG.session(seed=2)
    session.like(session.page().ids[0])
    shoe, scarf = (
        next(id for id in CATALOG.ids if CATALOG.item(id).title == title)
        for title in ("red shoe", "blue scarf")
    )
    assert session.explain(shoe).text_pull == 0.0
    session.say("red shoe")
    rows = np.linspace(0, len(CATALOG) - 1, min(len(CATALOG), 256)).astype(int).tolist()
    mean = np.mean([session.explain(CATALOG.ids[row]).text for row in rows])
    for item, speaks_for in ((shoe, True), (scarf, False)):
        why = session.explain(item)
        assert why.text_pull == pytest.approx(why.text - mean)
        assert (why.text_pull > 0.0) == speaks_for


def test_words_can_be_taken_back() -> None:
    session = CATALOG.session(query="red", seed=1)
    session.say("hat")
    session.unsay("red")
    assert (session.state.query, session.state.said) == (None, ["hat"])
    later = CATALOG.session(seed=1)
    later.say("hat")
    np.testing.assert_array_equal(session.belief.log_posterior, later.belief.log_posterior)
    with pytest.raises(Conflict, match="Nobody has said"):
        session.unsay("red")
    session.undo()
    assert session.state.query == "red"


def test_the_paper_takes_words_as_a_direction() -> None:
    session = CATALOG.session(**seeker.PAPER)
    session.say("red")
    assert session.events[1].search is None  # type: ignore[attr-defined]
    view = CATALOG.views["text"]
    vector = AxisEmbedder().embed(["red"])[0].astype(np.float64)
    expected = -np.logaddexp(0.0, -(view.rows(slice(None)) @ vector))
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-5)


def test_a_catalog_without_words_says_that_it_has_none() -> None:
    catalog = Catalog.from_arrays(["a", "b"], {"x": [[1.0], [2.0]]})
    assert not catalog.reads_words
    with pytest.raises(BadInput, match="cannot read words"):
        catalog.session(query="red")
    session = catalog.session()
    with pytest.raises(BadInput, match="cannot read words"):
        session.say("red")
    assert session.step == 0
    assert CATALOG.reads_words


@pytest.mark.parametrize(
    "words", ["mine", (0.5, 0.5, 0.1), (0.5,), (0.5, 0.2, 0.0), (-0.1, 0.2, 1), 3]
)
def test_shares_that_make_no_sense_are_refused(words: Any) -> None:
    with pytest.raises(BadInput):
        Choice(words=words)


def test_matches_are_one_on_average_and_cut_into_parts() -> None:
    rng = np.random.default_rng(1)
    words = [
        (np.sort(rng.choice(90, 12, replace=False)), rng.uniform(size=12), 0.9) for _ in range(3)
    ]
    matches = combine_matches(words, 90)
    everywhere = matches.at(np.arange(90))
    assert everywhere.mean() == pytest.approx(1.0)
    parts = [matches.part(first, first + 30).at(np.arange(30)) for first in (0, 30, 60)]
    np.testing.assert_array_equal(np.concatenate(parts), everywhere)
    assert len(matches.rows) < 40
