"""``manage.py backup FILE``: everything that is stored, while the server runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from redis.exceptions import RedisError

from schedviz.operate.backup.backup_file import Group, Record, write_records
from schedviz.operate.backup.write_backup import backup_records
from schedviz.store import Store, schema
from schedviz.up.embedded_redis import RedisDidNotStart
from schedviz.up.operator_store import stored_data


class Command(BaseCommand):
    help = "Write all sandboxes, rooms, learners and uploads into a file. The server may run, or not."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        sandboxes = 0

        def counted(store: Store) -> Iterator[Record]:
            nonlocal sandboxes
            for record in backup_records(store):
                sandboxes += isinstance(record, Group) and bool(record.sandbox)
                yield record

        try:
            with stored_data() as store:
                schema.prepare(store.redis)
                write_records(file, counted(store))
        except (RedisError, RedisDidNotStart, OSError, schema.WrongSchema) as error:
            raise CommandError(f"schedviz: no backup was written: {error}") from None
        self.stdout.write(f"{file}: {sandboxes} sandboxes, {file.stat().st_size / 1e6:.1f} MB")
