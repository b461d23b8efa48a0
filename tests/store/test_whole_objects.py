"""Large sandboxes are read in parts, as of one moment."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from schedviz.store import Commit, NoSandbox, Sandbox, Store, codec, whole_objects
from schedviz.store.commit_script import LIMITS
from simulator.api import Change

from .test_commit import create

PODS = 60


@pytest.fixture
def large(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """A sandbox that is read in parts of 10 kB."""
    monkeypatch.setattr(whole_objects, "PART_BYTES", 10_000)
    for number in range(PODS):
        text = Random(number).randbytes(500).hex()  # which is hardly compressed
        sandbox.commit(Commit([create(f"p{number}", text=text)]))
    sandbox.commit(Commit([config_map("a")]))
    return sandbox


def config_map(name: str) -> Change:
    metadata = {"name": name, "namespace": "default"}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return Change("configmaps", f"default/{name}", manifest, 0)


def write_meanwhile(monkeypatch: pytest.MonkeyPatch, *writes: Callable[[], object]) -> None:
    """Do one of these before each of the first parts that are read."""
    left = [*writes]
    scan = whole_objects.scan_objects

    def scanned(*arguments: Any) -> Iterator[tuple[bytes, bytes]]:
        for found in scan(*arguments):
            if left:
                left.pop(0)()
            yield found

    monkeypatch.setattr(whole_objects, "scan_objects", scanned)


def test_a_large_sandbox_is_read_as_of_one_version_while_it_is_written(
    large: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_meanwhile(
        monkeypatch,
        lambda: large.commit(Commit([Change("pods", "default/p0", None), create("new")])),
        lambda: large.commit(Commit([create("gone"), Change("pods", "default/p1", None)])),
        lambda: large.commit(Commit([Change("pods", "default/gone", None)])),
        lambda: large.commit(Commit([Change("secrets", "default/s", {"kind": "Secret", "metadata": {}}, 0)])),
    )
    objects, version = large.list_all()
    assert version == large.version()
    names = {f"default/p{number}" for number in range(2, PODS)} | {"default/new"}
    assert objects["pods"].keys() == names
    assert [*objects["pods"]] == sorted(names)
    assert objects["secrets"].keys() == {"default/s"}
    assert objects["configmaps"].keys() == {"default/a"}
    assert objects == large.list_all()[0]
    whole = store.read_whole(large.name)
    assert whole.position.version == version
    assert whole.objects["pods"].keys() == names
    assert codec.version_of(whole.objects["pods"]["default/new"]) == PODS + 3


def test_one_resource_of_a_large_sandbox_is_read_as_of_one_version(
    large: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_meanwhile(
        monkeypatch, lambda: large.commit(Commit([Change("pods", "default/p0", None), config_map("b")]))
    )
    listing = large.list("pods")
    assert listing.version == large.version()
    assert len(listing.items) == PODS - 1
    assert [item["metadata"]["name"] for item in large.list("configmaps").items] == ["a", "b"]
    assert large.list("nodes").items == []


def test_no_reply_is_larger_than_a_part(large: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    following = whole_objects.next_count

    def noted(count: int, size: int) -> int:
        sizes.append(size)
        return following(count, size)

    def at_once(*_: object) -> None:
        raise AssertionError("read at once")

    monkeypatch.setattr(whole_objects, "next_count", noted)
    monkeypatch.setattr(whole_objects, "_read_at_once", at_once)
    large.list_all()
    assert len(sizes) >= 4
    assert max(sizes) < 3 * whole_objects.PART_BYTES, "HSCAN returns whole buckets"


def test_a_log_that_is_trimmed_during_each_try_ends_in_one_read(
    large: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "log", 1)
    scan, tries = whole_objects.scan_objects, []

    def scanned(*arguments: Any) -> Iterator[tuple[bytes, bytes]]:
        tries.append(len(tries))
        large.commit(Commit([create(f"a{len(tries)}"), create(f"b{len(tries)}")]))
        return scan(*arguments)

    monkeypatch.setattr(whole_objects, "scan_objects", scanned)
    objects, version = large.list_all()
    assert version == large.version()
    assert len(tries) == 2 * whole_objects.TRIES, "pods and config maps"
    assert len(objects["pods"]) == PODS + 2 * len(tries)


def test_a_sandbox_that_is_deleted_meanwhile_has_no_objects(
    large: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_meanwhile(monkeypatch, lambda: store.delete(large.name))
    assert large.list_all()[0] == {}
    with pytest.raises(NoSandbox):
        store.read_whole(large.name)
