"""The import of a cluster: its preview, the sandbox made from it, and no Secret in the store."""

import codecs
import gzip
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from schedviz.limits.pools import IMPORTS
from schedviz.limits.requester import Requester
from schedviz.store import Store
from schedviz.store.commit_script import LIMITS
from schedviz.web.imports import take as imports
from simulator.commands.clean import CleanedHeader, CleanedObject
from simulator.dumps.imported import ImportReport
from simulator.dumps.recognition import GET_COMMAND
from simulator.kernel.work import Abandoned, Waiting, limit_work
from tests.dumps import SECRET, as_list, cluster, node
from tests.stored_json import stored_json

from .asking import text

HTMX = {"HX-Request": "true"}


@pytest.fixture
def client() -> Iterator[Client]:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def brought(store: Store, sandbox_name: str) -> Iterator[str]:
    """The name of a sandbox to be made, deleted afterwards."""
    yield sandbox_name
    if any(meta.name == sandbox_name for meta in store.sandboxes()):
        store.delete(sandbox_name)


def upload(content: bytes, name: str = "cluster.json.gz") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_a_dump_becomes_a_paused_sandbox_that_says_what_was_taken_over(
    client: Client, store: Store, brought: str
) -> None:
    dump = upload(gzip.compress(as_list(cluster()).encode()))
    answer = client.post("/bring/", {"do": "create", "name": brought, "dump": dump})
    assert answer.headers["Location"] == f"/s/{brought}/imported/"
    sandbox = store.sandbox(brought)
    assert sandbox.clock().paused
    assert sandbox.meta().kubernetes == "v1.35.6", "that of the kubelets"
    assert (sandbox.count("nodes"), sandbox.count("pods")) == (3, 5)
    page = text(client.get(f"/s/{brought}/imported/").content)
    assert "17 of 19 objects" not in page
    assert "13 of 19 objects, of 6 kinds" in page
    assert "The kubelets are v1.35 (3). So the version of the sandbox is v1.35" in page
    assert "The owner of 1 object was not in the file" in page
    assert "Pod shop/broken: spec.containers: Required value" in page
    assert page.count("<article") == 3
    again = client.post("/bring/", {"do": "create", "name": brought, "text": as_list([node("n")])})
    assert again.status_code == 422
    assert store.sandbox(brought).count("nodes") == 3, "a name in use deletes nothing"


def test_no_byte_of_a_secret_is_in_redis(client: Client, store: Store, brought: str) -> None:
    client.post("/bring/", {"do": "create", "name": brought, "text": as_list(cluster())})
    assert store.sandbox(brought).count("pods") == 5
    keys = [*store.redis.scan_iter("*")]
    assert keys
    assert not [key for key in keys if SECRET.encode() in key + (store.redis.dump(key) or b"")]
    state = b"".join(
        part
        for key in keys
        for part in (
            [b"%s%s" % row for row in store.redis.hgetall(key).items()]  # type: ignore[union-attr]
            if store.redis.type(key) == b"hash"
            else [repr(store.redis.xrange(key)).encode()]
            if store.redis.type(key) == b"stream"
            else []
        )
    )
    assert b"gke-main-pool-1" in state
    assert SECRET.encode() not in state
    objects = stored_json(store)
    assert b'"gke-main-pool-1"' in objects
    assert SECRET.encode() not in objects


def test_a_preview_stores_nothing(client: Client, store: Store) -> None:
    before = {meta.name for meta in store.sandboxes()}
    asked = {"do": "look", "text": as_list(cluster())}
    windows = codecs.BOM_UTF16_LE + as_list(cluster()).encode("utf-16-le")
    answer = client.post("/bring/", {"do": "look", "dump": upload(windows, "cluster.json")}, headers=HTMX)
    said = text(answer.content)
    assert "nothing is stored yet" in said
    assert "may contain secret values" in said
    assert "<html" not in said
    assert "<html" in text(client.post("/bring/", asked).content)
    assert {meta.name for meta in store.sandboxes()} == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": ""}, "Choose a file, or paste the text."),
        ({"text": "a: [1"}, "Line 2, column 1: A “,” or a closing “]” is missing"),
        (
            {"text": "NAME    STATUS   AGE\nn1      Ready    5d\n"},
            "This is a table that kubectl get prints. Make the file with this command: kubectl get nodes",
        ),
        (
            {"text": "kind: Secret\napiVersion: v1\nmetadata: {name: s}"},
            "such as a Node or a Pod, but 1 Secret. Make it with this command: kubectl get nodes",
        ),
        ({"text": as_list([node("n")]), "name": "no name"}, "The name of a sandbox has at most 63"),
    ],
)
def test_a_dump_that_cannot_be_imported_gets_a_message_and_the_text_is_kept(
    client: Client, store: Store, given: dict[str, str], said: str
) -> None:
    before = {meta.name for meta in store.sandboxes()}
    answer = client.post("/bring/", {"do": "create", **given})
    assert answer.status_code == 422
    assert said in text(answer.content)
    assert text(answer.content).count(given["text"][:40]) >= 1
    assert {meta.name for meta in store.sandboxes()} == before


def test_the_page_and_the_document_have_the_command_that_messages_name(client: Client) -> None:
    assert GET_COMMAND in text(client.get("/bring/").content)
    assert GET_COMMAND in (settings.BASE_DIR / "docs" / "IN_AND_OUT.md").read_text()


def test_a_text_that_is_too_long_to_be_pasted_is_refused_with_a_page(client: Client) -> None:
    answer = client.post("/bring/", {"do": "look", "text": "x" * 5_000_000})
    assert answer.status_code == 413
    assert "More than 4 MiB cannot be sent here." in text(answer.content)


PRINT_AND_DIE = """
import os, sys
sys.stdout.write(open(sys.argv[1]).read())
sys.stdout.flush()
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("last", [b"", b'["nodes", "n70'])
def test_a_dump_whose_reading_is_interrupted_stores_nothing(
    store: Store, brought: str, tmp_path: Path, last: bytes
) -> None:
    """As if the process that reads exceeded its memory or its time."""
    nodes = [msgspec.json.encode(node(f"n{number}")) for number in range(700)]
    lines = [CleanedObject("nodes", f"n{number}", msgspec.Raw(each)) for number, each in enumerate(nodes)]
    said = tmp_path / "lines"
    said.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines) + last)
    with subprocess.Popen([sys.executable, "-c", PRINT_AND_DIE, said], stdout=subprocess.PIPE) as process:
        assert process.stdout
        cluster = imports.TakenCluster(
            CleanedHeader(ImportReport(), None, None), imports.changes(process, process.stdout)
        )
        with pytest.raises(imports.ImportFailed):
            imports.create_from_dump(store, cluster, brought)
    assert brought not in store.names()


def test_a_dump_of_more_objects_than_a_sandbox_may_have_stores_nothing(
    client: Client, store: Store, brought: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.api.new_sandbox.OBJECTS_AT_ONCE", 10)
    monkeypatch.setitem(LIMITS, "objects", 15)
    answer = client.post("/bring/", {"do": "create", "name": brought, "text": as_list(cluster())})
    assert "a sandbox may hold 15 objects" in text(answer.content)
    assert brought not in {meta.name for meta in store.sandboxes()}


def test_an_import_ends_when_its_client_has_disconnected(
    store: Store, sandbox_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is stored, the process that reads the dump ends, and its place is free."""
    dump = tmp_path / "dump.json"
    dump.write_text(as_list(cluster()))
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> "subprocess.Popen[bytes]":
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(imports.subprocess, "Popen", start)
    waiting = Waiting()

    def import_and_disconnect() -> None:
        with imports.read_dump(dump, IMPORTS.shares(Requester("ada", "203.0.113.7"))) as found:
            waiting.has_ended = True
            imports.create_from_dump(store, found, sandbox_name)

    with pytest.raises(Abandoned), limit_work(waiting=waiting):
        import_and_disconnect()
    assert not store.exists(sandbox_name)
    assert [process.poll() is not None for process in started] == [True]
    assert not store.redis.exists(imports.PLACES)
