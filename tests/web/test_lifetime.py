"""The lifetime of unused sandboxes."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client, override_settings

from schedviz.store import Sandbox, Store, lifetime
from schedviz.store.keys import USED
from schedviz.store.lifetime import Lifetimes
from schedviz.web.lifetime import DEMO, SWEEP_LOCK, delete_ended, ends, lifetimes

HOUR = 3600.0
Ago = Callable[[float], object]
NOTICE = "It will be deleted within"


@pytest.fixture
def ago(store: Store, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ago]:
    """Sets how many hours ago the sandbox was used; its lifetime is 100 hours, and each use is noted."""
    monkeypatch.setattr(lifetime, "NOTED_SECONDS", 0.0)
    lifetimes.cache_clear()
    with override_settings(SANDBOX_LIFETIME_HOURS=100):
        yield lambda hours: store.redis.zadd(USED, {sandbox.name: store.wall() - hours * HOUR})
    lifetimes.cache_clear()
    store.redis.delete(USED, SWEEP_LOCK)


def used_ago(store: Store, name: str) -> float:
    return store.wall() - (store.redis.zscore(USED, name) or 0.0)


def test_opening_a_sandbox_counts_as_use_until_the_notice_and_then_only_keep(
    client: Client, store: Store, sandbox: Sandbox, ago: Ago
) -> None:
    page, name = f"/s/{sandbox.name}/", sandbox.name
    ago(89)
    assert NOTICE not in client.get(page).content.decode()
    assert used_ago(store, name) < 60

    ago(91)
    shown = client.get(page).content.decode()
    assert f"{NOTICE} 9 hours." in shown
    assert f'href="{page}download/"' in shown
    assert f'action="{page}keep/"' in shown
    assert used_ago(store, name) > 90 * HOUR, "viewing it does not count any more"
    assert client.post(f"{page}keep/").headers["Location"] == page
    assert used_ago(store, name) < 60
    assert NOTICE not in client.get(page).content.decode()

    ago(91)
    assert client.post(f"{page}clock/", {"do": "pause"}).status_code < 400
    assert used_ago(store, name) < 60, "it was changed"


def test_a_sandbox_that_nobody_used_is_deleted(
    store: Store, sandbox: Sandbox, sandbox_name: str, ago: Ago
) -> None:
    known = Lifetimes(store, 100)
    ago(99.9)
    store.redis.zadd(USED, {"gone": 1.0, DEMO: 1.0})
    delete_ended(store, known)
    assert sandbox_name in store.names()
    assert store.redis.zscore(USED, "gone") is None
    ago(100.1)
    delete_ended(store, known)
    assert sandbox_name in store.names(), "another process has just looked"
    store.redis.delete(SWEEP_LOCK)
    store.hold(sandbox_name).take()
    delete_ended(store, known)
    assert sandbox_name in store.names(), "a presenter holds it"
    store.redis.delete(SWEEP_LOCK)
    store.hold(sandbox_name).release()
    delete_ended(store, known)
    assert sandbox_name not in store.names()


def test_a_sandbox_older_than_the_setting_has_the_whole_lifetime(store: Store, sandbox: Sandbox, ago) -> None:
    assert Lifetimes(store, 100).ended({sandbox.name}) == []
    assert used_ago(store, sandbox.name) < 60


def test_a_use_is_noted_once_a_minute(
    store: Store, sandbox: Sandbox, ago: Ago, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifetime, "NOTED_SECONDS", 60.0)
    known = Lifetimes(store, 100)
    known.note(sandbox.name, is_write=False)
    ago(50)
    known.note(sandbox.name, is_write=False)
    assert used_ago(store, sandbox.name) > 49 * HOUR
    known.note(sandbox.name, is_write=True)
    assert used_ago(store, sandbox.name) < 60


def test_the_demo_and_rooms_have_no_lifetime_and_nothing_has_one_without_the_setting(
    client: Client, store: Store, sandbox: Sandbox
) -> None:
    assert not ends(DEMO)
    assert ends(sandbox.name)
    assert not ends("x" * 64), "no sandbox has such a name"
    client.get(f"/s/{sandbox.name}/")
    assert store.redis.zscore(USED, sandbox.name) is None
    assert Lifetimes(store, 0).ended({sandbox.name}) == []
