"""The Lua scripts beside this file. Called by EVALSHA, with the whole text where Redis has forgotten it."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redis import Redis
    from redis.commands.core import Script


class Scripts:
    def __init__(self, redis: "Redis") -> None:
        self.archive = _load(redis, "archive")
        self.commit = _load(redis, "commit")
        self.delete = _load(redis, "delete")
        self.lease = _load(redis, "lease")
        self.packed = _load(redis, "packed")
        self.register = _load(redis, "register")
        self.set_clock = _load(redis, "set_clock")


def _load(redis: "Redis", name: str) -> "Script":
    return redis.register_script((Path(__file__).parent / f"{name}.lua").read_text(encoding="utf-8"))
