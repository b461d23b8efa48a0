"""``manage.py demo``: the sandbox that a first visitor finds."""

import time
from typing import Any, Final

from django.core.management.base import BaseCommand

from schedviz.api.from_scenario import create_from_scenario
from schedviz.store import NoSandbox, trouble_of
from schedviz.store.default import default_store, prepare_default_store
from schedviz.up.programs import DEMO

RETRY_SECONDS: Final = 2.0

SCENARIO = "online-vs-offline"
"""The scenario of the demo. In it, preemption happens within the first seconds."""


class Command(BaseCommand):
    help = f"Make the sandbox {DEMO!r} if there is none."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        prepare_default_store()
        while True:
            try:
                self._make()
            except Exception as error:
                trouble = trouble_of(error)
                if trouble is None:
                    raise
                self.stderr.write(f"waiting to create the demo: Redis is {trouble.value} ({error})")
                time.sleep(RETRY_SECONDS)
            else:
                return

    def _make(self) -> None:
        store = default_store()
        try:
            store.sandbox(DEMO)
        except NoSandbox:
            create_from_scenario(store, SCENARIO, DEMO)
