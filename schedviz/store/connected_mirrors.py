"""The clusters that pages connect: the contexts on offer, the mirrors that are wanted, and how they go.

``schedviz up`` offers the contexts and starts a mirroring process for each mirror that is wanted; this
process notes how it goes. No credentials are here: a context is only its name.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeVar, cast

import msgspec
from redis import Redis

from schedviz.store.keys import PREFIX
from schedviz.store.store import NAME_AT_MOST
from simulator.kernel.prepared_types import prepared

WANTED: Final = f"{PREFIX}:connected-mirrors"
"""The key of a hash: name of a mirror -> JSON of a ConnectedMirror."""
PROGRESS: Final = f"{PREFIX}:connected-mirrors:progress"
"""The key of a hash: name of a mirror -> JSON of its MirrorProgress."""
OFFERED: Final = f"{PREFIX}:offered-contexts"
"""The key of the JSON of OfferedContexts."""
KEEPER: Final = f"{PREFIX}:mirror-keeper"
"""The key of the name of the process that starts the mirroring processes."""
NAMESPACES_AT_MOST: Final = 10
"""Maximum number of single namespaces of a mirror: each has a list and a watch of its own of twenty
resources."""
MIRRORS_AT_MOST: Final = 8
"""Maximum number of mirrors that pages connect: each is a process of up to 300 MB."""
OFFER_SECONDS: Final = 5.0
"""A keeper that is silent for so long offers nothing any more, and another one may take its place."""

_OFFER = """
local keeper = redis.call('GET', KEYS[1])
if keeper and keeper ~= ARGV[1] then return 0 end
if not keeper or redis.call('GET', KEYS[2]) ~= ARGV[2] then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
elseif redis.call('PTTL', KEYS[1]) < ARGV[3] / 2 then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
return 1
"""
_CONNECT = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
"""
_NOTE = """
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[2], ARGV[1], ARGV[2]) end
"""

T = TypeVar("T")

Phase = Literal["connecting", "reading", "following", "ended"]


class OfferedContexts(msgspec.Struct, frozen=True):
    """The contexts that can be connected, the current one first. ``fault``: why the kubeconfig cannot be
    read."""

    contexts: list[str] = []
    current: str = ""
    fault: str = ""


class ConnectedMirror(msgspec.Struct, frozen=True):
    """A mirror that is wanted. ``asked``: wall seconds of the request, by which a new one is told from the
    last. ``access``: the access record of the sandbox. ``namespaces``: the only ones that are
    followed; none = all."""

    name: str
    context: str
    asked: float
    access: str = ""
    namespaces: tuple[str, ...] = ()


class MirrorProgress(msgspec.Struct, frozen=True):
    phase: Phase = "connecting"
    resource: str = ""
    """What is read now."""
    read: int = 0
    total: int = 0
    """How many there are, about; 0 = not known."""
    message: str = ""
    """Why it has ended, in one line."""
    has_followed: bool = False
    """Whether it has followed before, so that it is started again by itself."""


class ConnectedMirrors:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._offer = redis.register_script(_OFFER)
        self._connect = redis.register_script(_CONNECT)
        self._note = redis.register_script(_NOTE)

    def offer(self, keeper: str, offered: OfferedContexts) -> bool:
        """Offer contexts for a short time. False: another process does. An offer that is the same is only
        prolonged, and not at each call: what is written stays in the append-only file."""
        milliseconds = round(OFFER_SECONDS * 1000)
        return bool(self._offer([KEEPER, OFFERED], [keeper, msgspec.json.encode(offered), milliseconds]))

    def offered(self) -> OfferedContexts | None:
        """Return the contexts that can be connected; None = nobody offers any."""
        stored = cast("bytes | None", self._redis.get(OFFERED))
        return _decode(stored, OfferedContexts)

    def connect(self, mirror: ConnectedMirror) -> bool:
        """Want a mirror, also again. False: there are MIRRORS_AT_MOST already."""
        encoded = msgspec.json.encode(mirror)
        return bool(self._connect([WANTED, PROGRESS], [mirror.name, encoded, MIRRORS_AT_MOST]))

    def disconnect(self, name: str) -> None:
        self._redis.hdel(WANTED, name)
        self._redis.hdel(PROGRESS, name)

    def wanted(self) -> dict[str, ConnectedMirror]:
        """Return the mirrors that are wanted, by name. A record that cannot be read counts as none."""
        stored = cast("Mapping[bytes, bytes]", self._redis.hgetall(WANTED))
        found = filter(None, (_decode(each, ConnectedMirror) for each in stored.values()))
        return {each.name: each for each in sorted(found, key=lambda each: each.asked)}

    def find(self, name: str) -> ConnectedMirror | None:
        stored = cast("bytes | None", self._redis.hget(WANTED, name))
        return _decode(stored, ConnectedMirror)

    def progress(self, name: str) -> MirrorProgress:
        stored = cast("bytes | None", self._redis.hget(PROGRESS, name))
        return _decode(stored, MirrorProgress) or MirrorProgress()

    def note(self, name: str, progress: MirrorProgress) -> None:
        """Note how a mirror goes, while it is wanted."""
        self._note([WANTED, PROGRESS], [name, msgspec.json.encode(progress)])


def _decode(stored: bytes | None, kind: type[T]) -> T | None:
    """Return a record; None = there is none, or it cannot be read: another release may have written it, and
    one record must not end the process that runs all programs."""
    if stored is None:
        return None
    try:
        return msgspec.json.decode(stored, type=prepared(kind))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def split_namespaces(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas, each once."""
    return tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))


def mirror_name(context: str) -> str:
    """Return the name of the sandbox of a context, of those characters that a DNS label may have."""
    return re.sub(r"[^a-z0-9]+", "-", context.lower()).strip("-")[:NAME_AT_MOST].strip("-") or "mirror"
