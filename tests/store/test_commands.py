"""REDIS_URL may be that of a Redis 6.2, so no command is newer."""

import re
from collections.abc import Iterable

from redis import Redis

from schedviz.store import Meta, Store
from schedviz.up.embedded_redis import EmbeddedRedis
from tests.processes import ROOT

OLDEST = (6, 2, 0)


def newer_commands(redis_url: str, commands: Iterable[str]) -> list[str]:
    """Return those of the commands that appeared after Redis 6.2, by the server's own documentation."""
    with Redis.from_url(redis_url) as server:
        # redis-py would read the answer as that of COMMAND.
        server.set_response_callback("COMMAND", lambda answer, **_: answer)
        answers = {command: server.execute_command("COMMAND", "DOCS", command) for command in commands}
    newer = []
    for command, answer in answers.items():
        (document,) = answer.values()
        version = document[b"since"].decode()
        if tuple(map(int, version.split("."))) > OLDEST:
            newer.append(f"{command} since {version}")
    return newer


def test_the_scripts_call_no_command_newer_than_redis_6_2(redis_url: str) -> None:
    texts = [path.read_text() for path in (ROOT / "schedviz").rglob("*") if path.suffix in {".lua", ".py"}]
    commands = {command for text in texts for command in re.findall(r"redis\.call\(['\"](\w+)", text)}
    assert len(commands) > 20
    assert newer_commands(redis_url, sorted(commands)) == []


def test_a_store_calls_no_command_newer_than_redis_6_2(own_redis: EmbeddedRedis, sandbox_name: str) -> None:
    store = Store(own_redis.url)
    store.create(Meta(name=sandbox_name, created=1_700_000_000.0))
    store.read_whole(sandbox_name)
    store.delete(sandbox_name)
    store.close()
    with Redis.from_url(own_redis.url) as server:
        called = [name.removeprefix("cmdstat_") for name in server.info("commandstats")]
    assert "evalsha" in called
    # redis-py sends its name with it and passes over the refusal of an older server.
    called.remove("client|setinfo")
    assert newer_commands(own_redis.url, called) == []


def test_a_newer_command_would_be_found(redis_url: str) -> None:
    assert newer_commands(redis_url, ["get", "expiretime"]) == ["expiretime since 7.0.0"]
