"""The list of all sandboxes: bounded, in step with what exists, and whole though one entry cannot be read."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from schedviz.store import Failure, LimitReached, Meta, NoSandbox, Store, Unreadable
from schedviz.store import store as store_module
from schedviz.store.keys import Keys
from tests.store.test_commit import create
from tests.threads import THREADS, at_once


@pytest.fixture
def stores(redis_url: str) -> Iterator[list[Store]]:
    """One a thread, as different processes have."""
    stores = [Store(redis_url) for _ in range(THREADS)]
    yield stores
    for store in stores:
        store.close()


def test_one_of_many_concurrent_creations_of_the_last_sandbox_succeeds(
    store: Store, stores: list[Store], sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MAX_SANDBOXES", len(store.names()) + 1)
    for turn in range(5):
        names = [f"{sandbox_name[:55]}-{turn}-{number}" for number in range(THREADS)]
        results = at_once(lambda number, names=names: stores[number].create(Meta(names[number])))  # type: ignore[misc] # a lambda's default
        refused = [result for result in results if isinstance(result, LimitReached)]
        (made,) = [name for name in names if name in store.names()]
        assert len(refused) == THREADS - 1, results
        store.delete(made)


def test_a_sandbox_made_while_another_of_its_name_is_deleted_stays_listed(
    store: Store, stores: list[Store], sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(Meta(sandbox_name))
    scripts = store.servers.of(sandbox_name).scripts
    delete = scripts.delete

    def then_another_is_made(*args: object, **kwargs: object) -> object:
        reply = delete(*args, **kwargs)  # type: ignore[arg-type] # passed on as they come
        stores[0].create(Meta(sandbox_name, title="the second"))
        return reply

    monkeypatch.setattr(scripts, "delete", then_another_is_made)
    store.delete(sandbox_name)
    monkeypatch.undo()
    assert [meta.title for meta in store.sandboxes() if meta.name == sandbox_name] == ["the second"]
    store.delete(sandbox_name)
    assert sandbox_name not in store.names()


class Cut(Exception):
    """The process ends here."""


@pytest.mark.parametrize("steps", range(5))
def test_a_deletion_that_was_interrupted_after_any_step_is_finished(
    store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    sandbox = store.create(Meta(sandbox_name), [create(f"p{number}") for number in range(10)])
    sandbox.set_failure(Failure("fault", 1, 0.0, 1.0))
    left = steps
    execute = store.redis.execute_command

    def cut(*arguments: object, **options: object) -> object:
        nonlocal left
        if arguments[0] in {"EVALSHA", "SREM", "ZREM"}:
            if not left:
                raise Cut
            left -= 1
        return execute(*arguments, **options)

    with monkeypatch.context() as patch, suppress(Cut):
        patch.setattr(store.redis, "execute_command", cut)
        store.delete(sandbox_name)
    if not steps:
        assert sandbox.size() == 10, "nothing was deleted"
        store.delete(sandbox_name)
    assert not store.exists(sandbox_name)
    store.finish_deletions()
    assert sandbox_name not in store.names()
    assert sandbox_name not in store.failing()
    keys = Keys.of(sandbox_name)
    assert [*store.redis.scan_iter(keys.state.replace("state", "*"))] == [keys.state.encode()], "its counters"


def test_a_sandbox_whose_slow_creation_counts_as_interrupted_is_listed_at_last(
    store: Store, stores: list[Store], sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = store.servers.of(sandbox_name).scripts
    register = scripts.register

    def then_it_is_deleted(*args: object, **kwargs: object) -> object:
        reply = register(*args, **kwargs)  # type: ignore[arg-type] # passed on as they come
        monkeypatch.undo()
        with pytest.raises(NoSandbox):
            stores[0].delete(sandbox_name)
        return reply

    monkeypatch.setattr(scripts, "register", then_it_is_deleted)
    store.create(Meta(sandbox_name))
    assert sandbox_name in store.names()
    store.delete(sandbox_name)


def test_a_sandbox_that_cannot_be_replaced_leaves_no_name(store: Store, sandbox_name: str) -> None:
    store.create(Meta(sandbox_name), access="record")
    with pytest.raises(ValueError, match="a sandbox's name"), store.replacing(sandbox_name):
        store.create(Meta("-"))
    assert sandbox_name not in store.names()
    with store.replacing(sandbox_name) as access:  # there is none
        assert access == ""
        assert sandbox_name not in store.names()
        store.create(Meta(sandbox_name), access="record")
    with store.replacing(sandbox_name) as access:
        assert access == "record"
        assert sandbox_name in store.names()
        store.create(Meta(sandbox_name))
    store.delete(sandbox_name)


@pytest.mark.parametrize(
    "stored", [b"", b"{", b"[]", b'{"title": "no name"}', b"\xff", b'{"name": "a", "kubernetes": "v9.9.9"}']
)
@pytest.mark.parametrize("field", ["meta", "clock"])
def test_a_sandbox_that_cannot_be_read_hides_no_other(
    store: Store, sandbox_name: str, field: str, stored: bytes
) -> None:
    other, broken = f"{sandbox_name[:50]}-other", f"{sandbox_name[:50]}-broken"
    store.create(Meta(other))
    sandbox = store.create(Meta(broken))
    store.redis.hset(Keys.of(broken).state, field, stored)
    with pytest.raises(Unreadable, match=broken):
        (sandbox.meta if field == "meta" else sandbox.clock)()
    listed = {meta.name for meta in store.sandboxes()}
    assert other in listed
    assert (broken in listed) == (field == "clock")
    assert store.summaries([])[1] == {broken: ""}
    assert {other, broken} <= store.names()
    for name in (other, broken):
        store.delete(name)
    assert not {other, broken} & store.names()
