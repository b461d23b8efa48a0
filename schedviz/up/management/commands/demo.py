"""``manage.py demo``: the sandbox that a first visitor finds."""

from typing import Any

from django.core.management.base import BaseCommand

from schedviz.store import NoSandbox
from schedviz.store.default import default_store
from schedviz.web import scenarios

NAME = "demo"
SCENARIO = "online-vs-offline"
"""In it, preemption happens within the first seconds."""


class Command(BaseCommand):
    help = f"Make the sandbox {NAME!r} if there is none."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        store = default_store()
        try:
            store.sandbox(NAME)
        except NoSandbox:
            scenarios.create(store, SCENARIO, NAME)
