"""``manage.py demo``: the sandbox that a first visitor finds."""

from typing import Any

from django.core.management.base import BaseCommand

from schedviz.store import NoSandbox
from schedviz.store.default import default_store
from schedviz.up.parts import DEMO
from schedviz.web import scenarios

SCENARIO = "online-vs-offline"
"""In it, preemption happens within the first seconds."""


class Command(BaseCommand):
    help = f"Make the sandbox {DEMO!r} if there is none."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        store = default_store()
        try:
            store.sandbox(DEMO)
        except NoSandbox:
            scenarios.create(store, SCENARIO, DEMO)
