"""The health checks of the containers: whether the service in this container works.

    python -m schedviz.up.health worker
    python -m schedviz.up.health job-runner
    python -m schedviz.up.health http://127.0.0.1:8000/healthz

Prints one line; the exit status is 0 where the service is healthy, and 1 where it is not.
"""

import sys
import urllib.request
from typing import Final

from schedviz import settings

TIMEOUT_SECONDS: Final = 3.0


class Unhealthy(Exception):
    """The error of a failed check. The message says what is wrong."""


def main(arguments: list[str]) -> int:
    [service] = arguments
    try:
        if service.startswith("http://"):
            check_url(service)
        else:
            check_heartbeat(service)
    except Unhealthy as error:
        print(error)
        return 1
    print("ok")
    return 0


def check_url(url: str) -> None:
    """Check that the web server answers. Raises Unhealthy."""
    # No proxy: one that the container's environment names does not lead back into the container.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=TIMEOUT_SECONDS):
            return
    except OSError as error:  # URLError, of which HTTPError is one, is an OSError too
        raise Unhealthy(f"{url}: {error}") from None


def check_heartbeat(role: str) -> None:
    """Check that a Celery process of this role in this container has sent a heartbeat just now. Raises
    Unhealthy."""
    # Imported here: a check of the web server, in its container every few seconds, needs none of it.
    from redis import Redis  # noqa: PLC0415
    from redis.exceptions import RedisError  # noqa: PLC0415

    from schedviz.processes.heartbeats import TTL_SECONDS, Heartbeats  # noqa: PLC0415
    from schedviz.processes.process_name import runs_here  # noqa: PLC0415
    from schedviz.processes.role import ROLES  # noqa: PLC0415

    if role not in ROLES:
        raise Unhealthy(f"{role!r} is none of {', '.join(ROLES)}")
    try:
        with Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=TIMEOUT_SECONDS, socket_timeout=TIMEOUT_SECONDS
        ) as redis:
            living = Heartbeats(redis, role).living()
    except (RedisError, OSError) as error:
        raise Unhealthy(f"Redis does not answer: {error}") from None
    if not any(runs_here(name) for name in living):
        raise Unhealthy(f"no {role} here has sent a heartbeat for {TTL_SECONDS:.0f} s")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
