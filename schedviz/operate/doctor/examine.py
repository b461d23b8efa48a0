"""All checks, in the order in which one reads them."""

import shutil

from django.conf import settings
from redis.exceptions import AuthenticationError, RedisError

from schedviz import environment
from schedviz.operate.doctor.account_checks import check_accounts
from schedviz.operate.doctor.finding import Finding
from schedviz.operate.doctor.process_checks import check_processes
from schedviz.operate.doctor.redis_checks import check_server, check_stored
from schedviz.operate.doctor.settings_checks import check_data_directory, check_settings
from schedviz.store import Store
from schedviz.store.errors import WrongServers
from schedviz.store.server import Server


def examine(store: Store) -> list[Finding]:
    return [
        *_examine_servers(store),
        *_examine_stored(store),
        *check_settings(),
        *check_accounts(),
        *_examine_disk(),
    ]


def _examine_servers(store: Store) -> list[Finding]:
    found = _examine_server(store.main)
    if not store.has_cluster:
        return found
    try:
        return [*found, *(finding for server in store.servers.all for finding in _examine_server(server))]
    except (RedisError, OSError, WrongServers) as error:
        return [
            *found,
            Finding(f"the Redis Cluster does not answer ({error})", "start it, or set REDIS_CLUSTER_URLS"),
        ]


def _examine_server(server: Server) -> list[Finding]:
    """Examine a server. The findings name the server, unless it is the main one."""
    setting = "REDIS_CLUSTER_URLS" if server.label else "REDIS_URL"
    try:
        found = check_server(server)
    except AuthenticationError as error:
        found = [Finding(f"Redis refuses the password ({error})", f"set {setting} or REDIS_PASSWORD")]
    except (RedisError, OSError) as error:
        found = [Finding(f"Redis does not answer ({error})", f"start it, or set {setting}")]
    if not server.label:
        return found
    return [Finding(f"server {server.label}: {problem}", remedy) for problem, remedy in found]


def _examine_stored(store: Store) -> list[Finding]:
    try:
        return [*check_stored(store), *check_processes(store)]
    except (RedisError, OSError):
        return []  # _examine_server says that the main server does not answer


def _examine_disk() -> list[Finding]:
    """Check the disk of the embedded Redis only. The disk of another one is elsewhere."""
    directory = settings.DATA_DIR
    if environment.secret_given("REDIS_URL") or not directory.is_dir():
        return []
    free = shutil.disk_usage(directory).free
    return [*check_data_directory(directory, settings.REDIS_MEMORY_MB, free)]
