"""``manage.py up``: Redis, the web server, the workers and the job runner, until Ctrl-C."""

import logging
import os
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from schedviz import environment
from schedviz.log_formats import JsonFormatter
from schedviz.store import Store
from schedviz.up.embedded_redis import DataDirectoryInUse, EmbeddedRedis, RedisDidNotStart, lock
from schedviz.up.kept_key import kept_key
from schedviz.up.migrate import migrate_accounts
from schedviz.up.preflight import (
    NotReady,
    check_lesson_files,
    check_port,
    check_redis,
    check_room,
    check_stored,
)
from schedviz.up.programs import DEMO, programs
from schedviz.up.supervisor import run_programs

READY_SECONDS = 60.0
"""Seconds after which a line says that the server is not ready yet. A start takes three seconds."""


class Command(BaseCommand):
    help = "Start schedviz: an embedded Redis (unless REDIS_URL is set), the web server, workers and more."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        self._writing = threading.Lock()
        try:
            with ExitStack() as stack:
                status = self._up(stack)
        except (NotReady, DataDirectoryInUse, RedisDidNotStart) as error:
            self.stderr.write(f"schedviz: {error}")
            status = 1
        sys.exit(status)

    def _up(self, stack: ExitStack) -> int:
        # Only this user may read the files of the data directory, whatever its mode.
        os.umask(0o077)
        check_lesson_files()
        check_port(settings.HOST, settings.PORT)
        redis = None
        if environment.secret_given("REDIS_URL"):
            url = settings.REDIS_URL
            check_redis(url)
        else:
            held = stack.enter_context(lock(settings.DATA_DIR))
            check_room(settings.DATA_DIR)
            redis = EmbeddedRedis.start(settings.DATA_DIR, held, memory_mb=settings.REDIS_MEMORY_MB)
            stack.callback(redis.stop)
            url = redis.url
            environment.pass_secret("REDIS_URL", url)
            environment.pass_secret("REDIS_PASSWORD", "")
        for label, sandbox_url in settings.SANDBOX_REDIS_URLS.items():
            check_redis(sandbox_url, f"SANDBOX_REDIS_URLS ({label})")
        check_stored(Store(url, settings.SANDBOX_REDIS_URLS))
        migrate_accounts()
        keeps_key = settings.ACCESS == "owners" and not settings.HAS_SECRET_KEY
        environment.pass_secret(
            "SECRET_KEY", kept_key(settings.DATA_DIR) if keeps_key else settings.SECRET_KEY
        )
        threading.Thread(target=self._announce, daemon=True).start()
        started = programs(
            settings.HOST, settings.PORT, web_processes=settings.WEB_PROCESSES, workers=settings.WORKERS
        )
        return run_programs(started, self._say, redis)

    def _announce(self) -> None:
        """Print the URL when the server is ready and there is the demo."""
        url = f"http://{_for_browsers(settings.HOST)}:{settings.PORT}/"
        demo = f"{url}s/{DEMO}/"
        started, late = time.monotonic(), False
        # With HTTPS, only the health checks are answered without the proxy.
        while not (_answers(f"{url}readyz") and (settings.HTTPS or _answers(f"{demo}trace"))):
            if not late and time.monotonic() > started + READY_SECONDS:
                late = True
                self._say(f"{url}readyz: still not ready after {READY_SECONDS:.0f} s")
            time.sleep(0.1)
        self._say(f"schedviz is at {url} (the demo: {demo}); Ctrl-C stops it")

    def _say(self, line: str) -> None:
        # After the terminal was closed, the programs still have to be stopped in order.
        if settings.LOG_FORMAT == "json" and not line.startswith("{"):
            record = logging.makeLogRecord({"name": "schedviz.up", "levelname": "INFO", "msg": line})
            line = JsonFormatter().format(record)
        with self._writing, suppress(OSError):
            self.stdout.write(line)
            self.stdout.flush()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 (our own http URL)
            return True
    except OSError:  # URLError, of which HTTPError is one, is an OSError too
        return False


def _for_browsers(host: str) -> str:
    """Return the address to open in a browser for the address that the server listens on."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 (compared, not listened on)
        return "localhost"
    return f"[{host}]" if ":" in host else host
