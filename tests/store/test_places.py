"""A bounded number of places: counted and taken in one step, given up when their time is over."""

import secrets
import time
from collections.abc import Iterator

import pytest

from schedviz.comparisons.order import AT_ONCE, Half, Order, Orders, TooManyComparisons, Wish
from schedviz.questions.question import Question, Questions, TooManyQuestions
from schedviz.store import Store
from schedviz.store.places import Places
from tests.threads import THREADS, at_once

HALF = Half("own", None, "v1.34", 0)
WISH = Wish("scenario", "taints-and-affinity", "", HALF, HALF, 60)


@pytest.fixture
def key(store: Store) -> Iterator[str]:
    key = f"test:places:{secrets.token_hex(4)}"
    yield key
    store.redis.delete(key)


def test_of_many_who_take_the_last_place_one_gets_it(store: Store, key: str) -> None:
    places = Places(store, key, 3)
    for turn in range(20):
        assert places.take("a", 60)
        assert places.take("b", 60)
        results = at_once(lambda number, turn=turn: places.take(f"{turn}-{number}", 60))  # type: ignore[misc] # a lambda's default
        assert results.count(True) == 1, results
        assert results.count(False) == THREADS - 1
        assert places.take("a", 60), "who has a place keeps it"
        store.redis.delete(key)


def test_a_place_is_free_again_when_its_time_is_over_or_somebody_leaves(store: Store, key: str) -> None:
    places = Places(store, key, 1)
    assert places.take("a", 0.001)
    while not places.take("b", 60):
        time.sleep(0)
    assert not places.take("a", 60)
    places.leave("b")
    assert places.take("a", 60)


def test_of_many_who_ask_for_the_last_comparison_one_gets_it(
    store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.comparisons.order.ACTIVE", f"test:active:{sandbox_name}")
    orders = Orders(store)
    for _ in range(5):
        held = [orders.ask(WISH) for _ in range(AT_ONCE - 1)]
        results = at_once(lambda _: orders.ask(WISH))
        made = [result for result in results if isinstance(result, Order)]
        assert len(made) == 1, results
        assert sum(isinstance(result, TooManyComparisons) for result in results) == THREADS - 1
        for order in [*held, *made]:
            orders.tell(Order(order.id, WISH, "stopped"))


def test_of_many_who_ask_the_last_question_one_gets_it(
    store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.questions.question.WAITING_AT_MOST", 3)
    monkeypatch.setattr("schedviz.questions.question.WAITING", f"test:waiting:{sandbox_name}")
    questions = Questions(store)
    for turn in range(5):
        held = [questions.ask("what-if", sandbox_name, f"default/{turn}-{n}", "u") for n in range(2)]
        results = at_once(
            lambda number, turn=turn: questions.ask("what-if", sandbox_name, f"default/{turn}-p{number}", "u")  # type: ignore[misc] # a lambda's default
        )
        made = [result for result in results if isinstance(result, Question)]
        assert len(made) == 1, results
        assert sum(isinstance(result, TooManyQuestions) for result in results) == THREADS - 1
        for question in [*held, *made]:
            questions.tell(Question(question.id, "what-if", sandbox_name, question.pod, "u", state="stopped"))
