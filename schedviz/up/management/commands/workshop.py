"""``manage.py workshop``: ``manage.py up`` for a class, whose devices reach this machine by its address."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from schedviz.machine_names import find_addresses, find_names


class Command(BaseCommand):
    help = "Start schedviz for a class: find the address of this machine, allow it, and show its QR code."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--address", help="the address or name that learners type; without it, that of the network card"
        )

    def handle(self, *args: Any, address: str | None, **options: Any) -> None:
        addresses = find_addresses()
        if not address and not addresses:
            raise CommandError("schedviz: this machine is in no network: connect it, or give its --address")
        known = [address] if address else []
        hosts = dict.fromkeys([*known, *addresses, *find_names(), *settings.ALLOWED_HOSTS])
        # The settings of a process do not change, so another one has them.
        os.environ.update(HOST="0.0.0.0", ALLOWED_HOSTS=",".join(hosts), WORKSHOP="1")  # noqa: S104 (the purpose)
        os.execv(sys.executable, [sys.executable, "-m", "schedviz", "up"])  # noqa: S606 (our own command)
