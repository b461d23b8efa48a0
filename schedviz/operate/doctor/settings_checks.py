"""Checks of settings that contradict each other, or let in whom they should not."""

import stat
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host

from schedviz.lessons.catalogue import check_lessons
from schedviz.local_names import is_local
from schedviz.operate.doctor.finding import Finding


def check_settings() -> list[Finding]:
    return [
        *_check_hosts(),
        *_check_access(),
        *_check_secrets(),
        *_check_redis_urls(),
        *_check_tracing(),
        *_check_lesson_files(),
    ]


def _check_hosts() -> Iterator[Finding]:
    hosts = settings.ALLOWED_HOSTS
    if "*" in hosts:
        yield Finding(
            "ALLOWED_HOSTS allows every name, so pages of other sites reach the server by a name of theirs",
            "list the names under which the pages are asked for",
        )
    if not is_local(settings.HOST) and all(is_local(host) for host in hosts):
        yield Finding(
            f"HOST={settings.HOST} lets others in, and ALLOWED_HOSTS refuses all their requests",
            "set ALLOWED_HOSTS to the name of this machine as others write it",
        )
    for origin in settings.CSRF_TRUSTED_ORIGINS:
        host = (urlsplit(origin).hostname or "").replace("*.", "")
        if not validate_host(host, hosts):
            yield Finding(
                f"CSRF_TRUSTED_ORIGINS trusts {host}, and ALLOWED_HOSTS refuses requests to it",
                "add it to ALLOWED_HOSTS",
            )


def _check_access() -> Iterator[Finding]:
    hosts = [host for host in settings.ALLOWED_HOSTS if not is_local(host)]
    if settings.ACCESS == "open" and hosts:
        yield Finding(
            f"ACCESS=open lets everybody who reaches {hosts[0]} change and delete every sandbox",
            "set ACCESS=owners",
        )


def _check_secrets() -> Iterator[Finding]:
    kept = (settings.DATA_DIR / "secret-key").exists()
    if settings.ACCESS == "owners" and not settings.HAS_SECRET_KEY and not kept:
        yield Finding(
            "ACCESS=owners needs a SECRET_KEY, without which only `manage.py up` starts a web server",
            "set one, the same for all web processes",
        )


def _check_redis_urls() -> Iterator[Finding]:
    yield from _check_redis_url("REDIS_URL", settings.REDIS_URL)
    for url in settings.REDIS_CLUSTER_URLS:
        yield from _check_redis_url("REDIS_CLUSTER_URLS", url)


def _check_redis_url(setting: str, url: str) -> Iterator[Finding]:
    parts = urlsplit(url)
    if parts.scheme == "unix" or is_local(parts.hostname or ""):
        return
    if not parts.password:
        yield Finding(
            f"{setting} names a Redis on another machine ({parts.hostname}) without a password",
            "set a password there and in the setting; whoever reaches it may change everything",
        )
    if parts.scheme == "redis" and "." in (parts.hostname or ""):
        yield Finding(
            f"{setting}: all data go to {parts.hostname} without encryption",
            "use rediss:// unless the network between is your own",
        )


def _check_tracing() -> Iterator[Finding]:
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT and find_spec("opentelemetry") is None:
        yield Finding(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages that send traces are not installed",
            "install requirements/tracing.txt",
        )


def _check_lesson_files() -> Iterator[Finding]:
    mistake = check_lessons()
    if mistake:
        yield Finding(f"a lesson cannot be read: {mistake}", "mend it; the server does not start with it")


def check_data_directory(directory: Path, needed_mb: int, free_bytes: int) -> Iterator[Finding]:
    """Yield the directory of the embedded Redis, which exists. ``needed_mb``: what its memory may grow to."""
    status = directory.stat()
    if stat.S_IMODE(status.st_mode) & 0o077:
        yield Finding(
            f"other users of this machine can look into DATA_DIR ({directory}), which has all data",
            f"chmod 700 {directory}",
        )
    for path in sorted(directory.glob("secret*")):
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield Finding(f"other users of this machine can read {path}", f"chmod 600 {path}")
    if free_bytes < needed_mb << 20:
        yield Finding(
            f"the disk of DATA_DIR has {free_bytes >> 20} MiB left, and Redis may need {needed_mb}",
            "make room on the disk",
        )
