"""``manage.py up``: Redis, the web server, the workers and the job runner, until Ctrl-C."""

import logging
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from schedviz import environment
from schedviz.log_formats import JsonFormatter
from schedviz.store import Store
from schedviz.up.announcement import Announcement
from schedviz.up.embedded_redis import DataDirectoryInUse, EmbeddedRedis, RedisDidNotStart, lock
from schedviz.up.kept_key import kept_key
from schedviz.up.migrate import migrate_accounts
from schedviz.up.mirror_keeper import MirrorKeeper
from schedviz.up.preflight import (
    NotReady,
    check_lesson_files,
    check_port,
    check_redis,
    check_room,
    check_stored,
)
from schedviz.up.programs import programs
from schedviz.up.supervisor import Program, run_programs


class Command(BaseCommand):
    help = "Start schedviz: an embedded Redis (unless REDIS_URL is set), the web server, workers and more."
    requires_system_checks = ()
    further_programs: Sequence[Program] = ()
    """What runs beside the others."""

    _writing = threading.Lock()

    def handle(self, *args: Any, **options: Any) -> None:
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
        check_stored(Store(url, settings.REDIS_CLUSTER_URLS))
        migrate_accounts()
        keeps_key = settings.ACCESS == "owners" and not settings.HAS_SECRET_KEY
        environment.pass_secret(
            "SECRET_KEY", kept_key(settings.DATA_DIR) if keeps_key else settings.SECRET_KEY
        )
        store = Store(url, settings.REDIS_CLUSTER_URLS)
        announcement = Announcement(store, self._say)
        threading.Thread(target=announcement.make, daemon=True).start()
        started = programs(
            settings.HOST, settings.PORT, web_processes=settings.WEB_PROCESSES, workers=settings.WORKERS
        )
        keeper = MirrorKeeper(store, settings.MIRROR_CONTEXTS)
        return run_programs([*started, *self.further_programs], self._say, redis, keeper.run)

    def _say(self, line: str) -> None:
        # After the terminal was closed, the programs still have to be stopped in order.
        if settings.LOG_FORMAT == "json" and not line.startswith("{"):
            record = logging.makeLogRecord({"name": "schedviz.up", "levelname": "INFO", "msg": line})
            line = JsonFormatter().format(record)
        with self._writing, suppress(OSError):
            self.stdout.write(line)
            self.stdout.flush()
