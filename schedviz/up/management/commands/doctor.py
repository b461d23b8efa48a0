"""``manage.py doctor``: what is wrong with this server, a line for each finding."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from schedviz.operate.doctor.examine import examine
from schedviz.up.operator_store import operator_store


class Command(BaseCommand):
    help = "Say what is wrong with this server and what to do. The exit status is 1 if anything is."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        store = operator_store()
        findings = examine(store)
        store.close()
        for finding in findings:
            self.stdout.write(str(finding))
        if findings:
            sys.exit(1)
        self.stdout.write("No problems found.")
