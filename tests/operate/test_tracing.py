"""A trace of spans goes from a request to the frame that shows its effect, through real processes."""

import http.server
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from websockets.sync.client import connect

from schedviz import tracing
from schedviz.api import write
from schedviz.celery import WORKER_ARGUMENTS
from schedviz.loop.leadership import living_workers
from schedviz.store import Meta, Store
from schedviz.tracing import NOTHING, context, start_tracing, trace_part, trace_root
from schedviz.up.embedded_redis import EmbeddedRedis, free_port
from schedviz.up.programs import SERVER
from tests.loop.conftest import node, pod
from tests.processes import CELERY, Process, answers
from tests.waiting import eventually

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector(http.server.ThreadingHTTPServer):
    """Takes traces as OpenTelemetry's collector does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.spans: list[tuple[str, Span]] = []
        """With the role of the process."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def is_whole(self) -> bool:
        """Whether the slice's span and all its parents have arrived."""
        there = {span.span_id for _, span in self.spans}
        own = [span for _, span in self.spans if span.trace_id.hex() == TRACE and span.name != "POST request"]
        return bool(self.named("slice")) and all(span.parent_span_id in there for span in own)

    def named(self, name: str) -> list[tuple[str, Span]]:
        return [each for each in self.spans if each[1].name == name and each[1].trace_id.hex() == TRACE]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            role = next(
                a.value.string_value for a in resource.resource.attributes if a.key == "schedviz.role"
            )
            self.server.spans += [(role, span) for scope in resource.scope_spans for span in scope.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    yield collector
    collector.shutdown()
    collector.server_close()


def test_without_the_setting_nothing_is_traced() -> None:
    start_tracing("web", "")
    assert tracing._tracer is None
    assert trace_root("request") is trace_part("commit", "00-0-0-01") is NOTHING
    assert context() == ""


@pytest.mark.long
def test_a_request_is_traced_to_its_frames(
    own_redis: EmbeddedRedis, tmp_path: Path, collector: Collector
) -> None:
    environment = {
        "REDIS_URL": own_redis.url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    store = Store(own_redis.url)
    with ExitStack() as ends:
        ends.callback(store.close)
        for name, command in {
            "web": ["-m", SERVER, f"--port={port}"],
            "worker": [*CELERY, *WORKER_ARGUMENTS],
        }.items():
            ends.callback(Process(command, tmp_path / name, environment).kill)
        eventually(lambda: answers(f"{url}/healthz") and living_workers(store), "the processes run")
        write.create_sandbox(store, Meta(name="demo", created=store.wall()), [node("n")])
        eventually(lambda: answers(f"{url}/s/demo/trace"), "the sandbox is there")
        page = ends.enter_context(connect(f"ws://127.0.0.1:{port}/s/demo/live/", origin=url))  # type: ignore[arg-type]
        page.recv()  # the whole page
        request = urllib.request.Request(
            f"{url}/s/demo/api/v1/namespaces/default/pods",
            data=json.dumps(pod("p")).encode(),
            headers={"Content-Type": "application/json", "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"},
        )
        with urllib.request.urlopen(request) as response:
            number = response.headers["X-Request-ID"]
        eventually(lambda: collector.named("frame") and collector.is_whole(), "the spans have come")
        [(role, root)] = collector.named("POST request")
        assert role == "web"
        attributes = {each.key: each.value for each in root.attributes}
        assert attributes["request"].string_value == number
        assert attributes["status"].int_value == 201
        by_id = {span.span_id: span.name for _, span in collector.spans}
        found = {
            (role, by_id[span.parent_span_id], span.name)
            for role, span in collector.spans
            if span.trace_id.hex() == TRACE and span is not root
        }
        needed = {
            ("web", "POST request", "commit"),
            ("worker", "POST request", "slice"),
            ("worker", "slice", "commit"),
        }
        frames = {("web", "POST request", "frame"), ("web", "slice", "frame")}
        assert needed < found <= needed | frames
        names = {span.name for _, span in collector.spans if span.trace_id.hex() != TRACE}
        assert "slice" not in names, "what no request has caused is not traced"
