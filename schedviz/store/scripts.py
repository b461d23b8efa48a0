"""The Lua scripts in this folder. They are called by EVALSHA; redis-py sends the text if Redis does not have
it."""

from functools import cache
from pathlib import Path

from redis import Redis
from redis.commands.core import Script


class Scripts:
    def __init__(self, redis: Redis) -> None:
        self.archive = load(redis, "archive")
        self.commit = load(redis, "commit")
        self.delete = load(redis, "delete")
        self.lease = load(redis, "lease")
        self.packed = load(redis, "packed")
        self.read_changes = load(redis, "read_changes")
        self.register = load(redis, "register")
        self.set_access = load(redis, "set_access")
        self.set_clock = load(redis, "set_clock")
        self.set_failure = load(redis, "set_failure")
        self.sizes = load(redis, "sizes")


def load(redis: Redis, name: str, folder: Path = Path(__file__).parent) -> Script:
    """Return the script in ``<name>.lua`` of a folder."""
    return redis.register_script(_read(folder / f"{name}.lua"))


@cache
def _read(file: Path) -> str:
    """Return a script's text, which is read once: requests load scripts again and again."""
    return file.read_text(encoding="utf-8")
