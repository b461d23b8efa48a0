"""``manage.py repair``: repairs the embedded server's file."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from schedviz.up.embedded_redis import DataDirectoryInUse, lock
from schedviz.up.repair import NothingToRepair, NotRepaired, repair_append_only_file


class Command(BaseCommand):
    help = "Cut off what the embedded server cannot read at the end of its file, and keep a copy."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with lock(settings.DATA_DIR):
                repair = repair_append_only_file(settings.DATA_DIR)
        except (DataDirectoryInUse, NothingToRepair, NotRepaired, OSError) as error:
            raise CommandError(f"schedviz: {error}") from None
        if repair.bytes_cut:
            self.stdout.write(f"{repair.bytes_cut} bytes were cut off; a copy of before is {repair.copy}")
        else:
            self.stdout.write(f"nothing had to be cut off; a copy is {repair.copy}")
