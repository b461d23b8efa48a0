"""Traces by OpenTelemetry, from a request over its commit and the slice that reads it to the frame that shows
it.

Without the setting OTEL_EXPORTER_OTLP_ENDPOINT, or without the packages of requirements/tracing.txt, nothing
is imported and every function returns at once. Only what begins with a request is traced: slices and frames
without one are too many. The context goes with the message that wakes the worker and with the doorbell. Both
may be sent for several commits at once; the trace is then that of the first.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

log = logging.getLogger(__name__)

HEADER: Final = "traceparent"
"""W3C's header, and the name of the context wherever it is passed on."""

Attribute = str | int

NOTHING: Final[AbstractContextManager[None]] = nullcontext()


class Tracer:
    """Raises ImportError where the packages are not installed."""

    def __init__(self, role: str) -> None:
        # Optional packages, which take 50 ms to import.
        from opentelemetry import trace  # noqa: PLC0415
        from opentelemetry.exporter.otlp.proto.http import trace_exporter  # noqa: PLC0415
        from opentelemetry.sdk import resources  # noqa: PLC0415
        from opentelemetry.sdk import trace as sdk  # noqa: PLC0415
        from opentelemetry.sdk.trace import export  # noqa: PLC0415
        from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415

        name = os.environ.get("OTEL_SERVICE_NAME") or "schedviz"
        resource = resources.Resource.create({"service.name": name, "schedviz.role": role})
        provider = sdk.TracerProvider(resource=resource)
        provider.add_span_processor(export.BatchSpanProcessor(trace_exporter.OTLPSpanExporter()))
        self._trace = trace
        self._tracer = provider.get_tracer("schedviz")
        self._propagator = tracecontext.TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, parent: str, attributes: dict[str, Attribute]) -> Iterator[None]:
        context = self._propagator.extract({HEADER: parent}) if parent else None
        with self._tracer.start_as_current_span(name, context, attributes=attributes):
            yield

    def describe(self, attributes: dict[str, Attribute]) -> None:
        self._trace.get_current_span().set_attributes(attributes)

    def context(self) -> str:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier)
        return carrier.get(HEADER, "")


_tracer: Tracer | None = None


def start_tracing(role: str, endpoint: str) -> None:
    """Trace this process; does nothing if ``endpoint`` is empty. The SDK reads this and other
    variables of OpenTelemetry itself."""
    global _tracer  # noqa: PLW0603 (a process has one)
    if not endpoint:
        return
    try:
        _tracer = Tracer(role)
    except ImportError as error:
        log.warning("no traces: %s; install requirements/tracing.txt", error)


def trace_root(name: str, parent: str = "", **attributes: Attribute) -> AbstractContextManager[None]:
    """Return a span that may begin a trace. ``parent``: the context of a span elsewhere."""
    return _tracer.span(name, parent, attributes) if _tracer else NOTHING


def trace_part(name: str, parent: str = "", **attributes: Attribute) -> AbstractContextManager[None]:
    """Return a span in ``parent``, or in the span of this thread or task; none if there is neither."""
    if _tracer is None or not (parent or _tracer.context()):
        return NOTHING
    return _tracer.span(name, parent, attributes)


def describe(**attributes: Attribute) -> None:
    """Add to the present span."""
    if _tracer:
        _tracer.describe(attributes)


def context() -> str:
    """Return the context of the present span, to be passed on; "" = there is none."""
    return _tracer.context() if _tracer else ""
