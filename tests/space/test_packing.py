"""Compact views: everything is exact for the vectors as they are stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seeker
from seeker import Catalog, display
from seeker.cli import main
from seeker.errors import BadInput
from seeker.models import Bipartite, Choice, Model, Pairwise
from seeker.space import View, packing
from support.catalogs import random_catalog
from support.formulas import rate, twin

compact = pytest.mark.parametrize("dtype", ["float16", "int8"])
MODELS: list[Model] = [Pairwise(), Pairwise(10.0, scale="raw"), Bipartite(), Choice()]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


@compact
def test_what_is_stored_is_close_to_what_was_given(dtype: str) -> None:
    rng = np.random.default_rng(1)
    given = rng.normal(size=(500, 37)) * rng.uniform(0.1, 30.0, 37) + 100.0
    view = View.from_vectors("x", given, dtype=dtype)  # type: ignore[arg-type]
    assert view.dtype == dtype
    away = np.abs(given - given.mean(axis=0)).max(axis=1, keepdims=True)
    most = away / 254 if dtype == "int8" else np.abs(given - given.mean(axis=0)) * 2.0**-11
    assert (np.abs(view.rows(slice(None)) - given) <= most * 1.001 + 1e-4).all()


@compact
@each_model
@pytest.mark.parametrize("dims", [(24,), (24, 9)], ids=["one view", "two views"])
def test_the_posterior_is_the_formula_on_what_is_stored(
    model: Model, dtype: str, dims: tuple[int, ...]
) -> None:
    session = random_catalog(dims=dims, dtype=dtype).session(model=model)
    rate(session, 5, 6)
    np.testing.assert_allclose(session.belief.log_posterior, twin(session), rtol=0, atol=1e-4)


@compact
def test_words_fall_on_what_is_stored(dtype: str) -> None:
    catalog = random_catalog(dtype=dtype)
    r = np.linspace(-0.2, 0.2, 24)
    session = catalog.session()
    session.say(r)
    view = catalog.views["image"]
    logits = view.rows(slice(None)) @ r / view.scale
    expected = -np.logaddexp(0.0, -logits)
    expected -= np.logaddexp.reduce(expected)
    np.testing.assert_allclose(session.belief.log_posterior, expected, rtol=0, atol=1e-4)


@compact
@each_model
def test_a_lazy_page_is_the_head_of_the_whole_ranking(model: Model, dtype: str) -> None:
    catalog = random_catalog(9000, dims=(24, 16), dtype=dtype)
    lazy, settled = (
        catalog.session(model=model, strategy=display.Boltzmann(), seed=3) for _ in range(2)
    )
    for step in range(6):
        shown = lazy.page().ids
        assert shown == settled.page().ids
        for session in (lazy, settled):
            (session.dislike if step % 3 else session.like)(shown[step], shown=shown)
        settled.belief  # noqa: B018 (it brings all items up to date)
        settled.refresh()


def test_the_form_goes_by_the_size_unless_it_is_said() -> None:
    assert packing.choose_dtype("auto", 1_000_000, 256) == "float32"
    assert packing.choose_dtype("auto", 10_000_000, 256) == "float16"
    assert packing.choose_dtype("auto", 100_000_000, 256) == "int8"
    assert packing.choose_dtype("int8", 3, 3) == "int8"


def test_forms_that_there_are_not() -> None:
    with pytest.raises(BadInput, match="store vectors"):
        random_catalog(dtype="int4")
    with pytest.raises(BadInput, match="too large for float16"):
        Catalog.from_arrays(["a", "b"], {"x": [[1e6], [-1e6]]}, dtype="float16")
    with pytest.raises(BadInput, match="too small for float16"):
        Catalog.from_arrays(["a", "b"], {"x": [[1e-6], [-1e-6]]}, dtype="float16")


@compact
def test_vectors_that_are_all_alike_are_not_too_small(dtype: str) -> None:
    catalog = Catalog.from_arrays(["a", "b", "c"], {"x": [[0.1, 1e-9]] * 3}, dtype=dtype)
    stored = catalog.views["x"].rows(slice(None))
    np.testing.assert_allclose(stored, [[0.1, 1e-9]] * 3, rtol=1e-6)


@compact
def test_a_row_at_the_centre_and_a_single_item(dtype: str) -> None:
    catalog = Catalog.from_arrays(["a"], {"x": [[3.0, 4.0]]}, dtype=dtype)
    assert catalog.session().page().ids == ["a"]
    np.testing.assert_array_equal(catalog.views["x"].rows(slice(None)), [[3.0, 4.0]])


@compact
def test_a_folder_keeps_the_form_through_updates(dtype: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(300, 20)) + 5.0, rng.normal(size=(40, 20))
    np.save(tmp_path / "first.npy", first)
    built = main(["build", f"{tmp_path}/first.npy", "--out", f"{tmp_path}/made", "--dtype", dtype])
    assert built == 0
    before = Catalog.open(tmp_path / "made")
    name = next(iter(before.views))
    assert before.views[name].dtype == dtype
    kept = before.views[name].rows(slice(None))
    session = before.session(seed=1)
    session.like(session.page().ids[0])

    fresh: dict[str, Any] = {name: second, "ids": [f"new {n}" for n in range(40)]}
    np.savez(tmp_path / "second.npz", **fresh)
    assert main(["update", f"{tmp_path}/made", f"{tmp_path}/second.npz"]) == 0
    after = Catalog.open(tmp_path / "made")
    assert len(after) == 340
    assert after.views[name].dtype == dtype
    np.testing.assert_allclose(after.views[name].rows(slice(0, 300)), kept, rtol=0, atol=1e-5)
    assert np.abs(after.views[name].rows(slice(300, 340)) - second).max() < 0.05
    assert seeker.Session.replay(after, session.events).likes == session.likes
    assert main(["remove", f"{tmp_path}/made", "--ids", session.likes[0]]) == 0
    left = Catalog.open(tmp_path / "made")
    assert len(left) == 339
    assert seeker.Session.replay(left, session.events).likes == session.likes
    assert main(["verify", f"{tmp_path}/made"]) == 0


def test_damaged_steps_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.eye(9))
    seeker.build(tmp_path / "x.npy", tmp_path / "made", dtype="int8")
    steps = next((tmp_path / "made" / "views").glob("*.steps.npy"))
    steps.unlink()
    with pytest.raises(BadInput, match="missing"):
        Catalog.open(tmp_path / "made")
