"""The store at the Redis servers of the settings."""

import logging
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Final

from django.conf import settings

from schedviz.store import schema
from schedviz.store.errors import WrongServers
from schedviz.store.sandbox_servers import prepare_sandbox_servers
from schedviz.store.store import Store
from schedviz.store.trouble import trouble_of

log = logging.getLogger(__name__)

RETRY_SECONDS: Final = 0.25


@cache
def default_store() -> Store:
    """Return the process's one Store. It is safe to share between threads: its connections are pooled."""
    return Store(settings.REDIS_URL, settings.REDIS_CLUSTER_URLS)


def prepare_default_store(before_attempt: Callable[[], object] = lambda: None) -> Store:
    """Return the default store, for a process that starts: waits until Redis serves, and migrates the stored
    data if that is needed. Ends the process with one line if this program cannot read the stored data.

    before_attempt: called before each attempt to reach Redis; it ends the wait by an exception."""
    store = default_store()
    waiting = False
    while True:
        before_attempt()
        try:
            schema.prepare(store.redis)
            prepare_sandbox_servers(store)
        except (schema.WrongSchema, WrongServers) as error:
            # Celery prints no message of a SystemExit, and replaces sys.stderr by a logger.
            print(f"schedviz: {error}", file=sys.__stderr__, flush=True)
            raise SystemExit(1) from None
        except Exception as error:
            if trouble_of(error) is None:
                # The same message and exit status in web processes and in Celery processes.
                log.critical("the data in Redis could not be migrated", exc_info=error)
                raise SystemExit(1) from error
            if not waiting:
                log.warning("waiting for Redis: %s", error)
                waiting = True
            time.sleep(RETRY_SECONDS)
        else:
            return store
