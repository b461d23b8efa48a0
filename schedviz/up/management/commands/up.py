"""``manage.py up``: Redis, the web server and the workers under one supervisor, until Ctrl-C."""

import sys
import threading
import time
import urllib.request
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from schedviz import environment
from schedviz.celery import WORKER_ARGUMENTS
from schedviz.embedded_redis import DataDirectoryInUse, EmbeddedRedis, RedisDidNotStart, lock
from schedviz.up.parts import DEMO, SERVER
from schedviz.up.preflight import NotReady, check_port, check_redis
from schedviz.up.supervisor import Supervisor

READY_SECONDS = 60.0
"""After this without an answer something is wrong; a start takes three."""


class Command(BaseCommand):
    help = "Start schedviz: an embedded Redis (unless REDIS_URL is set), the web server and the workers."
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
        check_port(settings.HOST, settings.PORT)
        if environment.given("REDIS_URL"):
            check_redis(settings.REDIS_URL)
            held = None
        else:
            held = stack.enter_context(lock(settings.DATA_DIR))
        supervisor = Supervisor(self._say)
        stack.callback(supervisor.stop)
        redis_url = settings.REDIS_URL
        if held is not None:
            redis = EmbeddedRedis.start(settings.DATA_DIR, held)
            supervisor.adopt("redis", redis.process)
            redis_url = redis.url
        children = {"REDIS_URL": redis_url, "SECRET_KEY": settings.SECRET_KEY}
        python = [sys.executable, "-m"]
        address = [f"--host={settings.HOST}", f"--port={settings.PORT}"]
        supervisor.start("web", [*python, *SERVER, *address], children)
        for number in range(1, settings.WORKERS + 1):
            name = f"worker-{number}"
            command = [
                *python,
                "celery",
                "--app=schedviz",
                "--quiet",
                *WORKER_ARGUMENTS,
                f"--hostname={name}",
            ]
            supervisor.start(name, command, children, "restarted")
        supervisor.start("demo", [sys.executable, "manage.py", "demo"], children, "once")
        threading.Thread(target=self._announce, args=[supervisor], daemon=True).start()
        status = supervisor.run()
        if status == 0:
            self._say("stopping")
        return status

    def _announce(self, supervisor: Supervisor) -> None:
        """Print the URL when the server says that all is ready, and the demo is there."""
        url = f"http://{_for_browsers(settings.HOST)}:{settings.PORT}/"
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if _answers(f"{url}readyz") and _answers(f"{url}s/{DEMO}/trace"):
                supervisor.call(lambda: self._say(f"schedviz is at {url} (Ctrl-C stops it)"))
                return
            time.sleep(0.1)
        supervisor.call(lambda: self._say(f"{url}readyz: still not ready after {READY_SECONDS:.0f} s"))

    def _say(self, line: str) -> None:
        with self._writing:
            self.stdout.write(line)
            self.stdout.flush()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 (our own http URL)
            return True
    except OSError:  # URLError, of which HTTPError is one, is an OSError too
        return False


def _for_browsers(host: str) -> str:
    """An address to open for the address that is listened on."""
    if host in ("0.0.0.0", "::", ""):  # noqa: S104 (compared, not listened on)
        return "localhost"
    return f"[{host}]" if ":" in host else host
