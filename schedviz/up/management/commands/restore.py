"""``manage.py restore FILE``: puts a backup into Redis."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from redis.exceptions import RedisError

from schedviz.operate.backup.backup_file import BadBackup
from schedviz.operate.backup.restore_backup import Refused, restore_backup
from schedviz.up.embedded_redis import RedisDidNotStart
from schedviz.up.operator_store import stored_data


class Command(BaseCommand):
    help = "Put a backup into Redis. Nothing is written if Redis has anything of the same name."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--overwrite",
            action="store_true",
            help="replace what Redis has under the same names; no process of schedviz may run",
        )

    def handle(self, *args: Any, file: Path, overwrite: bool, **options: Any) -> None:
        try:
            with stored_data() as store:
                sandboxes = restore_backup(store, file, overwrite=overwrite)
        except (RedisError, RedisDidNotStart, OSError, BadBackup, Refused) as error:
            raise CommandError(f"schedviz: {error}") from None
        self.stdout.write(f"{sandboxes} sandboxes were restored")
