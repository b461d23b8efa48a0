"""The URL of a Redis: what is allowed in it, and the forms that the libraries take.

redis-py and channels_redis take it as it is. kombu, Celery's library for the broker, has another form for
Unix sockets, and does not check the certificate of a TLS server unless the URL says so.
"""

import socket
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from schedviz import environment

ANSWER_SECONDS: Final = 5.0
"""Seconds for which a process waits for a connection to Redis, and for an answer. redis-py's own default."""

FORMS: Final = (
    "a URL such as redis://127.0.0.1:6379/0, rediss://user:password@host:6379/0 or unix:///path/of/socket"
)

KEEPALIVE: Final = {"TCP_KEEPIDLE": 10, "TCP_KEEPALIVE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""Socket options with which the system ends a connection whose other end is gone after 25 s. Linux calls the
first one TCP_KEEPIDLE, macOS TCP_KEEPALIVE."""

TLS_OPTIONS: Final = {"ssl_ca_certs", "ssl_cert_reqs", "ssl_certfile", "ssl_check_hostname", "ssl_keyfile"}
"""The options of a rediss:// URL that all three libraries read alike."""


def read() -> str:
    """Return the settings REDIS_URL and REDIS_PASSWORD as one URL."""
    url = environment.secret("REDIS_URL", "redis://127.0.0.1:6379/0")
    if wanted := mistake(url):
        raise SystemExit(f"schedviz: REDIS_URL must be {wanted}")
    return with_password(url, environment.secret("REDIS_PASSWORD"))


def read_cluster() -> list[str]:
    """Return the setting REDIS_CLUSTER_URLS: the URLs of some nodes of a Redis Cluster."""
    if environment.secret_given("SANDBOX_REDIS_URLS"):
        raise SystemExit(
            "schedviz: SANDBOX_REDIS_URLS is no setting any more: the sandboxes can be on a Redis Cluster "
            '(REDIS_CLUSTER_URLS). docs/OPERATIONS.md, "Redis Cluster", says how they are moved there'
        )
    text = environment.secret("REDIS_CLUSTER_URLS")
    urls = list(filter(None, (part.strip() for part in text.split(","))))
    if any(_is_no_node(url) for url in urls) or len({with_address(url, "", 0) for url in urls}) > 1:
        raise SystemExit(
            "schedviz: REDIS_CLUSTER_URLS must be the URLs of some nodes of a Redis Cluster, with commas "
            "between, such as redis://:password@a:6379,redis://:password@b:6379; they differ only in the "
            "address, and have no socket and no database but 0"
        )
    return urls


def _is_no_node(url: str) -> bool:
    return bool(mistake(url)) or urlsplit(url).scheme == "unix" or urlsplit(url).path not in ("", "/", "/0")


def with_address(url: str, host: str, port: int) -> str:
    """Return the URL with another host and port."""
    parts = urlsplit(url)
    credentials, at, _ = parts.netloc.rpartition("@")
    place = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=f"{credentials}{at}{place}:{port}", path="/0").geturl()


def mistake(url: str) -> str | None:
    """Return what is wrong with the URL, without any part of it, as it may contain a password; None =
    nothing."""
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        complete = bool(parts.hostname and parts.port != 0)
    except ValueError:
        return FORMS
    match parts.scheme:
        case "unix":
            complete = parts.path.startswith("/") and not parts.hostname
            allowed = {"db"}
        case "rediss":
            allowed = TLS_OPTIONS
        case "redis":
            allowed = set()
        case _:
            return FORMS
    if parts.fragment or not complete:
        return FORMS
    if unknown := options.keys() - allowed:
        return f"{FORMS}, with no option {min(unknown)!r}"
    if options.get("ssl_cert_reqs", "required") not in ("required", "optional", "none"):
        return f"{FORMS}, with ssl_cert_reqs=required, optional or none"
    database = options.get("db", "0") if parts.scheme == "unix" else parts.path.removeprefix("/") or "0"
    if not (database.isascii() and database.isdecimal()):
        return f"{FORMS}, with a number for the database"
    return None


def with_password(url: str, password: str) -> str:
    """Return the URL with the password, unless it has one, or there is none."""
    parts = urlsplit(url)
    if not password or parts.password:
        return url
    user, _, place = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{user.removesuffix(':')}:{quote(password, safe='')}@{place}").geturl()


def socket_options(url: str) -> dict[str, Any]:
    """Return the options of redis-py's connections: where packets vanish, nothing else ends a wait."""
    if urlsplit(url).scheme == "unix":
        return {"socket_timeout": ANSWER_SECONDS}
    return {
        "socket_timeout": ANSWER_SECONDS,
        "socket_connect_timeout": ANSWER_SECONDS,
        "socket_keepalive": True,
        "socket_keepalive_options": {
            getattr(socket, name): number for name, number in KEEPALIVE.items() if hasattr(socket, name)
        },
    }


def for_kombu(url: str) -> str:
    """Return the URL of the same Redis in the form of Celery's ``broker_url``."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    if parts.scheme == "unix":
        query = urlencode({"virtual_host": options.get("db", "0")})
        return f"redis+socket://{parts.netloc}{parts.path}?{query}"
    if parts.scheme == "rediss":
        # redis-py's default.
        return parts._replace(query=urlencode({"ssl_cert_reqs": "required", **options})).geturl()
    return url
