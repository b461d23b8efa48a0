"""``manage.py backup FILE``: everything that is stored, while the server runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from redis.exceptions import RedisError

from schedviz.operate.backup.backup_file import Group, Record, write_records
from schedviz.operate.backup.write_backup import backup_records
from schedviz.store import schema
from schedviz.up.operator_store import operator_store


class Command(BaseCommand):
    help = "Write all sandboxes, rooms, learners and uploads into a file. The server may run."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        store = operator_store()
        sandboxes = 0

        def counted() -> Iterator[Record]:
            nonlocal sandboxes
            for record in backup_records(store):
                sandboxes += isinstance(record, Group) and bool(record.sandbox)
                yield record

        try:
            schema.prepare(store.redis)
            write_records(file, counted())
        except (RedisError, OSError, schema.WrongSchema) as error:
            raise CommandError(f"schedviz: no backup was written: {error}") from None
        finally:
            store.close()
        self.stdout.write(f"{file}: {sandboxes} sandboxes, {file.stat().st_size / 1e6:.1f} MB")
