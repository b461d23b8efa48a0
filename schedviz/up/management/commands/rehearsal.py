"""``manage.py rehearsal``: simulated learners in a room."""

import argparse
import os
import sys
import time
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils.translation import gettext, override

from schedviz import environment
from schedviz.rooms.rehearsal import NICENESS, Rehearsal, is_running
from schedviz.rooms.room import What
from schedviz.rooms.room_store import Rooms
from schedviz.store.default import default_store, prepare_default_store
from schedviz.up.operator_store import operator_redis_url
from schedviz.web.rooms.plan import BEGINNERS, read_plan

ROOM_SECONDS = 2 * 3600


class Command(BaseCommand):
    help = "Open a room with 30 simulated learners on the running schedviz, to rehearse a class."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("code", nargs="?", default="", help="The code of a room; none = open one.")
        parser.add_argument("--language", default="en", help="The language of the learners' names.")
        parser.add_argument("--parent", type=int, default=0, help=argparse.SUPPRESS)

    def handle(self, *args: Any, code: str, language: str, parent: int, **options: Any) -> None:
        if not code and operator_redis_url() != settings.REDIS_URL:
            # The Redis of `make up`: the settings, which are read already, get it by the environment.
            environment.pass_secret("REDIS_URL", operator_redis_url())
            os.execv(sys.executable, [sys.executable, "-m", "schedviz", "rehearsal"])  # noqa: S606 (ourselves)
        prepare_default_store()
        store = default_store()
        if is_running(store):
            raise CommandError(
                "another rehearsal runs: remove its learners in the teacher's view of its room"
            )
        os.nice(NICENESS)
        if not code:
            code = self._open_room()

        def is_wanted() -> bool:
            return not parent or os.getppid() == parent

        with override(language):
            name = gettext("Simulated %(n)s")
            with suppress(KeyboardInterrupt):
                Rehearsal(store, code, lambda n: name % {"n": n}, time.monotonic()).run(is_wanted)

    def _open_room(self) -> str:
        rooms = Rooms(default_store())
        room, token = rooms.create("Rehearsal", What("course"), "own", ROOM_SECONDS)
        rooms.change(room.code, rehearsing=True, plan=read_plan(BEGINNERS))
        path = reverse("teach-link", args=[room.code, token])
        self.stdout.write(f"The teacher's view: http://127.0.0.1:{settings.PORT}{path}\nCtrl-C ends it.")
        self.stdout.flush()
        return room.code
