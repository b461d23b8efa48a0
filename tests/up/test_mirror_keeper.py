"""The mirrors that pages connect: which are offered, started, ended, and started again."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from schedviz.store import Meta, Store
from schedviz.store.connected_mirrors import (
    KEEPER,
    OFFERED,
    PROGRESS,
    WANTED,
    ConnectedMirror,
    ConnectedMirrors,
    MirrorProgress,
    OfferedContexts,
)
from schedviz.up import mirror_keeper
from schedviz.up.mirror_keeper import MirrorKeeper
from schedviz.up.supervisor import Program
from tests.waiting import PATIENCE

TOKEN = "t0ken-of-jane"


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror_keeper, "LOOK_SECONDS", 0.01)


@pytest.fixture(autouse=True)
def kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "kubeconfig"
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("dev", "prod", "test")]
    users = [{"name": "u", "user": {"token": TOKEN}}]
    path.write_text(yaml.safe_dump({"contexts": contexts, "users": users, "current-context": "prod"}))
    monkeypatch.setenv("KUBECONFIG", str(path))
    return path


@pytest.mark.parametrize(
    ("allowed", "offered"),
    [
        (["*"], OfferedContexts(["prod", "dev", "test"], "prod")),
        (["test", "gone", "prod"], OfferedContexts(["prod", "test"], "prod")),
        (["-"], OfferedContexts([], "prod")),
    ],
)
def test_only_the_allowed_contexts_are_offered(
    store: Store, allowed: list[str], offered: OfferedContexts
) -> None:
    assert MirrorKeeper(store, allowed).offered_contexts() == offered


@pytest.mark.parametrize(
    "text", [f"users: [{TOKEN}", f"- {TOKEN}", f"contexts: {TOKEN}", f"{TOKEN}: \t- x: y"]
)
def test_a_file_that_is_no_kubeconfig_is_named_and_not_quoted(
    store: Store, kubeconfig: Path, text: str
) -> None:
    kubeconfig.write_text(text)
    assert MirrorKeeper(store, ["*"]).offered_contexts().fault == f"kubeconfig {kubeconfig}: not a kubeconfig"
    kubeconfig.unlink()
    assert MirrorKeeper(store, ["*"]).offered_contexts().fault == f"kubeconfig {kubeconfig}: no such file"


def test_a_kubeconfig_is_parsed_again_when_it_has_changed_and_not_at_each_look(
    store: Store, kubeconfig: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []
    load = yaml.load

    def note(text: bytes, loader: type[yaml.CSafeLoader]) -> object:
        parsed.append(text)
        return load(text, loader)

    monkeypatch.setattr(yaml, "load", note)
    keeper = MirrorKeeper(store, ["*"])
    for _ in range(3):
        assert keeper.offered_contexts().current == "prod"
    assert len(parsed) == 1
    kubeconfig.write_text("contexts: [{name: another}]")
    assert keeper.offered_contexts() == OfferedContexts(["another"])
    assert len(parsed) == 2


class Processes:
    """What is started, and the statuses with which it ends."""

    def __init__(self) -> None:
        self.started: list[list[str]] = []
        self.ended: list[str] = []
        self.statuses: list[int] = []

    async def run_once(self, program: Program) -> int:
        self.started.append([*program.command[3:]])
        try:
            return self.statuses.pop(0) if self.statuses else await asyncio.Event().wait()
        finally:
            self.ended.append(program.name)


async def keep(store: Store, processes: Processes, *steps: Callable[[], bool]) -> None:
    """Run a keeper until the steps have come true, one after the other."""
    task = asyncio.create_task(MirrorKeeper(store, ["*"]).run(processes.run_once))
    try:
        async with asyncio.timeout(PATIENCE):
            for step in steps:
                while not step():
                    assert not task.done(), task
                    await asyncio.sleep(0.002)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def do(act: Callable[[], object]) -> Callable[[], bool]:
    return lambda: act() is not ...


async def test_what_is_wanted_runs_until_it_is_disconnected_and_again_after_a_restart(
    store: Store, mirrors: ConnectedMirrors
) -> None:
    mirrors.connect(ConnectedMirror("eu", "prod", 1.0, "", ("shop", "bank")))
    first, second = Processes(), Processes()
    command = ["mirror", "--connected", "--name=eu", "--context=prod", "--namespaces=shop,bank"]
    await keep(store, first, lambda: first.started == [command])
    assert first.ended == ["mirror eu"], "it ends with the product"
    store.redis.delete(KEEPER)
    await keep(
        store,
        second,
        lambda: second.started == [command],
        do(lambda: mirrors.disconnect("eu")),
        lambda: second.ended == ["mirror eu"],
    )


async def test_one_that_never_followed_is_not_started_again_by_itself(
    store: Store, mirrors: ConnectedMirrors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror_keeper, "AGAIN_SECONDS", 0.01)
    processes = Processes()
    processes.statuses = [2, 1, 1]
    mirrors.connect(ConnectedMirror("eu", "prod", 1.0))
    await keep(
        store,
        processes,
        lambda: processes.ended == ["mirror eu"],
        do(lambda: mirrors.connect(ConnectedMirror("eu", "prod", 2.0))),
        # A process that ends with another status is no answer of the cluster.
        lambda: len(processes.started) == 4,
    )


async def test_one_whose_mirror_was_deleted_is_forgotten(
    store: Store, mirrors: ConnectedMirrors, sandbox_name: str
) -> None:
    store.create(Meta(sandbox_name, created=1.0))
    processes = Processes()
    processes.statuses = [2]
    mirrors.connect(ConnectedMirror(sandbox_name, "prod", 1.0))
    mirrors.note(sandbox_name, MirrorProgress("following", has_followed=True))
    store.delete(sandbox_name)
    await keep(store, processes, lambda: not mirrors.wanted())


def test_one_process_offers_at_a_time(mirrors: ConnectedMirrors) -> None:
    assert mirrors.offer("a", OfferedContexts(["x"]))
    assert not mirrors.offer("b", OfferedContexts(["y"]))
    assert mirrors.offered() == OfferedContexts(["x"])


async def test_records_that_cannot_be_read_end_nothing(store: Store, mirrors: ConnectedMirrors) -> None:
    processes = Processes()
    mirrors.connect(ConnectedMirror("eu", "prod", 1.0))
    for name, record in (("us", b"{"), ("asia", b'{"name": 3}'), ("africa", b'{"name": "\xff"}')):
        store.redis.hset(WANTED, name, record)
    store.redis.hset(PROGRESS, "eu", b'{"phase": "flying"}')
    await keep(store, processes, lambda: len(processes.started) == 1)
    assert [*mirrors.wanted()] == ["eu"]
    assert mirrors.find("us") is None


def test_the_same_offer_is_written_only_to_prolong_it(store: Store, mirrors: ConnectedMirrors) -> None:
    offered = OfferedContexts(["x"])

    def left_after_an_offer(milliseconds: int, contexts: OfferedContexts) -> list[int]:
        for key in (KEEPER, OFFERED):
            store.redis.pexpire(key, milliseconds)
        assert mirrors.offer("a", contexts)
        return [round(store.redis.pttl(key) / 100_000) for key in (KEEPER, OFFERED)]

    assert mirrors.offer("a", offered)
    assert left_after_an_offer(500_000, offered) == [5, 5]
    assert left_after_an_offer(200_000, offered) == [6, 6]
    assert left_after_an_offer(500_000, OfferedContexts(["y"])) == [6, 6]
    assert mirrors.offered() == OfferedContexts(["y"])


async def test_where_no_context_may_be_connected_none_is_offered(
    store: Store, mirrors: ConnectedMirrors
) -> None:
    async with asyncio.timeout(PATIENCE):
        await MirrorKeeper(store, ["-"]).run(Processes().run_once)
    assert mirrors.offered() is None
