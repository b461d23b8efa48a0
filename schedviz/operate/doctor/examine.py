"""All checks, in the order in which one reads them."""

import shutil

from django.conf import settings
from redis.exceptions import AuthenticationError, RedisError

from schedviz import environment
from schedviz.operate.doctor.account_checks import check_accounts
from schedviz.operate.doctor.finding import Finding
from schedviz.operate.doctor.process_checks import check_processes
from schedviz.operate.doctor.redis_checks import check_redis
from schedviz.operate.doctor.settings_checks import check_data_directory, check_settings
from schedviz.store import Store


def examine(store: Store) -> list[Finding]:
    return [*_examine_redis(store), *check_settings(), *check_accounts(), *_examine_disk()]


def _examine_redis(store: Store) -> list[Finding]:
    try:
        return [*check_redis(store), *check_processes(store)]
    except AuthenticationError as error:
        return [Finding(f"Redis refuses the password ({error})", "set REDIS_URL or REDIS_PASSWORD")]
    except (RedisError, OSError) as error:
        return [Finding(f"Redis does not answer ({error})", "start it, or set REDIS_URL")]


def _examine_disk() -> list[Finding]:
    """Of the embedded Redis only: the disk of another one is elsewhere."""
    directory = settings.DATA_DIR
    if environment.secret_given("REDIS_URL") or not directory.is_dir():
        return []
    free = shutil.disk_usage(directory).free
    return [*check_data_directory(directory, settings.REDIS_MEMORY_MB, free)]
