"""The page /metrics: who may read it, and what is on it."""

import re
import urllib.request
from pathlib import Path

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from schedviz.api import write
from schedviz.live import consumers
from schedviz.loop.wakes import wake
from schedviz.metrics.registry import REGISTRY
from schedviz.operate.server_state import NAMES
from schedviz.store import Meta, Store
from schedviz.store.default import default_store
from tests.loop.conftest import node, pod
from tests.waiting import eventually

OPERATIONS = Path(__file__).parents[2] / "docs" / "OPERATIONS.md"

assert set() == consumers.CONNECTED, "the module has its gauge"


@pytest.fixture
def client(redis_url: str) -> Client:
    return Client(headers={"Host": "localhost"})


def parsed(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def exported() -> set[str]:
    """The names as the text format has them; that of a histogram is without its suffixes."""
    own = {f"{each.name}_total" if each.type == "counter" else each.name for each in REGISTRY.collect()}
    return own | set(NAMES)


def test_the_page_counts_requests(client: Client) -> None:
    key = ("schedviz_requests_total", (("method", "GET"), ("status", "404"), ("view", "none")))
    before = parsed(client.get("/metrics").content.decode()).get(key, 0.0)
    assert client.get("/no/such/page").status_code == 404
    response = client.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=")
    found = parsed(response.content.decode())
    assert found[key] == before + 1
    assert found["schedviz_redis_memory_used_bytes", ()] > 0
    assert found["schedviz_processes", (("role", "worker"),)] >= 0
    assert found["schedviz_viewers", ()] == 0


def test_the_buckets_of_a_histogram_are_in_order(client: Client) -> None:
    client.get("/metrics")
    text = client.get("/metrics").content.decode()
    bounds = re.findall(r'request_duration_seconds_bucket\{le="([^"]+)",view="metrics"\}', text)
    assert bounds == [*sorted(bounds[:-1], key=float), "+Inf"]
    assert len(bounds) == 13


def test_paths_are_not_used_as_labels(client: Client) -> None:
    client.get("/s/whatever-name-there-is/")
    client.get("/s/whatever-name-there-is/api/v1/pods")
    assert "whatever" not in client.get("/metrics").content.decode()


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.1.4", "2001:db8::1", ""])
def test_without_a_token_others_may_not_read(client: Client, address: str) -> None:
    response = client.get("/metrics", REMOTE_ADDR=address)
    assert response.status_code == 401
    assert "only programs on this machine" in response.content.decode()


def test_without_a_token_a_proxy_may_not_read(client: Client) -> None:
    for header in ("X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip"):
        assert client.get("/metrics", headers={header: "127.0.0.1"}).status_code == 401
    assert client.get("/metrics", REMOTE_ADDR="::1").status_code == 200


def test_without_a_token_only_a_local_name_may_be_asked_for(
    client: Client, settings: pytest.FixtureRequest
) -> None:
    """A proxy on the same machine may add no header, and keep the Host header of its client."""
    settings.ALLOWED_HOSTS = ["schedviz.example.com", "localhost", "[::1]"]
    assert client.get("/metrics", headers={"Host": "schedviz.example.com"}).status_code == 401
    for name in ("localhost", "localhost:8000", "[::1]:8000"):
        assert client.get("/metrics", headers={"Host": name}).status_code == 200


def test_with_a_token_only_the_token_counts(client: Client, settings: pytest.FixtureRequest) -> None:
    settings.METRICS_TOKEN = "s3cret"
    assert client.get("/metrics").status_code == 401
    for given in ("Bearer s3cre", "Bearer s3crett", "s3cret", "Basic s3cret", "Bearer sécret"):
        assert client.get("/metrics", headers={"Authorization": given}).status_code == 401
    headers = {"Authorization": "Bearer s3cret", "X-Forwarded-For": "10.0.0.1"}
    assert client.get("/metrics", headers=headers, REMOTE_ADDR="10.0.0.1").status_code == 200


def test_every_metric_is_documented() -> None:
    documented = set(re.findall(r"^\| `((?:scheduler|schedviz)_\w+)`", OPERATIONS.read_text(), re.MULTILINE))
    assert documented == exported()


def test_the_metrics_page_of_the_server_has_the_counts_of_workers(
    stack: str, store: Store, sandbox_name: str
) -> None:
    def scheduled() -> float:
        with urllib.request.urlopen(f"{stack}/metrics") as response:
            found = parsed(response.read().decode())
        labels = (("profile", "default-scheduler"), ("result", "scheduled"))
        return found.get(("scheduler_schedule_attempts_total", labels), 0.0)

    before = scheduled()
    write.create_sandbox(
        default_store(),
        Meta(name=sandbox_name, created=store.wall()),
        [node("n"), *(pod(f"p{i}") for i in range(3))],
    )
    wake(sandbox_name)
    eventually(lambda: scheduled() >= before + 3, "the attempts of the worker are on the page")
    store.delete(sandbox_name)
