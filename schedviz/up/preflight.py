"""The checks before ``manage.py up`` starts anything. Each failure is one line that says what to do."""

import shutil
import socket
from pathlib import Path

from redis import Redis
from redis.exceptions import AuthenticationError, RedisError

from schedviz.lessons.catalogue import check_lessons
from schedviz.server import bind
from schedviz.store import Store, Trouble, schema, trouble_of
from schedviz.store.errors import WrongServers
from schedviz.store.sandbox_servers import prepare_sandbox_servers

LEAST_FREE_MEGABYTES = 16
"""What a start writes is less than one. With a full disk Redis refuses all writes."""


class NotReady(Exception):
    """The error of a failed check before the start. The message is printed in the terminal."""


def check_port(host: str, port: int) -> None:
    """Check that the server can listen there. Raises NotReady if it cannot."""
    try:
        bind(host, port).close()
    except PermissionError:
        raise NotReady(f"port {port} may not be used by this user; choose another: PORT=8000") from None
    except OSError as error:
        if isinstance(error, socket.gaierror):
            raise NotReady(f"HOST={host} is no address of this machine") from None
        raise NotReady(
            f"port {port} is in use: stop what listens there, or choose another: PORT={port + 1}"
        ) from None


def check_redis(url: str) -> None:
    """Check that Redis responds at the URL, in a version that is new enough. Raises NotReady."""
    try:
        with Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as redis:
            version = redis.info("server")["redis_version"]
    except AuthenticationError as error:
        raise NotReady(f"the Redis at REDIS_URL refuses the password: {error}") from None
    except (RedisError, OSError, ValueError) as error:
        raise NotReady(f"the Redis at REDIS_URL does not answer: {error}") from None
    # The watch log is read by exclusive ranges of streams, which came with 6.2.
    if tuple(int(part) for part in version.split(".")[:2]) < (6, 2):
        raise NotReady(f"the Redis at REDIS_URL is version {version}; schedviz needs 6.2 or newer")


def check_room(directory: Path, megabytes: int = LEAST_FREE_MEGABYTES) -> None:
    """Check that the disk has room for what the embedded server writes. Raises NotReady."""
    free = shutil.disk_usage(directory).free >> 20
    if free < megabytes:
        raise NotReady(
            f"the disk of DATA_DIR={directory} has {free} MB left, and a start needs {megabytes}: free some, "
            "or choose another DATA_DIR"
        )


def check_stored(store: Store) -> None:
    """Migrate what is stored, if that is needed. Raises NotReady if a newer schedviz has stored it, or if the
    sandboxes are elsewhere than the setting says."""
    try:
        schema.prepare(store.redis)
        prepare_sandbox_servers(store)
    except (schema.WrongSchema, WrongServers) as error:
        raise NotReady(str(error)) from None
    except RedisError as error:
        match trouble_of(error):
            case None:
                raise
            case Trouble.READ_ONLY:
                raise NotReady(f"Redis refuses writes: {error}") from None
            case Trouble.AWAY | Trouble.FULL:
                # The processes wait until Redis serves, and do the same then.
                pass
    finally:
        store.close()


def check_lesson_files() -> None:
    """Check the lessons. Raises NotReady for the first mistake in them."""
    if mistake := check_lessons():
        raise NotReady(mistake)
