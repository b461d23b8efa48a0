"""The hold of a sandbox: one presenter at a time has it."""

import secrets
from collections.abc import Iterator

import pytest

from schedviz.store import Store
from schedviz.store.hold import HELD_SECONDS, Hold
from tests.threads import THREADS, at_once


@pytest.fixture
def hold(store: Store) -> Iterator[Hold]:
    hold = Hold(store.redis, f"hold-{secrets.token_hex(4)}", lambda: 5.0)
    yield hold
    hold.release()


def test_one_of_many_concurrent_presenters_gets_the_hold(hold: Hold) -> None:
    for _ in range(50):
        tokens = [str(token) for token in at_once(lambda _: hold.take())]
        assert tokens.count("") == THREADS - 1, tokens
        assert hold.token() == max(tokens), "it is the presenter's who got a token"
        hold.release()


def test_the_hold_of_an_older_sandbox_of_the_same_name_does_not_count(store: Store, hold: Hold) -> None:
    sandbox = hold.key.partition("{")[2].partition("}")[0]
    older = Hold(store.redis, sandbox, lambda: 4.0)
    assert older.take()
    assert hold.token() == ""
    token = hold.take()
    assert token
    assert hold.token() == token
    assert older.token() == ""
    assert HELD_SECONDS - 60 < int(store.redis.ttl(hold.key)) <= HELD_SECONDS  # type: ignore[arg-type] # not awaited
