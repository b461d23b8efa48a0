"""``manage.py spread``: moves the sandboxes to the Redis servers of SANDBOX_REDIS_URLS."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from redis.exceptions import RedisError

from schedviz import redis_url
from schedviz.operate.spread import CannotSpread, spread_sandboxes
from schedviz.store.schema import WrongSchema
from schedviz.store.server import Server
from schedviz.up.operator_store import operator_store


class Command(BaseCommand):
    help = "Move each sandbox to its server of SANDBOX_REDIS_URLS. No process of schedviz may run."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--from",
            dest="emptied",
            metavar="LABEL=URL",
            help="a server that SANDBOX_REDIS_URLS does not name any more, and that still has sandboxes",
        )

    def handle(self, *args: Any, emptied: str | None, **options: Any) -> None:
        store = operator_store()
        try:
            servers = [Server(*each) for each in redis_url.parse_labelled(emptied or "", "--from").items()]
            moved = spread_sandboxes(store, servers[0] if servers else None)
        except (RedisError, OSError, CannotSpread, WrongSchema) as error:
            raise CommandError(f"schedviz: {error}") from None
        finally:
            store.close()
        self.stdout.write(f"{moved} sandboxes were moved")
