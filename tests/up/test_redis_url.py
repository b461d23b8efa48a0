"""REDIS_URL: what is refused, what the three libraries make of it, and that no password is printed."""

import os
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import redis.asyncio
from channels_redis.utils import create_pool, decode_hosts
from kombu import Connection
from redis import Redis

from schedviz import redis_url
from tests.processes import ROOT

SECRET = "s3cr3t-w0rd"


@pytest.mark.parametrize(
    "url",
    [
        f"http://:{SECRET}@localhost/0",
        f"redis://:{SECRET}/x@localhost/0",  # an unquoted slash
        f"redis://:{SECRET}@/0",
        f"redis://:{SECRET}@localhost/zero",
        f"redis://:{SECRET}@localhost:{SECRET}/0",
        f"redis://:{SECRET}@localhost/0?ssl_ca_certs=/ca.pem",
        f"rediss://:{SECRET}@localhost/0?ssl_cert_reqs=maybe",
        f"unix://:{SECRET}@socket",
        f"unix://:{SECRET}@/run/redis?db=a",
    ],
)
def test_a_wrong_url_is_refused_in_one_line_without_its_password(url: str) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=ROOT,
        env={**os.environ, "REDIS_URL": url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("schedviz: REDIS_URL must be a URL such as ")
    assert SECRET not in line


def test_a_password_of_its_own_is_put_into_the_url() -> None:
    for url, whole in {
        "redis://host:6379/0": "redis://:a%2Fb%40@host:6379/0",
        "rediss://user@host/0": "rediss://user:a%2Fb%40@host/0",
        "redis://user:@host/0": "redis://user:a%2Fb%40@host/0",
        "redis://user:own@host/0": "redis://user:own@host/0",
        "unix:///run/redis?db=0": "unix://:a%2Fb%40@/run/redis?db=0",
    }.items():
        assert redis_url.with_password(url, "a/b@") == whole
        assert redis_url.mistake(whole) is None
    assert redis_url.with_password("redis://host/0", "") == "redis://host/0"


def test_secrets_are_read_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "password").write_text(f"{SECRET}\n")
    monkeypatch.setenv("REDIS_URL", "redis://host:6379/0")
    monkeypatch.setenv("REDIS_PASSWORD_FILE", str(tmp_path / "password"))
    assert redis_url.read() == f"redis://:{SECRET}@host:6379/0"
    monkeypatch.setenv("REDIS_PASSWORD", SECRET)
    with pytest.raises(SystemExit, match=r"^schedviz: REDIS_PASSWORD and REDIS_PASSWORD_FILE must"):
        redis_url.read()
    monkeypatch.setenv("REDIS_PASSWORD", "")
    monkeypatch.setenv("REDIS_PASSWORD_FILE", str(tmp_path / "nothing"))
    with pytest.raises(SystemExit, match=r"^schedviz: REDIS_PASSWORD_FILE cannot be read: "):
        redis_url.read()


@pytest.mark.parametrize(
    "urls",
    [
        "redis://a,redis://:other@b",
        "redis://a,rediss://a",
        "redis://a:6379/1",
        "unix:///run/redis",
        "a=redis://a",
    ],
)
def test_wrong_urls_of_a_cluster_are_refused_in_one_line(urls: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_CLUSTER_URLS", urls)
    with pytest.raises(SystemExit, match=r"^schedviz: REDIS_CLUSTER_URLS must be the URLs of .* but 0$"):
        redis_url.read_cluster()


def test_the_urls_of_a_cluster_differ_only_in_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_CLUSTER_URLS", "redis://u:p@a, redis://u:p@b:6380/0,")
    urls = redis_url.read_cluster()
    assert urls == ["redis://u:p@a", "redis://u:p@b:6380/0"]
    assert redis_url.with_address(urls[0], "::1", 7) == "redis://u:p@[::1]:7/0"
    monkeypatch.setenv("SANDBOX_REDIS_URLS", "a=redis://a")
    with pytest.raises(SystemExit, match=r"^schedviz: SANDBOX_REDIS_URLS is no setting any more: .* there$"):
        redis_url.read_cluster()


def of_redis_py(url: str) -> dict[str, object]:
    return dict(Redis.from_url(url).connection_pool.connection_kwargs)


def of_channels(url: str) -> dict[str, object]:
    [host] = decode_hosts([url])
    pool: redis.asyncio.ConnectionPool = create_pool(host)
    return dict(pool.connection_kwargs)


def of_kombu(url: str) -> dict[str, object]:
    """The broker's connections are redis-py's, with these arguments."""
    connection = Connection(redis_url.for_kombu(url))
    kind = connection.transport.Channel
    # Its constructor connects.
    channel = kind.__new__(kind)
    channel.connection = connection.transport
    return dict(channel._connparams())


ParametersOf = Callable[[str], dict[str, object]]
LIBRARIES = pytest.mark.parametrize("parameters_of", [of_redis_py, of_channels, of_kombu])


@LIBRARIES
def test_each_library_reads_a_tls_server_with_a_user(parameters_of: ParametersOf) -> None:
    url = "rediss://user:a%2Fb%40@redis.example.com:6390/3?ssl_cert_reqs=required&ssl_ca_certs=/etc/ca.pem"
    found = parameters_of(url)
    expected = {"username": "user", "password": "a/b@", "host": "redis.example.com", "port": 6390, "db": 3}
    assert expected.items() <= found.items()
    assert found["ssl_ca_certs"] == "/etc/ca.pem"
    assert found["ssl_cert_reqs"] in ("required", ssl.CERT_REQUIRED)


@LIBRARIES
def test_each_library_reads_a_unix_socket_with_a_user(parameters_of: ParametersOf) -> None:
    found = parameters_of("unix://user:a%2Fb%40@/run/my%20redis/socket?db=3")
    expected = {"username": "user", "password": "a/b@", "path": "/run/my redis/socket", "db": 3}
    assert expected.items() <= found.items()
