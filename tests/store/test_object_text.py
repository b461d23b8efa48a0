"""Objects are stored compressed, and counted by their JSON. Those of older versions are read."""

from hashlib import sha256
from typing import cast

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from schedviz.store import Commit, Sandbox, Store, codec
from schedviz.store.codec import Entries
from schedviz.store.keys import Keys, objects_key
from schedviz.store.object_text import DICTIONARY, compress, expand, json_size
from simulator.api import Change

from .test_commit import create, everything, pod

JSON = st.dictionaries(st.text(), st.recursive(st.none() | st.text(), st.lists))


@given(JSON, st.integers(0, 50))
def test_an_object_is_read_as_it_was_written(value: dict[str, object], copies: int) -> None:
    json = msgspec.json.encode(value | {"copies": [value] * copies})
    text = compress(json).encode()
    assert expand(text) == json
    assert json_size(text) == len(json) >= len(text)


def test_a_pod_is_stored_in_a_fraction_of_its_json() -> None:
    json = codec.object_json(
        pod("a", nodeName="n", dnsPolicy="ClusterFirst", schedulerName="default-scheduler")
    )
    assert len(compress(json)) < len(json) / 2


def test_the_dictionary_stays_as_it_is() -> None:
    """Without it nothing that is stored can be read: another one would need another text and a migration."""
    assert (
        sha256(DICTIONARY).hexdigest() == "dcad42cd5f571fd67bf4cb665e002dfbe1d53a47d807da8105e34a4e497f84c7"
    )


def test_a_sandbox_of_schema_version_3_is_read_and_written(sandbox: Sandbox, store: Store) -> None:
    sandbox.commit(Commit([create(name, text="ä" * 300) for name in "abc"]))
    before, counted = everything(sandbox), sandbox.stored_bytes()
    store_as_json(store, sandbox.name)
    assert everything(sandbox) == before
    assert sandbox.sizes([("pods", "default/a"), ("pods", "default/none")]) == [counted.objects // 3, 0]

    changed = pod("b", nodeName="n", text="ä" * 300)
    sandbox.commit(Commit([Change("pods", "default/a", None), Change("pods", "default/b", changed)]))
    assert [each["metadata"]["name"] for each in sandbox.list("pods").items] == ["b", "c"]
    size = sum(len(codec.object_json(each)) for each in sandbox.list("pods").items)
    assert sandbox.stored_bytes().objects == size
    deleted, modified = sandbox.events(3)
    assert (deleted.object["spec"]["text"], modified.object["spec"]["nodeName"]) == ("ä" * 300, "n")


def store_as_json(store: Store, name: str) -> None:
    """Store the pods and the log of a sandbox as schema version 3 did."""
    pods, log = objects_key(name, "pods"), Keys.of(name).log
    for key, stored in cast("dict[bytes, bytes]", store.redis.hgetall(pods)).items():
        version, json = codec.split_object(stored)
        store.redis.hset(pods, key, b"%d %s" % (version, json))  # type: ignore[arg-type] # no bytes in its stubs
    entries = cast("Entries", store.redis.xrange(log))
    store.redis.delete(log)
    for number, fields in entries:
        fields[b"object"] = expand(fields[b"object"])
        store.redis.xadd(log, fields, id=number)  # type: ignore[arg-type] # as above
